"""A real process, ended in mid-batch, loses nothing and goes on when it is started again."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from bioqa.app.answers.answering import Answerer
from bioqa.app.jobs.database import NEW_S, TEMPORARY
from bioqa.bioasq.domain import Question
from bioqa.bioasq.files import submission_dict
from tests.app.conftest import DRUGS
from tests.app.jobs.waiting import until

QUESTIONS = [
    {"id": f"q{n}", "type": "list", "body": f"Is {DRUGS[n % 6]} good in cohort {n}?"} for n in range(40)
]
ROOT = Path(__file__).resolve().parents[3]


@contextmanager
def service(
    index: Path, folder: Path, kept: bool = True
) -> Iterator[tuple[subprocess.Popen[str], httpx2.Client]]:
    command = [
        sys.executable,
        "-m",
        "tests.app.jobs.restarted_service",
        str(index),
        str(folder) if kept else "",
        str(folder.parent / "ranked"),
    ]
    environment = os.environ | {"TMPDIR": str(folder.parent)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment)
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


def temporary_files(folder: Path) -> list[Path]:
    return [*folder.glob(f"{TEMPORARY}*/*")]


@pytest.mark.parametrize(
    "signals",
    [[signal.SIGTERM], [signal.SIGINT], [signal.SIGHUP], [signal.SIGTERM, signal.SIGTERM]],
    ids=lambda signals: "+".join(each.name for each in signals),
)
def test_without_a_folder_no_question_stays_on_the_disk(
    signals: list[signal.Signals], index_folder: Path, tmp_path: Path
) -> None:
    with service(index_folder, tmp_path / "data", kept=False) as (process, client):
        client.post("/v1/bioasq/batches", json={"questions": QUESTIONS})
        assert temporary_files(tmp_path)
        for each in signals:
            process.send_signal(each)
        process.wait(30)
    assert not temporary_files(tmp_path)


def test_what_a_killed_process_left_is_removed_by_the_next(index_folder: Path, tmp_path: Path) -> None:
    with service(index_folder, tmp_path / "data", kept=False) as (process, client):
        client.post("/v1/bioasq/batches", json={"questions": QUESTIONS})
        process.kill()
        process.wait(30)
    left = temporary_files(tmp_path)
    assert left
    then = time.time() - 2 * NEW_S
    os.utime(left[0].parent, (then, then))
    with service(index_folder, tmp_path / "data", kept=False) as (_, client):
        client.get("/healthz")
        assert not temporary_files(tmp_path)
