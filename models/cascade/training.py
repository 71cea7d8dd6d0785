"""Making a cascade: fine-tune the encoder, tune how two rankers' scores become one, measure the speed."""

import platform
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bioqa.models.answers.calibration import calibrate
from bioqa.models.answers.evaluation import SentenceCase, mean_average_precision, sentence_auc
from bioqa.models.answers.ranking import RankedDocument, Ranking
from bioqa.models.answers.selection import Calibration
from bioqa.models.arrays import Booleans
from bioqa.models.cascade.encoder import CrossEncoder, sentence_texts
from bioqa.models.cascade.files import save
from bioqa.models.cascade.fitting import CrossSettings, Progress, auc_of, fit, gold_documents
from bioqa.models.cascade.ranker import BUDGET_MS, Cascade, Combination, Reading, Speed
from bioqa.models.encoders.encoder import Encoder
from bioqa.models.encoders.loading import device_of, open_encoder
from bioqa.models.features.extractor import feature_counts
from bioqa.models.reranker import Reranker
from bioqa.models.training.data import Prepared, Searcher
from bioqa.models.training.files import Preparing, file_fingerprint, prepare_file

DOCUMENT_WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2)
SENTENCE_WEIGHTS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0)
_SPEED_DOCUMENTS = 6


@dataclass(frozen=True, slots=True)
class Read:
    """A development question after both rankers: what ``Combination`` is tuned on."""

    prepared: Prepared
    first: tuple[RankedDocument, ...]
    reading: Reading

    def labels(self) -> list[Booleans]:
        """Of each read document's sentences."""
        pool = self.prepared.retrieved
        ends = np.cumsum([len(c.document.sentences) for c in pool.candidates])[:-1]
        split = zip(pool.candidates, np.split(pool.labels, ends), strict=True)
        by_url = {candidate.document.url: labels for candidate, labels in split}
        return [by_url[d.document.url] for d in self.first[: len(self.reading.scores)]]


def train_files(
    first: str,
    encoder: str,
    index: Searcher,
    train: Path,
    dev: Path,
    output: Path,
    *,
    settings: CrossSettings,
    dev_questions: int = 100,
    device: str = "auto",
    half_precision: bool = False,
    budget_ms: float = BUDGET_MS,
    preparing: Preparing = lambda name, done, total: None,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> Cascade:
    """Trains a cascade over ranker ``first`` and writes it to ``output``.

    Interrupted, it goes on where it was: the state is kept beside ``output``. ``dev_questions``: a random
    share of dev's, as reading all takes long without a GPU.
    """
    device_of(device)
    cheap = Reranker.load(first)
    transformer, tokeniser, fingerprint = open_encoder(encoder)
    reads = Encoder(
        transformer,
        tokeniser,
        name=encoder,
        fingerprint=fingerprint,
        device=device,
    )
    used = cheap.checkpoint.settings.features
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        reader = CrossEncoder(reads, feature_counts(used)[1])
    vocabulary = cheap.checkpoint.vocabulary
    questions = [prepare_file(index, path, vocabulary, preparing) for path in (train, dev)]
    learnt = gold_documents(questions[0], cheap.checkpoint.scaling, used)
    state = output.with_name(output.name + ".training")
    reached = fit(reader, learnt, settings, state, progress=progress)
    record = {
        "training": {
            "train": file_fingerprint(train),
            "dev": file_fingerprint(dev),
            "encoder": Path(encoder).name,
            "encoder_fingerprint": fingerprint,
            **{name: v for name, v in asdict(settings).items() if v != float("inf")},
            "gold_documents": len(learnt),
            "documents_seen": reached.documents,
            "documents_to_see": reached.of,
            "seconds": round(reached.seconds),
            "torch": torch.__version__,
            "python": platform.python_version(),
        }
    }
    made = finish(
        cheap,
        reader,
        share(questions[1], dev_questions),
        output.name,
        record,
        budget_ms,
        half_precision=half_precision,
    )
    save(made, tokeniser, output)
    state.unlink(missing_ok=True)
    return made


def share(questions: Sequence[Prepared], count: int, seed: int = 1) -> list[Prepared]:
    """A random share, the same for the same questions and seed."""
    chosen = list(questions)
    random.Random(seed).shuffle(chosen)  # noqa: S311
    return chosen[:count]


def finish(
    first: Reranker,
    reader: CrossEncoder,
    dev: Sequence[Prepared],
    name: str,
    record: Mapping[str, Any],
    budget_ms: float = BUDGET_MS,
    documents: int = 12,
    half_precision: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Cascade:
    """A cascade with its combination and selection tuned on dev for this budget, and its speed measured.

    For tuning every sentence of the ``documents`` best of the first ranker is read.
    """
    reader.encoder.freeze()
    speed = measure_speed(first, reader, dev, half_precision)
    made = Cascade(first, reader, Combination(), speed, Calibration(), name=name, budget_ms=budget_ms)
    read = read_questions(made, dev, documents, progress)
    combination, calibration, scores = tune(read, speed.pieces(budget_ms))
    # What was not tuned on is not read either.
    combination = replace(combination, most_documents=documents)
    if cases := gold_documents(dev, first.checkpoint.scaling, first.checkpoint.settings.features):
        scores["sentence_auc_encoder"] = auc_of(reader, cases, half_precision=half_precision)
    scores["dev_questions"] = len(dev)
    return Cascade(
        first,
        reader,
        combination,
        speed,
        calibration,
        name=name,
        record={**record, "scores": scores},
        budget_ms=budget_ms,
    )


def measure_speed(
    first: Reranker, reader: CrossEncoder, questions: Sequence[Prepared], half_precision: bool = False
) -> Speed:
    """On these threads: the first ranker's time, and the encoder's for real sentences.

    The best of several, so that what else the machine did meanwhile counts little.
    """
    sample = [q for q in questions if q.retrieved.candidates][:7]
    fixed, rates = [], []
    for question in sample:
        body = question.response.question.body
        begun = time.perf_counter()
        ranked = first.rank(body, question.retrieved.candidates).documents
        fixed.append(1000 * (time.perf_counter() - begun))
        texts = [sentence_texts(d.document) for d in ranked[:_SPEED_DOCUMENTS]]
        passages = [p for sentences in texts for p in reader.passages(body, sentences)]
        features = np.zeros((sum(map(len, texts)), reader.features), dtype=np.float32)
        begun = time.perf_counter()
        reader.score(passages, features, half_precision=half_precision)
        rates.append(sum(p.cost for p in passages) / (1000 * (time.perf_counter() - begun)))
    if not sample:
        return Speed(0.0, 1.0, torch.get_num_threads(), half_precision)
    return Speed(min(fixed), max(rates), torch.get_num_threads(), half_precision)


def read_questions(
    cascade: Cascade,
    questions: Sequence[Prepared],
    documents: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Read]:
    """Every sentence of the first ranker's best documents, read by the encoder."""
    read = []
    for done, question in enumerate(questions, 1):
        body = question.response.question.body.strip()
        first = cascade.first.rank(body, question.retrieved.candidates).documents
        reading = cascade.read(body, first[:documents], float("inf"))
        read.append(Read(question, first, reading))
        progress(done, len(questions))
    return read


def tune(questions: Sequence[Read], pieces: int) -> tuple[Combination, Calibration, dict[str, Any]]:
    """The combination with the highest mean of document MAP and snippet F1 where so many pieces are read.

    The weight of the first ranker's sentence scores comes first, by AUC within relevant documents.
    """
    weights = {weight: sentence_weight_auc(questions, weight) for weight in SENTENCE_WEIGHTS}
    sentence_weight = max(weights, key=lambda weight: weights[weight])
    scale, offset = straight_line(questions, sentence_weight)
    golden = [q.prepared.response for q in questions]
    best: tuple[float, Combination, Calibration, dict[str, Any]] | None = None
    for weight in DOCUMENT_WEIGHTS:
        combination = Combination(weight, sentence_weight, scale, offset)
        rankings = [ranking_of(q, combination, pieces) for q in questions]
        calibration, f1 = calibrate(rankings, golden)
        found = document_map(questions, rankings)
        if best is None or found + f1 > best[0]:
            scores = {"document_map": found, "snippet_f1": f1, "sentence_auc": weights[sentence_weight]}
            best = found + f1, combination, calibration, scores
    assert best is not None
    return best[1:]


def ranking_of(question: Read, combination: Combination, pieces: float) -> Ranking:
    """As ``Cascade.rank`` gives it when so many word pieces are read."""
    fit = int(np.searchsorted(np.cumsum(question.reading.costs), pieces, side="right"))
    ranked = combination.apply(question.first, question.reading.scores[:fit])
    ranked.sort(key=lambda document: -document.score)
    return Ranking(tuple(ranked))


def sentence_weight_auc(questions: Sequence[Read], weight: float) -> float:
    """AUC within the relevant documents among those read."""
    return sentence_auc(
        [
            SentenceCase(scores + weight * np.array(document.sentence_scores), labels)
            for q in questions
            for document, scores, labels in zip(q.first, q.reading.scores, q.labels(), strict=False)
        ]
    )


def straight_line(questions: Sequence[Read], sentence_weight: float) -> tuple[float, float]:
    """Scale and offset that bring the first ranker's sentence scores closest to those with the encoder."""
    pairs = [
        (np.array(d.sentence_scores), scores)
        for q in questions
        for d, scores in zip(q.first, q.reading.scores, strict=False)
    ]
    cheap = np.concatenate([np.zeros(0), *(x for x, _ in pairs)])
    read = np.concatenate([np.zeros(0), *(y for _, y in pairs)]) + sentence_weight * cheap
    if len(cheap) < 2 or float(cheap.std()) < 1e-9:
        return 1.0, 0.0
    scale = float(np.cov(cheap, read, bias=True)[0, 1] / cheap.var())
    return scale, float(read.mean() - scale * cheap.mean())


def document_map(questions: Sequence[Read], rankings: Sequence[Ranking]) -> float:
    gold = [set(q.prepared.response.documents) for q in questions]
    by_rank = [
        np.array([d.document.url in of_question for d in ranking.documents], dtype=np.bool_)
        for ranking, of_question in zip(rankings, gold, strict=True)
    ]
    return mean_average_precision(by_rank, [len(of_question) for of_question in gold])
