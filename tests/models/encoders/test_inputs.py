"""Sequences by hand, with the special pieces of BERT (101, 102) and of RoBERTa (0, 2, two between texts)."""

import numpy as np
import pytest

from bioqa.models.encoders.inputs import Pieced, Template, pair, passage, single

BERT_ONE = Template(((101,), (102,)), (0, 0, 0))
BERT_TWO = Template(((101,), (102,), (102,)), (0, 0, 0, 1, 1))
ROBERTA_TWO = Template(((0,), (2, 2), (2,)), (0, 0, 0, 0, 0))

QUESTION = np.array([7, 8], dtype=np.int64)
TEXT = np.array([11, 12, 13], dtype=np.int64)


@pytest.mark.parametrize(
    ("template", "ids", "types"),
    [
        (BERT_TWO, [101, 7, 8, 102, 11, 12, 13, 102], [0, 0, 0, 0, 1, 1, 1, 1]),
        (ROBERTA_TWO, [0, 7, 8, 2, 2, 11, 12, 13, 2], [0] * 9),
    ],
    ids=["BERT", "RoBERTa"],
)
def test_a_pair(template: Template, ids: list[int], types: list[int]) -> None:
    made = pair(template, QUESTION, TEXT, 64)
    assert made.ids.tolist() == ids
    assert made.types.tolist() == types
    assert made.places.tolist() == [0]
    assert not made.truncated
    # The same sequence, for the states of the text's pieces.
    read = passage(template, QUESTION, TEXT, 64)
    assert read.ids.tolist() == ids
    assert read.ids[read.places].tolist() == TEXT.tolist()


def test_what_does_not_fit_is_cut_from_the_text() -> None:
    made = passage(BERT_TWO, QUESTION, TEXT, 7)
    assert made.ids.tolist() == [101, 7, 8, 102, 11, 12, 102]
    assert made.ids[made.places].tolist() == [11, 12]
    assert made.truncated


def test_a_long_question_leaves_half_of_the_room() -> None:
    question = np.arange(20, 40, dtype=np.int64)
    made = passage(BERT_TWO, question, TEXT, 9)
    assert made.ids.tolist() == [101, 20, 21, 22, 102, 11, 12, 13, 102]
    assert made.ids[made.places].tolist() == TEXT.tolist()
    assert not made.truncated


def test_a_single_text_for_its_words_first_pieces() -> None:
    text = Pieced(TEXT, np.array([0, -1, 2], dtype=np.int64))
    whole = single(BERT_ONE, text, 64)
    assert whole.ids.tolist() == [101, 11, 12, 13, 102]
    assert whole.ids[whole.places].tolist() == [11, 13]
    cut = single(BERT_ONE, text, 4)
    assert cut.ids.tolist() == [101, 11, 12, 102]
    assert cut.ids[cut.places].tolist() == [11]
    assert (whole.truncated, cut.truncated) == (False, True)


def test_nothing_to_read() -> None:
    nothing = np.array([], dtype=np.int64)
    assert pair(BERT_TWO, nothing, nothing, 64).ids.tolist() == [101, 102, 102]
    assert len(passage(BERT_TWO, QUESTION, nothing, 64).places) == 0
    assert single(BERT_ONE, Pieced(nothing, nothing), 64).ids.tolist() == [101, 102]
