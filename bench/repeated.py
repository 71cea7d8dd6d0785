"""A large file of complete MEDLINE records, made of a few by repetition, each with a PMID of its own.

    python -m bench.repeated FILE... --records 20000 --to records.xml.gz

Synthetic records (``bench.synthetic``) have headings and authors of one kind only; these are as varied as the
given ones.
"""

import argparse
import gzip
from collections.abc import Iterator, Sequence
from itertools import chain, cycle, islice
from pathlib import Path

from lxml import etree

from bioqa.indexer.medline.xmlfile import child, records

FIRST_PMID = 80_000_001


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--to", type=Path, required=True)
    options = parser.parse_args()
    write(options.to, options.files, options.records)


def write(path: Path, files: Sequence[Path], count: int) -> None:
    templates = list(chain.from_iterable(map(serialise, files)))
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        stream.write("<PubmedArticleSet>")
        for number, template in enumerate(islice(cycle(templates), count), FIRST_PMID):
            stream.write(template.replace(PLACEHOLDER, str(number)))
        stream.write("</PubmedArticleSet>")


PLACEHOLDER = "PMID-OF-THE-COPY"


def serialise(path: Path) -> Iterator[str]:
    """Yield each citation of a file as a PubmedArticle, with a placeholder for its PMID."""
    for record in records(path):
        citation = record if record.tag == "MedlineCitation" else child(record, "MedlineCitation")
        pmid = child(citation, "PMID")
        if pmid is None:
            continue
        pmid.text = PLACEHOLDER
        text = etree.tostring(record, encoding="unicode")
        yield text if record.tag == "PubmedArticle" else f"<PubmedArticle>{text}</PubmedArticle>"


if __name__ == "__main__":
    main()
