"""What clients send is parsed and checked in processes of its own, where its cost is bounded.

A few megabytes of JSON can be millions of objects, each with a fault of its own: seconds of work, during
which nothing else would be answered, and gigabytes of memory. In a process of its own a task has a limit of
both. Only bodies that are short, or were found to be right there, are parsed in the event loop.
"""

import asyncio
import gc
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from itertools import islice
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError

from bioqa.app.answers.refusals import RETRY_AFTER_S, QueueFull
from bioqa.app.answers.workers import NoWorker, TaskLimits, TooMuchWork, WorkerLost, Workers, limit_memory
from bioqa.app.http.errors import MOST_PROBLEMS, BadBody, FieldError
from bioqa.app.settings import Settings

SHORT_BYTES = 8192
"""A body that is no longer costs little, whatever it holds."""

MEMORY_BYTES = 400_000_000
"""That one task may take."""

HANGING_S = 30.0

Result = TypeVar("Result")


def start_parser(modules: Sequence[str]) -> Callable[[tuple[Callable[..., Any], tuple[Any, ...]]], Any]:
    """What a parsing process starts with: it calls functions, of these modules as a rule."""
    for module in modules:
        import_module(module)  # here, so that it does not count as the first task's work
    # JSON has no cycles, and looking for some takes longer than parsing millions of objects: that is done
    # between tasks.
    gc.disable()
    limit_memory(MEMORY_BYTES)
    return _call


def _call(task: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
    what, arguments = task
    return what(*arguments)


class Parsers:
    """Belongs to an application; its processes live as long as that runs."""

    def __init__(self, settings: Settings, modules: Sequence[str]) -> None:
        """A process for every two ranking processes; threads where there are none. ``modules``: where the
        functions are defined.
        """
        self._limits = TaskLimits(cpu_s=settings.max_request_cpu_s, wall_s=HANGING_S)
        self._wait_s = settings.request_timeout_s
        count = max(1, settings.ranking_processes // 2)
        self._threads = ThreadPoolExecutor(max(2, count), thread_name_prefix="parsing")
        self._workers: Workers[Any, Any] | None = None
        if settings.ranking_processes:
            self._workers = Workers(partial(start_parser, modules), count, name="parsing")

    def open(self) -> None:
        if self._workers:
            self._workers.open(wait=False)

    def close(self) -> None:
        if self._workers:
            self._workers.close()

    async def run(self, what: Callable[..., Result], *arguments: Any) -> Result:
        """What the function returns or raises, called in a process: it must be a module's, and everything
        able to be pickled. Raises TooMuchWork and QueueFull.
        """
        called = partial(self._called, what, arguments) if self._workers else partial(what, *arguments)
        return await asyncio.get_running_loop().run_in_executor(self._threads, called)

    def _called(self, what: Callable[..., Result], arguments: tuple[Any, ...]) -> Result:
        assert self._workers
        self._workers.open(wait=False)  # where an application is asked that was never started
        try:
            result: Result = self._workers.call((what, arguments), limits=self._limits, wait_s=self._wait_s)
        except WorkerLost as error:
            raise TooMuchWork("it ended the process that read it") from error
        except NoWorker as error:
            raise QueueFull("too many large requests wait to be read", RETRY_AFTER_S) from error
        return result


def checked_route(model: type[BaseModel], most: Callable[[Settings], Mapping[str, tuple[int, str]]]) -> Any:
    """A class for routes whose body is JSON of this model. ``most``: by name, how many items a list of the
    body may have, and what to say of more.
    """

    class CheckedRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def checking(request: Request) -> Response:
                body = await request.body()
                if len(body) > SHORT_BYTES and _says_json(request):
                    limits = most(request.app.state.service.settings)
                    parsers: Parsers = request.app.state.parsers
                    if faults := await parsers.run(faults_of, body, model, limits):
                        raise RequestValidationError(faults)
                return await handle(request)

            return checking

    return CheckedRoute


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
    try:
        model.model_validate(data)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        return [{**fault, "loc": ("body", *fault["loc"])} for fault in islice(found, MOST_PROBLEMS + 1)]
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
