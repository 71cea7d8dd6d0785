"""An answer as a notebook shows it: HTML without style sheet or script. All text is escaped."""

from collections.abc import Iterator, Sequence
from html import escape

from bioqa.app.answers.answering import Answer
from bioqa.app.answers.understood import Understood
from bioqa.app.exports.standing import notice_text, shown_notices, word
from bioqa.app.web.passages import Article, Piece, articles
from bioqa.bioasq.domain import Document


def answer_html(answer: Answer) -> str:
    return "".join(_lines(answer))


def _lines(answer: Answer) -> Iterator[str]:
    yield f"<div><h4>{escape(answer.question.body.strip())}</h4>"
    if answer.understood:
        yield from _understood(answer.understood)
    if not answer.documents:
        yield f"<p>{escape(_nothing(answer))}</p>"
    if answer.documents and answer.confidence and answer.confidence.caution:
        yield f"<p><strong>{escape(answer.confidence.caution)}</strong></p>"
    yield "<ol>"
    for sentence in answer.sentences:
        place = f"{sentence.document.pmid}, {sentence.sentence.section}, score {sentence.score:.3f}"
        yield f"<li>{_mark(sentence.document)}{escape(sentence.text)} <small>({escape(place)})</small></li>"
    yield "</ol>"
    for article in articles(answer, answer.options.offset + 1):
        yield from _article(article)
    timings = answer.timings_ms
    yield (
        f"<p><small>Index {escape(answer.index)}, ranker {escape(answer.ranker)} "
        f"({escape(answer.ranker_hash[:12])}), {timings.total:.0f} ms</small></p></div>"
    )


def _understood(found: Understood) -> Iterator[str]:
    if found.restriction and not found.identifiers:
        words = f"“{found.words}”" if found.words else "documents by date"
        yield f"<p>{escape(f'Searched for {words}, restricted to: {found.restriction}')}</p>"
    if found.corrections:
        taken = ", ".join(each.correction for each in found.corrections)
        asked = ", ".join(each.word for each in found.corrections)
        yield f"<p>{escape(f'Results for {taken}; search for {asked} instead with literal=True')}</p>"


def _nothing(answer: Answer) -> str:
    if answer.emptied:
        left_out = "; ".join(f"{each.documents} without {each.condition}" for each in answer.emptied)
        return f"The filters leave no document: {left_out}."
    if answer.understood and answer.understood.identifiers:
        return "The index has no such document."
    if answer.options.offset:
        return "There are no further documents."
    return "No document has a word of this question."


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
