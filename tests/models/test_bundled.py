"""The bundled rankers: what they score must not change unless their weights do."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from bioqa import app
from bioqa.bioasq.domain import Candidate
from bioqa.bioasq.files import read_golden
from bioqa.indexer.loading.run import load
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.models.answers import baseline
from bioqa.models.bundled import DEFAULT, WEIGHTS, available
from bioqa.models.cascade import files as cascade_files
from bioqa.models.checkpoint import CheckpointError, load_vocabulary
from bioqa.models.reranker import Reranker
from bioqa.models.text import vocabulary
from tests.models.toys import document

SAMPLE = Path(app.__file__).parent / "sample"
FROZEN = Path(__file__).with_name("bundled-scores.json")
"""Of each ranker and question the best documents with their scores and their sentences'."""
QUESTIONS, BEST = 5, 5


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Candidate]]:
    folder = tmp_path_factory.mktemp("index") / "sample"
    load([SAMPLE / "medline.xml"], folder, workers=1)
    bodies = [r.question.body for r in read_golden(SAMPLE / "questions.json").responses[:QUESTIONS]]
    with TantivyIndex.open(folder) as index:
        return {body: index.search(body) for body in bodies}


def scores(name: str, asked: dict[str, list[Candidate]]) -> dict[str, list[list[object]]]:
    ranker = Reranker.load(name)
    return {
        body: [
            [d.document.pmid, d.score, list(d.sentence_scores)]
            for d in ranker.rank(body, candidates).documents[:BEST]
        ]
        for body, candidates in asked.items()
    }


def test_they_are_the_default_its_alternative_and_the_baseline() -> None:
    assert available() == ["bm25", "deep", "jpdrmm", "soft"]
    assert DEFAULT in available()


def test_their_scores_are_probabilities() -> None:
    """Of the ranges that the curves give: a good document's chance is good, a bad one's is small."""
    for ranker in (Reranker.load("jpdrmm"), Reranker.load("soft"), baseline.load(WEIGHTS / "bm25")):
        assert ranker.scale is not None
        assert ranker.config["training"]["scale"] == ranker.config["training"]["dev"]
        for curve in (ranker.scale.documents, ranker.scale.sentences):
            assert float(curve(np.array(curve.scores[0] - 1.0))) < 0.15
            assert float(curve(np.array(curve.scores[-1]))) > 0.5


@pytest.mark.parametrize("name", ["jpdrmm", "soft"])
def test_their_scores_are_frozen(name: str, asked: dict[str, list[Candidate]]) -> None:
    """To the last bit on one machine; between processors sums of floats may differ in theirs."""
    frozen = json.loads(FROZEN.read_text())[name]
    made = scores(name, asked)
    assert made.keys() == frozen.keys()
    for body, documents in made.items():
        for (pmid, score, sentences), (of_pmid, of_score, of_sentences) in zip(
            documents, frozen[body], strict=True
        ):
            assert pmid == of_pmid
            assert score == pytest.approx(of_score, abs=1e-4)
            assert sentences == pytest.approx(of_sentences, abs=1e-4)


def test_one_vocabulary_is_stored_for_all() -> None:
    (shared,) = (path for path in WEIGHTS.iterdir() if path.name.startswith("vocabulary-"))
    assert sorted(path.name for path in shared.iterdir()) == sorted(vocabulary.FILES)
    for name in ("jpdrmm", "soft"):
        assert not {path.name for path in (WEIGHTS / name).iterdir()} & {*vocabulary.FILES}
    assert load_vocabulary(WEIGHTS / "jpdrmm").words == load_vocabulary(WEIGHTS / "soft").words
    assert load_vocabulary(WEIGHTS / "jpdrmm").pieces is None
    assert load_vocabulary(WEIGHTS / "soft").pieces is not None


def test_the_deep_one_ranks_and_is_small(asked: dict[str, list[Candidate]]) -> None:
    """Its scores are those of ``soft``'s twelve best documents anew; of one processor and another they differ
    in the second decimal, so they are not frozen.
    """
    folder = WEIGHTS / "deep"
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 60e6
    deep, soft = cascade_files.load(folder, budget_ms=250), Reranker.load("soft")
    assert deep.first.hash == soft.hash
    (body, candidates), *_ = asked.items()
    ranked, cheap = deep.rank(body, candidates).documents, soft.rank(body, candidates).documents
    assert {d.document.pmid for d in ranked} == {d.document.pmid for d in cheap}
    assert [d.score for d in ranked] == sorted((d.score for d in ranked), reverse=True)
    again = deep.rank(body, candidates[::-1]).documents
    assert [d.document.pmid for d in again[:BEST]] == [d.document.pmid for d in ranked[:BEST]]
    # On some processors the last digit of a sum, and of a row of a matrix product, depends on the order.
    assert [d.score for d in again[:BEST]] == pytest.approx([d.score for d in ranked[:BEST]], rel=1e-6)


def test_the_deep_one_knows_an_answer_from_a_topic() -> None:
    deep = cascade_files.load(WEIGHTS / "deep", budget_ms=2000)
    answer = "Alirocumab and evolocumab are monoclonal antibodies that inhibit PCSK9."
    topic = "PCSK9 was first described in a family from Nantes."
    documents = [
        document(1, answer, topic),
        document(2, topic, "The family was large."),
        document(3, "Cats.", "Mew."),
    ]
    ranked = deep.rank("Which drugs inhibit PCSK9?", deep.candidates("Which drugs inhibit PCSK9?", documents))
    best, *_ = ranked.documents
    assert best.document == documents[0]
    assert max(best.sentence_scores) == best.sentence_scores[0]


def test_a_copy_elsewhere_finds_the_vocabulary_in_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = Path(shutil.copytree(WEIGHTS / "jpdrmm", tmp_path / "copied"))
    assert Reranker.load(copied).hash == Reranker.load("jpdrmm").hash
    monkeypatch.setattr("bioqa.models.bundled.WEIGHTS", tmp_path / "nowhere")
    with pytest.raises(CheckpointError, match=r"copied: its vocabulary vocabulary-\w+ is not beside it"):
        Reranker.load(copied)
