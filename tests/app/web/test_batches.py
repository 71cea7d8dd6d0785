"""The pages at /batches do what the API does."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers.engine import Engine
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from tests.app.jobs.waiting import finished
from tests.app.requests import BODY, TESTSET
from tests.app.web.html import BROWSER, read, texts

API = "/v1/bioasq/batches"
SETTINGS = Settings(max_body_bytes=2000, max_upload_bytes=20_000, max_batches=2)


@pytest.fixture
def batching(engine: Engine) -> Iterator[TestClient]:
    with TestClient(create_app(SETTINGS, engine), headers=BROWSER) as client:
        yield client


@pytest.fixture
def idle(engine: Engine) -> TestClient:
    """A service that takes batches in and answers none."""
    return TestClient(create_app(SETTINGS, engine), headers=BROWSER)


def submit(client: TestClient, testset: object = TESTSET, **texts: str) -> Any:
    files = {"file": ("testset", json.dumps(testset), "application/octet-stream")}
    return client.post("/batches", files=files, data={"ranker": "", **texts}, follow_redirects=False)


def test_from_the_file_to_the_submission(batching: TestClient) -> None:
    assert "None yet." in texts(read(batching.get("/batches")), "//main")[0]
    testset = {
        "questions": [*TESTSET["questions"], {"id": "bad", "body": " <i> "}, {"id": "worse", "body": " "}]
    }
    taken = submit(batching, testset, ranker="lexical")
    assert taken.status_code == 303
    address = taken.headers["location"]
    identifier = address.removeprefix("/batches/")
    finished(batching, f"{API}/{identifier}")
    page = read(batching.get(address))
    assert texts(page, "//p[@role='status']") == ["Done"]
    assert page.xpath("//progress/@max | //progress/@value") == ["5", "5"]
    assert "4 of 5 questions answered, 1 without answer." in texts(page, "//main")[0]
    assert texts(page, "//section[@aria-labelledby='faults']//li") == [
        "questions[4].body (worse) must contain more than white space"
    ]
    assert not page.xpath("//*[@hx-get] | //meta[@http-equiv]")
    assert texts(page, "//h1") == ["testset"]
    submission, run, evaluating = page.xpath("//ul[@class='actions']//a/@href")
    assert evaluating == f"/evaluate?batch={identifier}"
    assert [q["id"] for q in batching.get(submission).json()["questions"]] == ["a", "b", "c", "bad", "worse"]
    assert batching.get(run).text.startswith("a Q0 ")
    listed = read(batching.get("/batches"))
    assert listed.xpath("//ul[@class='rows']//a/@href") == [address]
    assert texts(listed, "//ul[@class='rows']//a") == ["testset"]
    assert texts(listed, "//ul[@class='rows']//span[@class='state done']") == ["done"]


def test_answers_are_evaluated_without_being_fetched_first(batching: TestClient) -> None:
    address = submit(batching).headers["location"]
    identifier = address.removeprefix("/batches/")
    finished(batching, f"{API}/{identifier}")
    page = read(batching.get(f"/evaluate?batch={identifier}"))
    assert page.xpath("//input[@type='file']/@name") == ["submission", "golden", "testset"]
    assert page.xpath("//input[@name='batch'][@checked]/@value") == [identifier]
    assert not page.xpath("//input[@name='submission']/@required")
    golden = batching.get(f"{API}/{identifier}/submission").content
    files = {"golden": ("golden.json", golden)}
    measured = read(batching.post("/evaluate", files=files, data={"batch": identifier, "editions": "5"}))
    # For one of the three questions nothing is found.
    assert texts(measured, "//div[@class='tables']//tr[th='Recall']/td") == ["0.6667", "0.6667"]
    assert texts(measured, "//section[@aria-labelledby='faults']/h2") == ["The submission is valid"]
    # Once more, beside a file.
    both = batching.post(
        "/evaluate", files={**files, "submission": ("theirs.json", golden)}, data={"batch": identifier}
    )
    names = [*dict.fromkeys(texts(read(both), "//table[@class='measures']//td[@class='name']"))]
    assert names == ["testset", "theirs"]
    assert batching.get("/evaluate?batch=unknown").status_code == 404
    assert batching.post("/evaluate", data={"batch": "unknown"}, files=files).status_code == 404


def test_answers_that_are_not_there_yet_cannot_be_evaluated(idle: TestClient) -> None:
    identifier = submit(idle).headers["location"].removeprefix("/batches/")
    files = {"golden": ("golden.json", b'{"questions": []}')}
    refused = read(idle.post("/evaluate", data={"batch": identifier}, files=files), 422)
    assert texts(refused, "//ul[@id='faults']/li")[0].startswith("The test set cannot be evaluated")


def test_an_unfinished_one_is_watched_and_cancelled_and_then_removed(idle: TestClient) -> None:
    address = submit(idle).headers["location"]
    page = read(idle.get(address))
    assert texts(page, "//p[@role='status']") == ["Queued"]
    assert page.xpath("//noscript/meta/@http-equiv") == ["refresh"]
    assert page.xpath("//div[@id='batch']/@hx-get") == [address]
    assert page.xpath("//progress/@value") == ["0"]
    assert not page.xpath("//ul[@class='actions']")
    assert idle.post(f"{address}/remove", follow_redirects=False).headers["location"] == address
    (cancel,) = page.xpath("//form/@action")
    assert cancel == f"{address}/cancel"
    page = read(idle.post(cancel))
    assert texts(page, "//p[@role='status']") == ["Cancelled"]
    assert texts(read(idle.post(cancel)), "//p[@role='status']") == ["Cancelled"]
    (remove,) = page.xpath("//form/@action")
    assert texts(read(idle.post(remove)), "//h1") == ["Test sets"]
    assert texts(read(idle.get(address), 404), "//h1") == ["There is nothing here"]


def test_cancelling_what_is_done_meanwhile_removes_nothing(batching: TestClient) -> None:
    address = submit(batching).headers["location"]
    finished(batching, address.replace("/batches", API))
    page = read(batching.post(f"{address}/cancel"))
    assert texts(page, "//p[@role='status']") == ["Done"]


def test_what_cannot_be_handed_in(idle: TestClient) -> None:
    def fault(response: Any, status: int) -> str:
        page = read(response, status)
        assert page.xpath("//a[.='Back']/@href") == ["/batches"]
        return texts(page, "//section[contains(@class, 'problem')]")[0]

    broken = idle.post("/batches", files={"file": ("x", b'{"questions": [', "application/json")})
    assert "The test set not JSON" in fault(broken, 422)
    assert "The test set is missing" in fault(idle.post("/batches", files={"other": ("x", b"1")}), 422)
    assert "questions must be 1 to" in fault(submit(idle, {"questions": []}), 422)
    assert "The ranker must be one of" in fault(submit(idle, ranker="best"), 422)
    assert "Too large" in fault(submit(idle, {"questions": [{"id": "a", "body": "x" * 30_000}]}), 413)
    long = {"questions": [{"id": f"q{n}", "body": BODY} for n in range(60)]}
    assert len(json.dumps(long)) > SETTINGS.max_body_bytes
    assert [submit(idle, long).status_code for _ in range(3)] == [303, 303, 429]


@pytest.mark.parametrize("path", ["", "/x/cancel", "/x/remove"])
def test_other_sites_pages_can_do_nothing(idle: TestClient, path: str) -> None:
    headers = {"Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}
    assert texts(read(idle.post(f"/batches{path}", headers=headers), 403), "//h1") == ["This is not allowed"]


def test_the_list_has_pages(engine: Engine) -> None:
    client = TestClient(create_app(Settings(max_batches=30), engine))
    addresses = [submit(client).headers["location"] for _ in range(22)]
    first = read(client.get("/batches"))
    links = "//ul[@class='rows']//a/@href"
    (older,) = first.xpath("//a[.='Older ones']/@href")
    second = read(client.get(older))
    assert first.xpath(links) + second.xpath(links) == addresses[::-1]
    assert not second.xpath("//a[.='Older ones']")
