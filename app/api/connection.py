"""Cancel work when its client disconnects."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect

Result = TypeVar("Result")


async def while_connected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Return the work's result; cancel it if the client disconnects. The body must have been read.

    Raises ClientDisconnect, and what the work raises.
    """
    working = asyncio.create_task(work)
    watching = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        watching.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
