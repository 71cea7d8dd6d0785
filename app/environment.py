"""What environment variables hold, and what others put among ours."""

import difflib
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from bioqa.system.errors import BioqaError
from bioqa.system.home import expand_home
from bioqa.system.secret import Secret

PREFIX = "BIOQA_"

OTHER_VARIABLES = frozenset({"BIOQA_API_KEY", "BIOQA_MEMORY"})
"""Variables that are no settings: `bioqa mcp` alone reads the first, and the compose files the second."""

_LINK_NAME = re.compile(
    rf"{PREFIX}(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)"
)
_LINK_VALUE = re.compile(r"(tcp|udp|sctp)://\S+")


def is_service_link(name: str, value: str) -> bool:
    """Whether Kubernetes set the variable, for a service that is called ``bioqa`` or ``bioqa-…``.

    Such are ``BIOQA_SERVICE_HOST``, and ``BIOQA_PORT=tcp://10.96.0.12:8000``: nobody else gives a port so.
    """
    if name.startswith(PREFIX) and name.endswith("_PORT") and is_link_value(value):
        return True
    return _LINK_NAME.fullmatch(name) is not None


def is_link_value(value: object) -> bool:
    return isinstance(value, str) and _LINK_VALUE.fullmatch(value) is not None


def service_links(environ: Mapping[str, str]) -> list[str]:
    """The names of variables that are ignored because Kubernetes set them."""
    return sorted(name for name, value in environ.items() if is_service_link(name, value))


def unknown_variables(environ: Mapping[str, str], settings: Collection[str]) -> Iterator[str]:
    """A sentence on each variable that begins as settings do and is none, with the setting it resembles."""
    names = [name.upper() for name in settings]
    for name in sorted(set(environ) - {PREFIX + name for name in names} - OTHER_VARIABLES):
        if name.startswith(PREFIX) and not is_service_link(name, environ[name]):
            near = difflib.get_close_matches(name.removeprefix(PREFIX), names, n=1)
            yield f"{name} is no setting" + (f": is {PREFIX}{near[0]} meant?" if near else "")


def _text(value: object) -> object:
    """A path as text, in which ``~`` is a home."""
    return _expand(str(value)) if isinstance(value, str | Path) else value


def _expand(path: str) -> str:
    try:
        return expand_home(path)
    except BioqaError as error:
        raise ValueError(str(error)) from error


def _texts(value: object) -> object:
    if not isinstance(value, str):
        return value
    return ",".join(_expand(part.strip()) for part in value.split(","))


def key_text(text: str) -> str:
    """An API key without the white space around it, which files and shells add.

    Raises ValueError for a character that a header of HTTP cannot hold; the message does not show the key.
    """
    stripped = text.strip()
    for position, character in enumerate(stripped, start=1):
        if not "!" <= character <= "~":
            raise ValueError(f"character {position} is {_kind(character)}, which no key has")
    return stripped


def _key(value: object) -> object:
    return (Secret(text) if (text := key_text(value)) else None) if isinstance(value, str) else value


def _password(value: object) -> object:
    return Secret(_printable(value)) if isinstance(value, str) else value


def _user(value: str | None) -> str | None:
    if value is not None and ":" in _printable(value):
        raise ValueError("holds a colon, which separates user and password")
    return value


def _printable(text: str) -> str:
    """RFC 7617: users and passwords are any text but control characters."""
    for position, character in enumerate(text, start=1):
        if unicodedata.category(character) in ("Cc", "Cs"):
            raise ValueError(f"character {position} is {_kind(character)}")
    return text


def _kind(character: str) -> str:
    if character in "\r\n":
        return "a line break"
    match unicodedata.category(character):
        case "Cc":
            return "a control character"
        case "Cs":
            return "no UTF-8"
        case "Zs":
            return "white space"
    return "outside ASCII"


PathText = Annotated[str, BeforeValidator(_text)]
PathTexts = Annotated[str, BeforeValidator(_texts)]
"""Several, separated by commas."""
FilePath = Annotated[Path, BeforeValidator(_text)]
KeyText = Annotated[Secret | None, BeforeValidator(_key)]
Password = Annotated[Secret | None, BeforeValidator(_password)]
UserName = Annotated[str | None, AfterValidator(_user)]
