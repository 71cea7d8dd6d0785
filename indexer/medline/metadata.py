"""Reading what a MEDLINE record says beside its text.

- Authors: those of AuthorList, in order, without names that were corrected away (ValidYN "N"). An Author is a
  person or a group; one without any name is left out. Initials that are missing are those of the forenames.
- Journal: MedlineTA, or ISOAbbreviation without full stops; ISSN of the issue, or ISSNLinking.
- Pages: MedlinePgn, or StartPage and EndPage.
- Published: PubDate; the electronic ArticleDate if PubDate has no year.
- DOI and PMCID: the ArticleIdList directly under PubmedData, as references have lists of their own; a DOI
  also from ELocationID. What has not the form of one is left out.
- Substances: ChemicalList and SupplMeshList, which PubMed searches together.
- Corrections: CommentsCorrections without "Cites", which are the article's references.
- An ORCID iD with a wrong check digit is left out.

Values that a list has twice are taken once. No record is rejected for anything that is read here.

The values are gathered as ``pack`` has them, because loading only stores them: making objects of them would
take longer than reading them. Elements are visited once each, as every visit costs.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from lxml import etree

from bioqa.bioasq.metadata import RETRACTED_TYPE, Markup, Metadata, PartialDate
from bioqa.indexer.medline.dates import parse_date, parse_medline_date
from bioqa.indexer.medline.packed import PackedMetadata, date_values, markup_values, named_values
from bioqa.indexer.medline.xmlfile import Children, child, collapse, first, text_of

RETRACTED_UI = "D016441"
"""MeSH's number of the publication type of a retracted article, whatever its name."""

REFERENCE = "Cites"

_NAMES = {"LastName": 0, "ForeName": 1, "Initials": 2, "Suffix": 3, "CollectiveName": 4}
"""Positions among an author's values; the ORCID iD is the last."""
_ORCID_AT = 5
_IN_AUTHORS = ("Author", "Identifier", *_NAMES)

_IN_JOURNAL = ("ISSN", "Volume", "Issue", "PubDate", "Title", "ISOAbbreviation")
_IN_CATALOGUE = ("MedlineTA", "NlmUniqueID", "ISSNLinking")

_DOI = re.compile(r"10\.[0-9.]+/\S+", re.ASCII)
_PMCID = re.compile(r"PMC[0-9]+", re.ASCII)
_ORCID = re.compile(r"(?<![0-9])([0-9]{4})-?([0-9]{4})-?([0-9]{4})-?([0-9]{3}[0-9Xx])(?![0-9])", re.ASCII)
_WORD = re.compile(r"[^\W_]+")


def metadata_of(
    parts: Children, article: Children, data: etree._Element | None, status: str, markup: Sequence[Markup]
) -> tuple[Metadata, PartialDate | None]:
    """Read the children of a MedlineCitation and of its Article, and the PubmedData beside it, if any.

    Returns the date of publication, too, because the metadata would have to be unpacked for it."""
    journal = _fields(first(article, "Journal"), _IN_JOURNAL)
    catalogue = _fields(first(parts, "MedlineJournalInfo"), _IN_CATALOGUE)
    identifiers = _identifiers(data)
    electronic = _electronic(article.get("ArticleDate", ()))
    published = date_of(journal.get("PubDate")) or electronic
    authors = first(article, "AuthorList")
    values = named_values(
        authors=_authors(authors),
        authors_complete=int(authors is None or authors.get("CompleteYN") != "N"),
        journal=_journal(journal, catalogue),
        volume=text_of(journal.get("Volume")),
        issue=text_of(journal.get("Issue")),
        pages=_pages(first(article, "Pagination")),
        published=date_values(published),
        electronic=date_values(electronic),
        doi=identifiers.get("doi", "") or _doi(article.get("ELocationID", ())),
        pmcid=identifiers.get("pmc", ""),
        types=_types(first(article, "PublicationTypeList")),
        headings=_headings(first(parts, "MeshHeadingList")),
        keywords=_distinct(
            text_of(keyword) for keywords in parts.get("KeywordList", ()) for keyword in keywords
        ),
        substances=_substances(parts),
        languages=_distinct(text_of(language).lower() for language in article.get("Language", ())),
        status=collapse(status),
        corrections=_corrections(first(parts, "CommentsCorrectionsList")),
        vernacular_title=text_of(first(article, "VernacularTitle")),
        markup=markup_values(markup),
    )
    return PackedMetadata.of_values(values), published


def date_of(element: etree._Element | None) -> PartialDate | None:
    """Read a PubDate or an ArticleDate; None if it has no year."""
    if element is None:
        return None
    fields = {part.tag: text_of(part) for part in element}
    if "Year" in fields:
        return parse_date(*(fields.get(name, "") for name in ("Year", "Month", "Day", "Season")))
    return parse_medline_date(fields.get("MedlineDate", ""))


def _fields(element: etree._Element | None, tags: Sequence[str]) -> dict[str, etree._Element]:
    """The first of each of these elements below ``element``."""
    values: dict[str, etree._Element] = {}
    for below in () if element is None else element.iter(*tags):
        tag: Any = below.tag
        values.setdefault(tag, below)
    return values


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))


def _authors(authors: etree._Element | None) -> list[list[str]]:
    values: list[list[str]] = []
    author: list[str] = []
    for element in () if authors is None else authors.iter(*_IN_AUTHORS):
        tag: Any = element.tag
        if tag == "Author":
            author = [""] * (_ORCID_AT + 1)
            if element.get("ValidYN") != "N":
                values.append(author)
        elif tag != "Identifier":
            author[_NAMES[tag]] = text_of(element)
        elif element.get("Source") == "ORCID":
            author[_ORCID_AT] = author[_ORCID_AT] or _orcid(text_of(element))
    return [_name_author(author) for author in values if author[0] or author[1] or author[4]]


def _name_author(author: list[str]) -> list[str]:
    if not author[2].isalpha():
        author[2] = author[2].replace(".", "") or "".join(word[0] for word in _WORD.findall(author[1]))
    while not author[-1]:
        author.pop()
    return author


def _orcid(text: str) -> str:
    """An ORCID iD in its usual form; "" if the text has none, or one with a wrong check digit (ISO 7064)."""
    if not (match := _ORCID.search(text)):
        return ""
    digits = "".join(match.groups()).upper()
    total = 0
    for digit in digits[:-1]:
        total = 2 * (total + int(digit))
    check = (12 - total % 11) % 11
    return "-".join(match.groups()).upper() if digits[-1] == "0123456789X"[check] else ""


def _journal(journal: dict[str, etree._Element], catalogue: dict[str, etree._Element]) -> list[str]:
    issn, kind = _issn(journal.get("ISSN"), catalogue.get("ISSNLinking"))
    return [
        text_of(catalogue.get("MedlineTA")) or text_of(journal.get("ISOAbbreviation")).replace(".", ""),
        text_of(journal.get("Title")),
        issn,
        text_of(catalogue.get("NlmUniqueID")),
        kind,
    ]


def _issn(issue: etree._Element | None, linking: etree._Element | None) -> tuple[str, str]:
    """The ISSN and its kind."""
    if issue is not None and (issn := text_of(issue)):
        return issn, issue.get("IssnType", "")
    issn = text_of(linking)
    return issn, "Linking" if issn else ""


def _pages(pagination: etree._Element | None) -> str:
    fields = _fields(pagination, ("MedlinePgn", "StartPage", "EndPage"))
    if written := text_of(fields.get("MedlinePgn")):
        return written
    begin, end = text_of(fields.get("StartPage")), text_of(fields.get("EndPage"))
    return f"{begin}-{end}" if begin and end and begin != end else begin or end


def _electronic(dates: Iterable[etree._Element]) -> PartialDate | None:
    for element in dates:
        if element.get("DateType", "Electronic") == "Electronic" and (day := date_of(element)):
            return day
    return None


_FORMS = {"doi": _DOI, "pmc": _PMCID}


def _identifiers(data: etree._Element | None) -> dict[str, str]:
    """The DOI and the PMCID of the article itself."""
    values: dict[str, str] = {}
    identifiers = child(data, "ArticleIdList")
    for element in () if identifiers is None else identifiers:
        kind = element.get("IdType", "")
        if kind in _FORMS and (matched := _FORMS[kind].search(text_of(element))):
            values.setdefault(kind, matched[0])
    return values


def _doi(locations: Iterable[etree._Element]) -> str:
    for element in locations:
        if (
            element.get("EIdType") == "doi"
            and element.get("ValidYN") != "N"
            and (match := _DOI.search(text_of(element)))
        ):
            return match[0]
    return ""


def _types(types: etree._Element | None) -> list[str]:
    return _distinct(
        RETRACTED_TYPE if element.get("UI") == RETRACTED_UI else text_of(element)
        for element in (() if types is None else types)
    )


def _headings(headings: etree._Element | None) -> list[list[Any]]:
    values: list[list[Any]] = []
    heading: list[Any] = []
    for element in () if headings is None else headings.iter("DescriptorName", "QualifierName"):
        name, major = text_of(element), int(element.get("MajorTopicYN") == "Y")
        if element.tag == "DescriptorName":
            heading = [name, element.get("UI", ""), major]
            if name:
                values.append(heading)
        elif name:
            heading += (name, major)
    return values


def _substances(parts: Children) -> list[str]:
    chemicals, supplement = first(parts, "ChemicalList"), first(parts, "SupplMeshList")
    names = [] if chemicals is None else [text_of(name) for name in chemicals.iter("NameOfSubstance")]
    names += [] if supplement is None else [text_of(name) for name in supplement]
    return _distinct(names)


def _corrections(corrections: etree._Element | None) -> list[list[str]]:
    values = []
    for element in () if corrections is None else corrections:
        kind = element.get("RefType", "")
        if kind and kind != REFERENCE:
            values.append([kind, text_of(child(element, "PMID")), text_of(child(element, "RefSource"))])
    return values
