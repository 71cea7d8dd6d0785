"""What the tools hand out, made from what the service answers."""

from dataclasses import replace

from bioqa.app.answers.answer import Answer
from bioqa.app.answers.answering import Answerer
from bioqa.app.http.schemas import search_answer, stored_document
from bioqa.app.mcp.results import medline_document, search_result
from bioqa.bioasq.domain import Question
from bioqa.indexer.search.questions.reading import CorrectedWord, Expansion, Reading
from bioqa.indexer.search.wording import Every
from bioqa.models.answers.confidence import Confidence
from bioqa.models.answers.ranking import Selection
from tests.app.conftest import document
from tests.app.requests import BODY
from tests.app.withdrawn import DOUBTED, ERRATUM, NOTICE, RETRACTED, marked


def note(answer: Answer) -> str | None:
    return search_result(search_answer(answer)).note


def test_a_snippet_names_its_article(answerer: Answerer) -> None:
    answer = answerer.answer(Question("", BODY))
    result = search_result(search_answer(answer))
    assert [s.pmid for s in result.snippets] == [s.document.pmid for s in answer.ranked_sentences]
    assert {s.pmid for s in result.snippets} <= {d.pmid for d in result.documents}
    assert result.documents[0].url == f"https://pubmed.ncbi.nlm.nih.gov/{answer.documents[0].document.pmid}/"


def test_what_limits_a_result_is_noted(answerer: Answerer) -> None:
    raw = replace(answerer.answer(Question("", BODY)), confidence=Confidence(0.9, "likely"))
    assert note(raw) == (
        "Scores are no probabilities: they are comparable within this answer only. "
        "There are further documents, from offset 10 on. The ranker read 40 candidates."
    )
    nothing = replace(raw, selection=Selection((), ()), next_offset=None)
    assert note(nothing) == "No document of the index contains a word of this question."
    assert search_result(search_answer(raw)).facets is None


def test_a_service_of_an_earlier_version_makes_no_remarks(answerer: Answerer) -> None:
    answer = search_answer(answerer.answer(Question("", BODY)))
    assert search_result(answer.model_copy(update={"remarks": ()})).note is None


def test_what_was_searched_for_instead_is_noted(answerer: Answerer) -> None:
    reading = Reading(
        BODY,
        Every(()),
        (BODY,),
        corrections=(CorrectedWord("asprin", "aspirin"),),
        expansions=(Expansion("IL6", ("IL-6",), "spelling"),),
    )
    found = replace(answerer.answer(Question("", BODY)), confidence=None, reading=reading)
    said = "Results for aspirin, as no document has asprin; literal searches for asprin."
    assert (note(found) or "").startswith(f"{said} Searched for, too: IL6: IL-6 ")


def test_what_is_withdrawn_is_said_first_everywhere(withdrawing: Answerer) -> None:
    result = search_result(search_answer(withdrawing.answer(Question("", BODY))))
    assert next(iter(result.model_dump())) == "warning"
    assert result.warning == f"RETRACTED, do not rely on: {RETRACTED}; DOUBTED BY THEIR JOURNALS: {DOUBTED}"
    warnings = {document.pmid: document.warning for document in result.documents}
    loud = "RETRACTED ARTICLE: do not rely on its findings or cite them as evidence."
    assert warnings[RETRACTED] == f"{loud} {NOTICE}"
    assert (warnings[DOUBTED] or "").startswith("EXPRESSION OF CONCERN: ")
    assert warnings[ERRATUM] == "Erratum in: Invent J. 2021. PMID: 90000004."
    assert sum(warning is None for warning in warnings.values()) == len(warnings) - 3
    assert [snippet.warning for snippet in result.snippets] == [warnings[s.pmid] for s in result.snippets]
    assert any(snippet.warning for snippet in result.snippets)
    for article in (*result.documents, *result.snippets):
        assert next(iter(article.model_dump())) == "warning"


def test_a_withdrawn_article_begins_with_the_warning() -> None:
    made = medline_document(stored_document(marked(document(1, "A title.", "One. Two."))))
    name, value = next(iter(made.model_dump().items()))
    assert name == "warning"
    assert value.startswith("RETRACTED ARTICLE: ")
    assert made.citation.startswith("A title. PMID: 90000001. Retracted. ")
    assert made.details is None


def test_nothing_is_said_against_what_is_sound(answerer: Answerer) -> None:
    result = search_result(search_answer(answerer.answer(Question("", BODY))))
    assert {result.warning, *(each.warning for each in (*result.documents, *result.snippets))} == {None}


def test_sentences_have_their_text() -> None:
    made = medline_document(stored_document(document(1, "A title.", "One. Two.")), details=True)
    assert made.details is not None
    assert [(s.section, s.text) for s in made.details.sentences] == [
        ("title", "A title."),
        ("abstract", "One."),
        ("abstract", "Two."),
    ]
    assert [(part.begin, part.end) for part in made.details.parts] == [(0, 9)]


def test_a_weak_answer_is_noted_first(answerer: Answerer) -> None:
    answer = replace(answerer.answer(Question("", BODY)), confidence=Confidence(0.9, "likely"))
    weak = replace(answer, calibrated=True, confidence=Confidence(0.04, "unlikely"), truncated_sentences=2)
    assert search_result(search_answer(weak)).answers_question == "unlikely"
    assert (note(weak) or "").startswith(
        "Probably nothing that was found answers the question (estimated probability 0.04). "
        "The ranker read 2 long sentences only in part."
    )
    assert search_result(search_answer(answer)).answers_question == "likely"
    # A service of an earlier version does not say.
    assert search_result(search_answer(replace(answer, confidence=None))).answers_question is None
