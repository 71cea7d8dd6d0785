"""What somebody means who types into a search field: an article, a query with tags and operators, a question.

A question is taken as it is. Syntax is recognised only by signs that no question has: a field tag of PubMed
at a word, operators in capitals in what is no sentence, or quotation marks around everything.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from bioqa.indexer.search.filtering.conditions import (
    AllOf,
    AnyOf,
    Condition,
    HasBeginning,
    HasKey,
    HasPhrase,
    HasPmid,
    HasWords,
    Place,
    Published,
    Without,
)
from bioqa.indexer.search.filtering.keys import KeyKind
from bioqa.indexer.search.filtering.languages import is_language
from bioqa.indexer.search.filtering.truncation import (
    LEAST,
    LONGEST,
    MOST,
    is_truncated,
    is_unmistakable,
    pieces,
)
from bioqa.indexer.search.notation.identifiers import Identifier, identifiers
from bioqa.indexer.search.notation.named_filters import CHECK_TAGS, FILTER_NAMES, begin_of_last, find_filter
from bioqa.indexer.search.notation.syntax import (
    RECENT,
    TAGS,
    UNSUPPORTED,
    Beside,
    Field,
    Joined,
    Negated,
    Node,
    SyntaxFault,
    TaggedTerm,
    Token,
    parse,
    tokens,
)
from bioqa.indexer.search.records import PMID

Mode = Literal["auto", "always", "never"]
"""Whether syntax is looked for: where it shows itself, or also where it does not, so that whatever is wrong
with a query is reported, or not at all."""


@dataclass(frozen=True, slots=True)
class Interpretation:
    """What is searched for instead of the text as it was typed."""

    words: str
    """The question: what is ranked. Empty if there are only restrictions."""
    restriction: Condition | None = None
    identifiers: tuple[Identifier, ...] = ()
    """The articles that are named; nothing else was typed then."""
    from_tags: bool = False
    """Whether the words are those of the restriction, because none stand without a tag: what is found is
    what the restriction lets pass, and the words order it."""

    @property
    def perhaps_words(self) -> bool:
        """Whether the words are to be searched for if no such article is in the index."""
        return bool(self.identifiers) and all(identifier.bare for identifier in self.identifiers)


def interpret(text: str, mode: Mode = "auto") -> Interpretation | None:
    """Interpret what was typed; None for a question that is to be taken as it is.

    Raises SyntaxFault for a query that cannot be read.
    """
    if mode == "never":
        return None
    if named := identifiers(text):
        return Interpretation("", AnyOf(tuple(map(_is_article, named))), named)
    if mode == "auto" and not has_syntax(text):
        return None
    return _QueryReader(text).interpretation()


def _is_article(identifier: Identifier) -> Condition:
    if identifier.kind == "pmid":
        return HasPmid(int(identifier.value))
    return HasKey(KeyKind.DOI if identifier.kind == "doi" else KeyKind.PMCID, identifier.value)


# Whether there is any syntax

_ASKING = re.compile(
    r"""\W*(?:who|whom|whose|what|which|when|where|why|how|am|is|are|was|were|do|does|did|can|could|shall
    |should|will|would|may|might|must|has|have|had|list|name|describe|explain|give|tell|please|define)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_ENDED = re.compile(r"""[.?!…]["'”’)\]]*\s*$""")
_SENTENCES = re.compile(r"\w{3}[.?!]\s+[^\W\d_]")
LONGEST_QUERY = 2000
"""Without any tag, a text of more characters is one that was pasted."""


def has_syntax(text: str) -> bool:
    """Whether a text is written in the query language."""
    try:
        all_tokens = [*tokens(text)]
    except SyntaxFault:
        # A mark of inches or seconds, perhaps; with a tag it is a phrase that was not closed.
        all_tokens = [*tokens(text.replace('"', " ").replace("“", " ").replace("”", " "))]
    asking = bool(_ASKING.match(text) or _ENDED.search(text) or _SENTENCES.search(text))
    if any(_is_tag(text, token, asking) for token in all_tokens):
        return True
    if asking or len(text) > LONGEST_QUERY:
        return False
    if any(token.kind == "word" and is_unmistakable(token.text) for token in all_tokens):
        return True
    if len(all_tokens) == 1:
        return all_tokens[0].kind == "phrase"
    # In a text in capitals, AND is a word like the others.
    if text.upper() == text:
        return False
    # In small letters "and" is a word, also behind brackets.
    written = [token for token in all_tokens if token.kind != "operator" or text[token.begin].isupper()]
    return any(map(_joins, written, written[1:], written[2:]))


def _joins(left: Token, token: Token, right: Token) -> bool:
    """Whether a token is an operator between what it can join: OR in brackets is an odds ratio."""
    return (
        token.kind == "operator" and left.kind not in ("(", "operator", ":") and right.kind not in (")", ":")
    )


_LIKE_TAG = re.compile(r"[A-Za-z][a-z0-9 /:~_-]+")
"""What in brackets behind a word is taken for a tag, and refused if there is none: asthma[titel]."""


def _is_tag(text: str, token: Token, asking: bool) -> bool:
    name = " ".join(token.text.lower().split())
    if token.kind != "tag" or token.begin == 0:
        return False
    # "the left atrium [LA]" explains an abbreviation.
    abbreviation = token.text.isupper()
    beside = not text[token.begin - 1].isspace()
    if name in UNSUPPORTED:  # refused when the query is read, not taken for a word
        return beside and not abbreviation
    if name not in TAGS:
        return beside and not abbreviation and not asking and bool(_LIKE_TAG.fullmatch(token.text))
    return beside and not abbreviation if asking else beside or not abbreviation


# What the syntax means

_DATE = re.compile("([0-9]{4})(?:[/-]([0-9]{1,2})(?:[/-]([0-9]{1,2}))?)?")
_LAST_YEAR = 9998
_KINDS = {
    Field.AUTHOR: KeyKind.AUTHOR,
    Field.FIRST_AUTHOR: KeyKind.FIRST_AUTHOR,
    Field.JOURNAL: KeyKind.JOURNAL,
    Field.HEADING: KeyKind.HEADING,
    Field.HEADING_ALONE: KeyKind.HEADING,
    Field.MAJOR_HEADING: KeyKind.MAJOR_HEADING,
    Field.MAJOR_HEADING_ALONE: KeyKind.MAJOR_HEADING,
    Field.TYPE: KeyKind.TYPE,
    Field.DOI: KeyKind.DOI,
}
_FREE = (None, Field.ANY)
_NAMED = {*_KINDS} - {Field.DOI}


def _place(term: TaggedTerm) -> Place:
    return "title" if term.field is Field.TITLE else "text"


class _QueryReader:
    """Turns a tree into the question and the restriction."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._truncated = 0

    def interpretation(self) -> Interpretation:
        tree = parse(self._text)
        words = " ".join(_free_words(tree))
        conditions = [*self._conditions(tree)]
        if not conditions:
            return Interpretation(words)
        restriction = conditions[0] if len(conditions) == 1 else AllOf(tuple(conditions))
        tagged = "" if words else " ".join(_tagged_words(tree))
        return Interpretation(words or tagged, restriction, from_tags=bool(tagged))

    def _conditions(self, tree: Node) -> Iterator[Condition]:
        """The conditions of the query as a whole. Words are what is asked, and documents may lack some of
        them, unless somebody wrote AND between words."""
        operands = [*_operands(tree)]
        several = sum(not negated and any(_free_words(operand)) for operand, negated in operands) > 1
        for operand, negated in operands:
            if negated:
                yield Without(self._condition(operand))
                continue
            apart = isinstance(operand, Beside) and not all(map(_is_identifier, operand.items))
            for item in operand.items if isinstance(operand, Beside) and apart else (operand,):
                if several or not _is_free(item):
                    yield self._condition(item)
                elif isinstance(item, TaggedTerm):
                    yield from self._beginnings(item)

    def _condition(self, node: Node) -> Condition:
        match node:
            case TaggedTerm():
                return self._of_term(node)
            case Negated():
                return Without(self._condition(node.part))
            case Beside():
                # No article has two identifiers: a list of them means any.
                join = AnyOf if all(map(_is_identifier, node.items)) else AllOf
                return join(tuple(map(self._condition, node.items)))
            case Joined(operator="OR"):
                return AnyOf(tuple(map(self._condition, _alternatives(node))))
            case Joined():
                return AllOf(
                    tuple(
                        Without(self._condition(operand)) if negated else self._condition(operand)
                        for operand, negated in _operands(node)
                    )
                )

    def _of_term(self, term: TaggedTerm) -> Condition:
        field, text = term.field, term.text
        if field in _FREE or field in (Field.TITLE, Field.TEXT):
            return self._of_words(term)
        if text.endswith("*") and field in _NAMED:
            raise self._fault("* ends words of [ti] and [tiab], or words without a tag", term)
        if field is Field.DATE:
            return self._read_published(term)
        if field is Field.PMID:
            if not PMID.fullmatch(text):
                raise self._fault("a PMID is a number", term)
            return HasPmid(int(text))
        if field is Field.PMCID:
            return HasKey(KeyKind.PMCID, text if text.lower().startswith("pmc") else f"PMC{text}")
        if field is Field.FILTER:
            condition = find_filter(text)
            if condition is None:
                raise self._fault(f"[filter] knows {', '.join(FILTER_NAMES)}, and languages", term)
            return condition
        if field is Field.LANGUAGE and not is_language(text):
            raise self._fault(f"no language is called {text}", term)
        if field is Field.LANGUAGE:
            return HasKey(KeyKind.LANGUAGE, text)
        return HasKey(_KINDS[field], text, with_narrower=field in (Field.HEADING, Field.MAJOR_HEADING))

    def _of_words(self, term: TaggedTerm) -> Condition:
        place = _place(term)
        beginnings = [*self._beginnings(term)]
        if term.quoted:
            if beginnings:
                raise self._fault(
                    '* cannot stand in a phrase: write breast AND feed*, not "breast feed*"', term
                )
            return HasPhrase(place, term.text)
        if not beginnings:
            return HasWords(place, term.text)
        whole = _without_truncated(term.text)
        parts = ([HasWords(place, whole)] if whole else []) + beginnings
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _beginnings(self, term: TaggedTerm) -> Iterator[Condition]:
        """The conditions of a term's truncated words."""
        for word in term.text.split():
            if not is_truncated(word):
                continue
            *before, beginning = pieces(word) or [""]
            if len(beginning) < LEAST:
                raise self._fault(f"before * stand {LEAST} letters at least", term)
            if len(beginning) > LONGEST:
                raise self._fault(f"before * stand {LONGEST} letters at most", term)
            self._truncated += 1
            if self._truncated > MOST:
                raise self._fault(f"a query may have {MOST} words with *", term)
            if before:
                yield HasWords(_place(term), " ".join(before))
            yield HasBeginning(_place(term), beginning)

    def _read_published(self, term: TaggedTerm) -> Published:
        if recent := RECENT.fullmatch(term.text):
            return Published(begin_of_last(int(recent[1]), recent[2].lower()))
        first, _, last = (term.text, "", term.until) if term.until else term.text.partition(":")
        after, end = self._days(first, term)
        if last:
            begin, end = self._days(last, term)
            if begin < after:
                raise self._fault("this range of dates ends before it begins", term)
        return Published(after, end)

    def _days(self, text: str, term: TaggedTerm) -> tuple[date, date]:
        """The first day, and the first one after it."""
        match = _DATE.fullmatch(text.strip())
        if match is None:
            raise self._fault("a date is written as 2015, 2015/3, 2015/3/14, 2015:2020 or last 5 years", term)
        year, month, day = (int(part) if part else None for part in match.groups())
        assert year is not None
        year = min(year, _LAST_YEAR)
        try:
            first = date(year, month or 1, day or 1)
        except ValueError as error:
            raise self._fault(f"there is no such day: {text.strip()}", term) from error
        if day:
            return first, first + timedelta(days=1)
        if month:
            return first, date(year + month // 12, month % 12 + 1, 1)
        return first, date(year + 1, 1, 1)

    def _fault(self, message: str, term: TaggedTerm) -> SyntaxFault:
        return SyntaxFault(message, self._text, term.begin)


def _operands(node: Node) -> Iterator[tuple[Node, bool]]:
    """What AND and NOT join, from left to right, and whether NOT stands before it."""
    if isinstance(node, Joined) and node.operator != "OR":
        yield from _operands(node.left)
        right, negated = node.right, node.operator == "NOT"
        while isinstance(right, Negated):
            right, negated = right.part, not negated
        yield right, negated
    elif isinstance(node, Negated):
        yield node.part, True
    else:
        yield node, False


def _alternatives(node: Node) -> Iterator[Node]:
    if isinstance(node, Joined) and node.operator == "OR":
        yield from _alternatives(node.left)
        yield node.right
    else:
        yield node


def _is_free(node: Node) -> bool:
    """Words without tag and quotation marks."""
    return isinstance(node, TaggedTerm) and node.field in _FREE and not node.quoted


def _is_identifier(node: Node) -> bool:
    return isinstance(node, TaggedTerm) and node.field in (Field.PMID, Field.PMCID, Field.DOI)


def _free_words(tree: Node) -> Iterator[str]:
    """Words and phrases without a tag, but those that must not occur."""
    free = (term.text for term in _wanted_terms(tree) if term.field in _FREE)
    return filter(None, map(_without_truncated, free))


_OF_TEXT = frozenset({Field.TITLE, Field.TEXT})
_OF_HEADINGS = frozenset({Field.HEADING, Field.HEADING_ALONE, Field.MAJOR_HEADING, Field.MAJOR_HEADING_ALONE})


def _tagged_words(tree: Node) -> list[str]:
    """The words that a query without free words can be ranked by: those of texts, else of headings."""
    terms = [*_wanted_terms(tree)]
    of_texts = [_without_truncated(term.text) for term in terms if term.field in _OF_TEXT]
    of_headings = [
        term.text.partition("/")[0]
        for term in terms
        if term.field in _OF_HEADINGS and term.text.lower() not in CHECK_TAGS
    ]
    return [*dict.fromkeys(filter(None, of_texts))] or [*dict.fromkeys(of_headings)]


def _wanted_terms(node: Node) -> Iterator[TaggedTerm]:
    """The terms of a query, except those behind NOT."""
    match node:
        case TaggedTerm():
            yield node
        case Beside():
            for item in node.items:
                yield from _wanted_terms(item)
        case Joined():
            yield from _wanted_terms(node.left)
            if node.operator != "NOT":
                yield from _wanted_terms(node.right)


def _without_truncated(text: str) -> str:
    """Half a word is nothing to rank by."""
    return " ".join(word for word in text.split() if not is_truncated(word))
