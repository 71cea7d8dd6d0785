"""Strict reading of JSON, plain or gzip, and atomic writing of files."""

import gzip
import json
import os
import secrets
import zlib
from pathlib import Path
from typing import NoReturn

from bioqa.bioasq.errors import BioqaError

GZIP_MAGIC = b"\x1f\x8b"


def read_json(path: str | Path) -> object:
    """Read and parse a JSON file; gzip is recognised by its content, not by the file's name.

    Raises BioqaError, naming the file, if it cannot be read or is not UTF-8 JSON (NaN and Infinity are not).
    """
    return parse_json(read_bytes(path), str(path))


def read_bytes(path: str | Path) -> bytes:
    """Read a file, decompressing it if it is gzip, whatever its name. Raises BioqaError, naming the file."""
    try:
        raw = Path(path).read_bytes()
        return gzip.decompress(raw) if raw.startswith(GZIP_MAGIC) else raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BioqaError(f"{path}: broken gzip file: {error}") from error
    except OSError as error:
        raise BioqaError(f"{path}: cannot be read: {error.strerror or error}") from error


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
    """Write ``content`` atomically, as ``write_json`` does. Raises BioqaError, naming the file."""
    path = Path(path)
    if path.exists() and not path.is_file():
        raise BioqaError(f"{path}: cannot be written: not a regular file")
    # In the same folder: a rename is atomic only within one file system.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        try:
            _write_synced(temporary, content)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        _sync_folder(path.parent)
    except OSError as error:
        raise BioqaError(f"{path}: cannot be written: {error.strerror or error}") from error


def has_lone_surrogate(text: str) -> bool:
    """Whether the text has half of a surrogate pair: ``\\ud800`` is valid JSON, but not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def shortened(text: str, most: int = 200) -> str:
    """Cut a text that comes from outside, such as an id, before a message repeats it."""
    return text if len(text) <= most else text[: most - 3] + "..."


def shown(value: object) -> str:
    """Format a JSON value for an error message, as JSON and shortened."""
    if isinstance(value, str):
        return json.dumps(shortened(value, 80))
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 10**20 else "a huge number"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else f"a {type(value).__name__}"


def _write_synced(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make a rename in the folder durable: without it, a power cut may undo the rename."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON value")
