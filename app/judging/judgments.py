"""Judgments, and the log beside a sheet that keeps them: one JSON line each, synced before it is confirmed.

The log is only appended to. Of a judge's judgments of one item the last counts; other judges' stay. Its first
line names the sheet, so that a log is never read with another one.
"""

import json
import os
import threading
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from bioqa.app.judging.sheet import Item, Sheet, read_sheet
from bioqa.bioasq.domain import Sentence
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import shorten, show, sync_folder
from bioqa.system.locks import FileLock, LockTaken
from bioqa.system.stamps import stamp_of

KIND = "bioqa judgments"
SUFFIX = ".judgments"

MOST_NAME = 100
"""Characters of a judge's name."""


class JudgmentError(BioqaError):
    """A judgment, or a judge's name, that cannot be taken."""


class NameRefused(JudgmentError):
    """A judge's name that cannot be taken. ``reason``: what is wrong with it."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the judge's name {reason}")
        self.reason = reason


class LogError(BioqaError):
    """A log of judgments that cannot be read or written."""


class SheetChanged(BioqaError):
    """The sheet was replaced or edited while it was being judged."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """What one judge said of one item. ``grade``: None if the judge took an earlier grade back."""

    judge: str
    item: Item
    grade: int | None


@dataclass
class Judgments:
    """The grades that count: those that each judge gave last."""

    by_judge: dict[str, dict[Item, int]] = field(default_factory=dict)
    """In the order in which judges began."""

    def add(self, judgment: Judgment) -> None:
        grades = self.by_judge.setdefault(judgment.judge, {})
        if judgment.grade is None:
            grades.pop(judgment.item, None)
        else:
            grades[judgment.item] = judgment.grade

    def grades_by(self, judge: str) -> Mapping[Item, int]:
        return self.by_judge.get(judge, {})

    def consensus(self, judges: Sequence[str] | None = None) -> dict[Item, int]:
        """One grade for each item that anybody judged, or any of ``judges``: the median of its grades, the
        lower one of the two in the middle if their number is even."""
        given: dict[Item, list[int]] = {}
        for judge in self.by_judge if judges is None else judges:
            for item, grade in self.grades_by(judge).items():
                given.setdefault(item, []).append(grade)
        return {item: sorted(grades)[(len(grades) - 1) // 2] for item, grades in given.items()}


def check_name(text: str) -> str:
    """A judge's name in one form. Raises NameRefused."""
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not name:
        raise NameRefused("is empty")
    if len(name) > MOST_NAME:
        raise NameRefused(f"has {len(name)} characters; at most {MOST_NAME} are allowed")
    if not name.isprintable() or "\ufffd" in name:
        raise NameRefused("has characters that cannot be shown")
    return name


def check_grade(item: Item, grade: int | None) -> None:
    """Raises JudgmentError for a grade that such an item cannot have."""
    if grade is not None and grade not in item.grades:
        what = "document" if item.sentence is None else "sentence"
        allowed = ", ".join(f"{number} ({name})" for number, name in item.grades.items())
        raise JudgmentError(f"{item.key}: the grade of a {what} is one of {allowed}, not {grade}")


def log_path(sheet: str | Path) -> Path:
    """Where the judgments of a sheet are kept."""
    path = Path(sheet)
    return path.with_name(path.name + SUFFIX)


def read_judgments(path: str | Path, sheet: Sheet) -> Judgments:
    """Read the judgments of the sheet at ``path``, also while it is being judged; none if there is no log.

    Raises LogError for a log of another sheet, and for lines that are no judgments.
    """
    return _Content.read(log_path(path), sheet).judgments


class JudgmentLog:
    """A sheet that is being judged. One process at a time has it open; any number of threads may use it."""

    def __init__(self, path: str | Path) -> None:
        """Open a sheet and its log, which is created if there is none.

        Raises SheetError, and LogError if another process has it open, if it belongs to another sheet, and if
        it cannot be written.
        """
        self.path = Path(path)
        self.sheet = read_sheet(path)
        self._stamp = stamp_of(self.path)
        self._log = log_path(path)
        self._writing = threading.Lock()
        try:
            self._lock = FileLock(self._log)
        except LockTaken as error:
            raise LogError(f"{path}: is being judged already, by another process that has it open") from error
        except OSError as error:
            raise self._cannot_write(error) from error
        try:
            content = _Content.read(self._log, self.sheet)
            self.judgments = content.judgments
            self._descriptor = os.open(self._log, os.O_RDWR)
            self._end = content.bytes
            if not self._end:
                self._write([_header(self.sheet)])
                sync_folder(self._log.parent)
        except BaseException as error:
            self._lock.close()
            raise self._cannot_write(error) if isinstance(error, OSError) else error from error

    def add(self, judgments: Sequence[Judgment]) -> None:
        """Keep judgments, in order. When this returns, they are on the disk.

        Raises JudgmentError, SheetChanged and LogError; then none of them is kept.
        """
        for judgment in judgments:
            check_grade(judgment.item, judgment.grade)
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        with self._writing:
            self._check_sheet()
            self._write([{"time": now, **_as_json(judgment)} for judgment in judgments])
            for judgment in judgments:
                self.judgments.add(judgment)

    def grades_by(self, judge: str) -> dict[Item, int]:
        with self._writing:
            return dict(self.judgments.grades_by(judge))

    def copy(self) -> Judgments:
        """The judgments as they are now."""
        with self._writing:
            return Judgments({judge: dict(grades) for judge, grades in self.judgments.by_judge.items()})

    def close(self) -> None:
        with self._writing:
            if self._descriptor >= 0:
                os.close(self._descriptor)
            self._descriptor = -1
            self._lock.close()

    def __enter__(self) -> "JudgmentLog":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_sheet(self) -> None:
        """What a judge read is no longer what the sheet says: the judgment would be refused afterwards."""
        if (stamp := stamp_of(self.path)) == self._stamp:
            return
        try:
            same = read_sheet(self.path).id == self.sheet.id
        except BioqaError:
            same = False
        if not same:
            raise SheetChanged("the sheet was changed or removed meanwhile: nothing is kept until it is back")
        self._stamp = stamp

    def _write(self, entries: Iterable[Mapping[str, Any]]) -> None:
        lines = b"".join(map(_line, entries))
        try:
            # What an interrupted write left, here or before a crash, is cut off first.
            os.ftruncate(self._descriptor, self._end)
            written = 0
            while written < len(lines):
                written += os.pwrite(self._descriptor, lines[written:], self._end + written)
            os.fsync(self._descriptor)
        except OSError as error:
            raise self._cannot_write(error) from error
        self._end += len(lines)

    def _cannot_write(self, error: OSError) -> LogError:
        return LogError(f"{self._log}: cannot be written: {error.strerror or error}")


@dataclass(frozen=True, slots=True)
class _Content:
    """What a log holds, and where its last whole line ends. A crash may leave a part of a line behind."""

    judgments: Judgments
    bytes: int

    @classmethod
    def read(cls, log: Path, sheet: Sheet) -> "_Content":
        try:
            raw = log.read_bytes()
        except FileNotFoundError:
            raw = b""
        except OSError as error:
            raise LogError(f"{log}: cannot be read: {error.strerror or error}") from error
        # Not splitlines: text may have other ends of lines in it.
        lines = raw.split(b"\n")[:-1]
        judgments = Judgments()
        for number, line in enumerate(lines, start=1):
            where = f"{log}, line {number}"
            entry = _parse(line, where)
            if number == 1:
                _check_header(entry, log, sheet)
            else:
                judgments.add(_judgment(entry, where, sheet))
        # A crash while the log was begun leaves a part of its first line.
        if not lines and not _line(_header(sheet)).startswith(raw):
            raise LogError(f"{log}: is not a log of judgments, and will not be overwritten; move it away")
        return cls(judgments, sum(len(line) + 1 for line in lines))


def _header(sheet: Sheet) -> dict[str, Any]:
    return {"kind": KIND, "sheet": sheet.id}


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry).encode() + b"\n"


def _parse(line: bytes, where: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LogError(f"{where}: not JSON; the log was damaged or edited") from error
    if not isinstance(entry, dict):
        raise LogError(f"{where}: must be an object, not {show(entry)}")
    return entry


def _check_header(entry: dict[str, Any], log: Path, sheet: Sheet) -> None:
    if entry.get("kind") != KIND:
        raise LogError(f"{log}: is not a log of judgments, and will not be overwritten; move it away")
    if entry.get("sheet") != sheet.id:
        raise LogError(
            f"{log}: has the judgments of another sheet ({shorten(str(entry.get('sheet')), 12)}, not "
            f"{shorten(sheet.id, 12)}); put it back beside that one"
        )


def _judgment(entry: dict[str, Any], where: str, sheet: Sheet) -> Judgment:
    judge, grade = entry.get("judge"), entry.get("grade")
    try:
        if not isinstance(judge, str) or check_name(judge) != judge:
            raise JudgmentError(f"judge: must be a name, not {show(judge)}")
        item = _item(entry, sheet)
        if grade is not None and (not isinstance(grade, int) or isinstance(grade, bool)):
            raise JudgmentError(f"grade: must be a number or null, not {show(grade)}")
        check_grade(item, grade)
    except JudgmentError as error:
        raise LogError(f"{where}: {error}") from error
    return Judgment(judge, item, grade)


def _item(entry: dict[str, Any], sheet: Sheet) -> Item:
    key = str(entry.get("pmid"))
    if "section" in entry:
        key += f"/{entry['section']}/{entry.get('begin')}-{entry.get('end')}"
    item = sheet.items.get((str(entry.get("question")), key))
    if item is None:
        raise JudgmentError(f"the sheet's question {show(entry.get('question'))} has no item {show(key)}")
    return item


def _as_json(judgment: Judgment) -> dict[str, Any]:
    item, sentence = judgment.item, judgment.item.sentence
    place = {} if sentence is None else _place(sentence)
    return {
        "judge": judgment.judge,
        "question": item.question,
        "pmid": item.pmid,
        **place,
        "grade": judgment.grade,
    }


def _place(sentence: Sentence) -> dict[str, Any]:
    return {"section": sentence.section, "begin": sentence.begin, "end": sentence.end}
