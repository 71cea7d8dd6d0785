"""The query language's parser."""

import pickle
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.indexer.search.notation.syntax import (
    MAX_DEPTH,
    MAX_TERMS,
    TAGS,
    Beside,
    Field,
    Joined,
    Negated,
    Node,
    SyntaxFault,
    TaggedTerm,
    parse,
    point_at,
)


def free(text: str, begin: int = 0) -> TaggedTerm:
    return TaggedTerm(text, None, False, begin)


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("heart failure", free("heart failure")),
        ("smith j[au]", TaggedTerm("smith j", Field.AUTHOR, False, 0)),
        ("smith j [AU]", TaggedTerm("smith j", Field.AUTHOR, False, 0)),
        ("x[Title/Abstract]", TaggedTerm("x", Field.TEXT, False, 0)),
        ('"heart  failure"[ti]', TaggedTerm("heart failure", Field.TITLE, True, 0)),
        ("“heart failure”", TaggedTerm("heart failure", None, True, 0)),
        ("stroke 2015[dp]", Beside((free("stroke"), TaggedTerm("2015", Field.DATE, False, 7)))),
        ('"2015"[dp] : "2020"[dp]', TaggedTerm("2015", Field.DATE, True, 0, "2020")),
        ("a OR b AND c", Joined("AND", Joined("OR", free("a"), free("b", 5)), free("c", 11))),
        ("a AND (b OR c)", Joined("AND", free("a"), Joined("OR", free("b", 7), free("c", 12)))),
        ("a AND NOT b", Joined("NOT", free("a"), free("b", 10))),
        ("NOT b", Negated(free("b", 4))),
        ("a and not b", free("a and not b")),
        ("benzo[a]pyrene [18F]FDG", free("benzo[a]pyrene [18F]FDG")),
        ("a:b", free("a:b")),
    ],
)
def test_queries_and_their_trees(query: str, tree: Node) -> None:
    assert parse(query) == tree


@pytest.mark.parametrize(
    ("query", "position", "word"),
    [
        ("", 0, "nothing"),
        ("()", 1, "nothing"),
        ("a AND", 5, "after AND"),
        ("OR a", 0, "before OR"),
        ("a OR AND b", 4, "after OR"),
        ("a NOT (b", 6, "never closed"),
        ("a) b", 1, "closes none"),
        ('a "b', 2, "partner"),
        ('""[ti]', 0, "nothing between"),
        ("x[foo]", 1, "[foo]"),
        ("[au]", 0, "before this tag"),
        ("(a)[ti]", 3, "not to brackets"),
        ("a : b", 2, "colon"),
        ('"2015"[dp] :', 12, "missing"),
        ('"2015"[dp] : 2020', 13, "[dp]"),
        ("NOT NOT", 7, "after NOT"),
    ],
)
def test_a_fault_is_pointed_at(query: str, position: int, word: str) -> None:
    with pytest.raises(SyntaxFault) as caught:
        parse(query)
    assert caught.value.position == position
    assert word in caught.value.message
    assert str(caught.value).splitlines()[-1] == " " * position + "^"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_of_a_long_query_the_place_is_shown() -> None:
    shown, caret = point_at("a" * 500 + ")" + "b" * 500, 500).splitlines()
    assert len(shown) < 80
    assert shown[caret.index("^")] == ")"


@pytest.mark.parametrize(
    "query",
    [
        "(" * 10_000,
        "(" * 5000 + "a" + ")" * 5000,
        "NOT " * 2500 + "a",
        "a AND " * 1500 + "a",
        " ".join(f"a{n} {('AND', 'OR')[n % 2]}" for n in range(1000)) + " a",
        "a[ti] " * 1600,
        "[" * 10_000,
        '"' * 10_000,
        "a[" * 5000,
        ": " * 5000,
        '"' + "a " * 4999,
    ],
)
def test_bombs_are_refused_at_once(query: str) -> None:
    begun = time.process_time()
    with suppress(SyntaxFault):
        parse(query)
    assert time.process_time() - begun < 1


def test_limits_are_reached_and_not_passed() -> None:
    terms = " AND ".join(["a"] * MAX_TERMS)
    parse(terms)
    with pytest.raises(SyntaxFault, match=f"{MAX_TERMS} terms"):
        parse(f"{terms} AND a")
    parse("(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH)
    with pytest.raises(SyntaxFault, match="deep"):
        parse("(" * (MAX_DEPTH + 1) + "a" + ")" * (MAX_DEPTH + 1))
    with pytest.raises(SyntaxFault, match="turns"):
        parse(" ".join(f"a {('AND', 'OR')[n % 2]}" for n in range(2 * MAX_DEPTH)) + " a")


PIECES = st.lists(
    st.sampled_from(
        ["a", "smith j", "[au]", "[dp]", "2015", "(", ")", " AND ", " OR ", " NOT ", '"', ":", " "]
    ),
    max_size=40,
)


@given(st.one_of(st.text(), PIECES.map("".join)))
def test_any_text_is_a_tree_or_a_fault(text: str) -> None:
    with suppress(SyntaxFault):
        tree = parse(text)
        assert pickle.loads(pickle.dumps(tree)) == tree


@given(PIECES.map("".join))
def test_a_fault_stands_in_the_text(text: str) -> None:
    try:
        parse(text)
    except SyntaxFault as fault:
        where, caret = fault.position, str(fault).splitlines()[-1]
    else:
        return
    assert 0 <= where <= len(text)
    assert caret.strip() == "^"


def test_every_tag_is_known_in_lower_case() -> None:
    assert all(name == name.lower() for name in TAGS)
    assert {field.value for field in Field} <= set(TAGS)
