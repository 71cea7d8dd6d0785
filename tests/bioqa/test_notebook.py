"""An answer's HTML: whole, and nothing in it but what is meant."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lxml import html

import bioqa
from bioqa.app.answers.answering import Answerer
from bioqa.bioasq.metadata import Correction, Metadata
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.models.answers.ranking import Selection
from bioqa.notebook import answer_html
from tests.app.conftest import document
from tests.app.rankers import LexicalRanker

HOSTILE = "<script>alert(1)</script> & \"quoted\" 'heparin'"


@pytest.fixture
def hostile(tmp_path: Path) -> bioqa.Index:
    folder = tmp_path / "<b>hostile"
    with TantivyIndex.create(folder) as index:
        index.apply([Upsert(document(1, HOSTILE, f"{HOSTILE} one. Another heparin sentence."))])
        index.commit()
    return bioqa.open_index(folder)


def test_everything_is_escaped(hostile: bioqa.Index) -> None:
    ranker = LexicalRanker()
    ranker.name = "<i>ranker"
    answer = bioqa.ask("heparin <img src=x onerror=alert(1)>", hostile, ranker)
    shown = answer._repr_html_()
    tree = html.fragment_fromstring(shown)
    allowed = {"div", "h4", "ol", "li", "small", "details", "summary", "a", "p", "mark", "strong"}
    assert {each.tag for each in tree.iter()} <= allowed
    assert {name for each in tree.iter() for name in each.attrib} == {"href", "rel"}
    assert [each.text for each in tree.iter("h4")] == [answer.question.body]
    assert HOSTILE in [each.text for each in tree.iter("mark")]


def test_sentences_are_marked_where_they_stand(index: bioqa.Index) -> None:
    answer = bioqa.ask("Which genes influence the dose of warfarin?", index, LexicalRanker())
    tree = html.fragment_fromstring(answer._repr_html_())
    assert {mark.text for mark in tree.iter("mark")} == {each.text for each in answer.snippets}
    assert len(tree.findall("details")) == len(answer.documents)
    assert [link.text for link in tree.iter("a")] == [each.pmid for each in answer.documents]


def test_what_is_withdrawn_is_said_in_words(index: bioqa.Index) -> None:
    found = Answerer(index.back_end, LexicalRanker()).answer(bioqa.Question("", "dose of warfarin"))
    metadata = Metadata(
        types=("Retracted Publication",), corrections=(Correction("RetractionIn", "7", "<b>"),)
    )
    document = replace(found.documents[0].document, metadata=metadata)
    sentences = [each for each in found.ranked_sentences if each.document.pmid == document.pmid]
    assert sentences
    shown = answer_html(
        replace(
            found,
            selection=Selection(
                (replace(found.ranked_documents[0], document=document),),
                tuple(replace(ranked, document=document) for ranked in sentences),
            ),
        )
    )
    tree = html.fragment_fromstring(shown)
    assert tree.xpath("string(//summary/strong)") == "Retracted:"
    assert tree.xpath("string(//details/p[1])") == "Retraction in: <b>. PMID: 7."
    assert [each.xpath("string(strong)") for each in tree.xpath("//ol/li")] == ["Retracted:"] * len(sentences)


def test_an_answer_without_documents_says_so(index: bioqa.Index) -> None:
    shown = bioqa.ask("xyzzy", index, LexicalRanker())._repr_html_()
    assert "No document of the index contains a word of this question." in shown


def test_what_was_searched_for_is_said(index: bioqa.Index) -> None:
    def said(question: str, **options: Any) -> list[str]:
        shown = bioqa.ask(question, index, LexicalRanker(), **options)._repr_html_()
        return [each.text_content() for each in html.fragment_fromstring(shown).xpath("./p")]

    corrected = "Results for warfarin, as no document has warfarrin; literal searches for warfarrin."
    assert corrected in said("warfarrin")
    never = "With syntax never, for the words as they are."
    by_words = "Searched for “warfarin”, the most relevant first, restricted to dose[ti]."
    assert f"{by_words} {never}" in said("warfarin AND dose[ti]")
    by_date = "Searched for documents by date, the newest first, restricted to english[la]."
    assert f"{by_date} {never}" in said("english[la]")
    assert "The index has no such document." in said("PMID: 7")
    (nothing,) = [text for text in said("warfarin", types=["<b>"]) if text.startswith("The filters leave")]
    assert nothing.endswith(" without types (<b>[pt]).")
    assert "There are no further documents." in said("warfarin", offset=900)


def test_further_results_are_numbered_from_the_offset(index: bioqa.Index) -> None:
    answer = bioqa.ask("dose of warfarin", index, LexicalRanker(), offset=3, max_documents=2)
    summaries = html.fragment_fromstring(answer._repr_html_()).xpath("//summary")
    assert [each.text_content().split(".")[0] for each in summaries] == ["4", "5"]
    assert [each.rank for each in answer.documents] == [4, 5]
