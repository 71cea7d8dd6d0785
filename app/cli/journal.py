"""Answers of an unfinished batch, stored beside its output: one JSON line per question.

The first line identifies the job. A crash can leave an incomplete last line, which is ignored.
"""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from bioqa.bioasq.domain import Response
from bioqa.bioasq.files import parse_golden, submission_dict
from bioqa.system.errors import BioqaError

KIND = "bioqa batch"


class AnswerJournal:
    def __init__(self, path: Path, stream: BinaryIO, answers: dict[str, Response]) -> None:
        self._path = path
        self._stream = stream
        self.answers = answers
        """The stored answers, by question id."""

    @classmethod
    def open(cls, output: Path, job: str) -> "AnswerJournal":
        """Open the journal of ``output`` with its answers if it is of the same ``job``, else a new one.

        Raises BioqaError if the folder cannot be written to, or if the file there is not a journal.
        """
        path = output.with_name(output.name + ".journal")
        try:
            lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
            whole = [line for line in lines if line.endswith(b"\n")]
            kept = _answers(path, whole[1:]) if whole and _job(path, whole[0]) == job else None
            stream = path.open("r+b" if kept is not None else "wb")
        except OSError as error:
            raise BioqaError(f"{path}: cannot be written: {error.strerror or error}") from error
        journal = cls(path, stream, kept or {})
        try:
            if kept is None:
                journal._write({"kind": KIND, "job": job})
            else:
                stream.truncate(sum(map(len, whole)))
                stream.seek(0, os.SEEK_END)
        except BaseException:
            journal.close()
            raise
        return journal

    def append(self, response: Response) -> None:
        self._write(submission_dict([response]))
        self.answers[response.question.id] = response

    def close(self) -> None:
        # Each answer was flushed, or reported that it could not be; closing tries a failed one once more.
        with suppress(OSError):
            self._stream.close()

    def remove(self) -> None:
        self.close()
        self._path.unlink(missing_ok=True)

    def _write(self, entry: dict[str, Any]) -> None:
        try:
            self._stream.write(json.dumps(entry).encode() + b"\n")
            self._stream.flush()
        except OSError as error:
            raise BioqaError(f"{self._path}: cannot be written: {error.strerror or error}") from error


def _job(path: Path, line: bytes) -> str:
    try:
        header = json.loads(line)
        if header["kind"] == KIND:
            return str(header["job"])
    except (ValueError, KeyError, TypeError):
        pass
    raise BioqaError(f"{path}: is not a journal of a batch and will not be overwritten; move it away")


def _answers(path: Path, lines: list[bytes]) -> dict[str, Response]:
    answers = {}
    for number, line in enumerate(lines, start=2):
        where = f"{path}, line {number}"
        try:
            entry = json.loads(line)
        except ValueError as error:
            raise BioqaError(f"{where}: not JSON ({error}); remove the file to start anew") from error
        for response in parse_golden(entry, where).responses:
            answers[response.question.id] = response
    return answers
