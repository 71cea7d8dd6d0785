"""Answers as objects, rows and JSON: each says what the others say."""

import bioqa
from bioqa.bioasq.files import parse_golden

QUESTION = bioqa.Question("q1", "Which genes influence the dose of warfarin?", "list")


def test_documents_and_snippets_are_ranked_from_one(index: bioqa.Index) -> None:
    answer = bioqa.ask(QUESTION, index, max_documents=4, max_snippets=3)
    assert [each.rank for each in answer.documents] == [1, 2, 3, 4]
    assert [each.rank for each in answer.snippets] == [1, 2, 3]
    assert [each.score for each in answer.documents] == sorted(
        (e.score for e in answer.documents), reverse=True
    )
    assert answer.question == QUESTION
    assert repr(answer).endswith("4 documents, 3 snippets>")


def test_a_snippet_is_cited_to_the_character(index: bioqa.Index) -> None:
    for snippet in bioqa.ask(QUESTION, index).snippets:
        document = index.document(snippet.pmid)
        assert document is not None
        assert document.text(snippet.section)[snippet.begin : snippet.end] == snippet.text


def test_rows_say_what_the_objects_say(index: bioqa.Index) -> None:
    answer = bioqa.ask(QUESTION, index)
    documents, snippets = answer.documents_rows(), answer.snippets_rows()
    assert {row["question"] for row in documents + snippets} == {"q1"}
    for row, document in zip(documents, answer.documents, strict=True):
        assert (row["rank"], row["pmid"], row["title"]) == (document.rank, document.pmid, document.title)
        assert (row["published"], row["score"], row["url"]) == (
            document.published,
            document.score,
            document.url,
        )
    for row, snippet in zip(snippets, answer.snippets, strict=True):
        place = (snippet.pmid, snippet.section, snippet.begin, snippet.end, snippet.text)
        assert (row["pmid"], row["section"], row["begin"], row["end"], row["text"]) == place


def test_as_bioasq_reads_back(index: bioqa.Index) -> None:
    answer = bioqa.ask(QUESTION, index)
    read = parse_golden({"questions": [answer.as_bioasq()]}, "answer")
    assert read.responses == (answer.response(),)
    assert not read.irregularities


def test_it_names_where_it_comes_from(index: bioqa.Index) -> None:
    ranker = bioqa.load_ranker()
    answer = bioqa.ask(QUESTION, index, ranker)
    assert (answer.index, answer.ranker, answer.ranker_hash) == (index.name, ranker.name, ranker.hash)
    assert answer.truncated_sentences == 0
    timings = answer.timings_ms
    assert timings.total == round(timings.retrieve + timings.rerank + timings.select, 3)
