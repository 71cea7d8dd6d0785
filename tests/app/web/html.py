"""Reading pages in tests."""

from typing import Any

import httpx2
from lxml import html
from lxml.html import HtmlElement

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
SELECTORS_OF_CODE = "//*[@style] | //style | //script[not(@src)] | //*[starts-with(@href, 'javascript:')]"


def read(response: httpx2.Response, status: int = 200) -> HtmlElement:
    """The page, which is whole, has no script or style in it, and uses no id twice."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    page = html.document_fromstring(response.text)
    assert not page.xpath(SELECTORS_OF_CODE)
    assert not [name for each in page.iter("*") for name in each.attrib if str(name).startswith("on")]
    ids: list[str] = list(page.xpath("//@id"))
    assert len(ids) == len(set(ids))
    for address in page.xpath("//a/@href[starts-with(., '#')]"):
        assert address[1:] in ids
    assert page.xpath("//title")[0].text
    assert len(page.xpath("//main")) == len(page.xpath("//h1")) == 1
    for field in page.xpath("//input[not(@type='hidden')] | //select | //textarea"):
        assert page.xpath("//label[@for=$id]", id=field.get("id")), field.get("name")
    return page


def texts(page: HtmlElement, xpath: str, **values: Any) -> list[str]:
    """White space as a browser would show it."""
    return [" ".join(found.text_content().split()) for found in page.xpath(xpath, **values)]


def own_text(element: HtmlElement) -> str:
    """The text of an element without the number of a sentence before it, to the character."""
    return "".join(element.xpath(".//text()[not(ancestor::*[@class='place'])]"))
