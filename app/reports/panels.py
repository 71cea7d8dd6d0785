"""Panels side by side, as a file: learning curves, and reliability diagrams."""

from collections.abc import Mapping, Sequence

from bioqa.app.reports.svg import as_file, colour, drawing, line, polyline, text
from bioqa.models.answers.reliability import Reliability

_SIZE = 320
_EDGE = 48
_WIDTH = _SIZE + 2 * _EDGE

Points = Sequence[tuple[float, float]]
Ends = tuple[float, float]
"""Lowest and highest value of an axis."""


def learning_curves(title: str, axis: str, series: Mapping[str, Points]) -> str:
    """A panel for each series, over the same axis."""
    panels = []
    for position, (name, points) in enumerate(series.items()):
        across, up = (ends([point[axis] for point in points]) for axis in (0, 1))
        placed = [_place(point, across, up) for point in points]
        panels.append(_frame(name, axis, across, up) + polyline(placed, colour(position)))
    return _side_by_side(title, panels)


def reliability_diagrams(title: str, reliabilities: Mapping[str, Reliability]) -> str:
    """The share of relevant things over their mean probability, and the diagonal."""
    whole = (0.0, 1.0)
    diagonal = [_place(corner, whole, whole) for corner in ((0.0, 0.0), (1.0, 1.0))]
    panels = []
    for name, reliability in reliabilities.items():
        points = [_place((b.predicted, b.observed), whole, whole) for b in reliability.bins]
        dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour(0)}"/>' for x, y in points)
        frame = _frame(f"{name}, error {reliability.error:.3f}", "mean probability", whole, whole)
        panels.append(frame + polyline(diagonal, "#999999") + polyline(points, colour(0)) + dots)
    return _side_by_side(title, panels)


def ends(values: Sequence[float]) -> tuple[float, float]:
    """Lowest and highest, a unit apart if they are the same."""
    low, high = min(values), max(values)
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _place(point: tuple[float, float], across: Ends, up: Ends) -> tuple[float, float]:
    x, y = ((value - low) / (high - low) for value, (low, high) in zip(point, (across, up), strict=True))
    return _EDGE + x * _SIZE, _EDGE + (1 - y) * _SIZE


def _frame(name: str, axis: str, across: Ends, up: Ends) -> str:
    bottom = right = _EDGE + _SIZE
    middle = _EDGE + _SIZE / 2
    return (
        line(_EDGE, bottom, right, bottom)
        + line(_EDGE, bottom, _EDGE, _EDGE)
        + text(middle, _EDGE - 14, name, "middle")
        + text(middle, bottom + 34, axis, "middle")
        + text(_EDGE, bottom + 16, f"{across[0]:g}", "middle")
        + text(right, bottom + 16, f"{across[1]:g}", "middle")
        + text(_EDGE - 6, bottom, f"{up[0]:.3g}", "end")
        + text(_EDGE - 6, _EDGE + 10, f"{up[1]:.3g}", "end")
    )


def _side_by_side(title: str, panels: Sequence[str]) -> str:
    moved = "".join(
        f'<g transform="translate({position * _WIDTH} 0)">{panel}</g>'
        for position, panel in enumerate(panels)
    )
    return as_file(drawing(title, _WIDTH, moved, max(1, len(panels)) * _WIDTH))
