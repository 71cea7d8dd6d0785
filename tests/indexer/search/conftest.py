"""Indexes in a folder, for the tests of what is in it."""

from pathlib import Path

import pytest

from bioqa.bioasq.domain import Document
from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.search.tantivy.index import TantivyIndex


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


def make(folder: Path, *documents: Document, joiner: str = "") -> None:
    with TantivyIndex.create(folder, joiner) as index:
        index.apply(Upsert(d) for d in documents)
        index.commit()
