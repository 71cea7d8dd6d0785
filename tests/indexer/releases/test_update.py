"""Updates over both kinds of shelf: what serves, in which order, and what does not happen."""

import gzip
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from bioqa.bioasq.metadata import Standing
from bioqa.indexer.releases.shelf import Release, Shelf
from bioqa.indexer.releases.source import FetchedFile, FolderSource, PublishedFile, md5_path
from bioqa.indexer.releases.update import UpdateOptions, UpdateReport, preview, roll_back, update
from bioqa.system.errors import BioqaError
from tests.indexer.medline_xml import citation, deletion
from tests.indexer.releases.conftest import OpenShelf, on_both, serving_index, titles
from tests.indexer.releases.mirror import Mirror, citations

OPTIONS = UpdateOptions(workers=1)
REBUILD = UpdateOptions(workers=1, rebuild=True)


def run(mirror: Mirror, shelf: Shelf, options: UpdateOptions = OPTIONS) -> UpdateReport:
    return update(FolderSource(mirror.folder), shelf, options)


def numbers(report: UpdateReport) -> list[int]:
    return [int(entry.name[9:13]) for entry in report.loaded]


def named(shelf: Shelf, year: int, serial: int = 1) -> str:
    return f"{shelf.base}-{year}" + (f"-{serial}" if serial > 1 else "")


@pytest.fixture
def full(mirror: Mirror) -> Mirror:
    """2025: 20 citations in two baseline files; one update revises 5, deletes 6 and brings 21."""
    mirror.baseline(1, *citations(1, 10))
    mirror.baseline(2, *citations(11, 20))
    mirror.update(3, citation(5, "Revised 5."), deletion(6), citation(21, "Title 21."))
    return mirror


def expected() -> dict[str, str]:
    found = {str(n): f"Title {n}." for n in range(1, 22)} | {"5": "Revised 5."}
    del found["6"]
    return found


@on_both
def test_a_first_release_is_built_and_serves(full: Mirror, shelf: Shelf, where: str) -> None:
    report = run(full, shelf)
    assert report.passed
    assert numbers(report) == [1, 2, 3]
    assert (report.before, report.serving, report.release) == (None, named(shelf, 2025), named(shelf, 2025))
    assert [check.name for check in report.checks] == ["baseline", "documents", "titles"]
    assert report.checks[1].says == (
        "20 documents; its files allow for 18 to 21 (3 files, 22 upserts, 0 rejected)"
    )
    assert titles(where) == expected()
    assert shelf.releases() == (Release(named(shelf, 2025), 2025, 1, served=True, previous=None),)
    assert serving_index(where).stats().name == named(shelf, 2025)


def test_a_second_run_does_nothing(full: Mirror, shelf: Shelf, where: str) -> None:
    run(full, shelf)
    again = run(full, shelf)
    assert again.passed
    assert (again.loaded, again.known, again.checks, again.in_place) == ((), (), (), True)
    assert titles(where) == expected()


@on_both
def test_new_update_files_go_into_the_release_that_serves(full: Mirror, shelf: Shelf, where: str) -> None:
    run(full, shelf)
    full.update(4, deletion(5), citation(6, "Back 6."))
    full.update(5, citation(5, "Back 5."), deletion(21))
    report = run(full, shelf)
    assert report.passed
    assert (numbers(report), report.in_place) == ([4, 5], True)
    wanted = expected() | {"5": "Back 5.", "6": "Back 6."}
    del wanted["21"]
    assert titles(where) == wanted


@on_both
def test_a_retraction_shows_at_once(full: Mirror, shelf: Shelf, where: str) -> None:
    """Whichever way the update file says it, in the index that a service has open."""
    run(full, shelf)
    index = serving_index(where)
    assert {d.metadata.standing for d in index.get(["1", "2", "3"]).values()} == {Standing.SOUND}
    kind = '<PublicationType UI="D016441">Retracted Publication</PublicationType>'
    link = '<CommentsCorrections RefType="RetractionIn"><PMID>9</PMID></CommentsCorrections>'
    full.update(
        4,
        citation(1, "Withdrawn 1.").replace(
            "</Article>", f"<PublicationTypeList>{kind}</PublicationTypeList></Article>"
        ),
        citation(2, "Withdrawn 2.").replace(
            "</Article>", f"</Article><CommentsCorrectionsList>{link}</CommentsCorrectionsList>"
        ),
    )
    assert run(full, shelf).passed
    found = {pmid: d.metadata.standing for pmid, d in index.get(["1", "2", "3"]).items()}
    assert found == {"1": Standing.RETRACTED, "2": Standing.RETRACTED, "3": Standing.SOUND}
    candidates = index.search("withdrawn")
    assert [c.document.metadata.standing for c in candidates] == [Standing.RETRACTED] * 2


def test_a_gap_stops_what_follows_until_it_is_filled(full: Mirror, shelf: Shelf, where: str) -> None:
    run(full, shelf)
    full.update(5, citation(1, "From 5."))
    report = run(full, shelf)
    assert not report.passed
    assert report.faults == ("pubmed25n0004.xml.gz is missing; 1 of the files listed wait for it",)
    assert report.waiting == ("pubmed25n0005.xml.gz",)
    assert titles(where) == expected()
    full.update(4, citation(1, "From 4."))
    assert numbers(run(full, shelf)) == [4, 5]
    assert titles(where)["1"] == "From 5."


@pytest.mark.parametrize("how", ["md5", "gzip"])
def test_a_broken_file_stops_what_follows_until_it_is_mended(
    full: Mirror, shelf: Shelf, where: str, how: str
) -> None:
    run(full, shelf)
    broken = full.update(4, citation(1, "From 4."))
    good = broken.read_bytes()
    broken.write_bytes(good[: len(good) // 2])
    if how == "gzip":
        md5_path(broken).unlink()
    full.update(5, citation(1, "From 5."), deletion(2))
    report = run(full, shelf)
    assert not report.passed
    assert [refused.name for refused in report.refused] == [broken.name]
    assert ("md5" if how == "md5" else "gzip") in report.refused[0].reason
    assert report.waiting == ("pubmed25n0005.xml.gz",)
    assert titles(where) == expected()
    broken.write_bytes(good)
    mended = run(full, shelf)
    assert mended.passed
    assert numbers(mended) == [4, 5]
    assert titles(where)["1"] == "From 5."
    assert "2" not in titles(where)


def test_files_without_md5_are_used_and_this_is_said(mirror: Mirror, shelf: Shelf) -> None:
    mirror.baseline(1, *citations(1, 3), md5=False)
    report = run(mirror, shelf)
    assert report.passed
    assert report.notes == ("1 files have no .md5 file to verify them; only gzip's checksum was verified",)


def test_an_incomplete_baseline_loads_nothing(full: Mirror, shelf: Shelf) -> None:
    (full.folder / "baseline" / "pubmed25n0001.xml.gz").unlink()
    with pytest.raises(
        BioqaError, match=r"baseline of 2025 is not complete: pubmed25n0001.xml.gz is missing"
    ):
        run(full, shelf)
    assert shelf.releases() == ()


def test_a_broken_baseline_file_keeps_a_release_from_serving(full: Mirror, shelf: Shelf, where: str) -> None:
    second = full.folder / "baseline" / "pubmed25n0002.xml.gz"
    good = second.read_bytes()
    second.write_bytes(gzip.compress(b"<not-medline/>", mtime=0))
    md5_path(second).unlink()
    report = run(full, shelf)
    assert not report.passed
    assert (report.serving, shelf.serving()) == (None, None)
    assert "1 of its files are not loaded, pubmed25n0002.xml.gz first" in [c.says for c in report.checks]
    assert report.waiting == ("pubmed25n0003.xml.gz",)
    second.write_bytes(good)
    mended = run(full, shelf)
    assert (mended.passed, numbers(mended)) == (True, [2, 3])
    assert mended.notes[0] == f"resuming {named(shelf, 2025)}"
    assert titles(where) == expected()


def test_updates_wait_for_their_baseline(full: Mirror, shelf: Shelf, where: str) -> None:
    run(full, shelf)
    full.update(9, citation(1, "From next year."), year=2026)
    report = run(full, shelf)
    assert not report.passed
    assert report.faults == (
        "pubmed26n0009.xml.gz waits for its baseline: baseline/ has no file of its year",
    )
    assert titles(where) == expected()


def test_updates_alone_are_refused(mirror: Mirror, shelf: Shelf) -> None:
    mirror.update(7, *citations(1, 2))
    with pytest.raises(BioqaError, match=r"pubmed25n0007.xml.gz updates the baseline of 2025"):
        run(mirror, shelf)
    assert shelf.releases() == ()


@on_both
def test_a_new_year_is_built_beside_and_takes_over(full: Mirror, shelf: Shelf, where: str) -> None:
    run(full, shelf)
    full.update(4, citation(1, "Last year's."))  # must not get into the new release
    full.baseline(1, *citations(1, 20, "New"), year=2026)
    full.update(2, deletion(20), citation(22, "New 22."), year=2026)
    report = run(full, shelf)
    assert report.passed
    assert (report.before, report.serving) == (named(shelf, 2025), named(shelf, 2026))
    assert report.notes == ("4 files of other years are ignored: the release is of 2026",)
    assert [c.name for c in report.checks] == ["baseline", "documents", "not fewer", "titles", "abstracts"]
    assert titles(where) == {str(n): f"New {n}." for n in range(1, 23) if n not in (20, 21)}
    assert [(r.name, r.served, r.previous) for r in shelf.releases()] == [
        (named(shelf, 2025), True, None),
        (named(shelf, 2026), True, named(shelf, 2025)),
    ]


@pytest.mark.parametrize("fault", ["fewer", "titles", "abstracts"])
def test_figures_that_look_wrong_keep_the_old_release_serving(
    full: Mirror, shelf: Shelf, where: str, fault: str
) -> None:
    run(full, shelf)
    records = {
        "fewer": citations(1, 18),
        "titles": [citation(1, ""), *citations(2, 20)],
        "abstracts": [citation(1, "T.", ""), *citations(2, 20)],
    }[fault]
    full.baseline(1, *records, year=2026)
    report = run(full, shelf)
    assert not report.passed
    failed = [check for check in report.checks if not check.passed]
    assert [(check.name, check.says) for check in failed] == [
        {
            "fewer": (
                "not fewer",
                "18 documents; the previous release has 20, and at least 95% of that is required",
            ),
            "titles": (
                "titles",
                "5.00% without title, before 0.00%; 2 percentage points more are allowed",
            ),
            "abstracts": (
                "abstracts",
                "5.00% without abstract, before 0.00%; 2 percentage points more are allowed",
            ),
        }[fault]
    ]
    assert report.serving == named(shelf, 2025)
    assert titles(where) == expected()
    # What was built is not built again, and can be let through.
    forced = run(full, shelf, UpdateOptions(workers=1, force=True))
    assert (forced.passed, forced.loaded) == (True, ())
    assert forced.serving == named(shelf, 2026)
    assert len(titles(where)) == (18 if fault == "fewer" else 20)


def test_titles_that_go_missing_in_daily_updates_are_noticed(full: Mirror, shelf: Shelf) -> None:
    run(full, shelf)
    full.update(4, *(citation(n, "") for n in range(1, 4)))
    report = run(full, shelf)
    assert not report.passed
    assert [check.name for check in report.checks if not check.passed] == ["titles"]


class Growing(FolderSource):
    """A folder into which files come while it is read."""

    def __init__(self, mirror: Mirror, arrivals: Sequence[Sequence[str]]) -> None:
        super().__init__(mirror.folder)
        self._mirror = mirror
        self._arrivals = list(arrivals)
        self._next = 4
        self.listed = 0

    def listing(self) -> tuple[PublishedFile, ...]:
        listing = super().listing()
        self.listed += 1
        if self._arrivals:  # just after it was looked
            self._mirror.update(self._next, *self._arrivals.pop(0))
            self._next += 1
        return listing


@on_both
def test_a_delete_that_arrives_during_a_rebuild_stays_deleted(full: Mirror, shelf: Shelf, where: str) -> None:
    run(full, shelf)
    source = Growing(full, [[deletion(7)], [citation(8, "Late 8."), deletion(9999)]])
    report = update(source, shelf, REBUILD)
    assert report.passed
    assert numbers(report) == [1, 2, 3, 4, 5]
    assert source.listed == 4
    assert (report.before, report.serving) == (named(shelf, 2025), named(shelf, 2025, 2))
    wanted = expected() | {"8": "Late 8."}
    del wanted["7"]
    assert titles(where) == wanted


def test_a_rebuild_serves_only_with_all_that_the_old_one_had(full: Mirror, shelf: Shelf, where: str) -> None:
    run(full, shelf)
    third = full.folder / "updatefiles" / "pubmed25n0003.xml.gz"
    content = third.read_bytes()
    third.unlink()
    report = run(full, shelf, REBUILD)
    assert not report.passed
    assert [c.says for c in report.checks if not c.passed] == [
        "loaded up to pubmed25n0002.xml.gz; the release it replaces up to pubmed25n0003.xml.gz"
    ]
    assert titles(where) == expected()
    # An ordinary run leaves it alone.
    third.write_bytes(content)
    usual = run(full, shelf)
    assert (usual.passed, usual.loaded, usual.release) == (True, (), named(shelf, 2025))
    assert usual.notes == (f"{named(shelf, 2025, 2)} is incomplete; --rebuild resumes building it",)
    rebuilt = run(full, shelf, REBUILD)
    assert (rebuilt.passed, numbers(rebuilt)) == (True, [3])
    assert titles(where) == expected()


@on_both
def test_rolling_back_and_what_updates_do_then(full: Mirror, shelf: Shelf, where: str) -> None:
    with pytest.raises(BioqaError, match="no release serves"):
        roll_back(shelf)
    run(full, shelf)
    with pytest.raises(
        BioqaError, match=rf"cannot roll back {named(shelf, 2025)}: no release served before it"
    ):
        roll_back(shelf)
    full.baseline(1, *citations(1, 20, "New"), year=2026)
    run(full, shelf)
    rolled = roll_back(shelf)
    assert (rolled.before, rolled.serving) == (named(shelf, 2026), named(shelf, 2025))
    assert titles(where) == expected()
    # The daily run goes on with the old release, and does not undo the decision.
    full.update(4, deletion(1))
    report = run(full, shelf)
    assert (numbers(report), report.serving, report.passed) == ([4], named(shelf, 2025), False)
    assert report.faults == (
        f"{named(shelf, 2025)} serves since {named(shelf, 2026)} was rolled back; "
        "files of 2026 wait until --rebuild makes a new release",
    )
    assert "1" not in titles(where)
    rebuilt = run(full, shelf, REBUILD)
    assert (rebuilt.passed, rebuilt.serving) == (True, named(shelf, 2026, 2))
    # The one that serves goes back to is kept, not the newer one that was rolled back from.
    assert rebuilt.dropped == (named(shelf, 2026),)
    assert roll_back(shelf).serving == named(shelf, 2025)


@pytest.mark.parametrize("keep", [0, 1, 2])
def test_old_releases_are_kept_as_set(mirror: Mirror, shelf: Shelf, keep: int) -> None:
    for year in (2023, 2024, 2025):
        mirror.baseline(1, *citations(1, 3, str(year)), year=year)
        report = run(mirror, shelf, UpdateOptions(workers=1, keep=keep))
    kept = [2025, 2024, 2023][: keep + 1]
    assert [release.year for release in shelf.releases()] == sorted(kept)
    assert report.dropped == tuple(named(shelf, y) for y in (2023, 2024)[1 - keep : 2 - keep] if keep < 2)
    if keep == 0:
        with pytest.raises(BioqaError, match=r"cannot roll back .*: .*-2024 was dropped"):
            roll_back(shelf)


def test_the_same_content_under_another_name_is_told_and_harmless(
    full: Mirror, shelf: Shelf, where: str
) -> None:
    copy = full.update(4)
    third = full.folder / "updatefiles" / "pubmed25n0003.xml.gz"
    copy.write_bytes(third.read_bytes())
    md5_path(copy).write_text(md5_path(third).read_text().replace("n0003", "n0004"))
    full.update(5, citation(5, "Twice revised 5."))
    for _ in range(2):
        report = run(full, shelf)
        assert report.passed
        assert report.known == ("pubmed25n0004.xml.gz",)
        assert titles(where) == expected() | {"5": "Twice revised 5."}


def test_a_file_published_anew_is_told(full: Mirror, shelf: Shelf, where: str) -> None:
    run(full, shelf)
    full.baseline(2, *citations(11, 20, "Other"))
    report = run(full, shelf)
    assert (report.passed, report.loaded) == (True, ())
    assert report.notes == (
        "1 files differ from those that were loaded, pubmed25n0002.xml.gz first; --rebuild loads them",
    )
    run(full, shelf, REBUILD)
    assert titles(where)["11"] == "Other 11."


@on_both
def test_two_updates_do_not_run_at_once(full: Mirror, open_shelf: OpenShelf) -> None:
    first, second = open_shelf(), open_shelf()
    with first.lock() as lock:
        lock.check()
        with pytest.raises(BioqaError, match=r"another update of .* is under way"):
            run(full, second)
        with pytest.raises(BioqaError, match=r"another update of .* is under way"):
            roll_back(second)
    assert run(full, second).passed


def test_a_preview_says_what_would_be_done(full: Mirror, shelf: Shelf, where: str) -> None:
    def would(options: UpdateOptions = OPTIONS) -> tuple[str, bool, list[str]]:
        found = preview(FolderSource(full.folder), shelf, options)
        return found.choice.release, found.choice.in_place, [file.name for file in found.plan.files]

    everything = [f"pubmed25n000{n}.xml.gz" for n in (1, 2, 3)]
    assert would() == (named(shelf, 2025), False, everything)
    assert shelf.releases() == ()
    run(full, shelf)
    full.update(4, deletion(1))
    assert would() == (named(shelf, 2025), True, ["pubmed25n0004.xml.gz"])
    assert would(REBUILD) == (named(shelf, 2025, 2), False, [*everything, "pubmed25n0004.xml.gz"])
    assert titles(where) == expected()


class Killed(Exception):
    pass


class Stopping(FolderSource):
    """A source that fails in a way nobody expects when it comes to one file."""

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__(folder)
        self._name = name

    def fetch(self, file: PublishedFile) -> FetchedFile:
        if file.name == self._name:
            raise Killed
        return super().fetch(file)


@on_both
def test_questions_are_answered_throughout_a_build(full: Mirror, shelf: Shelf, where: str) -> None:
    run(full, shelf)
    index = serving_index(where)
    full.baseline(1, *citations(1, 20, "New"), year=2026)

    def ask(release: str, _: object) -> None:
        assert release == named(shelf, 2026)
        assert [c.document.pmid for c in index.search("revised")] == ["5"]

    assert update(FolderSource(full.folder), shelf, OPTIONS, ask).passed
    index.close()
    assert serving_index(where).search("new", 1)


KILLED = """
import os, signal, sys
from pathlib import Path
from bioqa.indexer.releases.elastic_shelf import ElasticShelf
from bioqa.indexer.releases.folder_shelf import FolderShelf
from bioqa.indexer.releases.source import FolderSource
from bioqa.indexer.releases.update import UpdateOptions, update
from bioqa.indexer.search.elastic.address import NO_CREDENTIALS, is_url, parse_address

where = sys.argv[2]
shelf = ElasticShelf(parse_address(where), NO_CREDENTIALS) if is_url(where) else FolderShelf(Path(where))

def told(release, state):
    if state.files_done == 2:
        os.kill(os.getpid(), signal.SIGKILL)

update(FolderSource(Path(sys.argv[1])), shelf, UpdateOptions(workers=1), told)
"""


@on_both
def test_a_build_that_was_killed_goes_on(full: Mirror, shelf: Shelf, where: str) -> None:
    run(full, shelf)
    full.baseline(1, *citations(1, 10, "New"), year=2026)
    full.baseline(2, *citations(11, 20, "New"), year=2026)
    full.update(3, deletion(1), year=2026)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(full.folder), where],
        cwd=Path(__file__).resolve().parents[3],
        capture_output=True,
        check=False,
    )
    assert killed.returncode == -9, killed.stderr.decode()
    assert titles(where) == expected()
    assert [(r.year, r.served) for r in shelf.releases()] == [(2025, True), (2026, False)]
    # Its lock does not stand in the way, and what it had loaded is not loaded again.
    report = run(full, shelf)
    assert report.passed
    assert (numbers(report), report.release) == ([3], named(shelf, 2026))
    assert titles(where) == {str(n): f"New {n}." for n in range(2, 21)}


def test_what_stops_a_run_leaves_what_serves(full: Mirror, shelf: Shelf, where: str) -> None:
    run(full, shelf)
    full.update(4, deletion(2))
    with pytest.raises(Killed):
        update(Stopping(full.folder, "pubmed25n0004.xml.gz"), shelf, OPTIONS)
    assert titles(where) == expected()
    assert numbers(run(full, shelf)) == [4]
