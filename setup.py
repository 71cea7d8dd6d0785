"""What pyproject.toml cannot say: the commit that a build was made from, and a readme for an index page."""

import re
import sys
from pathlib import Path
from shutil import rmtree
from typing import Any

from setuptools import find_namespace_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

import bioqa  # noqa: E402

FOLDERS = ("app", "bioasq", "indexer", "models")
"""Of which bioqa/ holds links."""

LOST = [name for name in FOLDERS if not (ROOT / "bioqa" / name).is_dir()]
"""Links that are small files here, as ZIP files and clones on Windows have them."""

if LOST:
    bioqa.__path__.append(str(ROOT))

from bioqa import __version__  # noqa: E402
from bioqa.app.version import COMMIT_FILE, checked_out, read_commit  # noqa: E402

LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^]]*)\]\((?!https?:|#)(?P<path>[^)]*)\)")


def note_commit(package: Path) -> None:
    """Write the commit of this checkout into a package that is built, or what a source distribution has."""
    file = package / COMMIT_FILE
    # It may be a hard link to the checkout's own file.
    file.unlink(missing_ok=True)
    if commit := checked_out(ROOT, __version__) or read_commit(ROOT / "bioqa"):
        file.write_text(commit + "\n", encoding="ascii")


def index_readme(text: str) -> str:
    """Remove the links to files of the checkout and the pictures, which an index page cannot show."""
    return LINK.sub(lambda link: "" if link["image"] else link["text"], text)


def packages() -> dict[str, Any]:
    """All packages; where links were lost, with the folders that they led to."""
    names = find_namespace_packages(str(ROOT), include=["bioqa*"])
    for folder in LOST:
        names.append(f"bioqa.{folder}")
        names += (f"bioqa.{folder}.{name}" for name in find_namespace_packages(str(ROOT / folder)))
    return {"packages": names, "package_dir": {f"bioqa.{folder}": folder for folder in LOST}}


class BuildPy(build_py):
    def run(self) -> None:
        if not self.editable_mode:
            # What an earlier build left there, in build/ of the checkout, may have been deleted since.
            rmtree(Path(self.build_lib, "bioqa"), ignore_errors=True)
        super().run()
        if not self.editable_mode:
            note_commit(Path(self.build_lib, "bioqa"))


class SourceDistribution(sdist):
    def make_release_tree(self, base_dir: str, files: Any) -> None:
        super().make_release_tree(base_dir, files)
        note_commit(Path(base_dir, "bioqa"))


if __name__ == "__main__":
    setup(
        **packages(),
        cmdclass={"build_py": BuildPy, "sdist": SourceDistribution},
        long_description=index_readme((ROOT / "README.md").read_text(encoding="utf-8")),
        long_description_content_type="text/markdown",
    )
