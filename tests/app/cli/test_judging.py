"""``bioqa judge``: a sheet is pooled, judged, and its judgments go in and out."""

import json
from pathlib import Path
from typing import Any

import pytest

from bioqa.app.judging.judgments import Judgment, JudgmentLog, log_path
from bioqa.app.judging.sheet import ANSWERS, NO, RELEVANT, Sheet, read_sheet
from bioqa.bioasq.files import read_golden
from tests.app.conftest import Run

PLACE = {"pmid": "1", "section": "title", "begin": 0, "end": 5}


@pytest.fixture
def sheet(run: Run, testset: Path, index_folder: Path, tmp_path: Path) -> Path:
    path = tmp_path / "sheet.json"
    done = run(
        "judge",
        "pool",
        testset,
        "-o",
        path,
        "--ranker",
        "soft",
        "--ranker",
        "jpdrmm",
        "--index",
        index_folder,
    )
    assert done.code == 0, done.err
    return path


def judge_all(path: Path, name: str, sentence_grade: int = ANSWERS) -> Sheet:
    with JudgmentLog(path) as log:
        log.add(
            [
                Judgment(name, item, RELEVANT if item.sentence is None else sentence_grade)
                for item in log.sheet.items.values()
            ]
        )
        return log.sheet


def test_a_sheet_says_nothing_of_ranks(
    run: Run, sheet: Path, testset: Path, index_folder: Path, tmp_path: Path
) -> None:
    pooled = read_sheet(sheet)
    assert pooled.systems == ["jpdrmm", "soft"]
    assert [question.id for question in pooled.questions] == ["a", "b"]
    documents = pooled.questions[0].documents
    assert 1 < len(documents) <= 10
    text = sheet.read_text()
    assert "score" not in text
    assert "rank" not in text.replace('"jpdrmm"', "")
    again, other = tmp_path / "again.json", tmp_path / "other.json"
    for path, seed in ((again, 1), (other, 2)):
        arguments = ("--ranker", "jpdrmm", "--ranker", "soft", "--seed", seed, "--index", index_folder)
        assert run("judge", "pool", testset, "-o", path, *arguments).code == 0
    assert read_sheet(again) == pooled  # whatever the order of the rankers
    shuffled = read_sheet(other).questions[0].documents
    assert {document.pmid for document in shuffled} == {document.pmid for document in documents}
    assert [document.pmid for document in shuffled] != [document.pmid for document in documents]
    # No journal of answers is left.
    assert not [*tmp_path.glob("*.journal")]


def test_submissions_and_runs_are_pooled_too(
    run: Run, testset: Path, index_folder: Path, tmp_path: Path
) -> None:
    submission, trec, path = tmp_path / "theirs.json", tmp_path / "run.txt", tmp_path / "sheet.json"
    assert run("batch", testset, "-o", submission, "--index", index_folder).code == 0
    trec.write_text("a Q0 90000005 1 9.5 theirs\na Q0 123 2 9.0 theirs\n")
    done = run(
        "judge", "pool", testset, "-o", path, "--run", submission, "--run", trec, "--index", index_folder
    )
    assert done.code == 0, done.err
    assert "documents that the index does not have, which are left out: 1" in done.err
    pmids = {document.pmid for document in read_sheet(path).questions[0].documents}
    assert "90000005" in pmids
    assert {url.rsplit("/", 1)[1] for url in read_golden(submission).responses[0].documents} <= pmids


def test_a_sheet_with_judgments_is_not_made_anew(
    run: Run, sheet: Path, testset: Path, index_folder: Path
) -> None:
    judge_all(sheet, "Ann")
    before = sheet.read_bytes(), log_path(sheet).read_bytes()
    done = run("judge", "pool", testset, "-o", sheet, "--ranker", "soft", "--index", index_folder)
    assert (done.code, "has judgments already" in done.err) == (2, True)
    assert (sheet.read_bytes(), log_path(sheet).read_bytes()) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "nothing to pool"),
        (("--ranker", "soft", "--ranker", "soft"), "two systems are called soft"),
        (("--ranker", "soft", "--depth", "0"), "depth"),
    ],
)
def test_what_cannot_be_pooled(
    run: Run, testset: Path, index_folder: Path, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    path = tmp_path / "sheet.json"
    done = run("judge", "pool", testset, "-o", path, *arguments, "--index", index_folder)
    assert done.code == 2
    assert said in done.err
    assert not path.exists()


def test_agreement_is_printed(run: Run, sheet: Path) -> None:
    assert run("judge", "agreement", sheet).out == "Nobody has judged anything yet.\n"
    judge_all(sheet, "Ann")
    assert "one judge alone agrees with nobody" in run("judge", "agreement", sheet).out
    judge_all(sheet, "Ben")
    items = read_sheet(sheet).items.values()
    with JudgmentLog(sheet) as log:  # Cleo finds that half of the sentences do not answer
        sentences = [item for item in items if item.sentence is not None]
        log.add(
            [Judgment("Cleo", item, NO if number % 2 else ANSWERS) for number, item in enumerate(sentences)]
        )
    agreed: dict[str, Any] = json.loads(run("judge", "agreement", sheet, "--json").out)
    of_sentences = agreed["kinds"][1]
    pairs = {(pair["first"], pair["second"]): pair for pair in of_sentences["pairs"]}
    assert pairs["Ann", "Ben"]["observed"] == 1.0
    assert pairs["Ann", "Cleo"]["kappa"] == 0.0  # one of them says the same of all: no more than chance
    assert of_sentences["judged_by_all"] == len(sentences)
    printed = run("judge", "agreement", sheet).out
    assert "Fleiss' kappa" in printed
    assert "Ann, Cleo" in printed


def test_judgments_go_out_as_golden_file_and_are_evaluated(run: Run, sheet: Path, tmp_path: Path) -> None:
    golden = tmp_path / "golden.json"
    refused = run("judge", "export", sheet, "-o", golden)
    assert (refused.code, "nobody has judged anything yet" in refused.err) == (2, True)
    pooled = judge_all(sheet, "Ann")
    assert run("judge", "export", sheet, "-o", golden).code == 0
    (first, *_) = read_golden(golden).responses
    assert {url.rsplit("/", 1)[1] for url in first.documents} == {
        d.pmid for d in pooled.questions[0].documents
    }
    for snippet in first.snippets:
        document = next(d for d in pooled.questions[0].documents if snippet.document.endswith(d.pmid))
        text = document.title if snippet.begin_section == "title" else document.abstract
        assert text[snippet.begin : snippet.end] == snippet.text
    assert run("evaluate", golden, golden).code == 0


@pytest.mark.parametrize("form", ["golden", "qrels", "sentences"])
def test_what_goes_out_comes_in_again(run: Run, sheet: Path, tmp_path: Path, form: str) -> None:
    judge_all(sheet, "Ann", NO)
    path = tmp_path / "judged"
    assert run("judge", "export", sheet, "-o", path, "--form", form).code == 0
    done = run("judge", "import", sheet, path, "--judge", "Ben")
    assert done.code == 0, done.err
    with JudgmentLog(sheet) as log:
        ann, ben = (log.grades_by(name) for name in ("Ann", "Ben"))
    kinds = {"golden": (True, False), "qrels": (True,), "sentences": (False,)}[form]
    assert ben == {item: grade for item, grade in ann.items() if (item.sentence is None) in kinds}
    assert ben


def test_bad_files_and_names_are_refused(run: Run, sheet: Path, tmp_path: Path) -> None:
    judge_all(sheet, "Ann")
    before = log_path(sheet).read_bytes()
    bad = tmp_path / "bad.json"
    for content, said in (
        ("[1]", "0"),
        (
            '[{"id": "a", "judged": [{"pmid": "1", "section": "title", "begin": 0, "end": 5, "grade": 7}]}]',
            "grade",
        ),
        ("{", "JSON"),
    ):
        bad.write_text(content)
        done = run("judge", "import", sheet, bad, "--judge", "Ben")
        assert done.code == 2
        assert said in done.err
    bad.write_text("[]")
    assert "the judge's name is empty" in run("judge", "import", sheet, bad, "--judge", " ").err
    assert (
        "no judge is called Zoe; judges so far: Ann"
        in run("judge", "export", sheet, "-o", tmp_path / "x", "--judge", "Zoe").err
    )
    assert log_path(sheet).read_bytes() == before


def test_what_nobody_judged_is_told_and_left_out(run: Run, sheet: Path, tmp_path: Path) -> None:
    golden, theirs = tmp_path / "golden.json", tmp_path / "theirs.json"
    judge_all(sheet, "Ann")
    assert run("judge", "export", sheet, "-o", golden).code == 0
    submission = json.loads(golden.read_text())
    pooled = submission["questions"][0]["documents"]
    # Before all that is relevant stands what was not in the pool.
    submission["questions"][0]["documents"] = ["http://www.ncbi.nlm.nih.gov/pubmed/123", *pooled[:9]]
    theirs.write_text(json.dumps(submission))
    done = run("evaluate", golden, theirs, "--json")
    shown = sum(len(question["documents"]) for question in submission["questions"])
    assert f"shown but not judged: documents 1 of {shown}" in done.err
    measures = json.loads(done.out)
    assert measures["condensed"]["map_documents"] > measures["map_documents"]
    assert "without what nobody judged" in run("evaluate", golden, theirs).out
    # A golden file that does not know it is measured as before.
    for question in submission["questions"]:
        del question["judged"]
    golden.write_text(json.dumps(submission))
    plain = run("evaluate", golden, theirs, "--json")
    assert "condensed" not in json.loads(plain.out)
    assert "not judged" not in plain.err
