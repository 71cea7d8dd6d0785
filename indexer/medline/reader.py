"""Reading MEDLINE and PubMed XML files, plain or gzip, as a stream of upserts and deletions.

The root is PubmedArticleSet or the older MedlineCitationSet. From a record are taken:

- Text: all text nodes below the element, inside markup (``<i>``, ``<sub>``, MathML) or not, concatenated;
  then each run of XML white space (space, tab, CR, LF) becomes one space. U+00A0, U+2009 and the like are
  content: offsets count them.
- Title: ArticleTitle. If it is empty or NLM's "[Not Available].", VernacularTitle, if there is one.
- Abstract: the AbstractTexts of Abstract, each as ``LABEL: text`` if it has a label (NlmCategory is not
  used), joined by ``joiner``. If they have no text, the first English OtherAbstract (English if it has no
  Language), so that the record can be found by the text that PubMed shows. Otherwise OtherAbstract is not
  used, because BioASQ's offsets never refer to it. If there is none of these, the abstract is "".
- Markup: positions of ``<sup>``, ``<sub>``, ``<i>`` and ``<b>`` in these texts, beside them.
- Everything else: see ``bioqa.indexer.medline.metadata``.
- PMID and version: the citation's own PMID element, never those of comments or references; the default
  version is 1.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import etree

from bioqa.bioasq.domain import Document, Part
from bioqa.bioasq.metadata import Markup, metadata_json
from bioqa.indexer.medline.events import Delete, Event, Upsert
from bioqa.indexer.medline.marked import TitleMark, marked_text_of
from bioqa.indexer.medline.metadata import metadata_of
from bioqa.indexer.medline.sentences import sentences_of
from bioqa.indexer.medline.xmlfile import Children, child, children, collapse, first, records, text_of
from bioqa.indexer.medline.xmlfile import MedlineError as MedlineError

NOT_AVAILABLE = "[Not Available]."

Abstract = tuple[str, tuple[Part, ...], tuple[Markup, ...]]

_PMID = re.compile(r"[1-9][0-9]{0,17}")


@dataclass(frozen=True, slots=True)
class RejectedRecord:
    """A record that cannot be used."""

    line: int
    """Line on which the record begins, counted from 1."""
    reason: str


class MedlineFile:
    """The events of one file, in document order; it can be iterated once.

    Iterating raises ``MedlineError`` if the file is broken, truncated or hostile. Events yielded before must
    then be discarded, so commit nothing of a file before it was read to its end.

    Each record becomes an event, or is skipped or rejected. After the last event:
    ``upserts + deletes + sum(skipped.values()) + sum(rejected.values()) == records``.
    """

    def __init__(self, path: Path, joiner: str = "") -> None:
        self.path = path
        self.upserts = 0
        self.deletes = 0
        self.skipped: Counter[str] = Counter()
        """Number of records that are not citations, by element; mostly books."""
        self.rejections: list[RejectedRecord] = []
        self.position = 0
        """Bytes read so far, counted in the file on disk (before decompression)."""
        self._joiner = joiner

    @property
    def rejected(self) -> Counter[str]:
        """Number of records that cannot be used, by reason."""
        return Counter(rejection.reason for rejection in self.rejections)

    @property
    def records(self) -> int:
        return self.upserts + self.deletes + self.skipped.total() + len(self.rejections)

    def __iter__(self) -> Iterator[Event]:
        for record in records(self.path, self._set_position):
            yield from self._events(record)

    def _set_position(self, position: int) -> None:
        self.position = position

    def _events(self, record: etree._Element) -> Iterator[Event]:
        match record.tag:
            case "PubmedArticle" | "MedlineCitation":
                if (document := self._document(record)) is not None:
                    self.upserts += 1
                    yield Upsert(document)
            case "DeleteCitation":
                for element in record.iterchildren("PMID"):
                    if (pmid := self._pmid(element, record)) is not None:
                        self.deletes += 1
                        yield Delete(pmid)
            case tag:
                self.skipped[str(tag)] += 1

    def _document(self, record: etree._Element) -> Document | None:
        citation = child(record, "MedlineCitation") if record.tag == "PubmedArticle" else record
        parts = children(citation)
        identifier = first(parts, "PMID")
        pmid = self._pmid(identifier, record)
        if pmid is None or identifier is None or citation is None:
            return None
        version = identifier.get("Version", "1")
        if not _PMID.fullmatch(version):
            self._reject(record, "version of the PMID is not a positive integer")
            return None
        article = children(first(parts, "Article"))
        title, marks = _title(article)
        abstract, abstract_parts, markup = _abstract(article, parts, self._joiner)
        metadata, published = metadata_of(
            parts,
            article,
            None if record is citation else child(record, "PubmedData"),
            citation.get("Status", ""),
            (*(mark.within("title", 0) for mark in marks), *markup),
        )
        return Document(
            pmid=pmid,
            version=int(version),
            title=title,
            abstract=abstract,
            published=None if published is None else published.earliest,
            sentences=sentences_of(title, abstract, abstract_parts),
            parts=abstract_parts,
            metadata=metadata,
        )

    def _pmid(self, element: etree._Element | None, record: etree._Element) -> str | None:
        pmid = text_of(element)
        if _PMID.fullmatch(pmid):
            return pmid
        self._reject(record, "PMID is not a positive integer" if pmid else "no PMID")
        return None

    def _reject(self, record: etree._Element, reason: str) -> None:
        self.rejections.append(RejectedRecord(record.sourceline or 0, reason))


def read(path: Path, *, joiner: str = "") -> Iterator[Event]:
    """Read the events of a file, without counts; see ``MedlineFile``."""
    return iter(MedlineFile(path, joiner))


def event_json(event: Event) -> dict[str, Any]:
    """Convert an event into a line of ``bioqa parse``. A missing title, abstract or date is null."""
    if isinstance(event, Delete):
        return {"op": "delete", "pmid": event.pmid}
    document = event.document
    published = document.published
    return {
        "op": "upsert",
        "pmid": document.pmid,
        "version": document.version,
        "title": document.title or None,
        "abstract": document.abstract or None,
        "year": published.year if published else None,
        "published": published.isoformat() if published else None,
        "sentences": [[s.section, s.begin, s.end] for s in document.sentences],
        "parts": [[part.label, part.begin, part.end] for part in document.parts],
        "standing": str(document.metadata.standing),
        "metadata": metadata_json(document.metadata),
    }


def _title(article: Children) -> tuple[str, tuple[TitleMark, ...]]:
    title, marks = marked_text_of(first(article, "ArticleTitle"))
    if title in ("", NOT_AVAILABLE):
        vernacular, of_vernacular = marked_text_of(first(article, "VernacularTitle"))
        return (vernacular, of_vernacular) if vernacular else (title, marks)
    return title, marks


def _abstract(article: Children, citation: Children, joiner: str) -> Abstract:
    abstract = _join(first(article, "Abstract"), joiner)
    if abstract[0]:
        return abstract
    for other in citation.get("OtherAbstract", ()):
        if other.get("Language", "eng") == "eng" and (abstract := _join(other, joiner))[0]:
            return abstract
    return "", (), ()


def _join(source: etree._Element | None, joiner: str) -> Abstract:
    parts: list[Part] = []
    texts: list[str] = []
    markup: list[Markup] = []
    begin = 0
    for element in () if source is None else source.iterchildren("AbstractText"):
        text, marks = marked_text_of(element)
        if not text:
            continue
        if label := collapse(element.get("Label", "")):
            text = f"{label}: {text}"
        markup += [mark.within("abstract", begin + (len(label) + 2 if label else 0)) for mark in marks]
        parts.append(Part(label, begin, begin + len(text)))
        texts.append(text)
        begin += len(text) + len(joiner)
    return joiner.join(texts), tuple(parts), tuple(markup)
