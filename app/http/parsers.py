"""What clients send is parsed and checked in processes of its own, where its cost is bounded.

A few megabytes of JSON can be millions of objects, each with a fault of its own: seconds of work, during
which nothing else would be answered, and gigabytes of memory. In a process of its own a task has a limit of
both. Only bodies that are short, or were found to be right there, are parsed in the event loop. What is much
to read from the index and to write is done there, too.
"""

import gc
import json
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import islice
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError

from bioqa.app.answers.batching import AtCapacity, Batcher, Priority, QueueLimits, result_of, whole_seconds
from bioqa.app.answers.context import client
from bioqa.app.answers.opening import open_index
from bioqa.app.answers.refusals import RETRY_AFTER_S, QueueFull, Refused, TimedOut
from bioqa.app.answers.reopening import ReopeningIndex
from bioqa.app.answers.workers import (
    NOT_STARTED,
    STARTING,
    NoWorker,
    TaskLimits,
    TooMuchWork,
    WorkerLost,
    Workers,
    limit_memory,
)
from bioqa.app.http.errors import MOST_PROBLEMS, BadBody, FieldError
from bioqa.app.settings import Settings

SHORT_BYTES = 8192
"""A body that is no longer costs little, whatever it holds."""

SMALL_BYTES = 65_536
"""Bodies that are no longer go before longer ones."""

MEMORY_BYTES = 400_000_000
"""Memory that one task may take."""

HANGING_S = 15.0
"""Ten times the processor time that a task may take: a process that needs longer hangs."""

CAPACITY, PER_CLIENT = 32, 4
"""Tasks that may wait, of small and of large bodies each, and those of one client."""

Result = TypeVar("Result")
Task = tuple[Callable[..., Any], tuple[Any, ...]]
Queue = Batcher[Callable[[], Any], Any]


def start_parser(settings: Settings, modules: Sequence[str]) -> Callable[[Task], Any]:
    """What a parsing process starts with: it calls functions, of these modules as a rule."""
    for module in modules:
        import_module(module)  # here, so that it does not count as the first task's work
    _index[:] = [ReopeningIndex(partial(open_index, settings))]
    # JSON has no cycles, and looking for some takes longer than parsing millions of objects: that is done
    # between tasks.
    gc.disable()
    limit_memory(MEMORY_BYTES)
    return _call


def _call(task: Task) -> Any:
    what, arguments = task
    return what(*arguments)


_index: list[ReopeningIndex] = []
"""The one index of a parsing process, which is opened when something is looked up."""


def _look_up(what: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return _index[0].ask(lambda index: what(index, *arguments))


class Parsers:
    """Belongs to an application; its processes live as long as that runs."""

    name = "parsing"

    def __init__(self, settings: Settings, modules: Sequence[str], index: ReopeningIndex) -> None:
        """A process for every two ranking processes; threads where there are none, which use ``index``.
        ``modules``: where the functions are defined.
        """
        self._limits = TaskLimits(cpu_s=settings.max_request_cpu_s, wall_s=HANGING_S)
        self._wait_s = settings.request_timeout_s
        self._index = index
        self._workers: Workers[Task, Any] | None = None
        if settings.ranking_processes:
            count = max(1, settings.ranking_processes // 2)
            self._workers = Workers(partial(start_parser, settings, modules), count, name=self.name)
        threads = self._workers.count if self._workers else 2
        self._queue: Queue = Batcher(_each, QueueLimits(threads, CAPACITY, PER_CLIENT))
        self._disk: Queue = Batcher(_each, QueueLimits(2, CAPACITY, PER_CLIENT))

    @property
    def failures(self) -> int:
        """Processes that died or hung, since the start."""
        return self._workers.replaced if self._workers else 0

    @property
    def trouble(self) -> str | None:
        """Why nothing can be parsed at the moment."""
        trouble = self._workers.trouble if self._workers else None
        if trouble in (None, NOT_STARTED, STARTING):
            return None
        return "no parsing process is running; see the service's log"

    def open(self) -> None:
        if self._workers:
            self._workers.open(wait=False)

    def close(self) -> None:
        for queue in (self._queue, self._disk):
            queue.close(QueueFull("the service is about to end", RETRY_AFTER_S))
        if self._workers:
            self._workers.close()

    async def run(self, what: Callable[..., Result], *arguments: Any) -> Result:
        """What the function returns or raises, called in a process: it must be a module's, and everything
        able to be pickled. Raises TooMuchWork and Refused.
        """
        small = sum(map(_size, arguments)) <= SMALL_BYTES
        task = partial(self._run_call, what, arguments) if self._workers else partial(what, *arguments)
        return await self._wait(self._queue, "interactive" if small else "batch", task)

    async def look_up(self, what: Callable[..., Result], *arguments: Any) -> Result:
        """``run`` for a function that is also given the index, and may read or write much."""
        if self._workers:
            task = partial(self._run_call, _look_up, (what, arguments))
        else:
            task = partial(self._index.ask, lambda index: what(index, *arguments))
        return await self._wait(self._queue, "batch", task)

    async def store(self, what: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function in a thread, for what waits for the disk. Raises Refused."""
        return await self._wait(self._disk, "interactive", partial(what, *arguments))

    async def _wait(self, queue: Queue, priority: Priority, task: Callable[[], Result]) -> Result:
        try:
            with queue.enter(priority, client=client.get()) as ticket:
                result: Result = await result_of(queue.submit(ticket, task), self._wait_s)
        except AtCapacity as error:
            said = "too many large requests wait to be read, of yours or in all"
            raise QueueFull(said, whole_seconds(queue.wait_s)) from error
        except TimeoutError as error:
            said = "the time for this request was over before it could be read"
            raise TimedOut(said, whole_seconds(queue.wait_s)) from error
        return result

    def _run_call(self, what: Callable[..., Result], arguments: tuple[Any, ...]) -> Result:
        assert self._workers
        self._workers.open(wait=False)  # where an application is asked that was never started
        try:
            result: Result = self._workers.call((what, arguments), limits=self._limits, wait_s=self._wait_s)
        except WorkerLost as error:
            if error.hung:
                said = "the process that read the request hung, and is replaced"
                raise Refused(said, RETRY_AFTER_S) from error
            raise TooMuchWork("it ended the process that read it") from error
        except NoWorker as error:
            raise Refused("no process that reads requests is running", RETRY_AFTER_S) from error
        return result


def _parsers(request: Request) -> Parsers:
    parsers: Parsers = request.app.state.parsers
    return parsers


CurrentParsers = Annotated[Parsers, Depends(_parsers)]


def _each(tasks: Sequence[Callable[[], Any]]) -> list[Any]:
    return [task() for task in tasks]


def _size(argument: object) -> int:
    """Bytes of a body, or of what has one."""
    return len(argument) if isinstance(argument, bytes) else getattr(argument, "size", 0)


def checked_route(model: type[BaseModel], most: Callable[[Settings], Mapping[str, tuple[int, str]]]) -> Any:
    """A class for routes whose body is JSON of this model. ``most``: by name, how many items a list of the
    body may have, and what to say of more.
    """

    class CheckedRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def checking(request: Request) -> Response:
                body = await request.body()
                if _says_json(request) and (len(body) > SHORT_BYTES or HALF.search(body)):
                    limits = most(request.app.state.service.settings)
                    parsers: Parsers = request.app.state.parsers
                    if faults := await parsers.run(faults_of, body, model, limits):
                        raise RequestValidationError(faults)
                return await handle(request)

            return checking

    return CheckedRoute


HALF = re.compile(rb"\\u[dD][89a-fA-F]")
"""What may be half a character: JSON writes an emoji as two of these, and JavaScript cuts them apart."""


def _first_halves(data: object) -> list[tuple[int | str, ...]]:
    try:
        return [*islice(_halves(data), MOST_PROBLEMS + 1)]
    except RecursionError as error:
        raise BadBody("the body cannot be read as JSON in UTF-8: it is nested too deeply") from error


def _halves(value: object, location: tuple[int | str, ...] = ("body",)) -> Iterator[tuple[int | str, ...]]:
    """Yield the places of texts that are no valid Unicode: no answer could repeat them."""
    if isinstance(value, str):
        if not _is_whole(value):
            yield location
    elif isinstance(value, dict):
        for key, item in value.items():
            if _is_whole(key):
                yield from _halves(item, (*location, key))
            else:
                yield (*location, key.encode("utf-8", "replace").decode())
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _halves(item, (*location, number))


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _says_json(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json")


def faults_of(
    body: bytes, model: type[BaseModel], most: Mapping[str, tuple[int, str]]
) -> list[dict[str, Any]]:
    """The first of pydantic's errors, their ``loc`` beginning with "body". Raises BadBody, and FieldError for
    a list that is too long, before anything that it holds is looked at.
    """
    data = _json(body)
    for name, (count, message) in most.items():
        items = data.get(name) if isinstance(data, dict) else None
        if isinstance(items, list) and len(items) > count:
            raise FieldError(name, message.format(found=len(items)))
    if HALF.search(body) and (halves := _first_halves(data)):
        return [{"type": "string_unicode", "loc": location, "msg": ""} for location in halves]
    try:
        model.model_validate(data)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False, include_context=False)
        return [{**fault, "loc": ("body", *fault["loc"])} for fault in islice(errors, MOST_PROBLEMS + 1)]
    return []


def _json(body: bytes) -> Any:
    """Raises BadBody in the words of short bodies' errors."""
    try:
        return json.loads(body)
    except json.JSONDecodeError as error:
        raise BadBody(f"the body is not JSON: {error.msg} at character {error.pos}") from error
    except (
        ValueError,
        RecursionError,
    ) as error:  # no UTF-8, a huge number, nested too deeply
        raise BadBody("the body cannot be read as JSON in UTF-8") from error
