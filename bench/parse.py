"""Parsing: citations per second on one core, compared with pubmed_parser.

    python -m bench.parse FILE... [--records 20000] [--repeats 5] [--json]

The first records of the files, repeated if there are too few, are written to one gzip file, which each parser
reads in turn: one round to warm up, then ``--repeats`` rounds, of which the median is reported.
"""

import argparse
import gzip
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, cycle, islice
from pathlib import Path
from unittest.mock import patch

import pubmed_parser
from lxml import etree

from bioqa.indexer.medline.reader import read
from bioqa.indexer.medline.xmlfile import records


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "records.xml.gz")
        size = write(path, options.files, options.records)
        seconds = measure(path, options.repeats)
    report = {
        "records": options.records,
        "bytes_a_record": round(size / options.records),
        "records_a_second": {name: round(options.records / time) for name, time in seconds.items()},
        "times_pubmed_parser": {
            name: round(seconds["pubmed_parser"] / time, 2) for name, time in seconds.items()
        },
    }
    print(json.dumps(report) if options.json else table(report["records_a_second"], report))


def write(path: Path, files: Sequence[Path], count: int) -> int:
    """Write ``count`` records as PubmedArticles; returns their size in bytes."""
    xml = list(islice(chain.from_iterable(map(serialise, files)), count))
    body = "".join(islice(cycle(xml), count)).encode()
    with gzip.open(path, "wb") as stream:
        stream.write(b"<PubmedArticleSet>" + body + b"</PubmedArticleSet>")
    return len(body)


def serialise(path: Path) -> Iterator[str]:
    for record in records(path):
        text = etree.tostring(record, encoding="unicode")
        yield text if record.tag == "PubmedArticle" else f"<PubmedArticle>{text}</PubmedArticle>"


def measure(path: Path, repeats: int) -> dict[str, float]:
    """Median processor seconds of each competitor, taken in turn so that all see the same machine."""
    competitors: dict[str, Callable[[Path], None]] = {
        "parse": parse,
        "parse and sentences": parse_and_split,
        "pubmed_parser": parse_with_pubmed_parser,
    }
    seconds: dict[str, list[float]] = {name: [] for name in competitors}
    for _ in range(repeats + 1):
        for name, compete in competitors.items():
            begun = time.process_time()
            compete(path)
            seconds[name].append(time.process_time() - begun)
    return {name: statistics.median(times[1:]) for name, times in seconds.items()}


def parse(path: Path) -> None:
    with patch("bioqa.indexer.medline.reader.sentences_of", lambda *_: ()):
        parse_and_split(path)


def parse_and_split(path: Path) -> None:
    for _ in read(path):
        pass


def parse_with_pubmed_parser(path: Path) -> None:
    for _ in pubmed_parser.parse_medline_xml(str(path)):
        pass


def table(speeds: dict[str, int], report: dict[str, object]) -> str:
    lines = [f"{report['records']} records of {report['bytes_a_record']} bytes, one core"]
    lines += [
        f"{name:20} {speed:7,} a second {speed / speeds['pubmed_parser']:6.2f} x pubmed_parser"
        for name, speed in speeds.items()
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
