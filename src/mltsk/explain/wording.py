"""Words and numbers as people read them, and sentences in a tree as plain text, Markdown or HTML.

Sentences carry no markup, so each face of an outline escapes them whole: a feature called ``<script>`` stays text.
"""

import difflib
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, isnan
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array
from ..exceptions import InputError

WIDTH = 110
BEND = 0.25  # a curve peaks where it goes back by more than this share of its range, else it rises or falls
# What raises a score and what lowers it: two colours of equal rank, not good and bad, those of the pages' style sheets.
RISE, FALL = "#1f6fb5", "#c8511f"
# Underscores inside a word are no emphasis in Markdown, and feature names are full of them.
_MARKDOWN = re.compile(r"([\\`*\[\]<>|#~]|(?<!\w)_|_(?!\w))")
_STYLE = (
    ".mltsk-rules{font:14px/1.45 system-ui,sans-serif;max-width:60em}"
    ".mltsk-rules summary{font-weight:600;cursor:pointer;padding:.3em 0}"
    ".mltsk-rules ul{margin:.1em 0 .4em 1.2em;padding:0}.mltsk-rules .muted{opacity:.65}"
    ".mltsk-rules i{display:inline-block;height:.6em;margin-left:.5em}"
    f".mltsk-rules .up{{background:var(--series-1,{RISE})}}.mltsk-rules .down{{background:var(--series-2,{FALL})}}"
)


@dataclass(frozen=True)
class Node:
    """A sentence with those that belong under it; ``amount`` is drawn as a bar where a face can, ``muted`` in grey."""

    text: str
    children: tuple["Node", ...] = ()
    amount: float | None = None
    muted: bool = False

    def walk(self) -> Iterator["Node"]:
        """This node and all under it."""
        yield self
        for child in self.children:
            yield from child.walk()


class Page:
    """What has an outline, in its faces: each takes what `nodes` takes."""

    @abstractmethod
    def nodes(self, *known: Any, **options: Any) -> list[Node]:
        """The outline."""

    def to_text(self, *known: Any, **options: Any) -> str:
        """Plain text, at most 110 columns where names allow; takes what `nodes` takes."""
        return "\n\n".join(
            "\n".join(_lines(node, "")) for node in self.nodes(*known, **options)
        )

    def to_markdown(self, *known: Any, **options: Any) -> str:
        """`to_text` as Markdown."""
        return "\n\n".join(
            "\n".join(_items(node)) for node in self.nodes(*known, **options)
        )

    def to_html(self, *known: Any, **options: Any) -> str:
        """`to_text` as a piece of HTML that opens and folds, without scripts; amounts are bars."""
        nodes, page = (
            self.nodes(*known, **options),
            f"<div class='mltsk-rules'><style>{_STYLE}</style>",
        )
        unit = 8.0 / max(
            (abs(node.amount) for root in nodes for node in root.walk() if node.amount),
            default=1.0,
        )
        for node in nodes:
            folded = f"<details open><summary>{escape(node.text)}</summary>{_list(node, unit)}</details>"
            page += (
                folded if node.children else f"<p class='muted'>{escape(node.text)}</p>"
            )
        return page + "</div>"

    __str__, _repr_html_ = to_text, to_html


def left_out(
    count: int, shown: int | None, noun: str, more: str = ""
) -> tuple[Node, ...]:
    """What is not told of ``count`` things where ``shown`` are (None: all), as one node, or none."""
    rest = 0 if shown is None else count - shown
    return (Node(f"and {times(rest, noun)}{more}", muted=True),) if rest > 0 else ()


def _lines(node: Node, indent: str) -> Iterator[str]:
    deeper = indent + ("    " if indent else "")
    yield fill(
        node.text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=deeper,
        break_long_words=False,
    )
    for child in node.children:
        yield from _lines(child, indent + "  ")


def _items(node: Node, depth: int = 0) -> Iterator[str]:
    mark = "    " * (depth - 1) + "- " if depth else "### " if node.children else ""
    yield mark + _MARKDOWN.sub(r"\\\1", node.text) + ("\n" if mark == "### " else "")
    for child in node.children:
        yield from _items(child, depth + 1)


def _list(node: Node, unit: float) -> str:
    """What belongs under a node, with bars of so many ``unit`` for their amounts."""
    items = ""
    for child in node.children:
        kind, size = (
            "up" if (child.amount or 0.0) > 0 else "down",
            unit * abs(child.amount or 0.0),
        )
        bar = (
            f"<i class='{kind}' style='width:{size:.2f}em'></i>" if child.amount else ""
        )
        items += f"<li{' class=muted' * child.muted}>{escape(child.text)}{bar}{_list(child, unit)}</li>"
    return f"<ul>{items}</ul>" if items else ""


def number(x: float) -> str:
    """A number with three digits that count, without an exponent where people would not use one."""
    if abs(x) < 1e-12 or isnan(x):
        return "unknown" if isnan(x) else "0"
    return f"{x:,.0f}" if 1000 <= abs(x) < 1e9 else f"{x:.3g}"


def exactly(x: float) -> str:
    """A number as it is, up to ten digits."""
    return f"{x:,.10g}" if abs(x) < 1e9 else f"{x:.10g}"


def signed(x: float) -> str:
    """A change, with its sign and two digits that count."""
    return f"{x:+#.2g}" if abs(x) < 10 else f"{x:+,.0f}"


def percent(share: float) -> str:
    """A share in whole per cent; neither all nor nothing is rounded to it."""
    if 0 < share < 0.005:
        return "under 1 %"
    return "over 99 %" if 0.995 < share < 1 else f"{100 * share:.0f} %"


def fifth(percentile: float) -> str:
    """Where a percentile (0..1) lies, in one of five words."""
    return ("very low", "low", "medium", "high", "very high")[
        min(int(percentile * 5), 4)
    ]


def place_words(value: float, percentile: float, *, about: bool = False) -> str:
    """A value on the scale of five words, and the end of the data that it belongs to: very low (2, bottom 12 %)."""
    # rounding up agrees with the words: 20 % is still "very", 21 % is not
    share = max(1, ceil(round(100 * min(percentile, 1 - percentile), 6)))
    end = f"{'top' if percentile > 0.5 else 'bottom'} {share} %"
    end = "near the median" if 0.4 <= percentile < 0.6 else end
    return f"{fifth(percentile)} ({'≈ ' if about else ''}{number(value)}, {end})"


def name(text: str) -> str:
    """A caller's name on one line and without control characters, which could rewrite a terminal."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(str(text).split()))


def shortened(text: str, length: int) -> str:
    """`name` of a text, cut to so many characters."""
    text = name(text)
    return text if len(text) <= length else f"{text[: length - 1]}…"


def times(count: int, noun: str) -> str:
    """A count with its noun."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def positions(
    names: Sequence[str], wanted: Iterable[str], kept: NDArray[np.intp], kind: str
) -> NDArray[np.intp]:
    """Those of ``kept`` whose names are wanted; of a name that is not there, an error says what comes close."""
    found = []
    for what in wanted:
        if what not in names:
            close = difflib.get_close_matches(str(what), names, n=1)
            hint = (
                f"did you mean {close[0]!r}?"
                if close
                else f"the first of {len(names)} is {names[0]!r}."
            )
            raise InputError(f"There is no {kind} called {what!r}: {hint}")
        found += [i for i, known in enumerate(names) if known == what]
    if not found:
        raise InputError(f"Name at least one {kind} to keep.")
    return kept[found]


def summed_up(x: Array, y: Array) -> tuple[str, float, float, tuple[int, int]]:
    """What a curve does ("rises", "falls", "peaks" or "dips"), where it passes 0 or else turns, by how much, and
    between which points."""
    first, last, top, bottom = (float(end) for end in (y[0], y[-1], y.max(), y.min()))
    peak, dip = top - max(first, last), min(first, last) - bottom
    if max(peak, dip) > BEND * (top - bottom):
        up = peak >= dip
        at, ends = (
            float(x[y.argmax() if up else y.argmin()]),
            (int(y.argmax()), int(y.argmin())),
        )
        return "peaks" if up else "dips", at, (top - bottom) * (1 if up else -1), ends
    rising = np.maximum.accumulate(y if last >= first else -y)
    return (
        "rises" if last >= first else "falls",
        float(np.interp(0.0, rising, x)),
        last - first,
        (len(y) - 1, 0),
    )
