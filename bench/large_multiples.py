"""An index that searches as if it were many times as large.

    python -m bench.large_multiples --index DIR --times 20 --to OTHER

Its segments are those of the given index, each several times, as links: it needs no room and no time. A
search has as much to do as in an index of so many documents, and of so many words in all. What is not as in a
real one: each document is found several times, under one PMID; the segments are smaller and more; and the
system's cache holds each page once, so that times of an index that is not in memory mean nothing. It is for
reading only.
"""

import argparse
import json
import os
import uuid
from pathlib import Path

from bioqa.indexer.search.tantivy.segments import META

DESCRIPTION = "bioqa.json"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--times", type=int, required=True)
    parser.add_argument("--to", type=Path, required=True)
    options = parser.parse_args()
    multiply(options.index, options.times, options.to)


def multiply(folder: Path, times: int, to: Path) -> None:
    """Make an index in ``to``, a folder that does not exist, of the same file system as ``folder``."""
    to.mkdir(parents=True)
    meta = json.loads((folder / META).read_bytes())
    names: list[str] = []
    segments = []
    for segment in meta["segments"]:
        name = segment["segment_id"].replace("-", "")
        for _ in range(times):
            other = uuid.uuid4()
            for path in folder.glob(f"{name}.*"):
                names.append(path.name.replace(name, other.hex))
                os.link(path, to / names[-1])
            segments.append({**segment, "segment_id": str(other)})
    (to / DESCRIPTION).write_bytes((folder / DESCRIPTION).read_bytes())
    (to / META).write_text(json.dumps({**meta, "segments": segments}), "utf-8")
    (to / ".managed.json").write_text(json.dumps([*names, META]), "utf-8")


if __name__ == "__main__":
    main()
