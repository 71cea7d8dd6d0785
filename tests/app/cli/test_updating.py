"""``bioqa update`` as people and cron run it."""

import json
from pathlib import Path

import pytest

from tests.app.conftest import Run
from tests.indexer.medline_xml import citation, deletion
from tests.indexer.releases.mirror import Mirror, citations
from tests.indexer.releases.site_server import serve


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    mirror = Mirror(tmp_path / "mirror")
    mirror.baseline(1, *citations(1, 10))
    mirror.update(2, deletion(3))
    return mirror


def test_a_first_and_a_daily_run(command: Run, mirror: Mirror) -> None:
    first = command("update", "--index", "medline", "--from", "mirror", "--workers", 1)
    assert first.code == 0
    assert first.out.splitlines() == [
        "downloaded: no files",
        "loaded into medline-2025: pubmed25n0001.xml.gz, pubmed25n0002.xml.gz",
        "check baseline: passed: complete",
        "check documents: passed: 9 documents; its files allow for 8 to 9 (2 files, 10 upserts, 0 rejected)",
        "check titles: passed: 0.00% without title; 1% is too many",
        "serving: medline-2025, before: nothing; medline-2025 has 9 documents",
    ]
    assert "updating: 100% medline-2025: 2/2 files, pubmed25n0002.xml.gz" in first.err
    mirror.update(4, deletion(4))
    daily = command("update", "--index", "medline", "--from", "mirror", "--workers", 1)
    assert daily.code == 1
    assert daily.out.splitlines() == [
        "downloaded: no files",
        "loaded into medline-2025: no files",
        "waiting: pubmed25n0004.xml.gz",
        "serving: medline-2025; medline-2025 has 9 documents",
    ]
    assert "error: pubmed25n0003.xml.gz is missing; 1 of the files listed wait for it" in daily.err
    shown = command("info", "--index", "medline", "--json")
    assert json.loads(shown.out)["name"] == "medline-2025"


def test_a_report_for_scripts(command: Run, mirror: Mirror) -> None:
    run = command("update", "--index", "medline", "--from", "mirror", "--workers", 1, "--json")
    report = json.loads(run.out)
    assert (run.code, report["passed"]) == (0, True)
    assert (report["before"], report["serving"], report["documents"]) == (None, "medline-2025", 9)
    assert [entry["name"] for entry in report["loaded"]] == ["pubmed25n0001.xml.gz", "pubmed25n0002.xml.gz"]
    assert report["checks"][0] == {"name": "baseline", "passed": True, "says": "complete"}


def test_a_failed_check_and_how_it_is_overridden_and_undone(command: Run, mirror: Mirror) -> None:
    usual = ("update", "--index", "medline", "--from", "mirror", "--workers", 1)
    command(*usual)
    mirror.baseline(1, *citations(1, 5), year=2026)
    failed = command(*usual)
    assert failed.code == 1
    assert "error: checks failed: not fewer" in failed.err
    assert "serving: medline-2025; medline-2026 has 5 documents" in failed.out
    forced = command(*usual, "--force", "--keep", 3)
    assert forced.code == 0
    assert "serving: medline-2026, before: medline-2025; medline-2026 has 5 documents" in forced.out
    assert "checks failed: not fewer; served because of --force" in forced.err
    back = command("update", "--index", "medline", "--rollback")
    assert (back.code, back.out) == (0, "serving medline-2025, no longer medline-2026\n")
    again = command("update", "--index", "medline", "--rollback", "--json")
    assert (again.code, again.out) == (2, "")
    assert "cannot roll back medline-2025: no release served before it" in again.err


def test_a_dry_run_does_nothing(command: Run, mirror: Mirror, tmp_path: Path) -> None:
    would = ("update", "--index", "medline", "--from", "mirror", "--dry-run")
    told = command(*would)
    assert (told.code, told.out) == (
        0,
        "would build medline-2025, loading pubmed25n0001.xml.gz, pubmed25n0002.xml.gz\n",
    )
    mirror.update(4, citation(1))
    found = command(*would, "--json")
    assert found.code == 1
    assert json.loads(found.out) == {
        "year": 2025,
        "release": "medline-2025",
        "in_place": False,
        "load": ["pubmed25n0001.xml.gz", "pubmed25n0002.xml.gz"],
        "waiting": ["pubmed25n0004.xml.gz"],
        "faults": ["pubmed25n0003.xml.gz is missing; 1 of the files listed wait for it"],
        "notes": [],
    }
    assert not (tmp_path / "medline").exists()


def test_from_a_site(command: Run, mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serve(mirror.folder) as site:
        usual = ("update", "--index", "medline", "--from", site.url, "--workers", 1)
        refused = command(*usual)
        assert refused.code == 2
        assert "give --cache DIR" in refused.err
        done = command(*usual, "--cache", "cache")
    assert done.code == 0
    assert done.out.startswith("downloaded: pubmed25n0001.xml.gz, pubmed25n0002.xml.gz\n")
    assert (tmp_path / "cache" / "updatefiles" / "pubmed25n0002.xml.gz.md5").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--index", "medline"], "no source is named: give --from"),
        (["--from", "mirror"], "no index is named"),
        (["--index", "medline", "--from", "nowhere"], "nowhere has no folder baseline/ or updatefiles/"),
        (
            ["--index", "medline", "--from", "http://example.org/", "--cache", "c"],
            "only https:// is supported",
        ),
        (["--index", "medline", "--from", "mirror", "--keep", "-1"], "BIOQA_KEEP_RELEASES"),
        (
            ["--index", "medline", "--from", "mirror", "--workers", "0"],
            "workers is 0; it must be from 1 to 64",
        ),
        (["--index", "mirror", "--from", "mirror"], "mirror has other files and no releases"),
        (["--index", "http://127.0.0.1:1/medline", "--from", "mirror"], "cannot be reached"),
    ],
)
def test_what_cannot_be_done_is_told(
    command: Run, mirror: Mirror, arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BIOQA_INDEX", raising=False)
    run = command("update", *arguments)
    assert (run.code, run.out) == (2, "")
    assert said in run.err
