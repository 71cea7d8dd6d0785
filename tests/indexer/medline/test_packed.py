"""The compact form of metadata: packed, unpacked when it is looked at, and equal to what it was."""

import copy
import json
import pickle
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from datetime import date
from itertools import product
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from bioqa.bioasq.metadata import NO_METADATA, Author, Correction, Metadata, PartialDate, Standing
from bioqa.indexer.medline.packed import (
    DamagedMetadata,
    PackedMetadata,
    RecordSummary,
    named_values,
    pack,
    packed_values,
    summary,
    unpack,
)
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import has_lone_surrogate
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
    found = unpack(pack(original))
    assert found == original
    assert original == found
    assert hash(unpack(pack(original))) == hash(original)
    for field in fields(Metadata):
        value = getattr(original, field.name)
        assert getattr(unpack(pack(original)), field.name) == value, field.name
        assert type(getattr(found, field.name)) is type(value)
    # By either way into a store.
    assert PackedMetadata.of_values(packed_values(original)) == original


def test_none_is_packed_into_nothing() -> None:
    assert pack(NO_METADATA) == b""
    assert unpack(b"") is NO_METADATA


def test_what_is_packed_stays_so_until_it_is_looked_at() -> None:
    data = pack(FULL)
    assert pack(unpack(data)) is not None
    assert pack(unpack(data)) == data
    assert pack(unpack(pack(PackedMetadata.of_values(packed_values(FULL))))) == data


def test_a_difference_in_any_field_is_seen() -> None:
    found = unpack(pack(FULL))
    for field in fields(Metadata):
        changed = replace(FULL, **{field.name: getattr(Metadata(), field.name)})
        assert found != changed, field.name
        assert changed != found, field.name
    assert found != object()


def test_copies_and_pickles_are_equal() -> None:
    found = unpack(pack(FULL))
    assert found.standing is Standing.RETRACTED
    assert pickle.loads(pickle.dumps(found)) == copy.deepcopy(found) == copy.copy(found) == FULL
    changed = replace(found, volume="13")
    assert (changed.volume, changed.authors) == ("13", FULL.authors)
    assert pickle.loads(pickle.dumps(changed)) == changed == replace(FULL, volume="13")


def test_it_cannot_be_changed() -> None:
    found = unpack(pack(FULL))
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
        pack(FULL).replace(b"[2014,12,30]", b"[2014,12,30,0,0,0]"),
        pack(FULL).replace(b'"Iodine"', b'"Iodine"]').replace(b"[[", b"["),
    ],
)
def test_damage_is_named(data: bytes) -> None:
    found = unpack(data)
    with pytest.raises(BioqaError, match="the index is damaged"):
        [getattr(found, field.name) for field in fields(Metadata)]


@pytest.mark.parametrize("original", EXAMPLES)
def test_a_summary_says_what_the_fields_say(original: Metadata) -> None:
    for metadata in (original, unpack(pack(original)), PackedMetadata.of_values(packed_values(original))):
        found = summary(metadata)
        assert found.types == {*original.types}
        assert found.languages == {*original.languages}
        assert found.journal == original.journal.abbreviation
        assert found.headings == {heading.name for heading in original.headings}
        assert (found.pmcid, found.retracted) == (original.pmcid, original.standing is Standing.RETRACTED)
    assert summary(NO_METADATA) == summary(Metadata())


def test_a_summary_knows_retracted_articles_by_either_sign() -> None:
    for sign in (
        Metadata(types=("Retracted Publication",)),
        Metadata(corrections=(Correction("RetractionIn"),)),
    ):
        assert summary(sign).retracted
        assert summary(unpack(pack(sign))).retracted


WRONG: list[object] = [None, 0, -1, 7, 10**30, 1.5, True, "", "x", "\ud800", [], {}, [None], [[1]], ["x"] * 9]


def places(values: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    yield path
    if isinstance(values, list):
        for position, value in enumerate(values):
            yield from places(value, (*path, position))


def replaced(values: Any, path: tuple[int, ...], wrong: object) -> Any:
    if not path:
        return wrong
    changed = [*values]
    changed[path[0]] = replaced(values[path[0]], path[1:], wrong)
    return changed


def has_type(value: object, expected: Any) -> bool:
    """Whether a value is what its annotation says, all the way down."""
    if get_origin(expected) is tuple:
        return isinstance(value, tuple) and all(has_type(each, get_args(expected)[0]) for each in value)
    if get_origin(expected) is Literal:
        return value in get_args(expected)
    if get_origin(expected) is UnionType:
        return any(has_type(value, each) for each in get_args(expected))
    if get_origin(expected) is frozenset:
        return isinstance(value, frozenset) and all(has_type(each, get_args(expected)[0]) for each in value)
    if is_dataclass(expected) or expected is RecordSummary:
        hints = get_type_hints(expected)
        return isinstance(value, expected) and all(  # type: ignore[arg-type]  # a class
            has_type(getattr(value, name), hint) for name, hint in hints.items()
        )
    if expected is str:
        return isinstance(value, str) and not has_lone_surrogate(value)
    return type(value) is expected


@pytest.mark.parametrize("path", [*places(packed_values(FULL))], ids=str)
def test_whatever_is_damaged_is_named_or_of_the_right_type(path: tuple[int, ...]) -> None:
    hints = get_type_hints(Metadata)
    named = 0
    for wrong in WRONG:
        values = replaced(packed_values(FULL), path, wrong)
        try:
            found = PackedMetadata.of_values(values)
            through = pickle.loads(pickle.dumps(found))
        except DamagedMetadata:
            named += 1
            continue
        try:
            assert has_type(summary(found), RecordSummary)
        except DamagedMetadata:
            named += 1
        for metadata, name in product((found, through), hints):
            try:
                value = getattr(metadata, name)
            except DamagedMetadata:
                named += 1
                continue
            assert has_type(value, hints[name]), (name, value)
            if isinstance(value, PartialDate):
                assert value.earliest <= value.latest
    assert named > 0


@pytest.mark.parametrize("data", [b"[" * 100_000, b"7", b"null", b'"x"', b"\xed\xa0\x80"])
def test_what_is_no_list_of_fields_is_named(data: bytes) -> None:
    with pytest.raises(DamagedMetadata):
        unpack(data).standing  # noqa: B018


STORED = [
    *("authors", "authors_complete", "journal", "volume", "issue", "pages", "published", "electronic", "doi"),
    *("pmcid", "types", "headings", "keywords", "substances", "languages", "status", "corrections"),
    *("vernacular_title", "markup"),
]
"""Another order needs another format of indices: what is stored is read by it."""


def test_fields_are_stored_in_one_order_whatever_order_they_are_written_in() -> None:
    values = {name: number for number, name in enumerate(STORED)}
    assert named_values(**dict(reversed(values.items()))) == [*range(len(STORED))]
    assert {field.name for field in fields(Metadata)} == set(STORED)
    metadata = Metadata(volume="12", issue="3", doi="10.1/x", vernacular_title="Titre")
    assert json.loads(pack(metadata))[3:5] == ["12", "3"]
    assert (unpack(pack(metadata)).volume, unpack(pack(metadata)).issue) == ("12", "3")
