"""Algorithm I exactly as its authors run it, one setting or a grid of them over one set of moments.   (24)-(36)

Symbols: G (N, Md) rule-mapped features, Y (N, L) labels, A = GᵀG, B = GᵀY, yy = ‖Y‖², R = 1 - C (L, L) with C the
correlation of the labels; W (Md, L) the consequents, P where they stop; α, β the weights of (24), γ of the ridge start
(36). From W = (A + γI)⁻¹B, with step 1/Lip, Lip² = 2(‖A‖₂² + ‖αR‖₂²), at most 100 times:

    V = W + m(W - W'),   W⁺ = soft(V - (A V - B + α V R)/Lip, β/Lip),   m = (b' - 1)/b,   b⁺ = (1 + √(4b² + 1))/2
    stop when q = ‖G W⁺ - Y‖² + α Tr(R W⁺ᵀW⁺) + β nnz(W⁺) changes by at most 0.01, or is not positive

q is not the objective: it has no factors ½ and counts coefficients. R is indefinite, so q can fall below 0 and the
iteration has no minimum to go to; what it returns is where it stopped. For a problem with a minimum use `fista`.

Written down like that a step takes four products. With H(W) = A W + α W R and F(W) = W - (H(W) - B)/Lip, both affine,
it takes the two of H(W⁺), the rest is in place, and W, B and H are transposed, (L, Md), which is faster:

    W⁺ = soft((1 + m) F(W) - m F(W'), β/Lip),   q = ⟨W⁺, H(W⁺)⟩ - 2⟨W⁺, B⟩ + yy + β nnz(W⁺)
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import isnan, nan, sqrt
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import get_blas_funcs
from scipy.linalg.lapack import dpstrf

from ...core.arrays import Array, blas_threads
from ...core.coupling import coupling_matrix, label_correlation
from ...core.fuzzymap import FuzzyMap
from ...exceptions import InputError
from .problem import Quadratic, gram, quadratic

Stop = Literal["program", "text"]
StoppedBy = Literal["margin", "negative loss", "max_iter"]
Setting: TypeAlias = tuple[float, float, float]
Used: TypeAlias = tuple[
    NDArray[np.intp], ...
]  # labels and coefficients where W is not all zero, or nothing

# A factor of A takes about as long as a few settings, and A itself 300 MB at this width.
_FACTOR_FROM, _FACTOR_WIDTH = 20, 6000
# What a factor may leave out of A, in units of its trace: less than the rounding of the steps.
_FACTOR_TOLERANCE = {"double": float(np.finfo(np.float64).eps), "single": 1e-9}
# Looking for zero rows and columns takes 10 µs, so it is done only below this share of nonzeros; copying what
# is left pays below this share of all of W.
_LOOK_BELOW, _COMPACT_BELOW = 0.25, 0.7
# Settings run in step until their products have about so many columns: enough for the machine's best rate.
_WIDE = 160


class Algorithm1Result(NamedTuple):
    """Where Algorithm I stopped: ``P`` (Md, L) after ``n_iter`` steps, the q of every step, and why."""

    P: Array
    n_iter: int
    losses: Array
    stopped_by: StoppedBy


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
    constant_labels: str = "uncorrelated",
    stop: Stop = "program",
) -> Algorithm1Result:
    """Algorithm I as the authors' program runs it, stopping rule included: P, n_iter, the q of every step, and why.

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
    stop : {"program", "text"}, default="program"
        What must change by ``margin`` at most: q, or, as the paper says, the objective (24), which may fall below 0.

    Examples
    --------
    >>> G, Y = np.array([[1.0, 0], [1, 1], [0, 1]]), np.array([[1.0, 0], [1, 1], [0, 1]])
    >>> result = algorithm1(G, Y, 0.1, 0.01, 0.1)
    >>> result.n_iter, result.stopped_by, result.P.round(2).tolist()
    (4, 'margin', [[1.01, -0.06], [-0.06, 1.01]])
    """
    options: dict[str, Any] = {
        "max_iter": max_iter,
        "margin": margin,
        "constant_labels": constant_labels,
        "stop": stop,
    }
    weights = [[float(weight)] for weight in (alpha, beta, gamma)]
    (found,) = algorithm1_grid(
        G, Y, *weights, sample_weight=sample_weight, **options
    ).values()
    return found


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
    constant_labels: str = "uncorrelated",
    precision: str = "double",
    stop: Stop = "program",
) -> dict[Setting, Any]:
    """`algorithm1` for every (alpha, beta, gamma), with the same numbers; what settings have in common is made once.

    ``then`` turns each result into what is kept of it, scores of a test fold, say, so that memory does not grow by one
    P per setting. ``precision`` "single" is faster and moves the AP of few settings (``python -m benchmarks
    section_iv_grid``): starts, norms and the sums of q are double in any case, and labels whose scores are all but
    equal may change places.

    Examples
    --------
    >>> G, Y = np.array([[1.0, 0], [1, 1], [0, 1]]), np.array([[1.0, 0], [1, 1], [0, 1]])
    >>> algorithm1_grid(G, Y, [0.1], [0.01, 10], [0.1], then=lambda result: result.n_iter)
    {(0.1, 0.01, 0.1): 4, (0.1, 10, 0.1): 2}
    """
    settings = list(product(alphas, betas, gammas))
    for alpha, beta, gamma in settings:
        if not (alpha >= 0 and beta >= 0 and gamma > 0):
            raise InputError(
                f"alpha, beta >= 0 and gamma > 0 are needed, got {alpha}, {beta}, {gamma}."
            )
    if precision not in _FACTOR_TOLERANCE:
        raise InputError(f'precision must be "double" or "single", got {precision!r}.')
    G = G if isinstance(G, FuzzyMap) else np.asarray(G, dtype=np.float64)
    Y = np.asarray(Y, dtype=np.float64)
    if Y.ndim != 2 or G.shape[0] != len(Y) or not len(Y):
        raise InputError(
            f"G of shape {G.shape} and Y of shape {Y.shape} must have the same rows, one or more."
        )
    w = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    data = quadratic(G, Y, w, n_products=max_iter * len(settings))
    if not np.isfinite(data.B).all():
        raise InputError(
            "G or Y holds NaN or infinite values: remove or impute them first."
        )
    data, R = (
        _factored(data, len(settings), _FACTOR_TOLERANCE[precision]),
        _coupling(Y, w, constant_labels),
    )
    solver = Solver(data, R, max_iter, margin, single=precision == "single", stop=stop)
    (Md, L), done = data.B.shape, dict[Setting, Any]()
    with blas_threads(2 * Md * max(Md, L) * L):
        # gamma by gamma: the solver keeps one start
        for setting, result in solver.solve_all(
            sorted(set(settings), key=lambda s: s[2])
        ):
            done[setting] = result if then is None else then(result)
    return {setting: done[setting] for setting in settings}


def _factored(data: Quadratic, n_settings: int, tolerance: float) -> Quadratic:
    """The same data with F (Md, r), A = F Fᵀ to ``tolerance`` times the trace, where many settings make that pay.

    Rules that hardly differ give nearly equal columns of G, so A has far fewer than Md directions: with the paper's
    clustering r is 329 of 2,950 on scene (K = 10, h = 10). Cholesky with pivoting stops there; it costs Md r² flops.
    """
    if (
        n_settings < _FACTOR_FROM
        or len(data.B) > _FACTOR_WIDTH
        or sparse.issparse(getattr(data.G, "X", data.G))
    ):
        return data
    A = gram(data.G) if data.A is None else data.A
    lower, pivots, rank, _ = dpstrf(A, tol=tolerance * float(np.trace(A)), lower=1)
    if not 0 < 2 * rank < len(A) or (data.A is None and rank >= len(data.Y)):
        return data
    F = np.empty((len(A), rank))
    F[pivots - 1] = np.tril(lower[:, :rank])
    return replace(data, A=A, factor=F)


def _coupling(Y: Array, w: Array | None, constant_labels: str) -> Array:
    if constant_labels not in ("uncorrelated", "authors"):
        raise InputError(
            f'constant_labels must be "uncorrelated" or "authors", got {constant_labels!r}.'
        )
    R = coupling_matrix(label_correlation(Y, w), "paper")
    counted = Y if w is None else Y[w > 0]
    if constant_labels == "authors" and bool(
        (counted == counted[:1]).all(axis=0).any()
    ):
        R[:] = nan
    return R


class Solver:
    """Runs settings over the same data; norms and the latest start are shared.

    With many labels settings run one after the other: their buffers stay in the cache, and rows and columns of W that
    are all zero drop out of H(W). With few labels a product is bound by reading A, so several settings run in step.
    Where ``single``, steps are in single precision; norms, the start and sums over rows of q stay double, so that
    rounding stays below the margin.
    """

    def __init__(
        self,
        data: Quadratic,
        R: Array,
        max_iter: int,
        margin: float,
        single: bool = False,
        stop: Stop = "program",
    ) -> None:
        if max_iter < 1:
            raise InputError(f"max_iter must be at least 1, got {max_iter}.")
        self.data, self.R, self.max_iter, self.margin, self.stop = (
            data,
            R,
            max_iter,
            margin,
            stop,
        )
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self._steps_data = data.astype(self.dtype) if single else data
        self._norm_R = (
            nan if np.isnan(R).any() else float(abs(np.linalg.eigvalsh(R)).max())
        )
        self._B = np.ascontiguousarray(data.B.T, dtype=self.dtype)
        self._starts: dict[float, list[Array]] = {}  # the latest one
        self._add = get_blas_funcs(
            "axpy", dtype=self.dtype
        )  # y += a x in one pass, where NumPy takes two

    def _start(self, gamma: float) -> list[Array]:
        """W = (A + γI)⁻¹B, its A W = B - γW, which is free, and its W R, which all alpha and beta share."""
        if gamma not in self._starts:
            W = np.ascontiguousarray(self.data.ridge_start(gamma).T)
            self._starts = {
                gamma: [
                    M.astype(self.dtype)
                    for M in (W, self.data.B.T - gamma * W, self.R @ W)
                ]
            }
        return self._starts[gamma]

    def solve(self, alpha: float, beta: float, gamma: float) -> Algorithm1Result:
        """Run one setting from its ridge start to where it stops."""
        return next(self.solve_all([(alpha, beta, gamma)]))[1]

    def solve_all(
        self, settings: Sequence[Setting]
    ) -> Iterator[tuple[Setting, Algorithm1Result]]:
        """Every setting with its result, as they finish: one after the other, or several in step where labels are few.

        In step, a slot whose setting has stopped takes the next, so the product stays wide to the end.
        """
        L, Md = self._B.shape
        n_slots = 1 if L > _WIDE // 2 else min(-(-_WIDE // L), len(settings))
        W, H = np.zeros((2, n_slots, L, Md), dtype=self.dtype)
        waiting, done = iter(settings), list[tuple[Setting, Algorithm1Result]]()
        slots = [
            self._slot(waiting, done, *buffers) for buffers in zip(W, H, strict=True)
        ]
        while going := {
            i: used
            for i, slot in enumerate(slots)
            if (used := next(slot, None)) is not None
        }:
            yield from done
            done.clear()
            if n_slots == 1 and going[0] and self._steps_data.A is not None:
                labels, columns = going[0]
                H.fill(0.0)
                part = W[0].take(labels, axis=0).take(columns, axis=1)
                H[0, labels] = part @ self._steps_data.A.take(columns, axis=0)
            else:
                some = list(going) if len(going) < n_slots else slice(None)
                H[some] = self._product(W[some].reshape(-1, Md)).reshape(-1, L, Md)
        yield from done

    def _product(self, W: Array) -> Array:
        """W A of rows (…, Md): A is symmetric, so these are the rows of A Wᵀ."""
        data = self._steps_data
        if data.factor is not None:
            return (W @ data.factor) @ data.factor.T
        return data.apply(W.T).T if data.A is None else W @ data.A

    def _slot(
        self, waiting: Iterator[Setting], done: list[Any], W: Array, H: Array
    ) -> Iterator[Used]:
        for setting in waiting:
            done.append((setting, (yield from self._run(setting, W, H))))

    def _run(
        self, setting: Setting, W: Array, H: Array
    ) -> Generator[Used, None, Algorithm1Result]:
        """One setting in the buffers W and H; whenever it yields, its caller must put A W into H."""
        if isnan(
            self._norm_R
        ):  # MATLAB's max(NaN, 0) is 0: the authors' W is 0 from the first step on
            nans = np.full(self.max_iter, nan)
            return Algorithm1Result(
                np.zeros(self.data.B.shape), self.max_iter, nans, "max_iter"
            )
        alpha, beta, gamma = setting
        lip = sqrt(2 * (self.data.norm**2 + (alpha * self._norm_R) ** 2)) or 1.0
        scaled_B, coupling = (
            self._B / lip,
            (alpha * self.R).astype(self.dtype, copy=False),
        )
        W[:], AW, RW = self._start(gamma)
        H[:] = AW + alpha * RW
        F, F_old = np.zeros((2, *W.shape), dtype=self.dtype)
        # the authors compare the first q with 0
        losses, b_old, b = [0.0 if self.stop == "program" else np.inf], 1.0, 1.0
        stopped_by: StoppedBy = "max_iter"
        while len(losses) <= self.max_iter and stopped_by == "max_iter":
            size, used = self._step(
                W, H, F, F_old, scaled_B, (b_old - 1) / b, 1 / lip, beta / lip
            )
            F, F_old, b_old, b = F_old, F, b, (1 + sqrt(4 * b * b + 1)) / 2
            yield used
            q = self._loss(W, H, F, used, coupling)
            q = (
                q + beta * size
                if self.stop == "program"
                else q / 2 + beta * float(np.abs(W).sum())
            )  # (24)
            if abs(losses[-1] - q) <= self.margin:
                stopped_by = "margin"
            elif q <= 0 and self.stop == "program":
                stopped_by = "negative loss"
            losses.append(q)
        P = W.T.astype(np.float64, order="C")
        return Algorithm1Result(P, len(losses) - 1, np.array(losses[1:]), stopped_by)

    def _step(
        self,
        W: Array,
        H: Array,
        F: Array,
        F_old: Array,
        scaled_B: Array,
        m: float,
        rate: float,
        threshold: float,
    ) -> tuple[int, Used]:
        """Put W⁺ in the place of W and F(W) into F; H and F_old are used up.   (31)-(33)

        Returns nnz(W⁺), and its labels and coefficients that are not all zero where they are few enough to copy them.
        """
        np.add(W, scaled_B, out=F)
        self._add(H.ravel(), F.ravel(), a=-rate)
        np.multiply(F, 1 + m, out=H)
        self._add(F_old.ravel(), H.ravel(), a=-m)
        cut = np.clip(H, -threshold, threshold, out=F_old)
        np.subtract(H, cut, out=W)
        nonzero = H != cut
        size = int(np.count_nonzero(nonzero))
        if size >= _LOOK_BELOW * W.size:
            return size, ()
        labels, columns = (np.flatnonzero(nonzero.any(axis=axis)) for axis in (1, 0))
        return size, (labels, columns) if len(labels) * len(
            columns
        ) <= _COMPACT_BELOW * W.size else ()

    def _loss(self, W: Array, H: Array, F: Array, used: Used, coupling: Array) -> float:
        """q without its last term, after H += α W R; F is used up."""
        if used:
            labels, columns = used
            H[:, columns] += coupling.take(labels, axis=1) @ W.take(
                labels, axis=0
            ).take(columns, axis=1)
        else:
            H += np.matmul(coupling, W, out=F)
        if self.dtype == np.float64:
            WH, WB = (float(W.ravel() @ V.ravel()) for V in (H, self._B))
        else:  # single only along rows
            WH, WB = (
                float(np.einsum("ij,ij->i", W, V).sum(dtype=np.float64))
                for V in (H, self._B)
            )
        return WH - 2 * WB + self.data.yy
