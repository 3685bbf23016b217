"""The picture of `size.py`: accuracy against size, a panel per data set.

Our models are drawn strongest. Written as SVG by hand, a tenth of what a plotting
library writes; the ground is white, so that it reads on dark pages.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

# Colour, width and dashes. People tell the colours apart whatever their colour vision,
# with dashes for those that share one.
LINES = {
    "tree per label": ("#777777", 1.2, ""),
    "one tree": ("#777777", 1.2, "2 3"),
    "L1 logistic": ("#b85c00", 1.4, ""),
    "EBM": ("#a6478c", 1.4, ""),
    "BOOMER": ("#00835f", 1.4, ""),
    "ours": ("#1f4e9c", 3.2, ""),
}
PANELS_PER_ROW = 3
PANEL_WIDTH = 300
PANEL_HEIGHT = 190
LEGEND_HEIGHT = 60
# Margins inside a panel.
LEFT = 42
RIGHT = 14
ABOVE = 26
BELOW = 24
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)


def draw(
    by_data: dict[str, dict[str, np.ndarray]], sizes: Sequence[int], file: str
) -> None:
    """Write the picture.

    ``by_data`` has per data set and method the values at every size and, last, of all.
    """
    n_rows = -(-len(by_data) // PANELS_PER_ROW)
    width = PANELS_PER_ROW * PANEL_WIDTH
    height = LEGEND_HEIGHT + PANEL_HEIGHT * n_rows + 22
    methods: set[str] = set()
    for by_method in by_data.values():
        methods.update(by_method)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="11" fill="#222">'
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        *legend(methods),
    ]
    for number, (name, by_method) in enumerate(by_data.items()):
        row, column = divmod(number, PANELS_PER_ROW)
        x = column * PANEL_WIDTH
        y = LEGEND_HEIGHT + row * PANEL_HEIGHT
        lines.append(f'<g transform="translate({x} {y})">')
        lines += panel(name, by_method, sizes)
        lines.append("</g>")
    lines.append(text(width / 2, height - 8, "conditions per label", "middle"))
    lines.append("</svg>\n")
    Path(file).write_text("\n".join(lines), encoding="utf-8")


def legend(methods: set[str]) -> list[str]:
    """A short line and a name per method, ours first."""
    lines = []
    shown = [name for name in reversed(LINES) if name in methods]
    for place, name in enumerate(shown):
        x = 42 + 210 * (place % 4)
        y = 18 + 20 * (place // 4)
        lines.append(polyline(name, [(x, y), (x + 28, y)]))
        lines.append(text(x + 34, y + 4, name))
    return lines


def panel(
    name: str, by_method: dict[str, np.ndarray], sizes: Sequence[int]
) -> list[str]:
    """A title, lines at round values, a tick per size, a line per method."""
    low = np.min(list(by_method.values()))
    high = np.max(list(by_method.values()))
    step = next(step for step in STEPS if (high - low) / step < 6)
    right = PANEL_WIDTH - RIGHT
    xs = np.linspace(LEFT + 6, right - 6, len(sizes) + 1)

    def y(value: float) -> float:
        share = (high - value) / max(high - low, 1e-9)
        return ABOVE + share * (PANEL_HEIGHT - ABOVE - BELOW)

    lines = [f'<text x="{LEFT}" y="14" font-weight="bold" font-size="12">{name}</text>']
    for value in np.arange(np.ceil(low / step), high / step + 1e-9) * step:
        lines.append(f'<path d="M{LEFT} {y(value):.1f}H{right}" stroke="#ddd"/>')
        lines.append(text(LEFT - 5, y(value) + 4, f"{value:.2f}", "end"))
    for x, size in zip(xs, (*sizes, "all"), strict=True):
        lines.append(text(x, PANEL_HEIGHT - 6, str(size), "middle"))
    for method in LINES:
        if method in by_method:
            ys = [y(value) for value in by_method[method]]
            lines.append(polyline(method, list(zip(xs, ys, strict=True))))
    return lines


def polyline(method: str, points: Sequence[tuple[float, float]]) -> str:
    colour, width, dashes = LINES[method]
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    where = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (
        f'<polyline points="{where}" fill="none" stroke="{colour}"'
        f' stroke-width="{width}"{dashed}/>'
    )


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'
