"""A real process, ended in mid-batch, loses nothing and goes on when it is started again."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from bioqa.app.answers.answering import Answerer
from bioqa.bioasq.domain import Question
from bioqa.bioasq.files import submission_dict
from tests.app.conftest import DRUGS
from tests.app.jobs.waiting import until

QUESTIONS = [
    {"id": f"q{n}", "type": "list", "body": f"Is {DRUGS[n % 6]} good in cohort {n}?"} for n in range(40)
]
ROOT = Path(__file__).resolve().parents[3]


@contextmanager
def service(index: Path, folder: Path) -> Iterator[tuple[subprocess.Popen[str], httpx2.Client]]:
    command = [
        sys.executable,
        "-m",
        "tests.app.jobs.restarted_service",
        str(index),
        str(folder),
        str(folder.parent / "ranked"),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            yield process, client
    finally:
        process.kill()
        process.communicate()


def status(client: httpx2.Client, location: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(location).json()
    return found


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_batch_outlives_its_process(
    how: signal.Signals, index_folder: Path, answerer: Answerer, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    with service(index_folder, folder) as (process, client):
        response = client.post("/v1/bioasq/batches", json={"questions": QUESTIONS})
        location = response.headers["location"]
        until(lambda: status(client, location)["answered"] >= 5, "five answers")
        before = status(client, location)["answered"]
        process.send_signal(how)
        # uvicorn ends as the signal would have ended it, once it has closed everything.
        assert process.wait(30) == -how
    with service(index_folder, folder) as (_, client):
        after = status(client, location)
        assert before <= after["answered"] < len(QUESTIONS)
        until(lambda: status(client, location)["state"] == "done", "the batch to be done")
        assert status(client, location)["restarts"] == []
        submission = client.get(f"{location}/submission").json()
    asked = [Question(q["id"], q["body"], q["type"]) for q in QUESTIONS]
    assert submission == submission_dict(answerer.answer(question).response() for question in asked)
    ranked = (tmp_path / "ranked").read_text().splitlines()
    assert set(ranked) == {q["body"] for q in QUESTIONS}
    assert len(ranked) <= len(QUESTIONS) + 2, "only what was being answered is answered again"
