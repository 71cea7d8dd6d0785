"""Calls of tools, as assistants make them."""

import asyncio
import json
from typing import Any

from mcp import Client
from mcp_types import CallToolResult, TextContent


def called(target: Any, name: str, **arguments: Any) -> CallToolResult:
    async def call() -> CallToolResult:
        async with Client(target) as client:
            return await client.call_tool(name, arguments)

    return asyncio.run(call())


def answered(target: Any, name: str, **arguments: Any) -> dict[str, Any]:
    result = called(target, name, **arguments)
    (text,) = result.content
    assert isinstance(text, TextContent)
    assert not result.is_error, text.text
    found: dict[str, Any] = json.loads(text.text)  # for clients that read text only
    assert found == result.structured_content
    return found


def refused(target: Any, name: str, **arguments: Any) -> str:
    result = called(target, name, **arguments)
    assert result.is_error
    (text,) = result.content
    assert isinstance(text, TextContent)
    assert "Traceback" not in text.text
    return text.text
