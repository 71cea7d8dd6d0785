from dataclasses import fields, replace
from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bioqa.bioasq.domain import Document, Sentence
from bioqa.models.arrays import concatenate
from bioqa.models.text.tokens import TokenisedDocument, tokenise_documents, tokenise_question
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.text.words import STOP_WORDS, stem, terms, words
from tests.models.toys import DOCUMENTS, document, pieces_of, vocabulary_of

TEXT = document(
    1,
    "Zelosis, a puzzle.",
    "Unheard-of words and velorin.",
    "...",
    "The of and.",
    "Velorin cures ferroplegia.",
)


VOCABULARY = replace(
    vocabulary_of(("zelosis", "velorin", "il-2tnf-", "the", "a")),
    pieces=pieces_of(("zel", "##osis", "velorin", "il", "2", "the", "a", "##b", "\u03b1", "\u03c3")),
)


def _ids(text: str, vocabulary: Vocabulary) -> list[int]:
    return [vocabulary.word_ids[word] for word in words(text)]


def _stem_ids(text: str, vocabulary: Vocabulary) -> list[int]:
    return [vocabulary.term_ids[term] for term in terms(text) if term not in STOP_WORDS]


def test_a_document_is_its_sentences_one_behind_the_other(vocabulary: Vocabulary) -> None:
    for source in (TEXT, *DOCUMENTS):
        found = tokenise_documents([source], vocabulary)[0]
        texts = [source.sentence_text(s) for s in source.sentences]
        by_word = [_ids(text, vocabulary) for text in texts]
        by_stem = [_stem_ids(text, vocabulary) for text in texts]
        assert found.words.tolist() == [*chain(*by_word)]
        assert found.word_counts.tolist() == list(map(len, by_word))
        assert found.stems.tolist() == [*chain(*by_stem)]
        assert found.stem_counts.tolist() == list(map(len, by_stem))
        assert found.characters.tolist() == list(map(len, texts))
        assert found.titles.tolist() == [s.section == "title" for s in source.sentences]


def test_known_words_and_stems_have_positions_and_others_negative_ids(vocabulary: Vocabulary) -> None:
    found = tokenise_documents([TEXT], vocabulary)[0]
    known = [i for i in found.words.tolist() if i >= 0]
    assert [vocabulary.words[i] for i in known] == [
        word for text in (TEXT.title, TEXT.abstract) for word in words(text) if word in vocabulary.word_ids
    ]
    assert (found.words < 0).any()
    names = {
        number: stem(term)
        for term, number in zip(vocabulary.terms, vocabulary.term_stems.tolist(), strict=True)
    }
    assert [names[i] for i in found.stems.tolist() if i >= 0] == [
        stem(term)
        for text in (TEXT.title, TEXT.abstract)
        for term in terms(text)
        if stem(term) in names.values()
    ]


def test_a_document_without_sentences(vocabulary: Vocabulary) -> None:
    found = tokenise_documents([document(2)], vocabulary)[0]
    for array in (found.words, found.word_counts, found.stems, found.stem_counts, found.characters):
        assert array.tolist() == []
        assert array.dtype == np.int64
    assert found.titles.tolist() == []


def test_a_question_without_the_white_space_around_it(vocabulary: Vocabulary) -> None:
    body = "Which drug cures zelosis?"
    asked, padded = (tokenise_question(text, vocabulary) for text in (body, f"\n  {body}\t "))
    assert asked.words.tolist() == padded.words.tolist() == _ids(body, vocabulary)
    assert asked.stems.tolist() == padded.stems.tolist() == _stem_ids(body, vocabulary)
    assert asked.characters == padded.characters == len(body)
    empty = tokenise_question("?", vocabulary)
    assert (empty.words.tolist(), empty.stems.tolist(), empty.characters) == ([], [], 1)


def test_many_documents_are_what_each_is_alone() -> None:
    greek = document(3, "Zelosis (IL-2/TNF-\u03b1)\u2028\x1cin \u039f\u0394\u039f\u03a3.")
    many = [document(1), TEXT, *DOCUMENTS, greek, document(4)]
    for pieces in (False, True):
        known = replace(VOCABULARY, pieces=VOCABULARY.pieces if pieces else None)
        alone = [tokenise_documents([each], known)[0] for each in many]
        together = tokenise_documents(many, known)
        for name in (field.name for field in fields(TokenisedDocument)):
            for one, other in zip(alone, together, strict=True):
                assert getattr(one, name).dtype == getattr(other, name).dtype
                assert getattr(one, name).tolist() == getattr(other, name).tolist()
    assert tokenise_documents([], VOCABULARY) == []


@given(st.text())
def test_any_text_is_cut_at_its_white_space_and_means_the_same(text: str) -> None:
    source = Document("1", 1, text, "", None, (Sentence("title", 0, len(text)),))
    found = tokenise_documents([source], VOCABULARY)[0]
    text = text.replace("\0", " ")
    assert VOCABULARY.pieces is not None
    assert found.words.tolist() == _ids(text, VOCABULARY)
    assert found.stems.tolist() == _stem_ids(text, VOCABULARY)
    assert found.pieces.tolist() == [p for term in terms(text) for p in VOCABULARY.pieces.splits[term]]


def test_concatenating_nothing_gives_integers() -> None:
    assert concatenate([]).dtype == np.int64
    assert concatenate([np.array([1]), np.array([2, 3])]).tolist() == [1, 2, 3]
