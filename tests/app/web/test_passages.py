"""Marks stand exactly where the chosen sentences are, whatever the text."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from bioqa.app.answers.answering import Answer, Timings
from bioqa.app.web.passages import Mark, Piece, articles, pieces
from bioqa.bioasq.domain import Document, Part, Question, Sentence
from bioqa.models.answers.ranking import RankedDocument, RankedSentence

ABSTRACT = "BACKGROUND: Rats \U0001f400 were used. They slept.METHODS: We \u2009measured them."
BACKGROUND = "BACKGROUND: Rats \U0001f400 were used. They slept."
PARTS = (Part("BACKGROUND", 0, len(BACKGROUND)), Part("METHODS", len(BACKGROUND), len(ABSTRACT)))


def span(text: str, section: str = "abstract") -> Sentence:
    begin = ABSTRACT.index(text)
    return Sentence("abstract", begin, begin + len(text))


def answer(document: Document, *sentences: Sentence) -> Answer:
    chosen = tuple(RankedSentence(document, s, 1 / (1 + rank)) for rank, s in enumerate(sentences))
    ranked = RankedDocument(document, 2.5, (0.0,) * len(document.sentences))
    return Answer(
        question=Question("q", "Rats?"),
        documents=(ranked,),
        sentences=chosen,
        index="index",
        ranker="ranker",
        ranker_hash="00",
        timings_ms=Timings(1, 2, 3),
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
        Piece("Rats \U0001f400 were used.", Mark(rats.begin, rats.end, 2, 1 / 2)),
        Piece(" "),
        Piece("They slept.", Mark(slept.begin, slept.end, 1, 1.0)),
    )
    assert methods == (Piece("We \u2009measured them.", Mark(method.begin, method.end, 3, 1 / 3)),)
    assert article.title == (Piece("Rats \U0001f400 sleep"),)
    assert (article.rank, article.score) == (1, 2.5)


def test_a_mark_in_the_title_is_not_one_in_the_abstract() -> None:
    (article,) = articles(answer(document(), Sentence("title", 5, 6)))
    assert article.title == (Piece("Rats "), Piece("\U0001f400", Mark(5, 6, 1, 1.0)), Piece(" sleep"))
    assert all(piece.mark is None for part in article.parts for piece in part.pieces)


def test_a_sentence_that_is_only_a_label_is_marked_in_the_text() -> None:
    label = span("METHODS:")
    (article,) = articles(answer(document(), label))
    assert article.parts[1].label == ""
    assert article.parts[1].pieces[0] == Piece("METHODS:", Mark(label.begin, label.end, 1, 1.0))


def test_an_abstract_without_parts_is_one_and_none_is_none() -> None:
    (article,) = articles(answer(document(parts=())))
    assert [(part.label, part.pieces) for part in article.parts] == [("", (Piece(ABSTRACT),))]
    (article,) = articles(answer(Document("1", 1, "Title only.", "")))
    assert article.parts == ()


@given(text=st.text(max_size=40), data=st.data())
def test_pieces_are_the_text_again_and_each_mark_is_its_span(text: str, data: st.DataObject) -> None:
    bounds = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=8)))
    marks = [Mark(b, e, r, 0.5) for r, (b, e) in enumerate(zip(bounds[::2], bounds[1::2], strict=False), 1)]
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, len(text)))
    cut = pieces(text, begin, end, marks)
    assert "".join(piece.text for piece in cut) == text[begin:end]
    assert all(piece.text for piece in cut)
    for mark in marks:
        marked = "".join(piece.text for piece in cut if piece.mark == mark)
        assert marked == text[max(begin, mark.begin) : max(begin, min(end, mark.end))]
