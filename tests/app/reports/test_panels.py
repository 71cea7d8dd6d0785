"""Panels: what is drawn where."""

from xml.etree import ElementTree

from bioqa.app.reports.panels import learning_curves, reliability_diagrams
from bioqa.models.answers.reliability import Bin, Reliability

SVG = "{http://www.w3.org/2000/svg}"


def test_learning_curves() -> None:
    root = ElementTree.fromstring(
        learning_curves("A & B", "epoch", {"loss": [(1, 2.0), (2, 1.0)], "map": [(1, 0.5)]})
    )
    assert root.get("aria-label") == "A & B"
    falling, _ = root.iter(f"{SVG}polyline")
    (left, top), (right, bottom) = (map(float, pair.split(",")) for pair in falling.get("points", "").split())
    assert left < right
    assert top < bottom
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"loss", "map", "epoch", "2", "1"} <= set(texts)


def test_a_reliability_diagram() -> None:
    found = {"documents": Reliability((Bin(5, 0.0, 0.25), Bin(5, 1.0, 0.75)))}
    root = ElementTree.fromstring(reliability_diagrams("Reliability", found))
    assert len([*root.iter(f"{SVG}circle")]) == 2
    assert "documents, error 0.250" in [text.text for text in root.iter(f"{SVG}text")]
