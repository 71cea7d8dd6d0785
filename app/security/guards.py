"""Authentication, rate limits, and what browsers may do: the middleware that applies them."""

from functools import partial
from typing import Any

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware

from bioqa.app.answers.service import Service
from bioqa.app.http.errors import document_problems
from bioqa.app.security.authentication import RequireKey
from bioqa.app.security.headers import SecurityHeaders
from bioqa.app.security.hosts import KnownHosts, parse_hosts
from bioqa.app.security.keyfile import KeyRing
from bioqa.app.security.origins import RefuseForeignForms, parse_origins
from bioqa.app.security.rates import Rate, RateLimit
from bioqa.app.settings import Settings
from bioqa.system.proxies import is_local

PROBES = frozenset({"/healthz", "/readyz"})
"""Probes of monitoring: they have no key, and no rate limit."""

METRICS = "/metrics"
STATIC = "/static/"
"""The pages' script and style, which are public anyway."""

SENT = ["Authorization", "X-API-Key", "Content-Type", "X-Request-ID", "Idempotency-Key"]
SHOWN = ["X-Request-ID", "Retry-After", "RateLimit", "RateLimit-Policy", "Location", "WWW-Authenticate"]


def guard(app: FastAPI, settings: Settings) -> None:
    """Add the guards to ``app``. Raises BioqaError if the file of keys or an origin is invalid."""
    # Middleware added later runs earlier.
    rate = Rate(settings.rate_per_minute, settings.rate_burst) if settings.rate_per_minute else None
    if rate or settings.api_keys_file:
        app.add_middleware(RateLimit, default=rate, is_open=_is_unlimited)
    if settings.api_keys_file:
        keys = KeyRing(settings.api_keys_file)
        service: Service = app.state.service
        service.watched.append(keys)
        app.add_middleware(RequireKey, keys=keys, is_open=partial(_needs_no_key, settings))
    hosts = parse_hosts(settings.allowed_hosts or "")
    # With keys a page of another site has none to send: a browser gives what it knows to one origin only.
    if hosts or not settings.api_keys_file:
        app.add_middleware(
            KnownHosts,
            allowed={settings.host, *hosts},
            only_here=is_local(settings.host),
            is_open=PROBES.__contains__,
        )
    origins = parse_origins(settings.cors_origins or "")
    app.add_middleware(RefuseForeignForms, origins=origins)
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "HEAD", "POST", "DELETE"],
            allow_headers=SENT,
            expose_headers=SHOWN,
        )


def harden(app: FastAPI, settings: Settings) -> None:
    """Add the headers for browsers. Call it last: by then, problems have become pages."""
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
    """Describe in OpenAPI how to authenticate, and the refusals."""
    if settings.api_keys_file:
        schema["components"]["securitySchemes"] = SCHEMES
    limited = settings.api_keys_file or settings.rate_per_minute
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            if settings.api_keys_file and not _needs_no_key(settings, path):
                operation["security"] = [{name: []} for name in SCHEMES]
                operation["responses"] |= _texts(document_problems(401))
            if limited and not _is_unlimited(path):
                operation["responses"] |= _texts(document_problems(429))


def _texts(responses: dict[int | str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {str(status): response for status, response in responses.items()}
