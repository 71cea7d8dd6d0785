"""The running service: one ranker, one index, and the threads that answer questions."""

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, TypeVar

from fastapi import Depends, Request

from app.answering import Answer, Answerer, IndexUnavailable, Ranks, Wanted
from app.settings import Settings
from bioasq.domain import Document, Question
from bioasq.errors import BioqaError
from indexer.search.base import IndexStats, SearchIndex

log = logging.getLogger("bioqa")

Result = TypeVar("Result")


class Service:
    """Opens the index when it is first there, and again after it was away."""

    def __init__(self, settings: Settings, ranker: Ranks, open_index: Callable[[], SearchIndex]) -> None:
        self.settings = settings
        self.ranker = ranker
        self._open_index = open_index
        self._answerer: Answerer | None = None
        self._lock = threading.Lock()
        self._threads = self._new_threads()

    async def answer(self, question: Question, wanted: Wanted) -> Answer:
        """Raises IndexUnavailable."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._answer, question, wanted)

    def document(self, pmid: str) -> Document | None:
        """The document, or None if it is not in the index. Raises IndexUnavailable."""
        return self._ask(lambda index: index.get([pmid]).get(pmid))

    def stats(self) -> IndexStats:
        """Raises IndexUnavailable."""
        return self._ask(lambda index: index.stats())

    def reasons_not_ready(self) -> list[str]:
        try:
            documents = self.stats().documents
        except IndexUnavailable as error:
            log.warning("not ready: %s", error)
            return ["the search index is missing or cannot be used; the service's log tells why"]
        return [] if documents else ["the search index holds no documents"]

    def close(self) -> None:
        """Wait for the questions at work, drop those in line; a later question starts anew."""
        threads, self._threads = self._threads, self._new_threads()
        threads.shutdown(cancel_futures=True)
        with self._lock:
            answerer, self._answerer = self._answerer, None
        if answerer is not None:
            answerer.index.close()

    def _new_threads(self) -> ThreadPoolExecutor:
        # Models hold a thread for long: in threads of their own, nothing else waits for them.
        return ThreadPoolExecutor(self.settings.ranking_threads, thread_name_prefix="answering")

    def _answer(self, question: Question, wanted: Wanted) -> Answer:
        answerer = self._opened()
        try:
            return answerer.answer(question, wanted)
        except IndexUnavailable:
            self._forget(answerer.index)
            raise

    def _ask(self, what: Callable[[SearchIndex], Result]) -> Result:
        index = self._opened().index
        try:
            return what(index)
        except (BioqaError, OSError) as error:
            self._forget(index)
            raise IndexUnavailable(f"the search index cannot be used: {error}") from error

    def _opened(self) -> Answerer:
        with self._lock:
            if self._answerer is None:
                try:
                    self._answerer = Answerer(self._open_index(), self.ranker)
                except (BioqaError, OSError) as error:
                    raise IndexUnavailable(str(error)) from error
            return self._answerer

    def _forget(self, index: SearchIndex) -> None:
        """The next question opens the index anew."""
        with self._lock:
            if self._answerer is not None and self._answerer.index is index:
                self._answerer = None


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


CurrentService = Annotated[Service, Depends(_service)]
