"""GET and POST /v1/citations: files for reference managers, and text to paste."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbib
import pytest
from fastapi.testclient import TestClient

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.engine import Engine
from bioqa.app.api.citations import FEW, write_citations
from bioqa.app.exports.formats import FORMATS
from bioqa.app.http.parsers import Parsers
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from tests.app.exports.reading import read_bibtex, read_table, ris_pmids
from tests.app.requests import fields, is_problem

READERS: dict[str, Callable[[str], list[str]]] = {
    "ris": ris_pmids,
    "bibtex": lambda text: [entry["pmid"] for _, entry in read_bibtex(text)],
    "nbib": lambda text: [str(record["pubmed_id"]) for record in nbib.read(text)],
    "csl": lambda text: [item["PMID"] for item in json.loads(text)],
    "csv": lambda text: [row["pmid"] for row in read_table(text)],
    "nlm": lambda text: [line.partition("PMID: ")[2][:8] for line in text.splitlines()],
    "vancouver": lambda text: [line.partition("PMID: ")[2][:8] for line in text.splitlines()],
}
PMIDS = ["90000003", "90000001", "90000003"]


@pytest.mark.parametrize("format", FORMATS)
def test_citations_in_the_order_asked_for(client: TestClient, format: str) -> None:
    got = client.get("/v1/citations", params={"pmid": ",".join(PMIDS), "format": format})
    posted = client.post("/v1/citations", json={"pmids": PMIDS, "format": format})
    assert (got.status_code, got.content) == (200, posted.content)
    written = FORMATS[format]
    assert got.headers["content-type"] == posted.headers["content-type"]
    assert got.headers["content-type"] == f"{written.media_type}; charset=utf-8"
    name = f"pubmed-2-articles.{written.ending}"
    assert got.headers["content-disposition"] == f'attachment; filename="{name}"'
    if format in READERS:
        assert READERS[format](got.text) == ["90000003", "90000001"]
    else:
        assert len(got.text.splitlines()) == 2


def test_one_citation_has_its_number_in_the_files_name(client: TestClient) -> None:
    response = client.get("/v1/citations?pmid=90000001&format=apa")
    assert response.headers["content-disposition"] == 'attachment; filename="pubmed-90000001.txt"'
    assert response.text.startswith("Effects of metformin in cohort 1 <b>& beyond</b>. (1991).")


def test_missing_articles_are_named(client: TestClient) -> None:
    problem = is_problem(client.get("/v1/citations?pmid=90000001,7,90000999&format=ris"), 404)
    assert problem["detail"] == "not in the index: 7, 90000999"
    many = [str(n) for n in range(1, 1001)]
    problem = is_problem(client.post("/v1/citations", json={"pmids": many, "format": "ris"}), 404)
    assert problem["detail"].endswith(", 49, 50 and 950 more")


def test_pmids_of_an_address_are_repeated_or_separated_by_commas(client: TestClient) -> None:
    first, second, third = PMIDS[:3]
    joined = client.get("/v1/citations", params={"pmid": ",".join((first, second, third)), "format": "ris"})
    for pmids in ([first, second, third], [first, f"{second}, {third}"], [f"PMID:{first},{second}", third]):
        repeated = client.get("/v1/citations", params={"pmid": pmids, "format": "ris"})
        assert repeated.text == joined.text
    many = [str(number) for number in range(1, 102)]
    is_problem(client.get("/v1/citations", params={"pmid": many, "format": "ris"}), 422)


@pytest.mark.parametrize("pmid", ["", "x", "1,,2", "0", "1;2", ",".join(map(str, range(1, 102))), "9" * 19])
def test_what_is_no_list_of_pmids(client: TestClient, pmid: str) -> None:
    response = client.get("/v1/citations", params={"pmid": pmid, "format": "ris"})
    assert {field.partition("[")[0] for field in fields(is_problem(response, 422))} == {"pmid"}


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"pmids": ["1"], "format": "endnote"}, "format"),
        ({"pmids": ["1"]}, "format"),
        ({"pmids": [], "format": "ris"}, "pmids"),
        ({"pmids": ["1"] * 1001, "format": "ris"}, "pmids"),
        ({"pmids": ["1", "x"], "format": "ris"}, "pmids[1]"),
        ({"pmids": ["1"], "format": "ris", "style": "mla"}, "style"),
        ({"format": "ris"}, "pmids"),
    ],
)
def test_what_cannot_be_cited(client: TestClient, asked: dict[str, object], field: str) -> None:
    assert fields(is_problem(client.post("/v1/citations", json=asked), 422)) == [field]


def test_many_citations_are_written_in_another_process(
    answerer: Answerer, engine: Engine, index_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = []
    look_up = Parsers.look_up

    async def counting(self: Parsers, what: Callable[..., Any], *arguments: Any) -> Any:
        called.append(what)
        return await look_up(self, what, *arguments)

    monkeypatch.setattr(Parsers, "look_up", counting)
    pmids = [str(90_000_001 + n) for n in range(FEW + 1)]
    settings = Settings(ranking_processes=1, index=str(index_folder))
    with TestClient(create_app(settings, engine)) as served:
        for count in (FEW, FEW + 1):
            expected = write_citations(answerer.index, "vancouver", pmids[:count])
            asked = {"pmids": pmids[:count], "format": "vancouver"}
            assert served.post("/v1/citations", json=asked).content == expected
        assert called == [write_citations]
        several = served.post("/v1/documents", json={"pmids": pmids})
        assert [each["pmid"] for each in several.json()["documents"]] == pmids
    assert len(called) == 2
