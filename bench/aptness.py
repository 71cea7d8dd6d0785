"""Fit the second reading of the best documents' sentences (bioqa.models.answers.aptness).

    python -m bench.aptness --index INDEX --train GOLDEN --judged FILE... [--seeds N] [--output FILE]

``--train``: BioASQ's training questions, whose gold snippets say what experts marked. ``--judged``: questions
whose sentences were judged by reading (``judged``: pmid, section, begin, end, grade; 2 answers). Questions
without an answer among the ten best documents teach nothing: with the articles that answer them in place of
the last ones, the model learned that the last ones answer. Sentences that nobody judged count as not
answering: of those that a first model put among its first three, one in eight did.

The loss of a question is the cross-entropy of the softmax of all its log-weights with its gold (BioASQ), or
half that and half the logarithm of the share that any answering sentence has (judged). Slopes of the order
are learned from both, those of what is shown from BioASQ's alone.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bioqa.bioasq.domain import DEPTH, Document, Response, Sentence
from bioqa.bioasq.files import read_golden
from bioqa.bioasq.labels import is_label
from bioqa.indexer.opening import open_index
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.questions.rewriting import rewritten
from bioqa.models.answers.aptness import COLUMNS, FITTED, LIMIT, Aptness, columns, flags_of
from bioqa.models.answers.labels import sentence_labels
from bioqa.models.answers.ranking import RankedDocument
from bioqa.models.arrays import Booleans, Floats
from bioqa.models.bundled import DEFAULT
from bioqa.models.reranker import Reranker
from bioqa.models.text.tokens import tokenise_question

CANDIDATES = 100
WEIGHT = COLUMNS.index("weight")
OF_BIOASQ, OF_JUDGED = 1.0, 4.0
"""Weights of a question's loss."""
HALF = 0.5
"""How much of the slopes for what is shown is applied: chosen on dev."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question and the sentences of its ten best documents that can be selected."""

    columns: Floats
    flags: Floats
    answers: Booleans
    judged: bool
    """By reading; otherwise BioASQ's."""


@dataclass(frozen=True, slots=True)
class FitSettings:
    epochs: int = 4
    learning_rate: float = 0.003
    decay: float = 0.03
    """Of the slopes of all questions."""
    decay_of_flags: float = 0.3
    questions_per_step: int = 16


def ranked(index: SearchIndex, ranker: Reranker, question: str) -> tuple[str, Sequence[RankedDocument]]:
    """The question as it was read, and the ten best documents, as the service ranks them."""
    reading = index.read(question)
    found = index.search(reading.wording, CANDIDATES)
    made = rewritten(reading, [candidate.document for candidate in found])
    candidates = [replace(each, document=text) for each, text in zip(found, made.documents, strict=True)]
    return made.question, ranker.rank(made.question, candidates).documents[:DEPTH]


def case(
    ranker: Reranker,
    question: str,
    best: Sequence[RankedDocument],
    answers: Sequence[Booleans],
    *,
    judged: bool,
) -> Case:
    """``answers`` [documents] of each sentence."""
    documents = [each.document for each in best]
    tokens = ranker.tokens(documents)
    question_tokens = tokenise_question(question, ranker.vocabulary)
    found = columns(question, question_tokens, best, tokens, ranker.vocabulary, ranker.calibration)
    kept = np.array([not is_label(each, sentence) for each in documents for sentence in each.sentences])
    return Case(found[kept], flags_of(question), np.concatenate(answers)[kept], judged)


def of_bioasq(index: SearchIndex, ranker: Reranker, golden: Sequence[Response]) -> Iterator[Case]:
    for response in golden:
        question, best = ranked(index, ranker, response.question.body)
        answers = [sentence_labels(each.document, response.snippets) for each in best]
        if best:
            yield case(ranker, question, best, answers, judged=False)


def of_judged(index: SearchIndex, ranker: Reranker, path: Path) -> Iterator[Case]:
    for each in json.loads(path.read_text(encoding="utf-8")):
        answering = [judgment for judgment in each["judged"] if judgment["grade"] == 2]
        question, best = ranked(index, ranker, each["body"])
        answers = [_answering(of_ten.document, answering) for of_ten in best]
        if best:
            yield case(ranker, question, best, answers, judged=True)


def _answering(document: Document, judgments: Sequence[Mapping[str, Any]]) -> Booleans:
    """[sentences] whether half of the shorter of the sentence and a judged one is the same text."""
    return np.array(
        [any(_same(document, s, j) for j in judgments) for s in document.sentences], dtype=np.bool_
    )


def _same(document: Document, sentence: Sentence, judgment: Mapping[str, Any]) -> bool:
    if (judgment["pmid"], judgment["section"]) != (document.pmid, sentence.section):
        return False
    begin, end = int(judgment["begin"]), int(judgment["end"])
    shared = min(end, sentence.end) - max(begin, sentence.begin)
    return shared > 0 and 2 * shared >= min(end - begin, sentence.end - sentence.begin)


def fit(
    cases: Sequence[Case], seed: int = 1, settings: FitSettings | None = None
) -> tuple[Floats, Floats, Floats]:
    """Mean and deviation of the columns, and the slopes [1 + flags, columns]."""
    settings = settings or FitSettings()
    useful = [each for each in cases if each.answers.any() and not each.answers.all()]
    everything = np.concatenate([each.columns for each in useful])
    mean, deviation = everything.mean(axis=0), np.maximum(everything.std(axis=0), 1e-3)
    data = [_tensors(each, mean, deviation) for each in useful]
    common = torch.zeros(len(COLUMNS), requires_grad=True)
    of_flags = torch.zeros(len(data[0][2]), len(COLUMNS), requires_grad=True)
    optimiser = torch.optim.AdamW(
        [
            {"params": [common], "weight_decay": settings.decay},
            {"params": [of_flags], "weight_decay": settings.decay_of_flags},
        ],
        lr=settings.learning_rate,
    )
    chance = np.random.default_rng(seed)
    size = settings.questions_per_step
    steps = settings.epochs * -(-len(data) // size)
    step = 0
    for _ in range(settings.epochs):
        order = chance.permutation(len(data))
        for begin in range(0, len(order), size):
            optimiser.zero_grad()
            losses = [_loss(data[place], common, of_flags) for place in order[begin : begin + size]]
            torch.autograd.backward(torch.stack(losses).sum() / size)
            optimiser.step()
            step += 1
            for group in optimiser.param_groups:
                group["lr"] = settings.learning_rate * max(0.05, 1 - step / steps)
    slopes = torch.cat([common[None], of_flags]).detach().numpy().astype(np.float64)
    return mean, deviation, slopes


_Tensors = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, bool]


def _tensors(each: Case, mean: Floats, deviation: Floats) -> _Tensors:
    standard = ((each.columns - mean) / deviation).clip(-LIMIT, LIMIT)
    arrays = (standard, each.columns[:, WEIGHT], each.flags, each.answers)
    standard_t, weights, flags, answers = (torch.tensor(a, dtype=torch.float32) for a in arrays)
    return standard_t, weights, flags, answers, each.judged


def _loss(question: _Tensors, common: torch.Tensor, of_flags: torch.Tensor) -> torch.Tensor:
    standard, weights, flags, answers, judged = question
    logs = torch.log_softmax(weights + standard @ (common + flags @ of_flags), dim=0)
    all_of_them = -(logs * answers / answers.sum()).sum()
    if not judged:
        return OF_BIOASQ * all_of_them
    any_of_them = -torch.logsumexp(logs[answers > 0], dim=0)
    return OF_JUDGED * (all_of_them + any_of_them) / 2


def fitted(bioasq: Sequence[Case], judged: Sequence[Case], seeds: int) -> Aptness:
    """The mean of several seeds. A question's own columns say the same of all its sentences: they cancel."""
    both = [fit([*bioasq, *judged], seed) for seed in range(1, seeds + 1)]
    experts = [fit(bioasq, seed) for seed in range(1, seeds + 1)]
    mean, deviation, _ = both[0]
    apt = np.mean([slopes for *_, slopes in both], axis=0)
    relevant = HALF * np.mean([slopes for *_, slopes in experts], axis=0)
    # Slopes of columns that were standardised otherwise.
    return Aptness(mean, deviation, apt, relevant * (deviation / experts[0][1]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index", required=True)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--judged", type=Path, nargs="+", required=True)
    parser.add_argument("--ranker", default=DEFAULT)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=FITTED)
    options = parser.parse_args()
    ranker = Reranker.load(options.ranker)
    index = open_index(options.index)
    try:
        bioasq = [*of_bioasq(index, ranker, read_golden(options.train).responses)]
        judged = [each for path in options.judged for each in of_judged(index, ranker, path)]
    finally:
        index.close()
    print(f"{len(bioasq)} questions of BioASQ, {len(judged)} judged")
    fitted(bioasq, judged, options.seeds).save(options.output)


if __name__ == "__main__":
    main()
