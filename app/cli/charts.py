"""Small charts as text for a terminal."""

from bioqa.app.reports.panels import Points, ends

WIDTH, HEIGHT = 60, 12


def text_chart(points: Points, width: int = WIDTH, height: int = HEIGHT) -> list[str]:
    """A line chart of stars in rows, with the ends of both axes; ``points`` by rising x, at least one."""
    (left, right), (low, high) = (ends([point[axis] for point in points]) for axis in (0, 1))
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
