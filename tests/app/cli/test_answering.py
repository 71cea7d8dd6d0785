"""``bioqa ask`` and ``bioqa batch``."""

import json
from pathlib import Path

from bioqa.bioasq.jsonfile import read_json
from bioqa.bioasq.validation import validate
from tests.app.conftest import Run


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


def test_batch_writes_a_valid_submission(run: Run, index_folder: Path, testset: Path, tmp_path: Path) -> None:
    result = run("batch", testset, "-o", tmp_path / "submission", "--index", index_folder)
    assert result.code == 0
    assert "answering: 100% 2/2 questions" in result.err
    assert "questions 2, without any document 1" in result.err
    written = read_json(tmp_path / "submission")
    assert validate(written) == []
    assert run("validate", tmp_path / "submission", "--testset", testset).code == 0
