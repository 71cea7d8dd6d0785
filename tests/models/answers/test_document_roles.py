"""What sentences of whole documents do: authors' labels first, then the model."""

from dataclasses import replace

import pytest

from bioqa.bioasq.domain import Document, Part
from bioqa.models.answers.document_roles import document_roles, role_of_label
from bioqa.models.answers.roles import roles_of
from tests.models.answers.test_roles import ABSTRACT
from tests.models.toys import document


def _with_parts(*labelled: tuple[str, str]) -> Document:
    plain = document(1, "Aspirin in zelosis.", *(f"{label}: {text}" for label, text in labelled))
    abstract = [sentence for sentence in plain.sentences if sentence.section == "abstract"]
    parts = tuple(
        Part(label, sentence.begin, sentence.end)
        for (label, _), sentence in zip(labelled, abstract, strict=True)
    )
    return replace(plain, parts=parts)


def test_without_labels_the_model_reads_each_abstract() -> None:
    plain = document(1, "Aspirin in zelosis.", *ABSTRACT)
    (roles, none) = document_roles([plain, document(2, "A title alone.")])
    assert [*roles.values()] == roles_of(ABSTRACT)
    assert [*roles] == [sentence for sentence in plain.sentences if sentence.section == "abstract"]
    assert none == {}
    assert document_roles([]) == []


def test_authors_know_better_what_a_part_is() -> None:
    labelled = _with_parts(
        ("BACKGROUND", ABSTRACT[1]),  # an aim, in the part that some authors have for both
        ("RESULTS", ABSTRACT[2]),
        ("PATIENTS AND METHODS", ABSTRACT[3]),
        ("LIMITATIONS AND MORE", ABSTRACT[4]),  # unknown
    )
    (roles,) = document_roles([labelled])
    assert [*roles.values()] == ["aim", "result", "method", "conclusion"]


@pytest.mark.parametrize(
    ("label", "role"),
    [("Results:", "result"), ("MAIN OUTCOME MEASURES", "method"), ("DESIGN AND RESULTS", None), ("", None)],
)
def test_labels_of_one_role_are_known(label: str, role: str | None) -> None:
    assert role_of_label(label) == role
