"""GET /info: what runs here, and its limits."""

from fastapi.testclient import TestClient

from bioqa.app.version import version


def test_what_runs_here(client: TestClient) -> None:
    info = client.get("/info").json()
    assert (info["name"], info["version"]) == ("bioqa", version())
    assert (info["index"]["name"], info["index"]["documents"]) == ("sample", 41)
    assert info["ranker"] == {"name": "lexical", "hash": "00" * 32}
    assert info["rankers"] == [info["ranker"]]
    assert info["limits"]["max_question_characters"] == 300
