"""The pages beside the API: they are there, and not in its description."""

from fastapi import FastAPI
from fastapi.testclient import TestClient

from bioqa.app.web import UPLOADS
from bioqa.app.web.pages import MENU
from tests.app.web.html import BROWSER, read


def test_the_menu_leads_to_pages(client: TestClient) -> None:
    for path, name in MENU:
        page = read(client.get(path, headers=BROWSER))
        (link,) = page.xpath("//nav//a[@aria-current='page']")
        assert (link.get("href"), link.text_content().strip()) == (path, name)


def test_pages_are_not_in_the_description_of_the_interface(application: FastAPI) -> None:
    paths = application.openapi()["paths"]
    assert not [path for path, _ in MENU if path in paths]
    assert not [path for path in paths if path.startswith(("/citations", "/static", "/answer.json"))]


def test_forms_with_files_are_where_files_are_expected(client: TestClient) -> None:
    sending = set()
    for path, _ in MENU:
        page = read(client.get(path, headers=BROWSER))
        sending |= set(page.xpath("//form[@enctype='multipart/form-data']/@action"))
    assert sending == set(UPLOADS)
