"""A service as a process of its own, to be killed: ``python -m … INDEX DATA RANKED``.

DATA may be empty: then batches are in a temporary file. Prints its port; writes each question that it ranks
into the file RANKED.
"""

import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import uvicorn

from bioqa.app.answers.answering import Answerer
from bioqa.app.http.server import Server
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Candidate
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.models.answers.ranking import Ranking
from tests.app.engines import local
from tests.app.rankers import LexicalRanker


class SlowRanker(LexicalRanker):
    def __init__(self, ranked: Path) -> None:
        self._notes = ranked

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        time.sleep(0.02)
        with self._notes.open("a") as file:
            file.write(f"{question}\n")
        return super().rank(question, candidates)


def main(index: str, data: str, ranked: str) -> None:
    answerer = Answerer(TantivyIndex.open(Path(index)), SlowRanker(Path(ranked)))
    app = create_app(Settings(data_dir=Path(data) if data else None), local(answerer))
    listening = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    config = uvicorn.Config(app, log_level="warning")
    Server(config, app.state.service, lambda: app.state.batches.close()).run(sockets=[listening])


if __name__ == "__main__":
    main(*sys.argv[1:])
