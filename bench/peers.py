"""Side by side with what people would use instead: one run, ratios only.

    python -m bench.peers FILE... --index DIR --questions GOLDEN [--url http://127.0.0.1:9200] [--timed 60]
                          [--encoder DIR] [--to bench/results/peers.json]

Each part of bioqa and its peer do the same work in turn, on the same files, questions and candidates; what is
kept is how many times as fast bioqa is (the median, and where eight of ten ratios lie). Times of one machine
say little of another one, and are not printed. A peer that is not installed (``bench/requirements.txt``), or
whose server is not named, is said to be left out. docs/speed.md shows the table of bench/results/peers.json.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import torch

from bench import elastic
from bioqa.bioasq.domain import Candidate, Document, Response
from bioqa.bioasq.files import read_golden
from bioqa.bioasq.measures import evaluate
from bioqa.indexer.search.base import SearchIndex
from bioqa.indexer.search.elastic.address import parse_address
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.models.answers.selection import select
from bioqa.models.bundled import DEFAULT
from bioqa.models.reranker import Reranker

TOP = 100
RECORDS = 10_000
EDITION = 8
PEERS = ("pubmed-parser", "bm25s", "sentence-transformers")
RESULTS = Path(__file__).with_name("results") / "peers.json"

Work = Callable[[Any], object]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How many times as fast bioqa does something as a peer."""

    what: str
    peer: str
    times: float
    """The median of the ratios of pairs that were timed in turn."""
    low: float
    high: float
    """Eight of ten ratios lie between these."""
    pairs: int


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+", help="MEDLINE files, which the index holds")
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--url", help="an Elasticsearch server; the files are loaded into it, and deleted")
    parser.add_argument("--encoder", help="a folder with MiniLM's weights, or with others of its shape")
    parser.add_argument("--timed", type=int, default=60, help="questions that are timed; half go before")
    parser.add_argument("--to", type=Path, default=RESULTS)
    options = parser.parse_args()
    golden = read_golden(options.questions).responses
    with TantivyIndex.open(options.index) as index:
        documents = index.stats().documents
        made, left_out = compare(options, index, golden)
    report = {
        "documents": documents,
        "questions": options.timed,
        "torch_threads": torch.get_num_threads(),
        "versions": {name: metadata.version(name) for name in PEERS if is_installed(name)},
        "comparisons": [asdict(each) for each in made],
        "left_out": left_out,
    }
    options.to.parent.mkdir(parents=True, exist_ok=True)
    options.to.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print("\n".join(table(report)))


def compare(
    options: argparse.Namespace, index: TantivyIndex, golden: Sequence[Response]
) -> tuple[list[Comparison], list[str]]:
    """All comparisons that can be made here, and which are left out."""
    questions = [response.question.body for response in golden][: 2 * options.timed]
    made: list[Comparison] = []
    left_out: list[str] = []
    peer_search: Callable[[str], Sequence[Document]] | None = None
    if is_installed("pubmed-parser"):
        made.append(parsing(options.files))
    else:
        left_out.append("pubmed-parser is not installed: parsing")
    if is_installed("bm25s"):
        peer_search = bm25s_search(list(index.documents()))
        made.append(
            in_turn("retrieve 100 documents", "bm25s", lambda q: index.search(q, TOP), peer_search, questions)
        )
    else:
        left_out.append("bm25s is not installed: retrieval beside it, and end to end")
    if options.url:
        with elastic.load_index(parse_address(options.url), options.files) as server:
            made.append(beside_elasticsearch(index, server, questions))
    else:
        left_out.append("no --url: retrieval beside Elasticsearch")
    if is_installed("sentence-transformers") and options.encoder:
        few = questions[: max(6, len(questions) // 6)]
        reread = cross_encoder(options.encoder)
        made += re_ranking(index, reread, peer_search, few)
    else:
        left_out.append("no sentence-transformers, or no --encoder: re-ranking, and end to end")
    made.append(evaluating(golden))
    return made, left_out


def is_installed(package: str) -> bool:
    return find_spec(package.replace("-", "_")) is not None


def in_turn(
    what: str, peer: str, ours: Work, theirs: Work, items: Sequence[Any], warm_up: int | None = None
) -> Comparison:
    """Ours and the peer on each item; who begins alternates. Of the items, ``warm_up`` (half) go before."""
    first = len(items) // 2 if warm_up is None else warm_up
    ratios = []
    for place, item in enumerate(items):
        seconds: dict[Work, float] = {}
        for work in (ours, theirs) if place % 2 else (theirs, ours):
            begun = time.perf_counter()
            work(item)
            seconds[work] = time.perf_counter() - begun
        if place >= first:
            ratios.append(seconds[theirs] / seconds[ours])
    return comparison(what, peer, ratios)


def comparison(what: str, peer: str, ratios: Sequence[float]) -> Comparison:
    tenths = quantiles(ratios, n=10) if len(ratios) > 1 else [*ratios] * 9
    return Comparison(
        what, peer, round(median(ratios), 2), round(tenths[0], 2), round(tenths[-1], 2), len(ratios)
    )


def parsing(files: Sequence[Path], records: int = RECORDS, rounds: int = 5) -> Comparison:
    """Records with everything that is kept of them, sentences included, beside pubmed_parser's."""
    parse = import_module("bench.parse")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "records.xml.gz")
        parse.write(path, files, records)
        return in_turn(
            "parse records, cut into sentences",
            "pubmed_parser",
            parse.parse_and_split,
            parse.parse_with_pubmed_parser,
            [path] * (rounds + 1),
            warm_up=1,
        )


def bm25s_search(documents: Sequence[Document]) -> Callable[[str], Sequence[Document]]:
    """bm25s over title and abstract with its English stop words and Snowball stems, documents in memory."""
    bm25s, stemmer = import_module("bm25s"), import_module("Stemmer").Stemmer("english")
    texts = [f"{document.title} {document.abstract}" for document in documents]
    retriever = bm25s.BM25(k1=1.2, b=0.75)
    retriever.index(
        bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False
    )

    def search(question: str) -> Sequence[Document]:
        asked = bm25s.tokenize([question], stopwords="en", stemmer=stemmer, show_progress=False)
        found, _ = retriever.retrieve(asked, k=min(TOP, len(documents)), show_progress=False)
        return [documents[place] for place in found[0].tolist()]

    return search


def beside_elasticsearch(index: SearchIndex, server: SearchIndex, questions: Sequence[str]) -> Comparison:
    return in_turn(
        "retrieve 100 documents",
        "Elasticsearch",
        lambda question: index.search(question, TOP),
        lambda question: server.search(question, TOP),
        questions,
    )


def cross_encoder(folder: str) -> Callable[[str, Sequence[Document]], object]:
    """A cross-encoder in sentence-transformers, of the folder's shape; its head's weights are random, as only
    its speed is looked at."""
    made = import_module("sentence_transformers").CrossEncoder(folder, num_labels=1, max_length=512)

    def rank(question: str, documents: Sequence[Document]) -> object:
        pairs = [(question, f"{document.title} {document.abstract}") for document in documents]
        return made.predict(pairs, show_progress_bar=False)

    return rank


def re_ranking(
    index: TantivyIndex,
    reread: Callable[[str, Sequence[Document]], object],
    peer_search: Callable[[str], Sequence[Document]] | None,
    questions: Sequence[str],
) -> Iterator[Comparison]:
    """Documents never seen before; ours scores sentences, too."""
    ranker = Reranker.load(DEFAULT, cached_documents=0)
    asked: list[tuple[str, list[Candidate]]] = [(q, index.search(q, TOP)) for q in questions]
    yield in_turn(
        "re-rank 100 documents",
        "a cross-encoder in sentence-transformers",
        lambda item: ranker.rank(*item),
        lambda item: reread(item[0], [candidate.document for candidate in item[1]]),
        asked,
        warm_up=2,
    )
    if peer_search is not None:
        yield in_turn(
            "a question end to end",
            "bm25s and the cross-encoder",
            lambda q: select(ranker.rank(q, index.search(q, TOP)), ranker.calibration),
            lambda q: reread(q, peer_search(q)),
            questions,
            warm_up=2,
        )


def evaluating(golden: Sequence[Response], rounds: int = 5) -> Comparison:
    """The official measures of a golden file with itself, beside a plain loop over sets of characters."""
    return in_turn(
        "evaluate a submission",
        "a plain loop",
        lambda responses: evaluate(responses, responses, EDITION),
        lambda responses: plain_measures(responses, responses),
        [golden] * (rounds + 1),
        warm_up=1,
    )


def plain_measures(golden: Sequence[Response], system: Sequence[Response]) -> tuple[float, float]:
    """Document MAP and snippet F1, as one would write them: lists, and a set of all characters."""
    answers = {response.question.id: response for response in system}
    precisions, f1s = [], []
    for response in golden:
        answer = answers[response.question.id]
        hits, total = 0, 0.0
        for place, url in enumerate(answer.documents[:10], 1):
            if url in response.documents:
                hits += 1
                total += hits / place
        precisions.append(total / max(1, min(10, len(response.documents))))
        gold, given = characters(response), characters(answer)
        shared = len(gold & given)
        f1s.append(2 * shared / max(1, len(gold) + len(given)))
    return sum(precisions) / max(1, len(precisions)), sum(f1s) / max(1, len(f1s))


def characters(response: Response) -> set[tuple[str, str, int]]:
    return {
        (snippet.document, snippet.begin_section, offset)
        for snippet in response.snippets
        for offset in range(snippet.begin, snippet.end)
    }


def table(report: Mapping[str, Any]) -> list[str]:
    """The report in Markdown."""
    lines = ["| work | beside | times as fast | eight of ten | pairs |", "|---|---|---|---|---|"]
    for each in report["comparisons"]:
        lines.append(
            f"| {each['what']} | {each['peer']} | {each['times']:.2f} "
            f"| {each['low']:.2f} to {each['high']:.2f} | {each['pairs']} |"
        )
    return [*lines, *(f"\nLeft out: {why}." for why in report["left_out"])]


if __name__ == "__main__":
    main()
