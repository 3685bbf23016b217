"""Algorithm I exactly as its authors run it, and a grid of its settings over one set of moments.   (24)-(36)

Symbols: G (N, Md) rule-mapped features, Y (N, L) labels, A = GᵀG, B = GᵀY, R = 1 - C (L, L) with C the
correlation of the labels; W (Md, L) the consequents, P where they stop; α, β the weights of (24), γ of the
ridge start (36).

From W = (A + γI)⁻¹B, with step 1/Lip, Lip² = 2(‖A‖₂² + ‖αR‖₂²), at most 100 times:

    V = W + ((b' - 1)/b)(W - W'),   W⁺ = soft(V - (A V - B + α V R)/Lip, β/Lip),   b⁺ = (1 + √(4b² + 1))/2
    stop when q = ‖G W - Y‖² + α Tr(R WᵀW) + β · nnz(W) changes by at most 0.01, or is not positive

q is not the objective: it has no factors ½ and counts coefficients. R is indefinite, so q can fall below 0
and the iteration has no minimum to go to; what it returns is where it stopped. For a problem with a minimum
use `fista`. How a step is made with one pair of products: `algorithm1_steps`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import product
from math import nan
from typing import Any, ClassVar, Literal

import numpy as np

from ...core.arrays import Array
from ...core.coupling import coupling_matrix, label_correlation
from ...core.fuzzymap import FuzzyMap
from ...exceptions import InputError
from .algorithm1_steps import Algorithm1Result, Setting, Solver, low_rank
from .problem import Quadratic, quadratic, weighted

# A factor of A takes about as long as a few settings, and A itself 300 MB at this width.
_FACTOR_FROM, _FACTOR_WIDTH = 20, 6000
# What a factor may leave out of A, in units of its trace: less than the rounding of the steps.
_FACTOR_TOLERANCE = {"double": float(np.finfo(np.float64).eps), "single": 1e-9}

ConstantLabels = Literal["uncorrelated", "authors"]
Precision = Literal["double", "single"]


def algorithm1(
    G: Array | FuzzyMap,
    Y: Array,
    alpha: float,
    beta: float,
    gamma: float,
    *,
    max_iter: int = 100,
    margin: float = 0.01,
    sample_weight: Array | None = None,
    constant_labels: ConstantLabels = "uncorrelated",
) -> Algorithm1Result:
    """Algorithm I as the authors' program runs it, stopping rule included.

    Parameters
    ----------
    G : array of shape (N, Md), or FuzzyMap
        Columns may come in any order. Where A = GᵀG would cost more than it saves, products go through G.
    Y : array of shape (N, L) of 0 and 1
    alpha, beta, gamma : float
        Weights of the label coupling, of the L1 norm, and of the ridge start.
    max_iter, margin : int, float
        The authors' 100 and 0.01.
    sample_weight : array of shape (N,), optional
        Counts of copies: 0 removes a row, 2 doubles it.
    constant_labels : {"uncorrelated", "authors"}, default="uncorrelated"
        A label that is constant in Y has no correlation. It counts as 0, or, with "authors", it becomes the
        NaN of their program, which ends in P = 0 without a word.

    Returns
    -------
    Algorithm1Result
        ``P`` (Md, L), ``n_iter``, the stop-losses ``losses`` and ``stopped_by``.

    Examples
    --------
    >>> import numpy as np
    >>> G, Y = np.array([[1.0, 0], [1, 1], [0, 1]]), np.array([[1.0, 0], [1, 1], [0, 1]])
    >>> result = algorithm1(G, Y, 0.1, 0.01, 0.1)
    >>> result.n_iter, result.stopped_by, result.P.round(2).tolist()
    (4, 'margin', [[1.01, -0.06], [-0.06, 1.01]])
    """
    solver = _solver(G, Y, sample_weight, constant_labels, max_iter, margin)
    with solver.threads():
        return solver.solve(alpha, beta, gamma)


def algorithm1_grid(
    G: Array | FuzzyMap,
    Y: Array,
    alphas: Iterable[float],
    betas: Iterable[float],
    gammas: Iterable[float],
    *,
    then: Callable[[Algorithm1Result], Any] | None = None,
    max_iter: int = 100,
    margin: float = 0.01,
    sample_weight: Array | None = None,
    constant_labels: ConstantLabels = "uncorrelated",
    precision: Precision = "double",
) -> dict[Setting, Any]:
    """`algorithm1` for every (alpha, beta, gamma): the same numbers, sharing what settings have in common.

    The moments, norms and R are made once, the start and its products once per gamma, the buffers once.

    Parameters
    ----------
    G, Y, max_iter, margin, sample_weight, constant_labels
        As in `algorithm1`.
    alphas, betas, gammas : iterables of float
    then : callable, optional
        Turns each result into what is kept of it, scores of a test fold, say, so that memory does not grow
        with the grid by one P per setting.
    precision : {"double", "single"}, default="double"
        Of the steps; starts, norms and the sums of q are made in double in any case. "single" takes about half the
        time. At most one setting in a hundred stopped a step earlier or later where that was compared, and labels
        whose scores are all but equal may change places.

    Returns
    -------
    dict
        (alpha, beta, gamma) → result, or what ``then`` made of it.

    Examples
    --------
    >>> import numpy as np
    >>> G, Y = np.array([[1.0, 0], [1, 1], [0, 1]]), np.array([[1.0, 0], [1, 1], [0, 1]])
    >>> algorithm1_grid(G, Y, [0.1], [0.01, 10], [0.1], then=lambda result: result.n_iter)
    {(0.1, 0.01, 0.1): 4, (0.1, 10, 0.1): 2}
    """
    settings = list(product(alphas, betas, gammas))
    if precision not in _FACTOR_TOLERANCE:
        raise InputError(f'precision must be "double" or "single", got {precision!r}.')
    solver = _solver(G, Y, sample_weight, constant_labels, max_iter, margin, len(settings), precision)
    done: dict[Setting, Any] = {}
    with solver.threads():
        # gamma by gamma: the solver keeps one start
        for setting, result in solver.solve_all(sorted(set(settings), key=lambda s: s[2])):
            done[setting] = result if then is None else then(result)
    return {setting: done[setting] for setting in settings}


@dataclass(frozen=True)
class _Dense:
    """What is needed of a `FuzzyMap`, for a G that is an array."""

    X: Array
    n_rules: ClassVar[int] = 1
    is_sparse: ClassVar[bool] = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[0], self.X.shape[1]

    def weighted(self, w: Array | None) -> "_Dense":
        return _Dense(weighted(self.X, w))

    def astype(self, dtype: "np.dtype[Any] | type") -> "_Dense":
        return _Dense(self.X.astype(dtype))

    def __matmul__(self, W: Array) -> Array:
        return self.X @ W

    def transpose_matmul(self, V: Array) -> Array:
        return self.X.T @ V

    def gram(self) -> Array:
        return self.X.T @ self.X

    def dual_gram(self) -> Array:
        return self.X @ self.X.T


def _solver(
    G: Array | FuzzyMap,
    Y: Array,
    sample_weight: Array | None,
    constant_labels: ConstantLabels,
    max_iter: int,
    margin: float,
    n_settings: int = 1,
    precision: Precision = "double",
) -> Solver:
    rows = G if isinstance(G, FuzzyMap) else _Dense(np.asarray(G, dtype=np.float64))
    Y = np.asarray(Y, dtype=np.float64)
    if Y.ndim != 2 or rows.shape[0] != len(Y) or not len(Y):
        raise InputError(f"G of shape {rows.shape} and Y of shape {Y.shape} must have the same rows, one or more.")
    w = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    data = quadratic(rows, Y, w, n_products=max_iter * n_settings)
    if not np.isfinite(data.B).all():
        raise InputError("G or Y holds NaN or infinite values: remove or impute them first.")
    data, factor = _factored(data, n_settings, _FACTOR_TOLERANCE[precision])
    dtype = np.float32 if precision == "single" else np.float64
    return Solver(data, _coupling(Y, w, constant_labels), max_iter, margin, factor, dtype)


def _factored(data: Quadratic, n_settings: int, tolerance: float) -> tuple[Quadratic, Array | None]:
    """The same data with a factor of A where many settings make that pay."""
    if n_settings < _FACTOR_FROM or len(data.B) > _FACTOR_WIDTH or data.G.is_sparse:
        return data, None
    A = data.G.gram() if data.A is None else data.A
    factor = low_rank(A, tolerance)
    if factor is None or (data.A is None and factor.shape[1] >= len(data.Y)):
        return data, None
    return replace(data, A=A), factor


def _coupling(Y: Array, w: Array | None, constant_labels: ConstantLabels) -> Array:
    if constant_labels not in ("uncorrelated", "authors"):
        raise InputError(f'constant_labels must be "uncorrelated" or "authors", got {constant_labels!r}.')
    R = coupling_matrix(label_correlation(Y, w), "paper")
    counted = Y if w is None else Y[w > 0]
    if constant_labels == "authors" and bool((counted == counted[:1]).all(axis=0).any()):
        R[:] = nan
    return R
