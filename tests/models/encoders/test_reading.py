from pathlib import Path

import numpy as np
import pytest

from bioqa.models.encoders.encoder import Encoder
from bioqa.models.encoders.reading import Reader
from bioqa.models.text.tokens import tokenise_documents
from bioqa.models.text.vocabulary import Vocabulary
from bioqa.models.text.words import words
from tests.models.encoders.tiny import tiny_encoder
from tests.models.toys import document

BODY = "Which drug cures zelosis?"
TEXTS = document(7, "A trial of velorin.", "Forty people, IL-2/TNF-α.", "Age \u200b was recorded.")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    path: Path = tmp_path_factory.mktemp("encoder")
    return tiny_encoder(path, positions=64)


def test_pairs_are_of_running_text(encoder: Encoder) -> None:
    read = Reader(encoder, "pairs", by_document=False)(BODY, [TEXTS, document(8)])
    texts = [TEXTS.sentence_text(s) for s in TEXTS.sentences]
    assert [u.ids.tolist() for u in read.units] == [p.ids.tolist() for p in encoder.pieces(texts)]
    assert read.question.ids.tolist() == encoder.pieces([BODY])[0].ids.tolist()
    assert not read.by_word


def test_a_document_is_its_sentences_one_behind_the_other(encoder: Encoder) -> None:
    sentences = Reader(encoder, "pairs", by_document=False)(BODY, [TEXTS]).units
    whole = Reader(encoder, "pairs", by_document=True)(BODY, [TEXTS, document(8)]).units
    assert whole[0].ids.tolist() == [i for u in sentences for i in u.ids.tolist()]
    assert len(whole[1].ids) == 0


def test_words_are_those_of_the_vocabulary_one_for_one(encoder: Encoder, vocabulary: Vocabulary) -> None:
    read = Reader(encoder, "words", by_document=False)(BODY, [TEXTS])
    (tokens,) = tokenise_documents([TEXTS], vocabulary)
    assert [len(u.firsts) for u in read.units] == tokens.word_counts.tolist()
    assert len(read.question.firsts) == len(words(BODY))
    assert read.units[2].firsts.tolist()[1] == -1
    whole = Reader(encoder, "words", by_document=True)(BODY, [TEXTS]).units[0]
    assert len(whole.firsts) == len(tokens.words)
    firsts = [u.ids[f] if f >= 0 else -1 for u in read.units for f in u.firsts.tolist()]
    kept = [whole.ids[f] if f >= 0 else -1 for f in whole.firsts.tolist()]
    # What is beyond the encoder's positions has no state.
    assert all(k in (f, -1) for k, f in zip(kept, firsts, strict=True))


def test_words_beyond_what_the_encoder_reads_have_no_state(encoder: Encoder) -> None:
    text = document(9, " ".join(["abc"] * 30))
    reader = Reader(encoder, "words", by_document=False)
    read = reader(BODY, [text])
    assert read.units[0].firsts.tolist() == [3 * i if 3 * i < 62 else -1 for i in range(30)]
    assert reader.count_truncated(read) == 1
    assert encoder.states([encoder.single(read.units[0])]).shape[0] == 21


@pytest.mark.parametrize(("pieces", "truncated"), [(46, 0), (47, 1)])
def test_the_room_beside_the_question(encoder: Encoder, pieces: int, truncated: int) -> None:
    """Of 64 positions, 3 are special and the question takes as many as it has."""
    reader = Reader(encoder, "pairs", by_document=False)
    question = "a " * 15
    read = reader(question, [document(1, "b " * pieces)])
    assert reader.count_truncated(read) == truncated
    (unit,) = read.units
    assert encoder.pair(read.question.ids, unit.ids).truncated == bool(truncated)


def test_documents_are_read_once(encoder: Encoder) -> None:
    reader = Reader(encoder, "pairs", by_document=False)
    first, second = (reader(BODY, [TEXTS]).units for _ in range(2))
    assert all(one is other for one, other in zip(first, second, strict=True))
    uncached = Reader(encoder, "pairs", by_document=False, cached_documents=0)
    third = uncached(BODY, [TEXTS]).units
    assert all(np.array_equal(one.ids, other.ids) for one, other in zip(first, third, strict=True))
