"""Small charts: lines as text for a terminal, lines and reliability diagrams as SVG."""

from collections.abc import Mapping, Sequence
from html import escape

from bioqa.models.answers.reliability import Reliability

WIDTH, HEIGHT = 60, 12
_COLOURS = ("#1b5e8c", "#b3541e", "#3c7a3c", "#7a3c78", "#555555")
_SIZE = 320
_EDGE = 48

Points = Sequence[tuple[float, float]]


def text_chart(points: Points, width: int = WIDTH, height: int = HEIGHT) -> list[str]:
    """A line chart of stars in rows, with the ends of both axes; ``points`` by rising x, at least one."""
    (left, right), (low, high) = (_ends([point[axis] for point in points]) for axis in (0, 1))
    grid = [[" "] * width for _ in range(height)]
    for x, y in points:
        column = round((x - left) / (right - left) * (width - 1))
        row = round((high - y) / (high - low) * (height - 1))
        grid[row][column] = "*"
    names = [f"{high:.4g}", *[""] * (height - 2), f"{low:.4g}"]
    margin = max(map(len, names))
    lines = [f"{name:>{margin}} |{''.join(row)}".rstrip() for name, row in zip(names, grid, strict=True)]
    begin, end = f"{points[0][0]:g}", f"{points[-1][0]:g}"
    lines.append(f"{'':>{margin}} +{'-' * width}")
    lines.append(f"{'':>{margin}}  {begin}{end:>{max(1, width - len(begin))}}")
    return lines


def line_svg(title: str, axis: str, series: Mapping[str, Points]) -> str:
    """Panels side by side, one for each series, over the same axis."""
    panels = [
        f'<g transform="translate({place * (_SIZE + 2 * _EDGE)} 0)">'
        + _frame(name, axis, *_bounds(points))
        + _line([_placed(point, *_bounds(points)) for point in points], _COLOURS[place % len(_COLOURS)])
        + "</g>"
        for place, (name, points) in enumerate(series.items())
    ]
    return _svg(title, panels)


def reliability_svg(title: str, found: Mapping[str, Reliability]) -> str:
    """Panels side by side: the share of relevant things over their mean probability, and the diagonal."""
    bounds = ((0.0, 1.0), (0.0, 1.0))
    panels = []
    for place, (name, each) in enumerate(found.items()):
        points = [_placed((b.predicted, b.observed), *bounds) for b in each.bins]
        diagonal = [_placed(corner, *bounds) for corner in ((0.0, 0.0), (1.0, 1.0))]
        dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{_COLOURS[0]}"/>' for x, y in points)
        panels.append(
            f'<g transform="translate({place * (_SIZE + 2 * _EDGE)} 0)">'
            + _frame(f"{name}, error {each.error:.3f}", "mean probability", *bounds)
            + _line(diagonal, "#999999")
            + _line(points, _COLOURS[0])
            + dots
            + "</g>"
        )
    return _svg(title, panels)


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """Lowest and highest, a unit apart if they are the same."""
    low, high = min(values), max(values)
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _bounds(points: Points) -> tuple[tuple[float, float], tuple[float, float]]:
    return _ends([x for x, _ in points]), _ends([y for _, y in points])


def _placed(
    point: tuple[float, float], across: tuple[float, float], up: tuple[float, float]
) -> tuple[float, float]:
    x, y = ((value - low) / (high - low) for value, (low, high) in zip(point, (across, up), strict=True))
    return _EDGE + x * _SIZE, _EDGE + (1 - y) * _SIZE


def _frame(name: str, axis: str, across: tuple[float, float], up: tuple[float, float]) -> str:
    bottom, right = _EDGE + _SIZE, _EDGE + _SIZE
    texts = (
        (_EDGE + _SIZE / 2, _EDGE - 14, "middle", name),
        (_EDGE + _SIZE / 2, bottom + 34, "middle", axis),
        (_EDGE, bottom + 16, "middle", f"{across[0]:g}"),
        (right, bottom + 16, "middle", f"{across[1]:g}"),
        (_EDGE - 6, bottom, "end", f"{up[0]:.3g}"),
        (_EDGE - 6, _EDGE + 10, "end", f"{up[1]:.3g}"),
    )
    made = [
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'
        for x, y, anchor, text in texts
    ]
    box = f'<rect x="{_EDGE}" y="{_EDGE}" width="{_SIZE}" height="{_SIZE}" fill="none" stroke="#777777"/>'
    return box + "".join(made)


def _line(points: Points, colour: str) -> str:
    placed = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{placed}" fill="none" stroke="{colour}" stroke-width="1.5"/>'


def _svg(title: str, panels: Sequence[str]) -> str:
    width, height = max(1, len(panels)) * (_SIZE + 2 * _EDGE), _SIZE + 2 * _EDGE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'font-family="sans-serif" font-size="12" fill="#222222">\n<title>{escape(title)}</title>\n'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n' + "\n".join(panels) + "\n</svg>\n"
    )
