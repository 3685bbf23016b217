"""The picture of `size.py`: accuracy against size, a panel per data set, our models drawn strongest.

Written as SVG by hand, a tenth of what a plotting library writes; the ground is white, so that it reads on dark pages.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

# Colours that people tell apart whatever their colour vision, with dashes for those that share one.
LINES = {
    "tree per label": ("#777777", 1.2, ""),
    "one tree": ("#777777", 1.2, "2 3"),
    "L1 logistic": ("#b85c00", 1.4, ""),
    "EBM": ("#a6478c", 1.4, ""),
    "BOOMER": ("#00835f", 1.4, ""),
    "ours": ("#1f4e9c", 3.2, ""),
}
COLUMNS, WIDTH, HEIGHT, TOP = (
    3,
    300,
    190,
    60,
)  # panels per row, size of each, room for the legend
LEFT, RIGHT, ABOVE, BELOW = 42, 14, 26, 24  # margins inside a panel
HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" font-family="sans-serif" font-size="11" fill="#222">'
    '<rect width="{w}" height="{h}" fill="#fff"/>'
)


def draw(
    found: dict[str, dict[str, np.ndarray]], sizes: Sequence[int], file: str
) -> None:
    """Write the picture; ``found`` has per data set and method the values at every size and, last, of all."""
    high = TOP + HEIGHT * -(-len(found) // COLUMNS) + 22
    parts = [
        HEAD.format(w=COLUMNS * WIDTH, h=high),
        *_legend({m for each in found.values() for m in each}),
    ]
    for number, (name, each) in enumerate(found.items()):
        row, column = divmod(number, COLUMNS)
        place = f'<g transform="translate({column * WIDTH} {TOP + row * HEIGHT})">'
        parts += [place, *_panel(name, each, sizes), "</g>"]
    parts.append(_text(COLUMNS * WIDTH / 2, high - 8, "conditions per label", "middle"))
    Path(file).write_text("\n".join([*parts, "</svg>\n"]), encoding="utf-8")


def _legend(methods: set[str]) -> list[str]:
    parts = []
    for place, name in enumerate([name for name in reversed(LINES) if name in methods]):
        x, y = 42 + 210 * (place % 4), 18 + 20 * (place // 4)
        parts += [_line(name, [(x, y), (x + 28, y)]), _text(x + 34, y + 4, name)]
    return parts


def _panel(name: str, each: dict[str, np.ndarray], sizes: Sequence[int]) -> list[str]:
    """A title, lines at round values, a tick per size, a line per method."""
    low, high = np.min(list(each.values())), np.max(list(each.values()))
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2) if (high - low) / s < 6)
    xs = np.linspace(LEFT + 6, WIDTH - RIGHT - 6, len(sizes) + 1)

    def y(value: float) -> float:
        return ABOVE + (high - value) / max(high - low, 1e-9) * (HEIGHT - ABOVE - BELOW)

    parts = [f'<text x="{LEFT}" y="14" font-weight="bold" font-size="12">{name}</text>']
    for value in np.arange(np.ceil(low / step), high / step + 1e-9) * step:
        parts.append(
            f'<path d="M{LEFT} {y(value):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
        )
        parts.append(_text(LEFT - 5, y(value) + 4, f"{value:.2f}", "end"))
    parts += [
        _text(x, HEIGHT - 6, str(size), "middle")
        for x, size in zip(xs, (*sizes, "all"), strict=True)
    ]
    drawn = [method for method in LINES if method in each]
    return parts + [
        _line(method, [(x, y(v)) for x, v in zip(xs, each[method], strict=True)])
        for method in drawn
    ]


def _line(method: str, points: Sequence[tuple[float, float]]) -> str:
    colour, width, dashes = LINES[method]
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    where = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{where}" fill="none" stroke="{colour}" stroke-width="{width}"{dashed}/>'


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'
