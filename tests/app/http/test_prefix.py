"""A service under a path of a larger site."""

import json
import re
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers.engine import Engine
from bioqa.app.http.prefix import PrefixError, parse_prefix
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from tests.app.jobs.waiting import finished
from tests.app.requests import BODY, TESTSET
from tests.app.web.html import BROWSER, read

ROOT = "/tools/bioqa"
PAGES = {"/": 200, f"/?q={BODY}": 200, "/batches": 200, "/evaluate": 200, "/?q=": 422, "/nowhere": 404}
LINKS = "//@href | //@src | //@action | //@hx-get | //@data-copy"


@pytest.fixture(params=[ROOT, ""], ids=["left", "removed"])
def before(request: pytest.FixtureRequest) -> str:
    """What a proxy passes on of the prefix."""
    return str(request.param)


@pytest.fixture(scope="module")
def below(engine: Engine) -> Iterator[TestClient]:
    app = create_app(Settings(root_path=ROOT), engine)
    with TestClient(app, follow_redirects=False, headers=BROWSER) as client:
        yield client


def batch(client: TestClient, before: str) -> str:
    """The address of a page of a batch, which the form leads to."""
    files = {"file": ("testset", json.dumps(TESTSET), "application/json")}
    return client.post(f"{before}/batches", files=files).headers["location"]


def test_every_link_of_every_page_leads_below_the_prefix(below: TestClient, before: str) -> None:
    made = batch(below, before)
    identifier = made.removeprefix(f"{ROOT}/batches/")
    finished(below, f"/v1/bioasq/batches/{identifier}")
    seen = set()
    for path, status in (PAGES | {f"/batches/{identifier}": 200}).items():
        links = read(below.get(before + path), status).xpath(LINKS)
        own = [link for link in links if not re.match(r"#|https?://", link)]
        assert own, path
        for link in own:
            assert link.startswith(f"{ROOT}/"), (path, link)
        seen |= set(own)
    assert {f"{ROOT}/", f"{ROOT}/evaluate", f"{ROOT}/v1/bioasq/batches/{identifier}/submission"} < seen
    for link in seen - {f"{ROOT}/openapi.json"}:
        # Addresses to which forms are sent miss the form's fields.
        assert below.get(before + link.removeprefix(ROOT)).status_code in (200, 405, 422), link


def test_redirections_and_locations_lead_below_the_prefix(below: TestClient, before: str) -> None:
    made = batch(below, before)
    assert made.startswith(f"{ROOT}/batches/")
    taken = below.post(f"{before}/v1/bioasq/batches", json=TESTSET)
    assert (
        taken.headers["location"]
        == taken.json()["location"]
        == f"{ROOT}/v1/bioasq/batches/{taken.json()['id']}"
    )
    slash = below.get(f"{before}/batches/")
    assert slash.headers["location"].endswith(f"{ROOT}/batches")
    assert slash.headers["location"].count(ROOT) == 1


def test_the_description_says_where_it_is(below: TestClient, before: str) -> None:
    assert below.get(f"{before}/openapi.json").json()["servers"] == [{"url": ROOT}]


def test_paths_that_only_begin_alike_are_others(below: TestClient) -> None:
    assert below.get(f"{ROOT}x/healthz").status_code == 404
    assert below.get(ROOT).status_code == 200


def test_probes_work_without_the_proxy(below: TestClient) -> None:
    assert below.get("/healthz").status_code == 200


@pytest.mark.parametrize("path", ["bioqa", "https://a.test/bioqa", "/a b", "//", "/a//b", "/a?b"])
def test_what_is_no_path_is_refused(path: str, engine: Engine) -> None:
    if path == "//":
        assert parse_prefix(path) == ""
        return
    with pytest.raises(PrefixError, match="BIOQA_ROOT_PATH"):
        create_app(Settings(root_path=path), engine)


def test_a_slash_at_the_end_is_no_matter() -> None:
    assert parse_prefix("/bioqa/") == "/bioqa"
