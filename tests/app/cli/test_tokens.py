"""``bioqa tokens``, and whatever answers reads what it stores."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

import bioqa
from bioqa.app.main import create_app
from bioqa.app.settings import Settings
from bioqa.bioasq.domain import Document
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.models.bundled import DEFAULT, available
from bioqa.models.text import documents
from bioqa.models.text.tokens import TokenisedDocument, tokenise_documents
from tests.app.conftest import SAMPLE, Run

pytestmark = pytest.mark.skipif(DEFAULT not in available(), reason="no trained weights are bundled yet")

QUESTION = "Which genes influence the dose of warfarin?"


@pytest.fixture(scope="module")
def plain(sample_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled sample without stored tokens."""
    return Path(shutil.copytree(sample_index, tmp_path_factory.mktemp("tokens") / "sample"))


@pytest.fixture
def index(plain: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(plain, tmp_path / "sample"))


@pytest.fixture
def tokenised(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """PMIDs of the documents whose text is tokenised."""
    found: list[str] = []

    def noting(sources: Sequence[Document], *more: object) -> list[TokenisedDocument]:
        found.extend(source.pmid for source in sources)
        return tokenise_documents(sources, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(documents, "tokenise_documents", noting)
    return found


def test_it_stores_all_citations_and_then_only_new_ones(command: Run, index: Path) -> None:
    first = command("tokens", "--index", index)
    assert first.code == 0
    (path,) = index.glob("tokens-*.bin")
    told = f"{path}: citations 168, of these new or revised 168; {path.stat().st_size / 1e6:.1f} MB"
    assert told in first.err
    again = command("tokens", "--index", index)
    assert "citations 168, of these new or revised 0" in again.err


@pytest.mark.parametrize("ranker", ["soft", "jpdrmm", "bm25"])
def test_answers_are_the_same_and_texts_are_not_tokenised(
    command: Run, index: Path, plain: Path, tokenised: list[str], ranker: str
) -> None:
    command("tokens", "--index", index)
    ask = ("ask", QUESTION, "--ranker", ranker, "--json", "--literal", "--index")
    expected = json.loads(command(*ask, plain).out)
    assert tokenised
    tokenised.clear()
    found = json.loads(command(*ask, index).out)
    assert tokenised == []
    for answer in (expected, found):
        del answer["timings_ms"]
    assert found == expected


def test_all_scores_of_the_samples_questions_are_equal(
    command: Run, index: Path, tokenised: list[str]
) -> None:
    command("tokens", "--index", index)
    for name in ("soft", "jpdrmm", "bm25"):
        without, with_tokens = bioqa.load_ranker(name), bioqa.load_ranker(name)
        with_tokens.read_stored_tokens(index)
        with TantivyIndex.open(index) as opened:
            for question in json.loads((SAMPLE / "questions.json").read_text())["questions"]:
                candidates = opened.search(question["body"], 100)
                expected = without.rank(question["body"], candidates)
                tokenised.clear()
                assert with_tokens.rank(question["body"], candidates) == expected
                assert tokenised == []


def test_the_service_reads_them_once_they_are_there(command: Run, index: Path, tokenised: list[str]) -> None:
    asked = {"body": QUESTION, "literal": True}
    with TestClient(create_app(Settings(index=str(index)))) as client:
        before = client.post("/v1/search", json=asked).json()
        command("tokens", "--index", index)
        tokenised.clear()
        after = client.post("/v1/search", json=asked).json()
    assert tokenised == []
    for answer in (before, after):
        del answer["timings_ms"]
    assert before == after


def test_python_reads_them(command: Run, index: Path, tokenised: list[str]) -> None:
    command("tokens", "--index", index)
    tokenised.clear()
    ranker = bioqa.load_ranker()
    tokenised.clear()  # of trying the ranker
    bioqa.ask(QUESTION, bioqa.open_index(index), ranker, literal=True)
    assert tokenised == []


def test_releases_share_a_file(command: Run, plain: Path, tmp_path: Path, tokenised: list[str]) -> None:
    name = "medline-2026-1"
    shutil.copytree(plain, tmp_path / name)
    releases = {"format": 1, "serving": name, "releases": {name: {"served": True, "previous": None}}}
    (tmp_path / "releases.json").write_text(json.dumps(releases))
    assert command("tokens", "--index", tmp_path).code == 0
    assert [*tmp_path.glob("tokens-*.bin")]
    tokenised.clear()
    assert command("ask", QUESTION, "--literal", "--index", tmp_path).code == 0
    assert tokenised == []


def test_it_needs_an_index_in_a_folder(command: Run, tmp_path: Path) -> None:
    result = command("tokens", "--index", tmp_path / "nowhere")
    assert (result.code, "no such folder" in result.err) == (2, True)
    result = command("tokens", "--index", "http://127.0.0.1:9/medline")
    assert (result.code, "Elasticsearch" in result.err) == (2, True)


def test_a_ranker_without_word_pieces_needs_no_file_of_its_own(command: Run, index: Path) -> None:
    command("tokens", "--index", index)
    result = command("tokens", "--ranker", "jpdrmm", "--index", index)
    assert (result.code, "serves those without, too" in result.err) == (2, True)
