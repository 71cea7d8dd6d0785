import pytest

from bioqa.bioasq.kappa import cohen_kappa, fleiss_kappa, observed_agreement


def test_cohens_kappa_is_that_of_a_textbook() -> None:
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: observed .7, by chance .5.
    pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    assert observed_agreement(pairs) == pytest.approx(0.7)
    assert cohen_kappa(pairs) == pytest.approx(0.4)


def test_cohens_kappa_of_three_grades() -> None:
    pairs = [(0, 0)] * 4 + [(1, 1)] * 3 + [(2, 2)] * 2 + [(0, 2)]
    # By chance: .5 * .4 + .3 * .3 + .2 * .3.
    assert cohen_kappa(pairs) == pytest.approx((0.9 - 0.35) / 0.65)


def test_perfect_agreement_is_1_and_its_contrary_below_0() -> None:
    assert cohen_kappa([(0, 0), (1, 1)]) == 1
    assert cohen_kappa([(0, 1), (1, 0)]) == -1


def test_kappa_is_not_defined_without_items_or_without_a_difference() -> None:
    assert observed_agreement([]) is None
    assert cohen_kappa([]) is None
    assert cohen_kappa([(1, 1), (1, 1)]) is None
    assert fleiss_kappa([]) is None
    assert fleiss_kappa([[2, 2, 2]]) is None


def test_fleiss_kappa_is_that_of_his_example() -> None:
    # The table of Wikipedia's article: 10 subjects, 14 raters, 5 categories; kappa .210.
    table = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    items = [[grade for grade, count in enumerate(row) for _ in range(count)] for row in table]
    assert fleiss_kappa(items) == pytest.approx(0.210, abs=5e-4)


def test_fleiss_kappa_needs_the_same_number_of_judges() -> None:
    for items in ([[1, 1], [1]], [[1]]):
        with pytest.raises(ValueError, match="two or more"):
            fleiss_kappa(items)
