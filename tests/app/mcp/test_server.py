"""The MCP server, asked as assistants ask it: in this process, over pipes, and over HTTP."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from fastapi import FastAPI
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, TextContent

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.service import Service
from bioqa.app.cli.assistants import INSTALL
from bioqa.app.main import create_app
from bioqa.app.mcp.backends import Backend, LocalBackend, RemoteBackend
from bioqa.app.mcp.server import create_server
from bioqa.app.settings import Settings
from bioqa.bioasq.errors import BioqaError
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.tantivy import TantivyIndex
from tests.app.conftest import LexicalRanker, Run
from tests.app.requests import BODY

SETTINGS = Settings(max_question_characters=300)


@pytest.fixture
def service(index_folder: Path) -> Iterator[Service]:
    made = Service(SETTINGS, [LexicalRanker()], lambda: TantivyIndex.open(index_folder))
    yield made
    made.close()


@pytest.fixture(params=["local", "remote"])
def backend(request: pytest.FixtureRequest, service: Service, answerer: Answerer) -> Backend:
    """Tools must not differ by where the service runs."""
    if request.param == "local":
        return LocalBackend(service)
    app = create_app(SETTINGS, answerer)
    return RemoteBackend("http://bioqa.test/", transport=httpx2.ASGITransport(app))


def called(target: Any, name: str, **arguments: Any) -> CallToolResult:
    async def call() -> CallToolResult:
        async with Client(target) as client:
            return await client.call_tool(name, arguments)

    return asyncio.run(call())


def answered(target: Any, name: str, **arguments: Any) -> dict[str, Any]:
    result = called(target, name, **arguments)
    (text,) = result.content
    assert isinstance(text, TextContent)
    assert not result.is_error, text.text
    found: dict[str, Any] = json.loads(text.text)  # for clients that read text only
    assert found == result.structured_content
    return found


def refused(target: Any, name: str, **arguments: Any) -> str:
    result = called(target, name, **arguments)
    assert result.is_error
    (text,) = result.content
    assert isinstance(text, TextContent)
    assert "Traceback" not in text.text
    return text.text


def test_search_gives_sentences_that_can_be_cited(backend: Backend) -> None:
    server = create_server(backend)
    found = answered(server, "search", question=BODY, max_documents=4, max_snippets=3)
    assert (found["question"], found["ranker"], found["note"]) == (BODY, "lexical", None)
    assert len(found["documents"]) == 4
    first = found["documents"][0]
    assert first["url"] == f"https://pubmed.ncbi.nlm.nih.gov/{first['pmid']}/"
    assert len(found["snippets"]) == 3
    for snippet in found["snippets"]:
        document = answered(server, "get_document", pmid=snippet["pmid"])
        text = document[snippet["section"]][snippet["begin"] : snippet["end"]]
        assert text == snippet["text"]
        assert snippet["pmid"] in {each["pmid"] for each in found["documents"]}
        assert {key: snippet[key] for key in ("section", "begin", "end", "text")} in document["sentences"]
    assert found["snippets"][0]["text"] == "The metformin group improved more than placebo."


def test_search_by_date_and_without_snippets(backend: Backend) -> None:
    server = create_server(backend)
    asked = {"question": "statin", "max_documents": 100, "max_snippets": 0}
    found = answered(server, "search", **asked, published_before="1997-01-01")
    days = [document["published"] for document in found["documents"]]
    assert None in days
    assert any(day is not None for day in days)
    assert all(day is None or day < "1997-01-01" for day in days)
    assert found["snippets"] == []


def test_an_empty_result_says_why(backend: Backend) -> None:
    found = answered(create_server(backend), "search", question="Zebra?")
    assert (found["documents"], found["snippets"]) == ([], [])
    assert found["note"] == "no document of the index has a word of this question"


@pytest.mark.parametrize("pmid", ["90000001", 90000001, "PMID: 90000001"])
def test_a_document_by_whatever_way_its_pmid_is_written(backend: Backend, pmid: Any) -> None:
    document = answered(create_server(backend), "get_document", pmid=pmid)
    assert document["title"] == "Effects of metformin in cohort 1 <b>& beyond</b>."
    assert document["published"] == "1991-02-01"
    assert document["url"] == "https://pubmed.ncbi.nlm.nih.gov/90000001/"
    assert document["sentences"][2]["text"] == "The metformin group improved more than placebo."
    assert document["parts"] == [{"label": "", "begin": 0, "end": len(document["abstract"])}]


def test_several_documents_and_those_missing(backend: Backend) -> None:
    pmids = ["90000002", "5", "90000001", "90000002"]
    found = answered(create_server(backend), "get_documents", pmids=pmids)
    assert [document["pmid"] for document in found["documents"]] == ["90000002", "90000001"]
    assert found["missing"] == ["5"]


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("search", {"question": " "}, "question: must hold more than white space"),
        ("search", {"question": ""}, "question"),
        ("search", {}, "question"),
        ("search", {"question": "a" * 301}, "300"),
        ("search", {"question": "a", "max_documents": 0}, "max_documents"),
        ("search", {"question": "a", "max_snippets": 101}, "max_snippets"),
        ("search", {"question": "a", "published_before": "1 May"}, "YYYY-MM-DD"),
        ("get_document", {"pmid": "12"}, "pmid: there is no document 12 in the index"),
        ("get_document", {"pmid": "x"}, "pmid"),
        ("get_document", {"pmid": True}, "pmid"),
        ("get_documents", {"pmids": []}, "pmids"),
        ("get_documents", {"pmids": ["1", "-2"]}, "pmids"),
        ("get_documents", {"pmids": [str(n) for n in range(1, 52)]}, "50"),
        ("look", {}, "look"),
    ],
)
def test_what_is_wrong_with_a_call_is_told_to_the_model(
    backend: Backend, name: str, arguments: dict[str, Any], words: str
) -> None:
    assert words in refused(create_server(backend), name, **arguments)


def test_tools_are_described_for_models(service: Service) -> None:
    async def listed() -> Any:
        async with Client(create_server(LocalBackend(service))) as client:
            assert "Cite a sentence by its PMID" in (client.instructions or "")
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in asyncio.run(listed())}
    assert set(tools) == {"search", "get_document", "get_documents"}
    for tool in tools.values():
        assert len(tool.description) > 80
        assert tool.output_schema["type"] == "object"
        assert tool.annotations.read_only_hint
    question = tools["search"].input_schema["properties"]["question"]
    assert (question["type"], "plain English" in question["description"]) == ("string", True)
    assert tools["search"].input_schema["required"] == ["question"]
    snippet = tools["search"].output_schema["$defs"]["FoundSnippet"]["properties"]
    assert {"pmid", "url", "section", "begin", "end", "text", "score"} == set(snippet)


def test_an_index_that_is_away_is_told_and_found_again(tmp_path: Path, index_folder: Path) -> None:
    def open_index() -> SearchIndex:
        if not (tmp_path / "there").exists():
            raise BioqaError("the index is away")
        return TantivyIndex.open(index_folder)

    service = Service(SETTINGS, [LexicalRanker()], open_index)
    server = create_server(LocalBackend(service))
    assert refused(server, "search", question=BODY) == "Error executing tool search: the index is away"
    (tmp_path / "there").touch()
    assert answered(server, "search", question=BODY)["documents"]
    service.close()


def test_a_service_that_is_away_or_none_is_told() -> None:
    away = create_server(RemoteBackend("http://127.0.0.1:1"))
    assert "the service at http://127.0.0.1:1 cannot be reached" in refused(away, "search", question="a")
    other = FastAPI()
    other.post("/v1/search")(lambda: {"hello": "world"})
    none = create_server(RemoteBackend("http://none", transport=httpx2.ASGITransport(other)))
    assert "http://none is no bioqa service" in refused(none, "search", question="a")


def test_the_key_reaches_the_service() -> None:
    seen = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.headers.get("authorization"))
        return httpx2.Response(401, json={"detail": "an API key is needed"})

    transport = httpx2.MockTransport(answer)
    for key in ("secret", None):
        backend = RemoteBackend("http://bioqa.test", key, transport)
        said = refused(create_server(backend), "get_document", pmid="1")
        assert said.endswith("the service at http://bioqa.test refused (401): an API key is needed")
        assert "secret" not in said
    assert seen == ["Bearer secret", None]


COMMAND = (sys.executable, "-c", "from bioqa.app.cli import main; main()", "mcp")
ROOT = Path(__file__).parents[3]


def test_over_pipes_as_assistants_start_it(index_folder: Path) -> None:
    parameters = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], "--index", str(index_folder)], cwd=ROOT, env=dict(os.environ)
    )
    found = answered(parameters, "search", question=BODY, max_snippets=1)
    assert found["ranker"] == "soft"
    assert found["index"] == "sample"
    assert found["snippets"][0]["text"].startswith("The metformin group improved more than placebo")


def test_nothing_but_the_protocol_is_on_stdout_and_the_end_of_stdin_ends_it() -> None:
    """Also where something is wrong."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    asked = {"name": "search", "arguments": {"question": "Zebra?"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": asked},
    ]
    command = [*COMMAND, "--url", "http://127.0.0.1:1"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in messages:
            process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        replies = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.wait(60) == 0
    assert [reply["id"] for reply in replies] == [1, 2]
    assert replies[0]["result"]["serverInfo"]["name"] == "bioqa"
    assert replies[1]["result"]["isError"] is True
    assert "cannot be reached" in replies[1]["result"]["content"][0]["text"]


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def test_over_http_before_a_running_service(application: FastAPI) -> None:
    ports = free_port(), free_port()
    config = uvicorn.Config(application, port=ports[0], log_level="critical", lifespan="off")
    serving = uvicorn.Server(config)
    thread = threading.Thread(target=serving.run)
    thread.start()
    arguments = ["--http", "--port", str(ports[1]), "--url", f"http://127.0.0.1:{ports[0]}"]
    with subprocess.Popen([*COMMAND, *arguments], cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(ports[1])
            found = answered(f"http://127.0.0.1:{ports[1]}/mcp", "search", question=BODY)
            foreign = httpx2.post(f"http://127.0.0.1:{ports[1]}/mcp", json={}, headers={"Host": "evil.test"})
        finally:
            process.terminate()
            serving.should_exit = True
            thread.join(30)
    assert found["ranker"] == "lexical"
    assert foreign.status_code == 421  # a page that got itself a name for this address


def wait_for(port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with socket.socket() as trying:
            if trying.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"nothing listens at port {port}")


def test_without_an_index_or_the_package_the_command_says_so(
    command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = command("mcp")
    assert (result.code, "no index is named" in result.err) == (2, True)
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    monkeypatch.delitem(sys.modules, "bioqa.app.mcp.server")
    result = command("mcp", "--index", "x")
    assert (result.code, result.out) == (2, "")
    assert f"needs packages that are not installed: {INSTALL}" in result.err
