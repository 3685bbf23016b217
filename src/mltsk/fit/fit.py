"""The one fit: scale, terms, rules, weights and consequents from rows, wherever those lie.

Rows answer `sample(n)`, evenly spread rows on which scale, rules and weights are found, and `moments(design, labels)`,
sums over all rows. Where all rows can be held and are fewer than columns, the sample is all of them and the dual form
is solved; where neither form fits in memory, conjugate gradients on products.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse as is_sparse

from ..core.arrays import (
    Array,
    asnumpy,
    blas_threads,
    cast,
    device_memory,
    is_tensor,
    namespace,
    put,
    row_blocks,
    spread_rows,
)
from ..core.coupling import coupling_matrix, label_correlation
from ..core.membership import Members
from ..core.terms import column_quantiles
from ..exceptions import InputError
from ..machine import total_memory
from .choose import LOO_ROWS, LOO_ROWS_LINEAR, Choice, Clusters, Judge, choose
from .design import Design, Scale
from .ridge import Moments, Penalty, conjugate_gradients, of_labels, solve_dual

ROWS_PER_RULE = 2  # no more exceptions than this allows
MEMORY_SHARE = 0.2  # of the memory of the machine or device, which a kernel or Gram matrix may take
TIED = (
    0.0,
    0.25,
    0.5,
    0.75,
)  # share of the ridge that a coupling takes, tried by leave-one-out
# Factorisations of labels that were observed in different rows: beyond these flops conjugate gradients serve them all.
MOST_FLOPS = 2e12


class Rows(Protocol):
    """Samples with labels and weights, somewhere."""

    @property
    def shape(self) -> tuple[int, int]:
        """How many samples there are, and how many labels they have."""

    @property
    def w(self) -> Any:
        """Their weights, (n,) or (n, L), or None where all labels of a sample have the same."""

    @property
    def limit(self) -> int:
        """How many may be held at once."""

    def sample(self, n: int) -> Any:
        """At most n rows, evenly spread, as a `mltsk.rows.arrays.Block`."""

    def moments(self, design: Design, labels: NDArray[np.intp]) -> Moments:
        """Sums over all rows."""


@dataclass(frozen=True)
class Options:
    """What the user asks for; None leaves it to leave-one-out, but for `coupling` and `scale`, where it is none.

    ``shares``, ``monotone`` (D,) and ``n_given`` tell of columns what `Scale.of` says, ``indicators`` what `Members.of`
    does. Scale, rules and weights are found on at most ``sample_rows`` rows; ``memory`` is how many bytes a square
    matrix may take, None a share of what is here; ``form`` of the solution is "primal", "dual", "products" or None for
    the cheapest.
    """

    n_rules: int | Literal["xie-beni"] | None = None
    order: int | None = None
    width_scale: float | None = None
    tnorm: str = "product"
    ridge: float | None = None
    coupling: str | None = None
    coupling_weight: float | None = None
    scale: str | None = "auto"
    shares: Array | None = None
    monotone: NDArray[np.bool_] | None = None
    indicators: NDArray[np.bool_] | None = None
    n_given: int = 0
    sample_rows: int = 20_000
    memory: float | None = None
    form: str | None = None


@dataclass(frozen=True)
class Fitted:
    """A fit as NumPy arrays and numbers: what `FuzzySystem` holds, what was chosen, and leave-one-out scores.

    ``design`` has the scale with its terms and the rules, ``penalty`` the ridge; ``loo_scores`` (n, L) are those of the
    rows ``loo_rows``, of all rows where that is None.
    """

    design: Design
    penalty: Penalty
    coupling: Array | None
    intercept: Array
    general_coef: Array
    centers: Array
    coef: Array
    prototypes: Array
    rule_weights: Array
    quantiles: Array | None
    members: Members
    width_scale: float
    rule_share: float
    loo_error: float
    loo_scores: Array
    loo_rows: Any


@dataclass(frozen=True)
class Solved:
    """``B`` (Q, L), the ``mean`` (Q, L) of the columns, base ``rates`` (L,) and ``loo`` (n, L) scores of labels."""

    B: Array
    mean: Array
    rates: Array
    loo: Array
    rows: Any = None


def fit_system(rows: Rows, options: Options) -> Fitted:
    """Fit a general rule and exceptions to rows."""
    block, patterns = (
        rows.sample(options.sample_rows),
        label_patterns(rows.w, rows.shape[1]),
    )
    with blas_threads(
        0.0
    ):  # many small factorisations: threads would wait for each other
        w = (
            block.w if block.w.ndim == 1 else block.w.mean(axis=1)
        )  # of a row, over its labels
        scale, Z = Scale.of(
            block.X, w, options.scale, options.shares, options.monotone, options.n_given
        )
        w = cast(w, np.float64)
        choice = _chosen(rows.shape[0], block, Z, w, scale, patterns, options)
        penalty, coupling = Penalty(choice.rho), None
        if options.coupling is not None:
            penalty, coupling = _coupled(choice, block, Z, options)
    few, many = sorted((rows.shape[0], choice.design.shape[2]))
    with blas_threads(float(few) ** 2 * many):
        solved = _solve(rows, choice.design, penalty, block, Z, patterns, options)
    return _fitted(choice, penalty, coupling, solved, block, Z, w, options)


def _chosen(
    n_rows: int,
    block: Any,
    Z: Any,
    w: Array,
    scale: Scale,
    patterns: list[Any],
    options: Options,
) -> Choice:
    order = options.order
    if options.tnorm == "minimum":
        if order == 1 or is_sparse(block.X):
            found = "order is 1" if order == 1 else "X is sparse"
            raise InputError(
                f"width_scale='minimum' needs exceptions of order 0 and dense X, but {found}."
            )
        order = 0
    copies = block.copies if block.copies.ndim == 1 else block.copies[:, 0]
    counted = (
        n_rows * float((copies * (w > 0)).sum()) / len(w)
    )  # samples that count, each as often as it does
    if not bool((w > 0).all()):
        here = namespace(w).flatnonzero(w > 0)
        block, Z, w = block.take(here), Z[here], w[here]
    some = spread_rows(len(w), LOO_ROWS_LINEAR if scale.terms.low is None else LOO_ROWS)
    judge, clusters = (
        Judge.of(block.take(some), patterns, options.ridge),
        Clusters(Z, w, scale),
    )
    given: Any = {
        "order": order,
        "width_scale": options.width_scale,
        "tnorm": options.tnorm,
    }
    given["n_rules"] = (
        clusters.most_valid() if options.n_rules == "xie-beni" else options.n_rules
    )
    most = max(1, int(counted / ROWS_PER_RULE))
    return choose(
        scale, Z[some], w[some], judge, cache(clusters.centers), **given, most=most
    )


def _coupled(
    choice: Choice, block: Any, Z: Any, options: Options
) -> tuple[Penalty, Array]:
    """The ridge with the label coupling and its weight."""
    if block.w.ndim == 2:
        raise InputError(
            "A coupling needs all labels observed at the same weights in every sample: set coupling=None."
        )
    Q = coupling_matrix(
        label_correlation(asnumpy(block.Y), asnumpy(block.w)), options.coupling
    )
    lam, basis = np.linalg.eigh(Q)
    if options.coupling_weight is not None:
        return Penalty(choice.rho, options.coupling_weight, lam, basis), Q
    here = np.flatnonzero(asnumpy(block.w) > 0)
    some = here[spread_rows(len(here), LOO_ROWS)]
    K, Y, w, copies = (
        choice.design.kernel(Z[some]),
        block.Y[some],
        block.w[some],
        block.copies[some],
    )
    found = [Penalty(choice.rho * (1 - t), choice.rho * t, lam, basis) for t in TIED]
    errors = [
        float((w @ (solve_dual(K * 1, Y, w, copies, p)[1] - Y) ** 2).sum())
        for p in found
    ]
    return found[int(np.argmin(errors))], Q


# consequents ---------------------------------------------------------------------------------------------------------


def _solve(
    rows: Rows,
    design: Design,
    penalty: Penalty,
    block: Any,
    Z: Any,
    patterns: list[Any],
    options: Options,
) -> Solved:
    """Consequents of every pattern of weights, put together."""
    if Z.shape[0] < rows.shape[0] <= rows.limit:
        block, Z = rows.sample(rows.shape[0]), None
    held = len(block.w) == rows.shape[0]
    room = options.memory  # bytes that a square matrix may take
    if room is None:
        device = device_memory(block.w) if is_tensor(block.w) else 0
        room = MEMORY_SHARE * (device or total_memory())
    form = options.form or _form(rows.shape[0], design, held, len(patterns), room)
    if form == "primal":
        parts = [
            _primal(rows, design, penalty, block, Z, labels) for labels in patterns
        ]
    else:
        Z = design.scale.apply(block.X) if Z is None else Z
        if form == "products":
            return _by_products(rows, design, penalty, block, Z, room)
        K = design.kernel(Z)
        one = len(patterns) == 1  # solving overwrites the kernel
        parts = [
            _dual(design, penalty, block, Z, labels, K if one else K * 1)
            for labels in patterns
        ]
    solved = _joined(patterns, parts) if len(parts) > 1 else parts[0]
    return solved if held else replace(solved, rows=block.index)


def _form(N: int, design: Design, held: bool, n_patterns: int, room: float) -> str:
    """The cheapest form that fits in memory."""
    Q = design.shape[2]
    few = min(N, Q)
    if (
        held
        and n_patterns > 1
        and n_patterns * float(few) ** 2 * max(few, 0 if N < Q else N) > MOST_FLOPS
    ):
        return "products"
    dual = held and 16 * N * N <= room  # the kernel, and its centred copy
    if 16 * Q * Q <= room and not (dual and N < 1.5 * Q):
        return "primal"
    if not held:
        raise InputError(
            f"{Q:,} columns need a matrix of {8e-9 * Q * Q:.0f} GB, more than {MEMORY_SHARE:.0%} of the memory here: "
            f"take fewer features, or scale='standard', which has one term per feature."
        )
    return "dual" if dual else "products"


def _primal(
    rows: Rows, design: Design, penalty: Penalty, block: Any, Z: Any, labels: Any
) -> Solved:
    found = rows.moments(design, labels).solve(penalty)
    Y, w, copies = of_labels(block, labels)
    loo = namespace(Y).empty_like(Y)
    for part in row_blocks(len(Y), 24 * design.shape[2], like=w):
        scaled = design.scale.apply(block.X[part]) if Z is None else Z[part]
        loo[part] = found.leave_one_out(
            design.rows(scaled), Y[part], w[part], copies[part]
        )
    return Solved(found.B, found.mean[:, None] + 0 * found.B, found.rates, loo)


def _dual(
    design: Design, penalty: Penalty, block: Any, Z: Any, labels: Any, K: Array
) -> Solved:
    (Y, w, copies), everywhere = of_labels(block, labels), Z
    here = namespace(w).flatnonzero(w > 0)
    whole = len(here) == len(w)
    if not whole:
        K, Y, w, copies, Z = K[here][:, here], Y[here], w[here], copies[here], Z[here]
    A, loo = solve_dual(K, Y, w, copies, penalty)
    share = (w / w.sum())[:, None]
    both = design.transposed(Z, namespace(A).concatenate([A, share], axis=1))
    B, mean, rates = both[:, :-1], both[:, -1:], share[:, 0] @ Y
    if not whole:  # rows that do not count are scored as new ones are
        scores = rates + design.times(everywhere, B) - mean[:, 0] @ B
        scores[here] = loo
        loo = scores
    return Solved(B, mean + 0 * B, rates, loo)


def _by_products(
    rows: Rows, design: Design, penalty: Penalty, block: Any, Z: Any, room: float
) -> Solved:
    """Conjugate gradients for all labels at once, whatever rows each was observed in.

    Leave-one-out scores are those of fits to some rows alone, for which the dual form fits.
    """
    Y = cast(block.Y, np.float64)
    w = block.w[:, None] if block.w.ndim == 1 else block.w
    share = w / w.sum(axis=0)
    Phi = design.rows(Z) if 8.0 * Z.shape[0] * design.shape[2] <= room else None

    def times(B: Array) -> Array:
        return design.times(Z, B) if Phi is None else Phi @ B

    def transposed(A: Array) -> Array:
        return design.transposed(Z, A) if Phi is None else Phi.T @ A

    mean, rates = transposed(share), (share * Y).sum(axis=0)

    def apply(B: Array) -> Array:
        weighted = w * (times(B) - (mean * B).sum(axis=0))
        return transposed(weighted) - mean * weighted.sum(axis=0) + penalty.times(B)

    right = w * (Y - rates)
    B = conjugate_gradients(apply, transposed(right) - mean * right.sum(axis=0))
    some = spread_rows(len(Y), LOO_ROWS_LINEAR)
    loo = left_out_scores(
        design, penalty, block.take(some), Z[some], design.kernel(Z[some])
    )
    return Solved(B, mean + 0 * B, rates, put(loo, Y), np.arange(len(Y))[some])


def left_out_scores(
    design: Design, penalty: Penalty, block: Any, Z: Any, K: Array
) -> Array:
    """What rows with the kernel K score without themselves (n, L) when the numbers are fitted to these rows alone."""
    patterns = label_patterns(block.w, block.Y.shape[1])
    return _joined(
        patterns,
        [_dual(design, penalty, block, Z, labels, K * 1) for labels in patterns],
    ).loo


def label_patterns(w: Any, n_labels: int) -> list[NDArray[np.intp]]:
    """Groups of labels that have the same weights (n,) or (n, L), or None."""
    if w is None or w.ndim == 1:
        return [np.arange(n_labels)]
    _, group = np.unique(asnumpy(w), axis=1, return_inverse=True)
    return [np.flatnonzero(group.ravel() == g) for g in range(int(group.max()) + 1)]


def _joined(patterns: list[Any], parts: list[Solved]) -> Solved:
    """Solutions of groups of labels as one."""
    order = np.argsort(np.concatenate(patterns))
    columns = {
        n: [asnumpy(getattr(part, n)) for part in parts]
        for n in ("B", "mean", "rates", "loo")
    }
    return Solved(
        **{n: np.concatenate(c, axis=-1)[..., order] for n, c in columns.items()}
    )


def _fitted(
    choice: Choice,
    penalty: Penalty,
    coupling: Array | None,
    solved: Solved,
    block: Any,
    Z: Any,
    w: Array,
    options: Options,
) -> Fitted:
    design, scaling = choice.design, choice.design.scale.scaling
    said = design.coefficients(
        asnumpy(solved.B), asnumpy(solved.mean), asnumpy(solved.rates)
    )
    M = design.firing(Z)
    mass, centers, quantiles = (
        asnumpy(w @ M),
        cast(asnumpy(design.rules.centers), np.float64),
        None,
    )
    if scaling is not None:  # centres in the caller's units
        prototypes = scaling.apply(centers, inverse=True)
    else:  # the mean of what each rule fires on
        fired = asnumpy(block.X.T @ cast(M * w[:, None], block.X.dtype))
        prototypes = np.asarray(fired).T / np.maximum(mass, 1e-300)[:, None]
    if not is_sparse(block.X):
        counted = block.X if bool((w > 0).all()) else block.X[w > 0]
        quantiles = column_quantiles(counted, np.linspace(0, 1, 21))
    known = (
        block.X if is_sparse(block.X) else asnumpy(block.X),
        asnumpy(M),
        asnumpy(block.Y),
        asnumpy(block.w),
    )
    words: Any = {"indicators": options.indicators, "n_given": options.n_given}
    members = Members.of(*known, shared=design.rules.order == 1, **words)
    intercept, general, coef = said
    numbers = (
        intercept,
        general,
        centers,
        coef,
        prototypes,
        mass / float(w.sum()),
        quantiles,
        members,
    )
    loo = asnumpy(solved.loo), None if solved.rows is None else asnumpy(solved.rows)
    return Fitted(
        design,
        penalty,
        coupling,
        *numbers,
        choice.width_scale,
        choice.share,
        choice.error,
        *loo,
    )
