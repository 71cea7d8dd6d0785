"""What sentences of an abstract do: against a plain computation, and on sentences that leave no doubt."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.models.answers import roles
from bioqa.models.answers.roles import BEGIN, CONTEXT, PLACES, ROLES, Grams, RoleModel, roles_of
from bioqa.models.answers.sentence_words import SentenceWords

ABSTRACT = (
    "Zelosis is a common disease of the lung, and its treatment remains controversial.",
    "The aim of this study was to determine whether aspirin reduces mortality in zelosis.",
    "Patients were recruited from clinics, and mortality was measured with a questionnaire.",
    "Mortality was 12% in the aspirin group and 25% in the placebo group (p = 0.01).",
    "These findings suggest that aspirin should be considered in patients with zelosis.",
)
GRAMS = Grams(("we", "0", "^ we", "we found", "found", "% of"))


def _weights(seed: int, rows: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, len(ROLES)))


MODEL = RoleModel(GRAMS, _weights(1, len(GRAMS.names)), _weights(2, PLACES), _weights(3, CONTEXT))


def test_sentences_that_leave_no_doubt() -> None:
    assert roles_of(ABSTRACT) == ["background", "aim", "method", "result", "conclusion"]


@pytest.mark.parametrize("sentences", [[], [""], ["?"], ["", "Care of zelosis.", ""], ["aim " * 5000]])
def test_any_sentences(sentences: list[str]) -> None:
    assert len(roles_of(sentences)) == len(sentences)


def _plain_grams(text: str) -> set[str]:
    words = ["0" if word[0].isdigit() else word for word in SentenceWords.of([text]).lower]
    pairs = {f"{first} {second}" for first, second in zip([BEGIN, *words], words, strict=False)}
    return ({*words} | pairs) & {*GRAMS.names}


@given(
    st.lists(
        st.lists(st.sampled_from(["we", "found", "12", "%", "of", "Other"]), max_size=5).map(" ".join),
        max_size=4,
    )
)
def test_grams_are_the_known_words_and_pairs_of_each_sentence(texts: list[str]) -> None:
    sentence, gram = GRAMS.of(SentenceWords.of(texts))
    found: list[set[str]] = [set() for _ in texts]
    for place, number in zip(sentence.tolist(), gram.tolist(), strict=True):
        found[place].add(GRAMS.names[number])
    assert found == [_plain_grams(text) for text in texts]


def test_abstracts_read_together_get_what_each_gets_alone() -> None:
    abstracts = [[*ABSTRACT], ["We found 3% of it."], [*ABSTRACT[:3]]]
    texts = [text for abstract in abstracts for text in abstract]
    counts = np.array([len(abstract) for abstract in abstracts])
    together = MODEL(SentenceWords.of(texts), counts)
    alone = [MODEL(SentenceWords.of(each), np.array([len(each)])) for each in abstracts]
    assert together == pytest.approx(np.vstack(alone))
    assert together.sum(axis=1) == pytest.approx(1.0)


def test_the_context_is_what_the_neighbours_do() -> None:
    first = np.log(np.full((3, len(ROLES)), 0.2))
    first[1] = np.log([0.6, 0.1, 0.1, 0.1, 0.1])
    rows = roles.context(first, np.array([3]))
    before, after = rows[:, 5:10], rows[:, 10:15]
    assert before.tolist() == pytest.approx(np.vstack([np.zeros(5), np.exp(first[:2])]))
    assert after.tolist() == pytest.approx(np.vstack([np.exp(first[1:]), np.zeros(5)]))
    assert rows[:, -3:].tolist() == [[1, 0, 1], [0, 0, 1], [0, 1, 1]]


def test_a_saved_model_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    MODEL.save(tmp_path / "roles")
    monkeypatch.setattr(roles, "FOLDER", tmp_path / "roles")
    loaded = roles.load_model.__wrapped__()
    assert loaded.grams.names == GRAMS.names
    assert loaded.of_grams == pytest.approx(MODEL.of_grams, abs=2e-3)
