import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.models.answers.sentence_words import SentenceWords

TEXTS = st.lists(st.text(alphabet=st.sampled_from("abcXY 0.5%<=±,-β\0\n"), max_size=20), max_size=5)


def test_words_numbers_and_signs_of_each_sentence() -> None:
    words = SentenceWords.of(["Mortality fell (12.5% vs 20%, p<0.01).", "", "IL-6 ± SD"])
    assert words.words == [
        *("Mortality", "fell", "12.5", "%", "vs", "20", "%", "p", "<", "0.01"),
        *("IL", "6", "±", "SD"),
    ]
    assert words.lower == [word.lower() for word in words.words]
    assert words.lengths.tolist() == [10, 0, 4]
    assert words.sentence.tolist() == [0] * 10 + [2] * 4


@given(TEXTS)
def test_sentences_read_together_have_the_words_that_each_has_alone(texts: list[str]) -> None:
    together = SentenceWords.of(texts)
    assert together.size == len(texts)
    alone = [SentenceWords.of([text]) for text in texts]
    assert together.words == [word for each in alone for word in each.words]
    assert together.lengths.tolist() == [len(each.words) for each in alone]


@given(TEXTS, st.data())
def test_some_of_the_sentences(texts: list[str], data: st.DataObject) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts)))
    some = SentenceWords.of(texts).some(kept)
    wanted = SentenceWords.of([text for text, keep in zip(texts, kept, strict=True) if keep])
    assert (some.words, some.lower) == (wanted.words, wanted.lower)
    assert some.sentence.tolist() == wanted.sentence.tolist()
    assert some.lengths.tolist() == wanted.lengths.tolist()


@pytest.mark.parametrize("texts", [[], [""], ["β"]])
def test_no_words(texts: list[str]) -> None:
    assert SentenceWords.of(texts).words == []
