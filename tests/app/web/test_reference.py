"""The page that shows the API."""

from fastapi import FastAPI
from fastapi.testclient import TestClient

from bioqa.app.web.pages import STATIC
from tests.app.web.html import BROWSER, read


def test_without_a_script_every_operation_is_listed(application: FastAPI, client: TestClient) -> None:
    page = read(client.get("/docs", headers=BROWSER))
    listed = set(page.xpath("//div[@id='reference']//td/code/text()"))
    paths = application.openapi()["paths"]
    assert listed == {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    (description,) = page.xpath("//div[@id='reference']/@data-description")
    assert client.get(description).json() == application.openapi()


def test_what_others_wrote_comes_with_its_licences() -> None:
    assert "Apache License" in (STATIC / "swagger-ui.LICENSE.txt").read_text(encoding="utf-8")
    assert "SmartBear" in (STATIC / "swagger-ui.NOTICE.txt").read_text(encoding="utf-8")
    head = (STATIC / "swagger-ui-bundle.js").read_text(encoding="utf-8")[:200]
    (named,) = [word for word in head.split() if word.endswith("LICENSE.txt")]
    assert (STATIC / named).exists()
