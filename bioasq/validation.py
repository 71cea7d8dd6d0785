"""Validation of submissions: all faults at once, those that the official site checks and more.

Beyond the site's own checks: duplicate ids, the form of documents, offsets, texts, section names, snippet
keys. Both lists of a question may be empty: some questions have no answer.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bioqa.bioasq.domain import MOST_DOCUMENTS, MOST_SNIPPETS, PUBMED_URL, Question
from bioqa.bioasq.golden import SNIPPET_KEYS, TYPES, is_document_url
from bioqa.system.jsonfile import has_lone_surrogate, shorten, show

MAX_OFFSET = 2**31 - 1  # the official tool reads offsets into 32 bits

Problem = tuple[str, str]
"""The path of a field, relative to the object being checked, and what is wrong with it."""

NO_UNICODE = "holds half a character (a lone surrogate), which UTF-8 cannot encode"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a submission.

    ``question`` is an id, ``question number N`` if it has none, or empty for a fault of the file as a whole.
    ``field`` is a path within the question, such as ``snippets[2].text``.
    """

    question: str
    field: str
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.question, self.field, self.message) if part)


class _SnippetSpan(NamedTuple):
    begin: int
    end: int
    position: int
    """Index among the question's snippets."""


def validate(data: object, testset: Sequence[Question] | None = None) -> list[Fault]:
    """Return all faults of a parsed submission, in file order, compared with its test set if one is given.

    Accepts any JSON value, and never raises.
    """
    return list(faults_of(data, testset))


def faults_of(data: object, testset: Sequence[Question] | None = None) -> Iterator[Fault]:
    """Yield the faults one by one: a hostile file may have more of them than fit into memory."""
    if not isinstance(data, dict):
        yield Fault("", "", f"must be an object with the key questions, not {show(data)}")
        return
    entries = data.get("questions")
    if not isinstance(entries, list):
        state = f"must be a list, not {show(entries)}" if "questions" in data else "is missing"
        yield Fault("", "questions", state)
        return
    expected = None if testset is None else {question.id: question for question in testset}
    if not entries and not expected:
        yield Fault("", "questions", "must hold at least one question")
    seen: set[str] = set()
    for position, entry in enumerate(entries, start=1):
        name = _name(entry, position)
        for field, message in _entry_faults(entry, seen, expected):
            yield Fault(name, field, message)
    if expected is not None:
        yield from _missing_faults(len(entries), seen, expected)


def _missing_faults(count: int, seen: set[str], expected: Mapping[str, Question]) -> Iterator[Fault]:
    if count != len(expected):
        yield Fault("", "questions", f"must be as many as in the test set, {len(expected)}, not {count}")
    for identifier in expected:
        if identifier not in seen:
            yield Fault(_encodable(identifier), "id", "is in the test set but not here")


def _name(entry: object, position: int) -> str:
    identifier = entry.get("id") if isinstance(entry, dict) else None
    if isinstance(identifier, str) and identifier:
        return _encodable(identifier)
    return f"question number {position}"


def _encodable(text: str) -> str:
    """Shorten ids and keys of the file and escape lone surrogates, so that messages can repeat them."""
    return shorten(text).encode(errors="backslashreplace").decode()


def _entry_faults(
    entry: object, seen: set[str], expected: Mapping[str, Question] | None
) -> Iterator[Problem]:
    if not isinstance(entry, dict):
        yield "", f"must be an object, not {show(entry)}"
        return
    yield from _id_faults(entry.get("id"), seen, expected)
    yield from _text_faults(entry, "body")
    yield from _text_faults(entry, "type")
    kind = entry.get("type")
    if isinstance(kind, str) and kind not in TYPES:
        yield "type", f"must be one of {', '.join(TYPES)}, not {show(kind)}"
    identifier = entry.get("id")
    if expected and isinstance(identifier, str) and identifier in expected:
        yield from _echo_faults(entry, expected[identifier])
    if "documents" not in entry and "snippets" not in entry:
        yield "documents", "is missing, and so is snippets: a question needs at least one of them"
    yield from _document_faults(entry)
    yield from _snippets_faults(entry)


def _id_faults(
    identifier: object, seen: set[str], expected: Mapping[str, Question] | None
) -> Iterator[Problem]:
    if not isinstance(identifier, str) or not identifier:
        yield "id", f"must be a string that is not empty, not {show(identifier)}"
        return
    if has_lone_surrogate(identifier):
        yield "id", NO_UNICODE
    if identifier in seen:
        yield "id", "duplicate question id"
    elif expected is not None and identifier not in expected:
        yield "id", "is not in the test set"
    seen.add(identifier)


def _text_faults(entry: Mapping[str, object], key: str) -> Iterator[Problem]:
    """Body and type may be missing, as the official tool ignores them; but null crashes it."""
    value = entry.get(key)
    if isinstance(value, str):
        if has_lone_surrogate(value):
            yield key, NO_UNICODE
    elif key in entry:
        yield key, f"must be a string, not {show(value)}"


def _echo_faults(entry: Mapping[str, object], question: Question) -> Iterator[Problem]:
    for key, expected in (("body", question.body), ("type", question.type)):
        value = entry.get(key)
        if isinstance(value, str) and expected is not None and value != expected:
            yield key, f"must be the test set's, {show(expected)}, not {show(value)}"


def _list_faults(entry: Mapping[str, object], key: str, most: int) -> Iterator[Problem]:
    value = entry.get(key)
    if isinstance(value, list):
        if len(value) > most:
            yield key, f"must hold at most {most}, not {len(value)}"
    elif key in entry:
        yield key, f"must be a list, which may be empty, not {show(value)}"


def _document_faults(entry: Mapping[str, object]) -> Iterator[Problem]:
    yield from _list_faults(entry, "documents", MOST_DOCUMENTS)
    seen: set[str] = set()
    for position, document in enumerate(_items(entry, "documents")):
        field = f"documents[{position}]"
        yield from _url_faults(field, document)
        if isinstance(document, str):
            if document in seen:
                yield field, f"duplicate document {show(document)}"
            seen.add(document)


def _items(entry: Mapping[str, object], key: str) -> list[object]:
    value = entry.get(key)
    return value if isinstance(value, list) else []


def _url_faults(field: str, document: object) -> Iterator[Problem]:
    if not isinstance(document, str):
        yield field, f"must be a string, not {show(document)}"
    elif not is_document_url(document):
        yield field, f"must be {PUBMED_URL} and a PMID, not {show(document)}"


def _snippets_faults(entry: Mapping[str, object]) -> Iterator[Problem]:
    yield from _list_faults(entry, "snippets", MOST_SNIPPETS)
    documents = entry.get("documents")
    listed = {item for item in documents if isinstance(item, str)} if isinstance(documents, list) else None
    spans: dict[tuple[str, str], list[_SnippetSpan]] = {}
    for position, snippet in enumerate(_items(entry, "snippets")):
        field = f"snippets[{position}]"
        if not isinstance(snippet, dict):
            yield field, f"must be an object, not {show(snippet)}"
            continue
        for key, message in _snippet_faults(snippet):
            yield f"{field}.{key}", message
        document, section, offsets = snippet.get("document"), snippet.get("beginSection"), _offsets(snippet)
        if isinstance(document, str):
            if listed is not None and document not in listed:
                yield f"{field}.document", f"is not among the question's documents: {show(document)}"
            if isinstance(section, str) and offsets and offsets[0] < offsets[1]:
                spans.setdefault((document, section), []).append(_SnippetSpan(*offsets, position))
    for group in spans.values():
        yield from _overlap_faults(group)


def _overlap_faults(spans: Sequence[_SnippetSpan]) -> Iterator[Problem]:
    """Report, once each, snippets that share characters with another of the same document and section.

    Adjacent snippets are allowed: sentences of neighbouring abstract parts have nothing between them.
    """
    last: _SnippetSpan | None = None  # of the snippets so far, the one that ends last
    for span in sorted(spans, key=lambda span: (span.begin, -span.end, span.position)):
        if last is not None and span.begin < last.end:
            first, second = sorted((span.position, last.position))
            relation = "repeats" if span[:2] == last[:2] else "overlaps with"
            yield f"snippets[{second}]", f"{relation} snippets[{first}]"
        if last is None or span.end > last.end:
            last = span


def _snippet_faults(snippet: Mapping[str, object]) -> Iterator[Problem]:
    for key in snippet:
        if key not in SNIPPET_KEYS:
            yield _encodable(key), "is an unknown key, which crashes the official tool"
    yield from ((key, "is missing") for key in SNIPPET_KEYS if key not in snippet)
    if "document" in snippet:
        yield from _url_faults("document", snippet["document"])
    for key in ("beginSection", "endSection"):
        if key in snippet and snippet[key] not in ("title", "abstract"):
            yield key, f"must be title or abstract, not {show(snippet[key])}"
    begin, end = snippet.get("beginSection"), snippet.get("endSection")
    if isinstance(begin, str) and isinstance(end, str) and begin != end:
        yield "endSection", f"must be the same as beginSection, {show(begin)}, not {show(end)}"
    yield from _text_faults(snippet, "text")
    if snippet.get("text") == "":
        yield "text", "must not be empty"
    for key in ("offsetInBeginSection", "offsetInEndSection"):
        if key in snippet:
            yield from _offset_faults(key, snippet[key])
    yield from _span_faults(snippet)


def _offset_faults(key: str, value: object) -> Iterator[Problem]:
    if not _is_integer(value):
        yield key, f"must be an integer, not {show(value)}"
    elif isinstance(value, int) and not 0 <= value <= MAX_OFFSET:
        yield key, f"must be from 0 to {MAX_OFFSET}, not {show(value)}"


def _span_faults(snippet: Mapping[str, object]) -> Iterator[Problem]:
    offsets, text = _offsets(snippet), snippet.get("text")
    if offsets is None:
        return
    begin, end = offsets
    if end <= begin:
        message = f"must be greater than offsetInBeginSection, {show(begin)}, not {show(end)}"
        yield "offsetInEndSection", message
    elif isinstance(text, str) and end - begin != len(text):
        message = f"has {len(text)} characters, but the offsets span {show(end - begin)}"
        yield "text", f"{message} (the end is exclusive)"


def _offsets(snippet: Mapping[str, object]) -> tuple[int, int] | None:
    begin, end = snippet.get("offsetInBeginSection"), snippet.get("offsetInEndSection")
    if isinstance(begin, int) and isinstance(end, int) and _is_integer(begin) and _is_integer(end):
        return begin, end
    return None


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
