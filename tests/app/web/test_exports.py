"""GET /citations: files for reference managers."""

import json
from collections.abc import Callable

import nbib
import pytest
from fastapi.testclient import TestClient

from tests.app.exports.reading import read_bibtex, read_table, ris_pmids
from tests.app.requests import fields, is_problem


@pytest.mark.parametrize(
    ("ending", "media_type", "pmids"),
    [
        ("ris", "application/x-research-info-systems", ris_pmids),
        ("bib", "application/x-bibtex", lambda text: [entry["pmid"] for _, entry in read_bibtex(text)]),
        ("nbib", "application/nbib", lambda text: [str(r["pubmed_id"]) for r in nbib.read(text)]),
        (
            "json",
            "application/vnd.citationstyles.csl+json",
            lambda text: [item["PMID"] for item in json.loads(text)],
        ),
        ("csv", "text/csv", lambda text: [row["pmid"] for row in read_table(text)]),
    ],
)
def test_files_to_save(
    client: TestClient, ending: str, media_type: str, pmids: Callable[[str], list[str]]
) -> None:
    response = client.get(f"/citations.{ending}?pmid=90000003,90000001,90000003")
    assert response.status_code == 200
    assert response.headers["content-type"] == f"{media_type}; charset=utf-8"
    assert response.headers["content-disposition"] == f'attachment; filename="pubmed-2-articles.{ending}"'
    assert pmids(response.text) == ["90000003", "90000001"]
    response = client.get(f"/citations.{ending}?pmid=90000001")
    assert response.headers["content-disposition"] == f'attachment; filename="pubmed-90000001.{ending}"'
    assert pmids(response.text) == ["90000001"]


def test_what_cannot_be_cited(client: TestClient) -> None:
    assert (
        "ris, bib, nbib, json, csv" in is_problem(client.get("/citations.doc?pmid=90000001"), 404)["detail"]
    )
    assert "90000999" in is_problem(client.get("/citations.ris?pmid=90000001,90000999"), 404)["detail"]
    for pmids in ("", "x", "1,,2", "0", "1;2", ",".join(map(str, range(1, 102))), "9" * 19):
        assert fields(is_problem(client.get("/citations.ris", params={"pmid": pmids}), 422)) == ["pmid"]
    assert fields(is_problem(client.get("/citations.ris"), 422)) == ["pmid"]
