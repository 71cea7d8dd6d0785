from dataclasses import replace

import numpy as np
import pytest

from bioqa.bioasq.domain import PUBMED_URL, Question, Response
from bioqa.models.answers.labels import sentence_labels
from bioqa.models.features.extractor import DOCUMENT_FEATURES, feature_counts, z_scores
from bioqa.models.rankers.registry import ARCHITECTURES, settings_of
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.training.data import Prepared, RankerInputs, fingerprint, prepare, scaling_of
from tests.models.toys import ABSENT, GOLDEN, ToyIndex

OF_DOCUMENTS, OF_SENTENCES = feature_counts("extended")
"""Without word pieces there are no soft features."""


def test_candidates_are_those_of_the_index(prepared: list[Prepared], index: ToyIndex) -> None:
    for question, gold in zip(prepared, GOLDEN, strict=True):
        assert question.response is gold
        pool = question.retrieved
        assert list(pool.candidates) == index.search(gold.question.body, 12)
        assert pool.relevant.tolist() == [c.document.url in gold.documents for c in pool.candidates]
        assert pool.relevant.sum() == 2
        assert pool.features.documents.shape == (12, OF_DOCUMENTS)
        bm25 = np.array([c.score for c in pool.candidates], dtype=np.float32)
        column = DOCUMENT_FEATURES.index("norm_bm25")
        np.testing.assert_allclose(pool.features.documents[:, column], z_scores(bm25), atol=1e-5)


def test_labels_lie_behind_each_other_in_the_order_of_candidates(prepared: list[Prepared]) -> None:
    for question in prepared:
        pool = question.retrieved
        labels = [sentence_labels(c.document, question.response.snippets) for c in pool.candidates]
        assert pool.labels.tolist() == np.concatenate(labels).tolist()
        assert pool.labels.sum() == 2
        assert (
            len(pool.labels) == len(pool.features.sentences) == sum(len(t.word_counts) for t in pool.tokens)
        )


def test_gold_documents_are_those_that_the_index_holds(prepared: list[Prepared]) -> None:
    for question in prepared:
        urls = [c.document.url for c in question.gold.candidates]
        assert urls == [url for url in question.response.documents if url != PUBMED_URL + ABSENT]
        assert question.gold.relevant.all()


def test_gold_that_was_not_retrieved_has_the_lowest_score(index: ToyIndex, vocabulary: Vocabulary) -> None:
    found = index.search(GOLDEN[0].question.body, 3)
    far = PUBMED_URL + "505"
    asked = Response(GOLDEN[0].question, (far, found[0].document.url, far), ())
    (made,) = prepare(index, [asked], vocabulary, size=3)
    assert [c.document.pmid for c in made.gold.candidates] == ["505", found[0].document.pmid]
    assert [c.score for c in made.gold.candidates] == [found[-1].score, found[0].score]


def test_a_question_that_finds_nothing(index: ToyIndex, vocabulary: Vocabulary) -> None:
    (made,) = prepare(index, [Response(Question("q", "xyzzy?"), (PUBMED_URL + ABSENT,), ())], vocabulary)
    for pool in (made.retrieved, made.gold):
        assert pool.candidates == ()
        assert pool.features.documents.shape == (0, OF_DOCUMENTS)
        assert pool.features.sentences.shape == (0, OF_SENTENCES)
        assert pool.relevant.dtype == pool.labels.dtype == bool


def test_progress_counts_questions(index: ToyIndex, vocabulary: Vocabulary) -> None:
    told: list[tuple[int, int]] = []
    prepare(index, GOLDEN[:3], vocabulary, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_scaling_is_of_retrieved_documents(prepared: list[Prepared]) -> None:
    scaling = scaling_of(prepared)
    documents = np.concatenate([q.retrieved.features.documents for q in prepared])
    np.testing.assert_allclose(scaling.document_mean, documents.mean(axis=0), rtol=1e-6)
    assert scaling.sentence_mean.shape == (OF_SENTENCES,)


@pytest.mark.parametrize("ranker", list(ARCHITECTURES))
def test_examples_are_scaled_and_cut_to_the_rankers_features(
    ranker: str, prepared: list[Prepared], vocabulary: Vocabulary
) -> None:
    scaling, question = scaling_of(prepared), prepared[0]
    paper, extended = (
        RankerInputs(settings_of(ranker, features=features), vocabulary, scaling).example(
            question, question.retrieved
        )
        for features in ("paper", "extended")
    )
    standard = scaling.apply(question.retrieved.features, "extended")
    assert paper.features.documents.shape == (12, 11)
    assert extended.features.documents.shape == (12, 16)
    assert extended.features.documents.tolist() == standard.documents.tolist()
    assert paper.features.documents.tolist() == standard.documents[:, :11].tolist()
    if ARCHITECTURES[ranker].units == "sentences":
        assert paper.features.sentences.tolist() == standard.sentences[:, :10].tolist()
        assert paper.unit_counts.tolist() == [len(t.word_counts) for t in question.retrieved.tokens]
    else:
        assert paper.unit_counts.tolist() == [1] * 12


def test_the_fingerprint_is_of_all_that_can_be_learned_from(
    prepared: list[Prepared], index: ToyIndex, vocabulary: Vocabulary
) -> None:
    assert fingerprint(prepare(index, GOLDEN, vocabulary, size=12)) == fingerprint(prepared)
    gold, *others = GOLDEN
    seen = {fingerprint(prepared)}
    for other in (
        replace(gold, snippets=gold.snippets[:1]),
        replace(gold, documents=gold.documents[:1]),
        replace(gold, question=replace(gold.question, body=gold.question.body + "!")),
    ):
        seen.add(fingerprint(prepare(index, [other, *others], vocabulary, size=12)))
    texts = ToyIndex([replace(d, title=d.title.replace("rare", "odd")) for d in index.documents.values()])
    texts.documents["101"] = replace(texts.documents["101"], abstract=texts.documents["101"].abstract + " ")
    seen.add(fingerprint(prepare(texts, GOLDEN, vocabulary, size=12)))
    seen.add(fingerprint(prepare(index, GOLDEN, vocabulary, size=11)))
    seen.add(fingerprint(prepared[::-1]))
    assert len(seen) == 7
