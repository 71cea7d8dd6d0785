"""First-stage retrieval: milliseconds a question, and how well the analysers compare.

    python -m bench.retrieval --index DIR --questions GOLDEN [--analysers]

Measures are over the questions of a BioASQ golden file: recall among the 100 best documents, and edition 8's
MAP over the 10 best, of BM25 with k1 1.2 and b .75.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import Any

import tantivy

from bioqa.bioasq.domain import DEPTH, PUBMED_URL, Document, Response
from bioqa.bioasq.files import read_golden
from bioqa.bioasq.measures import document_measures
from bioqa.indexer.search.filtering.conditions import HasWords
from bioqa.indexer.search.filtering.filters import NO_FILTERS, Filters
from bioqa.indexer.search.stopwords import STOP_WORDS
from bioqa.indexer.search.tantivy.index import TantivyIndex

TOP = 100
MANY = Filters(
    published_after=date(1990, 1, 1),
    published_before=date(2030, 1, 1),
    undated=True,
    types=("Journal Article", "Review"),
    languages=("eng", "fre"),
    headings=("Humans",),
    journals=("N Engl J Med", "Lancet"),
    has_abstract=True,
    exclude_retracted=True,
    restriction=HasWords("text", "patients"),
)

SHORT_STOP_LIST = "tantivy's 33 stop words"

Search = Callable[[str], list[str]]
"""A question's documents as URLs, best first."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--analysers", action="store_true", help="compare analysers too (a minute)")
    options = parser.parse_args()
    golden = read_golden(options.questions).responses
    with TantivyIndex.open(options.index) as index:
        report_speed(index, [response.question.body for response in golden])
        urls = [[c.document.url for c in index.search(r.question.body, TOP)] for r in golden]
        print("\n" + quality("as shipped, the words alone", golden, iter(urls)))
        readings = (index.read(r.question.body).wording for r in golden)
        urls = [[c.document.url for c in index.search(wording, TOP)] for wording in readings]
        print(quality("as shipped", golden, iter(urls)))
        if options.analysers:
            documents = list(index.documents())
            for variant in VARIANTS:
                search = variant.index(documents)
                print(quality(variant.name, golden, (search(r.question.body) for r in golden)), flush=True)


def report_speed(index: TantivyIndex, questions: Sequence[str]) -> None:
    stats = index.stats()
    print(
        f"{stats.documents} documents, {stats.size_bytes / 1e6:.0f} MB, {len(questions)} questions, top {TOP}"
    )
    cases = (
        ("find and decode 100 documents", TOP, NO_FILTERS),
        ("the same, with a date limit", TOP, Filters(published_before=date(2030, 1, 1))),
        ("the same, with an abstract", TOP, Filters(has_abstract=True)),
        ("the same, with eight filters", TOP, MANY),
        ("find and decode 1000 documents", 1000, NO_FILTERS),
        ("find and decode 1 document", 1, NO_FILTERS),
    )
    for name, size, filters in cases:
        index.search(questions[0], size, filters)
        times = []
        for question in questions:
            begun = time.perf_counter()
            index.search(question, size, filters)
            times.append(1000 * (time.perf_counter() - begun))
        print(f"{name:32} p50 {median(times):6.2f} ms   p95 {quantiles(times, n=20)[-1]:6.2f} ms")


def quality(name: str, golden: Sequence[Response], runs: Iterator[list[str]]) -> str:
    recalls, precisions = [], []
    for response, urls in zip(golden, runs, strict=True):
        recalls.append(document_measures(response.documents, urls, 8).recall)
        precisions.append(document_measures(response.documents, urls[:DEPTH], 8).average_precision)
    return f"{name:44} recall@{TOP} {fmean(recalls):.4f}   MAP {fmean(precisions):.4f}"


@dataclass(frozen=True)
class Variant:
    name: str
    tokenizer: Any
    filters: tuple[Any, ...]
    fields: tuple[str, ...] = ("text",)

    def index(self, documents: Sequence[Document]) -> Search:
        """Index in memory with this analyser, and give its search."""
        builder = tantivy.SchemaBuilder().add_text_field("pmid", stored=True, tokenizer_name="raw")
        for field in self.fields:
            builder.add_text_field(field, tokenizer_name="variant", index_option="freq")
        schema = builder.build()
        analyser = tantivy.TextAnalyzerBuilder(self.tokenizer)
        for each in self.filters:
            analyser = analyser.filter(each)
        analyse = analyser.build()
        index = tantivy.Index(schema)
        index.register_tokenizer("variant", analyse)
        writer = index.writer(256_000_000, 1)
        for document in documents:
            stored = tantivy.Document(pmid=document.pmid)
            for field, text in zip(
                (self.fields[0], self.fields[-1]), (document.title, document.abstract), strict=True
            ):
                stored.add_text(field, text)
            writer.add_document(stored)
        writer.commit()
        index.reload()
        searcher = index.searcher()

        def search(question: str) -> list[str]:
            words = Counter(analyse.analyze(question))
            terms = [
                tantivy.Query.boost_query(tantivy.Query.term_query(schema, field, word, "freq"), float(times))
                for word, times in words.items()
                for field in self.fields
            ]
            query = tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])
            hits = searcher.search(query, TOP, count=False).hits
            return [PUBMED_URL + str(searcher.doc(address).get_first("pmid")) for _, address in hits]

        return search


_SIMPLE = tantivy.Tokenizer.simple()
_HYPHENS_KEPT = tantivy.Tokenizer.regex(r"[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*")
_LOWER, _FOLD = tantivy.Filter.lowercase(), tantivy.Filter.ascii_fold()
_SHORT, _LONG = tantivy.Filter.stopword("english"), tantivy.Filter.custom_stopword(list(STOP_WORDS))
_STEM = tantivy.Filter.stemmer("english")

VARIANTS = (
    Variant("words as they are, lower-cased", _SIMPLE, (_LOWER,)),
    Variant(SHORT_STOP_LIST, _SIMPLE, (_LOWER, _SHORT)),
    Variant("stems", _SIMPLE, (_LOWER, _STEM)),
    Variant(f"{SHORT_STOP_LIST}, stems", _SIMPLE, (_LOWER, _SHORT, _STEM)),
    Variant("our stop words", _SIMPLE, (_LOWER, _LONG)),
    Variant("our stop words, stems", _SIMPLE, (_LOWER, _LONG, _STEM)),
    Variant("our stop words, stems, accents folded", _SIMPLE, (_LOWER, _FOLD, _LONG, _STEM)),
    Variant("the same, hyphens kept", _HYPHENS_KEPT, (_LOWER, _FOLD, _LONG, _STEM)),
    Variant(
        "the same, title and abstract apart", _SIMPLE, (_LOWER, _FOLD, _LONG, _STEM), ("title", "abstract")
    ),
)

if __name__ == "__main__":
    main()
