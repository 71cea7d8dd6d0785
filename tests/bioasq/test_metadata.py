"""What a citation says beside its text: dates as precise as known, and whether the article stands."""

from datetime import date

import pytest

from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import Author, Correction, Metadata, PartialDate, Standing


@pytest.mark.parametrize(
    ("partial", "text", "earliest", "latest"),
    [
        (PartialDate(2015), "2015", date(2015, 1, 1), date(2015, 12, 31)),
        (PartialDate(2016, 2), "2016 Feb", date(2016, 2, 1), date(2016, 2, 29)),
        (PartialDate(2015, 3, 4), "2015 Mar 4", date(2015, 3, 4), date(2015, 3, 4)),
        (
            PartialDate(2015, 3, text="2015 Spring", until=date(2015, 5, 31)),
            "2015 Spring",
            date(2015, 3, 1),
            date(2015, 5, 31),
        ),
    ],
)
def test_a_date_says_what_is_known_and_no_more(
    partial: PartialDate, text: str, earliest: date, latest: date
) -> None:
    assert (str(partial), partial.earliest, partial.latest) == (text, earliest, latest)


@pytest.mark.parametrize(
    ("author", "name"),
    [
        (Author("Tamsin", "Kerra L", "KL"), "Tamsin KL"),
        (Author("Tamsin", "Kerra L", "KL", "Jr"), "Tamsin KL Jr"),
        (Author("Tamsin"), "Tamsin"),
        (Author(group="Kelp Study Group"), "Kelp Study Group"),
    ],
)
def test_a_name_is_cited_without_full_stops(author: Author, name: str) -> None:
    assert author.name == name


@pytest.mark.parametrize(
    ("types", "kinds", "standing"),
    [
        (("Journal Article",), (), Standing.SOUND),
        (("Journal Article", "Retracted Publication"), (), Standing.RETRACTED),
        (("Journal Article",), ("RetractionIn",), Standing.RETRACTED),
        (("Journal Article",), ("RetractedandRepublishedIn",), Standing.RETRACTED),
        (("Journal Article",), ("RetractedandRepublishedFrom",), Standing.SOUND),
        (("Journal Article",), ("CommentIn", "ErratumIn", "UpdateIn"), Standing.SOUND),
        (("Journal Article",), ("ExpressionOfConcernIn",), Standing.CONCERN),
        (("Journal Article",), ("ExpressionOfConcernIn", "RetractionIn"), Standing.RETRACTED),
        (("Retraction of Publication",), (), Standing.RETRACTION_NOTICE),
        (("Journal Article",), ("RetractionOf",), Standing.RETRACTION_NOTICE),
        (("Expression of Concern",), (), Standing.CONCERN_NOTICE),
        (("Editorial",), ("ExpressionOfConcernFor",), Standing.CONCERN_NOTICE),
        (("Published Erratum",), (), Standing.ERRATUM_NOTICE),
        (("Retraction of Publication",), ("RetractionIn",), Standing.RETRACTED),
    ],
)
def test_either_a_type_or_a_correction_is_enough(
    types: tuple[str, ...], kinds: tuple[str, ...], standing: Standing
) -> None:
    corrections = tuple(Correction(kind) for kind in kinds)
    assert Metadata(types=types, corrections=corrections).standing is standing


def test_notices_are_the_corrections_that_a_reader_must_see() -> None:
    kinds = ("CommentIn", "RetractionIn", "ExpressionOfConcernIn", "ErratumIn", "UpdateIn", "UpdateOf",
             "RetractedandRepublishedIn", "RetractionOf")  # fmt: skip
    metadata = Metadata(corrections=tuple(Correction(kind, "7") for kind in kinds))
    assert [notice.kind for notice in metadata.notices] == [
        "RetractionIn", "ExpressionOfConcernIn", "ErratumIn", "UpdateIn", "RetractedandRepublishedIn"
    ]  # fmt: skip


def test_a_document_without_metadata_is_sound_and_undated() -> None:
    metadata = Document("31", 1, "", "").metadata
    assert metadata == Metadata()
    assert (metadata.standing, metadata.published, metadata.notices) == (Standing.SOUND, None, ())
