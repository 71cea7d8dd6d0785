"""bench.peers: the plain loop computes the same measures, pairs are fair, and the page shows the file."""

import argparse
import json
from pathlib import Path

import pytest

from bench import peers
from bioqa.bioasq.measures import evaluate
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.search.tantivy.index import TantivyIndex
from tests.indexer.documents import document
from tests.models.toys import GOLDEN

PAGE = Path(__file__).parents[2] / "docs" / "speed.md"


def test_the_plain_loop_computes_the_official_measures() -> None:
    perfect = peers.plain_measures(GOLDEN, GOLDEN)
    expected = evaluate(GOLDEN, GOLDEN, peers.EDITION)
    assert perfect == pytest.approx((expected.documents.map, expected.snippets.f1))


def test_who_begins_alternates_and_what_warms_up_is_not_counted() -> None:
    asked: list[str] = []
    made = peers.in_turn(
        "work",
        "peer",
        lambda item: asked.append(f"ours {item}"),
        lambda item: asked.append(f"theirs {item}"),
        [1, 2, 3, 4],
        warm_up=1,
    )
    expected = [("theirs", "ours"), ("ours", "theirs")] * 2
    assert asked == [f"{who} {item}" for item, both in enumerate(expected, 1) for who in both]
    assert (made.what, made.peer, made.pairs) == ("work", "peer", 3)
    assert 0 < made.low <= made.times <= made.high


def test_ratios_are_of_the_peer_over_ours() -> None:
    made = peers.comparison("work", "peer", [1.0, 2.0, 3.0, 4.0, 50.0])
    assert (made.times, made.pairs) == (3.0, 5)
    assert peers.comparison("work", "peer", [2.0]).high == 2.0


def test_what_is_not_there_is_said_to_be_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "is_installed", lambda package: False)
    options = argparse.Namespace(files=[], timed=2, url=None, encoder=None)
    with TantivyIndex.create(tmp_path / "index") as index:
        index.apply([Upsert(document(1, "Zelosis."))])
        index.commit()
        made, left_out = peers.compare(options, index, GOLDEN)
    assert [each.what for each in made] == ["evaluate a submission"]
    assert [why.split()[0] for why in left_out] == ["pubmed-parser", "bm25s", "no", "no"]
    report = {"comparisons": [{"what": "a", "peer": "b", "times": 2, "low": 1, "high": 3, "pairs": 9}]}
    lines = peers.table(report | {"left_out": left_out})
    assert lines[2] == "| a | b | 2.00 | 1.00 to 3.00 | 9 |"
    assert lines[-1] == "\nLeft out: no sentence-transformers, or no --encoder: re-ranking, and end to end."


def test_the_page_shows_the_file() -> None:
    report = json.loads(peers.RESULTS.read_text(encoding="utf-8"))
    assert "\n".join(peers.table(report)) in PAGE.read_text(encoding="utf-8")
