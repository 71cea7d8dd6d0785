"""The version: the release, and between releases the commit."""

import re
import subprocess
from functools import cache
from pathlib import Path

import bioqa

COMMIT_FILE = "commit.txt"
"""File beside the package's ``__init__.py`` with the commit's hash, written into wheels and images that are
not releases, as they have no repository to ask. Checkouts and releases have no such file."""


@cache
def version() -> str:
    """Return ``0.2.0`` for a release, ``0.2.0+g1a2b3c4`` for a commit between releases."""
    return version_of(Path(bioqa.__file__).parent, bioqa.__version__)


def version_of(package: Path, release: str) -> str:
    """Return the version of the package in a folder, given its latest release."""
    commit = read_commit(package) or checked_out(package.parent, release)
    return f"{release}+g{commit[:7]}" if re.fullmatch("[0-9a-f]{7,64}", commit) else release


def read_commit(package: Path) -> str:
    """The commit in COMMIT_FILE; empty if there is none."""
    try:
        return (package / COMMIT_FILE).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def checked_out(root: Path, release: str) -> str:
    """Return the checkout's commit; empty if it is the release's, or if git cannot read a checkout."""
    # In site-packages git would find the repository of the project that bioqa is installed for.
    if not (root / ".git").exists():
        return ""
    command = ["git", "-C", str(root), "log", "-1", "--no-show-signature", "--format=%H %D"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)
    except (OSError, ValueError, subprocess.SubprocessError):  # no git, or a folder that it does not trust
        return ""
    commit, _, names = done.stdout.strip().partition(" ")
    return "" if f"tag: v{release}" in names.split(", ") else commit
