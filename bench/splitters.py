"""Sentence splitters: gold snippets that begin and end with a sentence, and citations per second on one core.

    python -m bench.splitters FILE... --questions GOLDEN [--json]

A snippet counts if it begins where a sentence begins and ends where one ends. "tolerant" ignores white space
around it and a missing final full stop; "exact" does not. Each splitter is measured as it is, and with labels
in abstracts as spans of their own.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import sentencex

from bioqa.bioasq.domain import Document, Snippet
from bioqa.bioasq.files import read_golden
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.medline.punkt import tokenizer
from bioqa.indexer.medline.reader import read
from bioqa.indexer.medline.sentences import Offsets, labels_apart, split

REPEATS = 5
TIMED = 5_000
"""Number of citations on which time is measured."""

Splitter = Callable[[str], list[Offsets]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--questions", type=Path, required=True, help="a golden file")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    documents = {document.url: document for file in options.files for document in documents_of(file)}
    snippets = {s for response in read_golden(options.questions).responses for s in response.snippets}
    known = [snippet for snippet in snippets if snippet.document in documents]
    rows = [
        {
            "splitter": name,
            "exact": share(known, documents, splitter, splitter, exactly=True),
            "tolerant": share(known, documents, splitter, splitter),
            "exact, labels apart": share(known, documents, splitter, apart(splitter), exactly=True),
            "tolerant, labels apart": share(known, documents, splitter, apart(splitter)),
            "citations a second": speed(list(documents.values())[:TIMED], splitter, apart(splitter)),
        }
        for name, splitter in SPLITTERS.items()
    ]
    print(
        json.dumps({"snippets": len(known), "splitters": rows}) if options.json else table(rows, len(known))
    )


def documents_of(file: Path) -> Iterator[Document]:
    return (event.document for event in read(file) if isinstance(event, Upsert))


def with_punkt(text: str) -> list[Offsets]:
    return list(tokenizer().span_tokenize(text))


def with_sentencex(text: str) -> list[Offsets]:
    found = sentencex.get_sentence_boundaries("en", text)
    spans = (trim(text, boundary["start_index"], boundary["end_index"]) for boundary in found)
    return [(begin, end) for begin, end in spans if begin < end]


def trim(text: str, begin: int, end: int) -> Offsets:
    inner = text[begin:end]
    return begin + len(inner) - len(inner.lstrip()), end - len(inner) + len(inner.rstrip())


SPLITTERS: dict[str, Splitter] = {
    "this project's": split,
    "Punkt, same lists": with_punkt,
    "sentencex": with_sentencex,
}


def apart(splitter: Splitter) -> Splitter:
    return lambda text: labels_apart(text, splitter(text))


def share(
    snippets: Sequence[Snippet],
    documents: dict[str, Document],
    of_titles: Splitter,
    of_abstracts: Splitter,
    *,
    exactly: bool = False,
) -> float:
    hits = 0
    for snippet in snippets:
        document = documents[snippet.document]
        title = snippet.begin_section == "title"
        text = document.title if title else document.abstract
        spans = of_titles(text) if title else of_abstracts(text)
        begin, end = (snippet.begin, snippet.end) if exactly else trim(text, snippet.begin, snippet.end)
        ends = {last for _, last in spans}
        left_out = not exactly and text[end : end + 1] in (".", "?", "!") and end + 1 in ends
        hits += any(first == begin for first, _ in spans) and (end in ends or left_out)
    return round(hits / len(snippets), 4)


def speed(documents: Sequence[Document], of_titles: Splitter, of_abstracts: Splitter) -> int:
    seconds = []
    for _ in range(REPEATS + 1):
        begun = time.process_time()
        for document in documents:
            of_titles(document.title)
            of_abstracts(document.abstract)
        seconds.append(time.process_time() - begun)
    return round(len(documents) / statistics.median(seconds[1:]))


def table(rows: Sequence[dict[str, object]], snippets: int) -> str:
    lines = [f"{snippets} gold snippets"]
    lines.append("  ".join(f"{name:22}" for name in rows[0]))
    lines += ["  ".join(f"{value!s:22}" for value in row.values()) for row in rows]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
