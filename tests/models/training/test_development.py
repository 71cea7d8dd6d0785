import numpy as np
import pytest

from bioqa.bioasq.measures import document_measures
from bioqa.models.features.extractor import Features, stemmed_bm25
from bioqa.models.rankers.registry import ARCHITECTURES, encoder_of, reader_for, settings_of
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.data import Pool, Prepared, RankerInputs, scaling_of
from bioqa.models.training.development import Development, PoolScores, document_map, gold_auc, rankings_of
from tests.models.toys import ABSENT, toy_settings
from tests.models.training.test_train import train


@pytest.mark.parametrize("ranker", list(ARCHITECTURES))
def test_a_ranker_is_measured_by_what_it_scores(
    ranker: str, vocabulary: Vocabulary, prepared: list[Prepared]
) -> None:
    settings = toy_settings(ranker, epochs=1)
    model = train(settings, vocabulary, prepared).model
    reader = reader_for(settings, encoder_of(model))
    inputs = RankerInputs(settings, vocabulary, scaling_of(prepared), reader)
    development = Development(prepared, inputs)
    scores, score = development.measure(model)
    if ARCHITECTURES[ranker].units != "sentences":
        assert list(scores) == ["document_map"]
    else:
        assert list(scores) == ["document_map", "snippet_f1", "sentence_auc"]
    assert score == pytest.approx(np.mean(list(scores.values())))
    for question, scored in zip(prepared, development.scores(model), strict=True):
        assert len(scored.documents) == len(question.retrieved.candidates)
        if ARCHITECTURES[ranker].units == "sentences":
            assert len(scored.sentences) == len(question.retrieved.labels)
            assert len(scored.gold_sentences) == len(question.gold.labels)


def test_questions_without_candidates_are_scored_and_measured(
    vocabulary: Vocabulary, prepared: list[Prepared]
) -> None:
    of_any = prepared[0].retrieved
    features = Features(of_any.features.documents[:0], of_any.features.sentences[:0])
    empty = Pool((), (), features, of_any.relevant[:0], of_any.labels[:0])
    bare = Prepared(prepared[0].response, prepared[0].question, empty, empty)
    settings = settings_of("jpdrmm", dimensions=6, epochs=1)
    model = train(settings, vocabulary, prepared).model
    inputs = RankerInputs(settings, vocabulary, scaling_of(prepared))
    development = Development([bare, prepared[1]], inputs)
    assert [len(s.documents) for s in development.scores(model)] == [0, 12]
    alone = Development([prepared[1]], inputs).measure(model)[0]
    both = development.measure(model)[0]
    assert both["document_map"] == pytest.approx(alone["document_map"] / 2)
    assert both["sentence_auc"] == pytest.approx(alone["sentence_auc"])


def test_document_map_is_that_of_the_official_measure(prepared: list[Prepared]) -> None:
    generator = np.random.default_rng(0)
    scores = [generator.normal(size=len(q.retrieved.candidates)) for q in prepared]
    rankings = rankings_of(
        prepared,
        [
            PoolScores(s, np.zeros(len(q.retrieved.labels)), np.zeros(0))
            for q, s in zip(prepared, scores, strict=True)
        ],
    )
    expected = [
        document_measures(
            q.response.documents, [d.document.url for d in r.documents[:10]], 8
        ).average_precision
        for q, r in zip(prepared, rankings, strict=True)
    ]
    assert document_map(prepared, scores) == pytest.approx(np.mean(expected))
    assert all(any(ABSENT in url for url in q.response.documents) for q in prepared)


def test_auc_is_within_each_gold_document(prepared: list[Prepared]) -> None:
    right = [q.gold.labels.astype(np.float64) for q in prepared]
    assert gold_auc(prepared, right) == 1.0
    assert gold_auc(prepared, [-s for s in right]) == 0.0
    assert gold_auc(prepared, [np.zeros(len(s)) for s in right]) == 0.5
    shifted = []
    for question, scores in zip(prepared, right, strict=True):
        first = len(question.gold.tokens[0].word_counts)
        shifted.append(scores + 100.0 * (np.arange(len(scores)) < first))
    assert gold_auc(prepared, shifted) == 1.0


def test_served_are_lexical_sentence_scores_where_the_ranker_gives_none(
    vocabulary: Vocabulary, prepared: list[Prepared]
) -> None:
    for ranker in ("pdrmm", "sentence-pdrmm"):
        settings = settings_of(ranker, dimensions=6, epochs=1)
        model = train(settings, vocabulary, prepared).model
        development = Development(prepared, RankerInputs(settings, vocabulary, scaling_of(prepared)))
        served, scored = development.served_scores(model), development.scores(model)
        for question, one, other in zip(prepared, served, scored, strict=True):
            assert one.documents.tolist() == other.documents.tolist()
            lexical = stemmed_bm25(question.retrieved.features).tolist()
            assert one.sentences.tolist() == (lexical if ranker == "pdrmm" else other.sentences.tolist())
            assert len(one.gold_sentences) == len(question.gold.labels)
