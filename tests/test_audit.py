"""What ``make check`` says of known vulnerabilities: never "none" where nothing could be looked up."""

import json
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
verdict: Callable[[str, str], tuple[str, int]] = runpy.run_path(str(ROOT / ".ci" / "audit.py"))["verdict"]

CLEAN = {"name": "one", "version": "1.0", "vulns": []}
FAULTY = {
    "name": "two",
    "version": "2.0",
    "vulns": [
        {"id": "CVE-1", "fix_versions": ["2.1", "3.0"], "aliases": [], "description": ""},
        {"id": "CVE-2", "fix_versions": [], "aliases": [], "description": ""},
    ],
}
UNKNOWN = {"name": "three", "skip_reason": "not found"}


def report(*packages: object) -> str:
    return json.dumps({"dependencies": packages, "fixes": []})


def test_nothing_known() -> None:
    assert verdict(report(CLEAN), "No known vulnerabilities found") == (
        "vulnerabilities: 0 known in 1 of 1 packages",
        0,
    )


def test_each_vulnerability_is_named_and_fails_the_check() -> None:
    text, code = verdict(report(CLEAN, FAULTY), "Found 2 known vulnerabilities in 1 package")
    assert code == 1
    assert text.splitlines() == [
        "two 2.0: CVE-1, fixed in 2.1, 3.0",
        "two 2.0: CVE-2, fixed in none",
        "vulnerabilities: 2 known in 2 of 2 packages",
    ]


def test_what_could_not_be_looked_up_is_said() -> None:
    text, code = verdict(report(CLEAN, UNKNOWN), "")
    assert code == 0
    assert "in 1 of 2 packages; 1 NOT CHECKED" in text


def test_where_nothing_was_looked_up_it_says_skipped_and_not_none() -> None:
    text, code = verdict(report(UNKNOWN, UNKNOWN), "")
    assert (text, code) == ("vulnerabilities: SKIPPED, the advisory database has none of 2 packages", 0)


@pytest.mark.parametrize(
    "last",
    [
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='x', port=443)",
        "requests.exceptions.ProxyError: HTTPSConnectionPool(host='x', port=443)",
        "requests.exceptions.ConnectTimeout: HTTPSConnectionPool(host='x', port=443)",
        "requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='x', port=443)",
        "pip_audit._service.interface.ConnectionError: Could not connect",
    ],
)
def test_without_network_the_check_passes_and_says_so(last: str) -> None:
    text, code = verdict("", f"Traceback (most recent call last):\n  …\n{last}\n")
    assert (text, code) == ("vulnerabilities: SKIPPED, the advisory database cannot be reached", 0)


@pytest.mark.parametrize(
    ("errors", "word"),
    [
        ("/usr/bin/python: No module named pip_audit", "No module"),
        ("", "nothing"),
        ("TypeError: oops", "oops"),
    ],
)
def test_a_fault_of_the_program_is_not_taken_for_a_lack_of_network(errors: str, word: str) -> None:
    text, code = verdict("", errors)
    assert code == 1
    assert word in text


def test_make_check_asks() -> None:
    assert (
        ".ci/audit.py" in (ROOT / "Makefile").read_text(encoding="utf-8").split("check:")[1].split("\n\n")[0]
    )
