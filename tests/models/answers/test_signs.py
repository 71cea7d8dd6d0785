import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.models.answers import signs as module
from bioqa.models.answers.sentence_words import SentenceWords
from bioqa.models.answers.signs import COLUMNS, signs


def found(text: str, question: str = "") -> dict[str, float]:
    row = signs(SentenceWords.of([text]), question)[0]
    return dict(zip(COLUMNS, row.tolist(), strict=True))


@pytest.mark.parametrize(
    ("text", "there", "absent"),
    [
        ("Aspirin reduced mortality.", {"effect", "frequency"}, {"number", "negation", "percent"}),
        ("It fell from 20 to 12% (p < 0.01).", {"number", "percent", "statistic"}, {"drug"}),
        ("Infliximab caused severe infections.", {"drug", "cause"}, {"number"}),
        ("We aimed to assess whether it helps.", {"study"}, {"effect", "number"}),
        ("There was no difference between groups.", {"negation", "comparison"}, {"harm"}),
        ("Mutations in MECP2 cause it.", {"names", "cause"}, set()),
    ],
)
def test_signs_of_a_sentence(text: str, there: set[str], absent: set[str]) -> None:
    row = found(text)
    assert all(row[name] > 0 for name in there)
    assert all(row[name] == 0 for name in absent)


def test_what_the_question_has_is_not_new() -> None:
    text = "Infliximab 5 mg blocked TNF."
    new = found(text, "what blocks it?")
    known = found(text, "does infliximab 5 block TNF?")
    assert [new[name] > 0 for name in module.NEWS] == [True] * 3
    assert [known[name] for name in module.NEWS] == [0.0] * 3


@given(st.lists(st.text(max_size=30), max_size=4), st.text(max_size=20))
def test_every_column_is_between_zero_and_one(texts: list[str], question: str) -> None:
    rows = signs(SentenceWords.of(texts), question)
    assert rows.shape == (len(texts), len(COLUMNS))
    assert ((rows >= 0) & (rows <= 1)).all()
    alone = [signs(SentenceWords.of([text]), question) for text in texts]
    assert np.array_equal(rows, np.vstack([np.zeros((0, len(COLUMNS))), *alone]))


def test_words_are_forgotten_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KNOWN", 3)
    known = module._Known()
    for word in ("one", "two", "three", "four"):
        assert known[word] == known[word]
    assert len(known) <= 3
