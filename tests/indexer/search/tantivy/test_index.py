"""What is particular to the embedded index: its folder, its writer, its reader."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from bioqa.indexer.medline.events import Upsert
from bioqa.indexer.search.filtering.filters import Filters
from bioqa.indexer.search.notation.interpretation import interpret
from bioqa.indexer.search.synonyms import FILE, build
from bioqa.indexer.search.tantivy import index as tantivy_index
from bioqa.indexer.search.tantivy.folder import DESCRIPTION
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.indexer.search.tantivy.segments import META
from bioqa.system.errors import BioqaError
from tests.indexer.documents import document
from tests.indexer.search.cited import CITED
from tests.indexer.search.conftest import make


def in_another_process(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    prelude = (
        "import sys; from pathlib import Path; from bioqa.indexer.medline.events import *;"
        "from bioqa.indexer.search.tantivy.index import TantivyIndex;"
        "from tests.indexer.documents import document;"
        "folder = Path(sys.argv[1])\n"
    )
    return subprocess.run(
        [sys.executable, "-c", prelude + code, str(folder)],
        cwd=Path(__file__).resolve().parents[4],
        capture_output=True,
        text=True,
        timeout=60,
    )


# The folder


def test_an_index_is_found_again(folder: Path) -> None:
    make(folder, document(1, "Insulin."), joiner=" ")
    with TantivyIndex.open(folder) as index:
        assert [c.document.pmid for c in index.search("insulin")] == ["1"]
        stats = index.stats()
    assert (stats.name, stats.documents, stats.joiner) == ("index", 1, " ")


def test_creating_twice_keeps_what_is_there(folder: Path) -> None:
    make(folder, document(1))
    make(folder, document(2))
    with TantivyIndex.open(folder) as index:
        assert index.stats().documents == 2


def test_missing_and_broken_files_are_told(folder: Path) -> None:
    make(folder, document(1))
    shutil.copytree(folder, folder.with_name("damaged"))
    for file in folder.glob("*.store"):
        file.unlink()
    with pytest.raises(BioqaError, match=f"the index in {folder} cannot be used"):
        TantivyIndex.open(folder)
    damaged = folder.with_name("damaged")
    (damaged / "meta.json").write_text("{")
    with pytest.raises(BioqaError, match=f"the index in {damaged} cannot be used"):
        TantivyIndex.open(damaged)


def test_missing_titles_and_abstracts_are_counted(folder: Path) -> None:
    make(folder, document(1, ""), document(2, "", "Text."), document(3, "Title."), document(4, "A.", "B."))
    with TantivyIndex.open(folder) as index:
        stats = index.stats()
        assert (stats.documents, stats.without_title, stats.without_abstract) == (4, 2, 2)
        index.apply([Upsert(document(1, "Now with a title."))])
        index.commit()
        assert index.stats().without_title == 1


def test_all_documents_in_pmid_order(folder: Path) -> None:
    make(folder)
    with TantivyIndex.open(folder) as index:
        assert list(index.documents()) == []
    documents = [document(n, f"Title {n}.") for n in (100, 9, 20)]
    make(folder, *documents)
    make(folder, document(11))
    with TantivyIndex.open(folder) as index:
        assert [d.pmid for d in index.documents()] == ["9", "11", "20", "100"]
        assert documents[0] in index.documents()


@pytest.mark.parametrize("page", [1, 2, 3, 4])
def test_documents_come_page_by_page_as_they_were_at_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr(tantivy_index, "DOCUMENTS_PER_PAGE", page)
    make(folder, *(document(n, f"Title {n}.") for n in (3, 1, 2)))
    with TantivyIndex.open(folder) as index:
        documents = index.documents()
        assert next(documents).pmid == "1"
        make(folder, document(2, "Revised."), document(4, "New."))
        index.stats()
        assert [d.title for d in documents] == ["Title 2.", "Title 3."]
        assert [d.title for d in index.documents()] == ["Title 1.", "Revised.", "Title 3.", "New."]


@pytest.fixture
def unlockable(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index of one document, whose folder cannot be locked by anybody, root neither."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    make(folder, document(1, "Insulin."))
    for lock in folder.glob(".tantivy-*.lock"):
        lock.unlink()
        lock.mkdir()
    return folder


def test_an_index_is_read_without_writing_to_its_folder(unlockable: Path, tmp_path: Path) -> None:
    index = TantivyIndex.open(unlockable)
    assert [c.document.pmid for c in index.search("insulin")] == ["1"]
    assert index.stats().documents == 1
    (links,) = (tmp_path / "temporary").iterdir()
    with pytest.raises(BioqaError, match=f"cannot write to the index in {unlockable}"):
        index.apply([Upsert(document(2))])
    index.close()
    assert not links.exists()


def test_a_reader_that_cannot_write_sees_what_is_committed(unlockable: Path) -> None:
    with TantivyIndex.open(unlockable) as reader:
        for lock in unlockable.glob(".tantivy-*.lock"):
            lock.rmdir()
        with TantivyIndex.open(unlockable) as writer:
            for number in range(2, 30):
                writer.apply([Upsert(document(number, "Insulin."))])
                writer.commit()
                assert len(reader.search("insulin")) == number


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_user_who_may_only_read_can_search() -> None:
    code = (
        "import os; os.setuid(65534)\n"
        "with TantivyIndex.open(folder) as index: print(index.search('insulin')[0].document.title)"
    )
    # Not below pytest's folder, which is its user's own.
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "index"
        make(folder, document(1, "Insulin."))
        for path in (Path(parent), folder, *folder.iterdir()):
            path.chmod(0o555 if path.is_dir() else 0o444)
        result = in_another_process(code, folder)
    assert result.stdout.strip() == "Insulin.", result.stderr


def test_a_folder_that_cannot_be_locked_is_told(
    unlockable: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BioqaError, match="cannot be locked: let this user write to the folder"):
        TantivyIndex.create(unlockable)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(BioqaError, match=r"or to a temporary one \(.*missing"):
        TantivyIndex.open(unlockable)


def test_an_index_that_is_removed_and_made_again(folder: Path) -> None:
    make(folder, document(1, "Insulin."))
    with TantivyIndex.open(folder) as index:
        shutil.rmtree(folder)
        for _ in range(2):
            with pytest.raises(BioqaError, match=f"the index in {folder} cannot be used"):
                index.search("insulin")
        make(folder, document(2, "Insulin."), document(3, "Insulin."))
        assert [c.document.pmid for c in index.search("insulin")] == ["2", "3"]


# Writing


def test_two_writers_at_once(folder: Path) -> None:
    with TantivyIndex.create(folder) as first, TantivyIndex.open(folder) as second:
        first.lock()
        with pytest.raises(BioqaError, match="is being written by another process"):
            second.apply([Upsert(document(1))])
        result = in_another_process("TantivyIndex.open(folder).apply([Upsert(document(2))])", folder)
        assert "is being written by another process" in result.stderr
        first.apply([Upsert(document(3))])
        first.commit()
        first.close()
        second.apply([Upsert(document(4))])
        second.commit()
        assert second.stats().documents == 2


def test_rollback_forgets_what_was_not_committed(folder: Path) -> None:
    with TantivyIndex.create(folder) as index:
        index.apply([Upsert(document(1, "First."))])
        index.commit()
        index.apply([Upsert(document(1, "Second.", version=2)), Upsert(document(2))])
        index.rollback()
        index.apply([Upsert(document(3))])
        index.commit()
        assert index.get(["1", "2", "3"]).keys() == {"1", "3"}
        assert index.get(["1"])["1"].title == "First."


def test_closing_drops_what_was_not_committed(folder: Path) -> None:
    with TantivyIndex.create(folder) as index:
        index.apply([Upsert(document(1))])
    with TantivyIndex.open(folder) as index:
        assert index.stats().documents == 0


# Reading


def test_a_reader_sees_what_another_process_commits(folder: Path) -> None:
    make(folder, document(1, "Insulin."))
    with TantivyIndex.open(folder) as index:
        assert len(index.search("insulin")) == 1
        result = in_another_process(
            "index = TantivyIndex.open(folder)\n"
            "index.apply([Upsert(document(2, 'Insulin.'))]); index.commit()",
            folder,
        )
        assert result.returncode == 0, result.stderr
        assert [c.document.pmid for c in index.search("insulin")] == ["1", "2"]
        assert index.get(["2"])["2"].title == "Insulin."
        assert index.stats().documents == 2


def test_searching_goes_on_while_the_index_is_written(folder: Path) -> None:
    """Every answer is one commit's state: the n-th commit has n documents, none missing, none double."""
    make(folder, document(1, "Insulin."))
    seen: list[int] = []
    done = threading.Event()
    with TantivyIndex.open(folder) as reader, TantivyIndex.open(folder) as writer:

        def search() -> None:
            while not done.is_set():
                found = [c.document.pmid for c in reader.search("insulin")]
                seen.append(len(found) if found == [str(n + 1) for n in range(len(found))] else -1)

        threads = [threading.Thread(target=search) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(2, 21):
            writer.apply([Upsert(document(number, "Insulin."))])
            writer.commit()
        done.set()
        for thread in threads:
            thread.join()
        assert len(reader.search("insulin")) == 20
    assert min(seen) >= 1
    assert max(seen) <= 20


_DESCRIPTOR = """<DescriptorRecord><DescriptorUI>{ui}</DescriptorUI>
<TreeNumberList><TreeNumber>{place}</TreeNumber></TreeNumberList>
<ConceptList><Concept PreferredConceptYN="Y"><TermList>{terms}</TermList></Concept></ConceptList>
</DescriptorRecord>"""


def _write_descriptors(path: Path, *descriptors: tuple[str, str, str]) -> None:
    """Each: unique id, place in the tree, terms separated by bars, the preferred one first."""
    records = [
        _DESCRIPTOR.format(
            ui=ui,
            place=place,
            terms="".join(
                f'<Term RecordPreferredTermYN="{"NY"[not n]}"><String>{term}</String></Term>'
                for n, term in enumerate(terms.split("|"))
            ),
        )
        for ui, place, terms in descriptors
    ]
    path.write_text(f"<DescriptorRecordSet>{''.join(records)}</DescriptorRecordSet>", encoding="utf-8")


def test_a_heading_finds_narrower_ones_where_the_descriptors_are_known(folder: Path, tmp_path: Path) -> None:
    make(folder, *CITED)
    index = TantivyIndex.open(folder)

    def found(query: str) -> list[str]:
        interpretation = interpret(query)
        assert interpretation is not None
        return sorted(d.pmid for d in index.newest(Filters(restriction=interpretation.restriction)))

    assert found("lung diseases[mh]") == []
    _write_descriptors(
        tmp_path / "desc.xml",
        ("D1", "C08.381", "Lung Diseases|Pulmonary Diseases"),
        ("D2", "C08.381.495", "Asthma|Bronchial Asthma"),
        ("D3", "B01.050", "Animals"),
    )
    build(tmp_path / "desc.xml", folder / FILE)
    assert found("lung diseases[mh]") == found("asthma[mh]") == ["101", "102"]
    assert found("pulmonary disease/drug therapy[mh]") == ["101"]
    assert found("bronchial asthma[mh:noexp]") == found("lung diseases[mh:noexp]") == []
    assert found("asthma[mh:noexp]") == ["101", "102"]
    assert found("lung diseases[majr]") == found("asthma[majr]")
    assert index.newest(Filters(headings=("Lung Diseases",))) == []
    assert found("lung diseases[mh] NOT asthma[mh:noexp]") == []


def test_what_many_short_runs_write_is_merged(folder: Path) -> None:
    """Merging begins with a commit, and a run that ends soon after it waits for that."""
    segments = []
    for day in range(12):
        make(folder, *(document(pmid, f"Title of day {day}.") for pmid in range(10 * day + 1, 10 * day + 16)))
        meta = json.loads((folder / "meta.json").read_text("utf-8"))
        segments.append(len(meta["segments"]))
    assert max(segments) < 12
    with TantivyIndex.open(folder) as index:
        assert index.stats().documents == 125
        assert index.check() > 0


def modes(folder: Path) -> set[int]:
    return {file.stat().st_mode & 0o777 for file in folder.iterdir() if not file.name.endswith(".lock")}


def test_whoever_may_read_the_index_may_read_it_after_each_commit(folder: Path) -> None:
    with TantivyIndex.create(folder) as index:
        (folder / DESCRIPTION).chmod(0o640)
        index.apply([Upsert(document(1))])
        index.commit()
        assert (folder / META).stat().st_mode & 0o777 == 0o640
        index.apply([Upsert(document(2))])
        index.commit()
        assert (folder / META).stat().st_mode & 0o777 == 0o640
    assert (folder / META).stat().st_mode & 0o777 == 0o640


def test_all_files_of_an_index_have_one_mode_also_after_merging(folder: Path) -> None:
    for number in range(1, 20):
        with TantivyIndex.create(folder) as index:
            assert len(modes(folder)) == 1
            index.apply([Upsert(document(number))])
            index.commit()
        assert len(modes(folder)) == 1


@pytest.mark.parametrize("name", [META, DESCRIPTION])
def test_a_pipe_is_no_index(folder: Path, name: str) -> None:
    with TantivyIndex.create(folder) as index:
        index.apply([Upsert(document(1))])
        index.commit()
        (folder / name).unlink()
        os.mkfifo(folder / name)
        with pytest.raises(BioqaError, match=f"{name} is no plain file"):
            TantivyIndex.open(folder)
        if name == META:
            for act in (index.state, index.stats, lambda: index.search("title"), index.check):
                with pytest.raises(BioqaError, match="is no plain file"):
                    act()
