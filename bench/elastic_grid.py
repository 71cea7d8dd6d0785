"""Choosing Elasticsearch's analyser, k1 and b on development questions.

    python -m bench.elastic_grid FILE... --url http://127.0.0.1:9200 --questions GOLDEN
        [--analyser standard,ours,porter2,fold] [--similarity]

The MEDLINE files are indexed once, with a sub-field of one text field for each analyser, in an index named
``bioqa-grid`` that is deleted afterwards. The measures are recall among the 100 best documents and edition
8's MAP of the 10 best. The p-values of a row are of approximate randomisation, against the default analyser
or against the best recall of the grid of k1 and b.
"""

import argparse
import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from elasticsearch import Elasticsearch
from elasticsearch.helpers import streaming_bulk
from numpy.typing import NDArray

from bioqa.bioasq.domain import DEPTH, PUBMED_URL, Document, Response
from bioqa.bioasq.files import read_golden
from bioqa.bioasq.measures import document_measures
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.medline.reader import MedlineFile
from bioqa.indexer.search.stopwords import STOP_WORDS
from bioqa.models.experiments.results import paired_p

TOP = 100
INDEX = "bioqa-grid"
TEXT = "text"
QUESTIONS_A_REQUEST = 32

TOKENIZERS: dict[str, Any] = {
    "standard": {"type": "standard"},
    "pattern": {"type": "pattern", "pattern": r"[^\p{L}\p{N}]+"},
}
STOP_LISTS: dict[str, Any] = {"all": None, "english": "_english_", "ours": list(STOP_WORDS)}
STEMMERS = ("none", "minimal_english", "light_english", "english", "porter2")
"""Elasticsearch's names: light_english is KStem, english is Porter's original stemmer."""

K1 = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5)
B = (0.2, 0.3, 0.4, 0.5, 0.6, 0.67, 0.75, 0.9)


@dataclass(frozen=True)
class Analyser:
    tokenizer: str
    stop: str
    stemmer: str
    fold: bool = True
    possessive: bool = False

    def __str__(self) -> str:
        extras = [name for name in ("fold", "possessive") if getattr(self, name)]
        return ",".join([self.tokenizer, self.stop, self.stemmer, *extras])

    @property
    def field(self) -> str:
        return str(self).replace(",", "-")

    @classmethod
    def parse(cls, text: str) -> "Analyser":
        tokenizer, stop, stemmer, *extras = text.split(",")
        return cls(tokenizer, stop, stemmer, "fold" in extras, "possessive" in extras)

    def definition(self) -> dict[str, Any]:
        filters = ["lowercase"]
        if self.possessive:  # before folding, which would not change the apostrophes that it looks for
            filters.append("possessive_english")
        if self.fold:
            filters.append("asciifolding")
        if self.stop != "all":
            filters.append(f"stop_{self.stop}")
        if self.stemmer != "none":
            filters.append(self.stemmer)
        return {"type": "custom", "tokenizer": self.tokenizer, "filter": filters}


SHIPPED = Analyser("pattern", "ours", "porter2")
GRID = (
    *(Analyser(*parts) for parts in itertools.product(TOKENIZERS, STOP_LISTS, STEMMERS)),
    *(
        Analyser(tokenizer, "ours", stemmer, fold, possessive)
        for tokenizer, stemmer in itertools.product(TOKENIZERS, STEMMERS[2:])
        for fold, possessive in ((False, False), (True, True))
    ),
)


@dataclass(frozen=True)
class Quality:
    """[questions] each."""

    recall: NDArray[np.float64]
    precision: NDArray[np.float64]

    def row(self, name: str, beside: "Quality") -> str:
        return (
            f"{name:42} {self.recall.mean():.4f}  p {paired_p(self.recall, beside.recall):.2f}   "
            f"{self.precision.mean():.4f}  p {paired_p(self.precision, beside.precision):.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--url", required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--analyser", type=Analyser.parse, action="append", help="only these, not the grid")
    parser.add_argument("--similarity", action="store_true", help="the grid of k1 and b for each of them")
    options = parser.parse_args()
    golden = read_golden(options.questions).responses
    analysers = options.analyser or GRID
    with (
        Elasticsearch(options.url, request_timeout=600) as client,
        index_documents(client, analysers, documents(options.files)),
    ):
        report_analysers(client, analysers, golden)
        if options.similarity:
            for analyser in analysers:
                report_similarity(client, analyser, golden)


def documents(files: Sequence[Path]) -> Iterator[Document]:
    for event in itertools.chain.from_iterable(map(MedlineFile, files)):
        if isinstance(event, Upsert):
            yield event.document


@contextmanager
def index_documents(
    client: Elasticsearch, analysers: Sequence[Analyser], collection: Iterable[Document]
) -> Iterator[None]:
    client.indices.create(index=INDEX, **body(analysers))
    try:
        actions = (
            {"_index": INDEX, "_id": d.pmid, "pmid": int(d.pmid), TEXT: [d.title, d.abstract]}
            for d in collection
        )
        for _ in streaming_bulk(client, actions, chunk_size=500):
            pass
        client.indices.refresh(index=INDEX)
        # One segment, so that deletions and segment borders do not affect scores.
        client.indices.forcemerge(index=INDEX, max_num_segments=1)
        yield
    finally:
        client.indices.delete(index=INDEX)


def body(analysers: Sequence[Analyser]) -> dict[str, Any]:
    filters: dict[str, Any] = {
        f"stop_{name}": {"type": "stop", "stopwords": words} for name, words in STOP_LISTS.items() if words
    }
    filters |= {name: {"type": "stemmer", "language": name} for name in (*STEMMERS[1:], "possessive_english")}
    text = {"type": "text", "index_options": "freqs", "similarity": "grid"}
    return {
        "settings": {
            "number_of_shards": 1,
            "number_of_replicas": 0,
            "refresh_interval": "-1",
            "similarity": {"grid": {"type": "BM25", "k1": 1.2, "b": 0.75}},
            "analysis": {
                "analyzer": {a.field: a.definition() for a in analysers},
                "tokenizer": {name: it for name, it in TOKENIZERS.items() if name != "standard"},
                "filter": filters,
            },
        },
        "mappings": {
            "dynamic": "strict",
            "_source": {"enabled": False},
            "properties": {
                "pmid": {"type": "long", "index": False},
                TEXT: {
                    "type": "text",
                    "index": False,
                    "norms": False,
                    "fields": {a.field: text | {"analyzer": a.field} for a in analysers},
                },
            },
        },
    }


def measure(client: Elasticsearch, analyser: Analyser, golden: Sequence[Response]) -> Quality:
    recalls, precisions = [], []
    for begin in range(0, len(golden), QUESTIONS_A_REQUEST):
        some = golden[begin : begin + QUESTIONS_A_REQUEST]
        searches: list[dict[str, Any]] = []
        for response in some:
            query = {"match": {f"{TEXT}.{analyser.field}": response.question.body}}
            sort = [{"_score": "desc"}, {"pmid": "asc"}]  # equal scores in a fixed order, too
            searches += [{}, {"query": query, "size": TOP, "sort": sort, "track_total_hits": False}]
        answers = client.msearch(index=INDEX, searches=searches)["responses"]
        for response, answer in zip(some, answers, strict=True):
            urls = [PUBMED_URL + hit["_id"] for hit in answer["hits"]["hits"]]
            recalls.append(document_measures(response.documents, urls, 8).recall)
            precisions.append(document_measures(response.documents, urls[:DEPTH], 8).average_precision)
    return Quality(np.array(recalls), np.array(precisions))


def report_analysers(
    client: Elasticsearch, analysers: Sequence[Analyser], golden: Sequence[Response]
) -> None:
    beside = measure(client, SHIPPED if SHIPPED in analysers else analysers[0], golden)
    print(f"{len(golden)} questions, k1 1.2, b .75\n{'':42} recall@{TOP}       MAP@10")
    for analyser in analysers:
        print(measure(client, analyser, golden).row(str(analyser), beside), flush=True)


def report_similarity(client: Elasticsearch, analyser: Analyser, golden: Sequence[Response]) -> None:
    grid = {}
    for k1, b in itertools.product(K1, B):
        with close_index(client):
            settings = {"similarity": {"grid": {"type": "BM25", "k1": k1, "b": b}}}
            client.indices.put_settings(index=INDEX, settings=settings)
        grid[k1, b] = measure(client, analyser, golden)
    best = max(grid.values(), key=lambda quality: (quality.recall.mean(), quality.precision.mean()))
    print(f"\n{analyser}\n{'':42} recall@{TOP}       MAP@10")
    for (k1, b), quality in grid.items():
        print(quality.row(f"k1 {k1} b {b}", best), flush=True)


@contextmanager
def close_index(client: Elasticsearch) -> Iterator[None]:
    client.indices.close(index=INDEX)
    yield
    client.indices.open(index=INDEX, wait_for_active_shards=1)
    client.cluster.health(index=INDEX, wait_for_status="green", timeout="60s")


if __name__ == "__main__":
    main()
