"""MEDLINE and PubMed XML files, plain or gzip, as a stream of upserts and deletions.

Read are PubmedArticleSet and the older MedlineCitationSet. What a record gives:

- Text: every text node under the element, markup (``<i>``, ``<sub>``, MathML) or not, joined as it stands;
  then each run of XML's white space (space, tab, CR, LF) becomes one space. U+00A0, U+2009 and the like are
  content: offsets count them.
- Title: ArticleTitle. If that is empty or NLM's "[Not Available].", the VernacularTitle, if there is one.
- Abstract: the AbstractTexts of Abstract, each as ``LABEL: text`` where it has a label (NlmCategory is none),
  joined by ``joiner``. Without text there, the first OtherAbstract in English (without Language it is),
  so that the record can be found by what PubMed shows of it. Otherwise OtherAbstract is left out: no offset
  of BioASQ counts in it. Without any, the abstract is "".
- Date: PubDate; ArticleDate where PubDate has no year.
- PMID and version: the citation's own PMID element, never those of comments or references; no Version is 1.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from lxml import etree

from bioqa.bioasq.domain import Document, Part
from bioqa.indexer.medline.dates import parse_date, parse_medline_date
from bioqa.indexer.medline.events import Delete, Event, Upsert
from bioqa.indexer.medline.sentences import sentences_of
from bioqa.indexer.medline.xmlfile import MedlineError as MedlineError
from bioqa.indexer.medline.xmlfile import child, collapsed, records, text_of

NOT_AVAILABLE = "[Not Available]."

Abstract = tuple[str, tuple[Part, ...]]

_PMID = re.compile(r"[1-9][0-9]{0,17}")


@dataclass(frozen=True, slots=True)
class RejectedRecord:
    """A citation that cannot be used."""

    line: int
    """Where its record begins, from 1."""
    reason: str


class MedlineFile:
    """The events of one file, in document order; iterate once.

    Raises ``MedlineError`` while iterating if the file is broken, truncated or hostile; events that came
    before it must then be dropped, so keep none of a file until it was read to its end.

    Each record is an event, skipped or rejected. After the last event:
    ``upserts + deletes + sum(skipped.values()) + sum(rejected.values()) == records``.
    """

    def __init__(self, path: Path, joiner: str = "") -> None:
        self.path = path
        self.upserts = 0
        self.deletes = 0
        self.skipped: Counter[str] = Counter()
        """Records that are no citations, by element: books above all."""
        self.rejections: list[RejectedRecord] = []
        self.position = 0
        """Bytes of the file, as it lies on disk, that have been read."""
        self._joiner = joiner

    @property
    def rejected(self) -> Counter[str]:
        """Citations that cannot be used, by reason."""
        return Counter(rejection.reason for rejection in self.rejections)

    @property
    def records(self) -> int:
        return self.upserts + self.deletes + self.skipped.total() + len(self.rejections)

    def __iter__(self) -> Iterator[Event]:
        for record in records(self.path, self._at):
            yield from self._events(record)

    def _at(self, position: int) -> None:
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
        identifier = child(citation, "PMID")
        pmid = self._pmid(identifier, record)
        if pmid is None or identifier is None:
            return None
        version = identifier.get("Version", "1")
        if not _PMID.fullmatch(version):
            self._reject(record, "version of the PMID is no positive integer")
            return None
        article = child(citation, "Article")
        title = _title(article)
        abstract, parts = _abstract(article, citation, self._joiner)
        return Document(
            pmid=pmid,
            version=int(version),
            title=title,
            abstract=abstract,
            published=_published(article),
            sentences=sentences_of(title, abstract, parts),
            parts=parts,
        )

    def _pmid(self, element: etree._Element | None, record: etree._Element) -> str | None:
        pmid = text_of(element)
        if _PMID.fullmatch(pmid):
            return pmid
        self._reject(record, "PMID is no positive integer" if pmid else "no PMID")
        return None

    def _reject(self, record: etree._Element, reason: str) -> None:
        self.rejections.append(RejectedRecord(record.sourceline or 0, reason))


def read(path: Path, *, joiner: str = "") -> Iterator[Event]:
    """The events of a file, for those who do not need the counts; see ``MedlineFile``."""
    return iter(MedlineFile(path, joiner))


def event_json(event: Event) -> dict[str, Any]:
    """One line of ``bioqa parse``. A missing title, abstract or date is null."""
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
    }


def _title(article: etree._Element | None) -> str:
    title = text_of(child(article, "ArticleTitle"))
    if title in ("", NOT_AVAILABLE):
        return text_of(child(article, "VernacularTitle")) or title
    return title


def _abstract(article: etree._Element | None, citation: etree._Element | None, joiner: str) -> Abstract:
    abstract = _joined(child(article, "Abstract"), joiner)
    if abstract[0] or citation is None:
        return abstract
    for other in citation.iterchildren("OtherAbstract"):
        if other.get("Language", "eng") == "eng" and (abstract := _joined(other, joiner))[0]:
            return abstract
    return "", ()


def _joined(source: etree._Element | None, joiner: str) -> Abstract:
    parts: list[Part] = []
    texts: list[str] = []
    begin = 0
    for element in () if source is None else source.iterchildren("AbstractText"):
        if not (text := text_of(element)):
            continue
        if label := collapsed(element.get("Label", "")):
            text = f"{label}: {text}"
        parts.append(Part(label, begin, begin + len(text)))
        texts.append(text)
        begin += len(text) + len(joiner)
    return joiner.join(texts), tuple(parts)


def _published(article: etree._Element | None) -> date | None:
    issue = child(child(article, "Journal"), "JournalIssue")
    return _date(child(issue, "PubDate")) or _date(child(article, "ArticleDate"))


def _date(element: etree._Element | None) -> date | None:
    if element is None:
        return None
    fields = {str(child.tag): child.text or "" for child in element}
    if "Year" in fields:
        return parse_date(*(fields.get(name, "").strip() for name in ("Year", "Month", "Day", "Season")))
    return parse_medline_date(fields.get("MedlineDate", ""))
