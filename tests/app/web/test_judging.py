"""The pages on which a sheet is judged."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from bioqa.app.judging.judgments import JudgmentLog, log_path
from bioqa.app.judging.sheet import Sheet, SheetContent, write_sheet
from bioqa.app.security import keyfile
from bioqa.app.security.keys import ApiKey, digest, new_secret
from bioqa.app.settings import Settings
from bioqa.app.web.judging import create_judging_app
from tests.app.judging import sheets

Serve = Callable[..., TestClient]
AS_JSON = {"Accept": "application/json"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return sheets.written(tmp_path)


@pytest.fixture
def serve(path: Path) -> Iterator[Serve]:
    with JudgmentLog(path) as log:
        yield lambda **settings: TestClient(create_judging_app(log, Settings(**settings)))


@pytest.fixture
def client(serve: Serve) -> TestClient:
    return serve()


def kept(path: Path) -> list[tuple[str, str, int | None]]:
    lines = [json.loads(line) for line in log_path(path).read_text().splitlines()[1:]]
    return [(line["judge"], line["pmid"] + line.get("section", ""), line["grade"]) for line in lines]


def test_a_judge_says_a_name_and_sees_the_questions(client: TestClient) -> None:
    assert "judge" in client.get("/").text
    page = client.get("/", params={"judge": "Ann"})
    assert "Where is iron stored?" in page.text
    assert "/question/2?judge=Ann" in page.text
    assert page.headers["cache-control"] == "no-store"


def test_a_form_keeps_a_judgment_and_shows_the_question_again(client: TestClient, path: Path) -> None:
    form = {"judge": "Ann", "11/abstract/0-28": "2"}
    page = client.post("/question/1", data=form)
    assert kept(path) == [("Ann", "11abstract", 2)]
    assert page.url.path == "/question/1"
    assert 'aria-pressed="true"' in page.text
    assert "1 of 8 judged" in page.text
    assert "0 of 8 judged" in client.get("/question/1", params={"judge": "Ben"}).text


def test_a_program_keeps_several_at_once_and_takes_one_back(client: TestClient, path: Path) -> None:
    answer = client.post("/question/1", data={"judge": "Ann", "11": "1", "12": "0"}, headers=AS_JSON)
    assert answer.json() == {"judged": 2, "items": 8}
    answer = client.post("/question/1", data={"judge": "Ann", "11": ""}, headers=AS_JSON)
    assert answer.json() == {"judged": 1, "items": 8}
    assert kept(path) == [("Ann", "11", 1), ("Ann", "12", 0), ("Ann", "11", None)]


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"judge": "Ann", "99": "1"}, 422),  # nothing on the sheet
        ({"judge": "Ann", "21": "1"}, 422),  # another question's
        ({"judge": "Ann", "11": "2"}, 422),  # a document is relevant or not
        ({"judge": "Ann", "11/abstract/0-28": "3"}, 422),
        ({"judge": "Ann", "11": "x"}, 422),
        ({"judge": "Ann", "11": "\u0661"}, 422),
        ({"judge": "Ann", "11": "9" * 5000}, 422),
        ({"judge": "Ann", "12": "1", "11": "7"}, 422),  # none of them is kept
        ({"11": "1"}, 422),  # nobody
        ({"judge": "x" * 10_000, "11": "1"}, 422),
        ({"judge": "\x1b[31m", "11": "1"}, 422),
        ({"judge": "\ufffd", "11": "1"}, 422),
    ],
)
def test_what_is_no_judgment_is_refused(
    client: TestClient, path: Path, form: dict[str, str], status: int
) -> None:
    assert client.post("/question/1", data=form, headers=AS_JSON).status_code == status
    assert kept(path) == []


def test_a_half_character_is_no_name(client: TestClient, path: Path) -> None:
    content = b"judge=%ED%A0%80&11=1"
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    assert client.post("/question/1", content=content, headers=headers).status_code < 500


@pytest.mark.parametrize("number", ["0", "3", "x"])
def test_a_question_that_there_is_not(client: TestClient, number: str) -> None:
    assert client.get(f"/question/{number}", params={"judge": "Ann"}).status_code in (404, 422)


def test_a_sheet_that_was_replaced_takes_no_judgments(client: TestClient, path: Path) -> None:
    write_sheet(path, Sheet.of(sheets.content(seed=2)))
    answer = client.post("/question/1", data={"judge": "Ann", "11": "1"}, headers=AS_JSON)
    assert answer.status_code == 409
    assert kept(path) == []
    write_sheet(path, sheets.sheet())
    assert client.post("/question/1", data={"judge": "Ann", "11": "1"}).status_code == 200
    assert kept(path) == [("Ann", "11", 1)]


def test_agreement_is_shown(client: TestClient) -> None:
    for judge, grade in (("Ann", "1"), ("Ben", "0")):
        client.post("/question/1", data={"judge": judge, "11": grade, "12": "1"})
    page = client.get("/agreement", params={"judge": "Ann"})
    assert "Ann" in page.text
    assert "Ben" in page.text


def test_with_keys_nobody_sees_what_another_judged(serve: Serve, path: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.touch()
    ann, ben = new_secret(), new_secret()
    for name, secret in (("Ann", ann), ("Ben", ben)):
        keyfile.add(keys, ApiKey(name, digest(secret)))
    client = serve(api_keys_file=keys)
    assert client.get("/", params={"judge": "Ann"}).status_code == 401
    headers = {"X-API-Key": ann, "Accept": "application/json"}
    # The key counts, whatever the form says.
    assert client.post("/question/1", data={"judge": "Ben", "11": "1"}, headers=headers).status_code == 200
    assert kept(path) == [("Ann", "11", 1)]
    page = client.get("/question/1", headers={"X-API-Key": ben}, params={"judge": "Ann"})
    assert "0 of 8 judged" in page.text
    assert client.get("/agreement", headers={"X-API-Key": ben}).status_code == 403


def test_a_text_of_the_sheet_is_never_markup(tmp_path: Path) -> None:
    content = sheets.content()
    question = content.questions[0].model_copy(update={"body": "<script>alert(1)</script>"})
    changed = SheetContent(**{**content.model_dump(exclude={"questions"}), "questions": [question]})
    path = tmp_path / "other.json"
    write_sheet(path, Sheet.of(changed))
    with JudgmentLog(path) as log:
        page = TestClient(create_judging_app(log, Settings())).get("/question/1", params={"judge": "Ann"})
    assert "<script>alert" not in page.text
