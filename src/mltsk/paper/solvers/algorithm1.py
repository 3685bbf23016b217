"""Algorithm I as its authors run it, for one setting or for a grid.   (24)-(36)

Symbols::

    G (N, Md)       rule-mapped features
    Y (N, L)        labels
    A, B, yy        GᵀG, GᵀY and ‖Y‖²
    R (L, L)        1 - C with C the correlation of the labels
    W, P (Md, L)    the consequents, and where they stop
    α, β, γ         weights of the coupling and of the L1 norm (24), and of the ridge
                    start (36)

From W = (A + γI)⁻¹B, with step 1/Lip, Lip² = 2(‖A‖₂² + ‖αR‖₂²), at most 100 times::

    m  = (b' - 1)/b
    b⁺ = (1 + √(4b² + 1))/2
    V  = W + m(W - W')
    W⁺ = soft(V - (A V - B + α V R)/Lip, β/Lip)
    q  = ‖G W⁺ - Y‖² + α Tr(R W⁺ᵀW⁺) + β nnz(W⁺)
    stop when q changes by at most 0.01, or is not positive

q is not the objective: it has no factors ½ and counts coefficients. R is indefinite, so
q can fall below 0 and the iteration has no minimum to go to; what it returns is where
it stopped. For a problem with a minimum use `fista`.

Written down like that a step takes four products. With H(W) = A W + α W R and
F(W) = W - (H(W) - B)/Lip, both affine, it takes the two of H(W⁺):

    W⁺ = soft((1 + m) F(W) - m F(W'), β/Lip)
    q  = ⟨W⁺, H(W⁺)⟩ - 2⟨W⁺, B⟩ + yy + β nnz(W⁺)

The rest is in place, and W, B and H are transposed, (L, Md), which is faster.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import isnan, nan, sqrt
from operator import itemgetter
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import get_blas_funcs
from scipy.linalg.lapack import dpstrf

from ...core.arrays import (
    Array,
)
from ...core.coupling import coupling_matrix, label_correlation
from ...core.fuzzymap import FuzzyMap
from ...core.threads import blas_threads
from ...exceptions import InputError
from .problem import Quadratic, gram, next_momentum, quadratic

Stop = Literal["program", "text"]
StoppedBy = Literal["margin", "negative loss", "max_iter"]
Setting: TypeAlias = tuple[float, float, float]
# Labels and columns of W that are not all zero, or nothing where these are too many to
# be worth a copy.
Support: TypeAlias = tuple[NDArray[np.intp], ...]

# A factor of A takes about as long as a few settings, and A itself 300 MB at this
# width.
MIN_FACTOR_SETTINGS = 20
MAX_FACTOR_WIDTH = 6000
# What a factor may leave out of A, in units of its trace: less than the rounding of the
# steps.
FACTOR_TOLERANCE = {"double": float(np.finfo(np.float64).eps), "single": 1e-9}
# Looking for zero rows and columns takes 10 µs, so it is done only below this share of
# nonzeros; copying what is left pays below this share of all of W.
MAX_SHARE_TO_LOOK = 0.25
MAX_SHARE_TO_COPY = 0.7
# Settings run in step until their products have about this many columns: enough for
# the machine's best rate.
PRODUCT_COLUMNS = 160


class Algorithm1Result(NamedTuple):
    """Where Algorithm I stopped.

    ``P`` (Md, L) are the consequents after ``n_iter`` steps, ``losses`` (n_iter,) the q
    of every step, ``stopped_by`` says why it stopped.
    """

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
    """Algorithm I as the authors' program runs it, stopping rule included.

    Parameters
    ----------
    G : array of shape (N, Md), or FuzzyMap
        Columns may come in any order. Where A = GᵀG would cost more than it saves,
        products go through G.
    Y : array of shape (N, L) of 0 and 1
    alpha, beta, gamma : float
        Weights of the label coupling, of the L1 norm, and of the ridge start.
    max_iter, margin : int, float
        The authors' 100 and 0.01.
    sample_weight : array of shape (N,), optional
        Counts of copies: 0 removes a row, 2 doubles it.
    constant_labels : {"uncorrelated", "authors"}, default="uncorrelated"
        A label that is constant in Y has no correlation. It counts as 0, or, with
        "authors", it becomes the NaN of their program, which ends in P = 0 without a
        word.
    stop : {"program", "text"}, default="program"
        What must change by ``margin`` at most: q, or, as the paper says, the objective
        (24), from that of the start on, which may fall below 0.

    Examples
    --------
    >>> G = np.array([[1.0, 0], [1, 1], [0, 1]])
    >>> Y = np.array([[1.0, 0], [1, 1], [0, 1]])
    >>> result = algorithm1(G, Y, 0.1, 0.01, 0.1)
    >>> result.n_iter, result.stopped_by, result.P.round(2).tolist()
    (4, 'margin', [[1.01, -0.06], [-0.06, 1.01]])
    """
    results = algorithm1_grid(
        G,
        Y,
        [float(alpha)],
        [float(beta)],
        [float(gamma)],
        max_iter=max_iter,
        margin=margin,
        sample_weight=sample_weight,
        constant_labels=constant_labels,
        stop=stop,
    )
    (result,) = results.values()
    return result


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
    """`algorithm1` for every (alpha, beta, gamma), with the same numbers.

    What settings have in common is made once.

    Parameters
    ----------
    G, Y, max_iter, margin, sample_weight, constant_labels, stop
        As for `algorithm1`.
    alphas, betas, gammas : iterables of float
    then : callable, optional
        Turns each result into what is kept of it, scores of a test fold, say, so that
        memory does not grow by one P per setting.
    precision : {"double", "single"}
        "single" is faster and moves the AP of few settings (``python -m benchmarks
        section_iv_grid``): starts, norms and the sums of q are double in any case, and
        labels whose scores are all but equal may change places.

    Examples
    --------
    >>> G = np.array([[1.0, 0], [1, 1], [0, 1]])
    >>> Y = np.array([[1.0, 0], [1, 1], [0, 1]])
    >>> def n_iter(result):
    ...     return result.n_iter
    >>> algorithm1_grid(G, Y, [0.1], [0.01, 10], [0.1], then=n_iter)
    {(0.1, 0.01, 0.1): 4, (0.1, 10, 0.1): 2}
    """
    settings = list(product(alphas, betas, gammas))
    _check_settings(settings)
    if precision not in FACTOR_TOLERANCE:
        raise InputError(f'precision must be "double" or "single", got {precision!r}.')
    if not isinstance(G, FuzzyMap):
        G = np.asarray(G, dtype=np.float64)
    Y = np.asarray(Y, dtype=np.float64)
    w = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    data = _read_data(G, Y, w, n_products=max_iter * len(settings))
    data = _factored(data, len(settings), FACTOR_TOLERANCE[precision])
    R = _coupling(Y, w, constant_labels)
    solver = Solver(data, R, max_iter, margin, single=precision == "single", stop=stop)
    Md, L = data.B.shape
    done: dict[Setting, Any] = {}
    with blas_threads(2 * Md * max(Md, L) * L):
        # gamma by gamma: the solver keeps one start
        in_order = sorted(set(settings), key=itemgetter(2))
        for setting, result in solver.solve_all(in_order):
            done[setting] = result if then is None else then(result)
    return {setting: done[setting] for setting in settings}


def _check_settings(settings: Sequence[Setting]) -> None:
    """Refuse weights that make no sense."""
    for alpha, beta, gamma in settings:
        if not (alpha >= 0 and beta >= 0 and gamma > 0):
            raise InputError(
                "alpha, beta >= 0 and gamma > 0 are needed, "
                f"got {alpha}, {beta}, {gamma}."
            )


def _read_data(
    G: Array | FuzzyMap, Y: Array, w: Array | None, n_products: int
) -> Quadratic:
    """The data of the problem; rows that do not match and NaN are refused."""
    if Y.ndim != 2 or G.shape[0] != len(Y) or len(Y) == 0:
        raise InputError(
            f"G of shape {G.shape} and Y of shape {Y.shape} must have the same rows, "
            "one or more."
        )
    data = quadratic(G, Y, w, n_products=n_products)
    if not np.isfinite(data.B).all():
        raise InputError(
            "G or Y holds NaN or infinite values: remove or impute them first."
        )
    return data


def _factored(data: Quadratic, n_settings: int, tolerance: float) -> Quadratic:
    """The same data with a factor F (Md, r) of A, where many settings make that pay.

    A = F Fᵀ to ``tolerance`` times the trace. Rules that hardly differ give nearly
    equal columns of G, so A has far fewer than Md directions: with the paper's
    clustering r is 329 of 2,950 on scene (K = 10, h = 10). Cholesky with pivoting stops
    there; it costs Md r² flops.
    """
    if n_settings < MIN_FACTOR_SETTINGS or len(data.B) > MAX_FACTOR_WIDTH:
        return data
    if sparse.issparse(getattr(data.G, "X", data.G)):
        return data
    A = gram(data.G) if data.A is None else data.A
    lower, pivots, rank, _ = dpstrf(A, tol=tolerance * float(np.trace(A)), lower=1)
    if not 0 < 2 * rank < len(A):
        return data
    if data.A is None and rank >= len(data.Y):
        return data
    F = np.empty((len(A), rank))
    F[pivots - 1] = np.tril(lower[:, :rank])
    return replace(data, A=A, factor=F)


def _coupling(Y: Array, w: Array | None, constant_labels: str) -> Array:
    """R (L, L); all NaN where a label is constant and the authors' way is asked for."""
    if constant_labels not in ("uncorrelated", "authors"):
        raise InputError(
            'constant_labels must be "uncorrelated" or "authors", '
            f"got {constant_labels!r}."
        )
    R = coupling_matrix(label_correlation(Y, w), "paper")
    counted = Y if w is None else Y[w > 0]
    is_constant = (counted == counted[:1]).all(axis=0)
    if constant_labels == "authors" and is_constant.any():
        R[:] = nan
    return R


class Solver:
    """Runs settings over the same data; norms and the latest start are shared.

    With many labels settings run one after the other: their buffers stay in the cache,
    and rows and columns of W that are all zero drop out of H(W). With few labels a
    product is bound by reading A, so several settings run in step.

    Parameters
    ----------
    data : Quadratic
    R : array of shape (L, L)
    max_iter, margin, stop
        As for `algorithm1`.
    single : bool
        Take steps in single precision. Norms, the start and sums over rows of q stay
        double, so that rounding stays below the margin.
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
        self.data = data
        self.R = R
        self.max_iter = max_iter
        self.margin = margin
        self.stop = stop
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.B = np.ascontiguousarray(data.B.T, dtype=self.dtype)
        self.norm_R = nan
        if not np.isnan(R).any():
            self.norm_R = float(abs(np.linalg.eigvalsh(R)).max())
        # y += a x in one pass, where NumPy takes two
        self.add = get_blas_funcs("axpy", dtype=self.dtype)
        self._step_data = data.astype(self.dtype) if single else data
        self._latest_start: dict[float, list[Array]] = {}

    def start(self, gamma: float) -> list[Array]:
        """W = (A + γI)⁻¹B with its A W and W R, all of shape (L, Md).

        A W = B - γW is free, and W R is shared by all alpha and beta.
        """
        if gamma not in self._latest_start:
            W = np.ascontiguousarray(self.data.ridge_start(gamma).T)
            arrays = (W, self.data.B.T - gamma * W, self.R @ W)
            self._latest_start = {gamma: [M.astype(self.dtype) for M in arrays]}
        return self._latest_start[gamma]

    def solve(self, alpha: float, beta: float, gamma: float) -> Algorithm1Result:
        """Run one setting from its ridge start to where it stops."""
        _, result = next(self.solve_all([(alpha, beta, gamma)]))
        return result

    def solve_all(
        self, settings: Sequence[Setting]
    ) -> Iterator[tuple[Setting, Algorithm1Result]]:
        """Every setting with its result, as they finish.

        Settings run one after the other, or several in step where labels are few. In
        step, a slot whose setting has stopped takes the next, so the product stays
        wide to the end.
        """
        L, Md = self.B.shape
        n_slots = 1
        if L <= PRODUCT_COLUMNS // 2:
            n_slots = min(-(-PRODUCT_COLUMNS // L), len(settings))
        W, H = np.zeros((2, n_slots, L, Md), dtype=self.dtype)
        waiting = iter(settings)
        done: list[tuple[Setting, Algorithm1Result]] = []
        slots = [self._slot(waiting, done, W[i], H[i]) for i in range(n_slots)]
        while True:
            supports: dict[int, Support] = {}
            for i, slot in enumerate(slots):
                support = next(slot, None)
                if support is not None:
                    supports[i] = support
            yield from done
            done.clear()
            if not supports:
                return
            self._multiply(W, H, supports)

    def _multiply(self, W: Array, H: Array, supports: dict[int, Support]) -> None:
        """Put W A into H, for slots that still run; both are (n_slots, L, Md)."""
        n_slots, L, Md = W.shape
        A = self._step_data.A
        if n_slots == 1 and supports[0] and A is not None:
            labels, columns = supports[0]
            compact = W[0].take(labels, axis=0).take(columns, axis=1)
            H.fill(0.0)
            H[0, labels] = compact @ A.take(columns, axis=0)
            return
        running = list(supports) if len(supports) < n_slots else slice(None)
        H[running] = self._product(W[running].reshape(-1, Md)).reshape(-1, L, Md)

    def _product(self, W: Array) -> Array:
        """W A of rows (…, Md): A is symmetric, so these are the rows of A Wᵀ."""
        data = self._step_data
        if data.factor is not None:
            return (W @ data.factor) @ data.factor.T
        if data.A is None:
            return data.apply(W.T).T
        return W @ data.A

    def _slot(
        self,
        waiting: Iterator[Setting],
        done: list[tuple[Setting, Algorithm1Result]],
        W: Array,
        H: Array,
    ) -> Iterator[Support]:
        """Run settings one after the other in the buffers W and H."""
        for setting in waiting:
            result = yield from self._run(setting, W, H)
            done.append((setting, result))

    def _run(
        self, setting: Setting, W: Array, H: Array
    ) -> Generator[Support, None, Algorithm1Result]:
        """One setting in the buffers W and H.

        Whenever it yields, its caller must put W A into H.
        """
        if isnan(self.norm_R):
            return self._result_without_coupling()
        run = _Run(self, setting, W, H)
        losses: list[float] = []
        stopped_by: StoppedBy = "max_iter"
        # the authors compare the first q with 0, the text with that of the start
        previous = 0.0 if self.stop == "program" else run.value()
        for _ in range(self.max_iter):
            yield run.step()
            q = run.loss()
            losses.append(q)
            if abs(previous - q) <= self.margin:
                stopped_by = "margin"
                break
            if q <= 0 and self.stop == "program":
                stopped_by = "negative loss"
                break
            previous = q
        return Algorithm1Result(
            P=W.T.astype(np.float64, order="C"),
            n_iter=len(losses),
            losses=np.array(losses),
            stopped_by=stopped_by,
        )

    def _result_without_coupling(self) -> Algorithm1Result:
        """The authors' result where R is NaN.

        MATLAB's max(NaN, 0) is 0: their W is 0 from the first step on.
        """
        return Algorithm1Result(
            P=np.zeros(self.data.B.shape),
            n_iter=self.max_iter,
            losses=np.full(self.max_iter, nan),
            stopped_by="max_iter",
        )


class _Run:
    """One setting on its way, with the arrays (L, Md) that its steps use up.

    After every `step` the solver puts W A into H; then `loss` may be asked for.
    """

    def __init__(self, solver: Solver, setting: Setting, W: Array, H: Array) -> None:
        alpha, beta, gamma = setting
        lip = sqrt(2 * (solver.data.norm**2 + (alpha * solver.norm_R) ** 2)) or 1.0
        self.solver = solver
        self.beta = beta
        self.rate = 1 / lip
        self.threshold = beta / lip
        self.scaled_B = solver.B / lip
        self.coupling = (alpha * solver.R).astype(solver.dtype, copy=False)
        self.b_old = 1.0
        self.b = 1.0
        self.W = W
        self.H = H
        start, AW, RW = solver.start(gamma)
        W[:] = start
        H[:] = AW + alpha * RW
        self.F, self.F_old = np.zeros((2, *W.shape), dtype=solver.dtype)
        self.n_nonzero = 0
        self.support: Support = ()

    def step(self) -> Support:
        """Put W⁺ in the place of W and F(W) into F; H is used up.   (31)-(33)"""
        W, H, F, F_old = self.W, self.H, self.F, self.F_old
        add = self.solver.add
        m = (self.b_old - 1) / self.b
        np.add(W, self.scaled_B, out=F)
        add(H.ravel(), F.ravel(), a=-self.rate)
        np.multiply(F, 1 + m, out=H)
        add(F_old.ravel(), H.ravel(), a=-m)
        cut = np.clip(H, -self.threshold, self.threshold, out=F_old)
        np.subtract(H, cut, out=W)
        nonzero = H != cut
        self.n_nonzero = int(np.count_nonzero(nonzero))
        self.support = self._support(nonzero)
        self.F = F_old
        self.F_old = F
        self.b_old = self.b
        self.b = next_momentum(self.b)
        return self.support

    def _support(self, nonzero: NDArray[np.bool_]) -> Support:
        """Labels and columns that are not all zero, where they are few enough to copy.

        ``nonzero`` (L, Md) says which coefficients are not zero.
        """
        if self.n_nonzero >= MAX_SHARE_TO_LOOK * nonzero.size:
            return ()
        labels = np.flatnonzero(nonzero.any(axis=1))
        columns = np.flatnonzero(nonzero.any(axis=0))
        if len(labels) * len(columns) > MAX_SHARE_TO_COPY * nonzero.size:
            return ()
        return labels, columns

    def loss(self) -> float:
        """q, or the objective (24) where the text decides, after H += α W R.

        The array F is used up.
        """
        W, H = self.W, self.H
        if self.support:
            labels, columns = self.support
            compact = W.take(labels, axis=0).take(columns, axis=1)
            H[:, columns] += self.coupling.take(labels, axis=1) @ compact
        else:
            H += np.matmul(self.coupling, W, out=self.F)
        return self.value()

    def value(self) -> float:
        """q, or the objective (24), of W whose H is complete."""
        W, H, solver = self.W, self.H, self.solver
        q = _inner(W, H) - 2 * _inner(W, solver.B) + solver.data.yy
        if solver.stop == "program":
            return q + self.beta * self.n_nonzero
        return q / 2 + self.beta * float(np.abs(W).sum())


def _inner(W: Array, V: Array) -> float:
    """⟨W, V⟩; of single precision, sums over rows are double."""
    if W.dtype == np.float64:
        return float(W.ravel() @ V.ravel())
    return float(np.einsum("ij,ij->i", W, V).sum(dtype=np.float64))
