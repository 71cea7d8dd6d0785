"""The figures that a release must have."""

import pytest

from bioqa.indexer.loading.ledger import LoadedFile
from bioqa.indexer.releases.checks import ReleaseContent, release_checks, share_checks
from bioqa.indexer.search.base import IndexStats


def stats(documents: int, without_title: int = 0, without_abstract: int = 0) -> IndexStats:
    return IndexStats("m", documents, 1, without_title, without_abstract, "")


def entry(number: int, upserted: int, deleted: int = 0, stale: int = 0, year: int = 25) -> LoadedFile:
    records = upserted + deleted + stale
    return LoadedFile(f"pubmed{year}n{number:04}.xml.gz", str(number), 1, records, upserted, deleted, stale)


LEDGER = [entry(1, 600), entry(2, 400), entry(3, 30, deleted=10, stale=5)]
"""Two files of a baseline, and one of updates."""


def failed(
    new: ReleaseContent, previous: ReleaseContent | None = None, missing: tuple[str, ...] = ()
) -> list[str]:
    return [check.name for check in release_checks(new, 2, missing, previous) if not check.passed]


@pytest.mark.parametrize(
    ("documents", "names"),
    [(974, ["documents"]), (975, []), (1000, []), (1020, []), (1021, ["documents"])],
)
def test_documents_lie_within_what_the_files_allow_for(documents: int, names: list[str]) -> None:
    # At least 99 % of 1000 less 15, at most 1030 less 10.
    assert failed(ReleaseContent(stats(documents), LEDGER)) == names


def test_a_baseline_must_be_complete() -> None:
    assert failed(ReleaseContent(stats(1000), LEDGER), missing=("pubmed25n0002.xml.gz",)) == ["baseline"]


@pytest.mark.parametrize(("without", "names"), [(9, []), (10, ["titles"])])
def test_a_first_release_has_titles(without: int, names: list[str]) -> None:
    assert failed(ReleaseContent(stats(1000, without, 999), LEDGER)) == names


@pytest.mark.parametrize(("before", "names"), [(1052, []), (1053, ["not fewer"]), (0, [])])
def test_documents_are_not_much_fewer_than_before(before: int, names: list[str]) -> None:
    previous = ReleaseContent(stats(before), [entry(1, before, year=24)])
    assert failed(ReleaseContent(stats(1000), LEDGER), previous) == names


@pytest.mark.parametrize(
    ("new", "names"),
    [
        (stats(1000, 30, 120), []),
        (stats(1000, 31, 120), ["titles"]),
        (stats(1000, 30, 121), ["abstracts"]),
        (stats(1000, 0, 0), []),
    ],
)
def test_titles_and_abstracts_do_not_go_missing(new: IndexStats, names: list[str]) -> None:
    # Before, 1 % had no title and 10 % no abstract.
    checks = share_checks(new, stats(200, 2, 20))
    assert [check.name for check in checks if not check.passed] == names


def test_a_rebuild_is_not_behind_what_it_replaces() -> None:
    previous = ReleaseContent(stats(1000), [*LEDGER, entry(4, 1)])
    assert failed(ReleaseContent(stats(1000), LEDGER), previous) == ["files"]
    assert failed(ReleaseContent(stats(1000), [*LEDGER, entry(4, 1)]), previous) == []
    last_year = ReleaseContent(stats(1000), [entry(n, 1000, year=24) for n in range(1, 9)])
    assert failed(ReleaseContent(stats(1000), LEDGER), last_year) == []
