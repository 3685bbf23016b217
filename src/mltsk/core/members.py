"""The members of a rule: samples that it is about, counted, and where they lie.

Symbols: M (N, K) firing strengths, Y (N, L) labels, w (N,) or (N, L) weights.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .arrays import (
    FloatArray,
    Matrix,
    is_csr,
    spread_rows,
    weights_per_label,
)

# A sample is a member of a rule from this membership on.
MIN_MEMBERSHIP = 0.5
# A rule with fewer members gets as many: the samples that are nearest to it. Samples of
# a group count as one: copies of a row say no more than its weight does.
MIN_MEMBERS = 5
OUTER_SHARE = 0.1  # of the members, which lie below a region, or above it
# A region is taken from at most this many members, evenly spread: sorting more would
# take a tenth of a fit.
MAX_REGION_MEMBERS = 200


def _no_given_rules() -> NDArray[np.int64]:
    """Counts of given rules where there are none."""
    return np.zeros((0, 2, 0), dtype=np.int64)


@dataclass(frozen=True)
class Members:
    """Counts of the members of K rules and, in the last row, of all samples.

    Parameters
    ----------
    count : array of shape (K+1,)
        Members.
    observed : array of shape (K+1, L)
        Members in which a label was observed.
    positives : array of shape (K+1, L)
        Members that were observed to have a label.
    regions : array of shape (K+1, D, 2), or None for sparse samples
        The 10th and 90th percentile of a feature among the members, values that occur,
        in which weights count as copies; NaN if none was measured. For a column that
        stands for a value of words, two counts: members that have it, and members that
        have any value.
    given : array of shape (R, 2, L)
        For each rule of the user: positives and observed of the samples for which the
        rule holds.
    """

    count: NDArray[np.int64]
    observed: NDArray[np.int64]
    positives: NDArray[np.int64]
    regions: FloatArray | None
    given: NDArray[np.int64] = field(default_factory=_no_given_rules)

    @classmethod
    def of(
        cls,
        X: Matrix,
        M: FloatArray,
        Y: FloatArray,
        w: FloatArray,
        *,
        shared: bool,
        groups: NDArray[np.intp] | None = None,
        indicators: NDArray[np.bool_] | None = None,
        n_given: int = 0,
    ) -> "Members":
        """Count the members of rules. Samples of weight 0 do not count.

        Parameters
        ----------
        X : array or CSR of shape (N, D)
        M : array of shape (N, K)
            Memberships of samples in rules.
        Y : array of shape (N, L)
        w : array of shape (N,) or (N, L)
            A label of weight 0 was not observed.
        shared : bool
            Whether rules share samples out. Then a sample is a member of the rule of
            its largest membership, else of each rule of a membership of 0.5 or more. A
            rule with fewer than 5 members gets the 5 samples nearest to it.
        groups : array of int of shape (N,), optional
            Samples of a group count as one of these 5.
        indicators : array of bool of shape (D,), optional
            Which columns stand for a value of words.
        n_given : int, default=0
            How many of the last columns stand for rules of the user.
        """
        observed = weights_per_label(w, Y.shape) > 0
        rows = np.flatnonzero(observed.any(axis=1))
        observed = observed[rows]
        positive = observed & (Y[rows] > 0)
        if groups is not None:
            groups = np.unique(groups[rows], return_inverse=True)[1]
        inside = _are_members(M[rows], shared, groups)
        regions = None
        if not is_csr(X):
            if indicators is None:
                indicators = np.zeros(X.shape[1], dtype=bool)
            row_w = w[rows] if w.ndim == 1 else w[rows].mean(axis=1)
            regions = np.stack(
                [
                    _region(X[rows[members]], row_w[members], indicators)
                    for members in inside.T
                ]
            )
        held = np.zeros((0, len(rows)))
        if n_given:
            held = (X[rows, -n_given:] > 0).T.astype(np.float64)
        given = [_count_cells(held, cells) for cells in (positive, observed)]
        members = inside.T.astype(np.float64)
        return cls(
            count=inside.sum(axis=0),
            observed=_count_cells(members, observed),
            positives=_count_cells(members, positive),
            regions=regions,
            given=np.stack(given, axis=1),
        )


def _are_members(
    M: FloatArray, shared: bool, groups: NDArray[np.intp] | None
) -> NDArray[np.bool_]:
    """Which samples are members of which rule, (N, K+1): the last column holds all."""
    if shared:
        inside = M >= M.max(axis=1, keepdims=True, initial=0.0)
    else:
        inside = M >= MIN_MEMBERSHIP
    for k in np.flatnonzero(_count_groups(inside, groups) < MIN_MEMBERS):
        inside[_nearest(M[:, k], groups), k] = True
    return np.column_stack([inside, np.ones(len(M), dtype=bool)])


def _count_groups(
    inside: NDArray[np.bool_], groups: NDArray[np.intp] | None
) -> NDArray[np.intp]:
    """How many groups have samples ``inside`` (N, K) each rule, (K,)."""
    if groups is None:
        return inside.sum(axis=0)
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(groups.max() + 1))
    return np.logical_or.reduceat(inside[order], starts, axis=0).sum(axis=0)


def _nearest(
    memberships: FloatArray, groups: NDArray[np.intp] | None
) -> NDArray[np.intp]:
    """The samples nearest to a rule by their memberships (N,), one of each group.

    Of a group, all that are as near as its nearest one.
    """
    if groups is None:
        groups = np.arange(len(memberships))
    largest = np.zeros(groups.max() + 1)
    np.maximum.at(largest, groups, memberships)
    last = min(MIN_MEMBERS, len(largest)) - 1
    nearest = np.argpartition(-largest, last)[:MIN_MEMBERS]
    is_nearest = np.isin(groups, nearest) & np.isclose(memberships, largest[groups])
    return np.flatnonzero(is_nearest)


def _count_cells(groups: FloatArray, cells: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count the true ``cells`` (N, L) of the samples of each group, (n_groups, L).

    ``groups`` (n_groups, N) is 1 where a sample belongs to a group, else 0.
    """
    return (groups @ cells).astype(np.int64)


def _region(X: FloatArray, w: FloatArray, indicators: NDArray[np.bool_]) -> FloatArray:
    """Where the members of a rule lie in each feature, (D, 2): see `Members`.

    X (m, D) and w (m,) are those of the members; ``indicators`` (D,) says which columns
    stand for a value of words.
    """
    region = np.empty((X.shape[1], 2))
    if indicators.any():
        words = X[:, indicators]
        region[indicators, 0] = (words > 0).sum(axis=0)
        region[indicators, 1] = (~np.isnan(words)).sum(axis=0)
    some = spread_rows(len(X), MAX_REGION_MEMBERS)
    numbers = X[some][:, ~indicators]
    order = np.argsort(numbers, axis=0)  # missing values are last
    weights = np.where(np.isnan(numbers), 0.0, w[some][:, None])
    reached = np.cumsum(np.take_along_axis(weights, order, axis=0), axis=0)
    total = reached[-1]
    # a share that is missed by rounding is reached
    low = (reached < OUTER_SHARE * (1 - 1e-12) * total).sum(axis=0)
    high = (reached <= (1 - OUTER_SHARE) * (1 + 1e-12) * total).sum(axis=0)
    numbers = np.take_along_axis(numbers, order, axis=0)
    columns = np.arange(numbers.shape[1])
    region[~indicators, 0] = numbers[low, columns]
    region[~indicators, 1] = numbers[np.minimum(high, len(numbers) - 1), columns]
    return region
