"""Text with the positions of its superscripts, subscripts, italics and bold.

The text is the one of ``xmlfile.text_of``, so it has no trace of the markup and its offsets stay as they are.
"""

from bisect import bisect_right
from dataclasses import dataclass
from typing import Literal

from lxml import etree

from bioqa.bioasq.domain import Section
from bioqa.bioasq.metadata import Markup
from bioqa.indexer.medline.xmlfile import XML_SPACE, collapse, text_of

Tag = Literal["sup", "sub", "i", "b"]

TAGS: dict[str, Tag] = {"sup": "sup", "sub": "sub", "i": "i", "b": "b"}
_SPACE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class TitleMark:
    """A span of a text, without white space at its ends."""

    begin: int
    end: int
    tag: Tag

    def within(self, section: Section, begin: int) -> Markup:
        """The mark in a section that has the text at ``begin``."""
        return Markup(section, begin + self.begin, begin + self.end, self.tag)


def marked_text_of(element: etree._Element | None) -> tuple[str, tuple[TitleMark, ...]]:
    """Return the text below an element, as ``text_of``, and its marks in order, outer ones first."""
    if element is None or len(element) == 0:
        return text_of(element), ()
    pieces: list[str] = []
    spans: list[tuple[int, int, Tag]] = []
    _collect(element, 0, pieces, spans)
    raw = "".join(pieces)
    return collapse(raw), _marks(raw, spans) if spans else ()


def _collect(
    element: etree._Element, position: int, pieces: list[str], spans: list[tuple[int, int, Tag]]
) -> int:
    """Collect an element's text, and the spans of its marked parts; return the position after it."""
    if text := element.text:
        pieces.append(text)
        position += len(text)
    for child in element:
        begin, at = position, len(spans)
        position = _collect(child, position, pieces, spans)
        tag: Tag | None = TAGS.get(child.tag)  # type: ignore[arg-type]  # a str
        if tag is not None:
            spans.insert(at, (begin, position, tag))
        if tail := child.tail:
            pieces.append(tail)
            position += len(tail)
    return position


def _marks(raw: str, spans: list[tuple[int, int, Tag]]) -> tuple[TitleMark, ...]:
    """Move spans from the raw text to the collapsed one."""
    runs = [(run.end(), run.end() - run.start() - (run.start() > 0)) for run in XML_SPACE.finditer(raw)]
    ends, removed = [end for end, _ in runs], [0]
    for _, surplus in runs:
        removed.append(removed[-1] + surplus)
    marks = []
    for begin, end, tag in spans:
        text = raw[begin:end]
        begin, end = end - len(text.lstrip(_SPACE)), begin + len(text.rstrip(_SPACE))
        if begin < end:
            # Both have a character that stays, so they are never within a run of white space.
            last = end - 1
            moved = begin - removed[bisect_right(ends, begin)]
            marks.append(TitleMark(moved, last - removed[bisect_right(ends, last)] + 1, tag))
    return tuple(marks)
