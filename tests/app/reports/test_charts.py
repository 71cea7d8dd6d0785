"""Charts: the right sizes, readable in both themes, and nothing but what pages may hold."""

import re
from itertools import pairwise

import pytest
from lxml import etree

from bioqa.app.reports import charts, svg
from bioqa.bioasq.breakdown import GroupMeans, PrecisionRecall

PAPERS = ("#ffffff", "#1b2223")
"""The cards of the light and the dark theme."""


def luminance(colour: str) -> float:
    """Of WCAG 2."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(share * value for share, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("colour", svg.COLOURS)
def test_colours_stand_out_in_both_themes(colour: str) -> None:
    for paper in PAPERS:
        dark, light = sorted((luminance(colour), luminance(paper)))
        assert (light + 0.05) / (dark + 0.05) >= 3


def read(svg: str) -> etree._Element:
    root = etree.fromstring(svg)
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert not root.xpath("//@style | //style | //script")
    return root


def test_bars_of_differences_are_as_long_as_they_are() -> None:
    root = read(charts.difference_bars("b <minus> a", [("<x>", 0.5), ("y", 0.0), ("z", -0.25)], 1))
    heights = [float(rect.get("height")) for rect in root.xpath("//rect")]
    tops = [float(rect.get("y")) for rect in root.xpath("//rect")]
    assert heights == pytest.approx([90, 0, 45])
    assert tops == pytest.approx([10, 100, 100])
    assert root.xpath("//rect/title/text()") == ["<x>: +0.5000", "y: +0.0000", "z: -0.2500"]
    assert {rect.get("fill") for rect in root.xpath("//rect")} == {svg.colour(1)}


def test_no_bars_at_all() -> None:
    assert not read(charts.difference_bars("none", [], 1)).xpath("//rect")
    assert not read(charts.grouped_bars("none", [], ["a"])).xpath("//rect")


def test_grouped_bars_do_not_overlap_and_show_their_values() -> None:
    groups = [GroupMeans("yesno", 3, {"a": 0.5, "b": 1.0}), GroupMeans("list", 4, {"b": 0.25})]
    root = read(charts.grouped_bars("by type", groups, ["a", "b"]))
    bars = [(float(r.get("y")), float(r.get("width")), r.get("fill")) for r in root.xpath("//rect")]
    assert [width / bars[1][1] for _, width, _ in bars] == pytest.approx([0.5, 1, 0.25], abs=0.001)
    assert [fill for *_, fill in bars] == [svg.colour(0), svg.colour(1), svg.colour(1)]
    places = [y for y, *_ in bars]
    assert all(later - earlier >= 14 for earlier, later in pairwise(places))
    texts = root.xpath("//text/text()")
    assert [each for each in texts if re.fullmatch(r"\d\.\d{3}", each)] == ["0.500", "1.000", "0.250"]
    bottom = max(float(y) for y in root.xpath("//text/@y"))
    assert bottom < float(root.get("height") or 0)


def test_lines_have_a_point_for_each_depth() -> None:
    points = ((0.2, 0.9), (0.4, 0.6))
    root = read(charts.precision_recall("curve", [PrecisionRecall("b", points)], ["a", "b"]))
    assert len(root.xpath("//circle")) == 2
    assert root.xpath("//polyline/@stroke") == [svg.colour(1)]
    assert root.xpath("//circle[2]/title/text()") == ["b, 2 documents: precision 0.6000, recall 0.4000"]
    across = [float(x) for x in root.xpath("//circle/@cx")]
    assert (across[0] - 40) / (across[1] - 40) == pytest.approx(0.5)


def test_the_ninth_system_has_a_dash() -> None:
    shown = charts.legend([f"<{place}>" for place in range(9)])
    assert "&lt;8&gt;" in shown
    assert shown.count('stroke-dasharray=""') == 8


def test_dots_over_decades_with_their_deviations() -> None:
    dots = [
        charts.Dot("1", "<one>", 1.0, 0.5, 0.05, 0),
        charts.Dot("2", "two", 10.0, 0.75, 0.0, 1, hollow=True),
        charts.Dot("3", "three", 100.0, 0.9, 0.0, 1),
    ]
    root = read(charts.scatter("all", "ms", "MAP", dots, ["a", "<b>"]))
    circles = root.xpath("//g/circle")
    across = [float(circle.get("cx")) for circle in circles]
    assert across[1] - across[0] == pytest.approx(across[2] - across[1], abs=0.2)
    heights = [float(circle.get("cy")) for circle in circles]
    assert (heights[0] - heights[1]) / (heights[1] - heights[2]) == pytest.approx(0.25 / 0.15, abs=0.02)
    assert [circle.get("fill") for circle in circles] == [svg.colour(0), "none", svg.colour(1)]
    (bar,) = root.xpath("//g/path/@d")
    low, high = (float(y) for y in re.findall(r"[\d.]+", bar)[1:])
    assert low - high == pytest.approx((heights[0] - heights[1]) * 0.1 / 0.25, abs=0.2)
    assert root.xpath("//g/title/text()") == ["<one>", "two", "three"]
    assert {"a", "<b>", "ms", "MAP", "1", "10", "100", "0.4", "0.9"} <= set(root.xpath("//text/text()"))


def test_labels_of_close_dots_do_not_overlap() -> None:
    dots = [charts.Dot(str(10 + n), "", 10.0 + n / 10, 0.5 + n / 1000, 0.0, 0) for n in range(8)]
    root = read(charts.scatter("close", "ms", "MAP", dots, ["a"]))
    labels = [(float(each.get("x")), float(each.get("y"))) for each in root.xpath("//g/text")]
    for place, (x, y) in enumerate(labels):
        assert all(abs(x - a) >= 10 or abs(y - b) >= 8 for a, b in labels[:place])


def test_a_chart_as_a_file_has_its_own_colours() -> None:
    inline = charts.scatter("all", "ms", "MAP", [charts.Dot("1", "one", 5.0, 0.5, 0.0, 0)], ["a"])
    root = etree.fromstring(svg.as_file(inline).encode())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("color") == "#222222"
    assert root[0].get("fill") == "#ffffff"
    assert len(root) == len(etree.fromstring(inline)) + 1


def test_no_dots_at_all() -> None:
    assert not read(charts.scatter("none", "ms", "MAP", [], [])).xpath("//circle")
