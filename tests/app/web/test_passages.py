"""Marks stand exactly where the chosen sentences are, whatever the text."""

from dataclasses import replace
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from bioqa.app.answers.answer import Answer, Timings
from bioqa.app.web.passages import Mark, Piece, articles, pieces, whole
from bioqa.app.web.spans import ASKED, TextSpan
from bioqa.app.web.spans import TextPart as SetPart
from bioqa.bioasq.domain import Document, Part, Question, Sentence
from bioqa.bioasq.metadata import Markup, Metadata
from bioqa.models.answers.ranking import RankedDocument, RankedSentence, Selection

ABSTRACT = "BACKGROUND: Rats \U0001f400 were used. They slept.METHODS: We \u2009measured them."
BACKGROUND = "BACKGROUND: Rats \U0001f400 were used. They slept."
PARTS = (Part("BACKGROUND", 0, len(BACKGROUND)), Part("METHODS", len(BACKGROUND), len(ABSTRACT)))


def plain(text: str, mark: Mark | None = None) -> Piece:
    return Piece((TextSpan(text),), mark)


def span(text: str, section: str = "abstract") -> Sentence:
    begin = ABSTRACT.index(text)
    return Sentence("abstract", begin, begin + len(text))


def answer(document: Document, *sentences: Sentence) -> Answer:
    chosen = tuple(RankedSentence(document, s, 1 / (1 + rank)) for rank, s in enumerate(sentences))
    ranked = RankedDocument(document, 2.5, (0.0,) * len(document.sentences))
    return Answer(
        question=Question("q", "Mice?"),
        selection=Selection((ranked,), chosen),
        index="index",
        ranker="ranker",
        ranker_hash="00",
        timings_ms=Timings(retrieve=1, rerank=2, select=3),
        truncated_sentences=0,
        candidates=1,
    )


def document(parts: tuple[Part, ...] = PARTS) -> Document:
    return Document("1", 1, "Rats \U0001f400 sleep", ABSTRACT, date(2001, 1, 1), (), parts)


def test_labels_stand_apart_and_marks_are_where_the_sentences_are() -> None:
    slept, rats = span("They slept."), span("BACKGROUND: Rats \U0001f400 were used.")
    method = span("METHODS: We \u2009measured them.")
    (article,) = articles(answer(document(), slept, rats, method))
    assert [part.label for part in article.parts] == ["BACKGROUND", "METHODS"]
    background, methods = (part.pieces for part in article.parts)
    assert background == (
        plain("Rats \U0001f400 were used.", Mark(rats.begin, rats.end, 2, 1 / 2)),
        plain(" "),
        plain("They slept.", Mark(slept.begin, slept.end, 1, 1.0)),
    )
    assert methods == (plain("We \u2009measured them.", Mark(method.begin, method.end, 3, 1 / 3)),)
    assert article.title == (plain("Rats \U0001f400 sleep"),)
    assert (article.rank, article.score) == (1, 2.5)


def test_far_below_the_first_nothing_is_shown_but_chosen_sentences() -> None:
    long = replace(document(()), abstract=ABSTRACT + " x" * 300, sentences=(span("They slept."),))
    ranked = [
        RankedDocument(replace(long, pmid=str(place)), score, (0.0,))
        for place, score in enumerate((0.9, 0.2, 0.1, 0.1))
    ]
    chosen = RankedSentence(ranked[2].document, span("They slept."), 0.5)
    selection = Selection(tuple(ranked), (chosen,))
    plain_answer = replace(answer(long), selection=selection)
    shown = articles(replace(plain_answer, calibrated=True))
    assert [all(part.folded for part in article.parts) for article in shown] == [False, False, False, True]
    # Scores that are no probabilities say little about how far below an article is.
    assert not any(part.folded for article in articles(plain_answer) for part in article.parts)


def test_a_mark_in_the_title_is_not_one_in_the_abstract() -> None:
    (article,) = articles(answer(document(), Sentence("title", 5, 6)))
    assert article.title == (plain("Rats "), plain("\U0001f400", Mark(5, 6, 1, 1.0)), plain(" sleep"))
    assert all(piece.mark is None for part in article.parts for piece in part.pieces)


def test_a_sentence_that_is_only_a_label_is_marked_in_the_text() -> None:
    label = span("METHODS:")
    (article,) = articles(answer(document(), label))
    assert article.parts[1].label == ""
    assert article.parts[1].pieces[0] == plain("METHODS:", Mark(label.begin, label.end, 1, 1.0))


def test_an_abstract_without_parts_is_one_and_none_is_none() -> None:
    (article,) = articles(answer(document(parts=())))
    assert [(part.label, part.pieces) for part in article.parts] == [("", (plain(ABSTRACT),))]
    (article,) = articles(answer(Document("1", 1, "Title only.", "")))
    assert article.parts == ()


def test_words_of_the_question_and_markup_are_set_inside_and_outside_of_marks() -> None:
    italic = Markup("abstract", ABSTRACT.index("Rats"), ABSTRACT.index("Rats") + 4, "i")
    marked = Document("1", 1, "Rats", ABSTRACT, None, (), PARTS, Metadata(markup=(italic,)))
    given = answer(marked, span("They slept."))
    (article,) = articles(replace(given, question=Question("q", "Do they sleep, rat?")))
    assert article.title == (Piece((TextSpan("Rats", asked=True),)),)
    rats, slept = article.parts[0].pieces
    assert rats.spans == (TextSpan("Rats", True, ("i",)), TextSpan(" \U0001f400 were used. "))
    assert slept.mark is not None
    assert slept.text == "They slept."
    assert whole(marked).parts[0].pieces[0].spans[0] == TextSpan("Rats", False, ("i",))


def test_a_long_abstract_is_folded_around_the_chosen_sentence() -> None:
    sentences = [f"Sentence {number} is about nothing at all, as all others are." for number in range(12)]
    text = " ".join(sentences)
    begins = [text.index(each) for each in sentences]
    spans = tuple(Sentence("abstract", b, b + len(s)) for b, s in zip(begins, sentences, strict=True))
    long = Document("1", 1, "", text, None, spans)
    (article,) = articles(answer(long, spans[5]))
    (part,) = article.parts
    assert article.folded
    assert [(piece.folded, piece.mark is None) for piece in part.pieces] == [
        (True, True), (False, True), (False, False), (False, True), (True, True)
    ]  # fmt: skip
    assert "".join(piece.text for piece in part.pieces if not piece.folded) == " ".join(sentences[4:7]) + " "
    assert not whole(long).folded


@given(text=st.text(max_size=40), data=st.data())
def test_pieces_are_the_text_again_and_each_mark_is_its_span(text: str, data: st.DataObject) -> None:
    bounds = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=8)))
    marks = [Mark(b, e, r, 0.5) for r, (b, e) in enumerate(zip(bounds[::2], bounds[1::2], strict=False), 1)]
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, len(text)))
    kinds = st.sampled_from([ASKED, "i", "sup"])
    bound = st.integers(0, len(text))
    set_parts = data.draw(st.lists(st.builds(SetPart, bound, bound, kinds), max_size=5))
    folds = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    unfolded = [*zip(folds[::2], folds[1::2], strict=False)]
    cut = pieces(text, begin, end, marks, set_parts, unfolded)
    assert "".join(piece.text for piece in cut) == text[begin:end]
    assert all(span.text for piece in cut for span in piece.spans)
    position = begin
    for piece in cut:
        assert piece.folded != any(b <= position < e for b, e in unfolded)
        for each in piece.spans:
            kinds_here = {p.kind for p in set_parts if p.begin <= position < p.end}
            assert {*each.tags, *([ASKED] if each.asked else [])} == kinds_here
            position += len(each.text)
    for mark in marks:
        marked = "".join(piece.text for piece in cut if piece.mark == mark)
        assert marked == text[max(begin, mark.begin) : max(begin, min(end, mark.end))]
