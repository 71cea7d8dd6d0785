"""Strict reading of JSON, plain or gzip, and atomic writing of files; ``-`` is standard input or output."""

import json
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NoReturn

from bioqa.system.access import keep_access
from bioqa.system.errors import BioqaError
from bioqa.system.formats import GZIP_MAGIC, refuse_packed, unpack

MOST_BYTES = 4_000_000_000
"""To which a gzip file may unpack: no file of questions or answers comes near, but a gzip bomb does."""

STANDARD = "-"
"""Standard input where a file to read is named, standard output where one to write is."""


def read_json(path: str | Path) -> object:
    """Read and parse a JSON file; gzip is recognised by its content, not by the file's name.

    Raises BioqaError, naming the file, if it cannot be read or is not UTF-8 JSON (NaN and Infinity are not).
    """
    return parse_json(read_bytes(path), str(path))


def read_bytes(path: str | Path) -> bytes:
    """Read a file, decompressing it if it is gzip of one or several members, whatever its name; ``-`` is
    standard input. Raises BioqaError, naming the file, also for other packed files."""
    try:
        raw = _read_standard_input() if str(path) == STANDARD else Path(path).read_bytes()
        content = unpack(raw, str(path), MOST_BYTES) if raw.startswith(GZIP_MAGIC) else raw
        refuse_packed(content, str(path))
        return content
    except OSError as error:
        raise BioqaError(f"{path}: cannot be read: {error.strerror or error}") from error


def _read_standard_input() -> bytes:
    raw = b"" if sys.stdin is None else sys.stdin.buffer.read()
    if not raw:
        raise BioqaError("standard input is empty; it can be read only once")
    return raw


def parse_json(raw: bytes, name: str) -> object:
    """Parse UTF-8 JSON. Raises BioqaError, in which ``name`` stands for the source."""
    try:
        return json.loads(raw.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise BioqaError(f"{name}: not UTF-8: byte {error.start} ({error.reason})") from error
    except RecursionError as error:
        raise BioqaError(f"{name}: not usable JSON: nested too deeply") from error
    except ValueError as error:  # JSONDecodeError, and integers of thousands of digits
        raise BioqaError(f"{name}: not JSON: {error}") from error


def write_json(path: str | Path, data: object) -> None:
    """Write UTF-8 JSON atomically: at any time, ``path`` has either its old content or all of the new.

    Raises BioqaError, naming the file, if it cannot be written; no temporary file is left behind.
    ValueError for NaN and lone surrogates, which JSON readers reject.
    """
    write_bytes(path, json.dumps(data, ensure_ascii=False, allow_nan=False, indent=2).encode("utf-8") + b"\n")


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write ``content`` atomically, as ``write_json`` does. Raises BioqaError, naming the file.

    A link stays one, and its target is written; owner, group, mode and access list of an existing file are
    kept. Standard output (``-``, ``/dev/stdout``), pipes and devices are written to, and never replaced.
    """
    path = Path(path)
    try:
        if is_standard_output(path):
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
            sys.stdout.flush()
        elif path.is_fifo() or path.is_char_device():
            path.write_bytes(content)
        elif path.exists() and not path.is_file():
            raise BioqaError(f"{path}: cannot be written: not a regular file")
        else:
            with replacing(path.resolve()) as file:
                file.write(content)
    except BrokenPipeError:  # whoever reads has had enough
        raise
    except (OSError, RuntimeError) as error:  # RuntimeError: links that go round in circles
        raise BioqaError(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from error


def is_standard_output(path: Path) -> bool:
    """Whether the path is ``-``, or leads to this process's standard output, as ``/dev/stdout`` does."""
    if str(path) == STANDARD:
        return True
    try:
        return os.path.samestat(path.stat(), os.fstat(1))
    except (OSError, RuntimeError):
        return False


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a file to fill, which then replaces ``path`` as ``write_bytes`` does; if filling it fails, it is
    deleted, and ``path`` stays as it is. Raises OSError.
    """
    # In the same folder: a rename is atomic only within one file system.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            if path.exists():
                try:
                    keep_access(path, file.fileno())
                except PermissionError:  # the file is another user's, and so may the folder be shared
                    os.fchmod(file.fileno(), path.stat().st_mode & 0o777)
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def has_lone_surrogate(text: str) -> bool:
    """Whether the text has half of a surrogate pair: ``\\ud800`` is valid JSON, but not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def shorten(text: str, most: int = 200) -> str:
    """Cut a text that comes from outside, such as an id, before a message repeats it."""
    return text if len(text) <= most else text[: most - 3] + "..."


def show(value: object) -> str:
    """Format a JSON value for an error message, as JSON and shortened."""
    if isinstance(value, str):
        return json.dumps(shorten(value, 80))
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 10**20 else "a huge number"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else f"a {type(value).__name__}"


def sync_folder(folder: Path) -> None:
    """Make a rename in the folder durable: without it, a power cut may undo the rename."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON value")
