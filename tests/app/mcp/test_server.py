"""The MCP server, asked as assistants ask it: in this process, over pipes, and over HTTP."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp_types import TextContent

from bioqa.app.answers.engine import Engine
from bioqa.app.answers.question import Options
from bioqa.app.answers.service import Service
from bioqa.app.main import create_app
from bioqa.app.mcp.backends import Backend, LocalBackend, RemoteBackend
from bioqa.app.mcp.extent import MOST_CHARACTERS
from bioqa.app.mcp.server import create_server
from bioqa.app.settings import Settings
from bioqa.indexer.search.tantivy.index import TantivyIndex
from tests.app.engines import over
from tests.app.mcp.calls import answered, called, refused
from tests.app.requests import BODY

WRITTEN = [
    "90000001",
    90000001,
    "PMID: 90000001",
    "pmid90000001",
    "https://pubmed.ncbi.nlm.nih.gov/90000001/",
]
ALL: dict[str, Any] = {"details": True, "max_characters": 200_000}
SETTINGS = Settings(max_question_characters=300)


@pytest.fixture
def service(index_folder: Path) -> Iterator[Service]:
    made = Service(SETTINGS, over(lambda: TantivyIndex.open(index_folder)))
    yield made
    made.close()


@pytest.fixture(params=["local", "remote"])
def backend(request: pytest.FixtureRequest, service: Service, engine: Engine) -> Backend:
    """Tools must not differ by where the service runs."""
    if request.param == "local":
        return LocalBackend(service)
    app = create_app(SETTINGS, engine)
    return RemoteBackend("http://bioqa.test/", transport=httpx2.ASGITransport(app))


def test_search_gives_sentences_that_can_be_cited(backend: Backend) -> None:
    server = create_server(backend)
    question = "Was the metformin group improved more than placebo?"
    found = answered(server, "search", question=question, max_documents=4, max_snippets=3)
    assert (found["question"], found["ranker"]) == (question, "lexical")
    assert found["note"] == (
        "Scores are no probabilities: they are comparable within this answer only. "
        "There are further documents, from offset 4 on. The ranker read 40 candidates."
    )
    assert found["answers_question"] == "likely"
    assert len(found["documents"]) == 4
    first = found["documents"][0]
    assert first["url"] == f"https://pubmed.ncbi.nlm.nih.gov/{first['pmid']}/"
    assert len(found["snippets"]) == 3
    for snippet in found["snippets"]:
        document = answered(server, "get_document", pmid=snippet["pmid"], details=True)
        text = document[snippet["section"]][snippet["begin"] : snippet["end"]]
        assert text == snippet["text"]
        assert snippet["pmid"] in {each["pmid"] for each in found["documents"]}
        assert {key: snippet[key] for key in ("section", "begin", "end", "text")} in document["details"][
            "sentences"
        ]
    assert found["snippets"][0]["text"] == "The metformin group improved more than placebo."


def test_search_by_date_and_without_snippets(backend: Backend) -> None:
    server = create_server(backend)
    asked = {"question": "statin", "max_documents": 100, "max_snippets": 0, **ALL}
    found = answered(server, "search", **asked, published_before="1997-01-01")
    days = [document["details"]["published"] for document in found["documents"]]
    assert days
    assert all(day is not None and day < "1997-01-01" for day in days)
    assert found["snippets"] == []


def test_filters_are_passed_on_and_what_they_leave_out_is_said(backend: Backend) -> None:
    server = create_server(backend)
    asked = {"question": "statin", "max_documents": 100, **ALL}
    every = answered(server, "search", **asked)
    some = answered(server, "search", **asked, published_after="1990-07-01")
    assert 0 < len(some["documents"]) < len(every["documents"])
    nothing = answered(
        server, "search", question="statin", published_after="1990-07-01", types=["No such type"]
    )
    assert nothing["documents"] == []
    assert f'{len(some["documents"])} without types ("No such type"[pt])' in nothing["note"]


def test_documents_without_a_date_pass_if_they_may(backend: Backend) -> None:
    server = create_server(backend)
    asked = {"question": "statin", "max_documents": 100, "published_after": "1990-07-01", **ALL}
    dated, undated = (answered(server, "search", **asked, undated=given) for given in (False, True))
    added = {d["pmid"]: d["details"]["published"] for d in undated["documents"]}
    assert added.keys() > {d["pmid"] for d in dated["documents"]}
    assert None in added.values()


def test_further_results_follow_the_first(backend: Backend) -> None:
    server = create_server(backend)
    both = answered(server, "search", question="metformin", max_documents=2)
    first = answered(server, "search", question="metformin", max_documents=1)
    second = answered(server, "search", question="metformin", max_documents=1, offset=first["next_offset"])
    assert [*first["documents"], *second["documents"]] == both["documents"]


def test_an_article_is_found_by_its_pmid(backend: Backend) -> None:
    server = create_server(backend)
    found = answered(server, "search", question="PMID: 90000032")
    assert [document["pmid"] for document in found["documents"]] == ["90000032"]
    assert found["note"] is None
    missing = answered(server, "search", question="PMID: 1")
    assert missing["note"] == "The index has no such document."


def test_null_is_not_given(backend: Backend) -> None:
    server = create_server(backend)
    nothing = {"max_documents": None, "max_snippets": None, "published_before": None}
    given, default = (answered(server, "search", question=BODY, **options) for options in (nothing, {}))
    assert given == default
    assert answered(server, "search", question=BODY, published_before="") == default


def test_an_empty_result_says_why(backend: Backend) -> None:
    found = answered(create_server(backend), "search", question="Zebra?")
    assert (found["documents"], found["snippets"]) == ([], [])
    assert found["note"] == "No document of the index contains a word of this question."


@pytest.mark.parametrize(
    "pmid",
    WRITTEN,
)
def test_a_document_by_whatever_way_its_pmid_is_written(backend: Backend, pmid: Any) -> None:
    server = create_server(backend)
    assert answered(server, "get_document", pmid=pmid)["details"] is None
    document = answered(server, "get_document", pmid=pmid, details=True)
    assert document["title"] == "Effects of metformin in cohort 1 <b>& beyond</b>."
    details = document["details"]
    assert details["published"] == "1991-02-01"
    assert document["url"] == "https://pubmed.ncbi.nlm.nih.gov/90000001/"
    assert details["sentences"][2]["text"] == "The metformin group improved more than placebo."
    assert details["parts"] == [{"label": "", "begin": 0, "end": len(document["abstract"])}]


def test_several_documents_and_those_missing(backend: Backend) -> None:
    pmids = ["90000002", "5", "90000001", "90000002"]
    found = answered(create_server(backend), "get_documents", pmids=pmids)
    assert [document["pmid"] for document in found["documents"]] == ["90000002", "90000001"]
    assert found["missing"] == ["5"]


def test_results_are_short_unless_more_is_asked_for(backend: Backend) -> None:
    server = create_server(backend)
    short = called(server, "search", question=BODY, max_documents=40, max_snippets=40)
    (text,) = short.content
    assert isinstance(text, TextContent)
    assert short.structured_content is not None
    assert 4000 < len(text.text) <= MOST_CHARACTERS
    assert "Left out to keep to max_characters (8000): " in short.structured_content["note"]
    rest = answered(server, "search", question=BODY, offset=short.structured_content["next_offset"])
    long = answered(server, "search", question=BODY, max_documents=40, **ALL)
    pmids = [document["pmid"] for document in long["documents"]]
    kept = [document["pmid"] for document in short.structured_content["documents"]]
    assert pmids[: len(kept) + 1] == [*kept, rest["documents"][0]["pmid"]]
    assert "details" in long["documents"][0]


def test_similar_articles_are_others_of_the_same_subject(backend: Backend) -> None:
    found = answered(create_server(backend), "similar_articles", pmid="90000003", max_documents=4)
    assert found["pmid"] == "90000003"
    assert len(found["documents"]) == 4
    assert all("warfarin" in document["citation"] for document in found["documents"])
    assert "90000003" not in {document["pmid"] for document in found["documents"]}
    assert all(document["found_by"] == ["words"] for document in found["documents"])
    assert "details" not in found["documents"][0] or found["documents"][0]["details"] is None
    detailed = answered(create_server(backend), "similar_articles", pmid="90000003", details=True)
    assert len(detailed["documents"]) == 5
    assert all(document["details"]["title"] for document in detailed["documents"])


def test_articles_are_cited_in_a_style(backend: Backend) -> None:
    server = create_server(backend)
    text = answered(server, "cite", pmids=["PMID: 90000002", 90000001, "90000002"], format="nlm")["text"]
    assert [line[-9:-1] for line in text.splitlines()] == ["90000002", "90000001"]
    assert answered(server, "cite", pmids=["90000001"], format="ris")["text"].startswith("TY  - ")


def test_why_an_article_is_in_an_answer(backend: Backend) -> None:
    server = create_server(backend)
    first = answered(server, "search", question=BODY, max_documents=1)["documents"][0]["pmid"]
    found = answered(server, "explain", question=BODY, pmid=first)
    assert (found["pmid"], found["rank"], found["selected"], found["is_candidate"]) == (first, 1, True, True)
    assert found["matched"]
    assert "does not have the article" in answered(server, "explain", question=BODY, pmid=5)["needed"][0]
    assert "no words to rank by" in refused(server, "explain", question="90000001[pmid]", pmid="90000001")


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("search", {"question": " "}, "question: must contain more than white space"),
        ("search", {"question": ""}, "question"),
        ("search", {}, "question: is missing"),
        ("search", {"question": "a", "max_characters": 999}, "max_characters: must be greater than"),
        ("similar_articles", {"pmid": "12"}, "pmid: there is no document 12 in the index"),
        ("similar_articles", {"pmid": "90000001", "max_documents": 51}, "max_documents: must be less than"),
        ("cite", {"pmids": ["12", "90000001"]}, "not in the index: 12"),
        ("cite", {"pmids": ["90000001"], "format": "word"}, "format: must be 'ris'"),
        ("explain", {"question": "metformin"}, "pmid: is missing"),
        ("explain", {"question": " ", "pmid": "90000001"}, "question: must contain more than white space"),
        ("explain", {"question": "a" * 301, "pmid": "90000001"}, "300"),
        ("search", {"question": "a" * 301}, "300"),
        ("search", {"question": "a", "max_documents": 0}, "max_documents"),
        ("search", {"question": "a", "max_snippets": 101}, "max_snippets"),
        ("search", {"question": "a", "published_before": "1 May"}, "YYYY-MM-DD"),
        ("search", {"question": "a AND (b"}, "never closed"),
        ("search", {"question": "a", "languages": ["klingon"]}, "klingon"),
        ("search", {"question": "a", "offset": 1000}, "offset"),
        ("get_document", {"pmid": "12"}, "pmid: there is no document 12 in the index"),
        ("get_document", {"pmid": "x"}, "pmid: must be a PMID, such as 26023080, or an address of PubMed"),
        ("get_document", {}, "pmid: is missing"),
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
    assert set(tools) == {"search", "get_document", "get_documents", "similar_articles", "cite", "explain"}
    assert Options.model_fields.keys() <= tools["search"].input_schema["properties"].keys()
    for tool in tools.values():
        for of_property in tool.input_schema["properties"].values():
            # What Gemini's client and OpenAI's strict mode refuse.
            assert not {"ge", "le", "gt", "lt", "anyOf", "$ref", "exclusiveMaximum"} & of_property.keys()
            assert "type" in of_property
        assert len(tool.description) > 80
        assert tool.output_schema["type"] == "object"
        assert tool.annotations.read_only_hint
    question = tools["search"].input_schema["properties"]["question"]
    assert (question["type"], "plain English" in question["description"]) == ("string", True)
    assert tools["search"].input_schema["required"] == ["question"]
    snippet = tools["search"].output_schema["$defs"]["FoundSnippet"]["properties"]
    assert {"warning", "pmid", "section", "begin", "end", "text", "score"} == set(snippet)
