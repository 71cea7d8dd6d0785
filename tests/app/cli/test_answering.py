"""``bioqa ask`` and ``bioqa batch``."""

import json
from pathlib import Path

import pytest

from bioqa.app.exports.formats import FORMATS
from bioqa.bioasq.validation import validate
from bioqa.system.jsonfile import read_json
from tests.app.conftest import Run
from tests.app.withdrawn import DOUBTED, ERRATUM, NOTICE, RETRACTED


def test_ask_prints_documents_and_snippets_with_scores(run: Run, index_folder: Path) -> None:
    result = run("ask", "Is metformin better?", "--index", index_folder, "--max-documents", "2")
    assert result.code == 0
    assert "Effects of metformin in cohort" in result.out
    assert "<b>& beyond</b>" in result.out
    assert " 2. " in result.out
    assert "ranker lexical" in result.out


def test_ask_prints_what_http_answers(run: Run, index_folder: Path) -> None:
    options = ("--index", index_folder, "--published-before", "1995-01-01", "--max-snippets", "3", "--json")
    answer = json.loads(run("ask", "Is metformin better?", *options).out)
    assert (answer["body"], answer["index"], len(answer["snippets"])) == ("Is metformin better?", "sample", 3)
    assert all(d["published"] is None or d["published"] < "1995" for d in answer["documents"])


def test_ask_without_any_match_says_so(run: Run, index_folder: Path) -> None:
    assert "No document" in run("ask", "zebra", "--index", index_folder).out


def test_ask_with_filters(run: Run, index_folder: Path) -> None:
    options = ("--index", index_folder, "--json", "--max-documents", 100)
    answer = json.loads(run("ask", "statin", *options, "--after", "1996", "--before", "2010-06").out)
    days = [d["published"] for d in answer["documents"]]
    assert days
    assert all("1996" <= day < "2010-06" for day in days)
    undated = json.loads(run("ask", "statin", *options, "--before", "1996-01-01", "--undated").out)
    assert None in [d["published"] for d in undated["documents"]]


def test_ask_says_which_filter_leaves_nothing(run: Run, index_folder: Path) -> None:
    result = run("ask", "statin", "--index", index_folder, "--type", "Randomized Controlled Trial")
    assert '7 without types ("Randomized Controlled Trial"[pt])' in result.out


def test_ask_refuses_filters_that_contradict_each_other(run: Run, index_folder: Path) -> None:
    result = run("ask", "statin", "--index", index_folder, "--after", "2020", "--before", "2019")
    assert (result.code, result.out) == (2, "")
    assert "2020-01-01 is not before 2019-01-01" in result.err


def test_ask_points_at_a_fault_in_a_query(run: Run, index_folder: Path) -> None:
    result = run("ask", "statin AND (dose", "--index", index_folder)
    assert (result.code, result.out) == (2, "")
    assert "statin AND (dose\n           ^" in result.err
    plain = run("ask", "statin AND (dose", "--index", index_folder, "--plain")
    assert plain.code == 0
    assert "Searched for" not in plain.out
    assert "--plain is called --syntax never" in plain.err
    never = run("ask", "statin AND (dose", "--index", index_folder, "--syntax", "never")
    assert (never.code, "Searched for" not in never.out) == (0, True)


def test_ask_shows_what_it_searched_for_and_numbers_further_results(run: Run, index_folder: Path) -> None:
    options = ("--index", index_folder, "--max-documents", 2)
    result = run("ask", "adults NOT 1995[dp]", *options, "--offset", 2, "--order", "date", "--facets")
    searched = "Searched for “adults”, the newest first, restricted to NOT published from 1995-01-01"
    assert searched in result.out
    assert "  3. " in result.out
    assert "Years: " in result.out
    assert "without a date 6" in result.out
    assert "The index has no such document." in run("ask", "PMID: 1", *options).out
    assert "There are no further documents." in run("ask", "adults", *options, "--offset", 500).out


def test_ask_marks_what_is_withdrawn_before_its_text(run: Run, withdrawing_folder: Path) -> None:
    lines = run(
        "ask", "Is metformin better?", "--index", withdrawing_folder, "--max-snippets", 20
    ).out.splitlines()
    articles = [number for number, line in enumerate(lines) if f"  {RETRACTED}  " in line]
    assert len(articles) == 1
    assert f"  {RETRACTED}  [Retracted] Effects of metformin in cohort 1 " in lines[articles[0]]
    assert lines[articles[0] + 1].strip() == NOTICE
    sentences = [line for line in lines if f"  {RETRACTED} abstract " in line]
    assert sentences
    assert all("  [Retracted] " in line for line in sentences)
    assert any(f"  {DOUBTED}  [Expression of concern] " in line for line in lines)
    (corrected,) = [number for number, line in enumerate(lines) if f"  {ERRATUM}  Effects" in line]
    assert lines[corrected + 1].strip() == "Erratum in: Invent J. 2021. PMID: 90000004."


@pytest.mark.parametrize("format", FORMATS)
def test_ask_prints_the_articles_in_a_format(run: Run, withdrawing_folder: Path, format: str) -> None:
    options = ("--index", withdrawing_folder, "--max-documents", 5)
    pmids = [
        d["pmid"] for d in json.loads(run("ask", "Is metformin better?", *options, "--json").out)["documents"]
    ]
    result = run("ask", "Is metformin better?", *options, "--format", format)
    assert (result.code, result.err) == (0, "")
    assert "Retracted" in result.out
    positions = [result.out.find(title_of(pmid)) for pmid in pmids]
    assert -1 not in positions
    assert positions == sorted(positions)


def title_of(pmid: str) -> str:
    return f"Effects of metformin in cohort {int(pmid) - 90_000_000} "


def test_ask_prints_one_format(run: Run, index_folder: Path) -> None:
    result = run("ask", "metformin", "--index", index_folder, "--format", "ris", "--json")
    assert (result.code, result.out) == (2, "")
    assert "exclude each other" in result.err
    result = run("ask", "metformin", "--index", index_folder, "--format", "doc")
    assert (result.code, result.out) == (2, "")
    assert 'one of ris, bibtex, nbib, csl, csv, nlm, vancouver, apa, not "doc"' in result.err


def test_ask_prints_an_empty_file_if_nothing_is_found(run: Run, index_folder: Path) -> None:
    assert run("ask", "zebra", "--index", index_folder, "--format", "ris").out == ""


def test_batch_writes_a_valid_submission(run: Run, index_folder: Path, testset: Path, tmp_path: Path) -> None:
    result = run("batch", testset, "-o", tmp_path / "submission", "--index", index_folder)
    assert result.code == 0
    assert "answering: 100% 2/2 questions" in result.err
    assert "questions 2, without any document 1" in result.err
    written = read_json(tmp_path / "submission")
    assert validate(written) == []
    assert run("validate", tmp_path / "submission", "--testset", testset).code == 0


def test_ask_says_that_an_answer_is_weak_and_names_the_language(run: Run, index_folder: Path) -> None:
    out = run("ask", "Quels sont les effets de la metformine ou placebo ?", "--index", index_folder).out
    assert "Probably nothing that was found answers the question" in out
    assert "The question seems to be in French" in out
    assert "robably" not in run("ask", "Is metformin better than placebo?", "--index", index_folder).out


def test_where_filters_leave_nothing_that_is_all_that_is_said(run: Run, index_folder: Path) -> None:
    asked = ("ask", "Is metformin better than placebo?", "--index", index_folder)
    out = run(*asked, "--type", "Review", "--language", "Hungarian").out
    assert "The filters leave no document." in out
    assert "robably" not in out


def test_ask_tells_what_was_searched_for_instead(run: Run, index_folder: Path) -> None:
    asked = ("ask", "Is metforminn better?", "--index", index_folder)
    result = run(*asked)
    assert (
        "Results for metformin, as no document has metforminn; literal searches for metforminn." in result.out
    )
    assert "Effects of metformin in cohort" in result.out
    literal = run(*asked, "--literal")
    assert "Results for" not in literal.out
    assert "Effects of metformin in cohort" not in literal.out


def test_batch_corrects_words_and_writes_bioasqs_form(run: Run, index_folder: Path, tmp_path: Path) -> None:
    testset = tmp_path / "testset.json"
    testset.write_text(json.dumps({"questions": [{"id": "a", "body": "Metforminn?", "type": "yesno"}]}))
    found = {}
    for name, option in (("read", ()), ("literal", ("--literal",))):
        output = tmp_path / f"{name}.json"
        assert run("batch", testset, "-o", output, "--index", index_folder, *option).code == 0
        submission = read_json(output)
        assert not validate(submission)
        assert isinstance(submission, dict)
        (question,) = submission["questions"]
        assert set(question) == {"id", "body", "type", "documents", "snippets"}
        assert question["body"] == "Metforminn?"
        found[name] = question["documents"]
    assert found["read"]
    assert found["literal"] == []
