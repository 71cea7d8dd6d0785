"""The rest of a MEDLINE record: what indexes keep of it, and what only parsers have to read.

Names are invented, and drawn as real ones are: of many kinds a few are in most records and most are rare
(Zipf's law with exponent 1). Shares of types, languages and check tags are MEDLINE's, roughly.
"""

import random
import re
from calendar import month_abbr
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

YEARS = range(1966, 2026)
GROWTH = 1.035
"""Number of citations of a year, relative to the year before."""

VARIANTS = 500
"""Number of affiliations and of reference lists, which are generated once. No index keeps them."""


class Kinds(NamedTuple):
    """How many different ones there are in MEDLINE, as orders of magnitude."""

    families: int = 1_000_000
    given: int = 20_000
    headings: int = 30_000
    qualifiers: int = 76
    journals: int = 30_000
    substances: int = 100_000
    keywords: int = 1_000_000


KINDS = Kinds()

TYPES = (
    ("Journal Article", 0.92),
    ("Research Support, Non-U.S. Gov't", 0.25),
    ("Review", 0.1),
    ("Case Reports", 0.07),
    ("Comparative Study", 0.06),
    ("Letter", 0.04),
    ("Clinical Trial", 0.03),
    ("Editorial", 0.02),
    ("Randomized Controlled Trial", 0.02),
    ("Meta-Analysis", 0.006),
)
"""Publication types, and the share of records that have them, independently of each other."""

LANGUAGES = {"eng": 86, "ger": 3, "fre": 3, "rus": 2, "jpn": 2, "spa": 1, "ita": 1, "chi": 1, "pol": 1}
_LANGUAGES, _LANGUAGE_WEIGHTS = (*LANGUAGES,), (*accumulate(LANGUAGES.values()),)

CHECK_TAGS = (
    ("Humans", 0.7),
    ("Female", 0.34),
    ("Male", 0.33),
    ("Animals", 0.25),
    ("Adult", 0.2),
    ("Middle Aged", 0.17),
    ("Aged", 0.12),
    ("Child", 0.07),
    ("Rats", 0.06),
    ("Mice", 0.06),
)
"""Headings that most indexed records have some of, with their shares."""

_SYLLABLES = re.findall("..", "bakelomineratasovidehalumareposifetulyozexiguno")
_SCATTER = 2654435761
"""Prime to the number of names, so that multiplying by it gives every number another one."""

_INITIALS = "ABCDEJKLMRS"


class Wrapping:
    """Wraps title and abstract into a PubmedArticle.

    ``brief``: without affiliations, history and references. Half as long, and an index holds the same.
    """

    def __init__(self, seed: int, brief: bool = False) -> None:
        self._random = random.Random(f"records {seed}")
        self._left_out = random.Random(f"left out {seed}")
        self._brief = brief
        self._years = [*accumulate(GROWTH ** (year - YEARS[0]) for year in YEARS)]
        self._affiliations = [self._affiliation() for _ in range(VARIANTS)]
        self._references = [self._reference_list(30) for _ in range(VARIANTS // 2)]
        self._given = [_given(number) for number in range(KINDS.given)]

    def __call__(self, pmid: int, title: str, abstract: str, version: int = 1) -> str:
        """Return a record. ``title`` and ``abstract`` are XML; the latter is the whole element, or empty."""
        draw = self._random
        (year,) = draw.choices(YEARS, cum_weights=self._years)
        indexed = draw.random() < 0.85
        (language,) = draw.choices(_LANGUAGES, cum_weights=_LANGUAGE_WEIGHTS)
        journal = draw_rank(draw, KINDS.journals)
        return (
            f'<PubmedArticle><MedlineCitation Status="{"MEDLINE" if indexed else "PubMed-not-MEDLINE"}" '
            f'Owner="NLM" IndexingMethod="Automated"><PMID Version="{version}">{pmid}</PMID>'
            f"<DateRevised><Year>{year}</Year><Month>06</Month><Day>15</Day></DateRevised>"
            f'<Article PubModel="Print">{self._journal(year, journal)}'
            f"<ArticleTitle>{title}</ArticleTitle>"
            f"<Pagination><MedlinePgn>{pmid % 900 + 1}-{pmid % 900 + 9}</MedlinePgn></Pagination>"
            f'<ELocationID EIdType="doi" ValidYN="Y">10.9999/s{pmid}</ELocationID>'
            f"{abstract}{self._authors()}<Language>{language}</Language>{self._types()}</Article>"
            f"<MedlineJournalInfo><Country>United States</Country><MedlineTA>{_abbreviate(journal)}"
            f"</MedlineTA><NlmUniqueID>{pad(journal, 8)}</NlmUniqueID></MedlineJournalInfo>"
            f"{self._substances() if indexed else ''}<CitationSubset>IM</CitationSubset>"
            f"{self._headings() if indexed else ''}{self._keywords(year)}</MedlineCitation>"
            f"{self._pubmed(pmid, year)}</PubmedArticle>\n"
        )

    def _journal(self, year: int, number: int) -> str:
        draw = self._random
        month = between(draw, 1, 12)
        kind = draw.random()
        if kind < 0.05:
            date = f"<MedlineDate>{year} {month_abbr[month]}-Dec</MedlineDate>"
        elif kind < 0.15:
            date = f"<Year>{year}</Year>"
        elif kind < 0.6:
            date = f"<Year>{year}</Year><Month>{month_abbr[month]}</Month>"
        else:
            date = (
                f"<Year>{year}</Year><Month>{month_abbr[month]}</Month><Day>{between(draw, 1, 28):02}</Day>"
            )
        return (
            f'<Journal><ISSN IssnType="Electronic">{pad(number // 7)}-{pad(number % 9999)}</ISSN>'
            f'<JournalIssue CitedMedium="Internet"><Volume>{between(draw, 1, 400)}</Volume>'
            f"<Issue>{between(draw, 1, 12)}</Issue><PubDate>{date}</PubDate></JournalIssue>"
            f"<Title>Journal of {name(number)} research</Title>"
            f"<ISOAbbreviation>{_abbreviate(number)}</ISOAbbreviation></Journal>"
        )

    def _authors(self) -> str:
        draw = self._random
        affiliated = not self._brief and self._left_out.random() < 0.5
        authors = "".join(
            f'<Author ValidYN="Y"><LastName>{name(draw_rank(draw, KINDS.families))}</LastName>'
            f"{self._given[draw_rank(draw, KINDS.given)]}"
            f"{self._left_out.choice(self._affiliations) if affiliated else ''}</Author>"
            for _ in range(between(draw, 1, 9))
        )
        return f'<AuthorList CompleteYN="Y">{authors}</AuthorList>'

    def _affiliation(self) -> str:
        parts = [name(self._left_out.randrange(KINDS.families)) for _ in range(5)]
        return (
            f"<AffiliationInfo><Affiliation>Department of {parts[0]}, University of {parts[1]}, "
            f"{self._left_out.randint(1, 999)} {parts[2]} Street, {parts[3]}, {parts[4]}."
            "</Affiliation></AffiliationInfo>"
        )

    def _types(self) -> str:
        found = self._some(TYPES) or ["Journal Article"]
        types = "".join(f'<PublicationType UI="D016428">{each}</PublicationType>' for each in found)
        return f"<PublicationTypeList>{types}</PublicationTypeList>"

    def _headings(self) -> str:
        draw = self._random
        tags = "".join(
            f'<MeshHeading><DescriptorName UI="D006801" MajorTopicYN="N">{tag}</DescriptorName></MeshHeading>'
            for tag in self._some(CHECK_TAGS)
        )
        numbers = {draw_rank(draw, KINDS.headings) for _ in range(between(draw, 3, 13))}
        headings = "".join(_heading(number, self._qualifier()) for number in sorted(numbers))
        return f"<MeshHeadingList>{tags}{headings}</MeshHeadingList>"

    def _qualifier(self) -> int | None:
        return None if self._random.random() < 0.4 else draw_rank(self._random, KINDS.qualifiers)

    def _substances(self) -> str:
        draw = self._random
        if draw.random() < 0.5:
            return ""
        substances = "".join(
            f'<Chemical><RegistryNumber>0</RegistryNumber><NameOfSubstance UI="C{pad(number, 6)}">'
            f"{name(number)} Kinase</NameOfSubstance></Chemical>"
            for number in (draw_rank(draw, KINDS.substances) for _ in range(between(draw, 1, 6)))
        )
        return f"<ChemicalList>{substances}</ChemicalList>"

    def _keywords(self, year: int) -> str:
        draw = self._random
        if year < 2013 or draw.random() < 0.4:
            return ""
        numbers = (draw_rank(draw, KINDS.keywords) for _ in range(between(draw, 3, 7)))
        keywords = "".join(
            f'<Keyword MajorTopicYN="N">{name(number).lower()} disease</Keyword>' for number in numbers
        )
        return f'<KeywordList Owner="NOTNLM">{keywords}</KeywordList>'

    def _pubmed(self, pmid: int, year: int) -> str:
        free = year > 2000 and self._random.random() < 0.35
        # Reference lists came late.
        cited = not self._brief and year > 2005 and self._left_out.random() < 0.5
        return (
            f"<PubmedData>{'' if self._brief else _history(year)}<PublicationStatus>ppublish"
            "</PublicationStatus><ArticleIdList>"
            f'<ArticleId IdType="pubmed">{pmid}</ArticleId>'
            f'<ArticleId IdType="doi">10.9999/s{pmid}</ArticleId>'
            + (f'<ArticleId IdType="pmc">PMC{pmid}</ArticleId>' if free else "")
            + f"</ArticleIdList>{self._left_out.choice(self._references) if cited else ''}</PubmedData>"
        )

    def _some(self, shares: Sequence[tuple[str, float]]) -> list[str]:
        return [each for each, share in shares if self._random.random() < share]

    def _reference_list(self, longest: int) -> str:
        draw = self._left_out
        references = "".join(
            f"<Reference><Citation>{name(draw.randrange(KINDS.families))} A. J Synth Res. {year};12(3):45-9."
            f'</Citation><ArticleIdList><ArticleId IdType="pubmed">{draw.randrange(10**7)}'
            "</ArticleId></ArticleIdList></Reference>"
            for year in draw.choices(YEARS, k=draw.randint(5, longest))
        )
        return f"<ReferenceList>{references}</ReferenceList>"


@lru_cache(maxsize=1 << 18)
def name(number: int) -> str:
    """An invented name for each number, of three syllables or more; other numbers, other names."""
    short = len(_SYLLABLES) ** 3
    rest, scattered = number // short, number % short * _SCATTER % short
    syllables = []
    for _ in range(3):
        scattered, which = divmod(scattered, len(_SYLLABLES))
        syllables.append(_SYLLABLES[which])
    while rest:
        rest, which = divmod(rest, len(_SYLLABLES))
        syllables.append(_SYLLABLES[which])
    return "".join(syllables).capitalize()


def _given(number: int) -> str:
    first, second = name(number), _INITIALS[number % len(_INITIALS)]
    return f"<ForeName>{first} {second}</ForeName><Initials>{first[0]}{second}</Initials>"


@lru_cache(maxsize=1 << 16)
def _heading(number: int, qualifier: int | None) -> str:
    qualified = ""
    if qualifier is not None:
        major = "Y" if (number + qualifier) % 5 < 2 else "N"
        qualified = (
            f'<QualifierName UI="Q{pad(qualifier, 6)}" MajorTopicYN="{major}">{name(qualifier).lower()}'
            "</QualifierName>"
        )
    return (
        f'<MeshHeading><DescriptorName UI="D{pad(number, 6)}" MajorTopicYN="N">{name(number)} Disorders'
        f"</DescriptorName>{qualified}</MeshHeading>"
    )


def draw_rank(draw: random.Random, kinds: int) -> int:
    """A number below ``kinds``; each comes in inverse proportion to its rank."""
    return int((kinds + 1) ** draw.random()) - 1


def between(draw: random.Random, least: int, most: int) -> int:
    """As ``randint``, which takes four times as long."""
    return least + int(draw.random() * (most + 1 - least))


def _abbreviate(journal: int) -> str:
    return f"J {name(journal)} Res"


def _history(year: int) -> str:
    dates = "".join(
        f'<PubMedPubDate PubStatus="{status}"><Year>{year}</Year><Month>6</Month><Day>15</Day>'
        "<Hour>6</Hour><Minute>0</Minute></PubMedPubDate>"
        for status in ("received", "accepted", "pubmed", "medline", "entrez")
    )
    return f"<History>{dates}</History>"


def pad(number: int, width: int = 4) -> str:
    return f"{number:0{width}}"
