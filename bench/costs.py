"""What rankers cost: size, start-up, memory, and time under eight clients, as a Markdown table.

    python -m bench.costs --index DIR --questions GOLDEN --ranker NAME|DIR... [--clients 8] [--seconds 20]

Each ranker is served by a process of its own (bench.serving), which settings in the environment (BIOQA_…)
reach. Size: the ranker's folder, with the vocabulary that it shares. Start-up: until /readyz says so. Memory:
of all the service's processes, after the load. Needs bench/requirements.txt.
"""

import argparse
import time
from pathlib import Path
from statistics import median, quantiles

from bench.load import megabytes
from bench.serving import WARM_UP_S, Load, serve
from bioqa.app.cli.rankers import folder_of
from bioqa.bioasq.files import read_golden
from bioqa.models import bundled
from bioqa.models.config import read_config

COLUMNS = ("ranker", "size, MB", "start-up, s", "memory, MB", "p50, ms", "p95, ms", "a second")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index", required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--ranker", action="append", required=True)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    bodies = [response.question.body for response in read_golden(options.questions).responses]
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for ranker in options.ranker:
        size = megabytes_of(folder_of(ranker))
        begun = time.monotonic()
        with serve({"BIOQA_INDEX": options.index, "BIOQA_RANKER": ranker}) as service:
            start = time.monotonic() - begun
            Load(service, bodies, 1).run(WARM_UP_S)
            load = Load(service, bodies, options.clients)
            load.run(options.seconds)
            memory = megabytes(service)
        times = load.questions
        high = quantiles(times, n=20)[-1]
        figures = (f"{size:.1f}", f"{start:.1f}", f"{memory:.0f}", f"{median(times):.0f}", f"{high:.0f}")
        rate = len(times) / options.seconds
        print(f"| {Path(ranker).name} | {' | '.join(figures)} | {rate:.1f} |", flush=True)


def megabytes_of(folder: Path) -> float:
    """Size of a ranker's files, those included that it shares with others."""
    config = read_config(folder)
    folders = [folder]
    if named := config.get("vocabulary"):
        folders.append(bundled.WEIGHTS / named["folder"])
    if named := config.get("first"):
        return megabytes_of(folder_of(named["bundled"])) + _size(folder)
    return sum(map(_size, folders))


def _size(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


if __name__ == "__main__":
    main()
