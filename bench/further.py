"""What training further gives with 10, 30, 100 … questions of one's own: the curve of docs/training.md.

    python -m bench.further --index DIR --own GOLDEN --held-out GOLDEN [--start DIR|NAME] [--set NAME=VALUE]

For each size, ``--repeats`` random samples of ``--own`` are what a user would have. ``--start`` is trained
further on each, as `bioqa train soft --golden` does it, and measured on ``--held-out``, which training does
not see. The start must not have learned from either file. With ``--scratch``, the same samples also train a
ranker from random weights, with a fifth held out, as `--from-scratch` does it.
"""

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from bioqa.bioasq.domain import Response
from bioqa.bioasq.measures import LATEST, per_question
from bioqa.indexer.opening import open_index
from bioqa.models import checkpoint
from bioqa.models.answers import baseline
from bioqa.models.bundled import folder_of
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.training.data import Prepared
from bioqa.models.training.files import parse_settings, prepare_file
from bioqa.models.training.further import (
    answers_of,
    baseline_answers,
    gain_of,
    is_usable,
    question_values,
    train_further,
)
from bioqa.models.training.recipes import DEV_SHARE, recipe_settings
from bioqa.models.training.train import TrainingData, make_checkpoint


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--own", type=Path, required=True)
    parser.add_argument("--held-out", type=Path, required=True)
    parser.add_argument("--start", default="soft")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 30, 100, 300, 1000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--scratch", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    index = open_index(str(options.index))
    start = checkpoint.load(folder_of(options.start), device="cpu")
    bm25 = baseline.load(folder_of("bm25"))
    changes = parse_settings(options.set)
    own, held_out = (
        [q for q in prepare_file(index, path, start.vocabulary) if is_usable(q)]
        for path in (options.own, options.held_out)
    )
    print(f"{len(own)} questions of one's own, {len(held_out)} held out; {changes}")
    golden = [q.response for q in held_out]
    before = answers_of(start, held_out)
    _say("start", golden, before, before)
    _say("bm25", golden, baseline_answers(bm25, held_out), before)
    for size in options.sizes:
        for repeat in range(1, (1 if size >= len(own) else options.repeats) + 1):
            some = random.Random(repeat).sample(own, min(size, len(own)))
            result = train_further(start, bm25, some, changes=changes, seed=repeat)
            gain = result.over_start
            choice = f"{result.choice.epochs} epochs, margin {result.choice.margin}"
            said = f"{gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f}) on its own questions"
            kept = "written" if result.is_better else "start kept"
            print(f"{len(some)} questions, draw {repeat}: {choice}; {said}, {kept}")
            _say("  trained further", golden, answers_of(result.checkpoint, held_out), before)
            if options.scratch:
                _say(
                    "  from scratch", golden, answers_of(_from_scratch(start, some, repeat), held_out), before
                )


def _from_scratch(start: Checkpoint, some: Sequence[Prepared], seed: int) -> Checkpoint:
    """As `bioqa train soft --from-scratch` does it: a fifth is for early stopping and calibration."""
    dev = max(1, round(DEV_SHARE * len(some)))
    data = TrainingData(start.vocabulary, some[dev:], some[:dev])
    return make_checkpoint(recipe_settings("soft"), data, seed=seed, record={}, device="cpu")


def _say(
    name: str, golden: Sequence[Response], answers: Sequence[Response], before: Sequence[Response]
) -> None:
    measured = per_question(golden, answers, LATEST)
    ap = float(np.mean([m.documents.average_precision for m in measured]))
    f1 = float(np.mean([m.snippets.f1 for m in measured]))
    gain = gain_of(question_values(golden, answers) - question_values(golden, before))
    difference = f"{gain.value:+.4f} ({gain.low:+.4f} to {gain.high:+.4f})"
    print(f"{name}: MAP {ap:.4f}, F1 {f1:.4f}, mean {difference}", flush=True)


if __name__ == "__main__":
    main()
