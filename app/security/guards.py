"""Who may come in, how often, and what a browser may do with what it gets."""

from functools import partial
from typing import Any

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware

from bioqa.app.http.errors import documented
from bioqa.app.security.authentication import RequireKey
from bioqa.app.security.headers import SecurityHeaders
from bioqa.app.security.keyfile import KeyRing
from bioqa.app.security.origins import RefuseForeignForms, parse_origins
from bioqa.app.security.rates import Rate, RateLimit
from bioqa.app.settings import Settings

PROBES = frozenset({"/healthz", "/readyz"})
"""What machines ask to see whether the service is well: they have no key, and are never too many."""

METRICS = "/metrics"
STATIC = "/static/"
"""The page's script and style, which everybody may have: they are in every copy of this program."""

SENT = ["Authorization", "X-API-Key", "Content-Type", "X-Request-ID", "Idempotency-Key"]
SHOWN = ["X-Request-ID", "Retry-After", "RateLimit", "RateLimit-Policy", "Location", "WWW-Authenticate"]


def guard(app: FastAPI, settings: Settings) -> None:
    """Put the guards before ``app``. Raises BioqaError if the file of keys or an origin cannot be used."""
    # Each one added stands before those added earlier.
    rate = Rate(settings.rate_per_minute, settings.rate_burst) if settings.rate_per_minute else None
    if rate or settings.api_keys_file:
        app.add_middleware(RateLimit, default=rate, is_open=_is_unlimited)
    if settings.api_keys_file:
        keys = KeyRing(settings.api_keys_file)
        app.add_middleware(RequireKey, keys=keys, is_open=partial(_needs_no_key, settings))
    origins = parse_origins(settings.cors_origins or "")
    app.add_middleware(RefuseForeignForms, origins=origins)
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=SENT,
            expose_headers=SHOWN,
        )


def harden(app: FastAPI, settings: Settings) -> None:
    """Tell browsers what they may do with each answer; what is a page then must be one by now."""
    app.add_middleware(SecurityHeaders, private=settings.api_keys_file is not None)


def _needs_no_key(settings: Settings, path: str) -> bool:
    return path in PROBES or path.startswith(STATIC) or (path == METRICS and settings.metrics == "open")


def _is_unlimited(path: str) -> bool:
    return path in PROBES or path.startswith(STATIC) or path == METRICS


SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key."},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "An API key."},
    "basic": {
        "type": "http",
        "scheme": "basic",
        "description": "For browsers: any name, the key as password.",
    },
}


def describe(schema: dict[str, Any], settings: Settings) -> None:
    """Say in an OpenAPI description how to come in, and how one is refused."""
    if settings.api_keys_file:
        schema["components"]["securitySchemes"] = SCHEMES
    limited = settings.api_keys_file or settings.rate_per_minute
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            if settings.api_keys_file and not _needs_no_key(settings, path):
                operation["security"] = [{name: []} for name in SCHEMES]
                operation["responses"] |= _texts(documented(401))
            if limited and not _is_unlimited(path):
                operation["responses"] |= _texts(documented(429))


def _texts(responses: dict[int | str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {str(status): response for status, response in responses.items()}
