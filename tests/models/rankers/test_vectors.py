import numpy as np
import pytest
import torch

from bioqa.models.rankers.batch import Batch, collate
from bioqa.models.rankers.settings import UnknownWords
from bioqa.models.rankers.vectors import (
    StaticVectors,
    TermGate,
    cosines,
    exact_matches,
    products,
    softmax_over_terms,
    term_counts,
)
from bioqa.models.text.vocabulary import Vocabulary
from tests.models import reference
from tests.models.toys import random_example, toy_settings


@pytest.fixture
def batch(vocabulary: Vocabulary) -> Batch:
    """Three questions of 2, 0 and 4 terms; words of the questions and unknown words occur."""
    generator = np.random.default_rng(4)
    settings = toy_settings("pacrr")
    examples = []
    for terms, counts in ((2, [1, 1]), (0, [1]), (4, [1, 0, 1])):
        example = random_example(
            generator, settings, len(vocabulary.words), terms=terms, sentence_counts=counts
        )
        if terms:
            example.words[::2] = generator.choice(example.question, len(example.words[::2]))
            example.words[1::4] = -2
        examples.append(example)
    return collate(examples, vocabulary)


def _vectors(vocabulary: Vocabulary, unknown: UnknownWords = "mean") -> StaticVectors:
    return StaticVectors(torch.from_numpy(vocabulary.vectors), unknown)


def test_unknown_words_share_one_vector(vocabulary: Vocabulary, batch: Batch) -> None:
    assert (batch.words < 0).any()
    for unknown in ("mean", "random"):
        of_terms, of_words = _vectors(vocabulary, unknown)(batch)
        found = of_words[batch.words < 0]
        assert torch.equal(found, found[:1].expand_as(found))
        known = batch.words >= 0
        assert torch.equal(of_words[known], torch.from_numpy(vocabulary.vectors)[batch.words[known]])
        assert of_terms.shape == (6, 6)
        if unknown == "mean":
            torch.testing.assert_close(found[0], torch.from_numpy(vocabulary.vectors.mean(axis=0)))
        else:
            assert found.abs().max() <= 0.25
            # The same when a checkpoint is loaded, whatever the state of torch's generator.
            assert torch.equal(_vectors(vocabulary, unknown)(batch)[1], of_words)


def test_similarities_are_of_each_question_with_its_own_words(vocabulary: Vocabulary, batch: Batch) -> None:
    of_terms, of_words = _vectors(vocabulary)(batch)
    terms = batch.padded_terms(of_terms)
    found = cosines(batch, terms, of_words), products(batch, terms, of_words), exact_matches(batch)
    for place, (word, vector) in enumerate(zip(batch.words.tolist(), of_words.tolist(), strict=True)):
        question = int(batch.unit_question[batch.word_unit[place]])
        for i in range(batch.questions.shape[1]):
            there = bool(batch.mask[question, i])
            term = terms[question, i].tolist()
            assert there or not any(term)
            expected = [
                reference.cosine(vector, term),
                float(np.dot(vector, term)),
                float(there and int(batch.questions[question, i]) == word),
            ]
            assert [float(each[place, i]) for each in found] == pytest.approx(expected, abs=1e-5)


def test_counts_of_terms_are_by_unit(batch: Batch) -> None:
    matches = exact_matches(batch)
    expected = torch.stack([matches[batch.word_unit == unit].sum(0) for unit in range(len(batch.lengths))])
    assert torch.equal(term_counts(batch), expected)
    assert expected.sum() > 0


def test_weights_of_terms_are_a_softmax_without_the_masked(vocabulary: Vocabulary, batch: Batch) -> None:
    weights = softmax_over_terms(batch, torch.randn(3, 4, generator=torch.Generator().manual_seed(0)))
    torch.testing.assert_close(weights.sum(1), torch.tensor([1.0, 0.0, 1.0]))
    assert not weights[~batch.mask].any()
    gate = TermGate(6)
    terms = batch.padded_terms(_vectors(vocabulary)(batch)[0])
    assert gate(batch, terms).shape == (3, 4)
    assert not gate(batch, terms)[~batch.mask].any()
