"""A folder of releases as a service sees it."""

from pathlib import Path

import pytest

from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.opening import ledger, open_index
from bioqa.indexer.releases.folder_shelf import FORMAT, RELEASES_FILE
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.system.errors import BioqaError
from bioqa.system.jsonfile import write_json
from tests.indexer.documents import document


def release(folder: Path, name: str, title: str) -> None:
    with TantivyIndex.create(folder / name) as index:
        index.apply([Upsert(document(1, title))])
        index.commit()


def switch(folder: Path, name: str | None) -> None:
    releases: dict[str, dict[str, object]] = {entry.name: {} for entry in folder.iterdir() if entry.is_dir()}
    write_json(folder / RELEASES_FILE, {"format": FORMAT, "serving": name, "releases": releases})


def test_questions_go_to_the_release_that_serves(tmp_path: Path) -> None:
    release(tmp_path, "medline-2025", "Old insulin.")
    release(tmp_path, "medline-2026", "New insulin.")
    switch(tmp_path, "medline-2025")
    index = open_index(str(tmp_path))
    assert index.name == "medline-2025"
    assert [c.document.title for c in index.search("insulin")] == ["Old insulin."]

    switch(tmp_path, "medline-2026")
    assert [c.document.title for c in index.search("insulin")] == ["New insulin."]
    assert [c.document.title for c in index.search_many(["insulin"])[0]] == ["New insulin."]
    assert index.get(["1"])["1"].title == "New insulin."
    assert (index.name, index.stats().name) == ("medline-2026", "medline-2026")
    assert ledger(str(tmp_path)) == ()
    index.close()


def test_no_release_is_ready(tmp_path: Path) -> None:
    switch(tmp_path, None)
    with pytest.raises(BioqaError, match=r"no release in .* is complete yet"):
        open_index(str(tmp_path))


def test_only_update_writes(tmp_path: Path) -> None:
    release(tmp_path, "medline-2026", "New insulin.")
    switch(tmp_path, "medline-2026")
    index = open_index(str(tmp_path))
    for write in (lambda: index.apply([]), index.commit):
        with pytest.raises(BioqaError, match="`bioqa update` writes"):
            write()
    index.close()
