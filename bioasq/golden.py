"""A lenient reader of golden files: irregularities are tolerated and counted.

System files are read the same way, so that an evaluation does not depend on who wrote a file.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from bioqa.bioasq.domain import PUBMED_URL, Question, Response, Snippet
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import has_lone_surrogate, show

TYPES = ("yesno", "factoid", "list", "summary")
SNIPPET_KEYS = (
    "document",
    "text",
    "beginSection",
    "endSection",
    "offsetInBeginSection",
    "offsetInEndSection",
)


class Irregularity(StrEnum):
    """A violation of the format that the reader tolerates."""

    DUPLICATE_QUESTION = "question id seen before"
    NO_BODY = "question without body"
    NO_TYPE = "question without one of the four types"
    NULL_LIST = "null in place of a list"
    MISSING_LIST = "documents or snippets missing"
    NULL_ITEM = "null in a list, left out"
    DUPLICATE_DOCUMENT = "document listed before"
    DOCUMENT_FORM = "document not in the form of BioASQ's PubMed URLs"
    DUPLICATE_SNIPPET = "snippet listed before"
    UNLISTED_DOCUMENT = "snippet whose document is not among the documents"
    UNKNOWN_KEY = "snippet with an unknown key"
    NO_TEXT = "snippet without text"
    OUTER_SPACE = "snippet text starts or ends with white space"
    LINE_BREAK = "line break in snippet text"
    LONE_SURROGATE = "lone surrogate in snippet text"
    SECTION_NAME = "section neither title nor abstract (sections.0 is an older name of abstract)"
    TWO_SECTIONS = "snippet begins and ends in different sections"
    NEGATIVE_OFFSET = "negative offset"
    END_BEFORE_BEGIN = "snippet ends before it begins"
    LENGTH = "snippet text as long as its offsets do not say"


@dataclass(frozen=True, slots=True)
class Golden:
    """A file's responses, unchanged and in order, and how often each irregularity occurs."""

    responses: tuple[Response, ...]
    irregularities: Mapping[str, int]


def parse_golden(data: object, name: str) -> Golden:
    """Read a parsed golden or system file.

    Raises BioqaError, naming file (``name``), question and field, for what cannot be tolerated: a value of
    the wrong type, a question without id, a snippet without document or offsets.
    """
    irregularities: Counter[Irregularity] = Counter()
    responses = []
    seen: set[str] = set()
    for where, entry in question_entries(data, name):
        response = _response(entry, where, irregularities)
        irregularities[Irregularity.DUPLICATE_QUESTION] += response.question.id in seen
        seen.add(response.question.id)
        responses.append(response)
    counted = {kind.value: irregularities[kind] for kind in Irregularity if irregularities[kind]}
    return Golden(tuple(responses), MappingProxyType(counted))


def question_entries(data: object, name: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield each question's JSON object, with its location for error messages.

    Raises BioqaError if the file is no object with a list of questions, or an entry is no object.
    """
    if not isinstance(data, dict):
        raise BioqaError(f"{name}: must be an object with the key questions, not {show(data)}")
    entries = data.get("questions")
    if not isinstance(entries, list):
        state = show(entries) if "questions" in data else "missing"
        raise BioqaError(f"{name}: questions: must be a list, but is {state}")
    for position, entry in enumerate(entries, start=1):
        where = f"{name}: question number {position}"
        if not isinstance(entry, dict):
            raise BioqaError(f"{where}: must be an object, not {show(entry)}")
        yield f"{where} (id {show(entry.get('id'))})", entry


def text_field(entry: Mapping[str, object], key: str, where: str) -> str | None:
    """Return a string field, or None if it is missing or null; raises BioqaError for any other type."""
    value = entry.get(key)
    if value is None or isinstance(value, str):
        return value
    raise BioqaError(f"{where}: {key}: must be a string, not {show(value)}")


def id_field(entry: Mapping[str, object], where: str) -> str:
    """Return a question's id; raises BioqaError unless it is a string that is not empty."""
    identifier = text_field(entry, "id", where)
    if not identifier:
        raise BioqaError(f"{where}: id: must be a string that is not empty")
    return identifier


def _response(entry: Mapping[str, object], where: str, irregularities: Counter[Irregularity]) -> Response:
    body = text_field(entry, "body", where)
    kind = text_field(entry, "type", where)
    irregularities[Irregularity.NO_BODY] += not body
    irregularities[Irregularity.NO_TYPE] += kind not in TYPES
    documents = tuple(_documents(entry, where, irregularities))
    listed = set(documents)
    snippets: list[Snippet] = []
    seen: set[Snippet] = set()
    for position, item in _items(entry, "snippets", where, irregularities):
        snippet = _snippet(item, f"{where}: snippets[{position}]", irregularities)
        irregularities[Irregularity.UNLISTED_DOCUMENT] += snippet.document not in listed
        irregularities[Irregularity.DUPLICATE_SNIPPET] += snippet in seen
        seen.add(snippet)
        snippets.append(snippet)
    return Response(Question(id_field(entry, where), body or "", kind), documents, tuple(snippets))


def _documents(
    entry: Mapping[str, object], where: str, irregularities: Counter[Irregularity]
) -> Iterator[str]:
    seen: set[str] = set()
    for position, item in _items(entry, "documents", where, irregularities):
        if not isinstance(item, str):
            raise BioqaError(f"{where}: documents[{position}]: must be a string, not {show(item)}")
        irregularities[Irregularity.DUPLICATE_DOCUMENT] += item in seen
        irregularities[Irregularity.DOCUMENT_FORM] += not is_document_url(item)
        seen.add(item)
        yield item


def is_document_url(document: str) -> bool:
    """Whether the document is named in the only form that the official evaluator counts."""
    pmid = document.removeprefix(PUBMED_URL)
    return pmid != document and pmid.isascii() and pmid.isdigit() and not pmid.startswith("0")


def _items(
    entry: Mapping[str, object], key: str, where: str, irregularities: Counter[Irregularity]
) -> Iterator[tuple[int, object]]:
    """Yield a list's items with their positions, without nulls; nothing if the list is null or missing."""
    value = entry.get(key)
    if value is None:
        irregularities[Irregularity.NULL_LIST if key in entry else Irregularity.MISSING_LIST] += 1
        return
    if not isinstance(value, list):
        raise BioqaError(f"{where}: {key}: must be a list, not {show(value)}")
    for position, item in enumerate(value):
        if item is None:
            irregularities[Irregularity.NULL_ITEM] += 1
        else:
            yield position, item


def _snippet(item: object, where: str, irregularities: Counter[Irregularity]) -> Snippet:
    if not isinstance(item, dict):
        raise BioqaError(f"{where}: must be an object, not {show(item)}")
    document = text_field(item, "document", where)
    if document is None:
        raise BioqaError(f"{where}: document: is missing")
    snippet = Snippet(
        document=document,
        text=text_field(item, "text", where) or "",
        begin_section=text_field(item, "beginSection", where) or "",
        end_section=text_field(item, "endSection", where) or "",
        begin=_offset(item, "offsetInBeginSection", where),
        end=_offset(item, "offsetInEndSection", where),
    )
    irregularities[Irregularity.UNKNOWN_KEY] += not item.keys() <= set(SNIPPET_KEYS)
    irregularities.update(_snippet_irregularities(snippet))
    return snippet


def _offset(item: Mapping[str, object], key: str, where: str) -> int:
    value = item.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    state = show(value) if key in item else "missing"
    raise BioqaError(f"{where}: {key}: must be an integer, but is {state}")


def _snippet_irregularities(snippet: Snippet) -> Iterator[Irregularity]:
    text = snippet.text
    checks = {
        Irregularity.NO_TEXT: not text,
        Irregularity.OUTER_SPACE: text != text.strip(),
        Irregularity.LINE_BREAK: "\n" in text or "\r" in text,
        Irregularity.LONE_SURROGATE: has_lone_surrogate(text),
        Irregularity.SECTION_NAME: not {snippet.begin_section, snippet.end_section} <= {"title", "abstract"},
        Irregularity.TWO_SECTIONS: snippet.begin_section != snippet.end_section,
        Irregularity.NEGATIVE_OFFSET: min(snippet.begin, snippet.end) < 0,
        Irregularity.END_BEFORE_BEGIN: snippet.end < snippet.begin,
        Irregularity.LENGTH: snippet.begin <= snippet.end and snippet.end - snippet.begin != len(text),
    }
    return (kind for kind, holds in checks.items() if holds)
