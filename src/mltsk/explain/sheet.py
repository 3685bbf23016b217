"""A short model as a sheet that can be worked out by hand: where a score starts, and what each statement adds.

Symbols as in `mltsk.explain.tables`. What a feature adds is a line through a few points, flat beyond the first and the
last; it is 0 at one of them, so that only the smaller side of the data needs a sum. All numbers are as the model has
them: the start and what the statements add make up the score of a sample.
"""

from typing import Any, NamedTuple

import numpy as np

from ..columns import MISSING
from ..core.arrays import Array
from .tables import Tables
from .values import LOW


class Line(NamedTuple):
    """What one subject adds to one label: ``y`` at values ``x``, and ``average`` where it was not measured."""

    x: Array
    y: Array
    average: float
    zero: float


def line(tables: Tables, t: int, j: int) -> Line:
    """Of subject t for label j."""
    subject, (mean, b) = tables.subjects[t], tables.numbers(t, j)
    average = float(mean @ b)
    x = np.array([*tables.named_values(t)] or _ends(tables, t, j), dtype=np.float64)
    y = tables.effect(t, x, j) + average
    zero = 0.0
    if subject.kind not in ("nominal", MISSING) and not tables.named_values(t):
        zero = _zero(tables, t, x, y)
    return Line(x, np.round(y - zero, 9), average - zero, zero)


def start(tables: Tables, j: int) -> float:
    """Where the score of a label starts."""
    system = tables.system
    shown = np.flatnonzero(tables.sizes[:, j])
    moved = sum(line(tables, int(t), j).zero for t in shown)
    return float(np.round(system.intercept[j] - system.terms.mean @ system.term_coef[:, j] + moved, 9))


def _ends(tables: Tables, t: int, j: int) -> list[float]:
    """Where ramps of a number begin and end, in the caller's units."""
    terms: Any = tables.system.terms
    scaling: Any = tables.system.scaling
    d = tables.subjects[t].columns.start
    own = (terms.feature == d) & (tables.system.term_coef[:, j] != 0)
    levels = np.unique(np.concatenate([terms.low[own], terms.high[own]]))
    low, high = scaling.values[d, [0, -1]]
    return [float(f"{x:.15g}") for x in low + levels * (high - low)]


def _zero(tables: Tables, t: int, x: Array, y: Array) -> float:
    """The level that counts as 0: that of the larger side of the data, or of the middle of a line that bends."""
    d = tables.subjects[t].columns.start
    if len(x) == 2:
        return float(y[1] if tables.percentile(d, x.mean()) < LOW else y[0])
    return float(y[np.abs(tables.percentile(d, x) - 0.5).argmin()])
