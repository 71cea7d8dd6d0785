"""Batches as the API and the pages see them: submit, look up, fetch, cancel, remove."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bioqa.app.answers.refusals import BatchesUnavailable
from bioqa.app.answers.service import Service
from bioqa.app.http.errors import FieldError
from bioqa.app.jobs import submission
from bioqa.app.jobs.database import Database, remove_left_ones
from bioqa.app.jobs.intake import TestSetLimits, content_hash
from bioqa.app.jobs.records import (
    NOBODY,
    BatchJob,
    BatchLimits,
    Entry,
    QuestionFault,
    State,
    Viewer,
)
from bioqa.app.jobs.runner import Runner, concurrency
from bioqa.app.jobs.store import Store
from bioqa.app.jobs.submission import InvalidResult
from bioqa.bioasq.trec import RunLine
from bioqa.system.errors import BioqaError


class NoSubmission(BioqaError):
    """The batch has no submission (yet); the text says why."""


class BatchJobs:
    """Methods block for milliseconds, longer for large test sets: call them in a thread.

    All raise BatchesUnavailable.
    """

    def __init__(self, service: Service, folder: Path | None) -> None:
        self._service = service
        self._database = Database(folder)
        settings = service.settings
        self._store = Store(
            self._database,
            BatchLimits(settings.max_batches, settings.kept_batches, settings.kept_bytes, settings.key_share),
        )
        self.get, self.page, self.tally = self._store.get, self._store.page, self._store.tally
        service.watched.append(self._database)
        self._runners: list[Runner] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer batches in this event loop until the context is left; then temporary ones are removed."""
        self._database.start()
        remove_left_ones()
        runner = Runner(self._service, self._store, self._database)
        runner.start()
        self._runners.append(runner)
        self._service.watched.append(runner.task)
        try:
            yield
        finally:
            self._service.watched.remove(runner.task)
            self._runners.remove(runner)
            await runner.stop()
            if not self._runners:
                self.close()

    def close(self) -> None:
        """Remove batches that are not to be kept. Later calls raise BatchesUnavailable."""
        self._database.close()

    @property
    def kept(self) -> bool:
        """Whether batches outlive the process."""
        return self._database.kept

    @property
    def root(self) -> str:
        """What the service's own addresses begin with, as clients see them."""
        return (self._service.settings.root_path or "").rstrip("/")

    @property
    def limits(self) -> TestSetLimits:
        settings = self._service.settings
        return TestSetLimits(settings.max_testset_questions, settings.max_question_characters)

    def submit(
        self,
        taken: Sequence[Entry],
        ranker: str | None = None,
        key: str | None = None,
        viewer: Viewer = NOBODY,
        file_name: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[BatchJob, bool]:
        """A test set's batch, and whether it is new, or known by its idempotency key. ``taken``: what
        ``entries`` makes of a test set. It belongs to ``viewer``. ``options``: for all questions, as JSON.

        Raises UnknownRanker, TooManyBatches and KeyReused.
        """
        settings = self._service.settings
        self._service.ranker_named(ranker)
        identifier, new = self._store.add(
            taken,
            content_hash(taken, ranker, options),
            ranker=ranker,
            candidates=settings.candidates,
            options=options,
            key=key,
            owner=viewer.name,
            file_name=file_name,
        )
        for runner in [*self._runners]:
            runner.wake()
        batch = self._store.get(identifier)
        if batch is None:  # removed between the two calls
            return self.submit(taken, ranker, key, viewer, file_name, options)
        return batch, new

    def faults(self, batch: BatchJob) -> list[QuestionFault]:
        """Return the questions that failed, in the test set's order."""
        return self._store.faults(batch.number)

    def seconds_left(self, batch: BatchJob) -> float | None:
        """Estimate the remaining time from the batch's own pace; None while unknown or not running."""
        if batch.state is not State.RUNNING or batch.waits_for or batch.seconds_a_question is None:
            return None
        return batch.seconds_a_question * batch.counts.remaining / concurrency(self._service)

    def expires(self, batch: BatchJob) -> float | None:
        """Return when it will be removed, in seconds since 1970; None while it is unfinished."""
        return None if batch.finished is None else batch.finished + 86_400 * self._service.settings.batch_days

    def submission(self, batch: BatchJob) -> bytes:
        """Return the file for the BioASQ site. Raises NoSubmission."""
        _check_done(batch)
        try:
            return submission.encode(submission.submission(self._store, batch.number))
        except InvalidResult as error:
            reason = f"the submission would be invalid: {error}"
            self._store.invalidate(batch.number, reason)
            raise NoSubmission(f"the batch has failed: {reason}") from error

    def run(self, batch: BatchJob) -> list[RunLine]:
        """Return a TREC run. Raises NoSubmission, and FieldError if a run cannot hold a question's id."""
        _check_done(batch)
        assert batch.source is not None
        tag = "".join(c if c.isprintable() and not c.isspace() else "-" for c in batch.source.ranker)
        try:
            return submission.run(self._store, batch.number, tag)
        except BatchesUnavailable:
            raise
        except BioqaError as error:
            raise FieldError("format", str(error)) from error

    def cancel(self, batch: BatchJob) -> bool:
        """Cancel an unfinished batch; a finished one is unchanged. Returns whether it was cancelled."""
        return self._store.finish(batch.number, State.CANCELLED)

    def remove(self, batch: BatchJob) -> None:
        """Remove a finished batch with its results."""
        self._store.remove(batch.number)

    def cancel_or_remove(self, batch: BatchJob) -> BatchJob | None:
        """Cancel an unfinished batch and return it; remove a finished one and return None."""
        if self.cancel(batch):
            return self._store.get(batch.id)
        self.remove(batch)
        return None


def _check_done(batch: BatchJob) -> None:
    if batch.state is State.DONE:
        return
    if batch.state is State.FAILED:
        raise NoSubmission(f"the batch has failed: {batch.reason}")
    if batch.state is State.CANCELLED:
        raise NoSubmission("the batch was cancelled")
    counts = batch.counts
    raise NoSubmission(
        f"the batch is {batch.state}: {counts.remaining} of {counts.questions} questions are left"
    )
