"""What MEDLINE XML says, and that nothing of it is lost on the way."""

import gzip
import json
import re
from collections.abc import Iterable
from datetime import date
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from bioqa.bioasq.domain import Document, Part, Sentence
from bioqa.bioasq.metadata import Metadata, PartialDate, metadata_json
from bioqa.indexer.medline.events import Delete, Event, Upsert
from bioqa.indexer.medline.reader import MedlineError, MedlineFile, event_json, read

ARTICLE = """<PubmedArticle>
<MedlineCitation Status="MEDLINE">
  {pmid}
  <DateRevised><Year>2020</Year><Month>02</Month><Day>30</Day></DateRevised>
  <Article>
    <Journal><JournalIssue><PubDate>{published}</PubDate></JournalIssue></Journal>
    {title}
    {abstract}
    {more}
  </Article>
  {after}
</MedlineCitation>
<PubmedData><ArticleIdList><ArticleId IdType="pubmed">777</ArticleId></ArticleIdList>
<ReferenceList><Reference><ArticleIdList><ArticleId>888</ArticleId></ArticleIdList></Reference></ReferenceList>
</PubmedData>
</PubmedArticle>
"""


def article(
    *,
    pmid: str = '<PMID Version="1">11</PMID>',
    published: str = "<Year>2001</Year>",
    title: str = "<ArticleTitle>A title.</ArticleTitle>",
    abstract: str = "",
    more: str = "",
    after: str = "",
) -> str:
    return ARTICLE.format(
        pmid=pmid, published=published, title=title, abstract=abstract, more=more, after=after
    )


def file_of(folder: Path, *records: str, root: str = "PubmedArticleSet") -> Path:
    path = folder / "test.xml"
    path.write_text(f"<{root}>\n{''.join(records)}</{root}>\n", encoding="utf-8", newline="")
    return path


def documents(events: Iterable[Event]) -> list[Document]:
    return [event.document for event in events if isinstance(event, Upsert)]


def only(path: Path, joiner: str = "") -> Document:
    (document,) = documents(read(path, joiner=joiner))
    return document


def abstract_text(text: str, label: str | None = None, category: str | None = None) -> str:
    attributes = "" if label is None else f' Label="{label}"'
    attributes += "" if category is None else f' NlmCategory="{category}"'
    return f"<AbstractText{attributes}>{text}</AbstractText>"


def abstract(*texts: str) -> str:
    return f"<Abstract>{''.join(texts)}</Abstract>"


def test_a_document_is_complete(tmp_path: Path) -> None:
    path = file_of(
        tmp_path,
        article(
            pmid='<PMID Version="2">123</PMID>',
            published="<Year>1999</Year><Month>Oct</Month><Day>5</Day>",
            title="<ArticleTitle>Is it so? A study.</ArticleTitle>",
            abstract="<Abstract>"
            + abstract_text("To see.", "AIM", "OBJECTIVE")
            + abstract_text("We saw. All.", "RESULTS")
            + abstract_text("No label here.", category="UNASSIGNED")
            + "<CopyrightInformation>Copyright 1999.</CopyrightInformation></Abstract>",
        ),
    )
    expected = Document(
        pmid="123",
        version=2,
        title="Is it so? A study.",
        abstract="AIM: To see.RESULTS: We saw. All.No label here.",
        published=date(1999, 10, 5),
        sentences=(
            Sentence("title", 0, 9),
            Sentence("title", 10, 18),
            Sentence("abstract", 0, 4),
            Sentence("abstract", 5, 12),
            Sentence("abstract", 12, 20),
            Sentence("abstract", 21, 28),
            Sentence("abstract", 29, 33),
            Sentence("abstract", 33, 47),
        ),
        parts=(Part("AIM", 0, 12), Part("RESULTS", 12, 33), Part("", 33, 47)),
        metadata=Metadata(published=PartialDate(1999, 10, 5), status="MEDLINE"),
    )
    assert only(path) == expected
    spaced = only(path, joiner=" ")
    assert spaced.abstract == "AIM: To see. RESULTS: We saw. All. No label here."
    assert [spaced.abstract[part.begin : part.end] for part in spaced.parts] == [
        expected.abstract[part.begin : part.end] for part in expected.parts
    ]
    assert [spaced.sentence_text(s) for s in spaced.sentences] == [
        expected.sentence_text(s) for s in expected.sentences
    ]


def test_json_lines(tmp_path: Path) -> None:
    path = file_of(
        tmp_path,
        article(abstract=abstract(abstract_text("It is.", ""))),
        article(pmid="<PMID>12</PMID>", title="<ArticleTitle/>", published=""),
        '<DeleteCitation><PMID Version="1">13</PMID></DeleteCitation>',
    )
    assert [json.loads(json.dumps(event_json(event))) for event in read(path)] == [
        {
            "op": "upsert",
            "pmid": "11",
            "version": 1,
            "title": "A title.",
            "abstract": "It is.",
            "year": 2001,
            "published": "2001-01-01",
            "sentences": [["title", 0, 8], ["abstract", 0, 6]],
            "parts": [["", 0, 6]],
            "standing": "sound",
            "metadata": metadata_json(Metadata(published=PartialDate(2001), status="MEDLINE")),
        },
        {
            "op": "upsert",
            "pmid": "12",
            "version": 1,
            "title": None,
            "abstract": None,
            "year": None,
            "published": None,
            "sentences": [],
            "parts": [],
            "standing": "sound",
            "metadata": metadata_json(Metadata(status="MEDLINE")),
        },
        {"op": "delete", "pmid": "13"},
    ]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<i>TERT</i> and r<sup>2</sup>&lt;0.25", "TERT and r2<0.25"),
        ("<b>All</b>", "All"),
        ("a <i>b <sub>c</sub></i> d", "a b c d"),
        ("a<i/>b", "ab"),
        ("<u>&lt;</u>4.5 &amp; more &#x3b1;", "<4.5 & more α"),
        ("H<sub>2</sub>O\n        of <i>E. coli</i>", "H2O of E. coli"),
        ("x<!-- not this -->y<?nor this?>z", "xyz"),
        ("<![CDATA[a < b]]> &amp; c", "a < b & c"),
        ("p\u00a0=\u20090.05\u2003\u00a0", "p\u00a0=\u20090.05\u2003\u00a0"),
        ("  a \t b\r\nc&#13;&#10;d  ", "a b c d"),
        ("𝛼 e\u0301", "𝛼 e\u0301"),
        (
            '<mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML"><mml:mi>x</mml:mi><mml:mo>=</mml:mo>'
            "<mml:mn>5</mml:mn></mml:math> units",
            "x=5 units",
        ),
        ("<DispFormula>a<i>b</i></DispFormula>tail", "abtail"),
    ],
)
def test_text_is_kept_whatever_the_markup(markup: str, text: str, tmp_path: Path) -> None:
    document = only(
        file_of(
            tmp_path,
            article(
                title=f"<ArticleTitle>{markup}</ArticleTitle>",
                abstract=abstract(abstract_text(markup)),
            ),
        )
    )
    assert document.title == document.abstract == text


CHARACTERS = st.characters(exclude_categories=["Cs", "Cc", "Cn"]) | st.sampled_from(" \n\t\u00a0")
NODES = st.recursive(
    st.text(CHARACTERS, max_size=8),
    lambda inner: st.tuples(st.sampled_from(["i", "b", "sup", "x"]), st.lists(inner, max_size=3)),
    max_leaves=8,
)


@given(nodes=st.lists(NODES, max_size=5), label=st.sampled_from(["", "LABEL", "A\u00a0b"]))
def test_any_mixture_of_text_and_markup(
    nodes: list[object], label: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    element = etree.Element("AbstractText", {"Label": label} if label else {})
    texts: list[str] = []

    def add(parent: etree._Element, node: object) -> None:
        if isinstance(node, tuple):
            child = etree.SubElement(parent, node[0])
            for inner in node[1]:
                add(child, inner)
            return
        text = str(node)
        texts.append(text)
        if len(parent):
            parent[-1].tail = (parent[-1].tail or "") + text
        else:
            parent.text = (parent.text or "") + text

    for node in nodes:
        add(element, node)
    xml = etree.tostring(element, encoding="unicode")
    document = only(file_of(tmp_path_factory.mktemp("any"), article(abstract=f"<Abstract>{xml}</Abstract>")))
    text = re.sub("[ \t\r\n]+", " ", "".join(texts)).strip(" ")
    assert document.abstract == (f"{label}: {text}" if label and text else text)


@pytest.mark.parametrize(
    ("title", "more", "expected"),
    [
        ("<ArticleTitle/>", "", ""),
        ("", "", ""),
        ("", "<VernacularTitle>Un <i>titre</i>.</VernacularTitle>", "Un titre."),
        ("<ArticleTitle>\n</ArticleTitle>", "<VernacularTitle>Un titre.</VernacularTitle>", "Un titre."),
        (
            "<ArticleTitle>[Not Available].</ArticleTitle>",
            "<VernacularTitle>Un titre.</VernacularTitle>",
            "Un titre.",
        ),
        ("<ArticleTitle>[Not Available].</ArticleTitle>", "", "[Not Available]."),
        (
            "<ArticleTitle>[A title].</ArticleTitle>",
            "<VernacularTitle>Un titre.</VernacularTitle>",
            "[A title].",
        ),
    ],
)
def test_titles(title: str, more: str, expected: str, tmp_path: Path) -> None:
    assert only(file_of(tmp_path, article(title=title, more=more))).title == expected


ENGLISH = f'<OtherAbstract Type="PIP">{abstract_text("In English.")}</OtherAbstract>'
SPANISH = f'<OtherAbstract Type="Publisher" Language="spa">{abstract_text("En español.")}</OtherAbstract>'


@pytest.mark.parametrize(
    ("given_abstract", "after", "expected"),
    [
        ("", "", ""),
        (abstract(), "", ""),
        (abstract(abstract_text(""), abstract_text(" ", "AIM")), "", ""),
        (abstract(abstract_text("Own.")), ENGLISH, "Own."),
        ("", SPANISH + ENGLISH, "In English."),
        (abstract(abstract_text("")), ENGLISH, "In English."),
        ("", SPANISH, ""),
        (abstract(abstract_text("x", "UNLABELLED")), "", "UNLABELLED: x"),
        (abstract(abstract_text("x", " A\n B ")), "", "A B: x"),
    ],
)
def test_abstracts(given_abstract: str, after: str, expected: str, tmp_path: Path) -> None:
    document = only(file_of(tmp_path, article(abstract=given_abstract, after=after)))
    assert document.abstract == expected
    assert bool(document.parts) == bool(expected)


@pytest.mark.parametrize(
    ("published", "more", "expected"),
    [
        ("<Year>1999</Year><Month>Sep</Month><Day>31</Day>", "", date(1999, 9, 1)),
        ("<Year>\n1999 </Year><Season>Summer</Season>", "", date(1999, 6, 1)),
        ("<MedlineDate>1998 Dec-1999 Jan</MedlineDate>", "", date(1998, 12, 1)),
        ("<Season>Summer</Season>", "", None),
        ("", "<ArticleDate><Year>2003</Year><Month>02</Month><Day>07</Day></ArticleDate>", date(2003, 2, 7)),
        (
            "<Year>2004</Year>",
            "<ArticleDate><Year>2003</Year><Month>12</Month><Day>07</Day></ArticleDate>",
            date(2004, 1, 1),
        ),
        ("<Year>20O4</Year>", "", None),
        ("", "", None),
    ],
)
def test_dates(published: str, more: str, expected: date | None, tmp_path: Path) -> None:
    assert only(file_of(tmp_path, article(published=published, more=more))).published == expected


def test_only_the_citations_own_pmid_counts(tmp_path: Path) -> None:
    name = "CommentsCorrections"
    comments = f"<{name}List><{name}><PMID>99</PMID></{name}></{name}List>"
    file = MedlineFile(file_of(tmp_path, article(after=comments), article(pmid="", after=comments)))
    assert [document.pmid for document in documents(file)] == ["11"]
    assert file.rejected == {"no PMID": 1}


def test_every_record_is_an_event_skipped_or_rejected(tmp_path: Path) -> None:
    file = MedlineFile(
        file_of(
            tmp_path,
            article(pmid="<PMID>1</PMID>"),
            "<PubmedBookArticle><BookDocument><PMID>2</PMID></BookDocument></PubmedBookArticle>",
            "<DeleteCitation><PMID>3</PMID><PMID Version='2'>4</PMID><PMID>0</PMID></DeleteCitation>",
            article(pmid="<PMID>007</PMID>"),
            article(pmid="<PMID Version='0'>5</PMID>"),
            article(pmid="<PMID Version='x'>5</PMID>"),
            article(pmid=""),
            "<PubmedArticle/>",
            "<Surprise/>",
            article(pmid="<PMID>1</PMID>", title="<ArticleTitle>Newer.</ArticleTitle>"),
        )
    )
    events = list(file)
    assert [e.pmid if isinstance(e, Delete) else e.document.pmid for e in events] == ["1", "3", "4", "1"]
    assert (file.upserts, file.deletes) == (2, 2)
    assert file.skipped == {"PubmedBookArticle": 1, "Surprise": 1}
    assert file.rejected == {
        "PMID is not a positive integer": 2,
        "version of the PMID is not a positive integer": 2,
        "no PMID": 2,
    }
    assert file.records == len(events) + 2 + 6 == 12
    lines = [rejection.line for rejection in file.rejections]
    text = file.path.read_text().splitlines()
    assert all("<PubmedArticle" in text[line - 1] or "<Delete" in text[line - 1] for line in lines)


def test_the_older_form(tmp_path: Path) -> None:
    older = re.sub(
        "</?PubmedArticle>|<PubmedData>.*</PubmedData>", "", article(pmid="<PMID>5</PMID>"), flags=re.S
    )
    deletion = "<DeleteCitation><PMID>6</PMID></DeleteCitation>"
    events = list(read(file_of(tmp_path, older, deletion, root="MedlineCitationSet")))
    assert events[1] == Delete("6")
    (document,) = documents(events)
    assert (document.pmid, document.version, document.title) == ("5", 1, "A title.")


def test_the_form_of_the_file_does_not_matter(tmp_path: Path) -> None:
    compact = re.sub(r">\s+<", "><", article(abstract=abstract(abstract_text("a <i>b</i> c"))))
    expected = list(read(file_of(tmp_path, compact)))
    pretty = file_of(tmp_path, compact.replace("><", ">\n    <").replace("a <i>", "a\n      <i>"))
    assert list(read(pretty)) == expected
    text = pretty.read_text()
    for number, content in enumerate(
        (
            text.replace("\n", "\r\n").encode(),
            gzip.compress(text.encode()),
            gzip.compress(text.encode()[:50]) + gzip.compress(text.encode()[50:]),
            b"\xef\xbb\xbf" + text.encode(),
            text.encode("utf-16"),
            ('<?xml version="1.0" encoding="iso-8859-1"?>' + text).encode("latin-1"),
        )
    ):
        other = tmp_path / f"other{number}"
        other.write_bytes(content)
        assert list(read(other)) == expected


def test_events_before_the_fault_come_first(tmp_path: Path) -> None:
    """So a reader must keep nothing until the end was reached."""
    path = file_of(tmp_path, *(article(pmid=f"<PMID>{n}</PMID>") for n in range(1, 1000)))
    path.write_text(path.read_text()[:-30])
    file = MedlineFile(path)
    with pytest.raises(MedlineError, match=r"test\.xml: broken XML: .*line [0-9]+"):
        documents(file)
    assert 0 < file.upserts < 1000


def test_samples(shared: Path) -> None:
    counts = {}
    for path in sorted((shared / "data" / "samples").iterdir()):
        file = MedlineFile(path)
        found = documents(file)
        counts[path.name] = len(found)
        assert file.records == len(found)
        for document in found:
            assert document.published is not None
            assert document.title
            assert not re.search(r"Element |<(i|b|u|sub|sup)>", document.title + document.abstract)
    assert counts == {
        "baseline-2024-head.xml": 3,
        "entrez-pubmed1.xml": 2,
        "entrez-pubmed2.xml": 2,
        "entrez-pubmed4.xml": 1,
        "entrez-pubmed5.xml": 1,
        "medsamp2010.xml.gz": 146,
    }


def test_gold_offsets_fit_the_pool(shared: Path) -> None:
    """On the first citations only; every one of the 9,237 fits (see docs/sentences.md)."""
    found = documents(islice(read(shared / "data" / "medline" / "pool0001.xml.gz"), 2000))
    known = {document.url: document for document in found}
    checked = 0
    for name in ("dev", "train"):
        with gzip.open(shared / "data" / "bioasq" / f"{name}.json.gz") as stream:
            questions = json.load(stream)["questions"]
        for snippet in (s for question in questions for s in question["snippets"]):
            if (document := known.get(snippet["document"])) is not None:
                text = document.text(snippet["beginSection"])
                assert (
                    text[snippet["offsetInBeginSection"] : snippet["offsetInEndSection"]] == snippet["text"]
                )
                checked += 1
    assert checked > 50
