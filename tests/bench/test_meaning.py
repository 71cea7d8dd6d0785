"""The bench of vectors: which articles and sentences count as right."""

import json
from pathlib import Path

import pytest

from bench.meaning import Case, answers_it, judged_cases, report_answers, report_candidates, select_all
from bioqa.app.answers.answering import Retrieved
from bioqa.app.answers.question import Options
from bioqa.bioasq.domain import Candidate, Document, Question, Sentence
from bioqa.models.answers import meaning
from bioqa.models.answers.ranking import RankedDocument, RankedSentence, Selection
from bioqa.models.reranker import Reranker

QUESTION = Question("q", "Does it help?")
DOCUMENT = Document("7", 1, "It helps", "", sentences=(Sentence("title", 0, 8),))
JUDGMENT = {"pmid": "7", "section": "title", "begin": 0, "end": 8, "grade": 2}


def test_questions_without_an_answering_sentence_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "judged.json"
    entries = [
        {"id": name, "body": "Does it?", "judged": [JUDGMENT | {"grade": grade}]}
        for name, grade in (("one", 2), ("other", 1))
    ]
    path.write_text(json.dumps(entries))
    (case,) = judged_cases(path)
    assert (case.question.id, case.articles) == ("one", frozenset({"7"}))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, True),
        ({"begin": 4, "end": 20}, True),  # half of the shorter one
        ({"begin": 5, "end": 20}, False),
        ({"pmid": "8"}, False),
        ({"section": "abstract"}, False),
    ],
)
def test_a_sentence_answers_by_its_place(change: dict[str, object], expected: bool) -> None:
    ranked = RankedSentence(DOCUMENT, DOCUMENT.sentences[0], 1.0)
    assert answers_it(ranked, [JUDGMENT | change]) is expected


def test_articles_are_counted_by_question_or_by_share() -> None:
    others = [Document(str(number), 1, "Other", "") for number in range(100, 115)]
    candidates = [Candidate(document, 1.0) for document in (*others, DOCUMENT)]
    retrieved = Retrieved(QUESTION, Options(), candidates, "index", 0.0)
    case = Case(QUESTION, frozenset({"7", "999"}), [JUDGMENT])
    assert report_candidates([case], [retrieved]) == "@10 0.000   @20 1.000   @100 1.000"


def test_answers_are_reported_by_their_first_sentences() -> None:
    ranked = RankedDocument(DOCUMENT, 1.0, (1.0,))
    right = RankedSentence(DOCUMENT, DOCUMENT.sentences[0], 1.0)
    wrong = RankedSentence(Document("8", 1, "It helps", ""), DOCUMENT.sentences[0], 1.0)
    case = Case(QUESTION, frozenset({"7"}), [JUDGMENT])
    selections = [Selection((ranked,), (wrong, right)), Selection((), ())]
    assert report_answers([case, case], selections) == (
        "P@1 0.000   S@3 0.500   an article that answers among the ten 0.500"
    )


def test_the_weight_that_ships_is_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = []

    def rank_and_select(ranker: Reranker, retrieved: object) -> list[object]:
        weights.append(meaning.WEIGHT)
        raise ArithmeticError

    monkeypatch.setattr("bench.meaning.rank_and_select", rank_and_select)
    shipped = meaning.WEIGHT
    with pytest.raises(ArithmeticError):
        select_all(None, [Retrieved(QUESTION, Options(), [], "index", 0.0)], 7.0)  # type: ignore[arg-type]
    assert (weights, meaning.WEIGHT) == ([7.0], shipped)
