"""Charts: what is drawn where."""

from xml.etree import ElementTree

from bioqa.app.cli.charts import line_svg, reliability_svg, text_chart
from bioqa.models.answers.reliability import Bin, Reliability

SVG = "{http://www.w3.org/2000/svg}"


def test_a_text_chart_has_its_points_and_ends() -> None:
    lines = text_chart([(1, 0.5), (2, 0.75), (3, 1.0)], width=5, height=3)
    assert lines == ["  1 |    *", "    |  *", "0.5 |*", "    +-----", "     1   3"]


def test_one_point_and_equal_values() -> None:
    assert sum(line.count("*") for line in text_chart([(4, 2.0)])) == 1
    assert sum(line.count("*") for line in text_chart([(1, 2.0), (2, 2.0)])) == 2


def test_lines_as_svg() -> None:
    root = ElementTree.fromstring(
        line_svg("A & B", "epoch", {"loss": [(1, 2.0), (2, 1.0)], "map": [(1, 0.5)]})
    )
    assert root.findtext(f"{SVG}title") == "A & B"
    falling, _ = root.iter(f"{SVG}polyline")
    (left, top), (right, bottom) = (map(float, pair.split(",")) for pair in falling.get("points", "").split())
    assert left < right
    assert top < bottom
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"loss", "map", "epoch", "2", "1"} <= set(texts)


def test_a_reliability_diagram() -> None:
    found = {"documents": Reliability((Bin(5, 0.0, 0.25), Bin(5, 1.0, 0.75)))}
    root = ElementTree.fromstring(reliability_svg("Reliability", found))
    assert len([*root.iter(f"{SVG}circle")]) == 2
    assert "documents, error 0.250" in [text.text for text in root.iter(f"{SVG}text")]
