"""Uploaded files: a JSON body, or the files of a form, which may be gzipped."""

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request
from starlette.datastructures import UploadFile

from bioqa.app.answers.refusals import RETRY_AFTER_S, Refused
from bioqa.app.http.errors import BadBody, FieldError
from bioqa.app.http.parsers import Parsers
from bioqa.system.errors import BioqaError
from bioqa.system.formats import GZIP_MAGIC, TooLarge, refuse_packed, unpack
from bioqa.system.jsonfile import parse_json

FORM = "multipart/form-data"
JSON = "application/json"
MOST_PARTS = 8
LONGEST_NAME = 200

log = logging.getLogger("bioqa")


@dataclass(frozen=True, slots=True)
class Upload:
    """A request's body: JSON, or a form's files and texts by their names."""

    body: bytes | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    """The files' own names, as far as they can be shown, by the fields' names."""
    max_bytes: int = 10_000_000
    """Bytes that a gzip file may have when it is unpacked."""

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.body or b"") + sum(map(len, self.files.values()))

    def json(self) -> object:
        """Raises BadBody."""
        assert self.body is not None
        try:
            return parse_json(self.body, "the body")
        except BioqaError as error:
            raise BadBody(str(error)) from error

    def file(self, name: str) -> object:
        """What a form's file holds as JSON. Raises BioqaError, naming it, or HTTPException: too large."""
        return parse_json(self.content(name), name)

    def content(self, name: str) -> bytes:
        """A form's file, unpacked. Raises as ``file`` does."""
        raw = self.files[name]
        try:
            content = unpack(raw, name, self.max_bytes) if raw.startswith(GZIP_MAGIC) else raw
        except TooLarge as error:
            raise HTTPException(413, str(error)) from error
        refuse_packed(content, name)
        return content


class Uploads:
    """Reads uploads, and has them parsed and checked where that delays no question."""

    def __init__(self, max_bytes: int, parsers: Parsers) -> None:
        self._max_bytes = max_bytes
        self.parse = parsers.run
        self.work = parsers.store
        """For what waits for the disk; ``parse`` is for what computes."""

    async def receive(self, request: Request, repeated: Collection[str] = ()) -> Upload:
        """Read a request's body. Raises BadBody, and HTTPException for an unsupported content type.

        ``repeated``: fields that a form may have more than once; they become "name", "name 2", "name 3".
        """
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == JSON or kind.endswith("+json"):
            return Upload(body=await request.body(), max_bytes=self._max_bytes)
        if kind == FORM:
            return await self._form(request, repeated)
        raise HTTPException(415, f"the body must be {JSON} or {FORM}, as its Content-Type says")

    async def _form(self, request: Request, repeated: Collection[str]) -> Upload:
        files, texts, names = {}, {}, {}
        try:
            async with request.form(max_files=MOST_PARTS, max_fields=MOST_PARTS) as form:
                for field_name, value in form.multi_items():
                    name = field_name
                    while field_name in repeated and (name in files or name in texts):
                        name = f"{field_name} {int(name.removeprefix(field_name) or 1) + 1}"
                    if name in files or name in texts:
                        raise FieldError(name, "is given twice")
                    if isinstance(value, UploadFile):
                        files[name] = await value.read()
                        names[name] = _file_name(value.filename or "")
                    else:
                        texts[name] = value
        except HTTPException as error:
            if error.status_code == 400:
                raise BadBody(f"the form cannot be read: {error.detail}") from error
            raise
        except OSError as error:
            # Files of a form wait in TMPDIR. The full disk is not the client's fault, and passes.
            log.error("the files of a form cannot be stored: %s", error)
            detail = "the files of a form cannot be stored at the moment; see the service's log"
            raise Refused(detail, RETRY_AFTER_S) from error
        except ValueError as error:  # the given charset cannot decode the names
            raise BadBody("the form cannot be read") from error
        return Upload(files=files, texts=texts, names=names, max_bytes=self._max_bytes)


def _file_name(given: str) -> str:
    """Without folders, which some clients send, and without what is not for the eye."""
    name = given.replace("\\", "/").rpartition("/")[2]
    shown = "".join(character for character in name if character.isprintable()).strip()
    return shown if len(shown) <= LONGEST_NAME else f"{shown[: LONGEST_NAME - 1]}…"


def require_files(upload: Upload, names: Iterable[str]) -> None:
    """Check that the form has these files. Raises FieldError for the first that is missing."""
    for name in names:
        if name not in upload.files:
            given = "is a text, not a file" if name in upload.texts else "is missing"
            raise FieldError(name, f"{given}: the form must have a file of this name")


def _uploads(request: Request) -> Uploads:
    uploads: Uploads = request.app.state.uploads
    return uploads


CurrentUploads = Annotated[Uploads, Depends(_uploads)]


def request_body(
    schema: dict[str, Any], form: dict[str, Any], required: list[str], examples: dict[str, Any]
) -> dict[str, Any]:
    """Describe in OpenAPI a body that is JSON of this schema or a form with these parts."""
    parts = {"type": "object", "properties": form, "required": required}
    return {
        "requestBody": {
            "required": True,
            "content": {JSON: {"schema": schema, "examples": examples}, FORM: {"schema": parts}},
        }
    }


def file_part(description: str) -> dict[str, Any]:
    return {"type": "string", "format": "binary", "description": description}
