"""All benchmarks, one after the other: parsing, splitting, indexing, retrieval, re-ranking, measures.

    python -m bench [--questions GOLDEN FILE...]

Without files, on the bundled sample: that shows that they run. Figures worth reporting need a real
collection, and a machine that does nothing else.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from bioqa.indexer.loading.run import load

SAMPLE = Path(__file__).parents[1] / "app" / "sample"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="*", default=[SAMPLE / "medline.xml"])
    parser.add_argument("--questions", type=Path, default=SAMPLE / "questions.json")
    options = parser.parse_args()
    files = [str(path) for path in options.files]
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder, "index")
        load(options.files, index)
        on_index = ["--index", str(index), "--questions", str(options.questions)]
        for module, arguments in (
            ("parse", files),
            ("splitters", [*files, "--questions", str(options.questions)]),
            ("indexing", files),
            ("retrieval", on_index),
            ("reranking", on_index),
            ("measures", ["--questions", str(options.questions)]),
        ):
            print(f"\n# {module}", flush=True)
            subprocess.run([sys.executable, "-m", f"bench.{module}", *arguments], check=True)


if __name__ == "__main__":
    main()
