"""Keys and passwords: a type that nothing prints, and their removal from what other libraries print."""

import json
import re
from urllib.parse import quote

HIDDEN = "***"

MIN_LENGTH = 4
"""Shorter secrets are not searched for in texts: they would be found in ordinary words."""

_known: set[str] = set()


class Secret:
    """A key or password. Only ``reveal`` gives its text, for the place that sends it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text
        if len(text) >= MIN_LENGTH:
            _known.add(text)

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Secret({HIDDEN!r})"

    def __str__(self) -> str:
        return HIDDEN

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[type["Secret"], tuple[str]]:
        # Through the constructor, so that a process that receives it can remove it from its messages too.
        return Secret, (self._text,)


def scrub(text: str) -> str:
    """Replace every secret of this process in a text, also where it is escaped, by ``***``.

    Needed where the text is another library's: an exception may quote the header that was to be sent.
    """
    if not _known:
        return text
    forms = {form for secret in _known for form in _forms(secret)}
    # The longest first, because one secret can begin with another. Whole words only: a short password may be
    # part of an ordinary word, and replacing it there would give it away.
    pattern = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
    return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", HIDDEN, text)


def _forms(secret: str) -> set[str]:
    """The secret as text, in Python's and JSON's escapes, and as part of a URL."""
    escaped = secret.encode("unicode_escape").decode()
    return {
        secret,
        escaped,
        ascii(secret)[1:-1],
        json.dumps(secret)[1:-1],
        quote(secret, safe="", errors="replace"),
    }
