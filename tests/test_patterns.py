"""No pattern of the program takes a time that grows with the square of a text's length.

That happens where two repeats without an end stand side by side and take the same characters: if what
follows them is missing, all ways to share n characters between them are tried. Times tell little on a busy
machine, so the patterns themselves are looked at.
"""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from re import _constants as op
from re import _parser
from typing import Any

import pytest

import bioqa

MANY = 200
"""A repeat of no more than that costs little, whatever stands beside it."""

ALPHABET = frozenset(map(chr, range(128))) | frozenset("äßαΩ中\u00a0\u2028\u0301’“”…①")
"""Characters that stand for all."""

Characters = frozenset[str]


@cache
def in_category(category: Any) -> Characters:
    sets = {
        op.CATEGORY_DIGIT: r"\d",
        op.CATEGORY_NOT_DIGIT: r"\D",
        op.CATEGORY_SPACE: r"\s",
        op.CATEGORY_NOT_SPACE: r"\S",
        op.CATEGORY_WORD: r"\w",
        op.CATEGORY_NOT_WORD: r"\W",
    }
    return frozenset(c for c in ALPHABET if re.fullmatch(sets[category], c))


def characters(kind: Any, value: Any) -> Characters:
    """What a node that stands for one character takes."""
    if kind is op.LITERAL:
        return frozenset({chr(value), chr(value).swapcase()}) & ALPHABET
    if kind is op.NOT_LITERAL:
        return ALPHABET - {chr(value)}
    if kind is op.ANY:
        return ALPHABET
    taken: set[str] = set()
    negated = False
    for kind_within, value_within in value:
        if kind_within is op.NEGATE:
            negated = True
        elif kind_within is op.RANGE:
            taken |= {c for c in ALPHABET if value_within[0] <= ord(c) <= value_within[1]}
        elif kind_within is op.CATEGORY:
            taken |= in_category(value_within)
        else:
            taken |= characters(kind_within, value_within)
    return ALPHABET - taken if negated else frozenset(taken)


class Step:
    """A part of a way through a pattern: the characters it takes, and whether it may take none, or many."""

    def __init__(self, taken: Characters, *, optional: bool, many: bool) -> None:
        self.taken, self.optional, self.many = taken, optional, many


def ways(nodes: Iterable[Any], most: int = 64) -> list[list[Step]]:
    """The ways through a pattern, alternatives taken apart, up to a bound."""
    found: list[list[Step]] = [[]]
    for kind, value in nodes:
        found = [way + further for way in found for further in of_node(kind, value)][:most]
    return found


def of_node(kind: Any, value: Any) -> list[list[Step]]:
    if kind in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
        return [[Step(characters(kind, value), optional=False, many=False)]]
    if kind is op.SUBPATTERN:
        return ways(value[3])
    if kind is op.ATOMIC_GROUP:
        return ways(value)
    if kind is op.BRANCH:
        return [way for branch in value[1] for way in ways(branch)]
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
        least, largest, body = value
        within = ways(body)
        if len(body) == 1 and body[0][0] in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
            taken = characters(*body[0])
            return [[Step(taken, optional=least == 0, many=largest > MANY)]]
        if all(len(way) == 1 for way in within):
            any_of = frozenset[str]().union(*(way[0].taken for way in within))
            return [[Step(any_of, optional=least == 0, many=largest > MANY)]]
        # Twice, so that what ends one round stands beside what begins the next.
        rounds = [way + way for way in within] if largest > 1 else within
        return rounds + ([[]] if least == 0 else [])
    if kind is op.POSSESSIVE_REPEAT:  # gives nothing back
        return [[]]
    return [[]]  # positions and what is only looked at


def fault(way: Sequence[Step]) -> bool:
    """Whether two repeats may share characters, and something behind them may be missing."""
    for number, first in enumerate(way):
        if not first.many:
            continue
        between: list[Characters] = []
        for other_number in range(number + 1, len(way)):
            other = way[other_number]
            both = first.taken & other.taken
            # What is between must be in the reach of both, or they cannot take it for each other.
            reached = all(both & step for step in between)
            behind = any(not step.optional for step in way[other_number + 1 :])
            if other.many and both and reached and behind:
                return True
            if not other.optional:
                between.append(other.taken)
    return False


def quadratic(pattern: str | bytes, flags: int = 0) -> bool:
    text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
    return any(map(fault, ways(_parser.parse(text, flags & ~re.LOCALE))))


@pytest.mark.parametrize(
    "pattern",
    [r"pmid\s*:?\s*[0-9]", r"\s*\s*x", r"a.*b.*c", r"(?:\s+,?)+x", r"(a|\s)*(b|\s*)x", r"[^>]*\w+>"],
)
def test_such_patterns_are_recognised(pattern: str) -> None:
    assert quadratic(pattern)


@pytest.mark.parametrize(
    "pattern", [r"pmid(?:\s*:)?\s*[0-9]", r"\s*x\s*y", r"\w+\s+\w+x", r"a{1,9}a{1,9}b", r"\s+", r"(?:a|b)+c"]
)
def test_others_are_not(pattern: str) -> None:
    assert not quadratic(pattern)


def modules() -> Iterator[Any]:
    for room in ("system", "bioasq", "indexer", "models", "app"):
        package = importlib.import_module(f"bioqa.{room}")
        yield package
        for module in pkgutil.walk_packages(package.__path__, f"bioqa.{room}."):
            if not module.name.endswith("__main__"):
                yield importlib.import_module(module.name)


def compiled() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """The patterns in the names of modules and classes, and in what these hold."""
    for module in modules():
        for name, value in [*vars(module).items()]:
            held = [value]
            if isinstance(value, type) and value.__module__ == module.__name__:
                held = [*vars(value).values()]
            elif isinstance(value, dict):
                held = [*value.values()]
            elif isinstance(value, list | tuple):
                held = [*value]
            yield from ((f"{module.__name__}.{name}", each) for each in held if isinstance(each, re.Pattern))


CALLS = {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}


def written() -> Iterator[tuple[str, str]]:
    """The patterns that functions have as literals."""
    for folder in Path(bioqa.__file__).parent.iterdir():
        for file in [folder] if folder.suffix == ".py" else sorted(folder.rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and node.func.attr in CALLS
                    and isinstance(node.func.value, ast.Name)
                    and node.func.value.id == "re"
                    and node.args
                    and isinstance(node.args[0], ast.Constant)
                    and isinstance(node.args[0].value, str)
                ):
                    yield f"{file.name}:{node.lineno}", node.args[0].value


def test_no_pattern_of_the_program_is_one() -> None:
    patterns = {(where, pattern.pattern, pattern.flags) for where, pattern in compiled()}
    literals = {(where, text, 0) for where, text in written()}
    assert len(patterns) > 50
    assert len(literals) > 10
    # Names such as re.VERBOSE are part of compiled ones; a literal with flags is among those, too.
    faults = sorted(
        f"{where}: {text!r}" for where, text, flags in patterns | literals if quadratic(text, flags)
    )
    assert faults == []
