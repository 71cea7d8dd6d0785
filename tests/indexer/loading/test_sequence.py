"""Which files are loaded already, and which numbers the others take."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from bioqa.indexer.loading import sequence
from bioqa.indexer.loading.ledger import FILES_BITS, LoadedFile
from bioqa.indexer.loading.sequence import Step, steps
from bioqa.system.errors import BioqaError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def make(folder: Path, *names: str) -> list[Path]:
    for name in names:
        (folder / name).write_text(f"content of {name}")
    return [folder / name for name in names]


def loaded(name: str, number: int, content_of: str = "") -> LoadedFile:
    content = f"content of {content_of or name}".encode()
    return LoadedFile(name, hashlib.md5(content).hexdigest(), len(content), 1, 1, 0, 0, number=number)


def planned(files: Sequence[Path], *ledger: LoadedFile, orders_itself: bool = True) -> tuple[Step, ...]:
    return steps(files, ledger, orders_itself, 2)


def numbers(files: Sequence[Path], *ledger: LoadedFile) -> list[int]:
    made = planned(files, *ledger)
    assert [step.refused for step in made] == [""] * len(made)
    return [step.number for step in made]


def test_the_first_files(folder: Path) -> None:
    assert numbers(make(folder, "a.xml", "b.xml")) == [1, 2]
    assert planned([]) == ()


def test_a_refused_file_leaves_its_number_free(folder: Path) -> None:
    files = make(folder, "a.xml", "b.xml", "c.xml", "d.xml")
    assert numbers(files, loaded("c.xml", 3), loaded("d.xml", 4)) == [1, 2, 3, 4]
    assert numbers(files, loaded("a.xml", 1), loaded("d.xml", 4)) == [1, 2, 3, 4]


def test_own_files_take_numbers_between_those_of_nlm(folder: Path) -> None:
    files = make(folder, "pubmed26n0001.xml", "a.xml", "b.xml", "pubmed26n0002.xml", "c.xml")
    first, a, b, second, c = numbers(files)
    assert (first, second) == (4 * 260_001, 4 * 260_002)
    assert first < a < b < second < c


def test_an_own_file_loaded_after_nlms_comes_before_the_next_of_nlm(folder: Path) -> None:
    (number,) = numbers(make(folder, "a.xml"), loaded("pubmed26n0007.xml", 4 * 260_007))
    assert 4 * 260_007 < number < 4 * 260_008


def test_no_number_is_left_between_two(folder: Path) -> None:
    files = make(folder, "a.xml", "new.xml", "b.xml")
    made = planned(files, loaded("a.xml", 1), loaded("b.xml", 2))
    assert [bool(step.refused) for step in made] == [False, True, False]
    assert "new.xml cannot be loaded before b.xml" in made[1].refused
    # Where it is only a matter of applying b.xml again, it can.
    made = planned(files, loaded("a.xml", 1), loaded("b.xml", 2), orders_itself=False)
    assert [step.refused for step in made] == ["", "", ""]


def test_a_number_that_a_file_not_given_has_is_taken(folder: Path) -> None:
    files = make(folder, "new.xml", "b.xml")
    (new, _) = planned(files, loaded("a.xml", 1), loaded("b.xml", 2))
    assert new.refused


def test_nlms_files_are_sorted_and_others_stay(folder: Path) -> None:
    files = make(folder, "pubmed26n0002.xml.gz", "z.xml", "pubmed25n0009.xml", "a.xml", "pubmed26n0001.xml")
    assert [step.name for step in planned(files)] == [
        "pubmed25n0009.xml",
        "z.xml",
        "pubmed26n0001.xml",
        "a.xml",
        "pubmed26n0002.xml.gz",
    ]


def test_what_is_held_is_known_by_content(folder: Path) -> None:
    files = make(folder, "a.xml", "b.xml")
    a, b = planned(files, loaded("other.xml", 3, content_of="b.xml"), loaded("a.xml", 4, content_of="x.xml"))
    assert (a.entry, a.replaces) == (None, True)
    assert b.entry is not None
    assert (b.entry.name, b.number, b.replaces, b.duplicate) == ("other.xml", 3, False, False)


def test_only_the_first_of_two_copies_counts(folder: Path) -> None:
    (file,) = make(folder, "a.xml")
    copy = folder / "b.xml"
    copy.write_bytes(file.read_bytes())
    assert [step.duplicate for step in planned([file, copy], loaded("a.xml", 1))] == [False, True]


def test_only_files_of_a_known_size_are_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def md5_of(path: Path) -> str:
        read.append(path.name)
        raise PermissionError(path)

    monkeypatch.setattr(sequence, "md5_of", md5_of)
    files = make(folder, "a.xml", "b.xml", "longer.xml")
    assert [step.entry for step in planned(files, loaded("c.xml", 1))] == [None, None, None]
    assert sorted(read) == ["a.xml", "b.xml"]


def test_a_new_content_of_nlms_file_has_no_number_of_its_own(folder: Path) -> None:
    files = make(folder, "pubmed26n0001.xml")
    (step,) = planned(files, loaded("pubmed26n0001.xml", 4 * 260_001, content_of="another"))
    assert "pubmed26n0001.xml is loaded already, with different content" in step.refused


def test_the_names_to_be_given_along_are_told_in_order_and_not_all(folder: Path) -> None:
    ledger = [loaded(f"pubmed26n{n:04}.xml", 4 * (260_000 + n)) for n in range(9, 1, -1)]
    (step,) = planned(make(folder, "pubmed26n0001.xml"), *ledger, orders_itself=False)
    assert step.refused.endswith(
        "are applied again: pubmed26n0002.xml, pubmed26n0003.xml, pubmed26n0004.xml, pubmed26n0005.xml, "
        "pubmed26n0006.xml and 3 more"
    )


def test_numbers_run_out(folder: Path) -> None:
    files = make(folder, "a.xml", "b.xml")
    last = loaded("c.xml", (1 << FILES_BITS) - 2)
    assert numbers(files[:1], last) == [(1 << FILES_BITS) - 1]
    with pytest.raises(BioqaError, match="no numbers left for 2 files"):
        planned(files, last)
