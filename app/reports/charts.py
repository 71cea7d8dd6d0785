"""Charts of a comparison as inline SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from bioqa.app.reports.svg import FONT, WIDTH, colour, dash, drawing, line, polyline, text
from bioqa.bioasq.breakdown import GroupMeans, PrecisionRecall

_LABELS = 96
_VALUES = 44
_BAR = 14


def legend(names: Sequence[str]) -> str:
    """Names with their colours, as a list in HTML, above charts that share them."""
    items = "".join(
        f'<li><svg width="24" height="12" viewBox="0 0 24 12" aria-hidden="true">'
        f'<path d="M0 6H24" stroke="{colour(position)}" stroke-width="4" '
        f'stroke-dasharray="{dash(position)}"/>'
        f"</svg> {escape(name)}</li>"
        for position, name in enumerate(names)
    )
    return f'<ul class="legend">{items}</ul>'


def difference_bars(title: str, differences: Sequence[tuple[str, float]], position: int) -> str:
    """A thin bar for each question, the best first; ``differences``: its name and value. ``position``: the
    system's, for its colour."""
    height, middle, left = 200.0, 100.0, 40.0
    furthest = max((abs(value) for _, value in differences), default=0.0) or 1.0
    step = (WIDTH - left) / max(1, len(differences))
    bars = []
    for number, (name, value) in enumerate(differences):
        size = abs(value) / furthest * (middle - 10)
        top = middle - size if value > 0 else middle
        bars.append(
            f'<rect x="{left + number * step:.2f}" y="{top:.2f}" width="{max(step * 0.85, 0.4):.2f}" '
            f'height="{size:.2f}" fill="{colour(position)}">'
            f"<title>{escape(name)}: {value:+.4f}</title></rect>"
        )
    axis = line(left, middle, WIDTH, middle)
    ends = (
        text(left - 4, 14, f"{furthest:+.2f}", "end")
        + text(left - 4, middle + 4, "0", "end")
        + text(left - 4, height - 6, f"{-furthest:+.2f}", "end")
    )
    return drawing(title, height, axis + ends + "".join(bars))


def grouped_bars(title: str, groups: Sequence[GroupMeans], names: Sequence[str]) -> str:
    """Horizontal bars, a group below the other, with each value at its bar's end."""
    furthest = max((value for group in groups for value in group.means.values()), default=0.0) or 1.0
    scale = (WIDTH - _LABELS - _VALUES) / furthest
    elements, y = [], 0.0
    for group in groups:
        begin = y
        elements.append(
            text(0, y + FONT, group.name) + text(0, y + 2 * FONT + 3, f"{group.questions} questions")
        )
        for position, name in enumerate(names):
            if name not in group.means:
                continue
            value = group.means[name]
            elements.append(
                f'<rect x="{_LABELS}" y="{y:.1f}" width="{max(value, 0) * scale:.2f}" height="{_BAR - 2}" '
                f'fill="{colour(position)}"><title>{escape(name)}, {escape(group.name)}: {value:.4f}</title>'
                "</rect>" + text(_LABELS + max(value, 0) * scale + 4, y + FONT - 2, f"{value:.3f}")
            )
            y += _BAR
        y = max(y, begin + 2 * FONT + 6) + 12
    return drawing(title, max(y, 20), "".join(elements))


def precision_recall(title: str, curves: Sequence[PrecisionRecall], names: Sequence[str]) -> str:
    """Precision over recall, a line for each system, with a point at each number of documents."""
    bottom, left, top, size = 250.0, 40.0, 12.0, WIDTH - 50.0
    points = [point for curve in curves for point in curve.points]
    furthest = [max((point[axis] for point in points), default=0.0) or 1.0 for axis in (0, 1)]

    def to_screen(point: tuple[float, float]) -> tuple[float, float]:
        return left + point[0] / furthest[0] * size, bottom - point[1] / furthest[1] * (bottom - top)

    elements = [line(left, bottom, left + size, bottom), line(left, bottom, left, top)]
    elements += [text(left - 4, top + 8, f"{furthest[1]:.2f}", "end"), text(left - 4, bottom, "0", "end")]
    elements += [text(left, bottom + 16, "0"), text(left + size, bottom + 16, f"{furthest[0]:.2f}", "end")]
    elements += [text(left + size / 2, bottom + 16, "recall", "middle"), text(left + 6, top + 8, "precision")]
    for curve in curves:
        position = names.index(curve.system)
        on_screen = [to_screen(point) for point in curve.points]
        elements.append(polyline(on_screen, colour(position), dash(position)))
        elements += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour(position)}">'
            f"<title>{escape(curve.system)}, {depth} documents: "
            f"precision {precision:.4f}, recall {recall:.4f}</title></circle>"
            for depth, ((x, y), (recall, precision)) in enumerate(
                zip(on_screen, curve.points, strict=True), start=1
            )
        ]
    return drawing(title, bottom + 24, "".join(elements))


@dataclass(frozen=True, slots=True)
class Dot:
    """A point of a scatter plot."""

    label: str
    title: str
    """Shown while a pointer is over it."""
    x: float
    """Above 0: the axis is logarithmic."""
    y: float
    deviation: float
    """Length of the bar above and below it."""
    group: int
    """Number of its group, from 0, which gives its colour."""
    hollow: bool = False


def scatter(title: str, across: str, up: str, dots: Sequence[Dot], groups: Sequence[str]) -> str:
    """Labelled dots over a logarithmic axis, a colour for each group, with a legend below."""
    bottom, left, top, right = 420.0, 40.0, 24.0, WIDTH - 24.0
    decades = [10.0**power for power in _powers([dot.x for dot in dots])]
    ends = [dot.y + sign * dot.deviation for dot in dots for sign in (-1, 1)]
    marks = _tenths(ends)

    def to_screen(x: float, y: float) -> tuple[float, float]:
        over = log10(x / decades[0]) / log10(decades[-1] / decades[0])
        return left + over * (right - left), bottom - (y - marks[0]) / (marks[-1] - marks[0]) * (bottom - top)

    elements = [line(left, bottom, right, bottom), line(left, bottom, left, top)]
    elements += [text(to_screen(x, marks[0])[0], bottom + 16, f"{x:g}", "middle") for x in decades]
    elements += [text(left - 4, to_screen(decades[0], y)[1] + 4, f"{y:.1f}", "end") for y in marks]
    elements += [text((left + right) / 2, bottom + 32, across, "middle"), text(left + 6, 12, up)]
    labels = _label_places([to_screen(dot.x, dot.y) for dot in dots], [dot.label for dot in dots])
    elements += [
        _dot(dot, [to_screen(dot.x, dot.y + part * dot.deviation) for part in (-1, 0, 1)], label)
        for dot, label in zip(dots, labels, strict=True)
    ]
    for position, name in enumerate(groups):
        x, y = left + position % 2 * (WIDTH - left) / 2, bottom + 54 + position // 2 * 18
        elements.append(f'<circle cx="{x:.1f}" cy="{y - 4:.1f}" r="4" fill="{colour(position)}"/>')
        elements.append(text(x + 10, y, name))
    return drawing(title, bottom + 54 + (len(groups) + 1) // 2 * 18, "".join(elements))


def _label_places(dots: Sequence[tuple[float, float]], labels: Sequence[str]) -> list[tuple[float, float]]:
    """Middles of labels around their dots: the nearest place that is free of dots and earlier labels."""
    taken = [(x, y, 4.0) for x, y in dots]
    chosen = []
    for (x, y), label in zip(dots, labels, strict=True):
        half = 2.6 * len(label)
        around = [
            (x + radius * across * (half + 5) / 8, y + radius * down)
            for radius in (9.0, 15.0, 22.0, 30.0)
            for across, down in (
                (0.8, -0.6),
                (1, 0),
                (0.8, 0.6),
                (0, -1),
                (0, 1),
                (-0.8, -0.6),
                (-1, 0),
                (-0.8, 0.6),
            )
        ]
        free = (
            (x, y)
            for x, y in around
            if all(abs(x - a) >= half + width or abs(y - b) >= 8 for a, b, width in taken)
        )
        chosen.append(next(free, around[0]))
        taken.append((*chosen[-1], half))
    return chosen


def _dot(dot: Dot, placed: Sequence[tuple[float, float]], label: tuple[float, float]) -> str:
    """``placed``: the lower end of its bar, itself, the upper end. ``label``: its middle."""
    (x, low), (_, y), (_, high) = placed
    fill = "none" if dot.hollow else colour(dot.group)
    bar = f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="{colour(dot.group)}" stroke-width="1"/>'
    return (
        f"<g><title>{escape(dot.title)}</title>{bar if dot.deviation else ''}"
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{fill}" stroke="{colour(dot.group)}"/>'
        f'<text x="{label[0]:.1f}" y="{label[1] + 3:.1f}" text-anchor="middle" font-size="9" '
        f'fill="currentColor">{escape(dot.label)}</text></g>'
    )


def _powers(values: Sequence[float]) -> range:
    """Powers of ten around the values."""
    low, high = floor(log10(min(values, default=1.0))), ceil(log10(max(values, default=10.0)))
    return range(low, max(high, low + 1) + 1)


def _tenths(values: Sequence[float]) -> list[float]:
    """Multiples of .1 around the values."""
    low, high = floor(10 * min(values, default=0.0)), ceil(10 * max(values, default=1.0))
    return [tenth / 10 for tenth in range(low, max(high, low + 1) + 1)]
