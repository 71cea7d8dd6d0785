"""Files that come late: the index is the fold of the files in order, whichever was loaded first."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bioqa.indexer.loading import run as module
from bioqa.indexer.loading.ledger import Ledger
from bioqa.indexer.loading.parsing import Message, Refusal, parse
from bioqa.indexer.loading.run import LoadProgress, LoadReport, load
from bioqa.indexer.opening import open_target
from bioqa.indexer.search.tantivy.index import TantivyIndex
from bioqa.system.errors import BioqaError
from tests.indexer.medline_xml import citation, deletion, write
from tests.indexer.targets import MemoryTarget

OWN_NAMES = ("a.xml", "b.xml", "c.xml", "d.xml")
NLM_NAMES = tuple(f"pubmed26n{n:04}.xml" for n in (1, 2, 3, 14))

CONTENTS = (
    [citation(n, f"First {n}.") for n in range(1, 8)],
    [citation(1, "Second 1."), deletion(2), citation(3, "Second 3.", version=3), citation(8, "Second 8.")],
    [citation(2, "Third 2."), citation(3, "Third, of an older version."), deletion(4, 8)],
    [citation(4, "Fourth 4."), citation(1, "Fourth 1."), deletion(5)],
)
FOLD = {
    "1": "Fourth 1.",
    "2": "Third 2.",
    "3": "Second 3.",
    "4": "Fourth 4.",
    "6": "First 6.",
    "7": "First 7.",
}


def make_files(folder: Path, names: Sequence[str]) -> list[Path]:
    return [write(folder / name, *records) for name, records in zip(names, CONTENTS, strict=True)]


def break_file(path: Path) -> Callable[[], object]:
    """Truncates the file; the result mends it."""
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    return lambda: path.write_bytes(whole)


def titles(folder: Path) -> dict[str, str]:
    with TantivyIndex.open(folder) as index:
        return {document.pmid: document.title for document in index.documents()}


def names(report: LoadReport) -> list[str]:
    return [entry.name for entry in report.loaded]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.mark.parametrize("late", range(4))
@pytest.mark.parametrize("file_names", [OWN_NAMES, NLM_NAMES], ids=["own", "nlm"])
def test_a_file_that_was_refused_takes_its_place_once_it_is_mended(
    tmp_path: Path, folder: Path, file_names: Sequence[str], late: int
) -> None:
    files = make_files(tmp_path, file_names)
    mend = break_file(files[late])
    report = load(files, folder, workers=1)
    assert [r.name for r in report.refused] == [file_names[late]]
    mend()
    report = load(files, folder, workers=1)
    assert names(report) == [file_names[late]]
    assert report.reapplied == tuple(file_names[late + 1 :])
    assert report.known == tuple(file_names[:late])
    assert titles(folder) == FOLD
    entries = Ledger.open(folder).entries
    assert sorted(entry.name for entry in entries) == sorted(file_names)
    assert load(files, folder, workers=1).known == tuple(file_names)


@pytest.mark.parametrize("late", [0, 2])
@pytest.mark.parametrize("file_names", [OWN_NAMES, NLM_NAMES], ids=["own", "nlm"])
def test_so_it_does_in_elasticsearch(
    tmp_path: Path, elastic_url: str, elastic_name: str, file_names: Sequence[str], late: int
) -> None:
    files = make_files(tmp_path, file_names)
    mend = break_file(files[late])
    target = open_target(f"{elastic_url}/{elastic_name}")
    try:
        load(files, target, workers=1)
        mend()
        report = load(files, target, workers=1)
        assert (names(report), report.reapplied, report.refused) == ([file_names[late]], (), ())
        found = target.index.get([str(n) for n in range(1, 10)])  # type: ignore[attr-defined]
        assert {pmid: document.title for pmid, document in found.items()} == FOLD
    finally:
        target.close()


@pytest.mark.parametrize("given_first", [False, True], ids=["given last", "given first"])
def test_nlm_files_count_by_their_numbers(tmp_path: Path, folder: Path, given_first: bool) -> None:
    files = make_files(tmp_path, NLM_NAMES)
    load(files[1:], folder, workers=1)
    report = load(files if given_first else [*files[1:], files[0]], folder, workers=1)
    assert names(report) == [NLM_NAMES[0]]
    assert titles(folder) == FOLD


def test_an_nlm_file_alone_does_not_undo_its_successors(tmp_path: Path, folder: Path) -> None:
    files = make_files(tmp_path, NLM_NAMES)
    load([files[0], *files[2:]], folder, workers=1)
    before = titles(folder)
    report = load([*files[:2], files[3]], folder, workers=1)
    (refused,) = report.refused
    assert refused.name == NLM_NAMES[1]
    assert f"so that they are applied again: {NLM_NAMES[2]}" in refused.reason
    assert NLM_NAMES[3] not in refused.reason
    assert (report.loaded, report.known) == ((), (NLM_NAMES[0], NLM_NAMES[3]))
    assert titles(folder) == before


def test_a_file_that_is_still_broken_makes_no_work(tmp_path: Path, folder: Path) -> None:
    files = make_files(tmp_path, OWN_NAMES)
    break_file(files[0])
    load(files, folder, workers=1)
    state = (folder / "meta.json").read_bytes()
    report = load(files, folder, workers=1)
    assert (report.reapplied, report.known) == ((), OWN_NAMES[1:])
    assert (folder / "meta.json").read_bytes() == state


def test_new_files_among_loaded_ones(tmp_path: Path, folder: Path) -> None:
    files = make_files(tmp_path, OWN_NAMES)
    load([files[0], files[2]], folder, workers=1)
    report = load(files, folder, workers=1)
    assert names(report) == ["b.xml", "d.xml"]
    assert (report.known, report.reapplied) == (("a.xml",), ("c.xml",))
    assert titles(folder) == FOLD


def test_a_late_file_waits_while_one_behind_it_is_broken(tmp_path: Path, folder: Path) -> None:
    files = make_files(tmp_path, OWN_NAMES)
    mend = break_file(files[0])
    load(files, folder, workers=1)
    mend()
    mend_last = break_file(files[3])
    report = load(files, folder, workers=1)
    assert (report.loaded, report.reapplied) == ((), OWN_NAMES[1:3])
    broken, waiting = report.refused
    assert (broken.name, waiting.name) == ("d.xml", "a.xml")
    assert waiting.reason == "a.xml waits until d.xml, loaded before and now refused, is repaired"
    mend_last()
    report = load(files, folder, workers=1)
    assert (names(report), report.reapplied) == (["a.xml"], OWN_NAMES[1:])
    assert titles(folder) == FOLD


def test_a_late_file_is_not_loaded_if_the_run_stops_before_those_behind_it(
    tmp_path: Path, folder: Path
) -> None:
    files = make_files(tmp_path, OWN_NAMES)
    load([files[1], files[3]], folder, workers=1)
    mend = break_file(files[2])
    report = load(files, folder, workers=1, stop_at_refused=True)
    assert (report.loaded, [r.name for r in report.refused]) == ((), ["c.xml"])
    mend()
    assert names(load(files, folder, workers=1)) == ["a.xml", "c.xml"]
    assert titles(folder) == FOLD


@pytest.mark.parametrize("file_names", [OWN_NAMES, NLM_NAMES], ids=["own", "nlm"])
def test_a_file_with_a_new_content_counts_in_its_old_place(
    tmp_path: Path, folder: Path, file_names: Sequence[str]
) -> None:
    files = make_files(tmp_path, file_names)
    write(files[1], citation(1, "Not yet."), citation(4, "Not yet."))
    load(files, folder, workers=1)
    make_files(tmp_path, file_names)
    report = load(files, folder, workers=1)
    assert (names(report), report.reapplied) == ([file_names[1]], file_names[2:])
    assert titles(folder) == FOLD


def test_a_copy_is_not_applied_in_a_place_of_its_own(tmp_path: Path, folder: Path) -> None:
    first = write(tmp_path / "a.xml", citation(1, "Old."))
    second = write(tmp_path / "b.xml", citation(1, "New."))
    copy = write(tmp_path / "c.xml", citation(1, "Old."))
    load([first, copy], folder, workers=1)
    report = load([first, second, copy], folder, workers=1)
    assert (report.known, report.reapplied) == (("a.xml", "c.xml"), ())
    assert titles(folder) == {"1": "New."}


@pytest.mark.parametrize("after", [0, 1, 8, 9, 12, 13])
def test_interrupted_before_all_is_applied_again_it_starts_anew(
    tmp_path: Path, folder: Path, after: int
) -> None:
    """Of the second run's 17 events: 7 of the late file, then 5, 4 and 4 of those behind it."""
    files = make_files(tmp_path, OWN_NAMES)
    mend = break_file(files[0])
    load(files, folder, workers=1)
    mend()

    def interrupt(progress: LoadProgress) -> None:
        if progress.events > after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load(files, folder, workers=1, progress=interrupt)
    assert [entry.name for entry in Ledger.open(folder).entries] == list(OWN_NAMES[1:])
    report = load(files, folder, workers=1)
    assert (names(report), report.reapplied) == (["a.xml"], OWN_NAMES[1:])
    assert titles(folder) == FOLD


def test_a_file_that_changes_while_it_is_to_be_applied_again(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = make_files(tmp_path, OWN_NAMES)
    mend = break_file(files[0])
    load(files, folder, workers=1)
    mend()
    monkeypatch.setattr(module, "ParserPool", HastyPool)
    with pytest.raises(BioqaError, match=r"d\.xml was changed while files were being loaded"):
        load(files, folder, workers=1)
    assert [entry.name for entry in Ledger.open(folder).entries] == list(OWN_NAMES[1:])


def test_in_elasticsearch_a_new_file_waits_while_a_replacement_behind_it_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ParserPool", InlinePool)
    files = make_files(tmp_path, OWN_NAMES)
    target = MemoryTarget(whole_files=True, orders_itself=True)
    mend = break_file(files[1])
    load(files, target)
    mend()
    mends = [break_file(files[n]) for n in (0, 2, 3)]
    report = load(files, target)
    assert (report.loaded, [r.name for r in report.refused]) == ((), list(OWN_NAMES))
    assert report.refused[1].reason == "b.xml waits until c.xml, loaded before and now refused, is repaired"
    for mend in mends:
        mend()
    assert names(load(files, target)) == ["b.xml"]
    assert {str(pmid): title for pmid, title in target.titles().items()} == FOLD


def test_in_elasticsearch_replacements_that_are_whole_hold_up_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ParserPool", InlinePool)
    files = make_files(tmp_path, OWN_NAMES)
    for path in files[2:]:
        write(path, citation(1, f"An earlier {path.name}."))
    target = MemoryTarget(whole_files=True, orders_itself=True)
    load([files[0], *files[2:]], target)
    make_files(tmp_path, OWN_NAMES)
    report = load(files, target)
    assert (names(report), report.refused) == (list(OWN_NAMES[1:]), ())
    assert {str(pmid): title for pmid, title in target.titles().items()} == FOLD


# Any files, any failures


class InlinePool:
    """``ParserPool`` in this process, which is fast to start."""

    def __init__(self, paths: Sequence[Path], joiner: str, workers: int, whole_files: bool = False) -> None:
        self.paths = paths
        self.joiner = joiner
        self.whole_files = whole_files

    def __enter__(self) -> "InlinePool":
        return self

    def __exit__(self, *error: object) -> None: ...

    def files(self) -> Iterator[Iterator[Message]]:
        for path in self.paths:
            messages = parse(path, self.joiner)
            if self.whole_files:
                whole = list(messages)
                messages = iter([whole[0], whole[-1]] if isinstance(whole[-1], Refusal) else whole)
            yield messages


class HastyPool(InlinePool):
    def files(self) -> Iterator[Iterator[Message]]:
        for path in self.paths:
            if path.name == "d.xml":
                path.write_text("changed")
            yield parse(path, self.joiner)


RECORDS = st.lists(
    st.one_of(
        st.builds(
            lambda pmid, word, version: citation(pmid, f"{word}.", version=version),
            st.integers(1, 4),
            st.sampled_from("ABCDEFGH"),
            st.integers(1, 2),
        ),
        st.builds(deletion, st.integers(1, 4)),
    ),
    max_size=5,
)
ROUND = st.tuples(st.sets(st.integers(0, 3)), st.integers(0, 30))
"""The files that are broken in a run, and the event at which it is interrupted."""


# A new file before replacements that are broken would count above their old contents, which come back.
@example(
    contents=[[], [citation(1, "A.", version=1)], [], [deletion(1)]],
    rounds=[({1}, 5), ({0, 2, 3}, 1)],
    orders_itself=True,
    nlm=False,
)
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    contents=st.lists(RECORDS, min_size=4, max_size=4),
    rounds=st.lists(ROUND, max_size=3),
    orders_itself=st.booleans(),
    nlm=st.booleans(),
)
def test_whatever_fails_on_the_way_the_end_is_the_fold(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    contents: list[list[str]],
    rounds: list[tuple[set[int], int]],
    orders_itself: bool,
    nlm: bool,
) -> None:
    monkeypatch.setattr(module, "ParserPool", InlinePool)
    # Each its own deletion at the end, so that no two have the same content.
    file_names = NLM_NAMES if nlm else OWN_NAMES
    files = [
        write(tmp_path / name, *records, deletion(100 + n))
        for n, (name, records) in enumerate(zip(file_names, contents, strict=True))
    ]
    expected = MemoryTarget()
    load(files, expected)
    target = MemoryTarget(whole_files=orders_itself, orders_itself=orders_itself)
    for broken, stop in rounds:
        mends = [break_file(files[n]) for n in broken]
        _load_until(files, target, stop)
        for mend in mends:
            mend()
    report = load(files, target)
    assert report.refused == ()
    assert target.titles() == expected.titles()
    assert sorted(entry.name for entry in target.loaded) == sorted(file_names)


def _load_until(files: Sequence[Path], target: MemoryTarget, stop: int) -> None:
    def interrupt(progress: LoadProgress) -> None:
        if progress.events >= stop:
            raise KeyboardInterrupt

    try:
        load(files, target, progress=interrupt)
    except KeyboardInterrupt:
        target.restart()
