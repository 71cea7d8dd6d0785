"""Candidates by words and by vectors: who is found, in what order, with which scores, under which filters."""

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

import pytest

from bioqa.app.answers import vectors as module
from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.facets import Facets
from bioqa.app.answers.fusion import RANK_CONSTANT
from bioqa.app.answers.question import ExplainOptions, Options
from bioqa.app.answers.remarks import remarks
from bioqa.app.answers.vectors import Retrieval, Vectors, find, found_by_both, load_encoder
from bioqa.app.cli.explaining import lines
from bioqa.bioasq.domain import Document, Question
from bioqa.indexer.medline.events import Delete, Upsert
from bioqa.indexer.search.filtering.filters import NO_FILTERS, Filters
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.indexer.vectors.file import EncoderRecord, Floats, VectorsError
from bioqa.models.encoders.loading import EncoderError
from bioqa.system.errors import BioqaError
from tests.app.answers.meaning import ENCODER, RECORD, Concepts, indexed, with_vectors
from tests.app.rankers import LexicalRanker
from tests.models.encoders.tiny import write_tiny


def document(number: int, title: str, year: int | None = None) -> Document:
    return Document(str(number), 1, title, "", None if year is None else date(year, 1, 1))


DOCUMENTS = [
    document(1, "Cardiac infarction", 2001),
    document(2, "Heart attack in Malmö", 2002),
    document(3, "Thrombosis", 2003),
    document(4, "Gardens attack heart", 2004),
    *(document(100 + n, f"Letter number{chr(97 + n % 26)} about gardens", 1990 + n % 20) for n in range(60)),
]
QUESTION = "heart attack"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[TantivyIndex]:
    with indexed(tmp_path / "index", DOCUMENTS) as opened:
        yield opened


def pmids(index: TantivyIndex, vectors: Vectors, size: int = 5, filters: Filters = NO_FILTERS) -> list[str]:
    found = found_by_both(index, vectors, QUESTION, QUESTION, size, filters)
    assert found is not None
    return [each.document.pmid for each in found.candidates]


def test_without_vectors_there_is_nothing_to_fuse(index: TantivyIndex) -> None:
    vectors = Vectors(index.beside, lambda record: ENCODER)
    assert found_by_both(index, vectors, QUESTION, QUESTION, 10, NO_FILTERS) is None


def test_what_shares_no_word_is_found_by_meaning(index: TantivyIndex) -> None:
    found = found_by_both(index, with_vectors(index), QUESTION, QUESTION, 3, NO_FILTERS)
    assert found is not None
    by_pmid = {each.document.pmid: each for each in found.candidates}
    assert set(by_pmid) == {"1", "2", "4"}
    assert by_pmid["1"].score == 0
    assert found.places["1"].words is None
    assert found.places["1"].cosine == pytest.approx(1, abs=0.01)
    words = {each.document.pmid: each.score for each in index.search(QUESTION, 10)}
    assert by_pmid["2"].score == words["2"] > 0


def test_scores_of_bm25_are_known_beyond_its_own_list(index: TantivyIndex) -> None:
    """What words find at a later place keeps its score, though it is a candidate by vectors alone."""
    found = found_by_both(index, with_vectors(index), "attack heart gardens", QUESTION, 2, NO_FILTERS)
    assert found is not None
    words = {each.document.pmid: each.score for each in index.search("attack heart gardens", 100)}
    for each in found.candidates:
        assert each.score == words.get(each.document.pmid, 0.0)


def test_the_order_is_that_of_reciprocal_ranks(index: TantivyIndex) -> None:
    found = found_by_both(index, with_vectors(index), QUESTION, QUESTION, 20, NO_FILTERS)
    assert found is not None

    def fused(pmid: str) -> float:
        place = found.places[pmid]
        return sum(1 / (RANK_CONSTANT + rank) for rank in (place.words, place.vectors) if rank)

    order = [each.document.pmid for each in found.candidates]
    assert order == sorted(order, key=lambda pmid: (-fused(pmid), int(pmid)))
    assert len(order) == len(set(order)) == 20


def test_rankers_get_the_cosines_of_the_encoder_that_they_know(
    index: TantivyIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = with_vectors(index)
    found = found_by_both(index, vectors, QUESTION, QUESTION, 20, NO_FILTERS)
    assert found is not None
    assert {each.cosine for each in found.candidates} == {None}
    monkeypatch.setattr("bioqa.models.bundled.VECTOR_ENCODER", ENCODER.name)
    # A candidate that words alone found has one, too, but none without a vector.
    index.apply([Upsert(document(900, "Heart attack anew"))])
    index.commit()
    found = found_by_both(index, vectors, QUESTION, QUESTION, 3, NO_FILTERS)
    assert found is not None
    cosines = {each.document.pmid: each.cosine for each in found.candidates}
    assert cosines.pop("900") is None
    assert cosines["2"] == found.places["2"].cosine
    assert None not in cosines.values()


def test_vectors_alone(index: TantivyIndex) -> None:
    found = found_by_both(index, with_vectors(index), QUESTION, QUESTION, 2, NO_FILTERS, words=False)
    assert found is not None
    assert [each.document.pmid for each in found.candidates] == ["1", "4"]
    assert [found.places[pmid].vectors for pmid in ("1", "4")] == [1, 2]
    assert found.candidates[1].score > 0


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize(
    "filters",
    [
        Filters(published_after=date(2001, 1, 1)),
        Filters(published_before=date(2002, 1, 1)),
        Filters(published_after=date(1990, 1, 1), published_before=date(1991, 1, 1)),
        Filters(exclude_retracted=True),
    ],
)
def test_filters_hold_in_both_stages_and_leave_no_list_empty(
    index: TantivyIndex, monkeypatch: pytest.MonkeyPatch, share: float, filters: Filters
) -> None:
    """Whether the documents that pass are listed, or the closest ones are checked."""
    monkeypatch.setattr(module, "LISTED_SHARE", share)
    monkeypatch.setattr(module, "MOST_CHECKED", 7)
    passing = set(map(str, index.pmids(filters)))
    vectors = with_vectors(index)
    found = pmids(index, vectors, 4, filters)
    assert set(found) <= passing
    assert len(found) == min(4, len(passing))
    everything = pmids(index, vectors, 100, filters)
    assert set(everything) == passing


def test_a_filter_that_nothing_passes(index: TantivyIndex) -> None:
    assert pmids(index, with_vectors(index), 4, Filters(types=("Review",))) == []


def test_withdrawn_citations_give_way_to_others(index: TantivyIndex) -> None:
    vectors = with_vectors(index)
    index.apply([Delete("1"), Delete("4")])
    index.commit()
    found = pmids(index, vectors, 3)
    assert not {"1", "4"} & set(found)
    assert len(found) == 3


def test_vectors_of_an_encoder_that_was_exchanged_are_refused(index: TantivyIndex) -> None:
    with_vectors(index)

    class Exchanged(Concepts):
        hash = "34" * 32

    vectors = Vectors(index.beside, lambda record: Exchanged())
    with pytest.raises(
        VectorsError, match="are not of the encoder that is now concepts: run `bioqa vectors`"
    ):
        found_by_both(index, vectors, QUESTION, QUESTION, 3, NO_FILTERS)


def test_the_encoder_is_loaded_once(index: TantivyIndex) -> None:
    with_vectors(index)
    loaded: list[EncoderRecord] = []

    def load(record: EncoderRecord) -> Concepts:
        loaded.append(record)
        return ENCODER

    vectors = Vectors(index.beside, load)
    for _ in range(3):
        found_by_both(index, vectors, QUESTION, QUESTION, 3, NO_FILTERS)
    assert loaded == [RECORD]


def test_an_encoder_is_loaded_by_what_the_file_says(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    record = EncoderRecord(str(folder), "", 16, {"pooling": "cls", "question_prefix": "q ", "pieces": 20})
    encoder = load_encoder(record)
    assert encoder.questions(["a"]).shape == (1, 16)
    assert encoder.hash != load_encoder(EncoderRecord(str(folder), "", 16, {"pooling": "mean"})).hash
    with pytest.raises(BioqaError, match="settings of the encoder"):
        load_encoder(EncoderRecord(str(folder), "", 16, {"size": 3}))
    with pytest.raises(EncoderError, match="neither a folder nor"):
        load_encoder(EncoderRecord("no-such-encoder", "", 16))


def test_an_encoder_that_cannot_be_loaded_is_not_tried_for_every_question(index: TantivyIndex) -> None:
    with_vectors(index)
    tried: list[EncoderRecord] = []

    def load(record: EncoderRecord) -> Concepts:
        tried.append(record)
        raise EncoderError("there is no such encoder")

    vectors = Vectors(index.beside, load)
    for _ in range(3):
        with pytest.raises(VectorsError, match="vectors of concepts cannot be used: there is no such"):
            found_by_both(index, vectors, QUESTION, QUESTION, 3, NO_FILTERS)
    assert len(tried) == 1


# Answers


@pytest.fixture
def answerer(index: TantivyIndex, monkeypatch: pytest.MonkeyPatch) -> Answerer:
    vectors = with_vectors(index)
    monkeypatch.setattr(module, "vectors_in", lambda folder: vectors)
    return Answerer(index, LexicalRanker())


def found(answerer: Answerer, **options: object) -> set[str]:
    answer = answerer.answer(Question("q", QUESTION), Options(**options))  # type: ignore[arg-type]
    return {each.pmid for each in answer.documents}


def test_answers_are_found_by_both_unless_words_or_vectors_are_asked_for(answerer: Answerer) -> None:
    assert "1" in found(answerer)
    assert found(answerer, retrieval="words") == {"2", "4"}
    assert found(answerer, literal=True) == {"2", "4"}
    assert found(answerer, retrieval="vectors", candidates=2) == {"1", "4"}
    (many,) = answerer.answers([Question("q", QUESTION)])
    assert "1" in {each.pmid for each in many.documents}


def test_the_encoder_reads_the_question_as_it_was_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []

    class Recorder(Concepts):
        def questions(self, questions: Sequence[str]) -> Floats:
            texts.extend(questions)
            return super().questions(questions)

    with indexed(tmp_path / "named", [document(1, "Quetiapine and sleep"), *DOCUMENTS[3:]]) as index:
        with_vectors(index)
        vectors = Vectors(index.beside, lambda record: Recorder())
        monkeypatch.setattr(module, "vectors_in", lambda folder: vectors)
        answerer = Answerer(index, LexicalRanker())
        question = Question("q", " Does Seroquel help? ")
        answerer.answer(question)
        [*answerer.answers([question])]
        answerer.answer(question, ExplainOptions(pmid=1))
    # Once for an answer; once more to explain where an article stands.
    assert texts == ["Does quetiapine (Seroquel) help?"] * 4


def test_what_a_damaged_file_leaves_is_found_by_words_and_said(
    index: TantivyIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    (index.beside / "vectors-00000000.bin").write_bytes(b"rubbish")
    answer = Answerer(index, LexicalRanker()).answer(Question("q", QUESTION))
    assert {each.pmid for each in answer.documents} == {"2", "4"}
    assert answer.by_words is not None
    assert "no vectors that this bioqa can read" in answer.by_words
    assert "by_words" in {remark.kind for remark in remarks(answer)}


def test_an_index_without_vectors_is_searched_by_words(index: TantivyIndex) -> None:
    answerer = Answerer(index, LexicalRanker())
    answer = answerer.answer(Question("q", QUESTION))
    assert {each.pmid for each in answer.documents} == {"2", "4"}
    assert answer.by_words is None
    asked = answerer.answer(Question("q", QUESTION), Options(retrieval="vectors"))
    assert asked.by_words == "the index index has no vectors; `bioqa vectors` makes them in a folder"
    assert find(index, QUESTION, QUESTION, 10, NO_FILTERS, "both").candidates == index.search(QUESTION, 10)


def test_an_answer_says_which_stage_found_a_document_and_how_long_that_took(answerer: Answerer) -> None:
    answer = answerer.answer(Question("q", QUESTION))
    found_by = {document.pmid: document.found_by for document in answer.documents}
    assert found_by["1"] is not None
    assert (found_by["1"].words, found_by["1"].vectors) == (None, 1)
    assert found_by["2"] is not None
    assert found_by["2"].words is not None
    assert 0 < answer.timings_ms.vectors <= answer.timings_ms.retrieve
    by_words = answerer.answer(Question("q", QUESTION), Options(retrieval="words"))
    assert [document.found_by for document in by_words.documents] == [None, None]
    assert by_words.timings_ms.vectors == 0


def test_facets_count_what_meaning_found_too_and_nothing_twice(answerer: Answerer) -> None:
    def facets(retrieval: Retrieval) -> Facets:
        options = Options(facets=True, candidates=3, retrieval=retrieval)
        counted = answerer.answer(Question("q", QUESTION), options).facets
        assert counted is not None
        return counted

    words, both = facets("words"), facets("both")
    assert [each.year for each in words.years] == [2002, 2004]
    # The third candidate is found by meaning alone.
    assert [(each.year, each.documents) for each in both.years] == [(2001, 1), (2002, 1), (2004, 1)]


@pytest.mark.parametrize("candidates", [3, 100])
def test_the_way_through_both_stages_is_explained(answerer: Answerer, candidates: int) -> None:
    answer = answerer.answer(Question("q", QUESTION), Options(candidates=candidates))
    for pmid in ("1", "2"):
        options = ExplainOptions(pmid=pmid, candidates=candidates)
        explanation = answerer.answer(Question("q", QUESTION), options).explanation
        assert explanation is not None
        assert explanation.retrieval.is_candidate
        found_by = explanation.retrieval.found_by
        assert found_by is not None
        assert found_by.cosine == pytest.approx(answer.found_by[pmid].cosine)
        assert explanation.retrieval.rank == answer.found_by[pmid].words == found_by.words


def test_what_neither_stage_brings_among_the_candidates(answerer: Answerer) -> None:
    options = ExplainOptions(pmid="3", candidates=1)
    explanation = answerer.answer(Question("q", QUESTION), options).explanation
    assert explanation is not None
    assert explanation.retrieval.found_by is not None
    rank = explanation.retrieval.found_by.vectors
    assert rank
    assert any(line.startswith(f"   meaning: number {rank}; cosine 0.") for line in lines(explanation))
    assert explanation.needed[0] == (
        f"Words put it not among the first 1,000, meaning put it number {rank}: together that is not "
        "among the 1 candidates; ask for more of them."
    )
