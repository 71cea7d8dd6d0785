"""The compact form of metadata: packed, unpacked when it is looked at, and equal to what it was."""

import copy
import pickle
from dataclasses import fields, replace
from datetime import date

import pytest

from bioqa.bioasq.errors import BioqaError
from bioqa.bioasq.metadata import NO_METADATA, Author, Metadata, PartialDate, Standing
from bioqa.indexer.medline.packed import PackedMetadata, packed, packed_values, unpacked
from tests.indexer.metadata import FULL

EXAMPLES = [
    FULL,
    Metadata(),
    Metadata(published=PartialDate(1999), electronic=PartialDate(2100, 12, 31)),
    Metadata(published=PartialDate(1998, text="1998-1999", until=date(1999, 12, 31))),
    Metadata(authors=(Author(fore="Only"), Author(orcid="0000-0002-1825-0097"))),
]


@pytest.mark.parametrize("original", EXAMPLES)
def test_metadata_comes_back_as_it_was(original: Metadata) -> None:
    found = unpacked(packed(original))
    assert found == original
    assert original == found
    assert hash(unpacked(packed(original))) == hash(original)
    for field in fields(Metadata):
        value = getattr(original, field.name)
        assert getattr(unpacked(packed(original)), field.name) == value, field.name
        assert type(getattr(found, field.name)) is type(value)
    # By either way into a store.
    assert PackedMetadata.of_values(packed_values(original)) == original


def test_none_is_packed_into_nothing() -> None:
    assert packed(NO_METADATA) == b""
    assert unpacked(b"") is NO_METADATA


def test_what_is_packed_stays_so_until_it_is_looked_at() -> None:
    data = packed(FULL)
    assert packed(unpacked(data)) is not None
    assert packed(unpacked(data)) == data
    assert packed(unpacked(packed(PackedMetadata.of_values(packed_values(FULL))))) == data


def test_a_difference_in_any_field_is_seen() -> None:
    found = unpacked(packed(FULL))
    for field in fields(Metadata):
        changed = replace(FULL, **{field.name: getattr(Metadata(), field.name)})
        assert found != changed, field.name
        assert changed != found, field.name
    assert found != object()


def test_copies_and_pickles_are_equal() -> None:
    found = unpacked(packed(FULL))
    assert found.standing is Standing.RETRACTED
    assert pickle.loads(pickle.dumps(found)) == copy.deepcopy(found) == copy.copy(found) == FULL
    changed = replace(found, volume="13")
    assert (changed.volume, changed.authors) == ("13", FULL.authors)
    assert pickle.loads(pickle.dumps(changed)) == changed == replace(FULL, volume="13")


def test_it_cannot_be_changed() -> None:
    found = unpacked(packed(FULL))
    with pytest.raises(AttributeError):
        found.volume = "13"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="editors"):
        found.editors  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"{}",
        b"[]",
        b"\xff",
        packed(FULL).replace(b"[2014,12,30]", b"[2014,12,30,0,0,0]"),
        packed(FULL).replace(b'"Iodine"', b'"Iodine"]').replace(b"[[", b"["),
    ],
)
def test_damage_is_named(data: bytes) -> None:
    found = unpacked(data)
    with pytest.raises(BioqaError, match="the index is damaged"):
        [getattr(found, field.name) for field in fields(Metadata)]
