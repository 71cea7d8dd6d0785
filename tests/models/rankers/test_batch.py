from itertools import chain, pairwise

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from bioqa.models.features.extractor import FeatureExtractor, feature_counts
from bioqa.models.rankers.batch import Packing, collate, make_example
from bioqa.models.rankers.registry import settings_of
from bioqa.models.rankers.settings import InputReading, Units, WordReading
from bioqa.models.text.tokens import (
    TokenisedDocument,
    TokenisedQuestion,
    tokenise_documents,
    tokenise_question,
)
from bioqa.models.text.vocabulary import Vocabulary
from tests.models.toys import document, random_example

OF_DOCUMENTS, OF_SENTENCES = feature_counts("extended")
"""Without word pieces there are no soft features."""

JPDRMM = settings_of("jpdrmm")
READING = InputReading()


@given(st.lists(st.integers(0, 6), max_size=8))
def test_packing_goes_through_all_first_words_then_all_second_words(lengths: list[int]) -> None:
    packing = Packing.of(np.array(lengths, dtype=np.int64))
    starts = np.cumsum([0, *lengths])
    longest_first = sorted(range(len(lengths)), key=lambda unit: -lengths[unit])
    assert packing.units.tolist() == longest_first
    expected = [
        [int(starts[unit]) + t for unit in longest_first if lengths[unit] > t]
        for t in range(max(lengths, default=0))
    ]
    assert packing.order.tolist() == [*chain(*expected)]
    assert packing.steps == tuple(map(len, expected))
    assert all(a >= b for a, b in pairwise(packing.steps))


def _tokenised(vocabulary: Vocabulary) -> tuple[TokenisedQuestion, list[TokenisedDocument]]:
    question = tokenise_question("Which xyzzy drug cures ferroplegia?", vocabulary)
    documents = [
        document(1, "Care of zelosis.", "Ferroplegia, xyzzy!", "The drug xyzzy is cheap."),
        document(2),
        document(3, "", "Mice were used."),
    ]
    return question, tokenise_documents(documents, vocabulary)


def _ids(vocabulary: Vocabulary, words: str) -> list[int]:
    return [vocabulary.word_ids[word] for word in words.split()]


def test_words_without_a_vector_are_left_out_and_units_stay(vocabulary: Vocabulary) -> None:
    question, documents = _tokenised(vocabulary)
    features = FeatureExtractor(vocabulary)(question, documents, np.array([3.0, 2.0, 1.0]))
    by_sentence = make_example("sentences", READING, question, documents, features)
    assert by_sentence.question.tolist() == _ids(vocabulary, "drug cures")
    assert by_sentence.words.tolist() == _ids(vocabulary, "care of zelosis the drug is cheap mice were used")
    assert by_sentence.word_counts.tolist() == [3, 0, 4, 3]
    assert by_sentence.unit_counts.tolist() == [3, 0, 1]
    assert by_sentence.features.sentences.shape == (4, OF_SENTENCES)

    by_document = make_example("documents", READING, question, documents, features)
    assert by_document.words.tolist() == by_sentence.words.tolist()
    assert by_document.word_counts.tolist() == [7, 0, 3]
    assert by_document.unit_counts.tolist() == [1, 1, 1]
    assert by_document.features.documents.shape == (3, OF_DOCUMENTS)
    assert by_document.features.sentences.shape == (0, OF_SENTENCES)


def test_taking_some_documents_in_another_order(vocabulary: Vocabulary) -> None:
    question, documents = _tokenised(vocabulary)
    extract = FeatureExtractor(vocabulary)
    features = extract(question, documents, np.array([3.0, 2.0, 1.0]))
    units: tuple[Units, ...] = ("sentences", "documents")
    for each in units:
        taken = make_example(each, READING, question, documents, features).take([2, 0])
        assert taken.question.tolist() == _ids(vocabulary, "drug cures")
        assert taken.words.tolist() == _ids(vocabulary, "mice were used care of zelosis the drug is cheap")
        assert taken.features.documents.tolist() == features.documents[[2, 0]].tolist()
        if each == "sentences":
            assert taken.word_counts.tolist() == [3, 3, 0, 4]
            assert taken.unit_counts.tolist() == [1, 3]
            assert taken.features.sentences.tolist() == features.sentences[[3, 0, 1, 2]].tolist()
        else:
            assert taken.word_counts.tolist() == [3, 7]
            assert taken.unit_counts.tolist() == [1, 1]
            assert len(taken.features.sentences) == 0


def test_nothing_taken(vocabulary: Vocabulary) -> None:
    example = random_example(np.random.default_rng(0), JPDRMM, len(vocabulary.words), sentence_counts=[0, 2])
    empty = example.take([0])
    assert empty.words.tolist() == empty.word_counts.tolist() == []
    assert empty.unit_counts.tolist() == [0]
    assert empty.features.sentences.shape == (0, 10)


def test_collated_questions_have_a_mask(vocabulary: Vocabulary) -> None:
    generator = np.random.default_rng(1)
    size = len(vocabulary.words)
    examples = [
        random_example(generator, JPDRMM, size, terms=terms, sentence_counts=counts)
        for terms, counts in ((2, [1, 2]), (0, [0]), (3, [2, 0, 1]))
    ]
    batch = collate(examples, vocabulary)
    assert batch.mask.sum(1).tolist() == [2, 0, 3]
    assert batch.questions.shape == batch.idf.shape == (3, 3)
    for row, example in enumerate(examples):
        n = len(example.question)
        assert batch.questions[row, :n].tolist() == example.question.tolist()
        assert batch.questions[row, n:].tolist() == [0] * (3 - n)
        assert batch.idf[row, :n].tolist() == vocabulary.idf[example.question].tolist()
        assert batch.idf[row, n:].tolist() == [0.0] * (3 - n)
    assert batch.unit_question.tolist() == [0, 0, 0, 2, 2, 2]
    assert batch.unit_document.tolist() == [0, 1, 1, 3, 3, 5]
    assert batch.question_words == tuple(len(e.words) for e in examples)
    assert batch.words.tolist() == np.concatenate([e.words for e in examples]).tolist()
    assert batch.lengths.tolist() == np.concatenate([e.word_counts for e in examples]).tolist()
    assert batch.document_features.shape == (6, 11)
    assert batch.sentence_features.shape == (6, 10)
    assert batch.document_features.dtype == torch.float32


def test_a_question_without_terms_has_one_masked_place(vocabulary: Vocabulary) -> None:
    example = random_example(np.random.default_rng(2), JPDRMM, 5, terms=0, sentence_counts=[1])
    batch = collate([example], vocabulary)
    assert batch.mask.tolist() == [[False]]
    assert batch.questions.tolist() == [[0]]
    assert batch.idf.tolist() == [[0.0]]


def test_a_ranker_of_titles_reads_nothing_else(vocabulary: Vocabulary) -> None:
    question, documents = _tokenised(vocabulary)
    features = FeatureExtractor(vocabulary)(question, documents, np.array([3.0, 2.0, 1.0]))
    by_title = make_example("titles", READING, question, documents, features)
    assert by_title.words.tolist() == _ids(vocabulary, "care of zelosis")
    assert by_title.word_counts.tolist() == [3, 0, 0]
    assert by_title.unit_counts.tolist() == [1, 1, 1]
    assert by_title.features.documents.tolist() == features.documents.tolist()


def test_unknown_words_stay_where_they_have_a_vector(vocabulary: Vocabulary) -> None:
    question, documents = _tokenised(vocabulary)
    features = FeatureExtractor(vocabulary)(question, documents, np.array([3.0, 2.0, 1.0]))
    reading = WordReading(unknown_words="mean")
    example = make_example("documents", reading, question, documents, features)
    asked = ["which", "xyzzy", "drug", "cures", "ferroplegia"]
    assert example.question.tolist() == [vocabulary.word_ids[word] for word in asked]
    assert example.word_counts.tolist() == [10, 0, 3]
    batch = collate([example], vocabulary)
    assert batch.idf[0, 1].item() == vocabulary.idf.max()


def test_only_the_first_words_are_read_and_what_is_cut_is_counted(vocabulary: Vocabulary) -> None:
    question, documents = _tokenised(vocabulary)
    features = FeatureExtractor(vocabulary)(question, documents, np.array([3.0, 2.0, 1.0]))
    reading = WordReading(question_words=1, unit_words=3)
    example = make_example("documents", reading, question, documents, features)
    assert example.question.tolist() == _ids(vocabulary, "drug")
    assert example.words.tolist() == _ids(vocabulary, "care of zelosis mice were used")
    assert example.word_counts.tolist() == [3, 0, 3]
    assert example.truncated == 1
    assert make_example("documents", WordReading(), question, documents, features).truncated == 0


def test_padded_words_and_terms_are_where_their_masks_are(vocabulary: Vocabulary) -> None:
    generator = np.random.default_rng(1)
    examples = [
        random_example(generator, JPDRMM, len(vocabulary.words), terms=terms, sentence_counts=counts)
        for terms, counts in ((2, [1, 2]), (0, [0]), (3, [2, 0, 1]))
    ]
    batch = collate(examples, vocabulary)
    padded = batch.pad(batch.words + 1)
    assert padded[batch.padding].tolist() == (batch.words + 1).tolist()
    assert not padded[~batch.padding].any()
    assert batch.padding.sum(1).tolist() == batch.lengths.tolist()
    assert batch.word_unit.tolist() == np.repeat(np.arange(6), batch.lengths.numpy()).tolist()
    terms = batch.padded_terms(batch.questions[batch.mask])
    assert terms.tolist() == batch.questions.tolist()


def test_no_words_have_one_masked_place(vocabulary: Vocabulary) -> None:
    example = random_example(np.random.default_rng(2), JPDRMM, 5, terms=1, sentence_counts=[2], longest=0)
    batch = collate([example], vocabulary)
    assert batch.pad(torch.zeros(0, 4)).shape == (2, 1, 4)
    assert not batch.padding.any()
