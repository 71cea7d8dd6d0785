"""Other names of the same thing: lay words, British and American names of drugs, brand names.

The tables are files of the package: ``lay_words.tsv``, written for this project, and
``drug_names.tsv``, made by ``bench/drug_names.py``; their first lines name sources and licences.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

from bioqa.indexer.search.defined import long_key
from bioqa.indexer.search.questions.chunks import cut
from bioqa.system.errors import BioqaError

FILES = tuple(Path(__file__).with_name(name) for name in ("lay_words.tsv", "drug_names.tsv"))
"""Where both have a term, the first one counts."""

LONGEST_TERM = 60
"""Characters of a term."""

LONGEST_WORDS = 6
"""Words of a term."""

MOST_OTHERS = 4
"""Other names of a term."""

Way = Literal["same", "name", "lay"]
"""How a term relates to the others of its line: two names of one thing, each found by the other; a name of
it, found this way only, such as a brand; a lay word for it, which says more or less the same."""

_WAYS: Mapping[str, Way] = {way: way for way in get_args(Way)}


class LayWordsError(BioqaError):
    """A table of names cannot be used."""


@dataclass(frozen=True, slots=True)
class Name:
    """A term that people use, and what citations may call it."""

    term: str
    others: tuple[str, ...]
    lay: bool = False
    context: frozenset[str] = frozenset()
    """Keys of words. An ambiguous term means this only beside one of them; empty if it always does."""

    def fits(self, keys: Iterable[str]) -> bool:
        """Whether it means this beside words with these keys."""
        return not self.context or not self.context.isdisjoint(keys)


Names = Mapping[str, Name]
"""By the key of the term."""


@dataclass(frozen=True, slots=True)
class _Line:
    term: str
    key: str
    way: Way
    others: dict[str, str]
    """By key."""
    context: frozenset[str]


def key_of(term: str) -> str:
    """The same for terms whose words differ in hyphens, spelling, number or possessive."""
    return " ".join(long_key(chunk.text) for chunk in cut(term))


@lru_cache(maxsize=1)
def known_names() -> Names:
    """The names of the package's tables, read once. Raises LayWordsError if a table is damaged."""
    return read(*FILES)


def read(*paths: Path) -> Names:
    """Read tables. Raises LayWordsError, naming the file and the line."""
    lines: dict[str, _Line] = {}
    for path in paths:
        lines = {line.key: line for line in _lines(path)} | lines
    same: dict[str, dict[str, str]] = {}
    for line in lines.values():
        if line.way == "same":
            group = {line.key: line.term} | line.others
            for key in group:
                same.setdefault(key, {}).update(group)
    names = {key: Name(group[key], _without(key, group)) for key, group in same.items()}
    for line in lines.values():
        if line.way == "lay":
            names[line.key] = Name(line.term, tuple(line.others.values()), lay=True, context=line.context)
        elif line.way == "name":
            # Calpol is acetaminophen, so it is paracetamol, too.
            groups = (same.get(key, {}) for key in line.others)
            others = line.others | {key: term for group in groups for key, term in group.items()}
            names[line.key] = Name(line.term, _without(line.key, others), context=line.context)
    return names


def _without(key: str, terms: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(term for other, term in terms.items() if other != key)[:MOST_OTHERS]


def _lines(path: Path) -> Iterator[_Line]:
    try:
        texts = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise LayWordsError(f"{path} cannot be read: {error}") from error
    numbers: dict[str, int] = {}
    for number, text in enumerate(texts, 1):
        if not text or text.startswith("#"):
            continue
        try:
            line = _line(text)
            first = numbers.setdefault(line.key, number)
            if first != number:
                raise ValueError(f"{line.term!r} is in line {first}, too")
        except ValueError as error:
            raise LayWordsError(f"{path}, line {number}: {error}") from error
        yield line


def _line(text: str) -> _Line:
    columns = text.split("\t")
    if len(columns) not in (3, 4):
        raise ValueError(f"{len(columns)} columns, not a term, a way, other terms and perhaps context")
    term, way, others, *context = columns
    if way not in _WAYS:
        raise ValueError(f"the way is {way!r}, not one of {', '.join(_WAYS)}")
    terms = [term, *others.split("; ")]
    keys = {_checked_key(term): term for term in terms}
    if len(keys) < len(terms):
        raise ValueError("a term stands twice in it")
    if len(terms) > MOST_OTHERS + 1:
        raise ValueError(f"{len(terms) - 1} other terms, more than {MOST_OTHERS}")
    key = next(iter(keys))
    del keys[key]
    return _Line(term, key, _WAYS[way], keys, frozenset(map(long_key, " ".join(context).split())))


def _checked_key(term: str) -> str:
    key = key_of(term)
    if not key or term != " ".join(term.split()):
        raise ValueError(f"{term!r} is no term")
    if len(term) > LONGEST_TERM or len(key.split()) > LONGEST_WORDS:
        raise ValueError(
            f"{term[:LONGEST_TERM]!r} is longer than {LONGEST_TERM} characters or {LONGEST_WORDS} words"
        )
    return key
