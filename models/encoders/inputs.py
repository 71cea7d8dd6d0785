"""Input sequences of an encoder: texts as word pieces, singly or in pairs, cut to its positions."""

from dataclasses import dataclass, replace

import numpy as np

from bioqa.models.arrays import Ints


@dataclass(frozen=True, slots=True)
class Pieced:
    """A text as word pieces, without special ones."""

    ids: Ints
    """[pieces]"""
    firsts: Ints
    """[words] index of each word's first piece, -1 for a word without one; empty for running text."""


@dataclass(frozen=True, slots=True)
class EncoderInput:
    """One sequence with its special pieces, and the places whose states are wanted."""

    ids: Ints
    types: Ints
    """[pieces] 0 for the first text, 1 for the second, as the encoder's own tokeniser sets them."""
    places: Ints
    """[rows]"""
    truncated: bool
    """Whether the (second) text was cut."""


@dataclass(frozen=True, slots=True)
class Template:
    """The special pieces that an encoder's tokeniser puts around texts, and the types that it gives."""

    parts: tuple[tuple[int, ...], ...]
    """Before the first text, after it, …: one more than texts."""
    types: tuple[int, ...]
    """One for each of ``parts`` and of the texts between them, in reading order."""

    @property
    def special(self) -> int:
        return sum(map(len, self.parts))

    def join(self, *texts: Ints) -> tuple[Ints, Ints]:
        """The texts with special pieces around them: (ids, types)."""
        runs = [np.array(self.parts[0], dtype=np.int64)]
        for text, part in zip(texts, self.parts[1:], strict=True):
            runs += [text, np.array(part, dtype=np.int64)]
        return np.concatenate(runs), np.repeat(np.array(self.types, dtype=np.int64), [len(r) for r in runs])


def pair(template: Template, question: Ints, text: Ints, positions: int) -> EncoderInput:
    """Question and text in one sequence of at most ``positions`` pieces, for the state of its first.

    A question is cut to half of the room, so that some of the text is read; the text is cut to the rest.
    """
    room = positions - template.special
    shortened = question[: room // 2]
    kept = text[: room - len(shortened)]
    ids, types = template.join(shortened, kept)
    return EncoderInput(ids, types, np.zeros(1, dtype=np.int64), len(kept) < len(text))


def passage(template: Template, question: Ints, text: Ints, positions: int) -> EncoderInput:
    """Like ``pair``, for the states of all of the text's pieces."""
    encoded = pair(template, question, text, positions)
    begin = sum(map(len, template.parts[:2])) + min(len(question), (positions - template.special) // 2)
    end = len(encoded.ids) - len(template.parts[2])
    return replace(encoded, places=np.arange(begin, end, dtype=np.int64))


def single(template: Template, text: Pieced, positions: int) -> EncoderInput:
    """One text, for the states of its words' first pieces; words without a piece have none."""
    kept = text.ids[: positions - template.special]
    ids, types = template.join(kept)
    firsts = text.firsts[(text.firsts >= 0) & (text.firsts < len(kept))]
    return EncoderInput(ids, types, firsts + len(template.parts[0]), len(kept) < len(text.ids))


@dataclass(frozen=True, slots=True)
class Pieces:
    """What an encoder reads of a question and of its units (bioqa.models.encoders.reading)."""

    question: Pieced
    units: tuple[Pieced, ...]
    by_word: bool
    """Whether first pieces correspond to the words of the example one to one."""
