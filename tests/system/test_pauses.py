import pytest

from bioqa.system.pauses import pause_after


def test_each_pause_is_twice_the_one_before_up_to_the_longest() -> None:
    pauses = [pause_after(failures, 0.5, 15.0) for failures in range(1, 8)]
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0]


@pytest.mark.parametrize("failures", [10**3, 10**9])
def test_it_never_overflows(failures: int) -> None:
    assert pause_after(failures, 0.5, 30.0) == 30.0


def test_the_first_is_no_longer_than_the_longest() -> None:
    assert pause_after(0, 1.0, 30.0) == 1.0
    assert pause_after(1, 60.0, 30.0) == 30.0
