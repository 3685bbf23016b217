"""Small pictures as inline SVG, without a library: colours come from the page's style sheet, by class.

Every function returns markup that is safe to be put into a page: what comes from a user's file is escaped here.
Coordinates have one decimal: a tenth of a pixel nobody sees.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from ..columns import MISSING
from ..core.arrays import Array
from ..explain.wording import number, shortened
from ..metrics.curves import Groups

MOST_POINTS = 1000  # of a curve that are looked at
LEFT, TOP, SIDE = (
    34.0,
    8.0,
    158.0,
)  # of the square in which curves from 0 to 1 are drawn


def _svg(
    kind: str,
    width: float,
    height: float,
    title: str,
    parts: Iterable[str],
    more: str = "",
) -> str:
    head = f'class="pic {kind}" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(title)}"{more}'
    return f"<svg {head}>{''.join(parts)}</svg>"


def _path(x: Any, y: Any, kind: str, end: str = "") -> str:
    """A line with the points that it needs to pass all of them within a fifth of a pixel (Douglas and Peucker)."""
    x, y = (np.asarray(part, dtype=np.float64) for part in (x, y))
    kept, parts = {0, len(x) - 1}, [(0, len(x) - 1)]
    while parts:
        a, b = parts.pop()
        dx, dy, u, v = (
            x[b] - x[a],
            y[b] - y[a],
            x[a + 1 : b] - x[a],
            y[a + 1 : b] - y[a],
        )
        away = (
            np.abs(dx * v - dy * u) / np.hypot(dx, dy) if dx or dy else np.hypot(u, v)
        )
        if len(away) and away.max() > 0.2:
            i = a + 1 + int(away.argmax())
            kept.add(i)
            parts += [(a, i), (i, b)]
    return f'<path class="{kind}" d="M{"L".join(f"{x[i]:.1f} {y[i]:.1f}" for i in sorted(kept))}{end}"/>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _dot(x: float, y: float, kind: str, r: float = 3) -> str:
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{r:g}"/>'


def _bar(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.0):.1f}" height="{height:.1f}"/>'


def _text(
    x: float, y: float, words: str, anchor: str = "middle", turned: bool = False
) -> str:
    at = (
        f'transform="translate({x:g} {y:g}) rotate(-90)"'
        if turned
        else f'x="{x:.1f}" y="{y:.1f}"'
    )
    return f'<text {at} text-anchor="{anchor}">{escape(words)}</text>'


def _square(title: str, across: str, up: str, parts: Iterable[str]) -> str:
    frame = [_bar(LEFT, TOP, SIDE, SIDE, "frame")]
    for share in (0, 0.5, 1):
        frame.append(_text(LEFT + share * SIDE, TOP + SIDE + 12, f"{share:g}"))
        frame.append(_text(LEFT - 5, TOP + SIDE * (1 - share) + 3, f"{share:g}", "end"))
    frame.append(_text(LEFT + SIDE / 2, TOP + SIDE + 25, across))
    frame.append(_text(10, TOP + SIDE / 2, up, turned=True))
    return _svg("square", 200, 196, title, [*frame, *parts])


def _placed(x: Any, y: Any) -> tuple[Array, Array]:
    """Shares as places in the square; of many points some, evenly spread."""
    kept = np.unique(
        np.linspace(0, len(x) - 1, min(len(x), MOST_POINTS)).round().astype(int)
    )
    return LEFT + SIDE * np.asarray(x)[kept], TOP + SIDE * (1 - np.asarray(y)[kept])


def curve(
    title: str,
    axes: tuple[str, str],
    points: tuple[Array, Array],
    guess: list[float],
    at: Any,
) -> str:
    """A line over shares, with that of guessing and a dot at the threshold, if there is one."""
    parts = [_path(*_placed([0, 1], guess), "guide"), _path(*_placed(*points), "curve")]
    parts += (
        []
        if at is None
        else [_dot(LEFT + SIDE * at[0], TOP + SIDE * (1 - at[1]), "mark", 4)]
    )
    return _square(title, *axes, parts)


def calibration(title: str, groups: Groups) -> str:
    """What was told against what was so, a dot per group of rows with its interval."""
    (x, y), (_, low), (_, high) = (
        _placed(groups.forecast, part) for part in groups[1:4]
    )
    bars = [_line(a, b, a, c, "whisker") for a, b, c in zip(x, low, high, strict=True)]
    dots = [_dot(a, b, "dot") for a, b in zip(x, y, strict=True)]
    guide = _path(*_placed([0, 1], [0, 1]), "guide")
    return _square(
        title, "probability told", "share that has it", [guide, *bars, *dots]
    )


def interval(title: str, value: tuple[float, float, float], guess: float) -> str:
    """A value with its interval on a line from 0 to 1, and a tick at what guessing gets."""
    middle, low, high = (4 + 192 * float(np.clip(part, 0, 1)) for part in value)
    return _ruler(
        title, guess, [_line(low, 9, high, 9, "span"), _dot(middle, 9, "dot", 4)]
    )


def compared(title: str, values: Mapping[str, float], guess: float) -> str:
    """Values of several methods as dots on a line from 0 to 1, the first drawn last and largest."""
    drawn = reversed(list(enumerate(values.values())))
    dots = [
        _dot(4 + 192 * float(value), 9, f"series-{i + 1}", 3.5 if i else 4.5)
        for i, value in drawn
    ]
    return _ruler(title, guess, dots)


def _ruler(title: str, guess: float, parts: Sequence[str]) -> str:
    tick = 4 + 192 * guess
    return _svg(
        "line",
        200,
        18,
        title,
        [_line(4, 9, 196, 9, "guide"), _line(tick, 3, tick, 15, "tick"), *parts],
    )


def share_bar(share: float) -> str:
    """A share of one as a bar."""
    return _svg(
        "line",
        200,
        10,
        f"{share:.0%}",
        [_bar(0, 2, 200, 6, "track"), _bar(0, 2, 200 * share, 6, "fill")],
    )


def gaps(title: str, missing: Array) -> str:
    """Where cells of a column are missing, from the first row at the left to the last: darker where more are."""
    level, parts = (
        np.ceil(4 * missing).astype(int),
        [_bar(0, 0, len(missing), 8, "track")],
    )
    for shade in (1, 2, 3, 4):
        if (where := np.flatnonzero(level == shade)).size:
            parts.append(
                f'<path class="gap-{shade}" d="{"".join(f"M{i} 0h1v8h-1z" for i in where)}"/>'
            )
    return _svg("strip", len(missing), 8, title, parts, ' preserveAspectRatio="none"')


def effect(amount: float, most: float) -> str:
    """How much a statement says, as a bar beside it; whether more or less, its words say."""
    size = 60 * min(abs(amount) / max(most, 1e-300), 1.0)
    return f'<svg class="pic effect" viewBox="0 0 60 8" aria-hidden="true">{_bar(60 - size, 1, size, 6, "size")}</svg>'


def shape(curve: Any, simple: Any, reach: float) -> str:
    """What a feature adds to a label's score over its values; ``simple`` is the same in the short model, or None."""
    title = f"{curve.label} by {curve.feature}"
    if curve.categories:
        return _named_values(title, curve, reach)
    start, end = float(curve.x[0]), float(curve.x[-1])
    x, ticks = (
        6 + 188 * (part - start) / max(end - start, 1e-300)
        for part in (curve.x, curve.quantiles[1:-1])
    )
    high = lambda y: 50 - 42 * np.clip(np.asarray(y) / reach, -1, 1)  # noqa: E731
    parts, closed = [], f"L{x[-1]:.1f} 50L{x[0]:.1f} 50Z"
    for side, kind in (
        (np.maximum(curve.y, 0), "rise area"),
        (np.minimum(curve.y, 0), "fall area"),
    ):
        parts += [_path(x, high(side), kind, closed)] if side.any() else []
    parts += [_line(6, 50, 194, 50, "guide"), _path(x, high(curve.y), "curve")]
    parts += [] if simple is None else [_path(x, high(simple.y), "curve dashed")]
    parts += [_line(t, 96, t, 101, "tick") for t in ticks if 6 <= t <= 194]
    parts += (
        []
        if curve.missing is None
        else [_dot(197, float(high(curve.missing)), "mark", 3)]
    )
    parts += [
        _text(6, 112, number(start), "start"),
        _text(194, 112, number(end), "end"),
    ]
    return _svg("shape", 200, 116, title, parts)


def _named_values(title: str, curve: Any, reach: float) -> str:
    values = list(zip(curve.categories.values(), curve.y.tolist(), strict=True))
    values += [] if curve.missing is None else [(MISSING, curve.missing)]
    shown = sorted(values, key=lambda value: -abs(value[1]))[:6]
    parts = [_line(142, 4, 142, 8 + 16 * len(shown), "guide")]
    for i, (word, added) in enumerate(shown):
        size = 54 * min(abs(added) / reach, 1.0)
        parts.append(
            _bar(
                142 if added > 0 else 142 - size,
                8 + 16 * i,
                size,
                9,
                "rise" if added > 0 else "fall",
            )
        )
        parts.append(_text(82, 16 + 16 * i, shortened(word, 16), "end"))
    if len(values) > len(shown):
        parts.append(
            _text(
                82, 16 + 16 * len(shown), f"and {len(values) - len(shown)} more", "end"
            )
        )
    return _svg("shape", 200, 116, title, parts)


def sizes(title: str, terms: Array, values: Mapping[str, Array], marked: int) -> str:
    """Average precision against terms per label, a line for each way to take the mean, and a mark at one size."""
    every = np.concatenate([*values.values()])
    low, high = np.floor(20 * every.min()) / 20, np.ceil(20 * every.max()) / 20 + 1e-9
    x = 34 + 300 * (terms - terms[0]) / max(terms[-1] - terms[0], 1)
    at = lambda y: 150 - 138 * (np.asarray(y) - low) / (high - low)  # noqa: E731
    mark = float(np.interp(marked, terms, x))
    parts = [
        _bar(34, 12, 300, 138, "frame"),
        _line(mark, 12, mark, 150, "tick"),
        _text(mark, 8, f"{marked} terms"),
    ]
    for i, (words, part) in enumerate(values.items(), 1):
        parts += [
            _path(x, at(part), f"curve line-{i}"),
            _text(x[-1] + 4, float(at(part[-1])) + 3, words, "start"),
        ]
    parts += [
        _text(30, float(at(v)) + 3, f"{v:.2f}", "end")
        for v in (low, (low + high) / 2, high)
    ]
    parts += [
        _text(float(np.interp(t, terms, x)), 163, str(t))
        for t in (1, 10, 20, 30, 40, 50)
        if t <= terms[-1]
    ]
    return _svg("sizes", 430, 182, title, [*parts, _text(184, 178, "terms per label")])


def together(title: str, names: Sequence[str], C: Array) -> str:
    """Which labels go together: correlations below the diagonal, stronger where larger."""
    L, few = len(names), len(names) <= 15
    cell, left, parts = 20.0 if few else 14.0, 118.0, []
    for i in range(L):
        parts.append(
            _text(left - 4, cell * (i + 0.5) + 3, shortened(names[i], 18), "end")
        )
        for j in range(i):
            level = (
                int(np.clip(np.rint(4 * abs(C[i, j]) / 0.6), 0, 4))
                if np.isfinite(C[i, j])
                else 0
            )
            kind = (
                f"{'rise' if C[i, j] > 0 else 'fall'} level-{level}"
                if level
                else "track"
            )
            parts.append(
                _bar(left + cell * j + 1, cell * i + 1, cell - 2, cell - 2, kind)
            )
    for j in range(L - 1):
        parts.append(
            _text(
                left + cell * (j + 0.5) + 3,
                cell * L + 5,
                shortened(names[j], 18),
                "end",
                turned=True,
            )
        )
    return _svg(
        f"together {'few' if few else 'many'}",
        420 if few else 690,
        cell * L + 104,
        title,
        parts,
    )
