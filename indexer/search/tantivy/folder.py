"""The folder of an embedded index: tantivy's files and a small description."""

import hashlib
import json
import os
import shutil
import tempfile
import weakref
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bioqa.system.access import keep_access
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import write_json
from bioqa.system.plain import require_plain
from bioqa.system.stamps import Stamp, stamp_from

FORMAT = 5
"""Incremented when schema, analyser or stored records change, so that no index is misread."""

DESCRIPTION = "bioqa.json"
TANTIVY_META = "meta.json"
_MANAGED = ".managed.json"
_ACCESS = "st_mode", "st_uid", "st_gid"


@dataclass(frozen=True, slots=True)
class IndexFolder:
    """A folder with an index, and the joiner in its description."""

    path: Path
    joiner: str

    @classmethod
    def create(cls, path: Path, joiner: str) -> "IndexFolder":
        """Write the description of a new index, or check that the existing one in ``path`` has this joiner.

        The description is written before the index, so that after a crash the folder is recognised, and
        completed.
        """
        if path.exists() and not path.is_dir():
            raise BioqaError(f"{path} is a file; an index needs a folder")
        if (path / DESCRIPTION).exists():
            folder = _read(path)
            if folder.joiner != joiner:
                raise BioqaError(
                    f"the index in {path} joins abstract parts with {folder.joiner!r}, not {joiner!r}; "
                    "use another index, or the same joiner"
                )
            return folder
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(not entry.name.endswith(".tmp") for entry in path.iterdir()):
                raise BioqaError(f"{path} has other files and no bioqa index; choose an empty folder")
            write_json(path / DESCRIPTION, {"format": FORMAT, "joiner": joiner})
        except OSError as error:
            raise BioqaError(f"cannot create an index in {path}: {error}") from error
        return cls(path, joiner)

    @classmethod
    def open(cls, path: Path) -> "IndexFolder":
        """Read the description. Raises BioqaError if the folder has no complete index."""
        if not path.is_dir():
            raise BioqaError(f"no index at {path}: no such folder")
        if not (path / DESCRIPTION).exists():
            raise BioqaError(f"{path} has no bioqa index ({DESCRIPTION} is missing)")
        folder = _read(path)
        if not (path / TANTIVY_META).exists():
            raise BioqaError(f"the index in {path} is incomplete; load files into it to complete it")
        require_plain(path / TANTIVY_META)
        return folder

    def read_stamp(self) -> Stamp:
        """Return a value that changes with every commit, by any process: tantivy replaces its meta file each
        time. For this process alone: see ``state``."""
        return stamp_from(require_plain(self.path / TANTIVY_META))

    def state(self) -> str:
        """Return an identifier of what is committed, the same for every process: tantivy's meta file names
        all segments by random numbers, and what was deleted in them."""
        require_plain(self.path / TANTIVY_META)
        return hashlib.sha256((self.path / TANTIVY_META).read_bytes()).hexdigest()[:16]

    def share(self) -> None:
        """Let everybody read tantivy's own descriptions who may read the index's. tantivy replaces them by
        temporary files, which are their owner's alone."""
        description = self.path / DESCRIPTION
        wanted = description.stat()
        for path in filter(Path.is_file, (self.path / TANTIVY_META, self.path / _MANAGED)):
            with suppress(FileNotFoundError), path.open("rb") as file:
                state = os.fstat(file.fileno())
                if any(getattr(state, field) != getattr(wanted, field) for field in _ACCESS):
                    _give_access(description, file.fileno())

    def size_bytes(self) -> int:
        total = 0
        for entry in self.path.rglob("*"):
            try:
                total += entry.stat().st_size if entry.is_file() else 0
            except FileNotFoundError:  # removed by a merge meanwhile
                continue
        return total


class Links:
    """A temporary folder of links to the files of an index in a read-only folder.

    tantivy creates a lock file even for reading, which is possible in the temporary folder. For reading only:
    files written there are lost.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        try:
            self.path = Path(tempfile.mkdtemp(prefix="bioqa-"))
        except OSError as error:
            raise BioqaError(
                f"the index in {folder} cannot be locked, as reading requires: "
                f"let this user write to the folder, or to a temporary one ({error})"
            ) from error
        self.close = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        self.refresh()

    def refresh(self) -> None:
        """Update the links after a commit."""
        names = {entry.name for entry in self._folder.iterdir() if not entry.name.endswith(".lock")}
        linked = {entry.name for entry in self.path.iterdir() if entry.is_symlink()}
        for name in names - linked:
            (self.path / name).symlink_to(self._folder / name)
        for name in linked - names:
            (self.path / name).unlink(missing_ok=True)


def _give_access(old: Path, new: int) -> None:
    """``keep_access`` as far as this user may. What is another user's, another process writes."""
    try:
        keep_access(old, new)
    except PermissionError:
        with suppress(PermissionError):
            os.fchmod(new, old.stat().st_mode & 0o777)


def _read(path: Path) -> IndexFolder:
    file = path / DESCRIPTION
    try:
        require_plain(file)
        description = json.loads(file.read_text(encoding="utf-8"))
        written, joiner = description["format"], description["joiner"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BioqaError(f"{file} is not the description of a bioqa index: {error}") from error
    if written != FORMAT:
        raise BioqaError(
            f"the index in {path} has format {written!r}, and this bioqa reads format {FORMAT}: "
            "load the files into a new folder"
        )
    if not isinstance(joiner, str):
        raise BioqaError(f"{file}: the joiner is {joiner!r}, not a string")
    return IndexFolder(path, joiner)
