"""The page at /evaluate shows what ``bioqa evaluate`` and ``bioqa validate`` print."""

import copy
import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from bioqa.app.api import comparing
from bioqa.app.api.comparing import unique_names
from bioqa.app.api.evaluation import USUAL_EDITIONS
from bioqa.bioasq.comparison import compare
from bioqa.bioasq.files import parse_golden, parse_testset
from bioqa.bioasq.measures import evaluate
from bioqa.bioasq.trec import judgements, submission_run
from bioqa.bioasq.validation import validate
from tests.app.requests import TESTSET
from tests.app.web.html import BROWSER, read, texts


@pytest.fixture(scope="module")
def submission(client: TestClient) -> dict[str, Any]:
    made: dict[str, Any] = client.post("/v1/bioasq", json=TESTSET).json()
    return made


@pytest.fixture
def golden(submission: dict[str, Any]) -> dict[str, Any]:
    """Some of what was found, and a question that was not asked."""
    gold = copy.deepcopy(submission)
    for question in gold["questions"]:
        question["documents"] = question["documents"][1::2]
        question["snippets"] = question["snippets"][::3]
    gold["questions"].append({**gold["questions"][0], "id": "unasked"})
    return gold


def sent(client: TestClient, edition: str = "", **files: Any) -> Any:
    """The form as browsers send it: a file that was not chosen (None) is there, without name and content."""
    parts = [f'name="editions"\r\n\r\n{edition}']
    for field, file in files.items():
        name, content = ("", "") if file is None else ("file", json.dumps(file))
        parts.append(f'name="{field}"; filename="{name}"\r\n\r\n{content}')
    body = "".join(f"--cut\r\nContent-Disposition: form-data; {part}\r\n" for part in parts)
    headers = {**BROWSER, "Content-Type": "multipart/form-data; boundary=cut"}
    return client.post("/evaluate", content=f"{body}--cut--\r\n".encode(), headers=headers)


def cells(measures: Any) -> list[list[str]]:
    means = (measures.documents, measures.snippets)
    names = ("precision", "recall", "f1", "map", "gmap")
    return [[f"{getattr(each, name):.4f}" for each in means] for name in names]


@pytest.mark.parametrize("edition", ["", "2"])
def test_measures_are_the_official_ones(
    client: TestClient, submission: dict[str, Any], golden: dict[str, Any], edition: str
) -> None:
    page = read(sent(client, edition, submission=submission, golden=golden, testset=None))
    gold, answers = (parse_golden(each, "file").responses for each in (golden, submission))
    editions = [int(edition)] if edition else USUAL_EDITIONS
    shown = [
        [texts(row, "td") for row in table.xpath("tbody/tr")]
        for table in page.xpath("//div[@class='tables']/table")
    ]
    assert shown == [cells(evaluate(gold, answers, each)) for each in editions]
    assert float(shown[0][0][0]) > 0
    compared = {
        tuple(texts(row, "th")): texts(row, "td")[1]
        for row in page.xpath("//table[@class='measures']/tbody/tr")
    }
    latest = evaluate(gold, answers, int(edition or 9))
    assert compared["documents MAP",] == f"{latest.documents.map:.4f}"
    assert compared["snippets F1",] == f"{latest.snippets.f1:.4f}"
    for caption, each in zip(texts(page, "//caption"), editions, strict=True):
        assert f"(edition {each}), 3 questions" in caption
    assert "1 golden question that the submission lacks, in no mean: unasked" in texts(page, "//main")[0]
    assert "The submission is valid" in texts(page, "//h2")


def test_every_fault_and_irregularity_is_listed(
    client: TestClient, submission: dict[str, Any], golden: dict[str, Any]
) -> None:
    faulty = copy.deepcopy(submission)
    faulty["questions"][0]["documents"][0] = "<b>90000001</b>"
    testset = {"questions": TESTSET["questions"][:2]}
    page = read(sent(client, submission=faulty, golden=golden, testset=testset))
    listed = texts(page, "//h2[.='Faults of the submission']/following-sibling::ul[1]/li")
    assert len(listed) == len(validate(faulty, parse_testset(testset, "test set")))
    assert any("<b>90000001</b>" in fault for fault in listed)
    assert any("is not in the test set" in fault for fault in listed)
    assert "1 × document not in the form of BioASQ's PubMed URLs" in texts(page, "//li")


def test_many_faults_are_cut(client: TestClient, submission: dict[str, Any]) -> None:
    bad = {**submission["questions"][0], "documents": [str(n) for n in range(300)], "snippets": []}
    page = read(sent(client, submission={"questions": [bad]}, golden=submission))
    assert len(page.xpath("//h2[.='Faults of the submission']/following-sibling::ul[1]/li")) == 100
    assert "more." in texts(page, "//main")[0]


def test_files_that_cannot_be_evaluated(client: TestClient, submission: dict[str, Any]) -> None:
    for response, said in (
        (sent(client, submission=submission, golden=None), "The golden file is missing"),
        (sent(client, submission=[1], golden=submission), "The submission must be an object"),
        (sent(client, "7", submission=submission, golden=submission), "The edition must be some of"),
    ):
        page = read(response, 422)
        assert texts(page, "//ul[@id='faults']/li")[0].startswith(said)
        assert page.xpath("//a[.='Back']/@href") == ["/evaluate"]


def several(client: TestClient, golden: object, systems: dict[str, Any], **data: str) -> Any:
    files = [("submission", (name, json.dumps(each))) for name, each in systems.items()]
    return client.post(
        "/evaluate", files=[*files, ("golden", ("golden", json.dumps(golden)))], data=data, headers=BROWSER
    )


def test_several_submissions_are_compared(
    client: TestClient, submission: dict[str, Any], golden: dict[str, Any]
) -> None:
    other = copy.deepcopy(submission)
    for question in other["questions"]:
        question["documents"] = question["documents"][::-1]
        question["snippets"] = question["snippets"][:2]
    other["questions"][0]["documents"][0] = "nonsense"
    page = read(several(client, golden, {"ours.json": submission, "theirs.json": other}, editions="8"))
    gold = parse_golden(golden, "file").responses
    read_back = {
        "ours": parse_golden(submission, "x").responses,
        "theirs": parse_golden(other, "x").responses,
    }
    expected = compare(gold, read_back, 8)
    rows = [texts(row, "td") for row in page.xpath("//table[@class='measures']/tbody/tr")]
    values = [(row["system"], f"{row['value']:.4f}") for row in expected.rows()]
    assert sorted((row[0], row[1]) for row in rows) == sorted(values)
    assert len(page.xpath("//figure")) == 7
    assert texts(page, "//section[@aria-labelledby='faults']/h3")[0] == "ours: valid"
    assert "faults" in texts(page, "//section[@aria-labelledby='faults']/h3")[1]
    assert len(page.xpath("//table[@class='by-question']/tbody/tr")) == len(gold)
    assert page.xpath("//details[starts-with(@class, 'case')]")
    assert page.xpath("//link[contains(@href, 'comparison.css')]")


def test_the_report_is_a_file(client: TestClient, submission: dict[str, Any], golden: dict[str, Any]) -> None:
    made = several(client, golden, {"ours": submission, "theirs": submission}, report="html")
    assert made.headers["content-disposition"] == 'attachment; filename="comparison.html"'
    assert "<style>" in made.text
    assert "Comparison: ours, theirs" in made.text


def test_runs_and_judgements_are_compared(
    client: TestClient, submission: dict[str, Any], golden: dict[str, Any]
) -> None:
    answers, gold = (parse_golden(each, "file").responses for each in (submission, golden))
    files = {
        "submission": ("old.run", "".join(f"{line}\n" for line in submission_run(answers, "x"))),
        "golden": ("qrels", "".join(f"{line}\n" for line in judgements(gold))),
    }
    page = read(client.post("/evaluate", files=files, headers=BROWSER))
    rows = [texts(row, "td") for row in page.xpath("//table[@class='measures']/tbody/tr")]
    assert [row[0] for row in rows] == ["old"] * 5
    assert not page.xpath("//section[@aria-labelledby='faults']")


def test_names_of_files_are_told_apart(
    client: TestClient, submission: dict[str, Any], golden: dict[str, Any]
) -> None:
    assert unique_names({"a": "x.json", "b": "x.gz", "c": "", "d": "x"}) == {
        "a": "x",
        "b": "x (2)",
        "c": "c",
        "d": "x (3)",
    }
    seven = {f"{number}": submission for number in range(7)}
    page = read(several(client, golden, seven), 422)
    assert "at most 6" in texts(page, "//ul[@id='faults']/li")[0]
    swapped = read(several(client, {"questions": [{"id": "a"}]}, {"x": submission}), 422)
    assert "is a test set, not a golden file" in texts(swapped, "//ul[@id='faults']/li")[0]


def test_more_questions_than_can_be_shown(
    client: TestClient,
    submission: dict[str, Any],
    golden: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(comparing, "MOST_QUESTIONS", 3)
    page = read(several(client, golden, {"x": submission}), 422)
    assert "use `bioqa compare`" in texts(page, "//ul[@id='faults']/li")[0]


def test_the_form(client: TestClient) -> None:
    page = read(client.get("/evaluate"))
    assert page.xpath("//form/@action") == ["/evaluate"]
    assert texts(page, "//nav/a[@aria-current='page']") == ["Evaluation"]
