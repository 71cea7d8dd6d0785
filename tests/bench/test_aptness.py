"""The bench that fits the second reading."""

import numpy as np

from bench.aptness import Case, FitSettings, fit, fit_cascade, fit_reranker
from bioqa.models.answers.aptness import CASCADE_COLUMNS, COLUMNS
from bioqa.models.answers.asked import FLAGS

TITLE, NUMBER = COLUMNS.index("title"), COLUMNS.index("number")


def _case(seed: int, *, harm: bool, judged: bool) -> Case:
    """Sentences with numbers answer, but titles where a harm is asked for."""
    columns = np.random.default_rng(seed).integers(0, 2, (12, len(COLUMNS))).astype(np.float64)
    columns[:2, [TITLE, NUMBER]] = [[1, 0], [0, 1]]
    flags = np.zeros(len(FLAGS))
    flags[FLAGS.index("harm")] = harm
    return Case(
        columns, columns[:, COLUMNS.index("weight")], flags, columns[:, TITLE if harm else NUMBER] > 0, judged
    )


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
    model = fit_reranker(experts, judged, seeds=1)
    other = fit_reranker(experts, judged[:10], seeds=1)
    assert np.allclose(model.relevant / model.deviation, other.relevant / other.deviation)
    assert not np.allclose(model.apt / model.deviation, other.apt / other.deviation)


def test_a_cascade_starts_from_both_rankers_log_weights() -> None:
    weight, first = CASCADE_COLUMNS.index("weight"), CASCADE_COLUMNS.index("first_ranker")
    chance = np.random.default_rng(1)
    rows = [chance.normal(size=(12, len(CASCADE_COLUMNS))) for _ in range(8)]
    # All sentences alike but for their weights, of which nothing is to be learned.
    answers = np.arange(12) < 6
    cases = [Case(r, 2 * r[:, weight] + r[:, first], np.zeros(len(FLAGS)), answers, True) for r in rows]
    model = fit_cascade(cases, seeds=1)
    order, shown = model(rows[0], np.zeros(len(FLAGS)))
    learned = order + rows[0][:, weight] - cases[0].base
    assert np.ptp(learned) < 0.5 * np.ptp(cases[0].base)
    assert np.ptp(shown - 0.05 * rows[0][:, first]) < 1e-6
