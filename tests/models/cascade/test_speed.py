import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from bioqa.models.answers.selection import Calibration
from bioqa.models.cascade.encoder import CrossEncoder
from bioqa.models.cascade.ranker import Cascade, CascadeError, Combination, Speed, TunedCascade
from bioqa.models.cascade.speed import Asked, best_speed, keep, measure_speed, read_speed
from bioqa.models.checkpoint import Checkpoint
from bioqa.models.reranker import Reranker
from tests.models.encoders.tiny import tiny_encoder
from tests.models.toys import ToyIndex

BODY = "Which drug cures zelosis?"
SPEED = Speed(3.5, 7.25, 2, True)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "bioqa" / "speed.json"


@pytest.fixture
def load(trained: Checkpoint, tmp_path: Path) -> Callable[[], Cascade]:
    def make() -> Cascade:
        reader = CrossEncoder(tiny_encoder(tmp_path / "tiny"), 10)
        tuned = TunedCascade(Combination(), Speed(0.0, 1.0, 1), Calibration())
        return Cascade(Reranker(trained, name="toy"), reader, tuned, name="both")

    return make


def test_speed_is_measured_on_what_is_read(load: Callable[[], Cascade], index: ToyIndex) -> None:
    cascade = load()
    speed = measure_speed(cascade.first, cascade.reader, [(BODY, index.search(BODY))])
    assert speed.threads == torch.get_num_threads()
    assert speed.fixed_ms > 0
    assert speed.pieces_per_ms > 0
    assert not speed.half_precision


def test_without_a_question_it_is_a_placeholder(load: Callable[[], Cascade]) -> None:
    cascade = load()
    nothings: list[list[Asked]] = [[], [(BODY, [])]]
    for nothing in nothings:
        assert measure_speed(cascade.first, cascade.reader, nothing, True) == Speed(
            0.0, 1.0, torch.get_num_threads(), True
        )


def test_the_faster_precision_wins(
    load: Callable[[], Cascade], index: ToyIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[bool, torch.dtype]] = []

    def measured(first: Reranker, reader: CrossEncoder, asked: object, half: bool) -> Speed:
        made.append((half, next(reader.encoder.transformer.parameters()).dtype))
        return Speed(1.0, 2.0 if half == faster else 1.0, 1, half)

    monkeypatch.setattr("bioqa.models.cascade.speed.measure_speed", measured)
    for faster in (True, False):
        assert best_speed(load, [(BODY, index.search(BODY))]).half_precision is faster
    assert made[:2] == [(False, torch.float32), (True, torch.bfloat16)]


def test_what_is_kept_belongs_to_a_cascade_and_its_threads(cache: Path) -> None:
    assert read_speed("a" * 64, 2) is None
    assert keep("a" * 64, SPEED) == cache
    keep("b" * 64, Speed(1.0, 1.0, 1))
    assert read_speed("a" * 64, 2) == SPEED
    assert read_speed("a" * 64, 1) is None
    assert read_speed("c" * 64, 2) is None
    keep("a" * 64, Speed(9.0, 1.0, 2))
    assert read_speed("a" * 64, 2) == Speed(9.0, 1.0, 2)


@pytest.mark.parametrize("content", ["{", "[]", "\x00"])
def test_a_damaged_file_is_named(cache: Path, content: str) -> None:
    cache.parent.mkdir(parents=True)
    cache.write_text(content)
    for use in (lambda: read_speed("a", 1), lambda: keep("a", SPEED)):
        with pytest.raises(CascadeError, match=r"speed\.json: .*; delete it"):
            use()


@pytest.mark.parametrize("entry", [{"fixed_ms": 1}, {"fixed_ms": -1, "pieces_per_ms": 1, "threads": 1}, 3])
def test_a_damaged_entry_is_named(cache: Path, entry: object) -> None:
    keep("a", SPEED)
    (key,) = json.loads(cache.read_text())
    cache.write_text(json.dumps({key: entry}))
    with pytest.raises(CascadeError, match=r"speed\.json: .*; delete it"):
        read_speed("a", 2)


def test_without_a_home_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("bioqa.models.cascade.speed.home", lambda: None)
    assert read_speed("a", 1) is None
    with pytest.raises(CascadeError, match="no home folder"):
        keep("a", SPEED)


def test_the_home_folder_has_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("bioqa.models.cascade.speed.home", lambda: tmp_path)
    assert keep("a", SPEED) == tmp_path / ".cache" / "bioqa" / "speed.json"
    assert read_speed("a", 2) == SPEED
