"""The bench that fits the second reading."""

import numpy as np

from bench.aptness import Case, FitSettings, fit, fitted
from bioqa.models.answers.aptness import COLUMNS
from bioqa.models.answers.asked import FLAGS

TITLE, NUMBER = COLUMNS.index("title"), COLUMNS.index("number")


def _case(seed: int, *, harm: bool, judged: bool) -> Case:
    """Sentences with numbers answer, but titles where a harm is asked for."""
    columns = np.random.default_rng(seed).integers(0, 2, (12, len(COLUMNS))).astype(np.float64)
    columns[:2, [TITLE, NUMBER]] = [[1, 0], [0, 1]]
    flags = np.zeros(len(FLAGS))
    flags[FLAGS.index("harm")] = harm
    return Case(columns, flags, columns[:, TITLE if harm else NUMBER] > 0, judged)


CASES = [_case(seed, harm=bool(seed % 2), judged=seed % 4 < 2) for seed in range(80)]


def test_slopes_rise_where_answers_are() -> None:
    _, _, slopes = fit(CASES, settings=FitSettings(epochs=20, learning_rate=0.02))
    harm = 1 + FLAGS.index("harm")
    assert slopes.shape == (1 + len(FLAGS), len(COLUMNS))
    assert slopes[0, NUMBER] > 0.1
    assert slopes[harm, TITLE] > slopes[harm, NUMBER]


def test_the_order_learns_from_both_and_what_is_shown_from_experts_alone() -> None:
    experts = [each for each in CASES if not each.judged]
    judged = [each for each in CASES if each.judged]
    model = fitted(experts, judged, seeds=1)
    other = fitted(experts, judged[:10], seeds=1)
    assert np.allclose(model.relevant / model.deviation, other.relevant / other.deviation)
    assert not np.allclose(model.apt / model.deviation, other.apt / other.deviation)
