"""The report: one file, which holds what the comparison says, looked at in a browser."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from lxml import html
from playwright.sync_api import sync_playwright

from bioqa.app.reports.report import html_report
from bioqa.bioasq.comparison import Comparison, compare
from bioqa.bioasq.domain import Response
from tests.bioasq.comparing import golden, system

CHROMIUM = Path("/usr/bin/chromium")
GOLD = golden()
SYSTEMS = {"a": system(GOLD, 0.3, 1), "b": system(GOLD, 0.5, 2), "c": system(GOLD, 0.4, 3)}


def comparison(gold: list[Response] = GOLD) -> Comparison:
    return compare(gold, SYSTEMS, 8, resamples=200)


def texts(page: html.HtmlElement, xpath: str) -> list[str]:
    return [" ".join(found.text_content().split()) for found in page.xpath(xpath)]


def test_the_report_needs_nothing_from_elsewhere_and_is_the_same_every_time() -> None:
    made = html_report(comparison(), "Ours & theirs")
    assert html_report(comparison(), "Ours & theirs") == made
    page = html.document_fromstring(made)
    assert page.xpath("//title")[0].text == "Ours & theirs"
    assert not page.xpath("//link | //script | //@src | //img")
    assert all(
        str(address).startswith("https://pubmed.ncbi.nlm.nih.gov/") for address in page.xpath("//@href")
    )
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))


def test_the_report_shows_measures_charts_and_questions() -> None:
    found = comparison()
    page = html.document_fromstring(html_report(found, "x", questions=4))
    rows = [texts(row, "th|td") for row in page.xpath("//table[@class='measures']/tbody/tr")]
    assert len(rows) == 30
    score = found.systems[2].score("mf1_snippets")
    assert score is not None
    assert ["snippets F1", "c", f"{score.value:.4f}"] in [row[:3] for row in rows]
    titles = texts(page, "//figcaption")
    for words in (
        "b minus a",
        "c minus a",
        "Precision and recall",
        "By question type",
        "By number of golden",
    ):
        assert any(words in title for title in titles)
    assert len(page.xpath("//figure//*[name()='svg']")) == len(titles) == 9
    cases = texts(page, "//details[starts-with(@class, 'case')]/summary")
    assert cases == [GOLD[place].question.body for place in found.most_different(4)]
    assert len(page.xpath("//table[@class='by-question']/tbody/tr")) == len(GOLD)


def test_what_files_say_is_text() -> None:
    hostile = "<script>alert(1)</script>"
    first, *others = GOLD
    question = first.question.__class__(first.question.id, hostile, "list")
    gold = [Response(question, ("javascript:alert(1)", *first.documents), first.snippets), *others]
    named = {"<b>a": SYSTEMS["a"], '"b"': SYSTEMS["b"]}
    page = html.document_fromstring(html_report(compare(gold, named, 8), hostile, questions=len(gold)))
    assert not page.xpath("//script | //b")
    assert not page.xpath("//@href[starts-with(., 'javascript')]")
    assert hostile in texts(page, "//summary")


def test_one_system_alone() -> None:
    page = html.document_fromstring(html_report(compare(GOLD, {"a": SYSTEMS["a"]}, 8), "x"))
    assert "Measures" in texts(page, "//h2")
    assert not page.xpath("//details[starts-with(@class, 'case')]")


@pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser(tmp_path: Path, scheme: str) -> None:
    (tmp_path / "report.html").write_text(html_report(comparison(), "x"), encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for width in (1280, 390):
            context = browser.new_context(
                viewport={"width": width, "height": 844},
                color_scheme="dark" if scheme == "dark" else "light",
            )
            page = context.new_page()
            page.goto((tmp_path / "report.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
        browser.close()
