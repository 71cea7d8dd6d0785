"""Documents for tests of the index: made-up texts, with sentences cut at full stops."""

from datetime import date

from bioqa.bioasq.domain import Document, Part, Section, Sentence


def document(
    pmid: str | int,
    title: str = "A title.",
    abstract: str = "",
    *,
    version: int = 1,
    published: date | None = None,
    parts: tuple[Part, ...] = (),
) -> Document:
    sentences = (*_sentences("title", title), *_sentences("abstract", abstract))
    return Document(str(pmid), version, title, abstract, published, sentences, parts)


def _sentences(section: Section, text: str) -> list[Sentence]:
    spans = []
    begin = 0
    while begin < len(text):
        stop = text.find(". ", begin)
        end = len(text) if stop < 0 else stop + 1
        spans.append(Sentence(section, begin, end))
        begin = end + 1
    return spans
