"""The official measures: the organisers' own numbers, cases worked by hand, and what must always hold."""

import json
from math import exp, isfinite, log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.bioasq.domain import PUBMED_URL, Question, Response, Snippet
from bioqa.bioasq.files import read_golden, read_submission
from bioqa.bioasq.measures import (
    EDITIONS,
    GoldSnippets,
    document_measures,
    evaluate,
    per_question,
)
from bioqa.system.errors import BioqaError

CASES = range(20)


def url(pmid: int) -> str:
    return f"{PUBMED_URL}{pmid}"


def snippet(pmid: int, begin: int, end: int, section: str = "abstract") -> Snippet:
    return Snippet(url(pmid), "x" * (end - begin), section, section, begin, end)


def response(
    identifier: str, documents: tuple[str, ...] = (), snippets: tuple[Snippet, ...] = ()
) -> Response:
    return Response(Question(identifier, "Why?"), documents, snippets)


snippets = st.builds(
    lambda pmid, begin, length, section: snippet(pmid, begin, begin + length, section),
    st.integers(1, 4),
    st.integers(0, 60),
    st.integers(1, 30),
    st.sampled_from(["title", "abstract"]),
)
documents = st.lists(st.integers(1, 30).map(url), max_size=15).map(tuple)
golds = st.builds(response, st.just("q"), documents, st.lists(snippets, max_size=8).map(tuple))
editions = st.sampled_from(EDITIONS)


@pytest.mark.parametrize("case", CASES)
def test_prints_what_the_official_evaluator_printed(shared: Path, case: int) -> None:
    rows = json.loads((shared / "evaluation" / "expected.json").read_text())
    golden = read_golden(shared / "evaluation" / f"case{case:02}.golden.json").responses
    system = read_submission(shared / "evaluation" / f"case{case:02}.system.json").responses
    rows = [row for row in rows if row["case"] == case]
    assert [row["edition"] for row in rows] == [5, 8, 9]
    for row in rows:
        measured = evaluate(golden, system, row["edition"]).official()
        expected = {
            key: float(value)
            for key, value in row["official"].items()
            if key.endswith(("_documents", "_snippets"))
        }
        assert measured == pytest.approx(expected, rel=0, abs=1e-9)


@pytest.mark.parametrize(("edition", "divisor"), [(2, 3), (3, 10), (5, 10), (8, 3), (9, 3)])
def test_document_measures_by_hand(edition: int, divisor: int) -> None:
    golden = [url(1), url(2), url(3), url(1)]
    ranked = [url(1), url(9), url(1), url(2), url(8)]  # without the repetition: 1, 9, 2, 8
    measured = document_measures(golden, ranked, edition)
    assert (measured.precision, measured.recall, measured.gold) == (2 / 4, 2 / 3, 3)
    assert measured.f1 == pytest.approx(2 * (1 / 2) * (2 / 3) / (1 / 2 + 2 / 3))
    assert measured.average_precision == pytest.approx((1 / 1 + 2 / 3) / divisor)


@pytest.mark.parametrize(("edition", "divisor"), [(2, 12), (5, 10), (8, 10), (9, 10)])
def test_more_than_ten_documents_are_neither_cut_nor_divided_by_more_than_ten_since_edition_3(
    edition: int, divisor: int
) -> None:
    golden = [url(number) for number in range(1, 13)]
    measured = document_measures(golden, golden, edition)
    assert measured.average_precision == pytest.approx(12 / divisor)


def test_only_the_official_form_of_a_document_counts() -> None:
    measured = document_measures([url(1)], ["https://www.ncbi.nlm.nih.gov/pubmed/1", "1"], 8)
    assert (measured.precision, measured.recall, measured.f1, measured.average_precision) == (0, 0, 0, 0)


def test_snippet_measures_by_hand() -> None:
    golden = GoldSnippets([snippet(1, 0, 9), snippet(1, 5, 19), snippet(2, 0, 9, "title")])  # sizes 20, 10
    measured = golden.measures([snippet(3, 0, 9), snippet(1, 10, 29)], 8)  # sizes 10, 20; 10 shared
    assert (measured.precision, measured.recall, measured.gold) == (10 / 30, 10 / 30, 2)
    assert measured.f1 == pytest.approx(1 / 3)
    assert measured.average_precision == pytest.approx((10 / 30) / 2)


def test_a_snippet_beside_the_gold_of_its_document_is_relevant_to_average_precision() -> None:
    golden = GoldSnippets([snippet(1, 0, 9)])
    measured = golden.measures([snippet(1, 0, 9), snippet(1, 20, 29), snippet(1, 40, 49)], 8)
    assert measured.average_precision == pytest.approx(1 + 1 / 2 + 1 / 3)  # exceeds 1, as officially
    assert measured.recall == 1


def test_precision_finds_gold_by_pmid_and_average_precision_by_the_whole_document() -> None:
    golden = GoldSnippets([snippet(1, 0, 9)])
    answer = Snippet("https://elsewhere.example/1", "x" * 9, "abstract", "abstract", 0, 9)
    measured = golden.measures([answer], 8)
    assert (measured.precision, measured.recall, measured.average_precision) == (1, 1, 0)


@pytest.mark.parametrize(
    ("golden", "answer", "f1"),
    [
        ("abstract", "abstract", 1),
        ("abstract", "title", 0),
        ("abstract", "sections.0", 1),
        ("sections.0", "abstract", 0),
        ("sections.0", "sections.0", 1),
        ("sections.1", "sections.0", 0),
    ],
)
def test_sections_must_match_but_for_an_old_name_of_the_abstract(golden: str, answer: str, f1: int) -> None:
    assert GoldSnippets([snippet(1, 0, 9, golden)]).f1([snippet(1, 0, 9, answer)]) == f1


def test_gmap_is_a_geometric_mean_with_a_floor() -> None:
    golden = [response("a", (url(1),)), response("b", (url(2),))]
    system = [response("a", (url(1),)), response("b", (url(9),))]
    expected = exp((log(1 + 0.00001) + log(0.00001)) / 2)
    assert evaluate(golden, system, 8).documents.gmap == pytest.approx(expected, rel=1e-12)


def test_a_missing_question_is_skipped_and_reported() -> None:
    golden = [response("a", (url(1),)), response("b", (url(2),)), response("c", (url(3),))]
    system = [response("b", (url(2),)), response("unknown", (url(1),))]
    measured = evaluate(golden, system, 5)
    assert (measured.questions, measured.missing, measured.missing_ids) == (1, 2, ("a", "c"))
    assert (measured.documents.recall, measured.documents.map) == (1, 0.1)


def test_the_first_of_two_responses_counts() -> None:
    system = [response("a", (url(1),)), response("a", (url(9),))]
    assert evaluate([response("a", (url(1),))], system, 8).documents.f1 == 1


def test_edition_9_drops_questions_without_gold_and_edition_8_scores_them_zero() -> None:
    golden = [response("a", (url(1),)), response("b", (), (snippet(1, 0, 9),))]
    newer, older = evaluate(golden, golden, 9), evaluate(golden, golden, 8)
    assert (newer.documents.f1, newer.documents.questions) == (1, 1)
    assert (newer.snippets.f1, newer.snippets.questions) == (1, 1)
    assert (older.documents.f1, older.documents.questions) == (0.5, 2)
    assert (older.snippets.map, older.snippets.questions) == (0.5, 2)
    expected = exp((log(1 + 0.00001) + log(0.00001)) / 2)
    assert older.snippets.gmap == older.documents.gmap == pytest.approx(expected)


def test_nothing_in_common_is_zero_everywhere() -> None:
    for measured in (evaluate([], [], 8), evaluate([response("a")], [response("b")], 8)):
        assert set(measured.official().values()) == {0}
        assert measured.questions == 0


@pytest.mark.parametrize("edition", [0, 1, 4, 7, 10, -5])
def test_an_unknown_edition_is_refused(edition: int) -> None:
    with pytest.raises(BioqaError, match=f"edition {edition} is unknown; the editions are 2, 3, 5, 8, 9"):
        evaluate([], [], edition)


@given(golds, editions)
def test_gold_against_itself_is_perfect(gold: Response, edition: int) -> None:
    (measured,) = per_question([gold], [gold], edition)
    for items, present in ((measured.documents, gold.documents), (measured.snippets, gold.snippets)):
        perfect = 1.0 if present else 0.0
        assert (items.precision, items.recall, items.f1) == (perfect, perfect, perfect)


@given(golds, golds, st.data())
def test_removing_an_item_never_raises_recall(gold: Response, answer: Response, data: st.DataObject) -> None:
    (before,) = per_question([gold], [answer], 8)
    if answer.documents:
        gone = data.draw(st.sampled_from(answer.documents))
        kept = tuple(document for document in answer.documents if document != gone)
        assert document_measures(gold.documents, kept, 8).recall <= before.documents.recall
    if answer.snippets:
        place = data.draw(st.integers(0, len(answer.snippets) - 1))
        rest = answer.snippets[:place] + answer.snippets[place + 1 :]
        assert GoldSnippets(gold.snippets).measures(rest, 8).recall <= before.snippets.recall


@given(golds, golds, editions)
def test_measures_lie_between_0_and_1(gold: Response, answer: Response, edition: int) -> None:
    measured = evaluate([gold], [answer], edition)
    for name, value in measured.official().items():
        assert value >= 0
        if not name.endswith(("map_documents", "map_snippets")):
            assert value <= 1
    if edition in (8, 9) and len(gold.documents) <= 10:
        assert measured.documents.map <= 1


@given(golds, golds)
def test_snippet_f1_alone_is_that_of_the_evaluation(gold: Response, answer: Response) -> None:
    f1 = GoldSnippets(gold.snippets).f1(answer.snippets)
    assert f1 == evaluate([gold], [answer], 5).snippets.f1


@given(golds, golds)
def test_the_order_of_snippets_changes_no_f1(gold: Response, answer: Response) -> None:
    merged = GoldSnippets(gold.snippets)
    assert merged.f1(answer.snippets[::-1]) == merged.f1(answer.snippets)


@given(
    st.lists(
        st.builds(
            lambda begin, end: Snippet(url(1), "x", "abstract", "abstract", begin, end),
            st.integers(-5, 20),
            st.integers(-5, 20),
        ),
        max_size=5,
    ),
    st.lists(snippets, max_size=5),
    editions,
)
def test_ends_before_begins_leave_every_number_finite(
    irregular: list[Snippet], answer: list[Snippet], edition: int
) -> None:
    golden, system = [response("q", (), tuple(irregular))], [response("q", (), tuple(answer))]
    for left, right in ((golden, system), (system, golden)):
        assert all(isfinite(value) for value in evaluate(left, right, edition).official().values())
