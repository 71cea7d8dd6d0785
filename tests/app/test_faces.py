"""Every face offers the same options, with the same limits and in the same words, and makes the same remarks.

What a face does not offer or say is an exception, named here with its reason.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from html import unescape
from inspect import signature
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlencode

import pytest
import typer.main
from fastapi import FastAPI
from fastapi.testclient import TestClient
from mcp import Client

import bioqa
from bioqa.app.answers.answer import Answer
from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.question import (
    FILTERS,
    OF_EXPLANATIONS,
    OF_TEST_SETS,
    Options,
    names_of,
    option_names,
)
from bioqa.app.answers.remarks import Kind, remarks
from bioqa.app.answers.service import Service
from bioqa.app.cli import answering, cli
from bioqa.app.http.schemas import search_answer
from bioqa.app.mcp.backends import LocalBackend
from bioqa.app.mcp.results import search_result
from bioqa.app.mcp.server import create_server
from bioqa.app.mcp.tools import schema
from bioqa.app.settings import Settings
from bioqa.app.web.form import SearchForm, read_form
from bioqa.bioasq.domain import Question
from bioqa.indexer.search.questions.reading import CorrectedWord, Expansion, Reading
from bioqa.indexer.search.wording import Every
from bioqa.models.answers.confidence import Confidence
from bioqa.models.answers.ranking import Selection
from bioqa.notebook import answer_html
from tests.app.conftest import Run
from tests.app.engines import local
from tests.app.mcp.calls import refused
from tests.app.requests import BODY

ALL = set(Options.model_fields)


# Options


def command_options(name: str) -> set[str]:
    command: Any = typer.main.get_command(cli)
    flags = {flag for parameter in command.commands[name].params for flag in parameter.opts}
    return {option for option in ALL if f"--{option.replace('_', '-')}" in flags}


def python_options(function: Callable[..., Any]) -> set[str]:
    return {*signature(function).parameters} & ALL


def of_request(application: FastAPI, schema: str) -> set[str]:
    return {*application.openapi()["components"]["schemas"][schema]["properties"]} & ALL


def of_address(application: FastAPI, method: str, path: str) -> set[str]:
    operation = application.openapi()["paths"][path][method]
    return {parameter["name"] for parameter in operation["parameters"]} & ALL


FACES: Mapping[str, tuple[Callable[[FastAPI], set[str]], set[str]]] = {
    "POST /v1/search": (lambda app: of_request(app, "SearchRequest"), ALL),
    "GET /v1/search": (lambda app: of_address(app, "get", "/v1/search"), ALL),
    "the page": (lambda app: {*SearchForm.model_fields} & ALL, ALL),
    "search of assistants": (lambda app: {*schema("search")["properties"]} & ALL, ALL),
    "bioqa ask": (lambda app: command_options("ask"), ALL),
    "bioqa.ask": (lambda app: python_options(bioqa.ask), ALL),
    # The first results by relevance are explained, and nothing is counted.
    "POST /v1/explain": (
        lambda app: of_request(app, "ExplainRequest") - {"order", "offset", "facets"},
        set(OF_EXPLANATIONS),
    ),
    "bioqa explain": (lambda app: command_options("explain"), set(OF_EXPLANATIONS)),
    # A submission has ten documents and snippets a question at most, by relevance, and no notation.
    "bioqa batch": (lambda app: command_options("batch"), set(OF_TEST_SETS)),
    "POST /v1/bioasq": (lambda app: of_address(app, "post", "/v1/bioasq"), set(OF_TEST_SETS)),
    "POST /v1/bioasq/batches": (
        lambda app: of_address(app, "post", "/v1/bioasq/batches"),
        set(OF_TEST_SETS),
    ),
    # Notation is never looked for in a list of questions.
    "bioqa.ask_all": (lambda app: python_options(bioqa.ask_all) - {"syntax"}, ALL - {"syntax"}),
}


@pytest.mark.parametrize("face", FACES)
def test_every_face_offers_the_same_options(face: str, application: FastAPI) -> None:
    offered, expected = FACES[face]
    assert offered(application) == expected


def test_every_option_has_a_description_and_every_filter_a_label() -> None:
    for name, field in Options.model_fields.items():
        assert field.description, name
        assert option_names(name, field)[-1] == name
    assert all(names_of(Options.model_fields[name]).label for name in FILTERS)


WRONG = [
    ({"candidates": 5000}, "must be less than or equal to 1000"),
    ({"max_documents": 500}, "must be less than or equal to 100"),
    ({"max_snippets": -1}, "must be greater than or equal to 0"),
    ({"offset": 1000}, "must be less than 1000"),
    ({"order": "age"}, "must be 'relevance' or 'date'"),
    ({"published_after": "soon"}, "must be a day as YYYY-MM-DD, a month as YYYY-MM, or a year"),
    ({"published_before": "2015-02-30"}, "must be a day of the calendar, not 2015-02-30"),
    ({"types": [f"t{n}" for n in range(51)]}, "must have at most 50 items, not 51"),
    ({"languages": ["Klingon"]}, "no language is called 'Klingon'"),
]


@pytest.mark.parametrize(("options", "said"), WRONG, ids=lambda value: str(value)[:40])
def test_a_limit_is_said_in_the_same_words_everywhere(
    options: dict[str, Any],
    said: str,
    client: TestClient,
    answerer: Answerer,
    index_folder: Path,
    command: Run,
) -> None:
    (name,) = options
    assert said in client.post("/v1/search", json={"body": BODY, **options}).json()["errors"][0]["message"]
    address = urlencode({"body": BODY, **options}, doseq=True)
    (fault,) = client.get(f"/v1/search?{address}").json()["errors"]
    assert (fault["field"], said in fault["message"]) == (name, True)
    page = client.get(f"/?{urlencode({'q': BODY, **options}, doseq=True)}", headers={"accept": "text/html"})
    assert page.status_code == 422
    assert said.replace("'", "&#39;") in page.text
    service = Service(Settings(), local(answerer))
    try:
        assert f"{name}: {said}" in refused(
            create_server(LocalBackend(service)), "search", question=BODY, **options
        )
    finally:
        service.close()
    with pytest.raises(bioqa.BioqaError, match=re.escape(said)):
        bioqa.ask(BODY, str(index_folder), answerer.ranker, **options)
    flag = f"--{name.replace('_', '-')}"
    value = options[name]
    given = [f"{flag}={item}" for item in (value if isinstance(value, list) else [value])]
    result = command("ask", BODY, "--index", index_folder, *given)
    assert result.code == 2
    assert f"{name}: {said}" in " ".join(result.err.split())


def test_a_day_is_read_alike_everywhere(client: TestClient, answerer: Answerer) -> None:
    days: dict[str, Any] = {"published_after": "1995", "published_before": "2001-07"}
    index = bioqa.Index(answerer.index, "medline")
    expected = [document.pmid for document in bioqa.ask("statin", index, answerer.ranker, **days).documents]
    assert 0 < len(expected) < 7
    posted = client.post("/v1/search", json={"body": "statin", **days}).json()
    assert [document["pmid"] for document in posted["documents"]] == expected
    assert read_form(SearchForm, [*days.items()]).as_filters() == Options(**days).as_filters()


# Remarks


@pytest.fixture
def remarkable(answerer: Answerer) -> list[Answer]:
    """Answers that together have every remark."""
    answer = answerer.answer(Question("q", BODY), Options(max_documents=2))
    reading = Reading(
        BODY,
        Every(()),
        (BODY,),
        corrections=(CorrectedWord("asprin", "aspirin"),),
        expansions=(Expansion("IL6", ("IL-6",), "spelling"),),
    )
    cut_short = Reading(BODY, Every(()), (BODY,), cut_short=True)
    return [
        replace(
            answer,
            confidence=Confidence(0.04, "unlikely"),
            degraded="the ranker failed",
            by_words="the vectors are damaged",
            condensed="metformin placebo",
            truncated_sentences=2,
            reading=reading,
        ),
        replace(answer, reading=cut_short, fitting=23),
        answerer.answer(Question("q", "metformin[ti] AND statin[ti]")),
        answerer.answer(Question("q", "metformin"), Options(literal=True)),
        answerer.answer(Question("q", "metformin"), Options(published_after="2100")),
        replace(answer, selection=Selection((), ()), next_offset=None),
    ]


def test_every_kind_of_remark_is_made(remarkable: list[Answer]) -> None:
    assert {remark.kind for answer in remarkable for remark in remarks(answer)} == set(get_args(Kind))


def squeezed(text: str) -> str:
    text = re.sub(r"</?(code|strong|a)\b[^>]*>", "", text)
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


def test_every_face_makes_every_remark(remarkable: list[Answer], capsys: pytest.CaptureFixture[str]) -> None:
    for answer in remarkable:
        said = remarks(answer)
        assert said
        assert search_answer(answer).remarks == said
        assert (
            bioqa.Answer(**{name: getattr(answer, name) for name in answer.__dataclass_fields__}).remarks
            == said
        )
        answering.print_answer(answer)
        printed = squeezed(capsys.readouterr().out)
        noted = search_result(search_answer(answer)).note or ""
        shown = unescape(squeezed(answer_html(answer)))
        for remark in said:
            for face in (printed, noted, shown):
                assert squeezed(remark.text) in face, remark.kind


OF_THE_PAGE = {
    # The page offers the other reading as a link, beside the words.
    "searched": "Articles ranked by “metformin statin”, restricted to metformin[ti] AND statin[ti]",
    "corrected": "Results for metformin; search for metfornin instead",
    "expanded": "Details",
    "literal": "Results for these words only.",
    # It counts them, and links to them.
    "further": "Next",
    "found": "Candidates",
    # Each filter is a link that removes it.
    "emptied": "The filters leave none of what the question finds.",
}
"""Remarks that the page makes in its own way."""


@pytest.mark.parametrize(
    ("address", "kinds"),
    [
        (f"q={BODY}&max_documents=2", {"further", "found", "uncalibrated"}),
        ("q=metformin[ti] AND statin[ti]", {"searched"}),
        ("q=metfornin placebo", {"corrected"}),
        ("q=metformin&literal=1", {"literal"}),
        ("q=metformin&after=2100", {"emptied"}),
        ("q=xyzzyplugh&literal=1", {"nothing"}),
        ("q=metformin placebo " + " ".join(f"d{n}" for n in range(70)), {"condensed"}),
    ],
)
def test_the_page_makes_every_remark_by_its_text_or_in_its_own_way(
    address: str, kinds: set[str], client: TestClient
) -> None:
    query = dict(part.split("=", 1) for part in address.split("&"))
    body, options = query["q"], {name: value for name, value in query.items() if name != "q"}
    shown = unescape(squeezed(client.get("/", params=query).text))
    said = client.get("/v1/search", params={"body": body, **{NAMES.get(n, n): v for n, v in options.items()}})
    made = {remark["kind"]: remark["text"] for remark in said.json()["remarks"]}
    assert kinds <= made.keys()
    for kind, text in made.items():
        assert OF_THE_PAGE.get(kind, squeezed(text)) in shown, kind


NAMES = {"after": "published_after"}


def test_tools_of_assistants_offer_no_alternatives(answerer: Answerer) -> None:
    """Some clients refuse a schema with anyOf, or with words that are not JSON Schema's."""

    async def listed() -> list[Any]:
        async with Client(create_server(LocalBackend(service))) as client:
            return [*(await client.list_tools()).tools]

    service = Service(Settings(), local(answerer))
    try:
        for tool in asyncio.run(listed()):
            assert "anyOf" not in str(tool.input_schema)
            assert not re.search(r"'(ge|le|gt|lt)'", str(tool.input_schema)), tool.name
    finally:
        service.close()
