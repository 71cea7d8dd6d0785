"""The bundled ranker on the bundled sample, through the command and through the network."""

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.opening import open_answerer
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Question, Response
from bioqa.bioasq.files import read_golden, submission_dict
from bioqa.bioasq.measures import evaluate
from bioqa.bioasq.validation import validate
from bioqa.models.bundled import DEFAULT, available
from tests.app.conftest import SAMPLE

BIOQA = (sys.executable, "-c", "from bioqa.app.cli import main; main()")

pytestmark = pytest.mark.skipif(DEFAULT not in available(), reason="no trained weights are bundled yet")


@pytest.fixture(scope="module")
def default(sample_index: Path) -> Answerer:
    return open_answerer(Settings(index=str(sample_index)))


@pytest.fixture(scope="module")
def golden() -> tuple[Response, ...]:
    return read_golden(SAMPLE / "questions.json").responses


def without_timings(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name != "timings_ms"}


def test_the_samples_questions_are_answered_well_and_validly(
    default: Answerer, golden: tuple[Response, ...]
) -> None:
    questions = [gold.question for gold in golden]
    answers = [default.answer(question).response() for question in questions]
    assert validate(submission_dict(answers), questions) == []
    measures = evaluate(golden, answers, 9)
    assert measures.documents.map > 0.85
    assert measures.snippets.f1 > 0.3


def test_answers_do_not_depend_on_white_space_order_or_repetition(
    default: Answerer, golden: tuple[Response, ...]
) -> None:
    first = {gold.question.id: default.answer(gold.question) for gold in golden[:6]}
    for gold in reversed(golden[:6]):
        body = f"\u2003 {gold.question.body}\n"
        again = default.answer(Question("q", body))
        known = first[gold.question.id]
        assert again.documents == known.documents
        assert again.ranked_sentences == known.ranked_sentences


@pytest.mark.parametrize("body", ["?", "a", "\0", "PCSK9 " * 150, "\u2603 \U0001f9ec statins", "x" * 1000])
def test_any_question_gets_an_answer(default: Answerer, body: str) -> None:
    answer = default.answer(Question("q", body))
    assert validate(submission_dict([answer.response()])) == []


@contextmanager
def served(index: Path) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [*BIOQA, "serve", "--index", str(index), "--port", str(port)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            base = f"http://127.0.0.1:{port}"
            wait_for(f"{base}/readyz")
            yield base, process
        finally:
            process.kill()


def wait_for(url: str) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
    pytest.fail(f"{url} did not answer")


def test_serve_answers_as_ask_does(sample_index: Path, golden: tuple[Response, ...]) -> None:
    body = golden[0].question.body
    asked = [*BIOQA, "ask", body, "--index", str(sample_index), "--json"]
    printed = json.loads(subprocess.run(asked, check=True, capture_output=True, text=True).stdout)
    with served(sample_index) as (base, process):
        data = json.dumps({"body": body}).encode()
        request = urllib.request.Request(f"{base}/v1/search", data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as response:
            answer = json.load(response)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) in (0, -signal.SIGTERM)
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
    assert without_timings(answer) == without_timings(printed)
    assert answer["ranker"] == DEFAULT


FROZEN = [
    (
        [("90000002", 9.70031), ("90000004", 7.93416), ("90000001", 7.21925), ("90000003", 7.07221)],
        [("90000002", "abstract", 386, 4.0779e-4), ("90000004", "title", 0, 7.5773e-5)],
    ),
    (
        [("90000006", 9.34378), ("90000007", 7.24175), ("90000009", 4.00719), ("90000010", 3.30461)],
        [("90000006", "abstract", 131, 7.1205e-4), ("90000007", "abstract", 12, 2.3733e-4)],
    ),
    (
        [("90000012", 10.12425), ("90000011", 6.7788), ("90000015", 3.97617), ("90000013", -1.14198)],
        [("90000012", "abstract", 166, 3.623e-4)],
    ),
]
"""The bundled ranker's own scores of the sample's first three questions when it was bundled, or when the
sample was changed: BM25's statistics are of the whole sample."""


def test_the_bundled_rankers_scores_do_not_drift(default: Answerer, golden: tuple[Response, ...]) -> None:
    for gold, (documents, sentences) in zip(golden, FROZEN, strict=False):
        answer = default.answer(gold.question)
        found = [(d.document.pmid, d.raw_score) for d in answer.documents[: len(documents)]]
        assert [pmid for pmid, _ in found] == [pmid for pmid, _ in documents]
        assert [score for _, score in found] == pytest.approx([s for _, s in documents], abs=2e-4)
        chosen = [
            (s.document.pmid, s.sentence.section, s.sentence.begin, s.own_score)
            for s in answer.ranked_sentences[: len(sentences)]
        ]
        assert [c[:3] for c in chosen] == [s[:3] for s in sentences]
        assert [c[3] for c in chosen] == pytest.approx([s[3] for s in sentences], rel=2e-3)
        assert answer.calibrated
        scores = [d.score for d in answer.documents] + [s.score for s in answer.ranked_sentences]
        assert all(0 < score < 1 for score in scores)
