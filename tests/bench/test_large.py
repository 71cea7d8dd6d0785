"""The bench that grows a folder index, at toy size."""

import json
from itertools import islice
from pathlib import Path

import pytest

from bench import large, large_queries
from bench.__main__ import SAMPLE
from bench.large_records import Recombining
from bench.synthetic import Generator, Shares
from bioqa.bioasq.domain import Document, Part
from bioqa.indexer.medline.events import Delete, Upsert
from bioqa.indexer.medline.reader import MedlineFile
from bioqa.indexer.search.filtering.filters import Filters
from bioqa.indexer.search.records import decode, encode
from bioqa.indexer.search.tantivy.index import TantivyIndex
from tests.bench.test_synthetic import GIVEN


def upserted(path: Path) -> list[Document]:
    return [event.document for event in MedlineFile(path) if isinstance(event, Upsert)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of 30 generated citations."""
    return Generator(GIVEN, shares=Shares(structured=1)).file(tmp_path / "pubmed99n0001.xml", range(1, 31))


def test_recombined_records_are_whole(file: Path) -> None:
    records = list(islice(Recombining(upserted(file)).records(7), 40))
    assert [record.pmid for record in records] == list(range(7, 47))
    for record in records:
        document = decode(record)
        again = encode(document)
        assert (again.layout, again.published) == (record.layout, record.published)
        assert {*again.keys.split()} == {*record.keys.split()}
        assert document.metadata.doi == f"10.9999/s{record.pmid}"
        # Sentences and parts lie where they are after words of another length came in.
        for sentence in document.sentences:
            text = document.sentence_text(sentence)
            assert text == text.strip() != ""


def test_recombined_records_keep_the_labels_of_parts() -> None:
    text = "AIMS: To see x17. ENDS: We saw y18."
    parts = (Part("AIMS:", 0, 17), Part("ENDS:", 18, 35))
    structured = Document("1", 1, "A title.", text, parts=parts)
    for record in islice(Recombining([structured]).records(1), 30):
        found = decode(record)
        assert [found.abstract[part.begin :][:5] for part in found.parts] == ["AIMS:", "ENDS:"]


def test_the_vocabulary_and_the_authors_of_recombined_records_grow(file: Path) -> None:
    given = upserted(file)
    known = {word for document in given for word in document.abstract.split()}
    authors = {author.last for document in given for author in document.metadata.authors}
    made = [decode(record) for record in islice(Recombining(given).records(1), 300)]
    assert {word for document in made for word in document.abstract.split()} - known
    assert len({a.last for document in made for a in document.metadata.authors} - authors) > 300


def test_equal_seeds_recombine_equally(file: Path) -> None:
    given = upserted(file)
    first, second, other = (list(islice(Recombining(given, s).records(1), 20)) for s in (1, 1, 2))
    assert first == second != other


def test_a_days_file_revises_and_deletes_known_citations(file: Path, tmp_path: Path) -> None:
    update = tmp_path / "update.xml"
    update.write_text(large.revise(file.read_text("utf-8"), range(100, 200), 20), "utf-8")
    events = list(MedlineFile(update))
    changed = [event.document.pmid for event in events if isinstance(event, Upsert)]
    deleted = [event.pmid for event in events if isinstance(event, Delete)]
    assert (len(changed), len(deleted)) == (20, 2)
    assert {*map(int, changed)}.isdisjoint(map(int, deleted))
    assert {*map(int, (*changed, *deleted))} <= {*range(100, 200)}
    assert [d.title for d in upserted(update)] == [d.title for d in upserted(file)][:20]


def test_an_index_grows_in_steps_and_goes_on_after_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    make = Generator(GIVEN)
    for number in range(1, 5):
        first = 10 * number
        make.file(files / f"pubmed99n000{number}.xml", range(first, first + 10))
    base = make.file(tmp_path / "base.xml", range(900, 930))
    index, report = tmp_path / "index", tmp_path / "report.jsonl"
    # Within this process, which a test may not leave without a trace.
    monkeypatch.setattr(large, "in_own_process", large_queries.measure)

    def grow(citations: int) -> list[large.Row]:
        arguments = [
            "--files",
            files,
            "--base",
            base,
            "--index",
            index,
            "--questions",
            SAMPLE / "questions.json",
        ]
        sizes = ["--citations", citations, "--every", 50, "--revised", 10, "--report", report]
        monkeypatch.setattr("sys.argv", ["large", "grow", *map(str, (*arguments, *sizes))])
        large.main()
        return [json.loads(line) for line in report.read_text("utf-8").splitlines()]

    rows = grow(50)
    assert [row["what"] for row in rows] == ["load", "fill", "merges", "update", "measure"]
    assert [row["records"] for row in rows[:4]] == [10, 40, 0, 11]
    assert rows[3]["deleted"] == 1
    rows = grow(100)
    measured = [row for row in rows if row["what"] == "measure"]
    assert [row["documents"] for row in measured] == [49, 99]
    assert sorted(files.iterdir()) == [files / "pubmed99n0003.xml", files / "pubmed99n0004.xml"]
    with TantivyIndex.open(index) as opened:
        assert opened.count(None) == 99
        assert opened.count(None, Filters(types=("Review",))) > 0
    capsys.readouterr()
    monkeypatch.setattr("sys.argv", ["large", "table", str(report)])
    large.main()
    head, rule, *lines = capsys.readouterr().out.splitlines()
    assert {line.count("|") for line in (head, rule, *lines)} == {head.count("|")}
    assert [line.split("|")[1].strip() for line in lines] == ["49", "99"]


def test_an_indexs_bytes_are_told_by_kind_of_file(tmp_path: Path) -> None:
    with TantivyIndex.create(tmp_path) as index:
        index.apply([Upsert(document) for document in GIVEN])
        index.commit()
    sizes = large_queries.by_suffix(tmp_path)
    assert {"store", "idx", "pos", "term", "fast"} <= {*sizes}
    assert sum(sizes.values()) <= sum(path.stat().st_size for path in tmp_path.iterdir())
