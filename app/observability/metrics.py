"""Prometheus metrics, in a registry for each application.

Durations are in seconds. Values that the service keeps itself (queue, counts, index) are read when Prometheus
asks, not copied at every change.
"""

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

from bioqa.app.answers.answer import Answer
from bioqa.app.answers.answering import IndexUnavailable
from bioqa.app.answers.refusals import BatchesUnavailable
from bioqa.app.answers.service import Service
from bioqa.app.jobs.batches import BatchJobs
from bioqa.app.observability.processes import usage
from bioqa.app.version import version

MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
CANDIDATES = (0, 1, 10, 20, 50, 100, 200, 500, 1000)
BATCHES = (1, 2, 4, 8, 16, 32)
STAGES = ("wait", "retrieve", "rerank", "select")
OUTCOMES = ("refused", "timed_out", "dropped", "failed")


class Metrics:
    """The metrics of one application."""

    def __init__(self, service: Service, batches: BatchJobs) -> None:
        self.registry = CollectorRegistry()
        self._requests = Histogram(
            "bioqa_request_duration_seconds",
            "Time from a request's arrival to its response's last byte",
            ("method", "route", "status"),
            buckets=SECONDS,
            registry=self.registry,
        )
        self._stages = Histogram(
            "bioqa_stage_duration_seconds",
            "Time of each stage of an answer",
            ("stage",),
            buckets=SECONDS,
            registry=self.registry,
        )
        for stage in STAGES:  # exposed from the start, as zero
            self._stages.labels(stage)
        self._candidates = Histogram(
            "bioqa_candidates",
            "Documents that BM25 found for a question",
            buckets=CANDIDATES,
            registry=self.registry,
        )
        self._truncated = Counter(
            "bioqa_truncated_sentences",
            "Sentences that the ranker truncated",
            registry=self.registry,
        )
        ProcessCollector(registry=self.registry)
        self.registry.register(ServiceCollector(service, batches))

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(method, route, str(status)).observe(seconds)

    def answer(self, answer: Answer) -> None:
        for stage in STAGES:
            self._stages.labels(stage).observe(getattr(answer.timings_ms, stage) / 1000)
        self._candidates.observe(answer.candidates)
        self._truncated.inc(answer.truncated_sentences)

    def text(self) -> bytes:
        """Render all metrics in Prometheus' text format."""
        return generate_latest(self.registry)


class ServiceCollector(Collector):
    def __init__(self, service: Service, batches: BatchJobs) -> None:
        self._service = service
        self._batches = batches

    def describe(self) -> Iterable[Metric]:
        return []  # otherwise registering would collect, and so ask the index

    def collect(self) -> Iterable[Metric]:
        yield from self._build_info()
        yield from self._line()
        yield from self._counts()
        yield from self._index()
        yield from self._batches_kept()
        yield from _processes()

    def _build_info(self) -> Iterable[Metric]:
        yield InfoMetricFamily("bioqa", "Version of the service", {"version": version()})
        rankers = InfoMetricFamily("bioqa_ranker", "The rankers loaded", labels=["ranker"])
        for name, ranker in self._service.rankers.items():
            default = str(ranker is self._service.ranker).lower()
            rankers.add_metric([name], {"hash": ranker.hash, "default": default})
        yield rankers

    def _line(self) -> Iterable[Metric]:
        queue = self._service.queue
        for name, value, words in (
            ("waiting", queue.waiting, "Questions waiting to be ranked"),
            ("running", queue.running, "Questions being ranked"),
            ("capacity", queue.capacity, "Questions that may wait, for each priority"),
        ):
            yield GaugeMetricFamily(f"bioqa_queue_{name}", words, value)
        engine = self._service.engine
        yield GaugeMetricFamily("bioqa_ranking_processes", "Ranking processes that run", engine.running)
        yield CounterMetricFamily(
            "bioqa_ranking_processes_replaced", "Ranking processes that died or hung", engine.replaced
        )
        failures = CounterMetricFamily(
            "bioqa_background_failures", "How often a background task failed", labels=["task"]
        )
        for task in self._service.watched:
            failures.add_metric([task.name], task.failures)
        yield failures
        yield _histogram("bioqa_ranking_batch_questions", "Questions ranked together", queue.batch_sizes)

    def _counts(self) -> Iterable[Metric]:
        counts = self._service.counts
        yield CounterMetricFamily("bioqa_answers", "Questions answered", counts.answers)
        yield CounterMetricFamily(
            "bioqa_degraded_answers", "Answers by BM25 because the ranker failed", counts.degraded
        )
        unanswered = CounterMetricFamily(
            "bioqa_unanswered_questions", "Questions without an answer, by reason", labels=["reason"]
        )
        for reason in OUTCOMES:
            unanswered.add_metric([reason], getattr(counts, reason))
        yield unanswered

    def _index(self) -> Iterable[Metric]:
        ready = not self._service.reasons_not_ready()
        yield GaugeMetricFamily("bioqa_ready", "1 if questions can be answered, else 0", float(ready))
        try:
            stats = self._service.stats()
        except IndexUnavailable:
            return
        documents = GaugeMetricFamily("bioqa_index_documents", "Documents in the index", labels=["index"])
        documents.add_metric([stats.name], stats.documents)
        yield documents

    def _batches_kept(self) -> Iterable[Metric]:
        try:
            tally = self._batches.tally()
        except BatchesUnavailable:
            return
        states = GaugeMetricFamily("bioqa_batches", "Stored batches", labels=["state"])
        for state, count in tally.batches.items():
            states.add_metric([state], count)
        yield states
        waiting = tally.waiting_questions
        yield GaugeMetricFamily(
            "bioqa_batch_questions_waiting", "Questions of batches waiting to be answered", waiting
        )


def _processes() -> Iterable[Metric]:
    if (used := usage()) is None:
        return
    yield GaugeMetricFamily("bioqa_processes", "Processes of the service", used.processes)
    yield GaugeMetricFamily("bioqa_memory_bytes", "Memory of all processes of the service", used.memory_bytes)
    yield CounterMetricFamily(
        "bioqa_processor_seconds", "Processor time of all processes of the service", used.processor_s
    )


def _histogram(name: str, words: str, counted: Mapping[int, int]) -> HistogramMetricFamily:
    """Build a histogram from the number of occurrences of each value."""
    sizes = dict(counted)  # a copy, as the service's own keeps changing
    buckets = [(f"{float(most)}", sum(n for size, n in sizes.items() if size <= most)) for most in BATCHES]
    buckets.append(("+Inf", sum(sizes.values())))
    return HistogramMetricFamily(name, words, buckets, sum(size * n for size, n in sizes.items()))
