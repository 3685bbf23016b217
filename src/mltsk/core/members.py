"""Who is in a rule: the samples that belong to it, where they lie, and which labels they have.

Symbols: N samples, K rules, D columns, L labels.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .arrays import Array, spread_rows

MEMBER, FEWEST = 0.5, 5  # a member from this membership on; of rules with fewer members, these are the nearest samples
MOST = 200  # members that a region is taken from, evenly spread: sorting more would take a tenth of a fit


@dataclass(frozen=True)
class Members:
    """Counts of K rules, and of all samples in the last row.

    ``count`` (K+1,) are members, ``observed`` (K+1, L) those in which a label was observed, ``positives`` (K+1, L)
    those of them that have it. ``regions`` (K+1, D, 2) are the 10th and 90th percentile of the members, values that
    occur, NaN where none was measured; of columns that stand for a value of words, how many members have it and how
    many have any. None for sparse samples. ``given`` (R, 2, L) are positives and observed of the samples for which each
    rule of the user holds.
    """

    count: NDArray[np.int64]
    observed: NDArray[np.int64]
    positives: NDArray[np.int64]
    regions: Array | None
    given: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 2, 0), dtype=np.int64))

    @classmethod
    def of(
        cls, X: Any, M: Array, Y: Array, w: Array, *, shared: bool, indicators: Any = None, n_given: int = 0
    ) -> "Members":
        """Of samples X with memberships M (N, K), labels Y (N, L) and weights w (N,) or (N, L).

        Samples of weight 0 do not count. A member has a membership of 0.5 or more or, where rules share samples out
        (``shared``), its largest share; a rule that has fewer than 5 members has the 5 samples that are nearest to it.
        ``indicators`` (D,) says which columns stand for a value of words; the last ``n_given`` are of given rules.
        """
        known = np.broadcast_to((w if w.ndim == 2 else w[:, None]) > 0, Y.shape)
        rows = np.flatnonzero(known.any(axis=1))
        M, known, given_labels = M[rows], known[rows], Y[rows] > 0
        inside = M >= (M.max(axis=1, keepdims=True, initial=0.0) if shared else MEMBER)
        for k in np.flatnonzero(inside.sum(axis=0) < FEWEST):
            inside[np.argpartition(-M[:, k], min(FEWEST, len(M)) - 1)[:FEWEST], k] = True
        inside = np.column_stack([inside, np.ones(len(rows), dtype=bool)])
        each = inside.T.astype(np.float64)
        observed, positives = ((each @ cells).astype(np.int64) for cells in (known, known & given_labels))
        regions = None
        if not sparse.issparse(X):
            words = np.zeros(X.shape[1], dtype=bool) if indicators is None else indicators
            regions = np.stack([_region(X, rows[members], words) for members in inside.T])
        held = (X[rows, -n_given:] > 0).T if n_given else np.zeros((0, len(rows)))
        given = np.stack([held.astype(np.float64) @ cells for cells in (known & given_labels, known)], axis=1)
        return cls(inside.sum(axis=0), observed, positives, regions, given.astype(np.int64))


def _region(X: Array, members: NDArray[np.intp], words: NDArray[np.bool_]) -> Array:
    out = np.empty((X.shape[1], 2))
    if words.any():
        own = X[np.ix_(members, words)]
        out[words] = np.stack([(own > 0).sum(axis=0), (~np.isnan(own)).sum(axis=0)], axis=1)
    part = np.sort(X[members[spread_rows(len(members), MOST)]][:, ~words], axis=0)  # missing values are last
    last = np.maximum((~np.isnan(part)).sum(axis=0) - 1, 0)
    ends = np.floor(0.1 * last).astype(int), np.ceil(0.9 * last).astype(int)
    out[~words] = np.stack([part[end, np.arange(part.shape[1])] for end in ends], axis=1)
    return out
