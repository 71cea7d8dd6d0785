"""What is to be done: order, gaps, years."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.indexer.loading.ledger import LoadedFile
from bioqa.indexer.releases.planning import changed_files, make_plan, year_of
from bioqa.indexer.releases.source import Directory, PublishedFile
from bioqa.system.errors import BioqaError


def name(number: int, year: int = 2025) -> str:
    return f"pubmed{year % 100:02}n{number:04}.xml.gz"


def published(part: Directory, *numbers: int, year: int = 2025) -> list[PublishedFile]:
    return [PublishedFile(name(number, year), part) for number in numbers]


def held(*numbers: int, year: int = 2025) -> list[LoadedFile]:
    return [LoadedFile(name(n, year), f"md5 of {n}", 1, 0, 0, 0, 0) for n in numbers]


def names(files: tuple[PublishedFile, ...]) -> list[str]:
    return [file.name for file in files]


def test_year_and_number_are_in_the_name() -> None:
    file = PublishedFile("pubmed24n1219.xml.gz", "baseline")
    assert (file.year, file.number) == (2024, 1219)


def test_baseline_comes_before_updates_in_the_order_of_numbers() -> None:
    listing = published("updatefiles", 5, 4) + published("baseline", 3, 1, 2)
    plan = make_plan(listing, 2025, [])
    assert names(plan.files) == [name(n) for n in (1, 2, 3, 4, 5)]
    assert (plan.waiting, plan.faults, plan.notes) == ((), (), ())


def test_what_is_held_is_left_out_though_no_longer_listed() -> None:
    plan = make_plan(published("updatefiles", 4, 5), 2025, held(1, 2, 3, 4))
    assert names(plan.files) == [name(5)]
    assert plan.faults == ()


def test_nothing_is_loaded_behind_a_gap() -> None:
    listing = published("baseline", 1, 2) + published("updatefiles", 3, 5, 6)
    plan = make_plan(listing, 2025, held(1, 2))
    assert names(plan.files) == [name(3)]
    assert plan.waiting == (name(5), name(6))
    assert plan.faults == (f"{name(4)} is missing; 2 of the files listed wait for it",)


def test_a_gap_between_baseline_and_updates_is_one() -> None:
    plan = make_plan(published("baseline", 1, 2) + published("updatefiles", 4), 2025, [])
    assert names(plan.files) == [name(1), name(2)]
    assert plan.faults == (f"{name(3)} is missing; 1 of the files listed wait for it",)


def test_a_file_still_being_published_stops_what_follows() -> None:
    listing = [*published("baseline", 1), PublishedFile(name(2), "updatefiles", ready=False)]
    plan = make_plan([*listing, *published("updatefiles", 3)], 2025, [])
    assert names(plan.files) == [name(1)]
    assert plan.faults == (f"{name(2)} has no .md5 yet; 2 of the files listed wait for it",)


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((1, 3), f"{name(2)} is missing"),
        ((4,), f"{name(1)} to {name(3)} are missing"),
        ((1, 3, 5, 6, 9), f"{name(2)}, {name(4)}, {name(7)} to {name(8)} are missing"),
    ],
)
def test_a_baseline_with_gaps_is_refused(numbers: tuple[int, ...], said: str) -> None:
    with pytest.raises(BioqaError) as error:
        make_plan(published("baseline", *numbers), 2025, [])
    assert str(error.value) == f"the baseline of 2025 is not complete: {said} in baseline/"


def test_a_gap_in_the_listed_baseline_that_is_loaded_is_none() -> None:
    assert make_plan(published("baseline", 1, 3), 2025, held(1, 2)).files[0].name == name(3)


def test_updates_without_their_baseline_are_refused() -> None:
    with pytest.raises(BioqaError, match=r"pubmed25n0007.* updates the baseline of 2025, which is neither"):
        make_plan(published("updatefiles", 7), 2025, [])
    with pytest.raises(BioqaError, match=r"pubmed25n0007.* updates the baseline of 2025, which is not there"):
        year_of(published("updatefiles", 7), None)


def test_updates_numbered_among_the_baseline_are_refused() -> None:
    with pytest.raises(BioqaError, match=r"pubmed25n0002.*among the baseline's"):
        make_plan(published("baseline", 1, 3) + published("updatefiles", 2), 2025, held(2))
    with pytest.raises(BioqaError, match=r"baseline/pubmed25n0001.*updatefiles/pubmed25n0001.*same number"):
        make_plan(published("baseline", 1) + published("updatefiles", 1), 2025, [])


def test_other_years_are_never_mixed_in() -> None:
    listing = (
        published("baseline", 1, 2)
        + published("updatefiles", 3)
        + published("baseline", 1, 2, year=2024)
        + published("updatefiles", 3, 4, year=2024)
        + published("updatefiles", 9, year=2026)
    )
    plan = make_plan(listing, 2025, held(1))
    assert names(plan.files) == [name(2), name(3)]
    assert plan.notes == ("4 files of other years are ignored: the release is of 2025",)
    assert plan.waiting == (name(9, 2026),)
    assert plan.faults == (f"{name(9, 2026)} waits for its baseline: baseline/ has no file of its year",)


def test_a_ledger_of_another_year_is_refused() -> None:
    with pytest.raises(BioqaError, match=r"the release of 2025 has pubmed24n0001"):
        make_plan(published("baseline", 1), 2025, held(1, year=2024))


@pytest.mark.parametrize(
    ("listing", "serving", "year"),
    [
        (published("baseline", 1), None, 2025),
        (published("baseline", 1) + published("baseline", 1, year=2026), 2025, 2026),
        (published("updatefiles", 9), 2025, 2025),
        (published("updatefiles", 9) + published("updatefiles", 1, year=2026), 2025, 2025),
    ],
)
def test_the_year_is_the_latest_with_a_baseline(
    listing: list[PublishedFile], serving: int | None, year: int
) -> None:
    assert year_of(listing, serving) == year


def test_a_source_with_nothing_of_the_year_is_refused() -> None:
    with pytest.raises(
        BioqaError, match=r"release of 2025 is serving, and there are only files of 2023, 2024"
    ):
        year_of(published("baseline", 1, year=2024) + published("updatefiles", 1, year=2023), 2025)
    with pytest.raises(BioqaError, match="nothing to load"):
        year_of([], None)


def test_changed_files_are_those_of_another_md5() -> None:
    published = {name(1): "md5 of 1", name(2): "another", name(4): "new"}
    assert changed_files(published, held(1, 2, 3)) == [name(2)]


@given(
    st.integers(1, 12),
    st.sets(st.integers(13, 30)),
    st.integers(0, 30),
    st.randoms(use_true_random=False),
)
def test_held_and_planned_are_always_a_beginning_of_the_sequence(
    baseline: int, updates: set[int], loaded: int, random: Random
) -> None:
    updates = {number - 12 + baseline for number in updates}
    listing = published("baseline", *range(1, baseline + 1)) + published("updatefiles", *updates)
    random.shuffle(listing)
    plan = make_plan(listing, 2025, held(*range(1, loaded + 1)))
    numbers = [*range(1, loaded + 1), *(file.number for file in plan.files)]
    assert numbers == list(range(1, len(numbers) + 1))
    # And it is the longest.
    assert len(numbers) + 1 not in {file.number for file in listing}
    assert set(plan.waiting) == {f.name for f in listing if f.number > len(numbers)}
