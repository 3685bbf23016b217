"""The one fit: scale, terms, rules, weights and consequents from rows, wherever those lie.

`Rows` answer `sample(n)`, evenly spread rows on which scale, rules and weights are found, and `moments(design,
labels)`, sums over all rows. Where all rows can be held and are fewer than columns, the sample is all of them and the
dual form is solved.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, spread_rows
from ..core.backend import asnumpy, cast, namespace
from ..core.clustering import fuzzy_c_means
from ..core.coupling import coupling_matrix, label_correlation
from ..core.scaling import Scaling, column_quantiles
from ..core.terms import Terms
from ..core.threads import blas_threads
from .choose import LOO_ROWS, LOO_ROWS_LINEAR, Choice, choose, judged
from .design import Design
from .ridge import Moments, Penalty, solve_dual
from .scale import Scale

SAMPLE_ROWS = 20_000  # scale, rules and weights are found on at most this many rows
CLUSTER_ROWS = 5_000
ROWS_PER_RULE = 3  # an exception needs a few samples to be one
DUAL_BYTES = 3 * 10**9


class Rows(Protocol):
    """Samples with labels and weights, somewhere."""

    @property
    def n_rows(self) -> int: ...
    @property
    def in_memory(self) -> bool: ...
    def patterns(self) -> list[NDArray[np.intp]]: ...
    def sample(self, n: int) -> Any: ...
    def moments(self, design: Design, labels: NDArray[np.intp]) -> Moments: ...


@dataclass(frozen=True)
class Options:
    """What the user asks for; None leaves it to leave-one-out."""

    n_rules: int | None = None
    order: int | None = None
    width_scale: float | None = None
    ridge: float | None = None
    coupling: str | None = None
    coupling_weight: float | None = None
    scale: str | None = "auto"
    seed: int | None = None


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


def fit_system(rows: Rows, options: Options) -> Fitted:
    """Fit a general rule and exceptions to rows."""
    sample = rows.sample(SAMPLE_ROWS)
    with blas_threads(0.0):  # many small factorisations: threads would wait for each other
        scale = Scale.of(sample.X, sample.row_weights(), options.scale)
        Z = scale.apply(sample.X)
        choice = _chosen(rows, sample, scale, Z, options)
        penalty, Q = _penalty(choice, sample, Z, options)
    with blas_threads(_flops(rows.n_rows, choice.design)):
        solved = _solve(rows, choice.design, penalty)
    return _fitted(choice, penalty, Q, solved, sample, Z)


def _is_dual(rows: Rows, design: Design) -> bool:
    N = rows.n_rows
    return rows.in_memory and 8 * N * N <= DUAL_BYTES and N < 1.5 * design.n_columns


def _flops(n_rows: int, design: Design) -> float:
    Q = design.n_columns
    return float(min(n_rows, Q)) ** 2 * max(n_rows, Q)


def _chosen(rows: Rows, sample: Any, scale: Scale, Z: Any, options: Options) -> Choice:
    some = spread_rows(Z.shape[0], LOO_ROWS if scale.terms.low is not None else LOO_ROWS_LINEAR)
    judge = judged(sample.Y[some], sample.w[some], sample.copies[some], rows.patterns(), options.ridge)
    w, part = sample.row_weights(), spread_rows(Z.shape[0], CLUSTER_ROWS)

    @cache
    def centers(K: int) -> Array:
        return fuzzy_c_means(Z[part], K, fuzzifier=1.0, sample_weight=w[part], rtol=1e-3, max_iter=10).centers

    return choose(
        scale,
        Z[some],
        judge,
        centers,
        n_rules=options.n_rules,
        order=options.order,
        width_scale=options.width_scale,
        most=max(1, int(rows.n_rows * int((w > 0).sum()) / len(w) / ROWS_PER_RULE)),
    )


def _penalty(choice: Choice, sample: Any, Z: Any, options: Options) -> tuple[Penalty, Array | None]:
    """The ridge, with the label coupling and its weight where one is asked for."""
    if options.coupling is None:
        return Penalty(choice.rho), None
    Q = coupling_matrix(label_correlation(asnumpy(sample.Y), asnumpy(sample.row_weights())), options.coupling)
    lam, basis = np.linalg.eigh(Q)
    penalty = Penalty(choice.rho, options.coupling_weight or 0.0, lam, basis)
    if options.coupling_weight is None:
        some = spread_rows(Z.shape[0], LOO_ROWS)
        Y, w, copies = sample.Y[some], sample.row_weights()[some], sample.copies[some]
        K = choice.design.kernel(Z[some])
        candidates = [replace(penalty, rho=choice.rho * (1 - t), alpha=choice.rho * t) for t in (0.0, 0.25, 0.5, 0.75)]
        errors = [float(((solve_dual(K, Y, w, copies, p)[1] - Y) ** 2).sum()) for p in candidates]
        penalty = candidates[int(np.argmin(errors))]
    return penalty, Q


@dataclass(frozen=True)
class _Solved:
    B: Array
    mean: Array
    rates: Array
    loo: Array
    loo_rows: Any


def _solve(rows: Rows, design: Design, penalty: Penalty) -> _Solved:
    """Consequents of every pattern of weights, by the cheaper form, put together."""
    kept = rows.sample(rows.n_rows if rows.in_memory else SAMPLE_ROWS)
    K = design.kernel(design.scale.apply(kept.X)) if _is_dual(rows, design) else None
    found = [(labels, _solve_labels(rows, design, penalty, kept, K, labels)) for labels in rows.patterns()]
    L = sum(len(labels) for labels, _ in found)
    put_together = []
    for part in range(4):
        first = found[0][1][part]
        out = np.empty((*asnumpy(first).shape[:-1], L)) if part != 1 else None
        if out is None:
            put_together.append(asnumpy(first))
            continue
        for labels, solved in found:
            out[..., labels] = asnumpy(solved[part])
        put_together.append(out)
    return _Solved(*put_together, None if rows.in_memory else kept.index)


def _solve_labels(rows, design, penalty, kept, K, labels):
    """(B, mean, rates, loo) of the labels of one pattern of weights."""
    w, copies = kept.weights(int(labels[0]))
    xp, Y = namespace(w), cast(kept.Y[:, labels], np.float64)
    if K is None:
        primal = rows.moments(design, labels).solve(penalty)
        loo = _primal_loo(design, primal, kept.X, Y, w, copies)
        return primal.B, primal.mean, primal.rates, loo
    here = xp.flatnonzero(w > 0)
    Z = design.scale.apply(kept.X)
    everywhere = len(here) == len(w)
    Kh, Zh, Yh, wh, ch = (
        (K, Z, Y, w, copies) if everywhere else (K[here][:, here], Z[here], Y[here], w[here], copies[here])
    )
    A, loo_here = solve_dual(Kh, Yh, wh, ch, penalty)
    share = wh / wh.sum()
    B, mean, rates = design.transposed(Zh, A), design.transposed(Zh, share[:, None])[:, 0], share @ Yh
    if everywhere:
        return B, mean, rates, loo_here
    loo = rates + design.times(Z, B) - mean @ B
    loo[here] = loo_here
    return B, mean, rates, loo


def _primal_loo(design, primal, X, Y, w, copies):
    from ..core.arrays import row_blocks

    out = namespace(Y).empty_like(Y)
    for part in row_blocks(X.shape[0], 24 * design.n_columns, like=w):
        phi = design.rows(design.scale.apply(X[part]))
        out[part] = primal.leave_one_out(phi, Y[part], w[part], copies[part])
    return out


def _fitted(choice: Choice, penalty: Penalty, Q: Array | None, solved: _Solved, sample: Any, Z: Any) -> Fitted:
    design, scale, P = choice.design, choice.design.scale, len(choice.design.terms)
    general, coef = design.coefficients(solved.B)
    centers, M = asnumpy(design.rules.centers).astype(np.float64), design.rules.firing(Z)
    w = cast(sample.row_weights(), np.float64)
    mass = asnumpy(w @ M) / float(w.sum())
    if scale.scaling is not None:
        prototypes = scale.scaling.invert(centers)
    else:
        fired = asnumpy(sample.X.T @ (M * w[:, None])).T
        prototypes = np.asarray(fired) / np.maximum(asnumpy(w @ M), 1e-300)[:, None]
    dense = not hasattr(sample.X, "indptr")
    return Fitted(
        scale=scale.name,
        scaling=scale.scaling,
        terms=replace(design.terms, mean=solved.mean[:P] / design.general**0.5),
        intercept=solved.rates - solved.mean[P:] @ solved.B[P:],
        general_coef=general,
        centers=centers,
        width=design.rules.width,
        coef=coef,
        prototypes=prototypes,
        rule_weights=mass,
        quantiles=column_quantiles(sample.X, np.linspace(0, 1, 21)) if dense else None,
        width_scale=choice.width_scale,
        share=choice.share,
        ridge=penalty.rho,
        coupling=Q,
        coupling_weight=penalty.alpha,
        loo_error=choice.error,
        loo_scores=solved.loo,
        loo_rows=None if solved.loo_rows is None else asnumpy(solved.loo_rows),
        block_weights=(design.general, design.exceptions),
        variance=scale.variance,
    )
