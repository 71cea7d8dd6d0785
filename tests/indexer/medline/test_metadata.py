"""What a record says beside its text, complete and broken ones."""

import time
from datetime import date
from pathlib import Path

import pytest

from bioqa.bioasq.domain import Document
from bioqa.bioasq.metadata import (
    Author,
    Correction,
    Heading,
    Journal,
    Markup,
    Metadata,
    PartialDate,
    Qualifier,
    Standing,
)
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.medline.reader import read

COMPLETE = """<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">31</PMID>
<DateRevised><Year>2020</Year></DateRevised>
<Article PubModel="Print-Electronic"><Journal><ISSN IssnType="Electronic">0000-0019</ISSN>
<JournalIssue CitedMedium="Internet"><Volume>12</Volume><Issue>Suppl 1</Issue>
<PubDate><Year>2015</Year><Month>Mar</Month></PubDate></JournalIssue>
<Title>Inventions: a journal</Title><ISOAbbreviation>Inv. J.</ISOAbbreviation></Journal>
<ArticleTitle>[<i>Laminaria</i> and r<sup>2</sup>].</ArticleTitle>
<Pagination><StartPage>101</StartPage><EndPage>109</EndPage><MedlinePgn>101-9</MedlinePgn></Pagination>
<ELocationID EIdType="pii" ValidYN="Y">S1</ELocationID>
<ELocationID EIdType="doi" ValidYN="Y">10.1234/other</ELocationID>
<Abstract><AbstractText Label="AIMS">A <b>bold</b>
  CO<sub>2</sub>.</AbstractText><AbstractText Label="END">More <i>x</i>.</AbstractText></Abstract>
<AuthorList CompleteYN="N">
<Author ValidYN="Y"><LastName>Tamsin</LastName><ForeName>Kerra L</ForeName><Initials>KL</Initials>
<Suffix>Jr</Suffix><Identifier Source="ORCID">https://orcid.org/0000000218250097</Identifier>
<AffiliationInfo><Affiliation>Nowhere</Affiliation><Identifier Source="ROR">r</Identifier></AffiliationInfo>
</Author>
<Author ValidYN="N"><LastName>Tamsyn</LastName><ForeName>K</ForeName><Initials>K</Initials></Author>
<Author ValidYN="Y"><CollectiveName>Kelp <i>Study</i> Group</CollectiveName></Author>
<Author ValidYN="Y"><LastName>Penrose</LastName><ForeName>Ada Marie-Lou</ForeName></Author>
<Author ValidYN="Y"><AffiliationInfo><Affiliation>No name</Affiliation></AffiliationInfo></Author>
</AuthorList>
<Language>fre</Language><Language>ENG</Language>
<PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType>
<PublicationType UI="D016441">Retracted Publication</PublicationType>
<PublicationType UI="D016428">Journal Article</PublicationType></PublicationTypeList>
<VernacularTitle>Le varech.</VernacularTitle>
<ArticleDate DateType="Electronic"><Year>2014</Year><Month>12</Month><Day>30</Day></ArticleDate></Article>
<MedlineJournalInfo><Country>France</Country><MedlineTA>Inv J</MedlineTA><NlmUniqueID>0000001</NlmUniqueID>
<ISSNLinking>0000-0027</ISSNLinking></MedlineJournalInfo>
<ChemicalList><Chemical><RegistryNumber>0</RegistryNumber>
<NameOfSubstance UI="D007455">Iodine</NameOfSubstance></Chemical></ChemicalList>
<SupplMeshList><SupplMeshName Type="Disease" UI="C000001">Kelp fever</SupplMeshName></SupplMeshList>
<CommentsCorrectionsList>
<CommentsCorrections RefType="Cites"><RefSource>Else</RefSource><PMID>99</PMID></CommentsCorrections>
<CommentsCorrections RefType="RetractionIn"><RefSource>Inv J. 2016;13:1</RefSource><PMID>32</PMID>
</CommentsCorrections></CommentsCorrectionsList>
<MeshHeadingList><MeshHeading><DescriptorName UI="D006801" MajorTopicYN="N">Humans</DescriptorName>
</MeshHeading><MeshHeading><DescriptorName UI="D007628" MajorTopicYN="N">Kelp</DescriptorName>
<QualifierName UI="Q000737" MajorTopicYN="Y">chemistry</QualifierName>
<QualifierName UI="Q000187" MajorTopicYN="N">drug effects</QualifierName></MeshHeading></MeshHeadingList>
<KeywordList Owner="NOTNLM"><Keyword MajorTopicYN="N">kelp</Keyword><Keyword>kelp</Keyword>
<Keyword>CO<sub>2</sub></Keyword></KeywordList>
<InvestigatorList><Investigator><LastName>Nobody</LastName></Investigator></InvestigatorList>
</MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType="pubmed">31</ArticleId>
<ArticleId IdType="doi">10.1234/inv.2015(1)</ArticleId><ArticleId IdType="pmc">PMC1234567</ArticleId>
</ArticleIdList><ReferenceList><Reference><ArticleIdList><ArticleId IdType="doi">10.9/ref</ArticleId>
<ArticleId IdType="pmc">PMC9</ArticleId></ArticleIdList></Reference></ReferenceList></PubmedData>
</PubmedArticle>"""


def test_nothing_of_a_complete_record_is_lost(tmp_path: Path) -> None:
    document = only(tmp_path, COMPLETE)
    assert document.published == date(2015, 3, 1)
    assert document.metadata == Metadata(
        authors=(
            Author("Tamsin", "Kerra L", "KL", "Jr", orcid="0000-0002-1825-0097"),
            Author(group="Kelp Study Group"),
            Author("Penrose", "Ada Marie-Lou", "AML"),
        ),
        authors_complete=False,
        journal=Journal("Inv J", "Inventions: a journal", "0000-0019", "0000001", "Electronic"),
        volume="12",
        issue="Suppl 1",
        pages="101-9",
        published=PartialDate(2015, 3),
        electronic=PartialDate(2014, 12, 30),
        doi="10.1234/inv.2015(1)",
        pmcid="PMC1234567",
        types=("Journal Article", "Retracted Publication"),
        headings=(
            Heading("Humans", "D006801"),
            Heading("Kelp", "D007628", False, (Qualifier("chemistry", True), Qualifier("drug effects"))),
        ),
        keywords=("kelp", "CO2"),
        substances=("Iodine", "Kelp fever"),
        languages=("fre", "eng"),
        status="MEDLINE",
        corrections=(Correction("RetractionIn", "32", "Inv J. 2016;13:1"),),
        vernacular_title="Le varech.",
        markup=(
            Markup("title", 1, 10, "i"),
            Markup("title", 16, 17, "sup"),
            Markup("abstract", 8, 12, "b"),
            Markup("abstract", 15, 16, "sub"),
            Markup("abstract", 27, 28, "i"),
        ),
    )
    assert document.metadata.standing is Standing.RETRACTED
    assert marked_texts(document) == ["Laminaria", "2", "bold", "2", "x"]


def test_marks_follow_the_joiner(tmp_path: Path) -> None:
    document = only(tmp_path, COMPLETE, joiner="\n--\n")
    assert marked_texts(document) == ["Laminaria", "2", "bold", "2", "x"]


def test_an_empty_record_says_nothing(tmp_path: Path) -> None:
    document = only(
        tmp_path, "<PubmedArticle><MedlineCitation><PMID>1</PMID></MedlineCitation></PubmedArticle>"
    )
    assert document.metadata == Metadata()
    assert document.published is None


@pytest.mark.parametrize(
    ("old", "new", "field", "expected"),
    [
        ("<MedlineTA>Inv J</MedlineTA>", "", "journal",
         Journal("Inv J", "Inventions: a journal", "0000-0019", "0000001", "Electronic")),
        ('<ISSN IssnType="Electronic">0000-0019</ISSN>', "", "journal",
         Journal("Inv J", "Inventions: a journal", "0000-0027", "0000001", "Linking")),
        ("<MedlinePgn>101-9</MedlinePgn>", "", "pages", "101-109"),
        ("<EndPage>109</EndPage><MedlinePgn>101-9</MedlinePgn>", "", "pages", "101"),
        ('<ArticleId IdType="doi">10.1234/inv.2015(1)</ArticleId>', "", "doi", "10.1234/other"),
        ("10.1234/inv.2015(1)", "https://doi.org/10.1234/inv.2015(1)", "doi", "10.1234/inv.2015(1)"),
        ("10.1234/inv.2015(1)", "not a DOI", "doi", "10.1234/other"),
        ("PMC1234567", "1234567", "pmcid", ""),
        ("<PubDate><Year>2015</Year><Month>Mar</Month></PubDate>", "", "published",
         PartialDate(2014, 12, 30)),
        ("<Month>Mar</Month>", "<Month>Feb</Month><Day>30</Day>", "published", PartialDate(2015, 2)),
        ("<Month>Mar</Month>", "<Season>Winter</Season>", "published",
         PartialDate(2015, 1, text="2015 Winter", until=date(2015, 3, 31))),
        ('DateType="Electronic"', 'DateType="Other"', "electronic", None),
        ('CompleteYN="N"', 'CompleteYN="Y"', "authors_complete", True),
        ('UI="D016441">Retracted Publication', 'UI="D016441">Withdrawn Publication', "types",
         ("Journal Article", "Retracted Publication")),
    ],
)  # fmt: skip
def test_what_takes_the_place_of_what(
    old: str, new: str, field: str, expected: object, tmp_path: Path
) -> None:
    assert old in COMPLETE
    assert getattr(only(tmp_path, COMPLETE.replace(old, new)).metadata, field) == expected


@pytest.mark.parametrize(
    ("written", "orcid"),
    [
        ("0000-0002-1825-0097", "0000-0002-1825-0097"),
        ("http://orcid.org/0000-0002-1694-233X", "0000-0002-1694-233X"),
        ("000000021694233x", "0000-0002-1694-233X"),
        ("0000-0002-1825-0098", ""),
        ("0000-0002-1825-00970", ""),
        ("Tamsin", ""),
    ],
)
def test_orcids_have_one_form_and_a_right_check_digit(written: str, orcid: str, tmp_path: Path) -> None:
    document = only(tmp_path, COMPLETE.replace("https://orcid.org/0000000218250097", written))
    assert document.metadata.authors[0].orcid == orcid


def test_a_huge_record_is_complete_and_read_at_once(tmp_path: Path) -> None:
    names = "".join(
        f"<Author><LastName>Name{n}</LastName><Initials>A</Initials></Author>" for n in range(3000)
    )
    title = "<i>t</i> <sup>2</sup>" * 4000
    record = COMPLETE.replace('<AuthorList CompleteYN="N">', f'<AuthorList CompleteYN="N">{names}').replace(
        "<ArticleTitle>", f"<ArticleTitle>{title}"
    )
    begun = time.perf_counter()
    document = only(tmp_path, record)
    assert len(document.metadata.authors) == 3003
    assert len(document.title) > 10_000
    assert len(document.metadata.markup) == 8005
    assert time.perf_counter() - begun < 5


def test_the_older_form_has_no_data_of_pubmed(tmp_path: Path) -> None:
    citation = COMPLETE[COMPLETE.index("<MedlineCitation") : COMPLETE.index("<PubmedData>")]
    document = only(tmp_path, citation, root="MedlineCitationSet")
    assert (document.metadata.doi, document.metadata.pmcid) == ("10.1234/other", "")
    assert document.metadata.authors[1].group == "Kelp Study Group"


def test_samples(shared: Path) -> None:
    """Real records: three are retracted, and each has what a citation needs."""
    standings = []
    for path in sorted((shared / "data" / "samples").iterdir()):
        for event in read(path):
            assert isinstance(event, Upsert)
            metadata = event.document.metadata
            assert metadata.journal.abbreviation
            assert metadata.languages
            assert metadata.published is not None
            assert metadata.published.earliest == event.document.published
            assert metadata.published.earliest <= metadata.published.latest
            assert all(text.strip() == text != "" for text in marked_texts(event.document))
            standings.append(metadata.standing)
    assert standings.count(Standing.RETRACTED) == 3
    assert standings.count(Standing.RETRACTION_NOTICE) == 2


def only(folder: Path, record: str, joiner: str = "", root: str = "PubmedArticleSet") -> Document:
    path = folder / "record.xml"
    path.write_text(f"<{root}>{record}</{root}>", encoding="utf-8")
    (event,) = read(path, joiner=joiner)
    assert isinstance(event, Upsert)
    return event.document


def marked_texts(document: Document) -> list[str]:
    return [document.text(mark.section)[mark.begin : mark.end] for mark in document.metadata.markup]
