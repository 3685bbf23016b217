"""One outline, several faces: sentences in a tree, as plain text, Markdown or HTML.

Sentences carry no markup, so each face escapes them whole: a feature called ``<script>`` stays text.
"""

import re
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import Any

from .wording import times

WIDTH = 110
RISE, FALL = "#2980cc", "#dc612e"  # what raises a score and what lowers it: two colours of equal rank, not good and bad
# Underscores inside a word are no emphasis in Markdown, and feature names are full of them.
_MARKDOWN = re.compile(r"([\\`*\[\]<>|#~]|(?<!\w)_|_(?!\w))")
_STYLE = (
    ".mltsk-rules{font:14px/1.45 system-ui,sans-serif;max-width:60em}"
    ".mltsk-rules summary{font-weight:600;cursor:pointer;padding:.3em 0}"
    ".mltsk-rules ul{margin:.1em 0 .4em 1.2em;padding:0}.mltsk-rules .muted{opacity:.65}"
    ".mltsk-rules i{display:inline-block;height:.6em;margin-left:.5em}"
    f".mltsk-rules .up{{background:{RISE}}}.mltsk-rules .down{{background:{FALL}}}"
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
        return "\n\n".join("\n".join(_lines(node, "")) for node in self.nodes(*known, **options))

    def to_markdown(self, *known: Any, **options: Any) -> str:
        """`to_text` as Markdown."""
        return "\n\n".join("\n".join(_items(node)) for node in self.nodes(*known, **options))

    def to_html(self, *known: Any, **options: Any) -> str:
        """`to_text` as a piece of HTML that opens and folds, without scripts; amounts are bars."""
        nodes = self.nodes(*known, **options)
        unit = 8.0 / max((abs(node.amount) for root in nodes for node in root.walk() if node.amount), default=1.0)
        return f"<div class='mltsk-rules'><style>{_STYLE}</style>{''.join(_block(node, unit) for node in nodes)}</div>"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()


def left_out(count: int, shown: int | None, noun: str, more: str = "") -> tuple[Node, ...]:
    """What is not told of ``count`` things where ``shown`` are (None: all), as one node, or none."""
    rest = 0 if shown is None else count - shown
    return (Node(f"and {times(rest, noun)}{more}", muted=True),) if rest > 0 else ()


def _lines(node: Node, indent: str) -> Iterator[str]:
    deeper = indent + ("    " if indent else "")
    yield fill(node.text, WIDTH, initial_indent=indent, subsequent_indent=deeper, break_long_words=False)
    for child in node.children:
        yield from _lines(child, indent + "  ")


def _items(node: Node, depth: int = 0) -> Iterator[str]:
    mark = "    " * (depth - 1) + "- " if depth else "### " if node.children else ""
    yield mark + markdown(node.text) + ("\n" if mark == "### " else "")
    for child in node.children:
        yield from _items(child, depth + 1)


def markdown(sentence: str) -> str:
    """A sentence with everything that Markdown would read as markup escaped."""
    return _MARKDOWN.sub(r"\\\1", sentence)


def _block(node: Node, unit: float) -> str:
    if not node.children:
        return f"<p class='muted'>{escape(node.text)}</p>"
    return f"<details open><summary>{escape(node.text)}</summary>{_list(node, unit)}</details>"


def _list(node: Node, unit: float) -> str:
    return f"<ul>{''.join(_item(child, unit) for child in node.children)}</ul>" if node.children else ""


def _item(node: Node, unit: float) -> str:
    kind, size = "up" if (node.amount or 0.0) > 0 else "down", unit * abs(node.amount or 0.0)
    bar = f"<i class='{kind}' style='width:{size:.2f}em'></i>" if node.amount else ""
    return f"<li{' class=muted' * node.muted}>{escape(node.text)}{bar}{_list(node, unit)}</li>"
