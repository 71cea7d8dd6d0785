"""Fit the second reading of the best documents' sentences (bioqa.models.answers.aptness).

    python -m bench.aptness --index INDEX --train GOLDEN --judged FILE... [--ranker NAME] [--seeds N]
        [--output FILE]

``--train``: BioASQ's training questions, whose gold snippets say what experts marked. ``--judged``: questions
whose sentences were judged by reading (``judged``: pmid, section, begin, end, grade; 2 answers). Questions
without an answer among the ten best documents teach nothing: with the articles that answer them in place of
the last ones, the model learned that the last ones answer. Sentences that nobody judged count as not
answering: of those that a first model put among its first three, one in eight did.

The loss of a question is the cross-entropy of the softmax of all its log-weights with its gold (BioASQ), or
half that and half the logarithm of the share that any answering sentence has (judged). Slopes of the order
are learned from both, those of what is shown from BioASQ's alone.

``--ranker deep``: a cascade's second reading starts from its own log-weights and its first ranker's, and
learns from judged questions alone. It takes as long as the cascade needs for them.
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
from bioqa.models.answers.aptness import CASCADE_COLUMNS, FITTED, LIMIT, Aptness, columns, flags_of
from bioqa.models.answers.labels import sentence_labels
from bioqa.models.answers.ranking import Ranking
from bioqa.models.arrays import Booleans, Floats
from bioqa.models.bundled import DEFAULT
from bioqa.models.cascade import files as cascade_files
from bioqa.models.cascade.ranker import Cascade
from bioqa.models.reranker import Reranker
from bioqa.models.text.tokens import tokenise_question

Ranker = Reranker | Cascade
CANDIDATES = 100
WEIGHT, FIRST = CASCADE_COLUMNS.index("weight"), CASCADE_COLUMNS.index("first_ranker")
OWN = 2.0
"""A cascade's log-weight counts so much beside its first ranker's, whose values spread more: chosen among
1/4, 1/2, 1, 2 and 4."""
SHOWN_FIRST = 0.05
"""How much the first ranker's counts for what a cascade shows: chosen on dev among 0, .05, .1, .2 and .4."""
OF_BIOASQ, OF_JUDGED = 1.0, 4.0
"""Weights of a question's loss."""
HALF = 0.5
"""How much of the slopes for what is shown is applied: chosen on dev."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question and the sentences of its ten best documents that can be selected."""

    columns: Floats
    base: Floats
    """[sentences] log-weights that the slopes add to"""
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


def rank_best(index: SearchIndex, ranker: Ranker, question: str) -> tuple[str, Ranking]:
    """The question as it was read, and its ten best documents, as the service ranks them."""
    reading = index.read(question)
    candidates = index.search(reading.wording, CANDIDATES)
    rewriting = rewritten(reading, [candidate.document for candidate in candidates])
    as_read = [
        replace(candidate, document=document)
        for candidate, document in zip(candidates, rewriting.documents, strict=True)
    ]
    ranking = ranker.rank(rewriting.question, as_read)
    return rewriting.question, replace(ranking, documents=ranking.documents[:DEPTH])


def make_case(
    ranker: Ranker, question: str, best: Ranking, answers: Sequence[Booleans], *, judged: bool
) -> Case:
    """``best``: at least one document; ``answers`` [documents] of each sentence."""
    documents = [ranked.document for ranked in best.documents]
    if isinstance(ranker, Cascade):
        _, rows = ranker.columns(question, best)
        base: Floats = OWN * rows[:, WEIGHT] + rows[:, FIRST]
    else:
        tokens, question_tokens = ranker.tokens(documents), tokenise_question(question, ranker.vocabulary)
        rows = columns(
            question, question_tokens, best.documents, tokens, ranker.vocabulary, ranker.calibration
        )
        base = rows[:, WEIGHT].copy()
    kept = np.array(
        [not is_label(document, sentence) for document in documents for sentence in document.sentences],
        dtype=np.bool_,
    )
    return Case(rows[kept], base[kept], flags_of(question), np.concatenate(answers)[kept], judged)


def bioasq_cases(index: SearchIndex, ranker: Ranker, golden: Sequence[Response]) -> Iterator[Case]:
    for response in golden:
        question, best = rank_best(index, ranker, response.question.body)
        answers = [sentence_labels(ranked.document, response.snippets) for ranked in best.documents]
        if best.documents:
            yield make_case(ranker, question, best, answers, judged=False)


def judged_cases(index: SearchIndex, ranker: Ranker, path: Path) -> Iterator[Case]:
    for asked in json.loads(path.read_text(encoding="utf-8")):
        answering = [judgment for judgment in asked["judged"] if judgment["grade"] == 2]
        question, best = rank_best(index, ranker, asked["body"])
        answers = [_answering(ranked.document, answering) for ranked in best.documents]
        if best.documents:
            yield make_case(ranker, question, best, answers, judged=True)


def _answering(document: Document, judgments: Sequence[Mapping[str, Any]]) -> Booleans:
    """[sentences] whether half of the shorter of the sentence and a judged one is the same text."""
    return np.array(
        [any(same_text(document, s, j) for j in judgments) for s in document.sentences], dtype=np.bool_
    )


def same_text(document: Document, sentence: Sentence, judgment: Mapping[str, Any]) -> bool:
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
    useful = [case for case in cases if case.answers.any() and not case.answers.all()]
    everything = np.concatenate([case.columns for case in useful])
    mean, deviation = everything.mean(axis=0), np.maximum(everything.std(axis=0), 1e-3)
    data = [_tensors(case, mean, deviation) for case in useful]
    common = torch.zeros(len(mean), requires_grad=True)
    of_flags = torch.zeros(len(data[0][2]), len(mean), requires_grad=True)
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


def _tensors(case: Case, mean: Floats, deviation: Floats) -> _Tensors:
    standard = ((case.columns - mean) / deviation).clip(-LIMIT, LIMIT)
    arrays = (standard, case.base, case.flags, case.answers)
    standard_t, base, flags, answers = (torch.tensor(a, dtype=torch.float32) for a in arrays)
    return standard_t, base, flags, answers, case.judged


def _loss(question: _Tensors, common: torch.Tensor, of_flags: torch.Tensor) -> torch.Tensor:
    standard, base, flags, answers, judged = question
    logs = torch.log_softmax(base + standard @ (common + flags @ of_flags), dim=0)
    all_of_them = -(logs * answers / answers.sum()).sum()
    if not judged:
        return OF_BIOASQ * all_of_them
    any_of_them = -torch.logsumexp(logs[answers > 0], dim=0)
    return OF_JUDGED * (all_of_them + any_of_them) / 2


def fit_reranker(bioasq: Sequence[Case], judged: Sequence[Case], seeds: int) -> Aptness:
    """The mean of several seeds. A question's own columns say the same of all its sentences: they cancel."""
    both = [fit([*bioasq, *judged], seed) for seed in range(1, seeds + 1)]
    experts = [fit(bioasq, seed) for seed in range(1, seeds + 1)]
    mean, deviation, _ = both[0]
    apt = np.mean([slopes for *_, slopes in both], axis=0)
    relevant = HALF * np.mean([slopes for *_, slopes in experts], axis=0)
    # Slopes of columns that were standardised otherwise.
    return Aptness(mean, deviation, apt, relevant * (deviation / experts[0][1]))


def fit_cascade(judged: Sequence[Case], seeds: int) -> Aptness:
    """The mean of several seeds, with the slopes of both rankers' log-weights that it starts from.

    Not from BioASQ's questions: the encoder has learned those of training by heart.
    """
    made = [fit(judged, seed, FitSettings(epochs=1)) for seed in range(1, seeds + 1)]
    mean, deviation, _ = made[0]
    apt = np.mean([slopes for *_, slopes in made], axis=0)
    apt[0, WEIGHT] += (OWN - 1) * deviation[WEIGHT]
    apt[0, FIRST] += deviation[FIRST]
    relevant = np.zeros(apt.shape)
    relevant[0, FIRST] = SHOWN_FIRST * deviation[FIRST]
    return Aptness(mean, deviation, apt, relevant)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index", required=True)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--judged", type=Path, nargs="+", required=True)
    parser.add_argument("--ranker", default=DEFAULT)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    folder = cascade_files.folder_of(options.ranker)
    ranker = Reranker.load(options.ranker) if folder is None else cascade_files.load(folder, as_stored=True)
    index = open_index(options.index)
    try:
        golden = read_golden(options.train).responses if folder is None else []
        bioasq = [*bioasq_cases(index, ranker, golden)]
        judged = [case for path in options.judged for case in judged_cases(index, ranker, path)]
    finally:
        index.close()
    print(f"{len(bioasq)} questions of BioASQ, {len(judged)} judged")
    if folder is None:
        fit_reranker(bioasq, judged, options.seeds).save(options.output or FITTED)
    else:
        fit_cascade(judged, options.seeds).save(options.output or folder / cascade_files.APTNESS)


if __name__ == "__main__":
    main()
