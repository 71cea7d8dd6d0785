"""Storing tokens: whole or not at all, and only what is new is made."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bioqa.bioasq.domain import Document
from bioqa.models.text import storing_tokens, token_records
from bioqa.models.text.stored_tokens import StoredTokens, StoredTokensError, TokensBeside
from bioqa.models.text.storing_tokens import store
from bioqa.models.text.tokens import tokenise_documents
from bioqa.system.errors import BioqaError
from tests.models.text.test_stored_tokens import OTHER_PIECES, cut_off
from tests.models.text.test_token_records import WITHOUT_PIECES, assert_same
from tests.models.text.test_tokens import VOCABULARY
from tests.models.toys import DOCUMENTS, document

REVISED = replace(DOCUMENTS[3], abstract="Nothing of it.", sentences=DOCUMENTS[3].sentences[:1])


def assert_stored(folder: Path, documents: list[Document]) -> None:
    found = TokensBeside(folder, VOCABULARY)(documents)
    assert_same([each for each in found if each], tokenise_documents(documents, VOCABULARY))


def test_only_what_is_new_or_revised_is_made(tmp_path: Path) -> None:
    first = store(DOCUMENTS[:10], VOCABULARY, tmp_path)
    assert (first.documents, first.made, first.bytes) == (10, 10, first.path.stat().st_size)
    later = [each if each.pmid != REVISED.pmid else REVISED for each in DOCUMENTS[1:]]
    second = store(later, VOCABULARY, tmp_path)
    assert (second.documents, second.made) == (len(DOCUMENTS) - 1, len(DOCUMENTS) - 10 + 1)
    assert_stored(tmp_path, later)
    assert len(StoredTokens.open(second.path)) == len(later)


def test_a_file_that_has_all_stays(tmp_path: Path) -> None:
    path = store(DOCUMENTS, VOCABULARY, tmp_path).path
    before = path.stat()
    again = store(DOCUMENTS, VOCABULARY, tmp_path)
    assert (again.documents, again.made) == (len(DOCUMENTS), 0)
    assert path.stat() == before
    assert [*tmp_path.iterdir()] == [path]
    # Fewer are no new ones, but another file.
    store(DOCUMENTS[1:], VOCABULARY, tmp_path)
    assert len(StoredTokens.open(path)) == len(DOCUMENTS) - 1


def test_many_batches_and_their_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing_tokens, "AT_ONCE", 4)
    monkeypatch.setattr(token_records, "OFTEN", 1)
    done: list[int] = []
    store(DOCUMENTS, VOCABULARY, tmp_path, done.append)
    assert done == [*range(4, len(DOCUMENTS), 4), len(DOCUMENTS)]
    assert_stored(tmp_path, [*DOCUMENTS])


def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    path = store(DOCUMENTS, VOCABULARY, tmp_path).path
    path.write_bytes(cut_off(path.read_bytes()))
    assert store(DOCUMENTS, VOCABULARY, tmp_path).made == len(DOCUMENTS)
    assert_stored(tmp_path, [*DOCUMENTS])


def test_a_damaged_record_is_made_anew(tmp_path: Path) -> None:
    path = store(DOCUMENTS, VOCABULARY, tmp_path).path
    content = bytearray(path.read_bytes())
    content[4096 + 2] ^= 1
    path.write_bytes(content)
    assert store(DOCUMENTS, VOCABULARY, tmp_path).made == 1
    assert_stored(tmp_path, [*DOCUMENTS])


def test_other_pieces_replace_it_but_none_do_not(tmp_path: Path) -> None:
    store(DOCUMENTS, WITHOUT_PIECES, tmp_path)
    assert store(DOCUMENTS, OTHER_PIECES, tmp_path).made == len(DOCUMENTS)
    assert store(DOCUMENTS, VOCABULARY, tmp_path).made == len(DOCUMENTS)
    with pytest.raises(StoredTokensError, match="serves those without, too"):
        store(DOCUMENTS, WITHOUT_PIECES, tmp_path)
    assert_stored(tmp_path, [*DOCUMENTS])


def test_interrupted_it_leaves_the_old_file(tmp_path: Path) -> None:
    def interrupted() -> Iterator[Document]:
        yield from DOCUMENTS[:2]
        raise KeyboardInterrupt

    path = store(DOCUMENTS, VOCABULARY, tmp_path).path
    before = path.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        store(interrupted(), VOCABULARY, tmp_path)
    assert path.read_bytes() == before
    assert [*tmp_path.iterdir()] == [path]


def test_a_document_that_does_not_fit_is_left_out(tmp_path: Path) -> None:
    huge = document(999, "a " * 70_000)
    for _ in range(2):
        assert store([*DOCUMENTS, huge], VOCABULARY, tmp_path).documents == len(DOCUMENTS)
    assert TokensBeside(tmp_path, VOCABULARY)([huge]) == [None]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BioqaError, match="cannot be written: No such file"):
        store(DOCUMENTS, VOCABULARY, tmp_path / "nowhere")
