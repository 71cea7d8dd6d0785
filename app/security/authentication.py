"""Authentication: every request needs a known key, except those for open addresses.

Programs send ``Authorization: Bearer`` or ``X-API-Key``. A browser asks its user, by HTTP Basic, and sends
the key as the password with every request: no login page, no cookie, no session, so nothing to forge or steal
except the key itself, and revoking the key ends access at once. Another site's page could abuse credentials
that a browser sends by itself; ``bioqa.app.security.origins`` prevents that.
"""

import base64
import binascii
from collections.abc import Callable, Iterator

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from bioqa.app.answers.refusals import RETRY_AFTER_S
from bioqa.app.http.errors import problem
from bioqa.app.security.keyfile import KeyRing, KeysUnavailable

REALM = 'realm="bioqa"'
BASIC = f'Basic {REALM}, charset="UTF-8"'


class RequireKey:
    """Refuses requests without a known key; the key becomes ``request.state.key``."""

    def __init__(self, app: ASGIApp, keys: KeyRing, is_open: Callable[[str], bool]) -> None:
        self.app = app
        self.keys = keys
        self.is_open = is_open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self.is_open(scope["path"]):
            return await self.app(scope, receive, send)
        presented = list(credentials(Headers(scope=scope)))
        try:
            key = next((key for secret in presented if (key := self.keys.find(secret))), None)
        except KeysUnavailable:
            detail = "the service cannot read its API keys at the moment, and lets nobody in"
            refusal = problem(503, detail, headers={"Retry-After": str(RETRY_AFTER_S)})
            return await refusal(scope, receive, send)
        if key is None:
            return await _refuse(scope, receive, send, is_known=bool(presented))
        scope.setdefault("state", {})["key"] = key
        return await self.app(scope, receive, send)


def credentials(headers: Headers) -> Iterator[str]:
    """Yield everything in the headers that may be a key."""
    if key := headers.get("x-api-key"):
        yield key.strip()
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and value.strip():
        yield value.strip()
    elif scheme.lower() == "basic" and (password := _password(value.strip())):
        yield password


def _password(encoded: str) -> str:
    try:
        return base64.b64decode(encoded, validate=True).decode().partition(":")[2]
    except (binascii.Error, ValueError):
        return ""


async def _refuse(scope: Scope, receive: Receive, send: Send, is_known: bool) -> None:
    detail, fault = "an API key is needed: send it as Authorization: Bearer or as X-API-Key", ""
    if is_known:
        detail = "this API key is not valid: it is wrong, revoked or expired"
        fault = ', error="invalid_token"'
    answer = problem(401, detail, headers={"WWW-Authenticate": f"Bearer {REALM}{fault}"})
    # A separate header: not every browser finds a second challenge after a comma.
    answer.headers.append("WWW-Authenticate", BASIC)
    await answer(scope, receive, send)
