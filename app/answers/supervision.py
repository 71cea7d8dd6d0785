"""Background tasks that are watched: if one ends, that is logged, counted and shown, and it restarts."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol

from bioqa.system.pauses import pause_after

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
STEADY_S = 60.0
"""A task that ran for so long before it ended starts again after the first pause."""

log = logging.getLogger("bioqa")


class Watched(Protocol):
    """A part of the service without which it is not ready."""

    @property
    def name(self) -> str: ...

    @property
    def failures(self) -> int:
        """How often it failed, since the start."""
        ...

    @property
    def trouble(self) -> str | None:
        """Why it does not work at the moment, in words for everybody; None if it does."""
        ...


class Supervised:
    """A coroutine that is to run for as long as the service does. Belongs to the event loop it starts in."""

    def __init__(self, run: Callable[[], Awaitable[None]], name: str) -> None:
        """``run`` makes the coroutine, which never returns by itself."""
        self.name = name
        self.failures = 0
        """How often the task ended, since the start."""
        self._run = run
        self._task: asyncio.Task[None] | None = None
        self._why: str | None = None

    @property
    def trouble(self) -> str | None:
        """Why the task does not run at the moment; None if it does, or is not meant to."""
        return self._why

    def start(self) -> None:
        self._task = asyncio.create_task(self._supervise(), name=self.name)

    async def stop(self) -> None:
        """Cancel the task and wait until it has ended."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        self._why = None

    async def _supervise(self) -> None:
        pauses = 0
        while True:
            begun = time.monotonic()
            try:
                await self._run()
                reason = "it ended by itself"
                log.error("the background task %s ended by itself", self.name)
            except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:
                # Not only Exception: a panic in the search engine is none, and would end the task silently.
                reason = type(error).__name__
                log.exception("the background task %s failed", self.name)
            self.failures += 1
            pauses = 0 if time.monotonic() - begun > STEADY_S else pauses + 1
            self._why = f"the background task {self.name} failed ({reason}) and is started again"
            await asyncio.sleep(pause_after(pauses, FIRST_PAUSE_S, LONGEST_PAUSE_S))
            self._why = None
