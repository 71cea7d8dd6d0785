"""Explanations against plain computations: what is called exact adds up, and effects are what they say."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from bioqa.bioasq.domain import Candidate
from bioqa.bioasq.labels import is_label
from bioqa.models import explaining
from bioqa.models.answers.baseline import Bm25Ranker, Constants, TunedBm25
from bioqa.models.answers.first_stage import document_bm25
from bioqa.models.answers.selection import Calibration, SelectionLimits, select
from bioqa.models.cascade.encoder import CrossEncoder
from bioqa.models.cascade.ranker import Cascade, Combination, Speed, TunedCascade
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.explaining import explain_ranking, explain_selection
from bioqa.models.features.extractor import DOCUMENT_FEATURES, SENTENCE_FEATURES, feature_counts
from bioqa.models.rankers.batch import Batch, collate
from bioqa.models.rankers.heads import Scores
from bioqa.models.rankers.registry import ARCHITECTURES, build, settings_of
from bioqa.models.reranker import Reranker
from bioqa.models.text.documents import DocumentTokens
from bioqa.models.text.tokens import tokenise_question
from bioqa.models.text.vocabulary import Vocabulary
from tests.models.encoders.tiny import tiny_encoder
from tests.models.toys import ToyIndex, toy_settings

BODY = "Which drug cures zelosis?"


@pytest.fixture
def candidates(index: ToyIndex) -> list[Candidate]:
    return index.search(BODY)


class Linear(torch.nn.Module):
    """Documents by a weighted sum of their features, sentences by their first feature."""

    weights: torch.Tensor

    def __init__(self, weights: list[float]) -> None:
        super().__init__()
        self.register_buffer("weights", torch.tensor(weights))

    def forward(self, batch: Batch) -> Scores:
        used = batch.document_features[:, : len(self.weights)]
        return Scores((used * self.weights).sum(1) + 0.25, batch.sentence_features[:, 0])


def linear(trained: Checkpoint, weights: list[float]) -> Reranker:
    return Reranker(replace(trained, model=Linear(weights)), name="linear")


def test_effects_of_a_linear_ranker_are_its_weights_times_its_features(
    trained: Checkpoint, candidates: list[Candidate]
) -> None:
    weights = np.random.default_rng(1).normal(size=11).round(2).tolist()
    ranker = linear(trained, weights)
    example, raw = ranker.example(BODY, candidates)
    explained, _ = explain_ranking(ranker, BODY, candidates, 2, 10)
    by_name = {each.name: each for each in explained.features if each.unit == "document"}
    for column, name in enumerate(DOCUMENT_FEATURES[:11]):
        scaled = float(example.features.documents[2, column])
        assert by_name[name].effect == pytest.approx(weights[column] * scaled, abs=1e-5)
        assert by_name[name].value == pytest.approx(float(raw.documents[2, column]))
    assert explained.additive
    assert sum(each.effect for each in explained.features) + 0.25 == pytest.approx(explained.score, abs=1e-4)
    sizes = [abs(each.effect) for each in explained.features]
    assert sizes == sorted(sizes, reverse=True)


def test_effects_are_those_of_the_whole_batch_with_the_feature_at_its_mean(
    trained: Checkpoint, candidates: list[Candidate]
) -> None:
    """All candidates in one batch, here, and the one alone there."""
    ranker, place = Reranker(trained, name="toy"), 1
    explained, _ = explain_ranking(ranker, BODY, candidates, place, 10)
    assert not explained.additive
    example, _ = ranker.example(BODY, candidates)
    begin = int(example.unit_counts[:place].sum())
    end = begin + int(example.unit_counts[place])

    def score() -> float:
        with torch.inference_mode():
            return float(trained.model(collate([example], trained.vocabulary)).documents[place])

    whole = score()
    assert whole == pytest.approx(explained.score, abs=1e-5)
    assert len(explained.features) == 11 + 10
    for each in explained.features:
        names = DOCUMENT_FEATURES if each.unit == "document" else SENTENCE_FEATURES
        column = names.index(each.name)
        rows = [place] if each.unit == "document" else [*range(begin, end)]
        values = example.features.documents if each.unit == "document" else example.features.sentences
        kept = values[rows, column].copy()
        values[rows, column] = 0
        assert each.effect == pytest.approx(whole - score(), abs=1e-4), each
        values[rows, column] = kept


def test_words_of_bm25_add_up_to_its_score(vocabulary: Vocabulary, candidates: list[Candidate]) -> None:
    ranker = Bm25Ranker(vocabulary, TunedBm25(Constants(0.6, 0.5), Calibration()))
    explained, ranking = explain_ranking(ranker, BODY, candidates, 0, 10)
    assert explained.words_additive
    assert sum(each.effect for each in explained.words) == pytest.approx(explained.score, abs=1e-4)
    assert {each.word for each in explained.words} == {"drug", "cures", "zelosis"}
    documents = DocumentTokens(vocabulary)([candidates[0].document])
    for each in explained.words:
        alone = tokenise_question(each.word, vocabulary)
        (score,) = document_bm25(alone, documents, vocabulary, 0.6, 0.5)
        assert each.effect == pytest.approx(float(score), abs=1e-5)
        without = ranker.rank(BODY.replace(each.word, ""), candidates).documents
        pmids = [ranked.document.pmid for ranked in without]
        assert each.rank == pmids.index(candidates[0].document.pmid) + 1
    assert ranking.documents[explained.rank - 1].document == candidates[0].document


def test_of_many_candidates_only_the_largest_effects_have_ranks(
    vocabulary: Vocabulary, candidates: list[Candidate], monkeypatch: pytest.MonkeyPatch
) -> None:
    ranker = Bm25Ranker(vocabulary, TunedBm25(Constants(0.6, 0.5), Calibration()))
    words = explain_ranking(ranker, BODY, candidates, 0, 10)[0].words
    monkeypatch.setattr(explaining, "MOST_READ", len(candidates))
    fewer = explain_ranking(ranker, BODY, candidates, 0, 10)[0].words
    assert [(word.word, word.effect) for word in fewer] == [(word.word, word.effect) for word in words]
    assert [word.rank for word in fewer] == [words[0].rank, None, None]


def test_only_whole_words_are_left_out(vocabulary: Vocabulary, candidates: list[Candidate]) -> None:
    ranker = Bm25Ranker(vocabulary, TunedBm25(Constants(0.6, 0.5), Calibration()))
    explained, _ = explain_ranking(ranker, "Drug or drugs, DRUG of the zelosis", candidates, 0, 10)
    assert sorted(each.word.lower() for each in explained.words) == ["drug", "drugs", "zelosis"]
    explained, _ = explain_ranking(ranker, "zelosis", candidates, 0, 10)
    assert [each.word for each in explained.words] == ["zelosis"]


def test_a_swap_lifts_a_document_over_the_last_selected_one(
    trained: Checkpoint, candidates: list[Candidate]
) -> None:
    weights = [1.0, 0.5, 0.25, 2.0, 0.1, 0.0, 0.1, 0.3, 0.2, 0.4, 0.6]
    ranker = linear(trained, weights)
    ranking = ranker.rank(BODY, candidates)
    places = {each.document.pmid: place for place, each in enumerate(candidates)}
    example, raw = ranker.example(BODY, candidates)
    found = 0
    for selected in (1, 2, 3):
        last = ranking.documents[selected - 1]
        below = ranking.documents[selected]
        place, other = places[below.document.pmid], places[last.document.pmid]
        explained, _ = explain_ranking(ranker, BODY, candidates, place, selected)
        gained = np.array(weights) * (example.features.documents[other] - example.features.documents[place])
        expected = {
            DOCUMENT_FEATURES[column]: below.score + gained[column]
            for column in range(11)
            if below.score + gained[column] > last.score + 1e-6
        }
        assert {each.name for each in explained.swaps} == set(expected)
        for each in explained.swaps:
            column = DOCUMENT_FEATURES.index(each.name)
            assert each.value == pytest.approx(float(raw.documents[place, column]))
            assert each.other == pytest.approx(float(raw.documents[other, column]))
            others = [d.score for d in ranking.documents if d is not below]
            assert each.rank == 1 + sum(score > expected[each.name] for score in others) <= selected
        found += len(explained.swaps)
        inside, _ = explain_ranking(ranker, BODY, candidates, other, selected)
        assert inside.swaps == ()
    assert found


@pytest.mark.parametrize("margin", [None, 0.2])
@pytest.mark.parametrize("documents", [2, 4])
def test_standing_in_the_selection_is_that_of_the_answer(
    trained: Checkpoint, candidates: list[Candidate], documents: int, margin: float | None
) -> None:
    calibration = Calibration(1.5, -0.5, 0.7)
    ranking = Reranker(trained, name="toy").rank(BODY, candidates)
    selection = select(ranking, calibration, SelectionLimits(documents, 3, margin))
    in_answer = {each.document.pmid for each in selection.documents}
    best = [(each.document.pmid, each.sentence) for each in selection.sentences]
    shares = 0.0
    for ranked in ranking.documents:
        pmid = ranked.document.pmid
        standing = explain_selection(ranking, pmid, calibration, SelectionLimits(documents, 3, margin))
        assert standing.selected == (pmid in in_answer)
        assert standing.last_document_score == selection.documents[-1].score
        if standing.selected:
            assert standing.last_sentence_score == pytest.approx(selection.sentences[-1].score)
        assert len(standing.sentences) == min(
            3, sum(not is_label(ranked.document, each) for each in ranked.document.sentences)
        )
        shares += standing.share * standing.selected
        for each in standing.sentences:
            assert each.score == pytest.approx(each.probability * each.agreement * standing.share)
            assert each.selected == ((pmid, each.sentence) in best)
            if each.selected:
                assert selection.sentences[(each.rank or 0) - 1].score == pytest.approx(each.score)
            if not standing.selected:
                # As if it had been selected, too.
                both = replace(ranking, documents=(*ranking.documents[:documents], ranked))
                scores = {
                    (s.document.pmid, s.sentence): s.score
                    for s in select(both, calibration, SelectionLimits(9, 99)).sentences
                }
                assert each.score == pytest.approx(scores[pmid, each.sentence])
                assert each.rank is None
    assert shares == pytest.approx(1.0)


def test_parts_of_a_cascade_add_up(trained: Checkpoint, candidates: list[Candidate], tmp_path: Path) -> None:
    torch.manual_seed(5)
    reader = CrossEncoder(tiny_encoder(tmp_path / "tiny", ["drug", "cures"]), 10)
    combination = Combination(document_weight=0.5, relevance_weight=2.0)
    tuned = TunedCascade(combination, Speed(10.0, 1.0, 1), Calibration())
    cascade = Cascade(Reranker(trained, name="toy"), reader, tuned, name="both", budget_ms=1e5)
    explained, _ = explain_ranking(cascade, BODY, candidates, 1, 10)
    assert sum(part.effect for part in explained.parts) == pytest.approx(explained.score, abs=1e-4)
    assert explained.first is not None
    assert explained.parts[0].effect == explained.first.score
    assert explained.first == explain_ranking(cascade.first, BODY, candidates, 1, 10)[0]
    assert explained.words == ()


def test_rankers_of_documents_alone_have_no_sentence_features(
    trained: Checkpoint, candidates: list[Candidate], make_pdrmm: Callable[[Checkpoint], Reranker]
) -> None:
    explained, _ = explain_ranking(make_pdrmm(trained), BODY, candidates, 0, 10)
    assert {each.unit for each in explained.features} == {"document"}


@pytest.fixture
def make_pdrmm() -> Callable[[Checkpoint], Reranker]:
    def made(trained: Checkpoint) -> Reranker:
        settings = settings_of("pdrmm", dimensions=6)
        model = build(settings, torch.from_numpy(trained.vocabulary.vectors)).eval()
        return Reranker(replace(trained, settings=settings, model=model), name="pdrmm")

    return made


@pytest.mark.parametrize("ranker", [name for name, kind in ARCHITECTURES.items() if kind.reads == "vectors"])
def test_every_ranker_without_an_encoder_is_explained(
    trained: Checkpoint, candidates: list[Candidate], ranker: str
) -> None:
    settings = toy_settings(ranker)
    torch.manual_seed(3)
    model = build(settings, torch.from_numpy(trained.vocabulary.vectors)).eval()
    loaded = Reranker(replace(trained, settings=settings, model=model), name=ranker)
    explained, ranking = explain_ranking(loaded, BODY, candidates, 1, 3)
    assert ranking.documents[explained.rank - 1].document == candidates[1].document
    of_documents, of_sentences = feature_counts(settings.reading.features)
    of_sentences = of_sentences if ARCHITECTURES[ranker].units == "sentences" else 0
    assert len(explained.features) == of_documents + of_sentences
    assert np.isfinite([each.effect for each in explained.features]).all()
    assert len(explained.words) == 3
    if ranker == "linear":
        assert explained.additive
