"""The page at /: the form, and answers that can be shared by their address."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi.testclient import TestClient
from lxml import html
from lxml.html import HtmlElement

from bioqa.app.answers.answering import Answerer
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Document, Part, Sentence
from bioqa.bioasq.metadata import Author, Journal, Metadata
from bioqa.bioasq.validation import validate
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.search.tantivy.index import TantivyIndex
from tests.app.answers.meaning import indexed, with_vectors
from tests.app.answers.rankers import Strict
from tests.app.conftest import document
from tests.app.engines import local
from tests.app.rankers import LexicalRanker
from tests.app.requests import BODY, fields, is_problem
from tests.app.web.html import BROWSER, own_text, read, texts
from tests.app.withdrawn import DOUBTED, ERRATUM, NOTICE, RETRACTED


def shown_pmids(page: HtmlElement) -> list[str]:
    return [address.rpartition("/")[2] for address in page.xpath("//article//a[@class='title']/@href")]


def test_an_empty_page_has_a_form_and_questions_to_try(client: TestClient) -> None:
    page = read(client.get("/"))
    assert page.xpath("//form[@action='/' and @method='get']//input[@name='q']/@value") == [""]
    assert texts(page, "//select[@name='ranker']/option") == ["lexical"]
    examples = page.xpath("//ul[@class='examples']//a/@href")
    assert len(examples) >= 3
    for address in examples:
        (question,) = parse_qs(urlsplit(address).query)["q"]
        assert texts(read(client.get(address)), "//title") == [f"{question} – bioqa"]


def test_an_answer_is_the_apis(client: TestClient) -> None:
    page = read(client.get("/", params={"q": BODY, "n": 5}))
    told = client.post("/v1/search", json={"body": BODY, "max_documents": 5, "max_snippets": 5}).json()
    documents, snippets = told["documents"], told["snippets"]
    assert shown_pmids(page) == [document["pmid"] for document in documents]
    assert page.xpath("//article//a[contains(., ' at PubMed')]/@href") == [
        f"https://pubmed.ncbi.nlm.nih.gov/{document['pmid']}/" for document in documents
    ]
    assert page.xpath("//input[@name='q']/@value") == [BODY]
    listed = page.xpath("//section[@aria-labelledby='sentences']//li/a")
    assert [own_text(link) for link in listed] == [snippet["text"] for snippet in snippets]
    titles = [document["pmid"] for document in documents]
    for link, snippet in zip(listed, snippets, strict=True):
        (mark,) = page.xpath("//mark[@id=$id]", id=link.get("href")[1:])
        assert own_text(mark) == snippet["text"]
        pmid = snippet["document"].rpartition("/")[2]
        (article,) = mark.xpath("ancestor::article")
        assert article.get("aria-labelledby") == f"title-{titles.index(pmid) + 1}"
        assert bool(mark.xpath("ancestor::h3")) == (snippet["beginSection"] == "title")
    assert texts(page, "//p[@role='status']") == ["5 articles and 5 sentences"]
    provenance = texts(page, "//details[@class='provenance']//dd")
    assert provenance[1:3] == [told["index"], f"lexical {'0' * 12}"]


def test_marks_say_their_rank_without_colour_and_scores_are_among_the_details(client: TestClient) -> None:
    page = read(client.get("/", params={"q": BODY}))
    told = client.post("/v1/search", json={"body": BODY}).json()
    for rank in range(1, len(told["snippets"]) + 1):
        (mark,) = page.xpath("//mark[@id=$id]", id=f"sentence-{rank}")
        assert mark[0].text_content() == f"Sentence {rank}: "
    rows = page.xpath("//details[@class='provenance']//tbody/tr")
    assert [" ".join(cell.text_content() for cell in row) for row in rows] == [
        f"{document['pmid']} {document['score']:.2f}" for document in told["documents"]
    ] + [f"{s['document'].rpartition('/')[2]} {s['beginSection']} {s['score']:.3f}" for s in told["snippets"]]


def test_a_date_and_a_ranker_are_kept_and_used(client: TestClient) -> None:
    page = read(client.get("/?q=metformin&before=1995-01-01&ranker=lexical&max_documents=20"))
    assert page.xpath("//input[@name='before']/@value") == ["1995-01-01"]
    assert page.xpath("//select[@name='max_documents']/option[@selected]/text()") == ["20"]
    assert read(client.get("/?q=x&max_documents=7")).xpath(
        "//select[@name='max_documents']/option[@selected]/text()"
    ) == ["7"]
    asked = {"body": "metformin", "published_before": "1995-01-01", "max_documents": 20}
    documents = client.post("/v1/search", json=asked).json()["documents"]
    assert shown_pmids(page) == [document["pmid"] for document in documents]
    (json,) = page.xpath("//a[.='BioASQ JSON']/@href")
    assert parse_qs(urlsplit(json).query) == {
        "q": ["metformin"], "before": ["1995-01-01"], "ranker": ["lexical"], "max_documents": ["20"]
    }  # fmt: skip
    assert len(client.get(json).json()["questions"][0]["documents"]) <= 10


def test_details_say_which_stage_found_an_article(
    answerer: Answerer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found_by = "//details[@class='provenance']//th[.='Found by']"
    with TestClient(create_app(Settings(), local(answerer))) as words:
        assert not read(words.get("/", params={"q": BODY})).xpath(found_by)
    documents = [Document("1", 1, "Cardiac infarction", ""), Document("2", 1, "Heart attack", "")]
    with indexed(tmp_path / "index", documents) as index:
        vectors = with_vectors(index)
        monkeypatch.setattr("bioqa.app.answers.vectors.vectors_in", lambda folder: vectors)
        with TestClient(create_app(Settings(), local(Answerer(index, LexicalRanker())))) as both:
            page = read(both.get("/", params={"q": "heart attack"}))
            told = both.get("/v1/search?body=heart+attack").json()["documents"]
            explained = read(both.get("/explain", params={"q": "heart attack", "pmid": "1"}))
    assert len(page.xpath(found_by)) == 1
    rows = dict(zip(texts(page, f"{CELLS}/th"), texts(page, f"{CELLS}/td[2]"), strict=True))
    assert rows == {"1": "meaning, number 1", "2": "words, number 1; meaning, number 2"}
    assert {document["pmid"]: document["found_by"]["words"] for document in told} == {"1": None, "2": 1}
    assert any("By meaning: number 1; cosine" in text for text in texts(explained, "//p[@class='facts']"))


CELLS = "//table[.//th[.='Found by']]/tbody/tr"


def test_newest_first_says_how_many_fit(client: TestClient, answerer: Answerer) -> None:
    counts = "//div[@class='summary']/p"
    assert "fit" not in texts(read(client.get("/?q=adults&order=date")), counts)[0]
    with TestClient(create_app(Settings(), local(Answerer(answerer.index, Strict())))) as strict:
        told = strict.get("/v1/search?body=metformin+adults&order=date&max_documents=5").json()
        page = read(strict.get("/?q=metformin+adults&order=date&max_documents=5"))
    (newest,) = (remark["text"] for remark in told["remarks"] if remark["kind"] == "newest")
    number = int(newest.split()[0])
    assert 5 < number < 40
    assert texts(page, counts)[0].startswith(f"5 articles of {number} that fit and ")


def test_empty_fields_of_a_form_are_none(client: TestClient) -> None:
    plain = read(client.get("/?q=metformin"))
    sent = read(client.get("/?q=metformin&before=&ranker=&max_documents=10"))
    articles = "//section[@aria-labelledby='articles']"
    assert texts(sent, articles) == texts(plain, articles)


def test_the_json_is_a_valid_submission_of_the_same_answer(client: TestClient) -> None:
    page = read(client.get("/", params={"q": f"  {BODY} "}))
    (address,) = page.xpath("//a[.='BioASQ JSON']/@href")
    assert page.xpath("//button/@data-copy") == [address]
    submission = client.get(address).json()
    assert validate(submission) == []
    (question,) = submission["questions"]
    assert question["body"] == BODY
    assert len(question["id"]) == 24
    assert [url.rpartition("/")[2] for url in question["documents"]] == shown_pmids(page)


ENDINGS = ["ris", "bib", "nbib", "json", "csv"]


def test_citations_of_one_of_those_chosen_and_of_all(client: TestClient) -> None:
    page = read(client.get("/", params={"q": BODY, "n": 5}))
    pmids = shown_pmids(page)
    each = page.xpath("//article//a[@download]/@href")
    assert each == [f"/citations.{e}?pmid={pmid}" for pmid in pmids for e in ENDINGS]
    assert client.get(each[-1]).status_code == 200
    (form,) = page.xpath("//form[@id='export']")
    assert page.xpath("//input[@form='export' and @name='pmid']/@value") == pmids
    assert form.xpath(".//option/@value") == ENDINGS
    sent = {"all": form.xpath("string(input[@name='all']/@value)"), "format": "json"}
    assert [item["PMID"] for item in client.get(form.get("action"), params=sent).json()] == pmids
    chosen = sent | {"pmid": [pmids[3], pmids[1]]}
    assert [item["PMID"] for item in client.get(form.get("action"), params=chosen).json()] == [
        pmids[3], pmids[1]
    ]  # fmt: skip


def test_a_sentence_is_copied_with_its_citation(client: TestClient) -> None:
    page = read(client.get("/", params={"q": BODY}))
    (first, *_) = client.post("/v1/search", json={"body": BODY}).json()["snippets"]
    copied = page.xpath("//section[@aria-labelledby='sentences']//button/@data-copy-text")[0]
    assert copied.startswith(f"“{first['text']}” ")
    assert copied.endswith(f"PMID: {first['document'].rpartition('/')[2]}.")


def test_what_is_withdrawn_is_said_in_words(withdrawing: Answerer) -> None:
    with TestClient(create_app(Settings(), local(withdrawing))) as client:
        page = read(client.get("/", params={"q": BODY, "n": 20}))
    article = f"//article[.//a[contains(@href, '{RETRACTED}')]]"
    assert texts(page, f"{article}/h3/strong") == ["Retracted"]
    assert texts(page, f"{article}/p[@class='withdrawn']/span") == [NOTICE]
    doubted = f"//article[.//a[contains(@href, '{DOUBTED}')]]"
    assert texts(page, f"{doubted}/h3/strong") == ["Expression of concern"]
    # What a notice says is other people's text.
    assert texts(page, f"{doubted}/p[@class='withdrawn']/span") == [
        "Expression of concern in: <i>Invent</i> J. 2020. PMID: 90000003."
    ]
    corrected = f"//article[.//a[contains(@href, '{ERRATUM}')]]"
    assert not page.xpath(f"{corrected}/h3/strong")
    assert texts(page, f"{corrected}/p[@class='withdrawn']/span") == [
        "Erratum in: Invent J. 2021. PMID: 90000004."
    ]
    sentences = page.xpath("//section[@aria-labelledby='sentences']//li")
    withdrawn = [each for each in sentences if RETRACTED in each.text_content()]
    assert withdrawn
    assert all(each.xpath("string(strong)") == "Retracted" for each in withdrawn)
    assert len(page.xpath("//h3/strong")) == 2


def test_nothing_found_is_said(client: TestClient) -> None:
    page = read(client.get("/?q=zebra"))
    assert texts(page, "//p[@role='status']") == ["No article found"]
    assert not page.xpath("//article")


@pytest.mark.parametrize(
    ("query", "field", "said"),
    [
        ("q=", "q", "The question is empty"),
        ("q=%20%09", "q", "The question is empty"),
        (f"q={'x' * 301}", "q", "The question must have at most 300 characters"),
        ("q=rats&before=soon", "before", "The date must be a day"),
        ("q=rats&ranker=best", "ranker", "The ranker must be"),
        ("q=rats&max_documents=0", "max_documents", "The number of results must be"),
        ("q=rats&max_documents=many", "max_documents", "The number of results must be"),
    ],
)
def test_what_cannot_be_asked_is_said_beside_the_form(
    client: TestClient, query: str, field: str, said: str
) -> None:
    page = read(client.get(f"/?{query}", headers=BROWSER), 422)
    assert texts(page, "//ul[@id='faults']/li")[0].startswith(said)
    assert page.xpath("//input[@name='q']/@value") == [parse_qs(query, keep_blank_values=True)["q"][0]]
    assert fields(is_problem(client.get(f"/answer.json?{query}"), 422)) == [field]
    if field in ("q", "before", "ranker"):
        assert page.xpath("//*[@aria-invalid]/@name") == [field]


def test_the_json_needs_a_question(client: TestClient) -> None:
    assert fields(is_problem(client.get("/answer.json"), 422)) == ["q"]


HOSTILE_TITLE = "<script>alert('rats')</script> \U0001f400\U0001f400 & \"rats\"."
IMAGE = "<img src=x onerror=alert(1)>"
HOSTILE = f"AIM: \U0001f400\u2009{IMAGE} rats.METHODS: 1 < 2 && rats \U0001f9ec > 1. Unrelated."


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """An index of one citation, whose text is markup and characters beyond the basic plane."""
    cut = HOSTILE.index("METHODS")
    sentences = (
        Sentence("title", 0, len(HOSTILE_TITLE)),
        Sentence("abstract", 0, cut),
        Sentence("abstract", cut, HOSTILE.index(" Unrelated")),
        Sentence("abstract", HOSTILE.index("Unrelated"), len(HOSTILE)),
    )
    parts = (Part("AIM", 0, cut), Part("METHODS", cut, len(HOSTILE)))
    index = TantivyIndex.create(tmp_path_factory.mktemp("indices") / "hostile")
    index.apply([Upsert(Document("7", 1, HOSTILE_TITLE, HOSTILE, date(2001, 1, 1), sentences, parts))])
    index.commit()
    return TestClient(create_app(Settings(), local(Answerer(index, LexicalRanker()))))


def test_text_is_never_markup_and_marks_are_exact(hostile: TestClient) -> None:
    question = "<b>rats</b> \"'&"
    page = read(hostile.get("/", params={"q": question}))
    assert page.xpath("//input[@name='q']/@value") == [question]
    assert not page.xpath("//article//script | //article//img | //b")
    snippets = hostile.post("/v1/search", json={"body": question}).json()["snippets"]
    marks = {mark.get("id"): own_text(mark) for mark in page.xpath("//mark")}
    bodies = [s["text"].removeprefix("AIM: ").removeprefix("METHODS: ") for s in snippets]
    assert marks == {f"sentence-{rank}": body for rank, body in enumerate(bodies, start=1)}
    assert HOSTILE_TITLE in marks.values()
    assert texts(page, "//article//h4") == ["AIM", "METHODS"]
    aim, methods = page.xpath("//p[@class='passage']")
    assert IMAGE in aim.text_content()
    assert "Unrelated." in methods.text_content()


def test_a_weak_answer_is_shown_as_one(client: TestClient) -> None:
    headings = "//section[@class='notice']/h2"
    weak = read(client.get("/", params={"q": "Quels sont les effets de la metformine ou placebo ?"}))
    assert texts(weak, headings) == ["Nothing good found"]
    assert "The question seems to be in French" in " ".join(texts(weak, "//section[@class='notice']/p"))
    assert weak.xpath("//article")
    assert not texts(
        read(client.get("/", params={"q": "Effects of metformin and placebo in adults"})), headings
    )


@pytest.fixture(scope="module")
def cited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Citations of different types and years."""
    types = (("Review",), ("Letter",), ("Review", "Retracted Publication"))
    index = TantivyIndex.create(tmp_path_factory.mktemp("indices") / "cited")
    index.apply(
        Upsert(
            replace(
                document(number, f"Rats of herd {number}.", "Rats slept.", date(2000 + number, 1, 1)),
                metadata=Metadata(
                    authors=(Author("Doe", initials="J"), Author("Roe", initials="R")),
                    journal=Journal("J Rats", "Journal of Rats"),
                    types=types[number % 3],
                    pmcid="PMC1" if number == 4 else "",
                    doi=f"10.1000/{number}",
                ),
            )
        )
        for number in range(12)
    )
    index.commit()
    with TestClient(create_app(Settings(), local(Answerer(index, LexicalRanker())))) as client:
        yield client


def test_sentences_have_their_article_in_brief_and_what_they_do(cited: TestClient) -> None:
    page = read(cited.get("/?q=rats&max_documents=2"))
    listed = texts(page, "//section[@aria-labelledby='sentences']//li/p")
    told = cited.get("/v1/search?body=rats&max_documents=2&max_snippets=2").json()["snippets"]
    assert len(listed) == len(told) > 0
    for text, snippet in zip(listed, told, strict=True):
        pmid = snippet["document"].rpartition("/")[2]
        assert (snippet["role"] is None) == (snippet["beginSection"] == "title")
        does = snippet["role"] or "title"
        number = int(pmid) - 90_000_000
        assert text.startswith(f"Doe J, et al · {2000 + number} · J Rats · PMID {pmid} · {does} Copy")


def test_counts_by_year_and_type_are_searches(cited: TestClient) -> None:
    page = read(cited.get("/?q=rats&max_documents=5&facets=1"))
    bars = "//ol[@class='years']//a"
    assert texts(page, f"{bars}/*[@class='unseen']") == [f"{2000 + n}: 1 article" for n in range(12)]
    assert len(shown_pmids(read(cited.get(page.xpath(f"{bars}/@href")[3])))) == 1
    chips = "//nav[@id='counts']//a[@class='chip']"
    assert texts(page, chips) == [
        "Review 8", "Letter 4", "Retracted Publication 4", "Free full text 1", "Without 4 retracted"
    ]  # fmt: skip
    counts = [
        len(shown_pmids(read(cited.get(f"{address}&max_documents=50"))))
        for address in page.xpath(f"{chips}/@href")
    ]
    assert counts == [8, 4, 4, 1, 8]
    assert all("facets=true" in address for address in page.xpath(f"{chips}/@href"))
    assert page.xpath("//form//input[@type='hidden' and @name='facets']/@value") == ["true"]


def test_counts_are_fetched_when_the_answer_is_shown(cited: TestClient) -> None:
    page = read(cited.get("/?q=rats&max_documents=5&type=Review&offset=5"))
    (later,) = page.xpath("//nav[@id='counts']")
    assert texts(later, ".//a") == ["Count by year and type"]
    assert later.xpath("./a/@href") == ["/?q=rats&type=Review&max_documents=5&offset=5&facets=true"]
    (address,) = later.xpath("./@hx-get")
    assert address == "/counts?q=rats&type=Review&max_documents=5"
    fetched = cited.get(address)
    assert fetched.status_code == 200
    counted = html.fragment_fromstring(fetched.text)
    assert counted.get("id") == "counts"
    whole = read(cited.get("/?q=rats&max_documents=5&type=Review&facets=1"))
    assert texts(counted, ".//li") == texts(whole, "//nav[@id='counts']//li")
    assert texts(counted, ".//p[@class='facts']") == ["8 articles found"]
    assert "facets" not in "".join(counted.xpath(".//a/@href"))


def test_counts_need_a_question(cited: TestClient) -> None:
    assert fields(is_problem(cited.get("/counts"), 422)) == ["q"]
    assert fields(is_problem(cited.get("/counts?q=rats&after=soon"), 422)) == ["after"]


def test_filters_that_are_set_are_shown_and_removed(cited: TestClient) -> None:
    page = read(cited.get("/?q=rats&type=Review&exclude_retracted=1&max_documents=50"))
    assert len(shown_pmids(page)) == 4
    chips = "//ul[@aria-label='Filters set']//a"
    assert texts(page, chips) == ["Remove: type Review ×", "Remove: without retracted articles ×"]
    assert page.xpath("//input[@name='type' and @checked]/@value") == ["Review"]
    assert page.xpath("//input[@name='exclude_retracted' and @checked]/@value") == ["1"]
    removed = [len(shown_pmids(read(cited.get(address)))) for address in page.xpath(f"{chips}/@href")]
    assert removed == [8, 8]


def test_results_go_on_and_can_be_ordered_by_date(cited: TestClient) -> None:
    seen: list[str] = []
    address = "/?q=rats&max_documents=5"
    while address:
        page = read(cited.get(address))
        ranks = texts(page, "//*[@class='rank']")
        assert ranks[0] == f"{len(seen) + 1}."
        seen += shown_pmids(page)
        (address,) = page.xpath("//nav[@class='turn']/a[.='Next']/@href") or [""]
    assert sorted(seen) == [str(90_000_000 + number) for number in range(12)]
    assert page.xpath("//nav[@class='turn']/a[.='Previous']/@href") == ["/?q=rats&max_documents=5&offset=5"]
    (by_date,) = page.xpath("//a[.='newest first']/@href")
    assert shown_pmids(read(cited.get(by_date)))[:2] == ["90000011", "90000010"]


def test_filters_that_leave_nothing_are_named(cited: TestClient) -> None:
    page = read(cited.get("/?q=rats&type=Review&after=2030-01-01"))
    (first, second) = texts(page, "//section[@aria-labelledby='nothing']//li")
    assert first.startswith("8 without published from ")
    assert second.startswith("None even without type ")
    (address, _) = page.xpath("//section[@aria-labelledby='nothing']//li/a/@href")
    assert len(shown_pmids(read(cited.get(address)))) == 8


@pytest.mark.parametrize("q", ["90000004", "pmid:90000004", "https://doi.org/10.1000/4", "PMC1"])
def test_an_identifier_opens_the_article(cited: TestClient, q: str) -> None:
    response = cited.get("/", params={"q": q}, follow_redirects=False)
    assert (response.status_code, response.headers["location"]) == (303, "/article/90000004")
    scripted = cited.get("/", params={"q": q}, headers={"HX-Request": "true"}, follow_redirects=False)
    assert (scripted.status_code, scripted.headers["hx-redirect"]) == (200, "/article/90000004")


def test_an_unknown_identifier_is_named(cited: TestClient) -> None:
    page = read(cited.get("/?q=PMID:+77"))
    assert "no article with PMID 77" in texts(page, "//section[@aria-labelledby='nothing']")[0]


def test_syntax_is_explained_and_can_be_taken_as_words(cited: TestClient) -> None:
    page = read(cited.get("/", params={"q": "rats AND herd[ti] 2003[dp]"}))
    assert shown_pmids(page) == ["90000003"]
    assert "Articles ranked by “rats”, restricted to" in texts(page, "//p[@class='understood']")[0]
    (address,) = page.xpath("//p[@class='understood']/a/@href")
    words = read(cited.get(address))
    assert len(shown_pmids(words)) == 10
    assert not words.xpath("//p[@class='understood']")
    fault = read(cited.get("/", params={"q": "rats[ti] AND (herd"}, headers=BROWSER), 422)
    assert texts(fault, "//ul[@id='faults']/li")[0].startswith("The question")
    assert fault.xpath("//*[@aria-invalid]/@name") == ["q"]


@pytest.fixture(scope="module")
def spelt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Citations on one thing in two spellings."""
    titles = [f"The {('tumour', 'tumor')[number % 2]} of rat {number}." for number in range(12)]
    index = TantivyIndex.create(tmp_path_factory.mktemp("indices") / "spelt")
    index.apply(
        Upsert(document(number, title, "It grew.", date(2000 + number, 1, 1)))
        for number, title in enumerate(titles)
    )
    index.commit()
    with TestClient(create_app(Settings(), local(Answerer(index, LexicalRanker())))) as client:
        yield client


READ = "//p[@class='understood']"
ALSO = "//dl[@class='read']/div"


def test_corrections_and_expansions_are_shown_and_can_be_refused(spelt: TestClient) -> None:
    page = read(spelt.get("/?q=tumourz+in+rats&type=Letter"))
    assert not page.xpath("//article")
    assert texts(page, READ) == ["Results for tumour; search for tumourz instead"]
    assert texts(page, ALSO) == ["tumour (other spellings)tumor"]
    page = read(spelt.get("/?q=tumourz+in+rats&max_documents=5&order=date"))
    assert texts(page, READ) == ["Results for tumour; search for tumourz instead"]
    assert texts(page, ALSO) == ["tumour (other spellings)tumor"]
    assert {"tumor", "tumour"} <= {text.lower() for text in texts(page, "//em[@class='asked']")}
    (instead,) = page.xpath(f"{READ}/a/@href")
    assert instead == "/?q=tumourz+in+rats&max_documents=5&order=date&literal=true"
    assert page.xpath("//dl[@class='read']/following-sibling::p/a/@href")[0] == instead


def test_words_alone_are_kept_in_every_address_and_in_the_form(spelt: TestClient) -> None:
    page = read(spelt.get("/?q=tumours&max_documents=5&literal=1&facets=1"))
    assert len(page.xpath("//article")) == 5
    assert {text.lower() for text in texts(page, "//em[@class='asked']")} == {"tumour"}
    assert page.xpath("//input[@name='literal' and @checked]/@value") == ["1"]
    assert not page.xpath(ALSO)
    kept = page.xpath(
        "//nav[@class='turn']/a/@href | //a[.='newest first']/@href | //ol[@class='years']//a/@href"
    )
    kept += page.xpath("//a[.='BioASQ JSON']/@href")
    addresses = [address for address in kept if "q=" in address]
    assert len(addresses) == 3 + len(range(2001, 2012, 2))
    assert all("literal=true" in address for address in addresses)
    (address,) = page.xpath("//a[.='BioASQ JSON']/@href")
    assert (
        len(
            spelt.get(address.replace("max_documents=5", "max_documents=10")).json()["questions"][0][
                "documents"
            ]
        )
        == 6
    )
    assert len(spelt.get("/answer.json?q=tumours").json()["questions"][0]["documents"]) == 10
    (whole,) = page.xpath(f"{READ}/a/@href")
    assert texts(read(spelt.get(whole)), ALSO) == ["tumours (other spellings)tumors"]
