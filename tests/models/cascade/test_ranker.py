from collections.abc import Callable
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
import pytest
import torch

from bioqa.bioasq.domain import Candidate
from bioqa.models.answers.ranking import RankedDocument
from bioqa.models.answers.selection import Calibration
from bioqa.models.cascade.encoder import CrossEncoder
from bioqa.models.cascade.ranker import (
    Cascade,
    CascadeError,
    Combination,
    EncoderReading,
    Speed,
    TunedCascade,
)
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.reranker import Reranker
from tests.models.encoders.tiny import tiny_encoder
from tests.models.toys import DOCUMENTS, ToyIndex, document

BODY = "Which drug cures zelosis?"
FEATURES = 10
SPEED = Speed(10.0, 1.0, 1)

Make = Callable[..., Cascade]


@pytest.fixture(scope="module")
def make(trained: Checkpoint, tmp_path_factory: pytest.TempPathFactory) -> Make:
    encoder = tiny_encoder(tmp_path_factory.mktemp("cascade") / "tiny", ["drug", "cures"])
    torch.manual_seed(5)
    reader = CrossEncoder(encoder, FEATURES)
    first = Reranker(trained, name="toy")

    def build(budget_ms: float = 1000, speed: Speed = SPEED, **changes: float | int) -> Cascade:
        combination = Combination(**changes)  # type: ignore[arg-type]
        return Cascade(
            first,
            reader,
            TunedCascade(combination, speed, Calibration(2.0)),
            name="both",
            budget_ms=budget_ms,
        )

    return build


@pytest.fixture
def candidates(index: ToyIndex) -> list[Candidate]:
    return index.search(BODY)


def test_with_no_budget_it_is_the_first_ranker(make: Make, candidates: list[Candidate]) -> None:
    cascade = make(budget_ms=0, document_weight=0.0, unread_scale=2.0, unread_offset=1.0)
    ranked, first = cascade.rank(BODY, candidates), cascade.first.rank(BODY, candidates)
    assert [d.document for d in ranked.documents] == [d.document for d in first.documents]
    for made, cheap in zip(ranked.documents, first.documents, strict=True):
        assert made.score == pytest.approx(cheap.score)
        assert made.sentence_scores == pytest.approx([2 * s + 1 for s in cheap.sentence_scores])


def test_closeness_in_meaning_is_no_part_of_what_was_fitted(
    make: Make, candidates: list[Candidate], trained: Checkpoint
) -> None:
    cascade = make(budget_ms=1e5)
    cascade.first = Reranker(
        replace(trained, calibration=replace(trained.calibration, aptness=1.0)), name="fitted"
    )
    close = [replace(each, cosine=float(number)) for number, each in enumerate(candidates)]
    assert cascade.first.rank(BODY, close) != cascade.first.rank(BODY, candidates)
    assert cascade.rank(BODY, close) == cascade.rank(BODY, candidates)


def test_what_is_read_has_the_encoders_scores(make: Make, candidates: list[Candidate]) -> None:
    cascade = make(budget_ms=1e5, document_weight=0.5, sentence_weight=0.25, relevance_weight=2.0)
    first = {d.document.pmid: d for d in cascade.first.rank(BODY, candidates).documents}
    for ranked in cascade.rank(BODY, candidates).documents:
        cheap = first[ranked.document.pmid]
        texts = [ranked.document.sentence_text(s) for s in ranked.document.sentences]
        passages = cascade.reader.passages(BODY, texts)
        example, _ = cascade.first.example(BODY, [Candidate(ranked.document, 7.0)])
        with torch.inference_mode():
            logits = cascade.reader(passages, torch.from_numpy(example.features.sentences).float())
        pairs = zip(logits.sentences.tolist(), cheap.sentence_scores, strict=True)
        expected = [x + 0.25 * s for x, s in pairs]
        assert ranked.sentence_scores == pytest.approx(expected, abs=1e-4)
        relevance = float(logits.passages.max())
        assert ranked.score == pytest.approx(cheap.score + 0.5 * max(expected) + 2 * relevance, abs=1e-4)


def test_documents_are_read_in_order_until_one_does_not_fit(make: Make, candidates: list[Candidate]) -> None:
    cascade = make()
    first = cascade.first.rank(BODY, candidates).documents
    whole = cascade.read(BODY, first, inf)
    assert len(whole.scores) == len(first)
    enough = sum(whole.costs[:3])
    for pieces, documents in ((enough, 3), (enough - 1, 2), (whole.costs[0] - 1, 0), (0, 0)):
        reading = cascade.read(BODY, first, pieces)
        assert len(reading.scores) == documents
        for part, scores in zip(reading.scores, whole.scores, strict=False):
            np.testing.assert_allclose(part, scores, atol=1e-5)


def test_a_passage_is_read_alone_and_in_bfloat16_where_the_processor_has_it(
    trained: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for has in (True, False):
        monkeypatch.setattr("bioqa.models.cascade.ranker.processor_has_bfloat16", lambda has=has: has)
        reader = CrossEncoder(tiny_encoder(tmp_path / f"{has}"), FEATURES)
        tuned = TunedCascade(Combination(), Speed(1.0, 1.0, 1, True), Calibration())
        Cascade(Reranker(trained, name="toy"), reader, tuned, name="both")
        (dtype,) = {p.dtype for p in reader.encoder.transformer.parameters()}
        assert dtype == (torch.bfloat16 if has else torch.float32)
        assert reader.encoder.budget == 1


def test_no_more_documents_are_read_than_were_tuned_on(make: Make, candidates: list[Candidate]) -> None:
    cascade = make(budget_ms=1e5, most_documents=2, unread_offset=50.0)
    best = [max(d.sentence_scores) for d in cascade.rank(BODY, candidates).documents]
    assert sum(score < 40 for score in best) == 2 < len(best)


def test_of_a_document_only_the_most_promising_sentences_are_read(
    make: Make, candidates: list[Candidate]
) -> None:
    cascade = make(budget_ms=1e5, most_sentences=2, sentence_weight=0.25, unread_scale=2.0, unread_offset=50)
    first = cascade.first.rank(BODY, candidates).documents
    ranked = {d.document.pmid: d.sentence_scores for d in cascade.rank(BODY, candidates).documents}
    assert max(len(d.sentence_scores) for d in first) > 2
    for cheap in first:
        texts = [cheap.document.sentence_text(s) for s in cheap.document.sentences]
        highest = sorted(sorted(range(len(texts)), key=lambda n: -cheap.sentence_scores[n])[:2])
        passages = cascade.reader.passages(BODY, [texts[n] for n in highest])
        example, _ = cascade.first.example(BODY, [Candidate(cheap.document, 7.0)])
        features = torch.from_numpy(example.features.sentences[highest]).float()
        with torch.inference_mode():
            logits = dict(zip(highest, cascade.reader(passages, features).sentences.tolist(), strict=True))
        for n, score in enumerate(cheap.sentence_scores):
            expected = logits[n] + 0.25 * score if n in logits else 2 * score + 50
            assert ranked[cheap.document.pmid][n] == pytest.approx(expected, abs=1e-4)


def test_reading_fewer_sentences_makes_room_for_more_documents(
    make: Make, candidates: list[Candidate]
) -> None:
    cascade = make()
    first = cascade.first.rank(BODY, candidates).documents
    whole, shortened = cascade.read(BODY, first, inf), cascade.read(BODY, first, inf, most_sentences=1)
    assert sum(shortened.costs) < sum(whole.costs)
    assert [np.isnan(scores).sum() for scores in shortened.scores] == [
        max(0, len(scores) - 1) for scores in whole.scores
    ]
    pieces = sum(whole.costs) - 1
    assert len(cascade.read(BODY, first, pieces).scores) < len(whole.scores)
    assert len(cascade.read(BODY, first, pieces, most_sentences=1).scores) == len(whole.scores)


def test_the_budget_is_pieces_not_time(make: Make, candidates: list[Candidate]) -> None:
    slow, fast = make(speed=Speed(10.0, 0.2, 1)), make(speed=Speed(10.0, 100.0, 1))
    assert (slow.speed.pieces(1000), fast.speed.pieces(1000)) == (198, 99_000)
    assert slow.speed.pieces(5) == 0
    assert slow.rank(BODY, candidates) == slow.rank(BODY, candidates)
    assert slow.rank(BODY, candidates) != fast.rank(BODY, candidates)


def test_the_order_of_candidates_does_not_matter(make: Make, candidates: list[Candidate]) -> None:
    cascade = make(budget_ms=300)
    scores = [
        {d.document.pmid: d.score for d in cascade.rank(BODY, given).documents}
        for given in (candidates, candidates[::-1])
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-4)


def test_sentences_read_in_part_are_counted(make: Make) -> None:
    long = document(1, "Zelosis.", "drug " * 300)
    ranking = make(budget_ms=1e5).rank(BODY, [Candidate(long, 1.0), Candidate(DOCUMENTS[0], 0.5)])
    assert ranking.truncated_sentences == 1
    assert make(budget_ms=0).rank(BODY, [Candidate(long, 1.0)]).truncated_sentences == 0


@pytest.mark.parametrize("given", [[], [Candidate(document(1), 1.0)]])
def test_no_candidates_and_no_sentences(make: Make, given: list[Candidate]) -> None:
    ranking = make().rank(BODY, given)
    assert [d.document for d in ranking.documents] == [c.document for c in given]


def test_given_texts_are_candidates_as_the_first_rankers(make: Make, candidates: list[Candidate]) -> None:
    cascade = make()
    texts = [replace(candidate.document, pmid="") for candidate in candidates]
    found = cascade.candidates(BODY, texts)
    assert found == cascade.first.candidates(BODY, texts)
    assert len(cascade.rank(BODY, found).documents) == len(texts)


def test_hash_and_config_tell_the_budget(make: Make) -> None:
    assert make(budget_ms=10).hash != make(budget_ms=20).hash
    config = make(budget_ms=20).config
    assert config["settings"] == {"ranker": "cascade", "budget_ms": 20, "pieces": 10}
    assert config["first"]["name"] == "toy"


def test_the_combination_by_hand() -> None:
    documents = [
        RankedDocument(DOCUMENTS[0], 1.0, (1.0, 2.0)),
        RankedDocument(DOCUMENTS[1], 0.5, (3.0, -1.0)),
        RankedDocument(document(1), 0.25, ()),
    ]
    combination = Combination(0.5, 0.1, 2.0, -1.0, 0.5, 3.0, 1.0)
    reading = EncoderReading([np.array([4.0, -2.0])], [7.0], [10], 0)
    made = combination.apply(documents, reading)
    assert [d.sentence_scores for d in made] == [(4.1, -1.8), (5.0, -3.0), ()]
    expected = [1 + 0.5 * 4.1 + 0.5 * 7.0, 0.5 + 0.5 * 5.0 + 0.5 * 2.5, 0.25 + 0.5 * 1.75]
    assert [d.score for d in made] == pytest.approx(expected)


def test_a_document_without_sentences_has_no_relevance_of_its_own() -> None:
    empty = RankedDocument(document(1), 0.25, ())
    combination = Combination(relevance_weight=1.0, unread_relevance_scale=2.0)
    (made,) = combination.apply([empty], EncoderReading([np.zeros(0)], [0.0], [0], 0))
    assert made.score == pytest.approx(0.25 + 0.5)


@pytest.mark.parametrize(
    ("make_wrong", "message"),
    [
        (lambda: Combination(document_weight=inf), "document_weight inf"),
        (lambda: Combination(most_documents=1.5), "most_documents 1.5"),  # type: ignore[arg-type]
        (lambda: Combination(most_documents=-2), "most_documents -2"),
        (lambda: Combination(most_sentences=-1), "most_sentences -1"),
        (lambda: Combination(unread_scale="1"), "unread_scale '1'"),  # type: ignore[arg-type]
        (lambda: Speed(0.0, 0.0, 1), "speed"),
        (lambda: Speed(-1.0, 1.0, 1), "speed"),
    ],
)
def test_wrong_numbers_are_named(make_wrong: Callable[[], object], message: str) -> None:
    with pytest.raises(CascadeError, match=message):
        make_wrong()


def test_a_wrong_budget(make: Make) -> None:
    with pytest.raises(CascadeError, match="budget of -1"):
        make(budget_ms=-1)
