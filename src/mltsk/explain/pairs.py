"""Pairs of features that act together, as values that print themselves.

Symbols: A and B values of the two features of a pair, L labels, R rules of all pairs.

A pair has a number for each of its rules "this value and that value". What a reader
sees is the *height* of a cell: how much both values together add to a score, on top of
what each feature adds alone. It is 0 on average over the data.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..core.arrays import Array
from ..exceptions import optional
from ..text import plural
from .page import FALL, RISE
from .subjects import largest_first
from .values import Items
from .wording import fifth, name, number, positions, signed

if TYPE_CHECKING:
    import pandas as pd

SHOWN_LABELS = 4  # tables of one pair that are printed
MAX_DECIMALS = 12  # of a height
MAX_TINT = 0.75  # how much of its colour the largest height of a pair has


@dataclass(frozen=True)
class PairAxis:
    """One feature of a pair, with the values that heights are told for.

    Attributes
    ----------
    feature : str
        Its name.
    values : tuple of float
        In the caller's units, rising; 0 and 1 where the pair asks for one of several
        named values.
    names : tuple of str
        Names of the values; of a number with a few values, these. Empty for others.
    percentiles : tuple of float
        Where the values lie in the training data (0..1).
    category : str or None
        The named value that the pair asks for, where there are more than two.
    """

    feature: str
    values: tuple[float, ...]
    names: tuple[str, ...]
    percentiles: tuple[float, ...]
    category: str | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def entries(self) -> tuple[float, ...] | tuple[str, ...]:
        """The names of the values, or these where they have none."""
        return self.names or self.values

    @property
    def title(self) -> str:
        """The feature, with the value that the pair asks for."""
        feature = name(self.feature)
        if self.category is None:
            return feature
        return f"{feature} = {name(self.category)}"

    @property
    def ticks(self) -> list[str]:
        """The values as they stand next to a row or under a column."""
        if self.names:
            return [name(value) for value in self.names]
        ticks = [number(value) for value in self.values]
        if len(ticks) == 1:
            return ["any"]
        ticks[0] += " or below"
        ticks[-1] += " or above"
        return ticks

    def words(self, i: int) -> str:
        """The condition on value i."""
        feature = name(self.feature)
        if len(self) == 1:
            return f"any {feature}"
        if self.category is not None and not self.values[i]:
            return f"{feature} is not {name(self.category)}"
        if self.names:
            return f"{feature} is {name(self.names[i])}"
        about = self.ticks[i]
        if 0 < i < len(self) - 1:
            about = f"≈ {about}"
        return f"{fifth(self.percentiles[i])} {feature} ({about})"


@dataclass(frozen=True)
class PairRule:
    """Two conditions, and what both together do to the score of one label.

    Attributes
    ----------
    label : str
    pair : int
        The number of its pair, from 0.
    features : (str, str)
    values : tuple of two, float or str
        Where the rule applies wholly; words where values have names.
    change : float
        The height of the cell: what is added, over the average of the pair.
    size : float
        Its part of the size of the pair: those of all cells add up to it.
    share : float
        The share of the data that the rule governs.
    words : str

    Examples
    --------
    >>> words = "low votes (≈ 12) and length is short"
    >>> features = ("votes", "length")
    >>> print(PairRule("Short", 0, features, (12.0, "short"), 0.31, 0.1, 0.04, words))
    low votes (≈ 12) and length is short: +0.31
    """

    label: str
    pair: int
    features: tuple[str, str]
    values: tuple[float | str, float | str]
    change: float
    size: float
    share: float
    words: str

    def __str__(self) -> str:
        return f"{self.words}: {signed(self.change)}"


@dataclass(frozen=True, eq=False)
class FeaturePair:
    """Two features that act together; ``str()`` prints its heights as tables.

    Attributes
    ----------
    index : int
        Its number, from 0 here and from 1 in words.
    axes : (PairAxis, PairAxis)
        Its features with their values, A of the first and B of the second.
    labels : tuple of str
    surface : array of shape (A, B, labels)
        What both values together add to a score, 0 on average.
    shares : array of shape (A, B)
        The share of the data around each two values.
    sizes : array of shape (labels,)
        How much the pair does to each label: the standard deviation of its heights,
        each with the share of the data around it.
    """

    index: int
    axes: tuple[PairAxis, PairAxis]
    labels: tuple[str, ...]
    surface: Array
    shares: Array
    sizes: Array

    @property
    def features(self) -> tuple[str, str]:
        """Names of the two features."""
        return self.axes[0].feature, self.axes[1].feature

    @property
    def size(self) -> dict[str, float]:
        """How much the pair does to each label: the deviation of its heights."""
        return dict(zip(self.labels, self.sizes.tolist(), strict=True))

    @property
    def title(self) -> str:
        """Both features, with the named values that the pair asks for."""
        return f"{self.axes[0].title} and {self.axes[1].title}"

    def heights(self, label: str) -> "pd.DataFrame":
        """What both values together add to the score of a label, 0 on average.

        A frame with a row for each value of the first feature and a column for each of
        the second. Between two values heights lie between theirs.
        """
        pandas = optional("pandas", "data")
        rows, columns = self.axes
        return pandas.DataFrame(
            self.surface[:, :, self._position(label)],
            index=pandas.Index(list(rows.entries), name=rows.title),
            columns=pandas.Index(list(columns.entries), name=columns.title),
        )

    def rules(self, label: str) -> Sequence[PairRule]:
        """The rules of this pair about a label, the largest first."""
        return pair_rules([self], label)

    def rule_sizes(self, label: str) -> Array:
        """The size of the rule of each cell, (A, B)."""
        j = self._position(label)
        variances = self.surface[:, :, j] ** 2 * self.shares
        return variances / max(float(self.sizes[j]), np.finfo(float).tiny)

    def rule(self, cell: int, label: str) -> PairRule:
        """The rule of a cell, counted row by row."""
        first, second = self.axes
        a, b = divmod(cell, len(second))
        return PairRule(
            label=label,
            pair=self.index,
            features=self.features,
            values=(first.entries[a], second.entries[b]),
            change=float(self.surface[a, b, self._position(label)]),
            size=float(self.rule_sizes(label)[a, b]),
            share=float(self.shares[a, b]),
            words=f"{first.words(a)} and {second.words(b)}",
        )

    def _position(self, label: str) -> int:
        places = np.arange(len(self.labels))
        return int(positions(self.labels, [label], places, "label")[0])

    def largest_labels(self, most: int) -> list[int]:
        """The positions of the labels that the pair moves most, the largest first.

        Labels that it does not move at all, such as those of a wish, are not among
        them.
        """
        moved = np.flatnonzero(self.sizes > 0)
        return largest_first(moved, self.sizes[moved])[:most]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON: values of both features, and all heights."""
        labels = []
        for j, label in enumerate(self.labels):
            heights = self.surface[:, :, j].tolist()
            size = float(self.sizes[j])
            labels.append({"label": label, "size": size, "heights": heights})
        axes = [
            {
                "feature": axis.feature,
                "category": axis.category,
                "values": list(axis.entries),
            }
            for axis in self.axes
        ]
        return {"features": axes, "labels": labels}

    def __str__(self) -> str:
        lines = [f"{self.title}: what both together add, 0 on average"]
        moved = self.largest_labels(len(self.labels))
        for j in moved[:SHOWN_LABELS]:
            lines += ["", f"  {name(self.labels[j])}", *self._table(j)]
        if len(moved) > SHOWN_LABELS:
            more = plural(len(moved) - SHOWN_LABELS, "label")
            lines += ["", f"  and {more} that it moves less"]
        return "\n".join(lines)

    def written(self, j: int) -> list[list[str]]:
        """The heights of label j, with two digits of the largest of them."""
        heights = self.surface[:, :, j]
        largest = float(np.abs(heights).max(initial=0.0))
        decimals = 2
        if 0 < largest < 0.1:
            decimals = min(1 - floor(log10(largest)), MAX_DECIMALS)
        rounded = np.round(heights, decimals) + 0.0  # -0.0 becomes 0.0
        return [[f"{x:+.{decimals}f}" for x in row] for row in rounded.tolist()]

    def _table(self, j: int) -> Iterator[str]:
        """The heights of label j as lines of text."""
        rows, columns = self.axes
        head = ["", *columns.ticks]
        body = []
        for tick, heights in zip(rows.ticks, self.written(j), strict=True):
            body.append([tick, *heights])
        widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
        yield f"    {rows.title} ↓  {columns.title} →"
        for line in (head, *body):
            cells = zip(line[1:], widths[1:], strict=True)
            numbers = "  ".join(cell.rjust(width) for cell, width in cells)
            yield f"    {line[0].ljust(widths[0])}  {numbers}"

    def _repr_html_(self) -> str:
        """A heat map for each of the labels that the pair moves most."""
        largest = float(np.abs(self.surface).max(initial=0.0)) or 1.0
        maps = ""
        for j in self.largest_labels(SHOWN_LABELS):
            maps += self._html_map(j, largest)
        title = escape(f"{self.title}: what both together add to a score, 0 on average")
        return (
            "<div style='font:14px/1.45 system-ui,sans-serif'>"
            f"<p><b>{title}</b></p>"
            f"<div style='display:flex;flex-wrap:wrap;gap:1.5em'>{maps}</div></div>"
        )

    def _html_map(self, j: int, largest: float) -> str:
        """The heights of label j as a table in colours."""
        rows, columns = self.axes
        head = "".join(f"<th scope='col'>{escape(tick)}</th>" for tick in columns.ticks)
        corner = escape(f"{rows.title} ↓ {columns.title} →")
        table = f"<tr><th style='font-weight:400'>{corner}</th>{head}</tr>"
        written = self.written(j)
        for i, tick in enumerate(rows.ticks):
            shares = self.surface[i, :, j] / largest
            cells = "".join(map(_html_cell, shares.tolist(), written[i]))
            table += f"<tr><th scope='row'>{escape(tick)}</th>{cells}</tr>"
        caption = f"<caption>{escape(name(self.labels[j]))}</caption>"
        return f"<table style='border-collapse:collapse'>{caption}{table}</table>"


def _html_cell(share: float, words: str) -> str:
    """A height on its colour, which is fainter for a small ``share`` of the largest."""
    colour = RISE if share > 0 else FALL
    tint = round(255 * MAX_TINT * abs(share))
    style = f"background:{colour}{tint:02x};text-align:right;padding:.3em .6em"
    return f"<td style='{style}'>{words}</td>"


class FeaturePairs(Sequence[FeaturePair]):
    """The pairs of a model, the largest first; ``str()`` has some lines for each.

    ``clf.pairs_`` of a fitted classifier.
    """

    def __init__(self, pairs: Sequence[FeaturePair]) -> None:
        self._pairs = tuple(pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    @overload
    def __getitem__(self, i: int) -> FeaturePair: ...
    @overload
    def __getitem__(self, i: slice) -> "FeaturePairs": ...
    def __getitem__(self, i: int | slice) -> "FeaturePair | FeaturePairs":
        if isinstance(i, slice):
            return FeaturePairs(self._pairs[i])
        return self._pairs[i]

    def __str__(self) -> str:
        if not self:
            return "No features act together in this model."
        return "\n\n".join(map(str, self))

    def __repr__(self) -> str:
        titles = ", ".join(pair.title for pair in self)
        return f"<FeaturePairs: {titles}>" if titles else "<FeaturePairs: none>"

    def _repr_html_(self) -> str:
        if not self:
            return f"<p>{self}</p>"
        return "".join(pair._repr_html_() for pair in self)


def pair_rules(pairs: Sequence[FeaturePair], label: str) -> Sequence[PairRule]:
    """The rules of some pairs about a label, the largest first, made on access."""
    sizes = [pair.rule_sizes(label).ravel() for pair in pairs]
    starts = np.cumsum([0, *map(len, sizes)])
    every = np.concatenate([np.zeros(0), *sizes])
    moving = np.flatnonzero(every)

    def rule_at(place: int) -> PairRule:
        p = int(np.searchsorted(starts, place, side="right")) - 1
        return pairs[p].rule(place - int(starts[p]), label)

    return Items(largest_first(moving, every[moving]), rule_at)
