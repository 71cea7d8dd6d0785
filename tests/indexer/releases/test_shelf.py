"""What both kinds of shelf do with releases, and what each of them minds."""

from pathlib import Path

import pytest

from bioqa.indexer.releases.shelf import Release, Shelf, choose, parse_release_name, release_name, to_drop
from bioqa.indexer.search.elastic.address import is_url, parse_address
from bioqa.indexer.search.elastic.connection import connect
from bioqa.indexer.search.elastic.index import ElasticIndex
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.system.errors import BioqaError
from tests.indexer.releases.conftest import OpenShelf, on_both, serving_index


def build(shelf: Shelf, name: str) -> str:
    shelf.target(name, "").close()
    return name


@on_both
def test_releases_are_built_served_left_and_dropped(open_shelf: OpenShelf, where: str) -> None:
    shelf = open_shelf()
    assert (shelf.releases(), shelf.serving()) == ((), None)
    first, second = f"{shelf.base}-2024", f"{shelf.base}-2025-2"
    assert shelf.ledger(first) == ()
    with shelf.lock():
        build(shelf, second)
        build(shelf, first)
        assert [release.name for release in shelf.releases()] == [first, second]
        assert shelf.serving() is None
        shelf.serve(first, None)
        assert shelf.serving() == Release(first, 2024, 1, served=True)
        shelf.serve(second, first)
        shelf.go_back(first)
        with pytest.raises(BioqaError, match=f"{first} is serving; it is not dropped"):
            shelf.drop(first)
    again = open_shelf()
    assert again.serving() == Release(first, 2024, 1, served=True)
    assert again.releases()[1] == Release(second, 2025, 2, served=True, previous=first)
    assert serving_index(where).stats().name == first
    again.drop(second)
    assert [release.name for release in again.releases()] == [first]
    assert again.stats(first).documents == 0


@on_both
def test_an_index_that_is_no_shelf_is_told(where: str, open_shelf: OpenShelf) -> None:
    if is_url(where):
        ElasticIndex.create(connect(parse_address(where)), parse_address(where)).close()
    else:
        TantivyIndex.create(Path(where)).close()
    with pytest.raises(BioqaError, match=r"made by `bioqa index`.* give `bioqa update` another"):
        open_shelf()


@pytest.mark.parametrize(("year", "serial", "name"), [(2025, 1, "m-2025"), (2025, 12, "m-2025-12")])
def test_names_tell_year_and_serial(year: int, serial: int, name: str) -> None:
    assert release_name("m", year, serial) == name
    assert parse_release_name("m", name) == (year, serial)


@pytest.mark.parametrize(
    "name", ["m-2025-files", "m-lock", "m-25", "m-2025-", "other-2025", "mm-2025", "m-2025\n"]
)
def test_other_names_are_no_releases(name: str) -> None:
    assert parse_release_name("m", name) is None


OLD = Release("m-2024", 2024, served=True)
NEW = Release("m-2025", 2025, served=True, previous="m-2024")
HALF = Release("m-2025-2", 2025, 2)


@pytest.mark.parametrize(
    ("releases", "serving", "year", "rebuild", "name", "in_place"),
    [
        ([], None, 2025, False, "m-2025", False),
        ([], None, 2025, True, "m-2025", False),
        ([OLD], OLD, 2024, False, "m-2024", True),
        ([OLD], OLD, 2024, True, "m-2024-2", False),
        ([OLD], OLD, 2025, False, "m-2025", False),
        ([OLD, NEW, HALF], NEW, 2025, False, "m-2025", True),
        ([OLD, NEW, HALF], NEW, 2025, True, "m-2025-2", False),
        ([OLD, HALF], OLD, 2025, False, "m-2025-2", False),
        ([OLD, NEW], OLD, 2025, False, "m-2024", True),  # rolled back
        ([OLD, NEW], OLD, 2025, True, "m-2025-2", False),
        ([OLD, NEW], OLD, 2026, False, "m-2026", False),
    ],
)
def test_which_release_is_worked_at(
    releases: list[Release], serving: Release | None, year: int, rebuild: bool, name: str, in_place: bool
) -> None:
    choice = choose("m", releases, serving, year, rebuild)
    assert (choice.release, choice.in_place) == (name, in_place)


def test_the_one_to_go_back_to_is_kept_first() -> None:
    rolled_back = Release("m-2026", 2026, served=True, previous="m-2025")
    latest = Release("m-2026-2", 2026, 2, served=True, previous="m-2025")
    releases = [OLD, NEW, HALF, rolled_back, latest]
    assert to_drop(releases, "m-2026-2", 0) == ["m-2025", "m-2026", "m-2024"]
    assert to_drop(releases, "m-2026-2", 1) == ["m-2026", "m-2024"]
    assert to_drop(releases, "m-2026-2", 2) == ["m-2024"]
    assert to_drop(releases, "m-2026-2", 9) == []
