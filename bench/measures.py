"""Time to compute the official measures of a whole golden file, with its own gold as the submission.

python -m bench.measures --questions FILE
"""

import argparse
import time
from pathlib import Path
from statistics import median

from bioqa.bioasq.files import read_golden
from bioqa.bioasq.measures import EDITIONS, evaluate

ROUNDS = 5


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=Path, required=True)
    golden = read_golden(parser.parse_args().questions).responses
    for edition in EDITIONS:
        times = []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            evaluate(golden, golden, edition)
            times.append(1000 * (time.perf_counter() - begun))
        print(f"edition {edition}: {len(golden)} questions in {median(times):.0f} ms (median of {ROUNDS})")


if __name__ == "__main__":
    main()
