"""Vectors, encoders and texts that are wrong in some way: words answer, and the answer says so."""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bioqa.app.answers import vectors as module
from bioqa.app.answers.answering import Answerer
from bioqa.app.answers.question import ExplainOptions, Options
from bioqa.app.answers.vectors import Vectors, vectors_in
from bioqa.app.answers.vectors_building import build
from bioqa.app.http.schemas import search_answer
from bioqa.bioasq.domain import Document, Question
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.indexer.vectors.file import HEADER_BYTES, Floats, VectorFile, header_of, record_type
from tests.app.answers.meaning import ENCODER, RECORD, WIDTH, Concepts, indexed, with_vectors
from tests.app.rankers import LexicalRanker
from tests.models.encoders.tiny import write_tiny

DOCUMENTS = [
    Document("1", 1, "Cardiac infarction", ""),
    Document("2", 1, "Heart attack in Malmö", "The heart."),
    Document("3", 1, "Thrombosis", "A clot."),
]
QUESTION = Question("q", "heart attack")


@pytest.fixture
def index(tmp_path: Path) -> Iterator[TantivyIndex]:
    vectors_in.cache_clear()
    with indexed(tmp_path / "index", DOCUMENTS) as opened:
        yield opened


def answered(index: TantivyIndex, **options: Any) -> dict[str, Any]:
    """The answer as clients get it, but for what differs each time."""
    answer = Answerer(index, LexicalRanker()).answer(QUESTION, Options(**options))
    written: dict[str, Any] = json.loads(search_answer(answer).model_dump_json())
    del written["timings_ms"]
    return written


def said(answer: dict[str, Any]) -> str:
    (text,) = [remark["text"] for remark in answer["remarks"] if remark["kind"] == "by_words"] or [""]
    return str(text)


def only_file(index: TantivyIndex) -> Path:
    (path,) = index.beside.glob("vectors-*.bin")
    return path


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def with_noise(path: Path) -> None:
    noise = np.random.default_rng(0).bytes(3 * record_type(WIDTH).itemsize)
    path.write_bytes(path.read_bytes()[:HEADER_BYTES] + noise)


def with_a_dimension_more(path: Path) -> None:
    path.write_bytes(header_of(replace(RECORD, width=WIDTH + 1)) + path.read_bytes()[HEADER_BYTES:])


def with_too_many(path: Path) -> None:
    path.write_bytes(header_of(replace(RECORD, width=10**9)) + path.read_bytes()[HEADER_BYTES:])


DAMAGES = {
    "emptied": lambda path: path.write_bytes(b""),
    "cut in the header": lambda path: path.write_bytes(path.read_bytes()[:100]),
    "of another kind": lambda path: path.write_bytes(b"PK" * 5000),
    "a folder": as_folder,
    "noise": with_noise,
    "a dimension more": with_a_dimension_more,
    "a thousand million dimensions": with_too_many,
}


@pytest.mark.parametrize("damage", [*DAMAGES.values()], ids=[*DAMAGES])
def test_with_a_damaged_file_words_answer_and_it_is_said(
    index: TantivyIndex, monkeypatch: pytest.MonkeyPatch, damage: Any
) -> None:
    before, literal = answered(index), answered(index, literal=True)
    with_vectors(index)
    damage(only_file(index))
    vectors = Vectors(index.beside, lambda record: ENCODER)
    monkeypatch.setattr(module, "vectors_in", lambda folder: vectors)
    after = answered(index)
    assert said(after).startswith("Documents were found by words alone: ")
    assert str(index.beside) not in said(after)
    assert {**after, "remarks": None} == {**before, "remarks": None}
    # Words only, exactly as before: nothing was to be said.
    assert answered(index, literal=True) == literal
    assert answered(index, retrieval="words") == before
    explained = Answerer(index, LexicalRanker()).answer(QUESTION, ExplainOptions(pmid="2"))
    assert explained.explanation is not None


def test_literal_is_as_it_is_without_vectors(index: TantivyIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    before, both = answered(index, literal=True), answered(index)
    vectors = with_vectors(index)
    monkeypatch.setattr(module, "vectors_in", lambda folder: vectors)
    assert answered(index, literal=True) == before
    assert answered(index) != both


def test_a_question_with_a_dimension_too_many(index: TantivyIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wider(Concepts):
        def questions(self, texts: Sequence[str]) -> Floats:
            return np.ones((len(texts), WIDTH + 1), dtype=np.float32)

    with_vectors(index)
    vectors = Vectors(index.beside, lambda record: Wider())
    monkeypatch.setattr(module, "vectors_in", lambda folder: vectors)
    answer = answered(index)
    assert f"a vector of {WIDTH + 1} numbers cannot be compared" in said(answer)
    assert {document["pmid"] for document in answer["documents"]} == {"2"}


def test_a_model_folder_that_was_exchanged(index: TantivyIndex, tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "model", ["heart"])
    first = build(index, str(folder), {}, device="cpu", processes=1)
    assert said(answered(index)) == ""
    assert first.encoded == len(DOCUMENTS)

    shutil.rmtree(folder)
    vectors_in.cache_clear()
    gone = said(answered(index))
    assert "cannot be used" in gone
    assert str(tmp_path) not in gone

    write_tiny(folder, ["heart"], seed=1)
    vectors_in.cache_clear()
    exchanged = said(answered(index))
    assert "not of the encoder that is now" in exchanged
    assert "run `bioqa vectors`" in exchanged
    assert str(tmp_path) not in exchanged

    second = build(index, str(folder), {}, device="cpu", processes=1)
    assert second.path != first.path
    assert first.path.exists()
    assert said(answered(index)) == ""


def test_texts_of_any_kind_have_a_vector(tmp_path: Path) -> None:
    texts = [("", ""), (" ", "\n\t"), ("A title", ""), ("", "x" * 100_000), ("word " * 20_000, "\0\x07")]
    texts += [("heart", "attack " * 15_000), ("\ud83d", "half"), ("∞" * 3000, "𝛼" * 3000)]
    documents = [Document(str(n), 1, *text) for n, text in enumerate(texts[:6] + texts[7:], start=1)]
    folder = str(write_tiny(tmp_path / "model", ["heart"]))
    with indexed(tmp_path / "index", documents) as index:
        written = build(index, folder, {}, device="cpu", processes=1)
        assert written.encoded == len(documents)
        opened = VectorFile.open(written.path)
        for document in documents:
            vector = opened.vector(int(document.pmid))
            assert vector is not None
            assert np.linalg.norm(vector) == pytest.approx(1, abs=0.05)
        assert build(index, folder, {}, device="cpu", processes=1).encoded == 0
        for body in ("heart " * 20_000, "x" * 100_000):
            answer = Answerer(index, LexicalRanker()).answer(Question("q", body))
            assert answer.by_words is None
            assert answer.documents
