"""The query language: PubMed's field tags, phrases, and operators in capitals, parsed to a typed tree.

    query    = operand { ("AND" | "OR" | "NOT") operand }        from left to right, none binds tighter
    operand  = item { item }                                     side by side: AND
    item     = "NOT" item | "(" query ")" | term
    term     = words | words [tag] | "phrase" | "phrase" [tag] | date [dp] ":" date [dp]

A tag belongs to all the words before it, back to the last operator, bracket, phrase or tag; tags of dates,
languages and identifiers, whose values are one word, to the last word alone. A tree is data: nothing that
somebody writes reaches a search engine in any other form.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal, NamedTuple

from bioqa.system.errors import BioqaError

MAX_DEPTH = 20
"""Brackets in brackets, and AND, OR and NOT in turns. Elasticsearch takes 30 levels."""
MAX_TERMS = 200
MAX_PHRASE_WORDS = 50


class Field(StrEnum):
    """What a tag asks for; the value is the tag by which it is shown."""

    AUTHOR = "au"
    FIRST_AUTHOR = "1au"
    JOURNAL = "ta"
    TITLE = "ti"
    TEXT = "tiab"
    HEADING = "mh"
    HEADING_ALONE = "mh:noexp"
    MAJOR_HEADING = "majr"
    MAJOR_HEADING_ALONE = "majr:noexp"
    TYPE = "pt"
    DATE = "dp"
    LANGUAGE = "la"
    PMID = "pmid"
    PMCID = "pmc"
    DOI = "doi"
    FILTER = "filter"
    ANY = "all"


_OF_ONE_WORD = {Field.DATE, Field.LANGUAGE, Field.PMID, Field.PMCID, Field.DOI}

TAGS = {
    name: field
    for field, names in {
        Field.AUTHOR: ("au", "author", "auth", "fau", "full author name"),
        Field.FIRST_AUTHOR: ("1au", "first author", "author - first"),
        # A journal's ISSN and NLM's id are names of it, too.
        Field.JOURNAL: ("ta", "jour", "journal", "is", "issn", "jid", "nlmuid", "nlm unique id"),
        Field.TITLE: ("ti", "title"),
        Field.TEXT: ("tiab", "title/abstract", "tw", "text word", "text words"),
        Field.HEADING: ("mh", "mesh", "mesh terms"),
        Field.HEADING_ALONE: ("mh:noexp", "mesh:noexp", "mesh terms:noexp"),
        Field.MAJOR_HEADING: ("majr", "mesh major topic"),
        Field.MAJOR_HEADING_ALONE: ("majr:noexp", "mesh major topic:noexp"),
        Field.TYPE: ("pt", "ptyp", "publication type"),
        Field.DATE: ("dp", "pdat", "date - publication", "publication date"),
        Field.LANGUAGE: ("la", "lang", "language"),
        Field.PMID: ("pmid", "uid"),
        Field.PMCID: ("pmc", "pmcid"),
        Field.DOI: ("doi", "aid", "lid"),
        Field.FILTER: ("filter", "sb"),
        Field.ANY: ("all", "all fields"),
    }.items()
    for name in names
}
"""Tags as PubMed knows them, in lower case, and what they ask for."""

_LACKING = {
    "affiliations": "ad affl affiliation auid",
    "subheadings without their heading: write asthma/drug therapy[mh]": "sh subs",
    "substances; search for the name without a tag": "nm rn pa ps",
    "keywords of authors; search for them in [tiab]": "ot",
    "which author is the last one: [au] finds all": "lastau lr",
    "investigators and editors": "fir ir irad ed",
    "groups apart from authors: [au] finds them": "cn",
    "grants": "gr grnt",
    "days of entry or revision; there is [dp], the day of publication": "crdt dcom edat entrez mhda",
    "volumes, issues and pages": "ip pg vi vol volume issue pagination",
    "books and their publishers": "isbn pubn",
    "statements on interests": "cois",
    "ids of other owners": "oid",
    "titles in other languages": "tt",
}
UNSUPPORTED = {tag: lacking for lacking, tags in _LACKING.items() for tag in tags.split()}
"""PubMed's tags for what an index does not keep, with what that is."""

Operator = Literal["AND", "OR", "NOT"]
OPERATORS = ("AND", "OR", "NOT")

_SIGNS: dict[str, Operator] = {"&": "AND", "&&": "AND", "|": "OR", "||": "OR"}


class SyntaxFault(BioqaError):
    """A query that cannot be read. ``position`` counts characters from 0; the text shows it by a caret."""

    def __init__(self, message: str, query: str, position: int) -> None:
        super().__init__(message, query, position)
        self.message = message
        self.query = query
        self.position = position

    def __str__(self) -> str:
        return f"at character {self.position + 1}: {self.message}\n{point_at(self.query, self.position)}"


def point_at(query: str, position: int, width: int = 70) -> str:
    """The query, or what of it is near the position, and below it a caret at the position."""
    begin = max(0, min(position - width // 2, len(query) - width))
    shown = "".join(c if c.isprintable() else " " for c in query[begin : begin + width])
    before, after = ("…" if begin else ""), ("…" if begin + width < len(query) else "")
    return f"{before}{shown}{after}\n{' ' * (position - begin + len(before))}^"


@dataclass(frozen=True, slots=True)
class TaggedTerm:
    """Words, or a phrase, with what their tag asks for: None if they have no tag."""

    text: str
    field: Field | None
    quoted: bool
    begin: int
    """Where it stands in the query, in characters from 0."""
    until: str = ""
    """The end, if it is a range of dates."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Items that stand side by side, without an operator."""

    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Joined:
    operator: Operator
    left: "Node"
    right: "Node"


@dataclass(frozen=True, slots=True)
class Negated:
    part: "Node"


Node = TaggedTerm | Beside | Joined | Negated


class Token(NamedTuple):
    kind: Literal["word", "phrase", "tag", "operator", "(", ")", ":"]
    text: str
    begin: int
    end: int


_KNOWN = "|".join(re.escape(tag) for tag in sorted(TAGS, key=len, reverse=True))
_KNOWN_TAG = rf"(?<=[^\s\[\]])\[(?:{_KNOWN})\]"
_TAG = rf"(?:(?i:{_KNOWN_TAG})|\[[^\[\]]{{0,40}}\](?!(?!(?:AND|OR|NOT)\s)[\w,'’-]))"
"""A tag stands behind a word. Brackets with a letter behind them are part of one, as in benzo[a]pyrene,
unless it is a known tag: asthma[ti]AND child[ti]."""

_TOKEN = re.compile(
    rf"""(?P<space>\s+)
      | (?P<phrase>["“”][^"“”]*["“”])
      | (?P<quote>["“”])
      | (?P<bracket>[()])
      | (?P<tag>{_TAG})
      | (?P<colon>:(?![^\s"“”(]))
      | (?P<word>(?:(?!{_TAG})[^\s()"“”])+)""",
    re.VERBOSE,
)


_SEPARATOR = re.compile(r"&&?|\|\|?|[,;]+")
"""What may be glued to a word behind a tag, a bracket or a phrase."""

_CLOSING = ("]", ")", '"', "”")


def tokens(query: str) -> Iterator[Token]:
    """Split a query. Raises SyntaxFault for a quotation mark without its partner."""
    before = ""
    for match in _TOKEN.finditer(query):
        kind, text, (begin, end) = match.lastgroup, match[0], match.span()
        after, before = before, before if kind == "space" else text[-1]
        if kind == "word":
            yield from _split_behind(text, begin) if after in _CLOSING else (_word(text, text, begin),)
        elif kind == "phrase":
            yield Token("phrase", " ".join(text[1:-1].split()), begin, end)
        elif kind == "tag":
            yield Token("tag", text[1:-1], begin, end)
        elif kind == "bracket":
            yield Token("(" if text == "(" else ")", text, begin, end)
        elif kind == "colon":
            yield Token(":", text, begin, end)
        elif kind == "quote":
            raise SyntaxFault("this quotation mark has no partner", query, begin)


def _split_behind(text: str, begin: int) -> Iterator[Token]:
    """The tokens of a word behind a tag, a bracket or a phrase. Operators need no capitals there: "not" as a
    word would turn the meaning round. A comma joins as a blank does."""
    if separator := _SEPARATOR.match(text):
        sign, text = separator[0], text[separator.end() :]
        if sign in _SIGNS:
            yield Token("operator", _SIGNS[sign], begin, begin + len(sign))
        begin += len(sign)
    if text:
        yield _word(text, text.upper(), begin)


def _word(text: str, operator: str, begin: int) -> Token:
    if operator in OPERATORS:
        return Token("operator", operator, begin, begin + len(text))
    return Token("word", text, begin, begin + len(text))


def parse(query: str) -> Node:
    """Parse a query. Raises SyntaxFault, which says what is wrong and where."""
    node = _QueryParser(query).query()
    depth, begin = _deepest(node)
    if depth > MAX_DEPTH:
        raise SyntaxFault(f"AND, OR and NOT may take turns {MAX_DEPTH} times", query, begin)
    return node


def _deepest(node: Node) -> tuple[int, int]:
    """The depth of a tree, and where its deepest term stands. A chain of one operator is one level."""
    match node:
        case TaggedTerm():
            return 0, node.begin
        case Negated():
            depth, begin = _deepest(node.part)
            return depth + 1, begin
        case Beside():
            depth, begin = max(map(_deepest, node.items))
            return depth + 1, begin
        case Joined():
            depth, begin = _deepest(node.left)
            other, there = _deepest(node.right)
            return max((depth + _takes_turns(node), begin), (other + 1, there))


def _takes_turns(node: Joined) -> bool:
    """Whether another operator stands to its left. NOT goes with AND: both join what is asked for."""
    return not isinstance(node.left, Joined) or (node.left.operator == "OR") != (node.operator == "OR")


class _QueryParser:
    """Recursive descent, bounded in depth and in the number of terms."""

    def __init__(self, query: str) -> None:
        self._query = query
        self._tokens = [*tokens(query)]
        self._at = 0
        self._depth = 0
        self._terms = 0

    def query(self) -> Node:
        node = self._operands()
        if token := self._next():
            assert token.kind == ")"
            raise self._fault("this bracket closes none", token.begin)
        return node

    def _operands(self) -> Node:
        node = self._operand()
        while (token := self._next()) and token.kind == "operator":
            self._at += 1
            operator: Operator = token.text  # type: ignore[assignment]  # tokens yields no others
            if operator == "AND" and (after := self._next()) and after.text == "NOT":
                self._at += 1
                operator = "NOT"
            node = Joined(operator, node, self._operand())
        return node

    def _operand(self) -> Node:
        """Items side by side, of which there must be one."""
        items: list[Node] = []
        while (token := self._next()) and token.kind != ")":
            if token.kind == "operator" and (items or token.text != "NOT"):
                break
            items += self._item(token)
        if not items:
            raise self._missing()
        return items[0] if len(items) == 1 else Beside(tuple(items))

    def _item(self, token: Token) -> list[Node]:
        if token.kind == "operator":
            self._at += 1
            with_not = self._parse_nested(token, self._parse_negation)
            return [Negated(with_not)]
        if token.kind == "(":
            self._at += 1
            return [self._parse_nested(token, lambda: self._parse_bracket(token))]
        if token.kind == "tag":
            raise self._fault("there are no words before this tag", token.begin)
        if token.kind == ":":
            raise self._fault("a colon stands between two dates only, as in 2015:2020[dp]", token.begin)
        return self._phrase() if token.kind == "phrase" else self._words()

    def _parse_negation(self) -> Node:
        token = self._next()
        if token is None or token.kind == ")" or (token.kind == "operator" and token.text != "NOT"):
            raise self._missing()
        items = self._item(token)
        return items[0] if len(items) == 1 else Beside(tuple(items))

    def _parse_bracket(self, opening: Token) -> Node:
        node = self._operands()
        if self._next() is None:
            raise self._fault("this bracket is never closed", opening.begin)
        self._at += 1
        if (tag := self._next()) and tag.kind == "tag":
            raise self._fault("a tag belongs to words or to a phrase, not to brackets", tag.begin)
        return node

    def _parse_nested(self, token: Token, parse: Callable[[], Node]) -> Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._fault(f"brackets and NOT may be nested {MAX_DEPTH} deep", token.begin)
        node = parse()
        self._depth -= 1
        return node

    def _phrase(self) -> list[Node]:
        token = self._tokens[self._at]
        self._at += 1
        if not token.text:
            raise self._fault("there is nothing between these quotation marks", token.begin)
        if len(token.text.split()) > MAX_PHRASE_WORDS:
            raise self._fault(f"a phrase may have {MAX_PHRASE_WORDS} words", token.begin)
        field = self._tag()
        return [self._range(self._term(TaggedTerm(token.text, field, True, token.begin)))]

    def _words(self) -> list[Node]:
        begin = self._at
        while (token := self._next()) and token.kind == "word":
            self._at += 1
        words = self._tokens[begin : self._at]
        field = self._tag()
        tagged = words[-_count_tagged(words, field) :]
        if field is not None:
            self._refuse_operators(tagged)
        free = words[: len(words) - len(tagged)]
        nodes: list[Node] = [self._term(_term(free, None))] if free else []
        return [*nodes, self._range(self._term(_term(tagged, field)))]

    def _refuse_operators(self, words: Sequence[Token]) -> None:
        """Words before a tag belong to it, so that "or" among them would count for nothing."""
        for word in words:
            if (operator := word.text.upper()) in ("OR", "NOT"):
                raise self._fault(
                    f"write {operator} in capitals and a tag before it, or put the phrase in quotation marks",
                    word.begin,
                )

    def _tag(self) -> Field | None:
        token = self._next()
        if token is None or token.kind != "tag":
            return None
        self._at += 1
        name = " ".join(token.text.lower().split())
        if name in UNSUPPORTED:
            raise self._fault(f"[{token.text}]: an index does not keep {UNSUPPORTED[name]}", token.begin)
        if name not in TAGS:
            supported = ", ".join(f"[{field}]" for field in Field)
            raise self._fault(f"there is no tag [{token.text}]; there are {supported}", token.begin)
        return TAGS[name]

    def _range(self, term: TaggedTerm) -> TaggedTerm:
        """The term, with the second date of a range if there is one: "2015"[dp] : "2020"[dp]."""
        token = self._next()
        if term.field is not Field.DATE or token is None or token.kind != ":":
            return term
        self._at += 1
        last = self._next()
        if last is None or last.kind not in ("word", "phrase"):
            raise self._fault("after the colon a date is missing", token.end)
        self._at += 1
        if self._tag() is not Field.DATE:
            raise self._fault("the end of a range of dates has the tag [dp], too", last.begin)
        return replace(term, until=last.text)

    def _term(self, term: TaggedTerm) -> TaggedTerm:
        self._terms += 1
        if self._terms > MAX_TERMS:
            raise self._fault(f"a query may have {MAX_TERMS} terms", term.begin)
        return term

    def _next(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _missing(self) -> SyntaxFault:
        before = self._tokens[self._at - 1] if self._at else None
        token = self._next()
        if before and before.kind == "operator":
            return self._fault(f"after {before.text} something is missing", before.end)
        if token and token.kind == "operator":
            return self._fault(f"before {token.text} something is missing", token.begin)
        return self._fault("there is nothing to search for", token.begin if token else len(self._query))

    def _fault(self, message: str, position: int) -> SyntaxFault:
        return SyntaxFault(message, self._query, position)


RECENT = re.compile("last ([0-9]{1,3}) (day|month|year)s?", re.IGNORECASE)
"""A time before today, as [dp] has it."""


def _count_tagged(words: Sequence[Token], field: Field | None) -> int:
    """How many of these words, from the last one, a tag belongs to."""
    if field not in _OF_ONE_WORD:
        return len(words)
    recent = field is Field.DATE and RECENT.fullmatch(" ".join(word.text for word in words[-3:]))
    return 3 if recent else 1


def _term(words: list[Token], field: Field | None) -> TaggedTerm:
    return TaggedTerm(" ".join(word.text for word in words), field, False, words[0].begin)
