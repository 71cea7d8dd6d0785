"""Explanations over HTTP."""

import asyncio
from collections.abc import Sequence

import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers import service as serving
from bioqa.app.answers.answer import Answer
from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.question import DEFAULT_OPTIONS
from bioqa.app.answers.refusals import QueueFull, TimedOut
from bioqa.app.answers.service import Service
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Question
from tests.app.engines import local
from tests.app.requests import BODY, is_problem

EXPLAIN = "/v1/explain"


def test_it_says_what_the_page_says(client: TestClient) -> None:
    pmid = "https://pubmed.ncbi.nlm.nih.gov/90000001/"
    asked = {"body": BODY, "pmid": pmid, "max_documents": 5, "max_snippets": 5}
    found = client.post(EXPLAIN, json=asked)
    assert found.status_code == 200
    page = client.get("/explain.json", params={"q": BODY, "pmid": "90000001", "n": 5})
    assert found.json() == page.json()


def test_an_article_that_is_not_there_and_a_question_without_words(client: TestClient) -> None:
    absent = client.post(EXPLAIN, json={"body": BODY, "pmid": "123"}).json()
    assert absent["retrieval"]["title"] is None
    assert (absent["ranking"], absent["selection"]) == (None, None)
    assert absent["needed"] == ["The index does not have the article: load a file of MEDLINE that does."]
    listed = client.post(EXPLAIN, json={"body": "90000001[pmid]", "pmid": "90000001"}).json()
    assert (listed["retrieval"], listed["needed"]) == (None, [])


@pytest.mark.parametrize(
    "wrong",
    [
        {"pmid": "x"},
        {"pmid": None},
        {},
        {"pmid": "1", "offset": 10},
        {"pmid": "1", "order": "date"},
        {"pmid": "1", "facets": True},
        {"pmid": "1", "include": ["abstract"]},
        {"pmid": "1", "unknown": 1},
        {"pmid": "1", "ranker": "none of them"},
    ],
)
def test_what_is_refused(client: TestClient, wrong: dict[str, object]) -> None:
    is_problem(client.post(EXPLAIN, json={"body": BODY, **wrong}), 422)


class _Blocked(Service):
    """Whose answers wait until they are let go."""

    begun: int
    free: asyncio.Event
    given: Answer

    async def answer(self, *arguments: object, **options: object) -> Answer:
        self.begun += 1
        await self.free.wait()
        return self.given


@pytest.fixture
def blocked(answerer: Answerer) -> _Blocked:
    made = _Blocked(Settings(request_timeout_s=5), local(answerer, threads=4))
    made.begun = 0
    made.given = answerer.answer(Question("", BODY), DEFAULT_OPTIONS)
    return made


def test_half_of_the_places_are_for_explanations(blocked: _Blocked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "MOST_EXPLANATIONS", 3)

    async def ask() -> Sequence[Answer]:
        blocked.free = asyncio.Event()
        tasks = [asyncio.create_task(blocked.explain(Question("", BODY), DEFAULT_OPTIONS)) for _ in range(3)]
        await asyncio.sleep(0.05)
        assert blocked.begun == 2
        with pytest.raises(QueueFull, match="3 explanations are being made"):
            await blocked.explain(Question("", BODY), DEFAULT_OPTIONS)
        blocked.free.set()
        return await asyncio.gather(*tasks)

    assert len(asyncio.run(ask())) == blocked.begun == 3
    assert blocked.counts.refused == 1


def test_who_waits_too_long_for_a_place_is_told(blocked: _Blocked) -> None:
    blocked.settings = blocked.settings.model_copy(update={"request_timeout_s": 0.05})

    async def ask() -> None:
        blocked.free = asyncio.Event()
        first = [asyncio.create_task(blocked.explain(Question("", BODY), DEFAULT_OPTIONS)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(TimedOut):
            await blocked.explain(Question("", BODY), DEFAULT_OPTIONS)
        blocked.free.set()
        await asyncio.gather(*first)
        await blocked.explain(Question("", BODY), DEFAULT_OPTIONS)

    asyncio.run(ask())
    assert blocked.counts.timed_out == 1


def test_waiting_for_a_place_counts_as_waiting_to_be_ranked(blocked: _Blocked) -> None:
    async def ask() -> None:
        blocked.free = asyncio.Event()
        first = [asyncio.create_task(blocked.explain(Question("", BODY), DEFAULT_OPTIONS)) for _ in range(2)]
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_later(0.3, blocked.free.set)
        with pytest.raises(TimedOut):
            await blocked.explain(Question("", BODY), DEFAULT_OPTIONS, timeout_s=0.02)
        await asyncio.gather(*first)

    asyncio.run(ask())
    assert blocked.counts.timed_out == 1
