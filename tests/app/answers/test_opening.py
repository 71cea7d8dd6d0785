"""Rankers as the settings name them: loaded, checked and tried before the first question."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from bioqa.app import settings as settings_module
from bioqa.app.answers import threads
from bioqa.app.answers.opening import load_ranker, load_rankers, warm_up
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Candidate
from bioqa.models.answers.ranking import Ranking
from bioqa.models.bundled import DEFAULT, WEIGHTS, available
from bioqa.system.errors import BioqaError
from tests.app.rankers import LexicalRanker

pytestmark = pytest.mark.skipif(DEFAULT not in available(), reason="no trained weights are bundled yet")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled ranker again, under another name."""
    return Path(shutil.copytree(WEIGHTS / DEFAULT, tmp_path_factory.mktemp("rankers") / "other"))


def test_the_default_comes_first_and_white_space_does_not_matter(other: Path) -> None:
    loaded = load_rankers(Settings(rankers=f" {other} ,, "))
    assert [ranker.name for ranker in loaded] == [DEFAULT, "other"]
    assert loaded[0].hash == loaded[1].hash


@pytest.mark.parametrize("further", [DEFAULT, f"x/{DEFAULT}"])
def test_two_of_one_name_are_refused(further: str) -> None:
    with pytest.raises(BioqaError, match=f"two of .* are called {DEFAULT}"):
        load_rankers(Settings(rankers=further))


def test_a_further_ranker_that_is_not_there_is_named() -> None:
    with pytest.raises(BioqaError, match="no ranker 'nowhere'"):
        load_rankers(Settings(rankers="nowhere"))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_told_whatever_the_ranker() -> None:
    with pytest.raises(BioqaError, match="'cuda' was asked for"):
        load_ranker(Settings(device="cuda"))


class Noting(LexicalRanker):
    sentences = 0

    def rank(self, question: str, candidates: Sequence[Candidate]) -> Ranking:
        for candidate in candidates:
            texts = [candidate.document.sentence_text(s) for s in candidate.document.sentences]
            assert all(text.endswith(".") for text in texts)
            self.sentences += len(texts)
        return super().rank(question, candidates)


def test_warming_up_ranks_once() -> None:
    ranker = Noting()
    warm_up(ranker)
    assert ranker.sentences == 3


def test_the_baseline_is_a_ranker_like_any_other(tmp_path: Path) -> None:
    copied = Path(shutil.copytree(WEIGHTS / "bm25", tmp_path / "copied"))
    bundled, copy = load_rankers(Settings(ranker="bm25", rankers=str(copied)))
    assert (bundled.name, copy.name) == ("bm25", "copied")
    assert bundled.hash == copy.hash
    assert bundled.scale == copy.scale is not None


def test_the_baseline_is_loaded_without_torch() -> None:
    """So that it starts in a fraction of the time."""
    code = (
        "import sys\n"
        "from bioqa.app.answers.opening import load_ranker\n"
        "from bioqa.app.settings import Settings\n"
        "load_ranker(Settings(ranker='bm25'))\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_threads_are_one_unless_an_encoder_or_a_setting_wants_more(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    monkeypatch.setattr(threads, "_needed", 1)
    monkeypatch.setattr(threads, "_most", 1)
    monkeypatch.setattr(settings_module, "_cores", lambda: 6)
    monkeypatch.setattr(torch, "set_num_threads", found.append)
    load_ranker(Settings())
    load_rankers(Settings(torch_threads=4), processes=2)
    load_rankers(Settings(ranker="deep"), processes=2)
    # The cascade may still be in use.
    load_ranker(Settings())
    assert found == [1, 2, 3, 3]
