"""Where an article stood: in BM25 exactly, in the ranking, in the selection."""

import json
import pickle
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from bioqa.app.answers.answering import Answerer, answer_by_bm25, retrieve
from bioqa.app.answers.explaining import Explanation
from bioqa.app.answers.question import ExplainOptions, Options
from bioqa.bioasq.domain import Question
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.models.answers.explanations import FeatureEffect
from tests.app.rankers import LexicalRanker
from tests.indexer.documents import document

BODY = "Does metformin cause improvement in adults?"


@pytest.fixture(scope="module")
def index(index_folder: Path) -> Iterator[TantivyIndex]:
    with TantivyIndex.open(index_folder) as index:
        yield index


@pytest.fixture
def asking(index: TantivyIndex) -> Answerer:
    return Answerer(index, LexicalRanker())


def explained(asking: Answerer, pmid: str, body: str = BODY, **options: Any) -> Explanation:
    found = asking.answer(Question("q", body), ExplainOptions(pmid=pmid, **options)).explanation
    assert found is not None
    return found


def test_parts_of_bm25_add_up_to_the_index_own_score(asking: Answerer, index: TantivyIndex) -> None:
    sought = retrieve(index, Question("q", BODY))
    for place, candidate in enumerate(sought.candidates[:12], start=1):
        found = explained(asking, candidate.document.pmid).retrieval
        assert found.rank == place
        assert found.score == pytest.approx(candidate.score)
        assert sum(term.score for term in found.terms) == pytest.approx(found.score, abs=1e-4)
        assert found.is_candidate
    assert {term.text for term in explained(asking, sought.candidates[0].document.pmid).retrieval.terms} >= {
        "metformin"
    }


def test_parts_of_what_is_written_in_several_ways_add_up_too(asking: Answerer, index: TantivyIndex) -> None:
    body = "What is the cause of the improvment, tumour or placebo-controlled doses?"
    (first, *_) = retrieve(index, Question("q", body)).candidates
    found = explained(asking, first.document.pmid, body).retrieval
    assert sum(term.score for term in found.terms) == pytest.approx(first.score, abs=1e-4)


def test_ranking_and_selection_are_those_of_the_answer(asking: Answerer) -> None:
    answer = asking.answer(Question("q", BODY))
    for place, ranked in enumerate(answer.documents, start=1):
        found = explained(asking, ranked.document.pmid)
        assert found.ranking is not None
        assert found.selection is not None
        assert found.ranking.rank == place
        assert found.ranking.score == pytest.approx(ranked.raw_score)
        assert found.selection.selected
        chosen = [each.text for each in answer.ranked_sentences if each.document.pmid == ranked.document.pmid]
        assert [each.text for each in found.selection.sentences if each.selected] == chosen[:3]


def test_sentences_have_the_offsets_of_the_article_whatever_the_ranker_reads(tmp_path: Path) -> None:
    other = document("9", title="Serum IL6.", abstract="IL6 and IL6 were high. It fell with IL6.")
    with TantivyIndex.create(tmp_path / "index") as index:
        index.apply(Upsert(document(str(n), title="Role of IL-6.", abstract="It fell.")) for n in range(1, 4))
        index.apply([Upsert(other)])
        index.commit()
        # For a ranker, IL6 is written IL-6, which is longer.
        read = retrieve(index, Question("q", "Role of IL6?")).item[1]
        assert "IL-6 and IL-6" in next(each.document.abstract for each in read if each.document.pmid == "9")
        for candidates in (100, 3):
            selection = explained(
                Answerer(index, LexicalRanker()), "9", "Role of IL6?", candidates=candidates
            ).selection
            assert selection is not None
            assert len(selection.sentences) == 3
            for each in selection.sentences:
                assert each.text == other.sentence_text(each.sentence)


def test_an_article_that_bm25_did_not_bring(asking: Answerer, index: TantivyIndex) -> None:
    everything = retrieve(index, Question("q", BODY)).candidates
    pmid = everything[20].document.pmid
    found = explained(asking, pmid, candidates=5)
    assert (found.retrieval.rank, found.retrieval.is_candidate) == (21, False)
    assert found.retrieval.candidates == 5
    assert found.retrieval.last_score == pytest.approx(everything[4].score)
    gap = everything[4].score - everything[20].score
    assert found.needed[0] == (
        f"BM25 put it number 21: to be among the 5 candidates, its score would have to be {gap:.3f} higher, "
        "or ask for 21 candidates or more."
    )
    # As if it had been one.
    assert found.ranking is not None
    assert found.ranking.candidates == 6


def test_articles_that_cannot_be_found(asking: Answerer) -> None:
    absent = explained(asking, "123")
    assert absent.retrieval.title is None
    assert (absent.ranking, absent.selection) == (None, None)
    assert absent.needed == ("The index does not have the article: load a file of MEDLINE that does.",)
    no_word = explained(asking, "90000040", "zebra metformin")
    assert (no_word.retrieval.score, no_word.retrieval.rank, no_word.retrieval.terms) == (0.0, None, ())
    assert no_word.needed[0].startswith("It has none of the words that were searched for")
    without = explained(asking, "90000007", has_abstract=True, types=("Review",))
    assert not without.retrieval.passes_filters
    assert without.needed[0] == "The filters exclude the article: ask without them."


def test_what_the_selection_lacks_is_said(asking: Answerer) -> None:
    answer = asking.answer(Question("q", BODY), Options(max_documents=40))
    last = answer.documents[-1].document.pmid
    found = explained(asking, last)
    assert found.ranking is not None
    assert found.selection is not None
    assert not found.selection.selected
    gap = (found.selection.last_document_score or 0) - found.ranking.score
    assert any(f"would have to be {gap:.3f} higher" in each for each in found.needed)
    assert any("sentence" in each for each in found.needed)


def test_without_words_there_is_nothing_to_explain(asking: Answerer) -> None:
    options = ExplainOptions(pmid="90000001")
    assert asking.answer(Question("q", "90000001[pmid]"), options).explanation is None


def test_a_ranker_that_failed_is_not_asked_again(index: TantivyIndex) -> None:
    retrieved = retrieve(index, Question("q", BODY), ExplainOptions(pmid="90000001"))
    assert answer_by_bm25(LexicalRanker(), retrieved, "it failed").explanation is None


def test_an_explanation_goes_through_processes_and_json(asking: Answerer) -> None:
    found = explained(asking, "90000001")
    assert pickle.loads(pickle.dumps(found)) == found
    made = json.loads(json.dumps(found.as_dict()))
    assert made["retrieval"]["title"].startswith("Effects of metformin")
    assert "document" not in made["retrieval"]
    assert made["ranking"]["rank"] == (found.ranking and found.ranking.rank)


def test_features_are_described_in_json_those_of_a_cascades_first_ranker_too(asking: Answerer) -> None:
    found = explained(asking, "90000001")
    assert found.ranking is not None
    effect = FeatureEffect("norm_bm25", "document", 1.0, 0.5, 0.25)
    first = replace(found.ranking, features=(effect,))
    made = replace(found, ranking=replace(found.ranking, first=first)).as_dict()
    (described,) = made["ranking"]["first"]["features"]
    assert described == {**asdict(effect), "description": effect.description}
