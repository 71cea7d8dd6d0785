"""The rest of a MEDLINE record, which no index uses, but every parser has to read."""

import random
import re
from calendar import month_abbr

YEARS = range(1966, 2026)
GROWTH = 1.035
"""Number of citations of a year, relative to the year before."""

VARIANTS = 500
"""Number of author lists, headings and references, which are generated once and combined for each record."""

_SYLLABLES = re.findall("..", "bakelomineratasovidehalumareposisotulyozexiguno")


class Wrapping:
    """Wraps title and abstract into a PubmedArticle of invented authors, headings and references."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(f"records {seed}")
        self._years = [GROWTH ** (year - YEARS[0]) for year in YEARS]
        self._authors = [self._author_list() for _ in range(VARIANTS)]
        self._headings = [self._heading_list() for _ in range(VARIANTS)]
        self._references = [self._reference_list(30) for _ in range(VARIANTS // 2)]

    def __call__(self, pmid: int, title: str, abstract: str) -> str:
        """Return a record. ``title`` and ``abstract`` are XML; the latter is the whole element, or empty."""
        draw = self._random
        (year,) = draw.choices(YEARS, self._years)
        authors = draw.choice(self._authors)
        # Reference lists came late.
        references = draw.choice(self._references) if year > 2005 and draw.random() < 0.5 else ""
        return (
            '<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM" IndexingMethod="Automated">'
            f'<PMID Version="1">{pmid}</PMID>'
            f"<DateRevised><Year>{year}</Year><Month>06</Month><Day>15</Day></DateRevised>"
            f'<Article PubModel="Print">{self._journal(year)}'
            f"<ArticleTitle>{title}</ArticleTitle>"
            f"<Pagination><StartPage>{pmid % 900 + 1}</StartPage></Pagination>"
            f'<ELocationID EIdType="doi" ValidYN="Y">10.9999/s{pmid}</ELocationID>'
            f"{abstract}{authors}<Language>eng</Language>"
            '<PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType>'
            "</PublicationTypeList></Article>"
            "<MedlineJournalInfo><Country>United States</Country><MedlineTA>J Synth Res</MedlineTA>"
            "<NlmUniqueID>99999999</NlmUniqueID></MedlineJournalInfo>"
            f"<CitationSubset>IM</CitationSubset>{draw.choice(self._headings)}</MedlineCitation>"
            f"<PubmedData>{_history(year)}<PublicationStatus>ppublish</PublicationStatus><ArticleIdList>"
            f'<ArticleId IdType="pubmed">{pmid}</ArticleId>'
            f'<ArticleId IdType="doi">10.9999/s{pmid}</ArticleId>'
            f"</ArticleIdList>{references}</PubmedData></PubmedArticle>\n"
        )

    def _journal(self, year: int) -> str:
        draw = self._random
        month = draw.randint(1, 12)
        kind = draw.random()
        if kind < 0.05:
            date = f"<MedlineDate>{year} {month_abbr[month]}-Dec</MedlineDate>"
        elif kind < 0.15:
            date = f"<Year>{year}</Year>"
        elif kind < 0.6:
            date = f"<Year>{year}</Year><Month>{month_abbr[month]}</Month>"
        else:
            date = f"<Year>{year}</Year><Month>{month_abbr[month]}</Month><Day>{draw.randint(1, 28):02}</Day>"
        return (
            f'<Journal><ISSN IssnType="Electronic">9999-{pad(draw.randrange(9999))}</ISSN>'
            f'<JournalIssue CitedMedium="Internet"><Volume>{draw.randint(1, 400)}</Volume>'
            f"<Issue>{draw.randint(1, 12)}</Issue><PubDate>{date}</PubDate></JournalIssue>"
            "<Title>Journal of synthetic research</Title>"
            "<ISOAbbreviation>J Synth Res</ISOAbbreviation></Journal>"
        )

    def _name(self, syllables: int) -> str:
        return "".join(self._random.choices(_SYLLABLES, k=syllables)).capitalize()

    def _author_list(self) -> str:
        affiliated = self._random.random() < 0.5
        authors = "".join(
            f'<Author ValidYN="Y"><LastName>{self._name(4)}</LastName><ForeName>{self._name(3)} A</ForeName>'
            f"<Initials>XA</Initials>{self._affiliation() if affiliated else ''}</Author>"
            for _ in range(self._random.randint(1, 9))
        )
        return f'<AuthorList CompleteYN="Y">{authors}</AuthorList>'

    def _affiliation(self) -> str:
        return (
            f"<AffiliationInfo><Affiliation>Department of {self._name(4)}, University of {self._name(4)}, "
            f"{self._random.randint(1, 999)} {self._name(4)} Street, {self._name(3)}, {self._name(4)}."
            "</Affiliation></AffiliationInfo>"
        )

    def _heading_list(self) -> str:
        headings = "".join(
            f'<MeshHeading><DescriptorName UI="D{pad(self._random.randrange(99999), 6)}" MajorTopicYN="N">'
            f"{self._name(5)}</DescriptorName>"
            f'<QualifierName UI="Q{pad(self._random.randrange(999), 6)}" MajorTopicYN="Y">{self._name(4)}'
            "</QualifierName></MeshHeading>"
            for _ in range(self._random.randint(5, 18))
        )
        return f"<MeshHeadingList>{headings}</MeshHeadingList>"

    def _reference_list(self, longest: int) -> str:
        references = "".join(
            f"<Reference><Citation>{self._name(4)} A, {self._name(3)} B. J Synth Res. {year};12(3):45-9."
            f'</Citation><ArticleIdList><ArticleId IdType="pubmed">{self._random.randrange(10**7)}'
            "</ArticleId></ArticleIdList></Reference>"
            for year in self._random.choices(YEARS, k=self._random.randint(5, longest))
        )
        return f"<ReferenceList>{references}</ReferenceList>"


def _history(year: int) -> str:
    dates = "".join(
        f'<PubMedPubDate PubStatus="{status}"><Year>{year}</Year><Month>6</Month><Day>15</Day>'
        "<Hour>6</Hour><Minute>0</Minute></PubMedPubDate>"
        for status in ("received", "accepted", "pubmed", "medline", "entrez")
    )
    return f"<History>{dates}</History>"


def pad(number: int, width: int = 4) -> str:
    return f"{number:0{width}}"
