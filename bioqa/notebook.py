"""An answer as a notebook shows it: HTML without style sheet or script. All text is escaped."""

from collections.abc import Iterator, Sequence
from html import escape

from bioqa.app.answers.answering import Answer
from bioqa.app.exports.standing import notice_text, shown_notices, word
from bioqa.app.web.passages import Article, Piece, articles
from bioqa.bioasq.domain import Document


def answer_html(answer: Answer) -> str:
    return "".join(_lines(answer))


def _lines(answer: Answer) -> Iterator[str]:
    yield f"<div><h4>{escape(answer.question.body.strip())}</h4>"
    if not answer.documents:
        yield "<p>No document has a word of this question.</p>"
    if answer.confidence and answer.confidence.caution:
        yield f"<p><strong>{escape(answer.confidence.caution)}</strong></p>"
    yield "<ol>"
    for sentence in answer.sentences:
        place = f"{sentence.document.pmid}, {sentence.sentence.section}, score {sentence.score:.3f}"
        yield f"<li>{_mark(sentence.document)}{escape(sentence.text)} <small>({escape(place)})</small></li>"
    yield "</ol>"
    for article in articles(answer):
        yield from _article(article)
    timings = answer.timings_ms
    yield (
        f"<p><small>Index {escape(answer.index)}, ranker {escape(answer.ranker)} "
        f"({escape(answer.ranker_hash[:12])}), {timings.total:.0f} ms</small></p></div>"
    )


def _article(article: Article) -> Iterator[str]:
    document = article.document
    facts = [
        f'<a href="{escape(document.url)}" rel="noreferrer">{escape(document.pmid)}</a>',
        *([str(document.published.year)] if document.published else []),
        f"score {article.score:.2f}",
    ]
    title = _passage(article.title) or "<em>No title</em>"
    summary = f"{article.rank}. {_mark(document)}{title} <small>({', '.join(facts)})</small>"
    yield f"<details><summary>{summary}</summary>"
    for notice in shown_notices(document.metadata):
        yield f"<p><strong>{escape(notice_text(notice))}</strong></p>"
    for part in article.parts:
        label = f"<strong>{escape(part.label)}</strong> " if part.label else ""
        yield f"<p>{label}{_passage(part.pieces)}</p>"
    yield "</details>"


def _mark(document: Document) -> str:
    said = word(document.metadata)
    return f"<strong>{escape(said)}:</strong> " if said else ""


def _passage(pieces: Sequence[Piece]) -> str:
    return "".join(f"<mark>{escape(p.text)}</mark>" if p.mark else escape(p.text) for p in pieces)
