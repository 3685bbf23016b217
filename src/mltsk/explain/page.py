"""Sentences in a tree, written as plain text, as Markdown or as HTML.

Sentences carry no markup, and each format escapes them whole: a feature called
``<script>`` stays text.
"""

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import Any

from ..text import plural

TEXT_COLUMNS = 110
MAX_BAR_EM = 8.0  # width of the longest bar of an HTML page
# What raises a score and what lowers it: two colours of equal rank, not good and bad.
# The style sheets of the pages have the same two.
RISE = "#1f6fb5"
FALL = "#c8511f"
# Underscores inside a word are no emphasis in Markdown; feature names are full of them.
_MARKDOWN = re.compile(r"([\\`*\[\]<>|#~]|(?<!\w)_|_(?!\w))")
_STYLE = (
    ".mltsk-rules{font:14px/1.45 system-ui,sans-serif;max-width:60em}"
    ".mltsk-rules summary{font-weight:600;cursor:pointer;padding:.3em 0}"
    ".mltsk-rules ul{margin:.1em 0 .4em 1.2em;padding:0}"
    ".mltsk-rules .muted{opacity:.65}"
    ".mltsk-rules i{display:inline-block;height:.6em;margin-left:.5em}"
    f".mltsk-rules .up{{background:var(--series-1,{RISE})}}"
    f".mltsk-rules .down{{background:var(--series-2,{FALL})}}"
)


@dataclass(frozen=True)
class Node:
    """A sentence with the sentences that belong under it.

    HTML draws ``amount`` as a bar and shows ``muted`` sentences in grey.
    """

    text: str
    children: tuple["Node", ...] = ()
    amount: float | None = None
    muted: bool = False

    def walk(self) -> Iterator["Node"]:
        """This node and all nodes under it."""
        yield self
        for child in self.children:
            yield from child.walk()


class Page:
    """An object that has an outline, and writes it as text, Markdown or HTML."""

    @abstractmethod
    def nodes(self, *args: Any, **options: Any) -> list[Node]:
        """The outline."""

    def to_text(
        self, *args: Any, text_columns: int = TEXT_COLUMNS, **options: Any
    ) -> str:
        """Plain text of 110 columns where names allow; takes what `nodes` takes."""
        pages = []
        for node in self.nodes(*args, **options):
            pages.append("\n".join(_text_lines(node, text_columns)))
        return "\n\n".join(pages)

    def to_markdown(self, *args: Any, **options: Any) -> str:
        """`to_text` as Markdown."""
        nodes = self.nodes(*args, **options)
        return "\n\n".join("\n".join(_markdown_lines(node)) for node in nodes)

    def to_html(self, *args: Any, **options: Any) -> str:
        """`to_text` as a piece of HTML that opens and folds, without scripts."""
        nodes = self.nodes(*args, **options)
        unit = MAX_BAR_EM / (largest_amount(nodes) or 1.0)
        page = f"<div class='mltsk-rules'><style>{_STYLE}</style>"
        for node in nodes:
            title = escape(node.text)
            if node.children:
                page += f"<details open><summary>{title}</summary>"
                page += f"{_html_list(node, unit)}</details>"
            else:
                page += f"<p class='muted'>{title}</p>"
        return page + "</div>"

    __str__ = to_text
    _repr_html_ = to_html


def left_out(
    count: int, shown: int | None, noun: str, more: str = ""
) -> tuple[Node, ...]:
    """How many of ``count`` entries a page does not show, as one node or none.

    ``shown`` of them are on the page, all where it is None; ``more`` ends the sentence.
    """
    if shown is None or count <= shown:
        return ()
    return (Node(f"and {plural(count - shown, noun)}{more}", muted=True),)


def largest_amount(nodes: Sequence[Node]) -> float:
    """The largest amount in some trees, without sign; 0 where no node has one."""
    largest = 0.0
    for root in nodes:
        for node in root.walk():
            largest = max(largest, abs(node.amount or 0.0))
    return largest


def _text_lines(node: Node, columns: int, indent: str = "") -> Iterator[str]:
    """A node and all under it as indented text; a title continues without indent."""
    hanging = indent + "    " if indent else ""
    yield fill(
        node.text,
        columns,
        initial_indent=indent,
        subsequent_indent=hanging,
        break_long_words=False,
    )
    for child in node.children:
        yield from _text_lines(child, columns, indent + "  ")


def _markdown_lines(node: Node, depth: int = 0) -> Iterator[str]:
    """A node as a heading, a paragraph or an item of a list, and all under it."""
    text = _MARKDOWN.sub(r"\\\1", node.text)
    if depth:
        yield "    " * (depth - 1) + "- " + text
    elif node.children:
        yield f"### {text}\n"
    else:
        yield text
    for child in node.children:
        yield from _markdown_lines(child, depth + 1)


def _html_list(node: Node, unit: float) -> str:
    """The nodes under a node as a list; an amount of 1 is a bar of ``unit`` em."""
    items = ""
    for child in node.children:
        bar = ""
        if child.amount:
            direction = "up" if child.amount > 0 else "down"
            width = unit * abs(child.amount)
            bar = f"<i class='{direction}' style='width:{width:.2f}em'></i>"
        item = f"{escape(child.text)}{bar}{_html_list(child, unit)}"
        items += f"<li{' class=muted' * child.muted}>{item}</li>"
    return f"<ul>{items}</ul>" if items else ""
