"""Errors: pages to browsers, problems to programs, with the same status and headers."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.engine import Engine
from bioqa.app.answers.refusals import QueueFull
from bioqa.app.answers.service import Service
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Candidate
from bioqa.indexer.search.base import SearchIndex
from bioqa.models.answers.ranking import Ranking
from bioqa.system.errors import BioqaError
from tests.app.engines import local, over
from tests.app.rankers import LexicalRanker
from tests.app.requests import is_problem
from tests.app.web.html import BROWSER, read, texts


def away() -> SearchIndex:
    raise BioqaError("http://user:secret@search:9200 is away")


@pytest.fixture
def without_index() -> TestClient:
    return TestClient(create_app(Settings(), over(away)))


@pytest.mark.parametrize("path", ["/", "/answer.json"])
def test_without_an_index_the_question_is_kept(without_index: TestClient, path: str) -> None:
    response = without_index.get(path, params={"q": "rats?"}, headers=BROWSER)
    page = read(response, 503)
    assert int(response.headers["retry-after"]) > 0
    assert page.xpath("//input[@name='q']/@value") == ["rats?"]
    assert texts(page, "//p[@role='status']") == ["No answer at the moment"]
    assert "secret" not in response.text
    assert f"try again in {response.headers['retry-after']} seconds" in response.text


def test_programs_get_problems_and_htmx_gets_pages(without_index: TestClient) -> None:
    is_problem(without_index.get("/answer.json?q=rats", headers={"Accept": "application/json"}), 503)
    is_problem(without_index.get("/?q=rats"), 503)
    read(without_index.get("/?q=rats", headers={"HX-Request": "true"}), 503)
    is_problem(without_index.get("/v1/documents/90000001", headers=BROWSER), 503)


def test_the_form_is_there_without_an_index(without_index: TestClient) -> None:
    read(without_index.get("/", headers=BROWSER))


def test_an_address_that_is_none(client: TestClient) -> None:
    page = read(client.get("/nothing?q=rats", headers=BROWSER), 404)
    assert texts(page, "//h1") == ["There is nothing here"]
    is_problem(client.get("/nothing"), 404)
    assert client.post("/", headers=BROWSER).headers["allow"] == "GET, HEAD"


def test_who_has_no_key_is_asked_for_it_and_told_nothing(engine: Engine, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.touch()
    client = TestClient(create_app(Settings(api_keys_file=keys), engine))
    response = client.get("/?q=rats", headers=BROWSER)
    page = read(response, 401)
    assert texts(page, "//h1") == ["A key is needed"]
    assert not page.xpath("//form")
    assert "lexical" not in response.text
    assert any(each.startswith("Basic") for each in response.headers.get_list("www-authenticate"))
    for address in page.xpath("//link/@href | //script/@src"):
        assert client.get(address).status_code == 200


class BrokenRanker(LexicalRanker):
    name = "broken"

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        raise RuntimeError("secret")


def test_a_fault_of_ours_is_a_page_that_tells_no_secret(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(*_: object, **__: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(Service, "answer", answer)
    response = client.get("/?q=metformin", headers=BROWSER)
    assert texts(read(response, 500), "//h2")[0] == "Something went wrong"
    assert "secret" not in response.text
    is_problem(client.get("/?q=metformin"), 500)


def test_a_failing_ranker_leaves_an_answer_that_is_marked_as_degraded(answerer: Answerer) -> None:
    app = create_app(Settings(), local(answerer, BrokenRanker()))
    with TestClient(app) as client:
        page = read(client.get("/?q=metformin&ranker=broken"))
        assert texts(page, "//h2")[0] == "Degraded answer"
        assert "The ranker broken failed" in page.text_content()
        assert texts(page, "//p[@role='status']")[0].startswith("Degraded answer: 7 articles")
        assert texts(page, "//select[@name='ranker']/option[@selected]") == ["broken"]
        assert "Degraded answer" not in texts(read(client.get("/?q=metformin")), "//h2")


def test_a_full_line_tells_when_to_come_again(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(*_: object, **__: object) -> None:
        raise QueueFull("64 questions wait already", 7)

    monkeypatch.setattr(Service, "answer", answer)
    response = TestClient(create_app(Settings(), engine)).get("/?q=rats", headers=BROWSER)
    page = read(response, 429)
    assert response.headers["retry-after"] == "7"
    assert page.xpath("//input[@name='q']/@value") == ["rats"]
    assert "64 questions wait already. Please try again in 7 seconds." in " ".join(texts(page, "//main"))
