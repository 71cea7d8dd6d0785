import pytest

from bioqa.models.training.rates import rate_factor


def test_rates_rise_and_fall() -> None:
    rates = [rate_factor(share, 0.1) for share in (0.0, 0.05, 0.1, 0.55, 1.0)]
    assert rates == pytest.approx([0.02, 0.52, 1.0, 0.5, 0.02])


def test_without_warm_up_rates_only_fall() -> None:
    assert [rate_factor(share) for share in (0.0, 0.5, 1.0)] == pytest.approx([1.0, 0.5, 0.02])
