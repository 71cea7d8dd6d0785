"""What all charts are drawn with: SVG without styles, which the policy of the pages does not allow.

Text and axes take the colour of the text around them. The colours have at least 3:1 of contrast with white
and with the dark theme's paper.
"""

from collections.abc import Sequence
from html import escape

COLOURS = ("#2a7fb8", "#c2571a", "#2f8f4e", "#a85aa0", "#8a7a1f", "#c0476b", "#5f6fd0", "#7a7a7a")

WIDTH = 440
"""User units, about a phone's width, so that text stays legible there."""

FONT = 12

_DASHES = ("", "6 3", "2 3", "8 3 2 3")


def colour(position: int) -> str:
    return COLOURS[position % len(COLOURS)]


def dash(position: int) -> str:
    return _DASHES[position // len(COLOURS) % len(_DASHES)]


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="currentColor" stroke-width="1" opacity="0.6"/>'


def polyline(points: Sequence[tuple[float, float]], stroke: str, dashes: str = "") -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (
        f'<polyline points="{path}" fill="none" stroke="{stroke}" stroke-width="2" '
        f'stroke-dasharray="{dashes}"/>'
    )


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{FONT}" '
        f'fill="currentColor">{escape(words)}</text>'
    )


def drawing(title: str, height: float, content: str, width: float = WIDTH) -> str:
    return (
        f'<svg role="img" aria-label="{escape(title)}" viewBox="0 0 {width} {height:g}" width="{width}" '
        f'height="{height:g}" class="chart">{content}</svg>'
    )


def as_file(svg: str) -> str:
    """A chart as a file of its own, which has no text around it to take a colour from: dark on white."""
    head, tag, rest = svg.partition(">")
    return (
        head.replace(
            "<svg ", '<svg xmlns="http://www.w3.org/2000/svg" color="#222222" font-family="sans-serif" ', 1
        )
        + tag
        + '<rect width="100%" height="100%" fill="#ffffff"/>'
        + rest
        + "\n"
    )
