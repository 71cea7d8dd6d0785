"""Documents as indexes give them back: their sentences and parts become objects when they are looked at.

A hundred retrieved documents have a thousand sentences. A ranker reads the texts of all, which are cut
quickly; but as objects only those of the ten best documents are needed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import repeat
from typing import Any

from bioqa.bioasq.domain import Document, Part, Section, Sentence

Layout = Sequence[int]
"""The counts of title sentences, abstract sentences and parts; begin and end of each sentence; begin, end and
label length of each part."""

_TITLE: Section = "title"
_ABSTRACT: Section = "abstract"


def layout_of(document: Document) -> Layout:
    """Raises ``ValueError`` for a part that does not start with its label."""
    title = [s for s in document.sentences if s.section == "title"]
    abstract = [s for s in document.sentences if s.section == "abstract"]
    numbers = [len(title), len(abstract), len(document.parts)]
    for sentence in (*title, *abstract):
        numbers += (sentence.begin, sentence.end)
    for part in document.parts:
        if not document.abstract.startswith(part.label, part.begin):
            raise ValueError(f"PMID {document.pmid}: the part at {part.begin} does not start with its label")
        numbers += (part.begin, part.end, len(part.label))
    return numbers


class IndexedDocument(Document):
    """Equal to the document that was stored."""

    __slots__ = ("_layout",)

    _layout: Layout

    @classmethod
    def of(cls, values: dict[str, Any], layout: Layout) -> "IndexedDocument":
        """``values``: all fields except sentences and parts. Raises ``ValueError`` for a damaged layout."""
        titles, abstracts, parts = layout[:3]
        if len(layout) != 3 + 2 * titles + 2 * abstracts + 3 * parts:
            raise ValueError(f"{len(layout)} numbers are no layout")
        stored = cls.__new__(cls)
        for name, value in values.items():
            object.__setattr__(stored, name, value)
        object.__setattr__(stored, "_layout", layout)
        return stored

    def __getattr__(self, name: str) -> Any:
        """Called for what was not asked for before."""
        value: Any
        if name == "sentences":
            value = tuple(Sentence(*span) for span in self._spans())
        elif name == "parts":
            value = tuple(self._parts())
        elif name == "_layout":
            # Of a copy that was changed (``dataclasses.replace``).
            value = layout_of(self)
        else:
            raise AttributeError(name)
        object.__setattr__(self, name, value)
        return value

    @property
    def sentence_count(self) -> int:
        return self._layout[0] + self._layout[1]

    @property
    def title_sentences(self) -> int:
        return self._layout[0]

    def sentence_spans(self) -> Sequence[int]:
        return self._layout[3 : 3 + 2 * self.sentence_count]

    def sentence_texts(self) -> list[str]:
        title, abstract = self.title, self.abstract
        return [
            (title if section == "title" else abstract)[begin:end] for section, begin, end in self._spans()
        ]

    def _spans(self) -> Iterator[tuple[Section, int, int]]:
        titles, abstracts = self._layout[:2]
        spans = self.sentence_spans()
        sections: tuple[Section, ...] = (*repeat(_TITLE, titles), *repeat(_ABSTRACT, abstracts))
        return zip(sections, spans[::2], spans[1::2], strict=True)

    def _parts(self) -> Iterator[Part]:
        numbers = self._layout[3 + 2 * self.sentence_count :]
        for begin, end, length in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True):
            yield Part(self.abstract[begin : begin + length], begin, end)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Document):
            return NotImplemented
        return all(getattr(self, field.name) == getattr(other, field.name) for field in fields(Document))

    def __hash__(self) -> int:
        # As ``Document`` computes it, because equal ones must have the same.
        return hash(tuple(getattr(self, field.name) for field in fields(Document)))

    def __reduce__(self) -> tuple[Any, ...]:
        names = (field.name for field in fields(Document) if field.name not in ("sentences", "parts"))
        return IndexedDocument.of, ({name: getattr(self, name) for name in names}, self._layout)
