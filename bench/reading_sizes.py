"""What reading a question takes at the sizes of MEDLINE, 44 thousand to 37 million citations.

    python -m bench.reading_sizes --index DIR --questions GOLDEN... [--citations N...]

The index is a real one; what grows is simulated (``bench.simulated_index``). Processor time of this program
is given without that of the engine, whose searches are counted: what each takes grows with the index, and is
measured by ``bench.large``.
"""

import argparse
import time
from pathlib import Path
from statistics import quantiles

from bench.simulated_index import SimulatedEvidence, fit_exponent
from bioqa.bioasq.files import read_golden
from bioqa.indexer.search.questions.budget import READING_S, Budget
from bioqa.indexer.search.questions.reading import read
from bioqa.indexer.search.tantivy.index import TantivyIndex

SIZES = (1_000_000, 5_000_000, 37_000_000)
HARD = (
    "relapses of MS",
    "Is CT better than MR in the diagnosis of PE and AD by PCR, MS and HPLC of RA, PD and HD?",
    "ACEI OR PC AUC RR RCT PR VAS AR SD CS AA IR CP SP",
    "What is the role of alzimers, diahrrea, metfromin, hypertenson, inflamation and phosphorilation?",
)
"""Common abbreviations of many meanings, and slips."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--questions", type=Path, nargs="+", required=True)
    parser.add_argument("--citations", type=int, nargs="+", default=SIZES)
    options = parser.parse_args()
    questions = [r.question.body for path in options.questions for r in read_golden(path).responses]
    with TantivyIndex.open(options.index) as index:
        number = index.stats().documents
        exponent = fit_exponent(index.documents())
        print(f"{number:,} citations, {len(questions)} questions; long forms grow as n^{exponent:.2f}")
        print(f"{'citations':>12} {'':10} {'own ms: p50':>12} {'p99':>7} {'most':>7}", end=" ")
        print(f"{'searches: p50':>14} {'p99':>5} {'most':>5} {'cut short':>10}")
        for citations in (number, *options.citations):
            for name, some in (("all", questions), ("hard ones", [*HARD] * 5)):
                print(
                    f"{citations:12,} {name:10} {_row(index, citations / number, some, exponent)}", flush=True
                )


def _row(index: TantivyIndex, times: float, questions: list[str], exponent: float) -> str:
    evidence = SimulatedEvidence(index.evidence(), times, exponent)
    for _ in range(2):  # the first time fills caches
        measured = [_measured(question, evidence) for question in questions]
    own = [1e3 * seconds for seconds, _, _ in measured]
    searches = [float(number) for _, number, _ in measured]
    cut_short = sum(cut for _, _, cut in measured)
    return (
        f"{_at(own, 50):12.2f} {_at(own, 99):7.2f} {max(own):7.2f} {_at(searches, 50):14.0f} "
        f"{_at(searches, 99):5.0f} {max(searches):5.0f} {cut_short:10}"
    )


def _measured(question: str, evidence: SimulatedEvidence) -> tuple[float, int, bool]:
    """Seconds of this program, the engine's searches, and whether the budget was spent."""

    def own_s() -> float:
        return time.thread_time() - evidence.engine_s

    begun, searched = own_s(), evidence.searches
    reading = read(question, evidence, budget=Budget(READING_S, own_s))
    return own_s() - begun, evidence.searches - searched, reading.cut_short


def _at(values: list[float], percent: int) -> float:
    return quantiles(values, n=100, method="inclusive")[percent - 1]


if __name__ == "__main__":
    main()
