"""The pages in Chromium, under the policy that they are sent with: with and without scripts, by keyboard, on
a phone."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.engine import Engine
from bioqa.app.judging.judgments import JudgmentLog, read_judgments
from bioqa.app.settings import Settings
from bioqa.app.web.judging import create_judging_app
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.search.tantivy.index import TantivyIndex
from tests.app.conftest import document
from tests.app.engines import local
from tests.app.jobs.waiting import until
from tests.app.judging import sheets
from tests.app.rankers import LexicalRanker
from tests.app.requests import TESTSET
from tests.app.serving import serving, serving_app

CHROMIUM = Path("/usr/bin/chromium")
QUESTION = "Is metformin better than placebo?"
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 800}

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}")


@pytest.fixture(scope="module")
def address(engine: Engine) -> Iterator[str]:
    """A server of these tests' own."""
    with serving(engine) as address:
        yield address


@pytest.fixture(scope="module")
def folding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an answer of ten articles with long abstracts, on a server of its own."""
    filling = " ".join(f"In herd {number} nothing happened that anybody has noted." for number in range(12))
    abstract = f"We went there. Zebras are striped. {filling} It ends here."
    with TantivyIndex.create(tmp_path_factory.mktemp("indices") / "long") as index:
        index.apply(
            Upsert(document(number, f"The {('colour', 'color')[number % 2]} of herd {number}.", abstract))
            for number in range(12)
        )
        index.commit()
        with serving(local(Answerer(index, LexicalRanker()))) as address:
            yield f"{address}/?q=zebras"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For one module only: while it is there, nothing else may run an event loop in this thread."""
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=CHROMIUM)
        except Error as error:
            pytest.skip(f"{CHROMIUM} does not start: {error.message}")
        yield browser
        browser.close()


Opened = Callable[..., Page]


@pytest.fixture
def console() -> Iterator[list[str]]:
    """What the browser's console says: nothing, or the test fails."""
    said: list[str] = []
    yield said
    assert said == []


@pytest.fixture
def opened(browser: Browser, address: str, console: list[str]) -> Iterator[Opened]:
    """A path's page in a window of its own."""
    contexts = []

    def open_page(path: str = "/", **options: object) -> Page:
        context = browser.new_context(base_url=address, **options)  # type: ignore[arg-type]
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: console.append(message.text))
        page.on("pageerror", lambda error: console.append(error.message))
        page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()


def ask(page: Page, question: str) -> None:
    page.get_by_label("Question").fill(question)
    page.get_by_role("button", name="Search").click()
    page.wait_for_selector("article")


@pytest.mark.parametrize("scripting", [True, False])
def test_a_question_is_answered_at_an_address_that_answers_it_again(opened: Opened, scripting: bool) -> None:
    page = opened(java_script_enabled=scripting)
    page.get_by_text("Filters and options").click()
    page.get_by_label("Results").select_option("5")
    page.get_by_label("Published before").fill("2010-01-01")
    ask(page, QUESTION)
    assert page.title() == f"{QUESTION} – bioqa"
    assert page.locator("article").count() == 5
    assert page.get_by_role("status").inner_text() == "5 articles and 5 sentences"
    assert page.get_by_role("button", name="Copy sentence 1").is_visible() == scripting
    assert ("ranker=" in page.url) != scripting
    again = opened(page.url)
    found = "article h3, .sentences li a"
    assert again.locator(found).all_inner_texts() == page.locator(found).all_inner_texts()


def test_with_scripts_the_form_stays_and_going_back_works(opened: Opened) -> None:
    page = opened()
    page.evaluate("document.getElementById('q').dataset.seen = 'yes'")
    ask(page, "statin")
    ask(page, "metformin")
    expect(page).to_have_title("metformin – bioqa")
    assert page.locator("#q").get_attribute("data-seen") == "yes"
    page.go_back()
    expect(page).to_have_title("statin – bioqa")
    page.wait_for_selector("article")
    assert page.get_by_label("Question").input_value() == "statin"


@pytest.mark.parametrize("scripting", [True, False])
def test_counts_come_after_the_answer_and_narrow_it(opened: Opened, scripting: bool) -> None:
    page = opened(f"/?q={QUESTION}", java_script_enabled=scripting, viewport=DESKTOP)
    first = page.locator("article").first
    if not scripting:
        page.get_by_role("link", name="Count by year and type").click()
    else:
        before = first.bounding_box()
        expect(page.locator("nav.counted")).to_be_visible()
        after = first.bounding_box()
        assert before is not None
        assert after is not None
        assert abs(after["y"] - before["y"]) < 40
    bar = page.locator(".years a").last
    years = bar.get_attribute("title") or ""
    bar.click()
    expect(page.locator("article").first).to_be_visible()
    assert f"after={years[:4]}" in page.url
    assert ("facets" in page.url) != scripting


def test_an_answer_stands_without_its_counts(opened: Opened, console: list[str]) -> None:
    page = opened()
    page.route("**/counts?*", lambda route: route.fulfill(status=503, body="away"))
    ask(page, QUESTION)
    expect(page.get_by_role("link", name="Count by year and type")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("10 articles and 10 sentences")
    console.clear()


def test_a_sentence_leads_to_its_place(opened: Opened) -> None:
    page = opened(f"/?q={QUESTION}")
    link = page.locator(".sentences li a").nth(2)
    link.click()
    assert page.url.endswith("#sentence-3")
    assert page.evaluate("document.activeElement.id") == "sentence-3"
    mark = page.locator("#sentence-3")
    assert link.inner_text() in mark.inner_text()


def test_by_keyboard_alone(opened: Opened) -> None:
    page = opened()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_selector("article")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.sentences a')"):
            break
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "sentence-1"


@pytest.mark.parametrize("scripting", [True, False])
def test_a_correction_is_refused_by_its_link_and_by_the_form(opened: Opened, scripting: bool) -> None:
    page = opened("/?q=metforman+doses&max_documents=5", java_script_enabled=scripting)
    said = page.locator(".understood")
    expect(said).to_have_text("Results for metformin; search for metforman instead")
    page.get_by_role("link", name="search for metforman instead").click()
    expect(said).to_contain_text("Results for these words only.")
    page.get_by_text("Filters and options").click()
    page.get_by_label("its own words only").uncheck()
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("link", name="search for metforman instead")).to_be_visible()
    assert "literal" not in page.url


@pytest.mark.parametrize("secure", [True, False])
def test_copying_gives_the_json(opened: Opened, secure: bool) -> None:
    page = opened(f"/?q={QUESTION}", permissions=["clipboard-read", "clipboard-write"])
    page.evaluate("window.clipboard = navigator.clipboard")
    if not secure:  # as at an address that is neither https nor localhost
        page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.get_by_text("Details: ranker").click()
    page.get_by_role("button", name="Copy the BioASQ JSON").click()
    page.get_by_role("button", name="Copied").wait_for()
    (address,) = [page.get_by_role("link", name="BioASQ JSON").get_attribute("href")]
    assert page.evaluate("window.clipboard.readText()") == page.request.get(address or "").text()


def test_a_sentence_is_copied_with_its_citation(opened: Opened) -> None:
    page = opened(f"/?q={QUESTION}", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy sentence 2").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    sentence = page.locator(".sentences li a").nth(1).inner_text()
    assert copied.startswith(f"“{sentence}” Effects of metformin")
    expect(page.get_by_role("button", name="Copy sentence 2")).to_be_visible()


@pytest.mark.parametrize("scripting", [True, False])
def test_articles_are_chosen_and_exported(opened: Opened, scripting: bool) -> None:
    page = opened(f"/?q={QUESTION}", java_script_enabled=scripting)
    page.get_by_label("Choose article 3 ").check()
    page.get_by_label("Export the articles").select_option("CSV")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    title = page.locator("article .title").nth(2).get_attribute("href") or ""
    lines = download.value.path().read_text().splitlines()
    assert len(lines) == 2
    assert title.rpartition("/")[2] in lines[1]


@pytest.mark.parametrize("scripting", [True, False])
def test_an_article_is_cited_in_other_styles(opened: Opened, scripting: bool) -> None:
    page = opened(f"/?q={QUESTION}&max_documents=5", java_script_enabled=scripting)
    page.locator("article details.cite summary").first.click()
    page.get_by_role("link", name="Vancouver, APA").first.click()
    expect(page.locator("dt", has_text="APA")).to_be_visible()
    assert ("/article/" in page.url) != scripting


@pytest.mark.parametrize("scripting", [True, False])
def test_an_abstract_is_unfolded(opened: Opened, folding: str, scripting: bool) -> None:
    page = opened(folding, java_script_enabled=scripting)
    passage = page.locator("article .abstract").first
    last = passage.get_by_text("It ends here.")
    expect(last).to_be_hidden()
    expect(passage.get_by_text("Zebras are", exact=False).first).to_be_visible()
    page.get_by_label("Whole abstract").first.check()
    expect(last).to_be_visible()


def test_articles_are_near_the_top(opened: Opened, folding: str) -> None:
    page = opened(folding, viewport=PHONE)
    box = page.locator("article").first.bounding_box()
    assert box is not None
    assert box["y"] < 2 * PHONE["height"]
    wide = opened(folding, viewport=DESKTOP)
    assert wide.locator("article").count() == 10
    box = wide.locator("article").nth(9).bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 5 * DESKTOP["height"]


def test_errors_are_shown_in_place(opened: Opened, console: list[str]) -> None:
    page = opened()
    page.locator("form").evaluate("form => form.noValidate = true")
    page.get_by_label("Question").fill("   ")
    with page.expect_response(lambda response: response.status == 422):
        page.get_by_role("button", name="Search").click()
    page.get_by_text("The question is empty").wait_for()
    (said,) = console
    assert "status of 422" in said
    console.clear()


def test_what_answers_with_no_page_of_ours_is_told_and_the_answer_stays(
    opened: Opened, console: list[str]
) -> None:
    page = opened(f"/?q={QUESTION}")
    status, articles = page.get_by_role("status"), page.locator("article").all_inner_texts()
    for answer, said in (
        (lambda route: route.fulfill(status=502, body="Bad Gateway"), "(HTTP 502)"),
        (lambda route: route.abort(), "cannot be reached"),
    ):
        page.route("**/?q=statin*", answer)
        page.get_by_label("Question").fill("statin")
        page.get_by_role("button", name="Search").click()
        expect(status).to_contain_text(said)
        expect(status).to_be_in_viewport()
        assert page.locator("article").all_inner_texts() == articles
        page.unroute("**/?q=statin*")
    page.get_by_role("button", name="Search").click()
    expect(page).to_have_title("statin – bioqa")
    expect(status).to_have_class("unseen")
    assert len(console) >= 2
    console.clear()


@pytest.fixture(scope="module")
def batch(address: str) -> str:
    """The path of a batch that is done, one question having no answer."""
    testset = {"questions": [*TESTSET["questions"], {"id": "bad", "body": " "}]}
    with httpx2.Client(base_url=address) as client:
        identifier: str = client.post("/v1/bioasq/batches", json=testset).json()["id"]
        until(lambda: client.get(f"/v1/bioasq/batches/{identifier}").json()["state"] == "done", identifier)
    return f"/batches/{identifier}"


@pytest.fixture
def path(request: pytest.FixtureRequest, batch: str) -> str:
    return batch if request.param == "batch" else str(request.param)


@pytest.mark.parametrize("scripting", [True, False])
def test_a_test_set_is_handed_in_watched_and_fetched(opened: Opened, scripting: bool) -> None:
    page = opened("/batches", java_script_enabled=scripting)
    content = json.dumps(TESTSET).encode()
    page.get_by_label("Test set").set_input_files({"name": "t", "mimeType": "", "buffer": content})
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("status")).to_have_text("Done")
    expect(page.get_by_text("3 of 3 questions answered")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Submission").click()
    submission = json.loads(download.value.path().read_bytes())
    assert [question["id"] for question in submission["questions"]] == ["a", "b", "c"]
    page.get_by_role("button", name="Remove").click()
    expect(page).to_have_title("Test sets – bioqa")


def evaluated(page: Page, folder: Path) -> None:
    """One submission, then two of them."""
    content = page.request.post("/v1/bioasq", data=TESTSET).body()
    for name in ("f.json", "g.json"):
        (folder / name).write_bytes(content)
    page.get_by_label("Golden file").set_input_files(folder / "f.json")
    page.get_by_label("Submissions").set_input_files(folder / "f.json")
    page.get_by_role("button", name="Evaluate").click()
    expect(page.get_by_role("heading", name="The submission is valid")).to_be_visible()
    page.get_by_label("Golden file").set_input_files(folder / "f.json")
    page.get_by_label("Submissions").set_input_files([folder / "f.json", folder / "g.json"])
    page.get_by_role("button", name="Evaluate").click()
    expect(page.get_by_role("heading", name="Measures and differences")).to_be_visible()


PATHS = (
    "/",
    f"/?q={QUESTION}&max_documents=5",
    "/?q=zebra",
    "/?q=asprin+doses&max_documents=5",
    "/?q=asprin+doses&literal=1",
    "/article/90000003",
    "/batches",
    "batch",
    "/evaluate",
    f"/explain?q={QUESTION}&pmid=90000001",
    f"/explain?q={QUESTION}&pmid=123",
)


@pytest.mark.parametrize("path", PATHS, indirect=True)
def test_no_barrier_and_nothing_wider_than_a_phone(opened: Opened, path: str, tmp_path: Path) -> None:
    page = opened(path, viewport={"width": 320, "height": 640})
    if path == "/evaluate":
        evaluated(page, tmp_path)
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        results = Axe().run(page)
        assert results.violations_count == 0, results.generate_report()


def test_no_barrier_in_what_was_searched_for_too(opened: Opened, folding: str) -> None:
    page = opened(f"{folding}+colour", viewport={"width": 320, "height": 640})
    page.get_by_text("Details: ranker").click()
    expect(page.locator("dl.read dd")).to_have_text("color")
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()
    page.get_by_role("link", name="own words only").click()
    expect(page.locator("dl.read")).to_have_count(0)
    assert page.get_by_label("its own words only").is_checked()


def test_the_api_can_be_read_and_tried(opened: Opened) -> None:
    page = opened("/docs")
    page.locator("[id$='models_get']").click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    answer = page.locator(".live-responses-table tbody")
    expect(answer).to_contain_text('"lexical"')
    expect(answer.locator(".response-col_status")).to_have_text("200")


def test_the_api_can_be_read_by_weak_eyes(opened: Opened) -> None:
    # Of its markup Swagger UI alone decides.
    contrast = {"runOnly": ["color-contrast"]}
    # Without it a button's colours take .3 s to change, and half-way they are nobody's choice.
    page = opened("/docs", reduced_motion="reduce")
    operation = page.locator("#operations-answers-answer_a_question_v1_search_post")
    for step in ("listed", "opened", "tried", "answered"):
        if step == "opened":
            operation.locator(".opblock-summary-control").click()
            page.locator("[id$='_id__delete'] .opblock-summary-control").click()
        if step == "tried":
            operation.get_by_role("button", name="Try it out").click()
        if step == "answered":
            operation.get_by_role("button", name="Execute").click()
            expect(operation.locator(".live-responses-table tbody")).to_contain_text('"lexical"')
        results = Axe().run(page, options=contrast)
        assert results.violations_count == 0, (step, results.generate_report())


def test_the_api_is_listed_without_scripts(opened: Opened) -> None:
    page = opened("/docs", java_script_enabled=False)
    assert "POST /v1/search" in page.get_by_role("table").inner_text()


def test_a_sheet_is_judged_by_keyboard_alone(opened: Opened, tmp_path: Path) -> None:
    path = sheets.written(tmp_path)
    with JudgmentLog(path) as log, serving_app(create_judging_app(log, Settings())) as served:
        page = opened(f"{served}/question/1?judge=Ann", viewport=PHONE)
        # The first item has the focus: a document, its title, and a sentence that bears on the question.
        for key in ("r", "n", "b"):
            page.keyboard.press(key)
        page.keyboard.press("k")
        page.keyboard.press("a")  # thought better of
        expect(page.locator("#progress")).to_have_text("3 of 8 judged")
        expect(page.get_by_text("not kept yet")).to_have_count(0)
        results = Axe().run(page)
        assert results.violations_count == 0, results.generate_report()
        page.goto(f"{served}/agreement?judge=Ann")
        results = Axe().run(page)
        assert results.violations_count == 0, results.generate_report()
    grades = read_judgments(path, sheets.sheet()).grades_by("Ann")
    assert [grades[sheets.of_document()], *(grades[sheets.of_sentence(n)] for n in (0, 1))] == [1, 0, 2]
