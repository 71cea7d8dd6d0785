"""Making a cascade: fine-tune the encoder, measure the speed, tune how two rankers' scores become one."""

import math
import platform
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from bioqa.models.answers.selection import Calibration
from bioqa.models.cascade.encoder import CrossEncoder
from bioqa.models.cascade.files import save
from bioqa.models.cascade.fitting import CrossSettings, FittingProgress, auc_of, fit, question_groups
from bioqa.models.cascade.ranker import BUDGET_MS, Cascade, Combination, TunedCascade, read_as_served
from bioqa.models.cascade.speed import measure_speed
from bioqa.models.cascade.tuning import read_questions, tune
from bioqa.models.encoders.encoder import Encoder
from bioqa.models.encoders.loading import device_of, open_encoder
from bioqa.models.features.extractor import feature_counts
from bioqa.models.reranker import Reranker
from bioqa.models.training.data import Prepared, Searcher, fingerprint
from bioqa.models.training.files import Preparing, file_fingerprint, prepare_file
from bioqa.models.training.sampling import sample
from bioqa.models.training.state import StateFile, state_path


@dataclass(frozen=True, slots=True)
class Tuning:
    """What a cascade is tuned for."""

    budget_ms: float = BUDGET_MS
    documents: int = 12
    """How many of the first ranker's best documents are read."""
    sentences: int = 0
    """How many of the first ranker's best sentences of a document are read; 0: all."""
    half_precision: bool = False


@dataclass(frozen=True, slots=True)
class CascadePlan:
    """What is trained, on what, and where it is written."""

    first: str
    """The ranker of all candidates: a bundled one's name, or a folder."""
    encoder: str
    train: Path
    dev: Path
    output: Path
    settings: CrossSettings
    tuning: Tuning = Tuning()
    dev_questions: int = 100
    """A random sample of dev's, as reading all takes long without a GPU."""
    device: str = "auto"


def train_cascade(
    plan: CascadePlan,
    index: Searcher,
    *,
    preparing: Preparing = lambda name, done, total: None,
    progress: Callable[[FittingProgress], None] = lambda progress: None,
) -> Cascade:
    """Train a cascade and write it to ``plan.output``.

    An interrupted training resumes where its state was last saved, in a file beside the output.
    """
    device_of(plan.device)
    first = Reranker.load(plan.first)
    transformer, tokeniser, of_encoder = open_encoder(plan.encoder)
    encoder = Encoder(transformer, tokeniser, name=plan.encoder, fingerprint=of_encoder, device=plan.device)
    used = first.checkpoint.settings.reading.features
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(plan.settings.seed)
        reader = CrossEncoder(encoder, feature_counts(used)[1])
    vocabulary = first.checkpoint.vocabulary
    train, dev = (prepare_file(index, path, vocabulary, preparing) for path in (plan.train, plan.dev))
    groups = question_groups(train, first)
    state = StateFile(
        state_path(plan.output),
        {
            **_finite(plan.settings),
            "first ranker": first.hash,
            "encoder": of_encoder,
            "training questions": fingerprint(train),
        },
    )
    reached = fit(reader, groups, plan.settings, state, progress=progress)
    record = {
        "training": {
            "train": file_fingerprint(plan.train),
            "dev": file_fingerprint(plan.dev),
            "encoder": Path(plan.encoder).name,
            "encoder_fingerprint": of_encoder,
            **_finite(plan.settings),
            "questions": len(groups),
            "questions_seen": reached.questions,
            "questions_to_see": reached.of,
            "seconds": round(reached.seconds),
            "torch": torch.__version__,
            "python": platform.python_version(),
        },
        "curve": [{"questions": seen, "loss": round(loss, 4)} for seen, loss in reached.curve],
    }
    chosen = sample(dev, plan.dev_questions)
    # In bfloat16 the encoder is tuned as it will read; what is kept is not rounded.
    transformer = deepcopy(encoder.transformer)
    cascade = finish(first, reader, chosen, plan.output.name, record, plan.tuning)
    save(cascade, tokeniser, plan.output, transformer)
    state.delete()
    return cascade


def _finite(settings: CrossSettings) -> dict[str, Any]:
    """The settings without an infinite time limit: JSON has no infinity."""
    return {name: value for name, value in asdict(settings).items() if value != math.inf}


def finish(
    first: Reranker,
    reader: CrossEncoder,
    dev: Sequence[Prepared],
    name: str,
    record: Mapping[str, Any],
    tuning: Tuning = Tuning(),
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Cascade:
    """A cascade with measured speed, and with combination and selection tuned on dev for the budget.

    For tuning, the first ranker's best documents are read whatever the budget.
    """
    budget_ms = tuning.budget_ms
    reader.encoder.freeze()
    read_as_served(reader, half_precision=tuning.half_precision)
    questions = [(q.response.question.body, q.retrieved.candidates) for q in dev]
    speed = measure_speed(first, reader, questions, tuning.half_precision)
    untuned = TunedCascade(Combination(), speed, Calibration())
    read = read_questions(
        Cascade(first, reader, untuned, name=name, budget_ms=budget_ms),
        dev,
        tuning.documents,
        progress,
        tuning.sentences,
    )
    combination, calibration, scores = tune(read, speed.pieces(budget_ms))
    # Not more than was read for tuning.
    combination = replace(combination, most_documents=tuning.documents, most_sentences=tuning.sentences)
    if (auc := auc_of(reader, question_groups(dev, first))) is not None:
        scores["sentence_auc_encoder"] = auc
    scores["dev_questions"] = len(dev)
    return Cascade(
        first,
        reader,
        TunedCascade(combination, speed, calibration),
        name=name,
        record={**record, "scores": scores},
        budget_ms=budget_ms,
    )
