"""How apt each sentence of the best documents is as the answer: a second reading, after the ranker's.

A ranker rewards sentences that repeat the question. Aims, methods and titles do; the result below them often
does not, as its title has named the topic already. So the sentences of the ten best documents are read again,
with what the ranker cannot see: what the question asks for (``asked``), what each sentence does in its
abstract (``roles``), signs of numbers, effects, causes or harms (``signs``), what of the question the title
has already named, and what the sentence adds to it. A linear model with one slope for every column, and one
more for every pair of a flag and a column, changes the selection's log-weights. There are two of it: one
learned which sentence answers, and orders; the other what BioASQ's experts marked, and decides what is shown.
``bench.aptness`` fits both.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from bioqa.bioasq.domain import DEPTH
from bioqa.models.answers import roles, signs
from bioqa.models.answers.agreement import Tokens
from bioqa.models.answers.asked import FLAGS, asked_for
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.models.answers.selection import Calibration, first_log_weights, sentence_logits
from bioqa.models.answers.sentence_words import SentenceWords
from bioqa.models.arrays import Booleans, Floats, Ints, concatenate
from bioqa.models.features.soft import soft_match
from bioqa.models.text.tokens import TokenisedDocument, TokenisedQuestion
from bioqa.models.text.vocabulary import STOP, Vocabulary

FITTED = Path(__file__).with_name("aptness.safetensors")

_RANKER = (
    *("logit", "log_probability", "document", "below_first", "place", "support", "weight", "below_best"),
    *("logit_before", "logit_after", "logit_below_best"),
)
_TOPIC = (
    *("near", "near_cubic", "near_with_title", "near_with_before", "near_with_after", "near_with_document"),
    *("aspect", "aspect_mass", "document_near", "title_near", "near_below_best"),
    *("missing", "missing_in_document", "covered", "covered_in_document", "missing_in_sentence", "aim_near"),
    *("echo", "title_echo", "named", "novel"),
)
_PLACE = (
    *(
        "title",
        "first",
        "last",
        "position",
        "short_abstract",
        "no_abstract",
        "asking_title",
        "two_part_title",
    ),
)
_ROLES = (*roles.ROLES, "aim_before", "result_before", "has_result")
COLUMNS = (*_RANKER, *_TOPIC, *_PLACE, *_ROLES, *signs.COLUMNS)
CASCADE_COLUMNS = (*COLUMNS, "first_ranker")
"""Those of a cascade: ``first_ranker`` is the log-weight that its first ranker gives, after both readings."""

LIMIT = 4.0
"""Columns are standardised, and cut here, so that a strange text cannot have a weight of its own."""


@dataclass(frozen=True)
class Aptness:
    """The fitted model."""

    mean: Floats
    deviation: Floats
    """[columns]"""
    apt: Floats
    """[1 + flags, columns] slopes of every question, and more of those that raise a flag: for the order"""
    relevant: Floats
    """The same, for what is shown"""

    def __call__(self, columns: Floats, flags: Floats) -> tuple[Floats, Floats]:
        """[sentences] what is added to log-weights for the order, and for what is shown.

        ``flags`` [flags] of the question, 0 or 1.
        """
        standard = ((columns - self.mean) / self.deviation).clip(-LIMIT, LIMIT)
        weights = columns[:, COLUMNS.index("weight")]
        raised = np.concatenate([[1.0], flags])
        # Not with ``@``: see bioqa.models.features.matching.weighted_sums.
        slopes = [np.einsum("f,fc->c", raised, table) for table in (self.apt, self.relevant)]
        apt, relevant = (level(np.einsum("sc,c->s", standard, slope), weights) for slope in slopes)
        return apt, relevant

    def save(self, path: Path = FITTED) -> None:
        arrays = asdict(self)
        save_file({name: values.astype(np.float32) for name, values in arrays.items()}, path)

    @classmethod
    def load(cls, path: Path, names: Sequence[str] = COLUMNS) -> "Aptness":
        """``names`` of its columns. Raises OSError, SafetensorError and ValueError."""
        arrays = load_file(path)
        row, table = (len(names),), (1 + len(FLAGS), len(names))
        shapes = {"mean": row, "deviation": row, "apt": table, "relevant": table}
        if {name: array.shape for name, array in arrays.items()} != shapes:
            raise ValueError(f"not the arrays {shapes}")
        return cls(**{name: array.astype(np.float64) for name, array in arrays.items()})


@cache
def load_model() -> Aptness:
    """The model that is bundled, read once."""
    return Aptness.load(FITTED)


def with_aptness(
    ranking: Ranking,
    question: str,
    question_tokens: TokenisedQuestion,
    tokens: Tokens,
    vocabulary: Vocabulary,
    calibration: Calibration,
) -> Ranking:
    """The ranking with what the second reading adds to the sentences of its ten best documents.

    ``tokens`` of documents.
    """
    best = ranking.documents[:DEPTH]
    if not calibration.aptness or not best or vocabulary.pieces is None:
        return ranking
    tokenised = tokens([ranked.document for ranked in best])
    rows = columns(question, question_tokens, best, tokenised, vocabulary, calibration)
    return apply_aptness(ranking, load_model(), rows, question)


def apply_aptness(ranking: Ranking, model: Aptness, rows: Floats, question: str) -> Ranking:
    """The ranking with what the model adds; ``rows`` [sentences of its ten best documents, columns]."""
    best, others = ranking.documents[:DEPTH], ranking.documents[DEPTH:]
    ends = np.cumsum([ranked.document.sentence_count for ranked in best])[:-1]
    apt, relevant = (np.split(added, ends) for added in model(rows, flags_of(question)))
    read = (
        replace(ranked, aptness=tuple(apt_here.tolist()), relevance=tuple(relevant_here.tolist()))
        for ranked, apt_here, relevant_here in zip(best, apt, relevant, strict=True)
    )
    return replace(ranking, documents=(*read, *others))


def level(added: Floats, weights: Floats) -> Floats:
    """Shifted so that the best log-weight of the question stays as high as it was.

    Nothing is learned of a question as a whole, so log-weights stay comparable between questions.
    """
    if not len(added):
        return added
    shifted: Floats = added + (weights.max() - (weights + added).max())
    return shifted


def flags_of(question: str) -> Floats:
    """[flags] 1 for those of ``FLAGS`` that the question raises."""
    raised = asked_for(question)
    return np.array([flag in raised for flag in FLAGS], dtype=np.float64)


@dataclass(frozen=True)
class _Units:
    """The sentences of several documents, one after the other."""

    texts: list[str]
    words: SentenceWords
    counts: Ints
    """[documents]"""
    owner: Ints
    titles: Booleans

    @property
    def size(self) -> int:
        return len(self.texts)

    def best(self, values: Floats, lowest: float = 0.0) -> Floats:
        """[…, documents] the highest of each document's [..., sentences]."""
        best = np.full((*values.shape[:-1], len(self.counts)), lowest)
        filled = self.counts > 0
        if self.size:
            starts = (np.cumsum(self.counts) - self.counts)[filled]
            best[..., filled] = np.maximum(np.maximum.reduceat(values, starts, axis=-1), lowest)
        return best

    def before(self, values: Floats, otherwise: float = 0.0) -> Floats:
        """[…, sentences] the value of the sentence before it in its document."""
        shifted = np.full(values.shape, otherwise)
        same = self.owner[1:] == self.owner[:-1]
        shifted[..., 1:] = np.where(same, values[..., :-1], otherwise)
        return shifted

    def after(self, values: Floats, otherwise: float = 0.0) -> Floats:
        shifted = np.full(values.shape, otherwise)
        same = self.owner[1:] == self.owner[:-1]
        shifted[..., :-1] = np.where(same, values[..., 1:], otherwise)
        return shifted


def _units(best: Sequence[RankedDocument], tokenised: Sequence[TokenisedDocument]) -> _Units:
    texts = [text for ranked in best for text in ranked.document.sentence_texts()]
    counts = np.array([ranked.document.sentence_count for ranked in best], dtype=np.int64)
    titles = np.concatenate([np.empty(0, dtype=np.bool_), *(tokens.titles for tokens in tokenised)])
    owner = np.repeat(np.arange(len(best)), counts)
    return _Units(texts, SentenceWords.of(texts), counts, owner, titles)


def columns(
    question: str,
    question_tokens: TokenisedQuestion,
    best: Sequence[RankedDocument],
    tokenised: Sequence[TokenisedDocument],
    vocabulary: Vocabulary,
    calibration: Calibration,
) -> Floats:
    """[sentences of all documents, COLUMNS]"""
    units = _units(best, tokenised)
    near, of_topic = _topic(question_tokens, tokenised, vocabulary, units)
    of_roles = _roles(units)
    aim_near = units.best(of_roles[0] * near)[units.owner]
    rows = [
        *_ranker(best, calibration, units),
        *of_topic,
        aim_near,
        *_news(question_tokens, tokenised, vocabulary, units),
        *_places(units),
        *of_roles,
        *signs.signs(units.words, question).T,
    ]
    return np.stack(rows, axis=1)


def _ranker(best: Sequence[RankedDocument], calibration: Calibration, units: _Units) -> list[Floats]:
    """What the ranker and the selection say, ``_RANKER``."""
    logits = concatenate_floats(sentence_logits(ranked.sentence_scores, calibration) for ranked in best)
    weights = concatenate_floats(first_log_weights(ranked, calibration) for ranked in best)
    support = concatenate_floats(
        np.array(ranked.support or (0.2,) * len(ranked.sentence_scores), dtype=np.float64) for ranked in best
    )
    scores = calibration.document_scale * np.array([ranked.own_score for ranked in best], dtype=np.float64)
    owner = units.owner
    return [
        *(logits, -np.logaddexp(0.0, -logits), scores[owner], (scores - scores.max())[owner], owner / 10),
        *(support, weights, weights - weights.max(initial=-50.0)),
        *(units.before(logits, -5.0), units.after(logits, -5.0)),
        logits - units.best(logits, -9.0)[owner],
    ]


def concatenate_floats(parts: object) -> Floats:
    joined: Floats = np.concatenate([np.empty(0), *parts])  # type: ignore[misc]
    return joined


def _topic(
    question: TokenisedQuestion,
    tokenised: Sequence[TokenisedDocument],
    vocabulary: Vocabulary,
    units: _Units,
) -> tuple[Floats, list[Floats]]:
    """How near a sentence comes to the question, alone and with what is named around it.

    The aspect is what the title does not name: "sensitivity" of "sensitivity of microendoscopy".
    """
    pieces, counts = (concatenate(getattr(d, name) for d in tokenised) for name in ("pieces", "piece_counts"))
    assert vocabulary.pieces is not None
    matches = soft_match(question.pieces, pieces, counts, vocabulary.pieces)
    closest, weights, owner = matches.closest**3, matches.weights, units.owner
    titles, documents = units.best(closest * units.titles), units.best(closest)
    with_title = np.maximum(closest, titles[:, owner])
    unnamed = weights[:, None] * (1 - titles)

    def share(values: Floats) -> Floats:
        shares: Floats = np.einsum("q,qs->s", weights, values)
        return shares

    near, near_with_title = share(closest), share(with_title)
    aspect = np.einsum("qs,qs->s", unnamed[:, owner], closest)
    mass = unnamed.sum(axis=0)
    return near, [
        *(share(matches.closest), near, near_with_title),
        share(np.maximum(with_title, 0.5 * units.before(closest))),
        share(np.maximum(with_title, 0.5 * units.after(closest))),
        share(np.maximum(with_title, 0.35 * documents[:, owner])),
        *(aspect / np.maximum(mass, 1e-6)[owner], mass[owner]),
        *(share(documents)[owner], share(titles)[owner]),
        near_with_title - units.best(near_with_title)[owner],
        *(_missing(weights, with_title), _missing(weights, documents)[owner]),
        share((with_title > 0.2).astype(np.float64)),
        np.einsum("q,qd->d", weights, documents > 0.2)[owner],
        _missing(weights, closest),
    ]


def _missing(weights: Floats, closest: Floats) -> Floats:
    """[units] how much of the question the word is worth that is missed most."""
    missing: Floats = (weights[:, None] * (1 - closest)).max(axis=0, initial=0.0)
    return missing


def _news(
    question: TokenisedQuestion,
    tokenised: Sequence[TokenisedDocument],
    vocabulary: Vocabulary,
    units: _Units,
) -> list[Floats]:
    """How much of a sentence repeats question and title, and what it adds: an answer adds something."""
    stems = concatenate(tokens.stems for tokens in tokenised)
    sentence = np.repeat(np.arange(units.size), concatenate(tokens.stem_counts for tokens in tokenised))
    telling = stems != STOP
    stems, sentence = stems[telling], sentence[telling]
    idf = vocabulary.stem_idf_of(stems)
    repeated = np.isin(stems, question.stems)
    in_title = units.titles[sentence]
    document = units.owner[sentence]
    width = int(stems.max(initial=0)) - int(stems.min(initial=0)) + 1
    key = document * width + stems - int(stems.min(initial=0))
    named = np.isin(key, key[in_title])

    def mass(kept: Booleans) -> Floats:
        return np.bincount(sentence, idf * kept, units.size).astype(np.float64)

    whole = np.maximum(mass(np.ones(len(stems), dtype=np.bool_)), 1e-6)
    echo = mass(repeated) / whole
    return [
        *(echo, units.best(echo * units.titles)[units.owner]),
        mass(repeated | named) / whole - echo,
        np.log1p(mass(~(repeated | named))),
    ]


def _places(units: _Units) -> list[Floats]:
    owner, titles = units.owner, units.titles
    of_titles = np.bincount(owner, titles, len(units.counts)).astype(np.int64)
    of_abstracts = units.counts - of_titles
    index = np.arange(units.size) - (np.cumsum(units.counts) - units.counts + of_titles)[owner]
    last = index == (of_abstracts - 1)[owner]
    asking = [text.rstrip(" ]").endswith("?") for text in units.texts]
    parts = [": " in text for text in units.texts]
    return [
        *(titles, (index == 0) & ~titles, last & ~titles),
        np.where(titles, 0.0, (index + 1) / np.maximum(of_abstracts, 1)[owner]),
        *((of_abstracts <= 4)[owner], (of_abstracts == 0)[owner]),
        *(titles & np.array(asking, dtype=np.bool_), titles & np.array(parts, dtype=np.bool_)),
    ]


def _roles(units: _Units) -> Floats:
    """[_ROLES, sentences]; zero for titles."""
    abstract = ~units.titles
    words = units.words.some(abstract.tolist())
    counts = np.bincount(units.owner, abstract, len(units.counts)).astype(np.int64)
    p = np.zeros((len(roles.ROLES), units.size))
    p[:, abstract] = roles.load_model()(words, counts[counts > 0]).T
    told = units.best(np.maximum(p[3], p[4]))[units.owner]
    return np.stack([*p, units.before(p[0]), units.before(p[3]), told])
