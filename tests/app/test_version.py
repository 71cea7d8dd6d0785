"""The version names the commit between releases, and nothing that is another project's."""

import re
import subprocess
from pathlib import Path

import pytest

import bioqa
from bioqa.app.version import COMMIT_FILE, version, version_of


def git(folder: Path, *arguments: str) -> str:
    author = ("-c", "user.name=ada", "-c", "user.email=ada@example.org")
    command = ["git", "-C", str(folder), *author, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout" / "bioqa"
    folder.mkdir(parents=True)
    return folder


def committed(package: Path) -> str:
    git(package.parent, "init", "--quiet")
    git(package.parent, "commit", "--quiet", "--allow-empty", "--message", "First")
    return git(package.parent, "rev-parse", "HEAD")


def test_a_checkout_has_its_commit_and_a_release_has_none(package: Path) -> None:
    commit = committed(package)
    assert version_of(package, "0.2.0") == f"0.2.0+g{commit[:7]}"
    git(package.parent, "tag", "v0.1.0")
    assert version_of(package, "0.2.0") == f"0.2.0+g{commit[:7]}"
    git(package.parent, "tag", "v0.2.0")
    assert version_of(package, "0.2.0") == "0.2.0"


def test_what_was_noted_at_build_time_wins(package: Path) -> None:
    committed(package)
    (package / COMMIT_FILE).write_text("1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d\n")
    assert version_of(package, "0.2.0") == "0.2.0+g1a2b3c4"
    (package / COMMIT_FILE).write_text("what is this\n")
    assert version_of(package, "0.2.0") == "0.2.0"


def test_without_a_repository_or_git_it_is_the_release(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert version_of(package, "0.2.0") == "0.2.0"
    committed(package)
    monkeypatch.setenv("PATH", "")
    assert version_of(package, "0.2.0") == "0.2.0"


def test_the_repository_of_who_installed_it_does_not_count(tmp_path: Path) -> None:
    package = tmp_path / "theirs" / "site-packages" / "bioqa"
    package.mkdir(parents=True)
    git(tmp_path / "theirs", "init", "--quiet")
    git(tmp_path / "theirs", "commit", "--quiet", "--allow-empty", "--message", "Theirs")
    assert version_of(package, "0.2.0") == "0.2.0"


def test_ours() -> None:
    assert re.fullmatch(re.escape(bioqa.__version__) + r"(\+g[0-9a-f]{7})?", version())
