import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.bioasq.domain import PUBMED_URL, Question, Response
from bioqa.bioasq.trec import (
    Judgement,
    RunLine,
    evaluated_order,
    judged_responses,
    judgements,
    parse_judgements,
    parse_run,
    pmid,
    read_judgements,
    read_run,
    run_lines,
    run_responses,
    submission_run,
)
from bioqa.system.errors import BioqaError

PMIDS = st.integers(1, 10**8).map(str)
NAMES = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=12)
SCORES = st.floats(-1e30, 1e30) | st.floats(0, 1) | st.sampled_from([0.0, -0.0, 1.0, 1e-45, 1 + 1e-12])
QUESTIONS = st.lists(NAMES, unique=True, max_size=4)


def response(identifier: str, *pmids: str) -> Response:
    return Response(Question(identifier, ""), tuple(PUBMED_URL + pmid for pmid in pmids), ())


@st.composite
def runs(draw: st.DrawFn) -> dict[str, list[tuple[str, float]]]:
    """By question, documents with scores that fall, as a ranker gives them."""
    made = {}
    for question in draw(QUESTIONS):
        pmids = draw(st.lists(PMIDS, unique=True, min_size=1, max_size=12))
        scores = sorted(draw(st.lists(SCORES, min_size=len(pmids), max_size=len(pmids))), reverse=True)
        made[question] = list(zip(pmids, scores, strict=True))
    return made


@given(runs())
def test_a_written_run_is_read_as_it_was_and_evaluated_in_its_order(
    run: dict[str, list[tuple[str, float]]],
) -> None:
    lines = [line for question, documents in run.items() for line in run_lines(question, documents, "tag")]
    read = parse_run("".join(f"{line}\n" for line in lines), "run")
    assert read == lines
    order = {question: [line.document for line in found] for question, found in evaluated_order(read).items()}
    assert order == {question: [pmid for pmid, _ in documents] for question, documents in run.items()}
    for question, documents in run.items():
        scores = [line.score for line in lines if line.question == question]
        assert (np.diff(np.array(scores, np.float32)) < 0).all()
        assert np.isclose(scores, [score for _, score in documents], rtol=1e-5, atol=1e-40).all()


@given(st.dictionaries(NAMES, st.lists(PMIDS, unique=True, max_size=10), max_size=4))
def test_submissions_and_golden_files_come_back_from_their_trec_files(
    documents: dict[str, list[str]],
) -> None:
    responses = [response(identifier, *pmids) for identifier, pmids in documents.items()]
    questions = [each.question for each in responses]
    run = parse_run("\n".join(map(str, submission_run(responses, "x"))), "run")
    assert run_responses(run, questions) == responses
    qrels = parse_judgements("\r\n".join(map(str, judgements(responses))), "qrels")
    assert judged_responses(qrels, questions) == responses
    assert judged_responses(qrels) == [each for each in responses if each.documents]


def test_lines_are_written_as_trec_has_them() -> None:
    (first, second) = run_lines("q1", [("12", 0.25), ("7", 0.1)], "bioqa")
    assert str(first) == "q1 Q0 12 1 0.25 bioqa"
    assert str(second) == "q1 Q0 7 2 0.1 bioqa"
    assert str(Judgement("q1", "12", 1)) == "q1 0 12 1"


def test_a_submissions_scores_are_how_many_are_left() -> None:
    twice = Response(Question("q", ""), tuple(PUBMED_URL + pmid for pmid in ("5", "5", "3")), ())
    assert [(line.document, line.score) for line in submission_run([twice], "x")] == [("5", 2.0), ("3", 1.0)]


def test_equal_scores_are_lowered_in_single_precision() -> None:
    lines = list(run_lines("q", [("1", 2.0), ("2", 2.0), ("3", 2.0 - 1e-9), ("4", 1.0)], "x"))
    below = np.nextafter(np.float32(2), np.float32(0))
    expected = [2.0, float(below), float(np.nextafter(below, np.float32(0))), 1.0]
    assert [float(np.float32(line.score)) for line in lines] == expected


def test_scores_decide_then_document_numbers_as_text_falling_and_ranks_never() -> None:
    run = parse_run("q Q0 9 1 1.0 t\nq Q0 10 2 1.0 t\nq Q0 5 3 2.0 t\nq Q0 6 4 1.00000000001 t\n", "run")
    assert [line.document for line in evaluated_order(run)["q"]] == ["5", "9", "6", "10"]


def test_only_the_ten_best_of_a_run_are_submitted() -> None:
    run = [RunLine("q", str(n), n, float(n), "t") for n in range(1, 31)]
    (only,) = run_responses(run)
    assert only.documents == tuple(f"{PUBMED_URL}{n}" for n in range(30, 20, -1))


def test_a_test_set_gives_bodies_order_and_the_questions_that_the_run_lacks() -> None:
    asked = [Question("b", "B?", "yesno"), Question("a", "A?")]
    made = run_responses(parse_run("a Q0 1 1 1 t", "run"), asked)
    assert made == [Response(asked[0], (), ()), Response(asked[1], (PUBMED_URL + "1",), ())]


def test_relevance_below_the_least_is_no_golden_document() -> None:
    found = parse_judgements("q 0 1 0\nq 0 2 1\nq 0 3 2\nq 0 4 -1\nr 0 1 0", "qrels")
    assert judged_responses(found) == [response("q", "2", "3"), response("r")]
    assert judged_responses(found, least=2) == [response("q", "3"), response("r")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("q Q0 1 1 1.0 t\nq Q0 2 2 0.5", r"run, line 2: must have 6 fields \(question, Q0, .*has 5"),
        ("\n\nq Q0 1 1 first t", r"run, line 3: score: must be a number of single precision, not \"first\""),
        ("q Q0 1 1 nan t", r"line 1: score: must be a number of single precision, not \"nan\""),
        ("q Q0 1 1 inf t", "score"),
        ("q Q0 1 1 1e39 t", "score"),
        ("q Q0 1 1 0x1 t", "score"),
        ("q Q0 1 1 1_0 t", "score"),
        ("q Q0 1 1 2 t\nr Q0 1 1 2 t\nq Q0 1 2 1 t", r"line 3: duplicate document \"1\" for this question"),
    ],
)
def test_what_is_no_run_is_told_with_its_line(text: str, words: str) -> None:
    with pytest.raises(BioqaError, match=words):
        parse_run(text, "run")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("q 0 1", r"qrels, line 1: must have 4 fields"),
        ("q 0 1 1\nq 0 2 yes", r"line 2: relevance: must be an integer, not \"yes\""),
        ("q 0 1 1\nq 0 1 0", "line 2: duplicate document"),
        ("q 0 1 1.0", "relevance"),
    ],
)
def test_what_is_no_judgement_is_told_with_its_line(text: str, words: str) -> None:
    with pytest.raises(BioqaError, match=words):
        parse_judgements(text, "qrels")


def test_what_no_submission_can_hold_is_told() -> None:
    run = parse_run("q Q0 GX-01 1 1 t", "run")
    with pytest.raises(BioqaError, match=r'question "q": the document "GX-01" is not a PMID'):
        run_responses(run)
    with pytest.raises(BioqaError, match=r'the question "q" is not in the test set'):
        run_responses(parse_run("q Q0 1 1 1 t", "run"), [Question("p", "P?")])


@pytest.mark.parametrize("name", ["", "a b", "a\u00a0b", "a\tb", "a\nb", "a\0b"])
def test_names_that_would_break_a_line_are_not_written(name: str) -> None:
    with pytest.raises(BioqaError, match="white space"):
        list(run_lines(name, [("1", 1.0)], "t"))
    with pytest.raises(BioqaError, match="tag"):
        list(run_lines("q", [("1", 1.0)], name))
    with pytest.raises(BioqaError, match="white space"):
        list(judgements([response(name, "1")]))


@pytest.mark.parametrize("score", [float("nan"), float("inf"), 1e39])
def test_scores_beyond_single_precision_are_not_written(score: float) -> None:
    with pytest.raises(BioqaError, match="score"):
        list(run_lines("q", [("1", score)], "t"))


@pytest.mark.parametrize(
    "document", ["", "0", "GX-1", "https://pubmed.ncbi.nlm.nih.gov/", "http://x.org/5", "5\n"]
)
def test_a_document_that_is_not_of_pubmed_is_not_written(document: str) -> None:
    wrong = Response(Question("q", ""), (document,), ())
    for write in (lambda: [*submission_run([wrong], "t")], lambda: [*judgements([wrong])]):
        with pytest.raises(BioqaError, match=r'question "q": the document ".*" is neither a PMID nor'):
            write()


@pytest.mark.parametrize(
    "document",
    [
        "5",
        "http://www.ncbi.nlm.nih.gov/pubmed/5",
        "https://www.ncbi.nlm.nih.gov/pubmed/5/",
        "http://ncbi.nlm.nih.gov/pubmed/5",
        "https://www.ncbi.nlm.nih.gov/m/pubmed/5/",
        "https://pubmed.ncbi.nlm.nih.gov/5/",
        "HTTPS://PubMed.ncbi.nlm.nih.gov/5",
    ],
)
def test_documents_in_other_forms_are_the_same_ones(document: str) -> None:
    both = Response(Question("q", ""), (document, PUBMED_URL + "5", PUBMED_URL + "7"), ())
    assert pmid(document) == "5"
    assert [*judgements([both])] == [Judgement("q", "5", 1), Judgement("q", "7", 1)]
    assert [line.document for line in submission_run([both], "t")] == ["5", "7"]


@pytest.mark.parametrize("line", ["q 0 5 1 3.5 t", "q q0 5 1.0 3.5 t", "q - 5 - 3.5 t", "q Q0 5 99999 3.5 t"])
def test_the_second_column_and_the_rank_are_not_read(line: str) -> None:
    assert parse_run(f"{line}\nr {line[2:]}\n{line.replace('5 ', '6 ', 1)}", "run") == [
        RunLine("q", "5", 1, 3.5, "t"),
        RunLine("r", "5", 1, 3.5, "t"),
        RunLine("q", "6", 2, 3.5, "t"),
    ]


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_an_empty_file_is_told(tmp_path: Path, content: str) -> None:
    path = tmp_path / "empty"
    path.write_text(content)
    for read in (read_run, read_judgements):
        with pytest.raises(BioqaError, match="empty: has no lines"):
            read(path)


def test_files_are_read_plain_or_gzip_and_named_when_wrong(tmp_path: Path) -> None:
    plain, packed = tmp_path / "run.txt", tmp_path / "qrels.gz"
    plain.write_text("\ufeffq\tQ0  1 1 1.5 t\r\n", encoding="utf-8")
    packed.write_bytes(gzip.compress(b"q 0 1 1\n"))
    assert read_run(plain) == [RunLine("q", "1", 1, 1.5, "t")]
    assert read_judgements(packed) == [Judgement("q", "1", 1)]
    plain.write_bytes(b"q Q0 1 1 1 \xff")
    with pytest.raises(BioqaError, match=r"run\.txt: not UTF-8"):
        read_run(plain)
    with pytest.raises(BioqaError, match="cannot be read"):
        read_run(tmp_path / "missing")
