"""The bench that fits what sentences of an abstract do."""

import numpy as np
import pytest

from bench.roles import Labelled, fit, labelled, measured, rows
from bioqa.models.answers.roles import ROLES
from tests.models.toys import document


def test_labels_are_read_and_taken_away() -> None:
    found = labelled(
        document(
            1,
            "Zelosis.",
            "BACKGROUND: Zelosis is common.",
            "We aimed to find its cause.",
            "METHODS: Mice were studied.",
            "RESULTS: All died.",
            "CONCLUSIONS: It is fatal.",
        )
    )
    assert found is not None
    assert [ROLES[role] for role in found.roles] == ["background", "aim", "method", "result", "conclusion"]
    assert found.texts[0] == "Zelosis is common."


@pytest.mark.parametrize("sentences", [["Zelosis is common."], ["METHODS: Mice.", "RESULTS: Dead."], []])
def test_abstracts_that_are_not_structured(sentences: list[str]) -> None:
    assert labelled(document(1, "Zelosis.", *sentences)) is None


def test_what_is_fitted_knows_what_it_has_seen() -> None:
    texts = [
        "It is common.",
        "We aimed to know.",
        "Mice were used.",
        "Of 12 mice 8 died.",
        "It may be fatal.",
    ]
    abstracts = [Labelled(texts, [1, 0, 2, 3, 4], held_out=False) for _ in range(20)]
    model = fit(abstracts, most=40)
    assert "accuracy 1.000" in next(measured(model, abstracts))
    assert rows(abstracts, model.grams).sentences.tolist() == [5] * 20
    assert np.isfinite(model.of_grams).all()
