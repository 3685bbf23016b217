"""The one fit: scale, terms, rules, weights and consequents from rows, wherever those lie.

Rows answer `sample(n)`, evenly spread rows on which scale, rules and weights are found, and `moments(design, labels)`,
sums over all rows. Where all rows can be held and are fewer than columns, the sample is all of them and the dual form
is solved; where neither form fits in memory, conjugate gradients on products.
"""

import os
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse as is_sparse

from ..core.arrays import Array, row_blocks, spread_rows
from ..core.backend import asnumpy, cast, device_memory, namespace, put
from ..core.clustering import fuzzy_c_means
from ..core.coupling import coupling_matrix, label_correlation
from ..core.scaling import Scaling, column_quantiles
from ..core.terms import Terms
from ..core.threads import blas_threads
from ..exceptions import InputError
from .choose import LOO_ROWS, LOO_ROWS_LINEAR, Choice, choose, judged
from .design import Design
from .ridge import Moments, Penalty, conjugate_gradients, solve_dual
from .scale import Scale

SAMPLE_ROWS = 20_000  # scale, rules and weights are found on at most this many rows
FEW, MANY_ROWS, FEW_ROWS = 50, 2_000, 5_000  # centres of exceptions on fewer: of more than 50 centres, of few
ROWS_PER_RULE = 2  # no more exceptions than this allows
MEMORY_SHARE = 0.2  # of the memory of the machine or device, which a kernel or Gram matrix may take
TIED = (0.0, 0.25, 0.5, 0.75)  # share of the ridge that a coupling takes, tried by leave-one-out


class Rows(Protocol):
    """Samples with labels and weights, somewhere."""

    n_rows: int
    in_memory: bool

    def patterns(self) -> list[NDArray[np.intp]]:
        """Groups of labels that have the same weights."""

    def sample(self, n: int) -> Any:
        """At most n rows, evenly spread, as a `mltsk.rows.arrays.Block`."""

    def moments(self, design: Design, labels: NDArray[np.intp]) -> Moments:
        """Sums over all rows."""


@dataclass(frozen=True)
class Options:
    """What the user asks for; None leaves it to leave-one-out, but for `coupling` and `scale`, where it is none."""

    n_rules: int | None = None
    order: int | None = None
    width_scale: float | None = None
    ridge: float | None = None
    coupling: str | None = None
    coupling_weight: float | None = None
    scale: str | None = "auto"


@dataclass(frozen=True)
class Fitted:
    """A fit as NumPy arrays and numbers: what `FuzzySystem` holds, what was chosen, and leave-one-out scores.

    ``loo_scores`` (n, L) are those of the rows ``loo_rows``, of all rows where that is None.
    """

    scale: str | None
    scaling: Scaling | None
    terms: Terms
    intercept: Array
    general_coef: Array
    centers: Array
    width: float
    coef: Array
    prototypes: Array
    rule_weights: Array
    quantiles: Array | None
    width_scale: float
    share: float
    ridge: float
    coupling: Array | None
    coupling_weight: float
    loo_error: float
    loo_scores: Array
    loo_rows: Any
    block_weights: tuple[float, float]
    variance: float


@dataclass(frozen=True)
class Scaled:
    """A block of rows and its samples on the scale."""

    block: Any
    Z: Any


def fit_system(rows: Rows, options: Options) -> Fitted:
    """Fit a general rule and exceptions to rows."""
    block = rows.sample(SAMPLE_ROWS)
    with blas_threads(0.0):  # many small factorisations: threads would wait for each other
        scale, Z = Scale.of(block.X, block.row_weights(), options.scale)
        sample = Scaled(block, Z)
        choice = _chosen(rows, sample, scale, options)
        penalty, coupling = _penalty(choice, sample, options)
    with blas_threads(_flops(rows.n_rows, choice.design)):
        solved = _solve(rows, choice.design, penalty, sample)
    return _fitted(choice, penalty, coupling, solved, sample)


def _chosen(rows: Rows, sample: Scaled, scale: Scale, options: Options) -> Choice:
    block, Z = sample.block, sample.Z
    w = cast(block.row_weights(), np.float64)
    some = _counted(w, LOO_ROWS if scale.has_ramps else LOO_ROWS_LINEAR)

    @cache
    def centers(K: int) -> Array:  # on the host: hundreds of small steps, for which a device is slower
        part = _counted(w, FEW_ROWS if K <= FEW else MANY_ROWS)
        rows, weights = (A if is_sparse(A) else asnumpy(A) for A in (Z[part], w[part]))
        found = fuzzy_c_means(rows, K, fuzzifier=1.0, sample_weight=weights, rtol=1e-3, max_iter=8, power_steps=2)
        return put(found.centers, Z)

    judge = judged(block.Y[some], block.w[some], block.copies[some], rows.patterns(), options.ridge)
    counted = rows.n_rows * float(block.copies_per_row()) / ROWS_PER_RULE
    given: Any = {"n_rules": options.n_rules, "order": options.order, "width_scale": options.width_scale}
    return choose(scale, Z[some], w[some], judge, centers, most=max(1, int(counted)), **given)


def _counted(w: Array, limit: int) -> Any:
    """At most ``limit`` rows, evenly spread over those that count."""
    rows = namespace(w).flatnonzero(w > 0)
    return spread_rows(len(w), limit) if len(rows) == len(w) else rows[spread_rows(len(rows), limit)]


def _penalty(choice: Choice, sample: Scaled, options: Options) -> tuple[Penalty, Array | None]:
    """The ridge, with the label coupling and its weight where one is asked for."""
    if options.coupling is None:
        return Penalty(choice.rho), None
    block = sample.block
    if block.w.ndim == 2:
        raise InputError("A coupling needs all labels observed with the same weights: leave out one of the two.")
    Q = coupling_matrix(label_correlation(asnumpy(block.Y), asnumpy(block.w)), options.coupling)
    lam, basis = np.linalg.eigh(Q)
    if options.coupling_weight is not None:
        return Penalty(choice.rho, options.coupling_weight, lam, basis), Q
    some = _counted(block.w, LOO_ROWS)
    K, Y, w, copies = choice.design.kernel(sample.Z[some]), block.Y[some], block.w[some], block.copies[some]
    found = [Penalty(choice.rho * (1 - t), choice.rho * t, lam, basis) for t in TIED]
    errors = [float((w @ (solve_dual(K * 1, Y, w, copies, p)[1] - Y) ** 2).sum()) for p in found]
    return found[int(np.argmin(errors))], Q


# consequents ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Solved:
    """``B`` (Q, L), the ``mean`` (Q, L) of the columns, base ``rates`` (L,) and ``loo`` (n, L) scores of labels."""

    B: Array
    mean: Array
    rates: Array
    loo: Array
    rows: Any = None


def _flops(n_rows: int, design: Design) -> float:
    return float(min(n_rows, design.n_columns)) ** 2 * max(n_rows, design.n_columns)


def _room(like: Any) -> float:
    """Bytes that a square matrix may take."""
    here = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return MEMORY_SHARE * (device_memory(like) or here)


def _solve(rows: Rows, design: Design, penalty: Penalty, sample: Scaled) -> Solved:
    """Consequents of every pattern of weights, put together."""
    kept = sample
    if rows.in_memory and rows.n_rows > sample.Z.shape[0]:
        kept = Scaled(rows.sample(rows.n_rows), None)
    form = _form(rows, design, kept)
    if form != "primal" and kept.Z is None:
        kept = Scaled(kept.block, design.scale.apply(kept.block.X))
    K = design.kernel(kept.Z) if form == "dual" else None
    solve: Any = {"primal": _primal, "dual": _dual, "products": _by_products}[form]
    patterns = rows.patterns()
    copied = (K if K is None or len(patterns) == 1 else K * 1 for _ in patterns)  # a form may overwrite its kernel
    parts = [(labels, solve(rows, design, penalty, kept, labels, next(copied))) for labels in patterns]
    solved = _joined(parts) if len(parts) > 1 else parts[0][1]
    return solved if _held(rows, kept) else replace(solved, rows=kept.block.index)


def _held(rows: Rows, kept: Scaled) -> bool:
    """Whether what is kept are all rows."""
    return len(kept.block.w) == rows.n_rows


def _form(rows: Rows, design: Design, kept: Scaled) -> str:
    """The cheaper form that fits in memory."""
    N, Q, room = rows.n_rows, design.n_columns, _room(kept.block.w)
    dual = _held(rows, kept) and 16 * N * N <= room  # the kernel, and its centred copy
    if 16 * Q * Q <= room and not (dual and N < 1.5 * Q):
        return "primal"
    if not _held(rows, kept):
        raise InputError(
            f"{Q:,} columns need a matrix of {8e-9 * Q * Q:.0f} GB, more than {MEMORY_SHARE:.0%} of the memory here: "
            f"take fewer features, or scale='standard', which has one term per feature."
        )
    return "dual" if dual else "products"


def _primal(rows: Rows, design: Design, penalty: Penalty, kept: Scaled, labels: Any, K: None) -> Solved:
    block = kept.block
    found = rows.moments(design, labels).solve(penalty)
    (w, copies), Y = block.weights(int(labels[0])), cast(block.Y[:, labels], np.float64)
    loo = namespace(Y).empty_like(Y)
    for part in row_blocks(len(Y), 24 * design.n_columns, like=w):
        Z = design.scale.apply(block.X[part]) if kept.Z is None else kept.Z[part]
        loo[part] = found.leave_one_out(design.rows(Z), Y[part], w[part], copies[part])
    return Solved(found.B, found.mean[:, None] + 0 * found.B, found.rates, loo)


def _dual(rows: Rows, design: Design, penalty: Penalty, kept: Scaled, labels: Any, K: Array) -> Solved:
    (w, copies), Y, Z = kept.block.weights(int(labels[0])), cast(kept.block.Y[:, labels], np.float64), kept.Z
    here = namespace(w).flatnonzero(w > 0)
    whole = len(here) == len(w)
    if not whole:
        K, Y_here, w, copies, Z = K[here][:, here], Y[here], w[here], copies[here], Z[here]
    A, loo = solve_dual(K, Y if whole else Y_here, w, copies, penalty)
    share = (w / w.sum())[:, None]
    both = design.transposed(Z, namespace(A).concatenate([A, share], axis=1))
    B, mean, rates = both[:, :-1], both[:, -1:], share[:, 0] @ (Y if whole else Y_here)
    if not whole:  # rows that do not count are scored as new ones are
        everywhere = rates + design.times(kept.Z, B) - mean[:, 0] @ B
        everywhere[here] = loo
        loo = everywhere
    return Solved(B, mean + 0 * B, rates, loo)


def _by_products(rows: Rows, design: Design, penalty: Penalty, kept: Scaled, labels: Any, K: None) -> Solved:
    """Conjugate gradients; leave-one-out scores are those of a fit to some rows alone, for which the dual form fits."""
    (w, _), Y, Z = kept.block.weights(int(labels[0])), cast(kept.block.Y[:, labels], np.float64), kept.Z
    share = w / w.sum()
    mean, rates = design.transposed(Z, share[:, None]), share @ Y

    def apply(B: Array) -> Array:
        scores = design.times(Z, B) - mean[:, 0] @ B
        weighted = w[:, None] * scores
        return design.transposed(Z, weighted) - mean * weighted.sum(axis=0) + penalty.times(B)

    right = w[:, None] * (Y - rates)
    B = conjugate_gradients(apply, design.transposed(Z, right) - mean * right.sum(axis=0))
    some = spread_rows(len(Y), LOO_ROWS_LINEAR)
    part = Scaled(kept.block.take(some), Z[some])
    loo = _dual(rows, design, penalty, part, labels, design.kernel(part.Z)).loo
    return Solved(B, mean + 0 * B, rates, loo, np.arange(len(Y))[some])


def _joined(parts: list[tuple[Any, Solved]]) -> Solved:
    """Solutions of groups of labels as one."""
    order = np.argsort(np.concatenate([labels for labels, _ in parts]))
    names = ("B", "mean", "rates", "loo")
    columns = {n: [asnumpy(getattr(solved, n)) for _, solved in parts] for n in names}
    return Solved(**{n: np.concatenate(c, axis=-1)[..., order] for n, c in columns.items()}, rows=parts[0][1].rows)


# what was found ------------------------------------------------------------------------------------------------------


def _fitted(choice: Choice, penalty: Penalty, coupling: Array | None, solved: Solved, sample: Scaled) -> Fitted:
    design, block = choice.design, sample.block
    scale, P = design.scale, len(design.terms)
    B, mean, rates = asnumpy(solved.B), asnumpy(solved.mean), asnumpy(solved.rates)
    general, coef = design.coefficients(B)
    intercept = rates - np.einsum("ql,ql->l", mean[P:], B[P:])
    term_mean = mean[:P, 0] / design.general**0.5
    # terms have one mean for all labels, so that of a label which was observed elsewhere moves into its intercept
    intercept -= np.einsum("pl,pl->l", mean[:P] - mean[:P, :1], B[:P])
    M, w = design.rules.firing(sample.Z), cast(block.row_weights(), np.float64)
    mass = w @ M
    return Fitted(
        scale=scale.name,
        scaling=scale.scaling,
        terms=replace(design.terms, mean=term_mean),
        intercept=intercept,
        general_coef=general,
        centers=cast(asnumpy(design.rules.centers), np.float64),
        width=design.rules.width,
        coef=coef,
        prototypes=_prototypes(design, block.X, M * w[:, None], mass),
        rule_weights=asnumpy(mass) / float(w.sum()),
        quantiles=_quantiles(block.X, w),
        width_scale=choice.width_scale,
        share=choice.share,
        ridge=penalty.rho,
        coupling=coupling,
        coupling_weight=penalty.alpha,
        loo_error=choice.error,
        loo_scores=asnumpy(solved.loo),
        loo_rows=None if solved.rows is None else asnumpy(solved.rows),
        block_weights=(design.general, design.exceptions),
        variance=scale.variance,
    )


def _prototypes(design: Design, X: Any, V: Array, mass: Array) -> Array:
    """Centres in the caller's units: mapped back where there is a scale, else the mean of what each rule fires on."""
    if design.scale.scaling is not None:
        return design.scale.scaling.invert(cast(asnumpy(design.rules.centers), np.float64))
    fired = asnumpy(X.T @ put(V, V) if not hasattr(X, "dtype") else X.T @ cast(V, X.dtype))
    return np.asarray(fired).T / np.maximum(asnumpy(mass), 1e-300)[:, None]


def _quantiles(X: Any, w: Array) -> Array | None:
    """Percentiles 0, 5, …, 100 of dense features."""
    if hasattr(X, "indptr"):
        return None
    rows = namespace(w).flatnonzero(w > 0)
    return column_quantiles(X if len(rows) == len(w) else X[rows], np.linspace(0, 1, 21))
