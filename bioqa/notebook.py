"""An answer as a notebook shows it: HTML without style sheet or script. All text is escaped."""

from collections.abc import Iterator, Sequence
from html import escape

from bioqa.app.answers.answer import Answer
from bioqa.app.answers.remarks import remarks
from bioqa.app.exports.standing import notice_text, shown_notices, word
from bioqa.app.web.passages import Piece, ShownArticle, articles
from bioqa.bioasq.domain import Document


def answer_html(answer: Answer) -> str:
    return "".join(_lines(answer))


def _lines(answer: Answer) -> Iterator[str]:
    yield f"<div><h4>{escape(answer.question.body.strip())}</h4>"
    for remark in remarks(answer):
        weight = "strong" if remark.kind in ("confidence", "degraded") else "small"
        yield f"<p><{weight}>{escape(remark.text)}</{weight}></p>"
    yield "<ol>"
    for snippet in answer.snippets:
        where = f"{snippet.pmid}, {snippet.section}, score {snippet.score:.3f}"
        yield f"<li>{_mark(snippet.document)}{escape(snippet.text)} <small>({escape(where)})</small></li>"
    yield "</ol>"
    for article in articles(answer, answer.options.offset + 1):
        yield from _article(article)
    timings = answer.timings_ms
    yield (
        f"<p><small>Index {escape(answer.index)}, ranker {escape(answer.ranker)} "
        f"({escape(answer.ranker_hash[:12])}), {timings.total:.0f} ms</small></p></div>"
    )


def _article(article: ShownArticle) -> Iterator[str]:
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
