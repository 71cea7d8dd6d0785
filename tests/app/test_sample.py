"""The bundled sample: what its README promises."""

import re
from collections import Counter
from pathlib import Path

import pytest
from lxml import etree

from bioqa.bioasq.domain import PUBMED_URL, Document, Response, Section, Snippet
from bioqa.bioasq.files import read_golden, read_testset
from bioqa.bioasq.golden import Golden
from bioqa.bioasq.metadata import Standing
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.medline.reader import MedlineFile

SAMPLE = Path(__file__).resolve().parents[2] / "app" / "sample"
FIRST_PMID = 90000001
SECTIONS: tuple[Section, ...] = ("title", "abstract")


@pytest.fixture(scope="module")
def documents() -> dict[str, Document]:
    """The citations by URL."""
    upserts = [event for event in MedlineFile(SAMPLE / "medline.xml") if isinstance(event, Upsert)]
    assert len({upsert.document.pmid for upsert in upserts}) == len(upserts)
    return {upsert.document.url: upsert.document for upsert in upserts}


@pytest.fixture(scope="module")
def golden() -> Golden:
    return read_golden(SAMPLE / "questions.json")


def snippets(golden: Golden) -> list[Snippet]:
    return [snippet for response in golden.responses for snippet in response.snippets]


def section_text(snippet: Snippet, documents: dict[str, Document]) -> str:
    document = documents[snippet.document]
    assert snippet.begin_section == snippet.end_section
    return {"title": document.title, "abstract": document.abstract}[snippet.begin_section]


def test_every_record_is_a_citation() -> None:
    file = MedlineFile(SAMPLE / "medline.xml")
    assert len(list(file)) == file.records == file.upserts == 168
    assert not file.skipped
    assert not file.rejections


def test_no_pmid_is_pubmeds(documents: dict[str, Document]) -> None:
    pmids = sorted(int(document.pmid) for document in documents.values())
    assert pmids == list(range(FIRST_PMID, FIRST_PMID + 168))


def test_five_citations_on_each_of_33_topics() -> None:
    root = etree.parse(SAMPLE / "medline.xml").getroot()
    topics = Counter(keyword.text for keyword in root.iterfind(".//Keyword[@MajorTopicYN='Y']"))
    assert len(topics) == 33
    assert set(topics.values()) == {5}


def test_dates_are_understood_and_varied(documents: dict[str, Document]) -> None:
    years = {document.published.year for document in documents.values() if document.published}
    assert all(document.published for document in documents.values())
    assert (min(years), max(years)) == (1988, 2024)
    root = etree.parse(SAMPLE / "medline.xml").getroot()
    forms = Counter(tuple(part.tag for part in date) for date in root.iter("PubDate"))
    assert set(forms) == {
        ("Year",),
        ("Year", "Month"),
        ("Year", "Month", "Day"),
        ("Year", "Season"),
        ("MedlineDate",),
    }


def test_abstracts_are_of_realistic_length(documents: dict[str, Document]) -> None:
    lengths = [len(document.abstract.split()) for document in documents.values() if document.abstract]
    assert len(lengths) == 163
    assert 90 <= min(lengths) <= max(lengths) <= 220


def test_what_real_files_hold(documents: dict[str, Document]) -> None:
    source = (SAMPLE / "medline.xml").read_text("utf-8")
    for tag in ("i", "b", "sub", "sup"):
        assert f"<{tag}>" in source
    abstracts = [document.abstract for document in documents.values()]
    for character in "\u00a0\u2009αβγΔ±≥":
        assert any(character in abstract for abstract in abstracts), f"U+{ord(character):04X}"
    structured = [document for document in documents.values() if len(document.parts) > 1]
    assert len(structured) >= 25
    assert all(part.label for document in structured for part in document.parts)
    assert [document.pmid for document in documents.values() if document.version == 2] == ["90000155"]
    assert source.count("<ArticleTitle>[Not Available].</ArticleTitle>") == 1


def test_what_readers_must_see(documents: dict[str, Document]) -> None:
    """A withdrawn, a doubted and a corrected article, each linked with its notice in both directions."""
    standings = {d.pmid: d.metadata.standing for d in documents.values()}
    assert [pmid for pmid, standing in standings.items() if standing is Standing.RETRACTED] == ["90000133"]
    assert [pmid for pmid, standing in standings.items() if standing is Standing.CONCERN] == ["90000142"]
    by_pmid = {document.pmid: document.metadata for document in documents.values()}
    for pmid, kind in (
        ("90000133", "RetractionIn"),
        ("90000142", "ExpressionOfConcernIn"),
        ("90000152", "ErratumIn"),
    ):
        (correction,) = by_pmid[pmid].corrections
        assert correction.kind == kind
        (back,) = by_pmid[correction.pmid].corrections
        assert back.pmid == pmid
        assert by_pmid[correction.pmid].standing in NOTICES


NOTICES = (Standing.RETRACTION_NOTICE, Standing.CONCERN_NOTICE, Standing.ERRATUM_NOTICE)


def test_records_are_complete(documents: dict[str, Document]) -> None:
    every = [document.metadata for document in documents.values()]
    assert all(m.authors and m.journal.abbreviation and m.languages and m.types for m in every)
    assert any(author.group for m in every for author in m.authors)
    assert any(author.orcid for m in every for author in m.authors)
    assert any(author.suffix for m in every for author in m.authors)
    assert [m.authors_complete for m in every].count(False) == 1
    assert {language for m in every for language in m.languages} == {"eng", "fre", "ger", "spa", "chi"}
    assert any(len(m.languages) > 1 for m in every)
    assert any(m.vernacular_title for m in every)
    assert any("Preprint" in m.types for m in every)
    assert {m.status for m in every} == {"MEDLINE", "PubMed-not-MEDLINE", "In-Process", "Publisher"}
    assert any(m.electronic for m in every)
    for field in ("doi", "pmcid", "headings", "substances", "markup"):
        filled = [bool(getattr(m, field)) for m in every]
        assert any(filled), field
        assert not all(filled), field
    assert {mark.tag for m in every for mark in m.markup} == {"sup", "sub", "i", "b"}


def test_no_sentence_stands_twice(documents: dict[str, Document]) -> None:
    sentences = Counter(
        sentence
        for document in documents.values()
        for sentence in re.split(r"(?<=[.?!]) (?=[A-Z])", document.abstract)
        if len(sentence) > 20
    )
    assert [sentence for sentence, count in sentences.items() if count > 1] == []


def test_questions_are_regular(golden: Golden) -> None:
    assert golden.irregularities == {}
    questions = [response.question for response in golden.responses]
    assert list(read_testset(SAMPLE / "questions.json")) == questions
    assert Counter(question.type for question in questions) == {
        "factoid": 11,
        "yesno": 6,
        "list": 4,
        "summary": 4,
    }
    assert all(re.fullmatch("[0-9a-f]{24}", question.id) for question in questions)


def test_each_question_has_gold_and_distractors(golden: Golden, documents: dict[str, Document]) -> None:
    for response in golden.responses:
        assert 2 <= len(response.documents) <= 4
        assert set(response.documents) <= set(documents)
        assert {snippet.document for snippet in response.snippets} == set(response.documents)
        assert len(topic(response)) == 1


def topic(response: Response) -> set[int]:
    """Topics of the gold documents: five citations in a row are on one."""
    return {(int(url.removeprefix(PUBMED_URL)) - FIRST_PMID) // 5 for url in response.documents}


def test_gold_offsets_are_exact(golden: Golden, documents: dict[str, Document]) -> None:
    assert len(snippets(golden)) >= 100
    assert {snippet.begin_section for snippet in snippets(golden)} == {"title", "abstract"}
    for snippet in snippets(golden):
        assert section_text(snippet, documents)[snippet.begin : snippet.end] == snippet.text


def test_gold_snippets_are_whole_sentences(golden: Golden, documents: dict[str, Document]) -> None:
    for snippet in snippets(golden):
        text = section_text(snippet, documents)
        parts = {part.begin for part in documents[snippet.document].parts}
        assert snippet.text[-1] in ".?"
        assert snippet.begin in parts or text[: snippet.begin] == "" or text[snippet.begin - 2] in ".?"
        assert snippet.end == len(text) or snippet.end in parts or text[snippet.end] == " "


def test_the_splitter_finds_nearly_all_gold_sentences(golden: Golden, documents: dict[str, Document]) -> None:
    """A snippet that begins with a section's label is two spans, the label being one of its own."""
    found = []
    for snippet in snippets(golden):
        sentences = [s for s in documents[snippet.document].sentences if s.section == snippet.begin_section]
        begins = snippet.begin in {sentence.begin for sentence in sentences}
        found.append(begins and snippet.end in {sentence.end for sentence in sentences})
    assert sum(found) / len(found) >= 0.97


def test_the_sample_is_small() -> None:
    assert sum(path.stat().st_size for path in SAMPLE.iterdir()) < 700_000
