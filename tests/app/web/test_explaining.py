"""The page at /explain, and the links to it."""

from fastapi.testclient import TestClient

from tests.app.requests import BODY
from tests.app.web.html import BROWSER, read, texts


def test_each_article_has_a_link_to_its_explanation(client: TestClient) -> None:
    answer = read(client.get("/", params={"q": BODY, "n": 3}))
    links = answer.xpath("//article//a[@class='why']/@href")
    assert len(links) == 3
    for rank, link in enumerate(links, start=1):
        page = read(client.get(link))
        assert texts(page, "//h2[@id='ranking']")[0].startswith(f"2. lexical: number {rank} of ")
        assert texts(page, "//h2[@id='selection']") == ["3. Selection: selected"]
        (back,) = page.xpath("//a[.='Back to the answer']/@href")
        assert len(read(client.get(back)).xpath("//article")) == 3


def test_the_page_shows_what_the_json_says(client: TestClient) -> None:
    asked = {"q": BODY, "pmid": "90000001", "n": "5", "type": "", "free": "false"}
    made = client.get("/explain.json", params=asked).json()
    page = read(client.get("/explain", params=asked))
    retrieval = made["retrieval"]
    assert texts(page, "//h2[@id='retrieval']") == [f"1. BM25: number {retrieval['rank']}"]
    rows = texts(page, "//section[@aria-labelledby='retrieval']//tbody/tr/th")
    assert rows == [term["text"] for term in retrieval["terms"]]
    words = texts(page, "//section[@aria-labelledby='ranking']//tbody/tr/th")
    assert words == [each["word"] for each in made["ranking"]["words"]]
    assert texts(page, "//section[@aria-labelledby='needed']//li") == [
        " ".join(each.split()) for each in made["needed"]
    ]
    assert page.xpath("//input[@name='max_documents']/@value") == ["5"]
    (again,) = page.xpath("//a[.='JSON']/@href")
    assert client.get(again).json() == made


def test_an_article_that_is_not_there(client: TestClient) -> None:
    page = read(client.get("/explain", params={"q": BODY, "pmid": "123"}))
    assert texts(page, "//h2[@id='retrieval']") == ["123 is not in the index"]
    assert not page.xpath("//h2[@id='ranking']")
    outside = read(client.get("/explain", params={"q": BODY, "pmid": "90000040"}))
    assert "had it been a candidate" in texts(outside, "//section[@aria-labelledby='ranking']")[0]


def test_what_cannot_be_explained(client: TestClient) -> None:
    listed = read(client.get("/explain", params={"q": "90000001[pmid]", "pmid": "90000001"}))
    assert "only listed" in texts(listed, "//p[@class='notice']")[0]
    made = client.get("/explain.json", params={"q": "90000001[pmid]", "pmid": "90000001"}).json()
    assert (made["retrieval"], made["needed"]) == (None, [])
    for params in ({"q": BODY, "pmid": "x"}, {"q": BODY}, {"pmid": "1"}, {"q": " ", "pmid": "1"}):
        read(client.get("/explain", params=params, headers=BROWSER), 422)


def test_a_listed_article_has_no_link(client: TestClient) -> None:
    page = read(client.get("/", params={"q": "1900:2100[dp]", "n": 3}))
    assert page.xpath("//article")
    assert not page.xpath("//a[@class='why']")
