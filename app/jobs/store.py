"""Create, read, update and remove batches in the database. Every change is one transaction."""

import json
import sqlite3
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bioqa.app.jobs.database import Database
from bioqa.app.jobs.records import (
    EVERYBODY,
    AnswerSource,
    BatchJob,
    BatchLimits,
    Entry,
    QuestionCounts,
    QuestionFault,
    Restart,
    State,
    StoredAnswer,
    Tally,
    Viewer,
    WaitingQuestion,
)
from bioqa.bioasq.domain import Question

PACE_OVER = 20
"""Number of latest answers that the pace is averaged over."""

ANSWER_BYTES = 6000
"""What an answer takes in the file, about."""

UNFINISHED = "state IN ('queued', 'running')"

BYTES = (
    "SELECT coalesce(sum(length(CAST(body AS BLOB)) + coalesce(length(CAST(answer AS BLOB)), 0)"
    " + coalesce(length(CAST(message AS BLOB)), 0) + 100), 0) FROM questions WHERE batch = number"
)
"""Size of a batch, with about 100 bytes a question for the rest."""


class TooManyBatches(Exception):
    """The limit of unfinished batches is reached."""


class KeyReused(Exception):
    """The idempotency key was used for other content."""


class Store:
    """Methods block, usually for milliseconds. All raise BatchesUnavailable."""

    def __init__(self, database: Database, limits: BatchLimits | None = None) -> None:
        self._database = database
        self._limits = limits or BatchLimits()

    def add(
        self,
        entries: Sequence[Entry],
        content: str,
        *,
        ranker: str | None,
        candidates: int,
        options: Mapping[str, Any] | None = None,
        key: str | None = None,
        owner: str | None = None,
        file_name: str | None = None,
    ) -> tuple[str, bool]:
        """Add a batch and return its id and True; or the id of the owner's batch with this key, and False.

        ``content`` is a hash of what is asked, ``options`` those that were given. Raises KeyReused if the
        batch with this key has other content, TooManyBatches if too many of this owner's, or of all, are
        unfinished.
        """
        if key is not None and owner is not None:
            key = f"{owner} {key}"  # neither holds white space
        self._check_room(entries)
        with self._database.writing() as connection:
            if key is not None and (earlier := _by_key(connection, key)):
                if earlier["content"] != content:
                    raise KeyReused
                return earlier["id"], False
            _check_places(connection, owner, self._limits)
            _make_room(connection, self._limits)
            identifier = uuid.uuid4().hex
            cursor = connection.execute(
                "INSERT INTO batches"
                " (id, idempotency_key, content, asked_ranker, candidates, options, owner, file_name, state,"
                " created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?)",
                (
                    identifier,
                    key,
                    content,
                    ranker,
                    candidates,
                    json.dumps(options or {}),
                    owner,
                    file_name,
                    time.time(),
                ),
            )
            connection.executemany(
                "INSERT INTO questions (batch, position, state, id, type, body, field, message)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (_question_row(cursor.lastrowid, *entry) for entry in enumerate(entries)),
            )
        return identifier, True

    def _check_room(self, entries: Sequence[Entry]) -> None:
        """Raises NoRoom if the answers to come would fill the disk."""
        questions = self.tally().waiting_questions + len(entries)
        size = sum(len((entry.body or "").encode()) for entry in entries)
        # Twice: what is written goes through a log.
        self._database.check_room(2 * (size + ANSWER_BYTES * questions))

    def get(self, identifier: str) -> BatchJob | None:
        with self._database.reading() as connection:
            row = connection.execute("SELECT * FROM batches WHERE id = ?", (identifier,)).fetchone()
            return None if row is None else _batch(connection, row)

    def page(self, size: int, before: int | None = None, viewer: Viewer = EVERYBODY) -> list[BatchJob]:
        """Return the newest batches that the viewer sees, or of those numbered below ``before``."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT * FROM batches WHERE number < ? AND (? OR owner IS ?) ORDER BY number DESC LIMIT ?",
                (2**62 if before is None else before, viewer.sees_all, viewer.name, size),
            ).fetchall()
            return [_batch(connection, row) for row in rows]

    def tally(self) -> Tally:
        """Count all stored batches."""
        with self._database.reading() as connection:
            states = connection.execute("SELECT state, count(*) FROM batches GROUP BY state").fetchall()
            (waiting,) = connection.execute(
                "SELECT count(*) FROM questions JOIN batches ON batch = number"
                " WHERE questions.state = 'waiting' AND batches.state IN ('queued', 'running')"
            ).fetchone()
        counted = {State(state): count for state, count in states}
        return Tally({state: counted.get(state, 0) for state in State}, waiting)

    def faults(self, number: int) -> list[QuestionFault]:
        """Return the questions without an answer, in the test set's order."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT position, id, field, message FROM questions"
                " WHERE batch = ? AND state IN ('refused', 'failed') ORDER BY position",
                (number,),
            )
            return [QuestionFault(*row) for row in rows]

    def results(self, number: int) -> Iterator[tuple[Entry, StoredAnswer | None]]:
        """Yield every question in order, with its answer if it has one."""
        with self._database.reading() as connection:
            for row in connection.execute(
                "SELECT * FROM questions WHERE batch = ? ORDER BY position", (number,)
            ):
                entry = Entry(row["id"], row["body"], row["type"], row["field"], row["message"])
                yield entry, _read_answer(row) if row["answer"] is not None else None

    def list_unfinished(self) -> list[BatchJob]:
        """Return unfinished batches, oldest first."""
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT * FROM batches WHERE {UNFINISHED} ORDER BY number"  # noqa: S608
            ).fetchall()
            return [_batch(connection, row) for row in rows]

    def begin(self, batch: BatchJob, source: AnswerSource) -> bool:
        """Mark the batch as running with this source. If it had another, restart it and record why.

        Returns False if it has been finished in the meantime.
        """
        with self._database.writing() as connection:
            row = connection.execute(
                f"SELECT * FROM batches WHERE number = ? AND {UNFINISHED}",  # noqa: S608
                (batch.number,),
            ).fetchone()
            if row is None:
                return False
            before = _source(row)
            if before is not None and (changed := before.difference(source)):
                _start_anew(connection, batch.number, changed)
            connection.execute(
                "UPDATE batches SET state = 'running', waits_for = NULL, started = coalesce(started, ?),"
                " ranker = ?, ranker_hash = ?, index_name = ?, index_documents = ?, index_state = ?"
                " WHERE number = ?",
                (
                    time.time(),
                    source.ranker,
                    source.ranker_hash,
                    source.index,
                    source.documents,
                    source.state,
                    batch.number,
                ),
            )
        return True

    def waiting(self, number: int, size: int) -> list[WaitingQuestion]:
        """Return the next questions to answer."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT position, id, body, type FROM questions"
                " WHERE batch = ? AND state = 'waiting' ORDER BY position LIMIT ?",
                (number, size),
            )
            return [
                WaitingQuestion(row["position"], Question(row["id"], row["body"], row["type"]))
                for row in rows
            ]

    def answer(self, number: int, position: int, answered: StoredAnswer, seconds: float) -> bool:
        """Store an answer that took ``seconds``. Returns False if the batch is not running."""
        text = json.dumps([answered.entry, answered.document_scores, answered.snippet_scores])
        return self._record(
            number,
            position,
            "state = 'answered', answer = ?, degraded = ?, seconds = ?",
            (text, answered.degraded, round(seconds, 6)),
        )

    def fail_question(self, number: int, position: int, message: str) -> bool:
        """Record that a question has no answer. Returns False if the batch is not running."""
        field = f"questions[{position}]"
        return self._record(number, position, "state = 'failed', field = ?, message = ?", (field, message))

    def _record(self, number: int, position: int, change: str, values: tuple[object, ...]) -> bool:
        with self._database.writing() as connection:
            done = connection.execute(
                f"UPDATE questions SET {change} WHERE batch = ? AND position = ? AND state = 'waiting'"  # noqa: S608
                " AND (SELECT state FROM batches WHERE number = batch) = 'running'",
                (*values, number, position),
            )
            return done.rowcount == 1

    def wait_for(self, number: int, what: str | None) -> None:
        """Record what the batch waits for."""
        with self._database.writing() as connection:
            connection.execute(
                f"UPDATE batches SET waits_for = ? WHERE number = ? AND {UNFINISHED}",  # noqa: S608
                (what, number),
            )

    def finish(self, number: int, state: State, reason: str | None = None) -> bool:
        """Finish a batch. Returns False if it was finished before."""
        return self._database.make_room(lambda: self._finish(number, state, reason))

    def _finish(self, number: int, state: State, reason: str | None) -> bool:
        with self._database.writing() as connection:
            done = connection.execute(
                "UPDATE batches SET state = ?, reason = ?, finished = ?, waits_for = NULL"  # noqa: S608
                f" WHERE number = ? AND {UNFINISHED}",
                (state.value, reason, time.time(), number),
            )
            if done.rowcount:
                connection.execute(
                    f"UPDATE batches SET bytes = ({BYTES}) WHERE number = ?",  # noqa: S608
                    (number,),
                )
                _make_room(connection, self._limits, keep=number)
            return done.rowcount == 1

    def invalidate(self, number: int, reason: str) -> None:
        """Mark a finished batch failed: its stored submission is invalid."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE batches SET state = 'failed', reason = ? WHERE number = ?", (reason, number)
            )

    def remove(self, number: int) -> bool:
        """Remove a finished batch. Returns False if it is not finished."""
        return self._database.make_room(lambda: self._remove(number))

    def _remove(self, number: int) -> bool:
        with self._database.writing() as connection:
            done = connection.execute(
                f"DELETE FROM batches WHERE number = ? AND NOT {UNFINISHED}",  # noqa: S608
                (number,),
            )
            return done.rowcount == 1

    def remove_old(self, days: float) -> int:
        """Remove batches that finished more than ``days`` ago, and return their number."""
        with self._database.writing() as connection:
            before = time.time() - 86_400 * days
            return connection.execute("DELETE FROM batches WHERE finished < ?", (before,)).rowcount


def _by_key(connection: sqlite3.Connection, key: str) -> sqlite3.Row | None:
    row: sqlite3.Row | None = connection.execute(
        "SELECT id, content FROM batches WHERE idempotency_key = ?", (key,)
    ).fetchone()
    return row


def _check_places(connection: sqlite3.Connection, owner: str | None, limits: BatchLimits) -> None:
    everybodys, own = connection.execute(
        f"SELECT count(*), coalesce(sum(owner IS ?), 0) FROM batches WHERE {UNFINISHED}",  # noqa: S608
        (owner,),
    ).fetchone()
    if everybodys >= limits.unfinished or own >= limits.of_one(owner).unfinished:
        raise TooManyBatches


def _make_room(connection: sqlite3.Connection, limits: BatchLimits, keep: int | None = None) -> None:
    """Remove finished batches until the limits hold, the oldest of each owner first; never ``keep``.

    If all are too many, those go whose owner has most: nobody's are lost to another's flood.
    """
    while (owner := _who_has_too_much(connection, limits)) is not None:
        removed = connection.execute(
            "DELETE FROM batches WHERE number = (SELECT number FROM batches"  # noqa: S608
            f" WHERE owner IS ? AND NOT {UNFINISHED} AND number IS NOT ? ORDER BY finished, number LIMIT 1)",
            (owner[0], keep),
        )
        if not removed.rowcount:
            return


def _who_has_too_much(connection: sqlite3.Connection, limits: BatchLimits) -> tuple[str | None] | None:
    owners = connection.execute(
        "SELECT owner, count(*), sum(bytes) FROM batches"  # noqa: S608
        f" WHERE NOT {UNFINISHED} GROUP BY owner"
    ).fetchall()
    for owner, count, size in owners:
        own = limits.of_one(owner)
        if count > own.finished or size > own.finished_bytes:
            return (owner,)
    count, size = (sum(owner[column] for owner in owners) for column in (1, 2))
    if count > limits.finished:
        return (max(owners, key=lambda owner: owner[1])[0],)
    if size > limits.finished_bytes:
        return (max(owners, key=lambda owner: owner[2])[0],)
    return None


def _question_row(batch: int | None, position: int, entry: Entry) -> tuple[Any, ...]:
    state = "waiting" if entry.fault is None else "refused"
    field = entry.field or f"questions[{position}]"
    return batch, position, state, entry.id, entry.type, entry.body, field, entry.fault


def _start_anew(connection: sqlite3.Connection, number: int, reason: str) -> None:
    connection.execute(
        "UPDATE questions SET state = 'waiting', answer = NULL, degraded = NULL, seconds = NULL,"
        " message = NULL WHERE batch = ? AND state IN ('answered', 'failed')",
        (number,),
    )
    connection.execute("INSERT INTO restarts VALUES (?, ?, ?)", (number, time.time(), reason))


def _read_answer(row: sqlite3.Row) -> StoredAnswer:
    entry, documents, snippets = json.loads(row["answer"])
    return StoredAnswer(entry, tuple(documents), tuple(snippets), row["degraded"])


def _batch(connection: sqlite3.Connection, row: sqlite3.Row) -> BatchJob:
    number = row["number"]
    states = dict(
        connection.execute("SELECT state, count(*) FROM questions WHERE batch = ? GROUP BY state", (number,))
    )
    (degraded,) = connection.execute(
        "SELECT count(degraded) FROM questions WHERE batch = ? AND state = 'answered'", (number,)
    ).fetchone()
    restarts = connection.execute("SELECT at, reason FROM restarts WHERE batch = ? ORDER BY at", (number,))
    (pace,) = connection.execute(
        "SELECT avg(seconds) FROM (SELECT seconds FROM questions WHERE batch = ? AND state = 'answered'"
        " ORDER BY position DESC LIMIT ?)",
        (number, PACE_OVER),
    ).fetchone()
    return BatchJob(
        number=number,
        id=row["id"],
        state=State(row["state"]),
        counts=QuestionCounts(
            questions=sum(states.values()),
            answered=states.get("answered", 0),
            failed=states.get("refused", 0) + states.get("failed", 0),
            degraded=degraded,
        ),
        created=row["created"],
        started=row["started"],
        finished=row["finished"],
        asked_ranker=row["asked_ranker"],
        candidates=row["candidates"],
        options=json.loads(row["options"]),
        source=_source(row),
        restarts=tuple(Restart(*restart) for restart in restarts),
        waits_for=row["waits_for"],
        reason=row["reason"],
        owner=row["owner"],
        file_name=row["file_name"],
        seconds_a_question=pace,
    )


def _source(row: sqlite3.Row) -> AnswerSource | None:
    if row["ranker_hash"] is None:
        return None
    index = row["index_name"], row["index_documents"], row["index_state"] or ""
    return AnswerSource(row["ranker"], row["ranker_hash"], *index)
