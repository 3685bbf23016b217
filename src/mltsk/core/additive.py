"""A fit from sums: everything that consequents need of the rows adds up over blocks, and a few rows stand for the rest.

Symbols: G (N, Md) rule-mapped features, Y (N, L) labels of 0 and 1, w (N,) weights; A = GᵀWG, B = GᵀWY, H = YᵀWY.

Base rates, label correlations and the moments of centred labels follow from (A, B, H, Σw): firing strengths sum to 1,
so GᵀW1 is the sum of the intercept columns of A. Leave-one-out needs rows: an evenly spread part (`LooRows`) serves, as
it does in memory. Scales and rules come from rows as well, at most ANTECEDENT_ROWS of them, in memory too: whoever adds
up (a stream, a cluster) and whoever holds all rows then find the same rules.
"""

from dataclasses import dataclass

import numpy as np

from ..paper.solvers.fista import fista
from ..paper.solvers.moments import Moments
from ..paper.solvers.objective import Problem
from ..paper.solvers.ridge import LooRows, cholesky_solve
from .arrays import Array
from .coupling import correlation, coupling_matrix
from .fit import Consequents, resolve_weights
from .fuzzymap import FuzzyMap

# Scales and rules are found on this many rows at most, evenly spread: a percentile is then off by 0.4 at most (one
# standard error), and a rule of twenty has a thousand rows to sit in.
ANTECEDENT_ROWS = 20_000


@dataclass(frozen=True)
class LabelMoments:
    """``A`` (Md, Md), ``B`` (Md, L), ``H`` (L, L) and the ``weight`` of a block of rows. Add them up.

    Examples
    --------
    >>> import numpy as np
    >>> G, Y = FuzzyMap(np.arange(4.0)[:, None], np.ones((4, 1))), np.eye(4)[:, :2]
    >>> whole = LabelMoments.of(G, Y, np.ones(4))
    >>> parts = LabelMoments.of(G.take(slice(0, 3)), Y[:3], np.ones(3)) + LabelMoments.of(
    ...     G.take(slice(3, 4)), Y[3:], np.ones(1)
    ... )
    >>> bool((whole.A == parts.A).all()), parts.rates.tolist()
    (True, [0.25, 0.25])
    """

    A: Array
    B: Array
    H: Array
    weight: float

    @classmethod
    def of(cls, G: FuzzyMap, Y: Array, w: Array) -> "LabelMoments":
        """Of the rows of G and Y under the weights w."""
        Gw, Yw = G.weighted(w), Y * np.sqrt(w)[:, None]
        return cls(Gw.gram(), Gw.transpose_matmul(Yw), Yw.T @ Yw, float(w.sum()))

    def __add__(self, other: "LabelMoments") -> "LabelMoments":
        return LabelMoments(self.A + other.A, self.B + other.B, self.H + other.H, self.weight + other.weight)

    def faded(self, share: float) -> "LabelMoments":
        """The same rows at ``share`` of their weight: how a stream forgets."""
        return LabelMoments(share * self.A, share * self.B, share * self.H, share * self.weight)

    @property
    def rates(self) -> Array:
        """Base rates of the labels, (L,): labels are 0 or 1, so that the diagonal of H counts them."""
        return np.diag(self.H) / self.weight

    def correlation(self) -> Array:
        """Of the labels, (L, L).   (22)"""
        rates = self.rates
        return correlation(self.H - self.weight * rates[:, None] * rates, self.weight)

    def centred(self, n_rules: int) -> Moments:
        """Moments of the same rows with base rates taken out of the labels."""
        ones = self.A.reshape(len(self.A), n_rules, -1)[:, :, 0].sum(axis=1)
        rates = self.rates
        yy = float(np.trace(self.H)) - self.weight * float(rates @ rates)
        return Moments(self.A, self.B - ones[:, None] * rates, max(yy, 0.0), self.weight)


def fit_from_moments(
    sums: LabelMoments,
    loo: LooRows | None,
    n_rules: int,
    *,
    coupling: str | None = "precision",
    rho: float | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    gamma: float | None = None,
    max_iter: int = 1000,
    tol: float = 1e-4,
) -> Consequents:
    """What `fit_consequents` gives for the same rows; ``loo`` stands in for them where a weight is None.

    ``loo`` must hold labels with the base rates of ``sums`` taken out, and the total weight of the rows.
    """
    data, dtype = sums.centred(n_rules), sums.A.dtype
    Q = coupling_matrix(sums.correlation(), coupling).astype(dtype, copy=False)
    rho, alpha, beta = resolve_weights(loo, Q, rho, 0.0 if coupling is None else alpha, beta)
    start = cholesky_solve(data.A.copy(), gamma if gamma else max(rho + alpha, 1e-8), data.B)
    solution = fista(Problem(data, Q, alpha, beta, rho), start.astype(dtype, copy=False), max_iter=max_iter, tol=tol)
    P = solution.P.copy()
    P.reshape(n_rules, -1, P.shape[1])[:, 0] += sums.rates
    return Consequents(P, rho, alpha, beta, Q, solution)
