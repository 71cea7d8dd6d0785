import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bioqa.models.answers.scale import Curve, Scale

CURVE = Curve((0.0, 1.0, 3.0), (-2.0, 0.0, 1.0))


def _odds(score: float) -> float:
    p = float(CURVE(np.array([score]))[0])
    return math.log(p / (1 - p))


def test_pieces_are_straight_in_log_odds_and_the_outer_ones_go_on() -> None:
    expected = [(-1.0, -4.0), (0.0, -2.0), (0.5, -1.0), (1.0, 0.0), (2.0, 0.5), (3.0, 1.0), (5.0, 2.0)]
    assert [_odds(score) for score, _ in expected] == pytest.approx([odds for _, odds in expected])


@given(st.lists(st.floats(-1e300, 1e300), min_size=1))
def test_orders_never_change_and_nothing_overflows(scores: list[float]) -> None:
    found = CURVE(np.sort(np.array(scores)))
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found) >= -1e-15).all()


@pytest.mark.parametrize("probability", [0.001, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999])
def test_the_score_of_a_probability(probability: float) -> None:
    assert CURVE(np.array([CURVE.score_of(probability)])) == pytest.approx(probability)


@pytest.mark.parametrize(
    ("scores", "log_odds"),
    [
        ((0.0,), (1.0,)),
        ((0.0, 1.0), (0.0, 1.0, 2.0)),
        ((0.0, 0.0), (0.0, 1.0)),
        ((1.0, 0.0), (0.0, 1.0)),
        ((0.0, 1.0), (1.0, 0.0)),
        ((0.0, math.nan), (0.0, 1.0)),
        ((0.0, 1.0), (0.0, math.inf)),
    ],
)
def test_what_does_not_rise_is_no_curve(scores: tuple[float, ...], log_odds: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="curve"):
        Curve(scores, log_odds)


def test_a_scale_is_stored_and_read() -> None:
    scale = Scale(CURVE, Curve((-1.0, 1.0), (0.0, 4.0)))
    assert Scale.from_dict(scale.as_dict()) == scale
    with_margin = replace(scale, margin=1.5)
    assert Scale.from_dict(with_margin.as_dict()) == with_margin
    assert Scale.from_dict(None) is None


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"documents": {}, "sentences": {}},
        {"documents": CURVE, "sentences": CURVE},
        {"documents": {"scores": 1, "log_odds": [0, 1]}, "sentences": {"scores": [0, 1], "log_odds": [0, 1]}},
        {"documents": {"scores": [0, 1], "log_odds": ["a", 1]}, "sentences": {}},
        *({**Scale(CURVE, CURVE).as_dict(), "margin": margin} for margin in ("1", True, 0, -1.0, math.inf)),
        {**Scale(CURVE, CURVE).as_dict(), "width": 1.0},
    ],
)
def test_other_content_is_no_scale(value: object) -> None:
    with pytest.raises(ValueError, match="scale: "):
        Scale.from_dict(value)
