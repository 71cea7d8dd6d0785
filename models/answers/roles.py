"""What each sentence of an abstract does: state an aim, background, a method, a result or a conclusion.

Learned from structured abstracts, whose authors label their parts, by ``bench.roles``: a multinomial
logistic regression over words, pairs of words and place, and a second one over what the first says of a
sentence and of its neighbours. Labels were taken away for training, so that it reads abstracts without any.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from safetensors.numpy import load_file, save_file

from bioqa.models.answers.sentence_words import SentenceWords
from bioqa.models.arrays import Floats, Ints

Role = Literal["aim", "background", "method", "result", "conclusion"]
ROLES: tuple[Role, ...] = ("aim", "background", "method", "result", "conclusion")
FOLDER = Path(__file__).with_name("roles")
BEGIN = "^"
"""Stands before a sentence's first word in pairs."""
NUMERAL = "0"
"""Stands for every number."""

PLACES = 18
CONTEXT = 7 * len(ROLES) + 3


MOST_KNOWN = 200_000
"""Words that are kept with their numbers, those that mean nothing to the model included."""
_SHIFT = 20


class _Numbers(dict[str, int]):
    """A word's place among the grams, and, shifted, its number in pairs; each plus one, 0 for none."""

    def __missing__(self, word: str) -> int:
        number = self.get(NUMERAL, 0) if word[0].isdigit() else 0
        if len(self) < MOST_KNOWN:
            self[word] = number
        return number


@dataclass(frozen=True)
class Grams:
    """Words and pairs of words, by number: the place in ``names``."""

    names: tuple[str, ...]
    """Pairs are joined by a space."""

    @cached_property
    def _parts(self) -> dict[str, int]:
        """Words of pairs, from 1."""
        parts = dict.fromkeys(part for name in self.names if " " in name for part in name.split(" "))
        return {part: position + 1 for position, part in enumerate(parts)}

    @cached_property
    def _numbers(self) -> _Numbers:
        alone = {name: position + 1 for position, name in enumerate(self.names) if " " not in name}
        words = dict.fromkeys([*alone, *self._parts])
        return _Numbers({word: alone.get(word, 0) | self._parts.get(word, 0) << _SHIFT for word in words})

    @cached_property
    def _pairs(self) -> tuple[Ints, Ints]:
        """Sorted keys, and the gram of each."""
        pairs = [(name.split(" "), position) for position, name in enumerate(self.names) if " " in name]
        keys = np.array([self._key(*map(self._parts.__getitem__, pair)) for pair, _ in pairs], dtype=np.int64)
        order = np.argsort(keys)
        return keys[order], np.array([position for _, position in pairs], dtype=np.int64)[order]

    def _key(self, first: Any, second: Any) -> Any:
        return first * (len(self._parts) + 1) + second

    def of(self, words: SentenceWords) -> tuple[Ints, Ints]:
        """The distinct grams of each sentence: sentence and gram, in the order of sentences."""
        count = len(words.lower)
        numbers = np.fromiter(map(self._numbers.__getitem__, words.lower), dtype=np.int64, count=count)
        alone, parts = (numbers & ((1 << _SHIFT) - 1)) - 1, numbers >> _SHIFT
        before = np.concatenate([[0], parts[:-1]])[:count]
        begins = np.diff(words.sentence, prepend=-1) != 0
        before[begins] = self._parts.get(BEGIN, 0)
        keys, grams = self._pairs
        wanted = np.where((before > 0) & (parts > 0), self._key(before, parts), -1)
        at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        paired = np.where(keys[at] == wanted, grams[at], -1) if len(keys) else np.full(count, -1)
        found = np.concatenate([alone, paired])
        sentence = np.concatenate([words.sentence, words.sentence])
        is_known = found >= 0
        distinct = np.unique(sentence[is_known] * len(self.names) + found[is_known])
        return np.divmod(distinct, max(len(self.names), 1))


@dataclass(frozen=True)
class RoleModel:
    """The fitted weights."""

    grams: Grams
    of_grams: Floats
    """[grams, roles]"""
    of_places: Floats
    """[PLACES, roles]"""
    of_context: Floats
    """[CONTEXT, roles]"""

    def __call__(self, words: SentenceWords, sentences: Ints) -> Floats:
        """[sentences of all, roles] probabilities of the sentences of several abstracts.

        ``sentences`` [abstracts]: how many each has.
        """
        if not words.size:
            return np.zeros((0, len(ROLES)))
        first = log_softmax(self._of_grams(words) + _product(places(sentences), self.of_places))
        return np.exp(log_softmax(_product(context(first, sentences), self.of_context)))

    def _of_grams(self, words: SentenceWords) -> Floats:
        """[sentences, roles] the sum over each sentence's grams, scaled to that of nine of them."""
        sentence, gram = self.grams.of(words)
        counts = np.bincount(sentence, minlength=words.size)
        weights = self.of_grams[gram]
        sums = [np.bincount(sentence, column, words.size) for column in weights.T]
        scaled: Floats = np.stack(sums, axis=1) * (3 / np.sqrt(np.maximum(counts, 1)))[:, None]
        return scaled

    def save(self, folder: Path = FOLDER) -> None:
        folder.mkdir(exist_ok=True)
        (folder / "grams.txt").write_text("\n".join(self.grams.names) + "\n", encoding="utf-8")
        arrays = {"grams": self.of_grams, "places": self.of_places, "context": self.of_context}
        save_file(
            {name: values.astype(np.float16) for name, values in arrays.items()},
            folder / "weights.safetensors",
        )


@cache
def load_model() -> RoleModel:
    """The model that is bundled, read once."""
    grams = (FOLDER / "grams.txt").read_text(encoding="utf-8").splitlines()
    weights = {name: v.astype(np.float64) for name, v in load_file(FOLDER / "weights.safetensors").items()}
    return RoleModel(Grams(tuple(grams)), weights["grams"], weights["places"], weights["context"])


def roles_of(sentences: Sequence[str]) -> list[Role]:
    """What each sentence of one abstract, given in reading order, most probably does."""
    probabilities = load_model()(SentenceWords.of(sentences), np.array([len(sentences)], dtype=np.int64))
    return [ROLES[number] for number in probabilities.argmax(axis=1).tolist()]


def _product(rows: Floats, weights: Floats) -> Floats:
    # Not with ``@``: see bioqa.models.features.matching.weighted_sums.
    product: Floats = np.einsum("sc,cr->sr", rows, weights)
    return product


def places(sentences: Ints) -> Floats:
    """[sentences of all, PLACES] where in its abstract each sentence stands, and how long the abstract is."""
    owner = np.repeat(np.arange(len(sentences)), sentences)
    n = sentences[owner]
    i = np.arange(len(owner)) - (np.cumsum(sentences) - sentences)[owner]
    last, short = i == n - 1, n <= 6
    eighth = np.eye(8)[np.minimum((8 * (i + 0.5) / np.maximum(n, 1)).astype(np.int64), 7)]
    flags = [
        *(i == 0, last, i == 1, i == n - 2),
        *(n <= 3, (n > 3) & short, n > 14),
        *((i == 0) & short, last & short, np.ones(len(n), dtype=np.bool_)),
    ]
    return np.hstack([eighth, np.stack(flags, axis=1).astype(np.float64)])


def context(first: Floats, sentences: Ints) -> Floats:
    """[sentences of all, CONTEXT] log-probabilities ``first``, and probabilities of the sentences around."""
    abstracts = np.split(first, np.cumsum(sentences)[:-1])
    contexts = [_context_of_one(abstract) for abstract in abstracts if len(abstract)]
    return np.vstack(contexts)


def _context_of_one(first: Floats) -> Floats:
    p, n = np.exp(first), len(first)
    padded = np.vstack([np.zeros((2, len(ROLES))), p, np.zeros((2, len(ROLES)))])
    highest_before = np.maximum.accumulate(padded[1 : n + 1])
    highest_after = np.maximum.accumulate(padded[3:][::-1])[::-1][:n]
    ends = np.zeros((n, 3))
    ends[0, 0] = ends[-1, 1] = 1
    ends[:, 2] = 1
    around = (padded[1 : n + 1], padded[3 : n + 3], padded[:n], padded[4:])
    return np.hstack([first, *around, highest_before, highest_after, ends])


def log_softmax(values: Floats) -> Floats:
    """The logarithm of the softmax of each row."""
    shifted = values - values.max(axis=1, keepdims=True)
    result: Floats = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return result
