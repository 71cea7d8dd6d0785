"""Charts: what is drawn where."""

from bioqa.app.cli.charts import text_chart


def test_a_text_chart_has_its_points_and_ends() -> None:
    lines = text_chart([(1, 0.5), (2, 0.75), (3, 1.0)], width=5, height=3)
    assert lines == ["  1 |    *", "    |  *", "0.5 |*", "    +-----", "     1   3"]


def test_one_point_and_equal_values() -> None:
    assert sum(line.count("*") for line in text_chart([(4, 2.0)])) == 1
    assert sum(line.count("*") for line in text_chart([(1, 2.0), (2, 2.0)])) == 2
