from bioqa.bioasq.domain import Question
from bioqa.models.answers.ranking import RankedDocument, RankedSentence, Ranking, Selection
from tests.models.toys import document

FIRST = document(1, "A title.", "One sentence.", "Another one.")
SECOND = document(2, "Other.", "Third sentence.")


def _ranked(score: float = 1.0) -> tuple[RankedDocument, ...]:
    return tuple(RankedDocument(d, score, (0.0,) * len(d.sentences)) for d in (FIRST, SECOND))


def test_a_sentences_text_is_that_of_its_document() -> None:
    texts = [RankedSentence(FIRST, sentence, 0.5).text for sentence in FIRST.sentences]
    assert texts == ["A title.", "One sentence.", "Another one."]


def test_a_selection_as_a_submission_holds_it() -> None:
    chosen = (
        RankedSentence(SECOND, SECOND.sentences[1], 0.9),
        RankedSentence(FIRST, FIRST.sentences[0], 0.1),
    )
    question = Question("q1", "Which one?", "factoid")
    response = Selection(_ranked(), chosen).response(question)
    assert response.question is question
    assert response.documents == (FIRST.url, SECOND.url)
    assert [(s.document, s.text, s.begin_section, s.begin) for s in response.snippets] == [
        (SECOND.url, "Third sentence.", "abstract", 0),
        (FIRST.url, "A title.", "title", 0),
    ]


def test_an_empty_selection_is_an_empty_answer() -> None:
    response = Selection((), ()).response(Question("q1", "Which one?", "factoid"))
    assert (response.documents, response.snippets) == ((), ())
    assert Ranking(()).truncated_sentences == 0
