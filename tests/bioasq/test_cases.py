"""A question side by side: what is marked as gold is what the measures count."""

from bioqa.bioasq.cases import case
from bioqa.bioasq.comparison import compare
from bioqa.bioasq.domain import PUBMED_URL, Question, Response, Snippet
from bioqa.bioasq.measures import per_question
from tests.bioasq.comparing import golden, system

GOLD = golden()
SYSTEMS = {"a": system(GOLD, 0.3, 1), "b": system(GOLD, 0.5, 2)}
COMPARISON = compare(GOLD, SYSTEMS, 8, resamples=100)


def test_marked_documents_make_the_precision() -> None:
    for place in range(len(GOLD)):
        shown = case(COMPARISON, place)
        assert shown.question == GOLD[place].question
        for answer in shown.answers:
            measured = per_question(GOLD, SYSTEMS[answer.system], 8)[place]
            assert answer.measures == measured
            hits = sum(known for _, known in answer.documents)
            assert hits / len(answer.documents) == measured.documents.precision
            assert any(each.in_gold for each in answer.snippets) == (measured.snippets.precision > 0)
        returned = {document for name in SYSTEMS for document in SYSTEMS[name][place].documents}
        assert set(shown.missed) == set(GOLD[place].documents) - returned


def test_a_sentence_in_the_gold_overlaps_it_in_its_section() -> None:
    def snippet(begin: int, end: int, section: str = "abstract", pmid: int = 1) -> Snippet:
        return Snippet(f"{PUBMED_URL}{pmid}", "text", section, section, begin, end)

    gold = [Response(Question("q", "?"), (f"{PUBMED_URL}1",), (snippet(10, 20),))]
    chosen = (snippet(0, 9), snippet(15, 30), snippet(12, 14, "title"), snippet(12, 14, pmid=2))
    answered = [Response(Question("q", "?"), (f"{PUBMED_URL}2",), chosen)]
    shown = case(compare(gold, {"x": answered}, 8), 0)
    assert [each.in_gold for each in shown.answers[0].snippets] == [False, True, False, False]
    assert shown.as_dict()["systems"][0]["snippets"][1]["in_gold"] is True
    assert shown.missed == (f"{PUBMED_URL}1",)


def test_an_unanswered_question() -> None:
    found = compare(GOLD, {"a": SYSTEMS["a"], "b": SYSTEMS["b"][1:]}, 8, resamples=100)
    answer = case(found, 0).answers[1]
    assert (answer.measures, answer.documents, answer.snippets) == (None, (), ())
    assert answer.as_dict()["ap_documents"] is None
