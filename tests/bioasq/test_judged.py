import json

import pytest

from bioqa.bioasq.domain import PUBMED_URL, Question, Response, Snippet
from bioqa.bioasq.golden import parse_golden
from bioqa.bioasq.judged import condense, count_unjudged, judged_entry, parse_judged
from bioqa.bioasq.measures import evaluate
from bioqa.system.errors import BioqaError
from tests.bioasq.entries import DOCUMENT, entry, snippet

SECOND = PUBMED_URL + "90000002"
UNKNOWN = PUBMED_URL + "90000003"


def span(document: str, begin: int, end: int, section: str = "abstract") -> Snippet:
    return Snippet(document, "x" * (end - begin), section, section, begin, end)


def golden(**changes: object) -> bytes:
    judged = judged_entry([DOCUMENT, SECOND], [span(SECOND, 0, 20)])
    return json.dumps({"questions": [entry(snippet(), **{"judged": judged, **changes})]}).encode()


def system(documents: tuple[str, ...], snippets: tuple[Snippet, ...] = ()) -> list[Response]:
    return [Response(Question("q1", ""), documents, snippets)]


def test_condensed_lists_leave_out_what_nobody_judged() -> None:
    judged = parse_judged(golden(), "golden")
    assert judged is not None
    shown = system(
        (UNKNOWN, SECOND, DOCUMENT),
        (
            span(UNKNOWN, 0, 20),
            span(SECOND, 10, 30),  # half of it
            span(SECOND, 11, 31),  # less than half
            span(SECOND, 0, 20, "title"),
            span(DOCUMENT, 8, 25, "sections.0"),  # the gold itself, by the abstract's older name
        ),
    )
    (condensed,) = condense(shown, judged)
    assert condensed.documents == (SECOND, DOCUMENT)
    assert condensed.snippets == (shown[0].snippets[1], shown[0].snippets[4])
    unjudged = count_unjudged(shown, judged)
    assert (unjudged.document_share, unjudged.snippet_share) == (1 / 3, 3 / 5)
    assert str(unjudged) == "shown but not judged: documents 1 of 3 (33.3%), snippets 3 of 5 (60.0%)"


def test_the_measures_of_a_condensed_list_are_those_without_the_unjudged() -> None:
    gold = parse_golden(json.loads(golden()), "golden").responses
    judged = parse_judged(golden(), "golden")
    assert judged is not None
    shown = system((UNKNOWN, DOCUMENT))
    assert evaluate(gold, shown, 9).documents.map == 0.5
    assert evaluate(gold, condense(shown, judged), 9).documents.map == 1


def test_questions_whose_judgments_are_not_known_stay_as_they_are() -> None:
    judged = parse_judged(golden(), "golden")
    assert judged is not None
    other = [Response(Question("q2", ""), (UNKNOWN,), ())]
    assert condense(other, judged) == other
    assert count_unjudged(other, judged).shown_documents == 0
    assert count_unjudged(other, judged).document_share == 0


def test_a_golden_file_without_the_key_says_nothing() -> None:
    assert parse_judged(golden(judged=...), "golden") is None


def test_trec_judgements_say_it_if_they_have_irrelevant_documents() -> None:
    judged = parse_judged(b"q1 0 90000001 1\nq1 0 90000002 0\n", "qrels")
    assert judged is not None
    (condensed,) = condense(system((UNKNOWN, SECOND, DOCUMENT)), judged)
    assert condensed.documents == (SECOND, DOCUMENT)
    assert parse_judged(b"q1 0 90000001 1\n", "qrels") is None


@pytest.mark.parametrize("value", [None, [], {"documents": "all"}, {"snippets": [{"document": 5}]}])
def test_another_form_of_the_key_is_an_error(value: object) -> None:
    with pytest.raises(BioqaError, match=r'golden: question number 1 \(id "q1"\): judged'):
        parse_judged(golden(judged=value), "golden")


def test_official_measures_do_not_see_the_key() -> None:
    plain, marked = (parse_golden(json.loads(golden(**change)), "golden") for change in ({"judged": ...}, {}))
    assert plain == marked
