"""The embedded index as a target: its lock, its joiner, and commits that are visible at once."""

from pathlib import Path

import pytest

from bioqa.indexer.loading.folder_target import FolderTarget
from bioqa.indexer.loading.ledger import LEDGER_FILE
from bioqa.indexer.search.base import Applied
from bioqa.indexer.search.records import encode
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.system.errors import BioqaError
from tests.indexer.documents import document


def test_a_target_is_locked_until_it_is_closed(tmp_path: Path) -> None:
    target = FolderTarget(tmp_path / "index")
    with pytest.raises(BioqaError, match="is being written by another process"):
        FolderTarget(tmp_path / "index")
    target.close()
    FolderTarget(tmp_path / "index").close()


def test_the_joiner_is_the_indexs(tmp_path: Path) -> None:
    FolderTarget(tmp_path / "index", joiner="\n").close()
    with pytest.raises(BioqaError, match=r"joins abstract parts with '\\n', not ''"):
        FolderTarget(tmp_path / "index")


def test_every_commit_can_be_searched(tmp_path: Path) -> None:
    target = FolderTarget(tmp_path / "index")
    target.write([encode(document(1, "Insulin."))], order=0)
    with TantivyIndex.open(tmp_path / "index") as index:
        assert index.search("insulin") == []
        assert target.commit() == Applied(upserted=1)
        assert [candidate.document.pmid for candidate in index.search("insulin")] == ["1"]
    target.close()


def test_a_damaged_ledger_leaves_no_lock(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    FolderTarget(folder).close()
    (folder / LEDGER_FILE).write_text("{}\n")
    with pytest.raises(BioqaError, match="not an entry of a ledger"):
        FolderTarget(folder)
    (folder / LEDGER_FILE).unlink()
    FolderTarget(folder).close()
