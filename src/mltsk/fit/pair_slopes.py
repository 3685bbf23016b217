"""How steep a feature is, whatever the features are that it acts together with.

A pair of features x and y adds Σ c_ij (u_i(x) - ū_i) (v_j(y) - v̄_j) to a score. Between
two ends of conditions, its slope in x is linear in the memberships v_j(y), and these
lie between what they are at the peaks of the conditions on y. So a slope that has a
sign at all peaks has it everywhere, and where y is missing, too: there v_j counts as
its average. Where x acts together with several features, each of them is where it is
worst: that is one demand per stretch, and not one per combination of their values.

Symbols: s slopes, P terms, Q columns, m rules of pairs, v values of another feature.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..columns import Columns
from ..core.arrays import FloatArray
from ..core.pairs import Conditions, Pairs
from .curve_shape import CurveShape
from .design import Design


@dataclass(frozen=True)
class Partner:
    """A feature that another one acts together with.

    The number of a rule times its step and its value is the slope that the rule adds.

    Parameters
    ----------
    columns : (m,)
        The columns of their rules among all Q.
    steps : (s, m)
        How steep the condition of each rule on the other feature is.
    values : (v, m)
        How far its condition on this one is met, at each of its values.
    """

    columns: NDArray[np.intp]
    steps: FloatArray
    values: FloatArray


@dataclass(frozen=True)
class PairSlopes:
    """The slopes of a feature that acts together with others.

    Parameters
    ----------
    terms : (s, P)
        What numbers of terms are multiplied with to be slopes of its own curve.
    partners : tuple of Partner
    """

    terms: FloatArray
    partners: tuple[Partner, ...]

    def times(self, sign: float) -> "PairSlopes":
        """The slopes times a sign."""
        partners = [
            replace(partner, steps=sign * partner.steps) for partner in self.partners
        ]
        return PairSlopes(sign * self.terms, tuple(partners))

    def of_columns(self, columns: NDArray[np.intp]) -> "PairSlopes":
        """The same slopes where only some columns (q,) of all are left.

        These are whole pairs, and all terms.
        """
        places = {column: place for place, column in enumerate(columns.tolist())}
        partners = []
        for partner in self.partners:
            is_left = np.isin(partner.columns, columns)
            if is_left.any():
                own = [places[column] for column in partner.columns[is_left].tolist()]
                partners.append(
                    Partner(
                        columns=np.array(own, dtype=np.intp),
                        steps=partner.steps[:, is_left],
                        values=partner.values[:, is_left],
                    )
                )
        return PairSlopes(self.terms, tuple(partners))

    def least(self, b: FloatArray) -> FloatArray:
        """Rows (s, Q) whose sums with numbers b (Q,) are the least slopes."""
        rows = np.zeros((len(self.terms), len(b)))
        rows[:, : self.terms.shape[1]] = self.terms
        for partner in self.partners:
            added = (partner.steps * b[partner.columns]) @ partner.values.T
            worst = partner.values[added.argmin(axis=1)]
            rows[:, partner.columns] = partner.steps * worst
        return rows


def slopes_of_pairs(
    design: Design,
    columns: Columns | None,
    column: int,
    rows_of_terms: FloatArray,
    shape: CurveShape,
) -> PairSlopes | None:
    """The slopes of the feature of a column; None where it acts with no other.

    Parameters
    ----------
    design : Design
    columns : Columns, optional
    column : int
        The one column of numbers of the feature.
    rows_of_terms : (p, P)
        What turns numbers of terms into those of the curve.
    shape : CurveShape
        That of its curve.
    """
    pairs = design.pairs
    own_rules = np.flatnonzero((pairs.columns == column).any(axis=1))
    if not len(own_rules):
        return None
    conditions = pairs.conditions
    own = np.flatnonzero(conditions.column == column)
    levels = shape.levels_with(_ends_of(conditions, own))
    slopes = shape.slopes_at(levels)
    n_stretches, n_ends, _ = slopes.shape
    curve = slopes.reshape(n_stretches * n_ends, -1) @ rows_of_terms
    heights = _memberships(conditions, own, levels)
    steps = np.diff(heights, axis=0) / np.diff(levels)[:, None]
    steps = np.repeat(steps, n_ends, axis=0)  # (s, own conditions)
    partners = []
    for others in _features_beside(pairs, own_rules, column, columns).values():
        values = _values_of(conditions, others)
        partners.append(
            _partner(design, own_rules, dict(zip(own, steps.T, strict=True)), values)
        )
    return PairSlopes(curve, tuple(partners))


def _partner(
    design: Design,
    rules: NDArray[np.intp],
    steps: Mapping[int, FloatArray],
    values: Mapping[int, FloatArray],
) -> Partner:
    """The rules of a feature with another one.

    ``steps`` (s,) are those of the conditions of the one, ``values`` (v,) the distances
    from their averages of those of the other, at its values.
    """
    pairs = design.pairs
    columns = []
    of_rules = []
    at_values = []
    for rule in rules.tolist():
        ends = int(pairs.first[rule]), int(pairs.second[rule])
        own, other = ends if ends[0] in steps else ends[::-1]
        if other in values:
            columns.append(design.n_terms + rule)
            of_rules.append(steps[own])
            at_values.append(values[other])
    return Partner(
        columns=np.array(columns, dtype=np.intp),
        steps=design.pair_weight**0.5 * np.stack(of_rules, axis=1),
        values=np.stack(at_values, axis=1),
    )


def _features_beside(
    pairs: Pairs, rules: NDArray[np.intp], column: int, columns: Columns | None
) -> dict[tuple[int, bool], list[int]]:
    """Columns that a column has rules with, by their feature.

    Those of gaps are apart: a feature has no value where it is missing.
    """
    beside: dict[tuple[int, bool], list[int]] = {}
    for other in np.unique(pairs.columns[rules]).tolist():
        if other == column:
            continue
        key = (other, False)
        if columns is not None:
            key = (columns.parts[other].feature, bool(columns.is_gap[other]))
        beside.setdefault(key, []).append(other)
    return beside


def _values_of(conditions: Conditions, columns: list[int]) -> dict[int, FloatArray]:
    """Memberships (v,) less their averages of the conditions on a feature.

    They are those at each of its peaks; of a feature with several columns, each is 1
    in turn, or none is.
    """
    at_peaks = []
    for column in columns:
        own = np.flatnonzero(conditions.column == column)
        peaks = _ends_of(conditions, own)
        at_peaks.append((own, _memberships(conditions, own, peaks)))
    if len(columns) == 1:
        own, heights = at_peaks[0]
        return dict(zip(own.tolist(), (heights - conditions.mean[own]).T, strict=True))
    every = np.concatenate([own for own, _ in at_peaks])
    heights = np.vstack([np.zeros(len(every)), np.eye(len(every))])
    return dict(zip(every.tolist(), (heights - conditions.mean[every]).T, strict=True))


def _ends_of(conditions: Conditions, own: NDArray[np.intp]) -> FloatArray:
    """The levels at which some conditions of a column begin, peak or end."""
    ends = [conditions.left[own], conditions.peak[own], conditions.right[own]]
    return np.unique(np.concatenate(ends))


def _memberships(
    conditions: Conditions, own: NDArray[np.intp], levels: FloatArray
) -> FloatArray:
    """Memberships (n, o) of some conditions of a column at levels (n,)."""
    memberships = []
    for c in own.tolist():
        left, peak, right = (
            float(end[c])
            for end in (conditions.left, conditions.peak, conditions.right)
        )
        rising = (
            np.ones(len(levels)) if left == peak else (levels - left) / (peak - left)
        )
        falling = (
            np.ones(len(levels)) if right == peak else (right - levels) / (right - peak)
        )
        memberships.append(np.clip(np.minimum(rising, falling), 0.0, 1.0))
    return np.stack(memberships, axis=1)
