"""The scale of rules from passes over rows: the same knots as `mltsk.core.scaling` finds in memory.

Symbols: N rows, D features, W total weight.

One pass finds features of at most MAX_KNOTS distinct values, whose tables are complete; `order_statistics` answers for
the others exactly. Two more passes at most give means and spreads.
"""

import numpy as np

from ..arrays import Array, unit_rows
from ..scaling import MAX_KNOTS, Scale, Scaling, knot_shares, linear_scaling, percentile_knots, stacked
from .order_statistics import Answers, Tables, select
from .rows import Block, Passes, Spread, weights_and_mean

QUANTILES = np.linspace(0, 1, 21)


def fit_scaling(rows: Passes, scale: Scale | None) -> tuple[Scaling | None, Array]:
    """The `Scaling` of the rows (None for None) and their quantiles at 0, 5, …, 100 % (D, 21), not weighted."""
    tables = rows.reduce("values", Tables.of, MAX_KNOTS)
    at = QUANTILES * (tables.n_rows - 1)
    ranks = np.concatenate([np.floor(at), np.minimum(np.floor(at) + 1, tables.n_rows - 1)])
    answers = _many(rows, tables, ranks, scale == "quantile")
    quantiles = np.empty((len(tables.tables), len(at)))
    for d in range(len(quantiles)):
        below, above = (answers[d].values[0, -2 * len(at) :] if d in answers else _ranked(tables, d, ranks)).reshape(
            2, -1
        )
        quantiles[d] = below + (above - below) * (at - np.floor(at))
    if scale == "quantile":
        return _percentiles(rows, tables, answers), quantiles
    return (_linear(rows, tables, scale) if scale is not None else None), quantiles


def _many(rows: Passes, tables: Tables, ranks: Array, knots: bool) -> dict[int, Answers]:
    """Answers for the features whose tables are not complete."""
    many = np.flatnonzero(~np.array(tables.complete))
    if not len(many):
        return {}
    ends, total = [tables.tables[d] for d in many], tables.weight
    shares = [knot_shares(e.mass[0] / 2 / total, (total - e.mass[1] / 2) / total) for e in ends]
    grid = np.array(shares) if knots else np.empty((len(many), 0))
    low, high = np.array([e.values for e in ends]).T
    found = select(rows, many, low, high, grid, ranks, total)
    return {int(d): Answers(*(part[[i]] for part in _parts(found))) for i, d in enumerate(many)}


def _parts(found: Answers) -> tuple[Array, Array, Array]:
    return found.values, found.below, found.mass


def _ranked(tables: Tables, d: int, ranks: Array) -> Array:
    table = tables.tables[d]
    return table.values[np.searchsorted(np.cumsum(table.count), ranks, side="right")]


def _percentiles(rows: Passes, tables: Tables, answers: dict[int, Answers]) -> Scaling:
    knots = [
        _thinned(answers[d], tables.weight) if d in answers else percentile_knots(t.values, t.mass, np.cumsum(t.mass))
        for d, t in enumerate(tables.tables)
    ]
    raw = stacked(knots)
    levels = rows.map(scaled, raw, np.float64).reduce("levels", weights_and_mean)
    return raw.standardised(levels.mean, np.sqrt(levels.second / levels.weight))


def _thinned(found: Answers, total: float) -> tuple[Array, Array]:
    values, first = np.unique(found.values[0, :MAX_KNOTS], return_index=True)
    return values, ((found.below[0] - found.mass[0] / 2) / total)[first]


def _linear(rows: Passes, tables: Tables, scale: Scale) -> Scaling:
    low, high = np.array([(t.values[0], t.values[-1]) for t in tables.tables]).T
    if scale == "minmax":
        return linear_scaling(low, high)
    found: Spread = rows.reduce("weights", weights_and_mean)
    return linear_scaling(low, high, found.mean, np.sqrt(found.second / found.weight))


def scaled(block: Block, scaling: Scaling, dtype: "type[np.floating] | None" = None) -> Block:
    """Change: samples put on their scale."""
    X = block.X if dtype is None else block.X.astype(dtype, copy=False)
    return Block(scaling.apply(X), block.Y, block.w, block.number, block.start)


def unit_length(block: Block) -> Block:
    """Change: every row scaled to unit length."""
    return Block(unit_rows(block.X), block.Y, block.w, block.number, block.start)


def unscaled(block: Block) -> Block:
    """Change: none."""
    return block
