"""The application as a whole."""

from fastapi.testclient import TestClient

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.engine import Engine
from bioqa.app.main import UPLOADS, create_app
from bioqa.app.settings import Settings
from bioqa.app.version import version
from tests.app.answers.rankers import Backwards
from tests.app.engines import local
from tests.app.requests import BODY, fields, is_problem


def test_rankers_are_chosen_by_name(answerer: Answerer) -> None:
    app = create_app(Settings(), local(answerer, Backwards()))
    with TestClient(app) as client:

        def pmids(**asked: str) -> list[str]:
            response = client.post("/v1/search", json={"body": "adults", "max_documents": 41, **asked})
            assert response.json()["ranker"] == asked.get("ranker", "lexical")
            return [d["pmid"] for d in response.json()["documents"]]

        assert pmids() == pmids(ranker="lexical") == pmids(ranker="backwards")[::-1]
        problem = is_problem(client.post("/v1/search", json={"body": BODY, "ranker": "none"}), 422)
        assert fields(problem) == ["ranker"]
        assert "lexical, backwards" in problem["detail"]
        models = client.get("/v1/models").json()["models"]
        assert [(m["name"], m["default"]) for m in models] == [("lexical", True), ("backwards", False)]
        assert [r["name"] for r in client.get("/info").json()["rankers"]] == ["lexical", "backwards"]
        ranker = client.get("/openapi.json").json()["components"]["schemas"]["SearchRequest"]["properties"]
        assert ranker["ranker"]["anyOf"][0]["enum"] == ["lexical", "backwards"]


def test_what_the_settings_limit_is_in_the_description(engine: Engine) -> None:
    settings = Settings(max_question_characters=77, max_batch_questions=5, max_testset_questions=6)
    schemas = create_app(settings, engine).openapi()["components"]["schemas"]
    assert schemas["SearchRequest"]["properties"]["body"]["maxLength"] == 77
    assert schemas["RerankRequest"]["properties"]["query"]["maxLength"] == 77
    assert schemas["TestSet"]["properties"]["questions"]["maxItems"] == 5
    assert schemas["BatchTestSet"]["properties"]["questions"]["maxItems"] == 6


def test_the_description_has_the_version(engine: Engine) -> None:
    assert create_app(Settings(), engine).openapi()["info"]["version"] == version()


def test_wherever_files_are_sent_they_have_a_limit_of_their_own(engine: Engine) -> None:
    settings = Settings(max_body_bytes=1000, max_upload_bytes=5000)
    client = TestClient(create_app(settings, engine))
    for path in UPLOADS:
        sent = {most: client.post(path, content=b"x" * (most + 1)) for most in (1000, 5000)}
        assert (sent[1000].status_code != 413, sent[5000].status_code) == (True, 413), path
    assert client.post("/v1/search", content=b"x" * 1001).status_code == 413


def test_a_service_that_ended_can_be_started_again(engine: Engine) -> None:
    app = create_app(Settings(), engine)
    for _ in range(2):
        with TestClient(app) as client:
            assert client.post("/v1/search", json={"body": BODY}).status_code == 200
