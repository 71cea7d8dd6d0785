"""Names in a question that citations call otherwise: where they are, and what is searched for and read.

A name in the strict sense (Seroquel, paracetamol) is searched for as its other names are, of which the best
counts. What a lay word may stand for (painkiller) is searched for beside it, with less weight, as the two
rarely say quite the same. A ranker reads the one that most candidates use.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bioqa.indexer.search.defined import long_key
from bioqa.indexer.search.questions.chunks import Chunk
from bioqa.indexer.search.questions.known import KnownWords
from bioqa.indexer.search.questions.lay_words import LONGEST_WORDS, Name, Names
from bioqa.indexer.search.questions.pieces import Piece, Ways
from bioqa.indexer.search.wording import Best, Wording, Words

LAY_WEIGHT = 0.7
"""What a lay word may stand for counts so much, beside the words asked. Between .4 and 1 little changes."""

RARER = 3.0
"""A lay word is rewritten for rankers if this many times fewer documents have it than what it stands for.
Others are what citations write, too (brain tumour)."""


@dataclass(frozen=True, slots=True)
class Called:
    """A name in a question, and the other ones that the index has."""

    name: Name
    words: int
    """How many words of the question it takes."""
    others: tuple[str, ...]


def find(
    chunks: Sequence[Chunk], names: Names, known: KnownWords, taken: Collection[int] = ()
) -> dict[int, Called]:
    """The names in a question by their first chunk: the longest where they overlap, none with a chunk that
    is taken, and none without another name that the index has."""
    keys = [long_key(chunk.text) for chunk in chunks]
    places = {
        (begin, length): name
        for length in range(min(LONGEST_WORDS, len(chunks)), 0, -1)
        for begin in range(len(chunks) - length + 1)
        if (name := names.get(" ".join(keys[begin : begin + length]))) is not None
        and name.fits(keys[:begin] + keys[begin + length :])
    }
    known.look_up_texts(dict.fromkeys(other for name in places.values() for other in name.others))
    free = {*range(len(chunks))}.difference(taken)
    called: dict[int, Called] = {}
    for (begin, length), name in places.items():
        numbers = range(begin, begin + length)
        if free.issuperset(numbers) and (others := known.among(name.others)):
            free.difference_update(numbers)
            called[begin] = Called(name, length, tuple(others))
    return called


def write(
    called: Called, phrase: str, chunks: Sequence[Chunk], known: KnownWords
) -> tuple[list[Wording], Piece]:
    """What to search for, and the question's piece, for a name: a phrase of the question, and its chunks."""
    known.look_up_texts([phrase])
    ways = Ways((phrase, *called.others))
    if called.name.lay:
        own = [wording for chunk in chunks if not chunk.stop and (wording := known.write(chunk)[0])]
        others = Best(tuple(Words(text, LAY_WEIGHT) for text in called.others))
        rare = RARER * known.count(phrase) < max(map(known.count, called.others))
        return [*own, others], ways if rare else phrase
    texts = known.among(ways.texts)
    # A rare name has a high inverse document frequency, so it is weighted down, as rare spellings are.
    usual = min(map(known.rarity, texts))
    wordings = tuple(Words(text, min(1.0, usual / known.rarity(text))) for text in texts)
    return [wordings[0] if len(wordings) == 1 else Best(wordings)], ways
