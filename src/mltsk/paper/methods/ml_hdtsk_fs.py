"""ML-HDTSK FS, for many features, after its authors' published program.

Symbols: X (N, D) features from 0 to 1, Y (N, L) labels, C (K, D) centres; G (N, K(D+1))
features mapped by the rules; P (K(D+1), L) consequents, p_l those of a label; A = GᵀG,
B = GᵀY; α, β, γ weights.

**IF-parts.** Centres by fuzzy c-means with m = 1.01, which is close to k-means and does
not collapse; one width for all, exp(-(x - c)²/(D/745)). With features from 0 to 1 the
exponent of a product of D memberships is 745 at most, the largest at which exp(-745)
is a number: nothing underflows.

**Labels.** d_ij is the Jaccard distance of two labels: of the rows with one of them,
the share that has not both. The coupling is q_ij = d_ij where d_ij > ½, d_ij - 1 where
d_ij < ½, else 0, and 0 on the diagonal: labels that are mostly apart are told from
those that are mostly together.

**THEN-parts.** From P = (A + γI)⁻¹B, with step 1/Lip, Lip² = 2(‖A‖² + ‖αQ‖²) in
Frobenius norms, at most 100 times::

    V  = P + m(P - P')                     m = 0, 0, .28, .43, … as in Algorithm I
    P⁺ = V - (A V - B + α V Q + β D(P))/Lip
    F  = ‖G P⁺ - Y‖²/2N + β Σ_jl ‖P⁺_jl‖/N + (α/2N) Σ_{i≠j} (1 + q_ij) cos(p_i, p_j)
    stop when F falls by at most 1e-6, or is not positive

P_jl (K,) are the coefficients of feature j for label l in all rules: their norms are
the group L21 penalty, and D(P) is each of them divided by its norm, smoothed where that
is below 0.01. F is what the program watches, not what its steps descend: they have no
1/N, and the inner products p_iᵀp_j in the place of the cosines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from ...core.arrays import Array, dense
from ...core.fuzzymap import FuzzyMap
from ...core.scales import fit_scaling
from ..antecedents import find_rules, warn_if_fewer
from ..solvers.problem import Quadratic, next_momentum, quadratic
from .base import SUCCESSORS, Trial, agreeing_in, register
from .papers_rules import PapersRules

# The authors' constants.
FUZZIFIER = 1.01
LARGEST_EXPONENT = 745.0
APART = 0.5
SMOOTH_BELOW = 0.01
# np.round(score) >= 1: a score of 0.5 rounds to 0.
THRESHOLD = float(np.nextafter(0.5, 1.0))
TINY = np.finfo(np.float64).tiny
_POWERS_OF_TEN = (0.01, 0.1, 1.0, 10.0)


class GroupSparseFit(NamedTuple):
    """Where the steps stopped: P (K(D+1), L), their number, and F after each."""

    P: Array
    n_iter: int
    losses: Array


@register("ml-hdtsk-fs", among=SUCCESSORS)
@dataclass(eq=False, repr=False)
class MLHDTSK(PapersRules):
    """Multi-label high-dimensional Takagi-Sugeno-Kang fuzzy system.

    It came after ML-TSK FS, for tables with thousands of features: rules of one narrow
    width that cannot underflow, labels that are coupled by how often they occur
    together or apart, and consequents that are sparse by feature and label. Its text
    was not at hand; this is what its authors' program computes.

    Parameters
    ----------
    n_rules : int, default=2
        K.
    correlation_weight, group_weight : float, default=0.1, 1.0
        α of the label coupling and β of the group L21 penalty.
    init_ridge : float, default=1.0
        γ of the start.
    max_iter, tol : int, float, default=100, 1e-6

    Attributes
    ----------
    centers_, widths_ : arrays of shape (n_rules, n_features)
        IF-parts, on the scale of the rules.
    coef_ : array of shape (n_rules, n_features + 1, n_labels)
        THEN-parts on that scale, intercept first.
    coupling_ : array of shape (n_labels, n_labels)
    rule_distinctness_ : float
        0 = all rules the same, 1 = fully distinct.
    n_iter_ : int

    References
    ----------
    Z. Bian, Q. Chang, J. Wang, W. Pedrycz, N. R. Pal, "Takagi-Sugeno-Kang Fuzzy Systems
    for High-Dimensional Multi-Label Classification", IEEE Transactions on Fuzzy Systems
    32(6), 2024.

    Examples
    --------
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=60, random_state=0)
    >>> MLHDTSK(n_rules=2).fit(data.X, data.Y).coef_.shape
    (2, 11, 5)
    """

    PAPER_GRID: ClassVar = {
        "n_rules": (2, 3, 5, 10),
        "correlation_weight": _POWERS_OF_TEN,
        "group_weight": _POWERS_OF_TEN,
        "init_ridge": _POWERS_OF_TEN,
    }
    _strict: ClassVar[bool] = True

    n_rules: int = 2
    _: KW_ONLY
    correlation_weight: float = 0.1
    group_weight: float = 1.0
    init_ridge: float = 1.0
    max_iter: int = 100
    tol: float = 1e-6

    def _fitted(
        self, trials: Sequence[Trial], X: Array, Y: Array, w: Array
    ) -> Iterator[Trial]:
        """Models of all trials; settings with the same rules share these."""
        scaling = fit_scaling(X, w, "minmax")
        Z = scaling.apply(X)
        Q = coupling_of(jaccard_distances(Y, w))
        for same_rules in agreeing_in(trials, "n_rules"):
            n_rules = same_rules[0].model.n_rules
            centers, _ = find_rules(Z, w, n_rules, fuzzifier=FUZZIFIER)
            warn_if_fewer(len(centers), n_rules)
            widths = np.full_like(centers, X.shape[1] / LARGEST_EXPONENT)
            G = FuzzyMap.of(Z, centers, widths)
            data = quadratic(G, Y, w)
            size = frobenius_norm(data)
            for trial in same_rules:
                trial.model._keep_rules(
                    X,
                    w,
                    scaling=scaling,
                    centers=centers,
                    widths=widths,
                    M=G.M,
                    P=trial.model._consequents(data, Q, len(centers), w.sum(), size),
                    thresholds=np.full(Y.shape[1], THRESHOLD),
                    firing="softmax",
                )
                yield trial

    def _consequents(
        self, data: Quadratic, Q: Array, n_rules: int, n_rows: float, size: float
    ) -> Array:
        """P (K(D+1), L); the coupling and the number of steps are stored."""
        problem = GroupSparseProblem(
            data,
            Q,
            n_rules,
            n_rows,
            alpha=self.correlation_weight,
            beta=self.group_weight,
        )
        result = group_sparse_consequents(
            problem, self.init_ridge, size=size, max_iter=self.max_iter, tol=self.tol
        )
        self.coupling_ = Q
        self.n_iter_ = result.n_iter
        return result.P


def jaccard_distances(Y: Array, w: Array) -> Array:
    """Of the rows with one of two labels, the share that has not both, (L, L).

    It is 0 of two labels that no row has. Y is (N, L) of 0 and 1, w (N,) are weights.

    Examples
    --------
    >>> Y = np.array([[1.0, 1, 0], [1, 0, 0], [0, 1, 1]])
    >>> jaccard_distances(Y, np.ones(3)).round(3).tolist()
    [[0.0, 0.667, 1.0], [0.667, 0.0, 0.5], [1.0, 0.5, 0.0]]
    """
    both = Y.T @ (w[:, None] * Y)
    n_rows = np.diag(both)
    either = n_rows[:, None] + n_rows - both
    return np.where(either > 0, (either - both) / np.maximum(either, TINY), 0.0)


def coupling_of(distances: Array) -> Array:
    """The coupling Q (L, L) of labels with these Jaccard distances (L, L).

    Examples
    --------
    >>> coupling_of(np.array([[0.0, 0.8, 0.5], [0.8, 0, 0.1], [0.5, 0.1, 0]])).tolist()
    [[0.0, 0.8, 0.0], [0.8, 0.0, -0.9], [0.0, -0.9, 0.0]]
    """
    Q = np.where(distances > APART, distances, distances - 1)
    Q[distances == APART] = 0.0
    np.fill_diagonal(Q, 0.0)
    return Q


def frobenius_norm(data: Quadratic) -> float:
    """‖GᵀG‖ in Frobenius' norm; that of G Gᵀ is the same."""
    if data.A is not None:
        return float(np.linalg.norm(data.A))
    G = data.G
    dual = G.dual_gram() if isinstance(G, FuzzyMap) else dense(G @ G.T)
    return float(np.linalg.norm(dual))


@dataclass(frozen=True)
class GroupSparseProblem:
    """What the steps go down, and what is watched to stop them.

    Parameters
    ----------
    data : Quadratic
        Rows G (N, K(D+1)) and labels Y (N, L) under their weights.
    Q : array of shape (L, L)
    n_rules : int
        K: the rows of P are those of one rule after another.
    n_rows : float
        N, the sum of the weights.
    alpha, beta : float
    """

    data: Quadratic
    Q: Array
    n_rules: int
    n_rows: float
    _: KW_ONLY
    alpha: float
    beta: float

    def lipschitz(self, size: float) -> float:
        """Lip, where ``size`` is `frobenius_norm` of the data."""
        coupling = float(np.linalg.norm(self.alpha * self.Q))
        return sqrt(2 * (size**2 + coupling**2))

    def slope(self, V: Array, AV: Array, P: Array) -> Array:
        """The slope at V, but for that of the groups, which is taken at P."""
        coupled = self.alpha * (V @ self.Q)
        return (
            AV - self.data.B + coupled + self.beta * group_directions(P, self.n_rules)
        )

    def loss(self, P: Array, AP: Array) -> float:
        """F."""
        misfit = np.vdot(P, AP) - 2 * np.vdot(P, self.data.B) + self.data.yy
        groups = group_norms(P, self.n_rules).sum()
        coupled = self.alpha * label_likeness(P, self.Q)
        return float((misfit / 2 + self.beta * groups + coupled / 2) / self.n_rows)


def group_sparse_consequents(
    problem: GroupSparseProblem,
    gamma: float,
    *,
    size: float | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
) -> GroupSparseFit:
    """Consequents as the program finds them, from the ridge solution of ``gamma``.

    ``size`` is `frobenius_norm` of the data, where it is known.
    """
    data = problem.data
    lipschitz = problem.lipschitz(frobenius_norm(data) if size is None else size)
    P = data.ridge_start(gamma)
    AP = data.apply(P)
    P_old = P
    AP_old = AP
    b_old = 1.0
    b = 1.0
    losses: list[float] = []
    while len(losses) < max_iter:
        momentum = (b_old - 1) / b
        V = P + momentum * (P - P_old)
        AV = AP + momentum * (AP - AP_old)
        slope = problem.slope(V, AV, P)
        b_old = b
        b = next_momentum(b)
        P_old = P
        AP_old = AP
        P = V - slope / lipschitz
        AP = data.apply(P)
        losses.append(problem.loss(P, AP))
        if len(losses) > 1 and (losses[-2] - losses[-1] <= tol or losses[-1] <= 0):
            break
    return GroupSparseFit(P, len(losses), np.array(losses))


def group_norms(P: Array, n_rules: int) -> Array:
    """Norms (D+1, L) over the rules of the consequents P (K(D+1), L)."""
    return np.sqrt(np.square(P.reshape(n_rules, -1, P.shape[1])).sum(axis=0))


def group_directions(P: Array, n_rules: int) -> Array:
    """Consequents (K(D+1), L) divided by the norm of their group, smoothed near 0.

    Below t = 0.01 the divisor is norm²/2t + t/2, which is t at t and t/2 at 0.

    Examples
    --------
    >>> group_directions(np.array([[3.0, 0.006], [4.0, 0.0]]), 2).round(4).tolist()
    [[0.6, 0.8824], [0.8, 0.0]]
    """
    norms = group_norms(P, n_rules)
    smoothed = norms**2 / (2 * SMOOTH_BELOW) + SMOOTH_BELOW / 2
    divisors = np.where(norms <= SMOOTH_BELOW, smoothed, norms)
    return P / np.tile(divisors, (n_rules, 1))


def label_likeness(P: Array, Q: Array) -> float:
    """Σ_{i≠j} (1 + q_ij) cos(p_i, p_j) of the consequents p_l, columns of P."""
    lengths = np.linalg.norm(P, axis=0)
    directions = P / np.where(lengths > 0, lengths, 1.0)
    cosines = directions.T @ directions
    weights = 1.0 + Q
    np.fill_diagonal(weights, 0.0)
    return float(np.vdot(weights, cosines))
