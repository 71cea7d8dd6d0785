"""A small collection, and a ranker without weights that keeps the real one's promises."""

import logging
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from bioqa import app
from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.engine import Engine
from bioqa.app.cli import main
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Document, Part, Sentence
from bioqa.indexer.loading.run import load
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.search.tantivy.index import TantivyIndex
from tests.app.engines import Kept, no_logs, start
from tests.app.rankers import LexicalRanker
from tests.app.withdrawn import marked

# For applications of a session's fixtures; each test has the same from the fixture below.
os.environ["BIOQA_RANKING_PROCESSES"] = "0"
os.environ["BIOQA_ALLOWED_HOSTS"] = "testserver,bioqa.test"  # as tests call it


def document(number: int, title: str, abstract: str, published: date | None = None) -> Document:
    """Sentences end at ". " or at the end of the text."""
    sentences = [Sentence("title", 0, len(title))] if title else []
    sentences += [Sentence("abstract", m.start(), m.end()) for m in re.finditer(r"\S.*?\.(?=\s|$)", abstract)]
    parts = (Part("", 0, len(abstract)),) if abstract else ()
    return Document(str(90_000_000 + number), 1, title, abstract, published, tuple(sentences), parts)


DRUGS = ("statin", "metformin", "aspirin", "warfarin", "insulin", "heparin")


def documents() -> list[Document]:
    """40 documents of six drugs; published in years from 1990 on, every seventh without a date."""
    made = []
    for n in range(40):
        drug = DRUGS[n % len(DRUGS)]
        title = f"Effects of {drug} in cohort {n} <b>& beyond</b>."
        abstract = (
            f"We gave {drug} to {n + 20} adults with 5\u2009mg doses. "
            f"The {drug} group improved more than placebo. No harm \U0001f9ec of {drug} was seen. "
            "The cause of the improvement remains unknown."
        )
        made.append(document(n, title, abstract, None if n % 7 == 0 else date(1990 + n % 30, 1 + n % 12, 1)))
    return [*made, document(40, "Only a title about heparin.", "")]


@pytest.fixture(scope="session")
def index_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("indices") / "sample"
    with TantivyIndex.create(folder) as index:
        index.apply(Upsert(each) for each in documents())
        index.commit()
    return folder


@pytest.fixture(scope="session")
def withdrawing_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same collection, with notices on three articles on metformin."""
    folder = tmp_path_factory.mktemp("indices") / "withdrawing"
    with TantivyIndex.create(folder) as index:
        index.apply(Upsert(marked(each)) for each in documents())
        index.commit()
    return folder


@pytest.fixture(scope="session")
def withdrawing(withdrawing_folder: Path) -> Answerer:
    return Answerer(TantivyIndex.open(withdrawing_folder), LexicalRanker())


SAMPLE = Path(app.__file__).parent / "sample"


@pytest.fixture(scope="session")
def sample_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled sample, indexed."""
    folder = tmp_path_factory.mktemp("indices") / "bundled"
    load([SAMPLE / "medline.xml"], folder, workers=1)
    return folder


@pytest.fixture(scope="session")
def answerer(index_folder: Path) -> Answerer:
    return Answerer(TantivyIndex.open(index_folder), LexicalRanker())


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"BIOQA_{name.upper()}", raising=False)
    # Processes take seconds to start: those tests that are about them ask for them.
    monkeypatch.setenv("BIOQA_RANKING_PROCESSES", "0")
    monkeypatch.setenv("BIOQA_ALLOWED_HOSTS", "testserver,bioqa.test")


@pytest.fixture(scope="session")
def engine(index_folder: Path) -> Iterator[Engine]:
    """Questions are answered as they are where the service runs: in a process, which all tests share."""
    kept = Kept(Settings(index=str(index_folder), ranking_processes=1), no_logs, start)
    yield kept
    kept.end()


@pytest.fixture(scope="session")
def application(engine: Engine) -> FastAPI:
    return create_app(Settings(max_question_characters=300, max_batch_questions=5), engine)


@pytest.fixture(scope="session")
def client(application: FastAPI) -> Iterator[TestClient]:
    with TestClient(application, raise_server_exceptions=False) as client:
        yield client


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """``bioqa`` with these arguments, in a folder of its own."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    # What `bioqa serve` does to the process's log ends with the test.
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", list(root.handlers))
    monkeypatch.setattr(root, "level", root.level)

    def run(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["bioqa", *map(str, arguments)])
        code: Any = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err
        return Result(code, shown.out, shown.err)

    return run
