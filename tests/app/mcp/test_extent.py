"""Results that are no longer than they may be."""

from dataclasses import replace

import pytest

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.similar import similar
from bioqa.app.http.schemas import search_answer, similar_documents, stored_document
from bioqa.app.mcp.extent import documents_within, length, shorten_document, shorten_search, shorten_similar
from bioqa.app.mcp.results import medline_document, search_result, similar_articles
from bioqa.bioasq.domain import Question
from tests.app.conftest import document
from tests.app.requests import BODY


@pytest.mark.parametrize("details", [False, True])
@pytest.mark.parametrize("most", [1000, 1500, 3000, 5000, 8000, 100_000])
def test_a_search_is_shortened_from_its_end(answerer: Answerer, most: int, details: bool) -> None:
    whole = search_result(search_answer(answerer.answer(Question("", BODY))), details=details)
    short = shorten_search(whole, most, offset=20)
    assert length(short) <= most
    assert short.documents
    for before, after in zip(whole.documents, short.documents, strict=False):
        assert after in (before, before.model_copy(update={"details": None}))
    kept = {document.pmid for document in short.documents}
    assert short.snippets == [s for s in whole.snippets if s.pmid in kept][: len(short.snippets)]
    if len(short.documents) < len(whole.documents):
        assert short.next_offset == 20 + len(short.documents)
        assert "documents" in (short.note or "")
    if length(whole) <= most:
        assert short == whole


@pytest.mark.parametrize("most", [1000, 3000, 100_000])
def test_similar_articles_are_shortened_from_their_end(answerer: Answerer, most: int) -> None:
    found = similar(answerer.index, answerer.index.get(["90000003"])["90000003"], 20)
    whole = similar_articles(similar_documents("90000003", found), details=True)
    short = shorten_similar(whole, most)
    assert length(short) <= most
    assert [d.pmid for d in short.documents] == [d.pmid for d in whole.documents[: len(short.documents)]]
    assert short.documents


def test_a_long_question_is_not_repeated_in_full(answerer: Answerer) -> None:
    answer = replace(answerer.answer(Question("", BODY)), question=Question("", "metformin " * 300))
    short = shorten_search(search_result(search_answer(answer)), 2000, offset=0)
    assert length(short) <= 2000
    assert short.documents


def test_a_document_loses_its_details_then_the_end_of_its_abstract() -> None:
    stored = stored_document(document(1, "A title.", "One sentence of many. " * 200))
    whole = medline_document(stored, details=True)
    assert shorten_document(whole, 100_000) == whole
    without = shorten_document(whole, 8000)
    assert (without.details, without.abstract) == (None, whole.abstract)
    assert "the details" in (without.note or "")
    short = shorten_document(whole, 1000)
    assert length(short) <= 1000
    assert whole.abstract.startswith(short.abstract)
    assert len(short.abstract) > 300
    assert "the end of the abstract" in (short.note or "")


def test_documents_for_which_there_is_no_room_are_named() -> None:
    documents = [
        medline_document(stored_document(document(number, "A title.", "One sentence. " * 60)))
        for number in range(1, 9)
    ]
    result = documents_within(documents, ["5"], 3000)
    assert length(result) <= 3000
    assert result.missing == ["5"]
    pmids = [document.pmid for document in result.documents]
    assert [*pmids, *result.left_out] == [document.pmid for document in documents]
    assert 0 < len(pmids) < 8
    first = documents_within(documents[:1], [], 1000)
    assert length(first) <= 1000
    assert first.documents[0].note
