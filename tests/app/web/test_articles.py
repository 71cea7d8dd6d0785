"""GET /article/PMID: a record as a page."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers.answering import Answerer
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Document, Part
from bioqa.bioasq.metadata import (
    Author,
    Correction,
    Heading,
    Journal,
    Markup,
    Metadata,
    PartialDate,
    Qualifier,
)
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.search.tantivy.index import TantivyIndex
from tests.app.engines import local
from tests.app.rankers import LexicalRanker
from tests.app.requests import is_problem
from tests.app.web.html import BROWSER, read, texts

ABSTRACT = "AIM: To find r2 in rats.RESULTS: Rats had it."
AIM = ABSTRACT.index("RESULTS")
FULL = Document(
    "11", 2, "Rats of Rattus rattus.", ABSTRACT,
    parts=(Part("AIM", 0, AIM), Part("RESULTS", AIM, len(ABSTRACT))),
    metadata=Metadata(
        authors=(Author("Tamsin", "Kay L", "KL"), Author("Vellum", "Q", "Q"), Author(group="Rat Group")),
        authors_complete=False,
        journal=Journal("Invent J", "Inventions", "1234-5678"),
        volume="3", issue="2", pages="5-9",
        published=PartialDate(2015, 3),
        doi="10.1/(rats)<1>",
        pmcid="PMC12",
        types=("Journal Article", "Review"),
        headings=(
            Heading("Rats", "D051381", True),
            Heading("Diabetes Mellitus, Type 2", "D003924", False, (Qualifier("drug therapy", True),)),
        ),
        keywords=("whiskers & tails",),
        substances=("Water",),
        languages=("eng",),
        status="MEDLINE",
        corrections=(Correction("RetractionIn", "12", "Invent J. 2016"),),
        vernacular_title="Ratten",
        markup=(
            Markup("title", 8, 21, "i"),
            Markup("abstract", ABSTRACT.index("r2") + 1, ABSTRACT.index("r2") + 2, "sup"),
        ),
    ),
)  # fmt: skip
MANY = tuple(Author(f"Name{number}", "A", "A") for number in range(3000))
LONG = Document("13", 1, "مرحبا 糖尿病 rats " * 500, "糖尿病" * 3000, metadata=Metadata(authors=MANY))
BARE = Document("14", 1, "", "")


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with TantivyIndex.create(tmp_path_factory.mktemp("indices") / "records") as index:
        index.apply([Upsert(each) for each in (FULL, LONG, BARE)])
        index.commit()
        with TestClient(create_app(Settings(), local(Answerer(index, LexicalRanker())))) as client:
            yield client


def test_all_that_the_record_says_is_there(records: TestClient) -> None:
    page = read(records.get("/article/11"))
    assert texts(page, "//h1") == ["Retracted Rats of Rattus rattus."]
    assert texts(page, "//h1//i") == ["Rattus rattus"]
    assert texts(page, "//p[@class='passage']//sup") == ["2"]
    assert texts(page, "//h3[@class='label']") == ["AIM", "RESULTS"]
    assert texts(page, "//p[@class='passage']") == ["To find r2 in rats.", "Rats had it."]
    assert texts(page, "//p[@class='authors']") == ["Tamsin KL, Vellum Q; Rat Group, et al."]
    assert texts(page, "//*[@class='kind']") == ["Review"]
    assert texts(page, "//*[@class='source']") == ["Invent J. 2015 Mar;3(2):5-9."]
    assert texts(page, "//p[@class='withdrawn']/span") == ["Retraction in: Invent J. 2016. PMID: 12."]
    links = page.xpath("//p[@class='facts']/*[@class='identifiers']//a/@href")
    assert links[:3] == [
        "https://pubmed.ncbi.nlm.nih.gov/11/",
        "https://doi.org/10.1/(rats)%3C1%3E",
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC12/",
    ]
    assert "Ratten" in page.text_content()
    record = texts(page, "//section[@aria-labelledby='record']//dd")
    assert record[:4] == ["Journal Article, Review", "English", "Inventions, ISSN 1234-5678", "MEDLINE"]


def test_every_subject_is_a_search(records: TestClient) -> None:
    page = read(records.get("/article/11"))
    subjects = "//ul[@class='subjects']/li"
    assert texts(page, subjects) == [
        "Rats*", "Diabetes Mellitus, Type 2 / drug therapy*", "whiskers & tails", "Water"
    ]  # fmt: skip
    for address in page.xpath(f"{subjects}/a/@href"):
        assert texts(read(records.get(address)), "//h1") == ["Ask a biomedical question"]


def test_it_can_be_cited_in_three_styles_and_saved(records: TestClient) -> None:
    page = read(records.get("/article/11"))
    nlm, vancouver, apa = texts(page, "//*[@id='citations']//dd")
    assert nlm.startswith(
        "Tamsin KL, Vellum Q; Rat Group, et al. Rats of Rattus rattus. Invent J. 2015 Mar;3(2):5-9."
    )
    assert vancouver.startswith("Tamsin KL, Vellum Q; Rat Group, et al.")
    assert apa.startswith("Tamsin, K. L., Vellum, Q., Rat Group, et al.")
    assert all("Retracted" in style for style in (nlm, vancouver, apa))
    assert page.xpath("//*[@id='citations']//button/@data-copy-text") == [nlm, vancouver, apa]
    for address in page.xpath("//a[@download]/@href"):
        assert records.get(address).status_code == 200


def test_similar_articles_are_listed(client: TestClient) -> None:
    page = read(client.get("/article/90000003"))
    similar = "//ol[@class='similar']/li/a"
    assert len(page.xpath(similar)) == 5
    assert all("warfarin" in title for title in texts(page, similar))
    for address in page.xpath(f"{similar}/@href"):
        assert read(client.get(address)) is not None


def test_thousands_of_authors_and_long_titles_break_nothing(records: TestClient) -> None:
    page = read(records.get("/article/13"))
    first, everybody = texts(page, "//p[@class='authors']")
    assert first.endswith("Name24 A, et al.")
    assert everybody.endswith("Name2999 A")
    assert len(texts(page, "//title")[0]) < 250
    found = read(records.get("/?q=rats"))
    assert len(max(texts(found, "//article/p[contains(@class, 'authors')]"), key=len)) < 100


def test_a_record_without_anything_is_a_page(records: TestClient) -> None:
    page = read(records.get("/article/14"))
    assert texts(page, "//h1") == ["No title"]
    assert not page.xpath("//section[@aria-labelledby='subjects' or @aria-labelledby='similar']")


@pytest.mark.parametrize("pmid", ["999", "0", "x", "1" * 90, "%3Cb%3E"])
def test_what_is_not_in_the_index_is_not_found(records: TestClient, pmid: str) -> None:
    page = read(records.get(f"/article/{pmid}", headers=BROWSER), 404)
    assert "in this index" in page.text_content()
    is_problem(records.get(f"/article/{pmid}"), 404)
