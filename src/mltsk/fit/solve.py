"""Consequents of all labels, in the form of the ridge problem that is cheapest.

Where all rows can be held and are fewer than columns, the *dual* form is solved, else
the *primal* form on sums over rows. Where neither fits in memory, conjugate gradients
work on *products*. Labels that were observed in different rows are solved one pattern
of weights after the other.

Symbols: N rows, D features, L labels, Q columns of the design, Z (N, D) scaled rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..core.arrays import (
    Array,
    FloatArray,
    Matrix,
    asnumpy,
    cast,
    device_memory,
    is_tensor,
    namespace,
    put,
    spread_rows,
)
from ..core.pairs import Pairs
from ..exceptions import InputError
from ..machine import total_memory
from .choice import MAX_KERNEL_ROWS, Folds
from .choose import JUDGING_ROWS_LINEAR
from .design import Design
from .judge import MIN_RIDGE, BlockColumns
from .left_out import blocks_of_groups, rate_shifts
from .patterns import group_batches
from .ridge import Moments, Penalty, PrimalSolution, conjugate_gradients, solve_dual
from .rows import ROW_COPIES, Block, LabelRows, RowIndex, Rows
from .sums import MAX_SUM_CELLS, LabelSums, columns_of_pairs, n_sum_cells

MEMORY_SHARE = 0.2  # of the memory of machine or device, for a kernel or Gram matrix
# Factorisations of labels that were observed in different rows: beyond these flops
# conjugate gradients serve them all.
MAX_PATTERN_FLOPS = 2e12
# Largest matrix that is factorised on the host where there is another way: with two
# threads OpenBLAS ended the process at 16,000, and 12,000 took 47 s.
MAX_FACTORISED = MAX_KERNEL_ROWS
# Rows per column from which on sums over rows are cheaper than a kernel between them.
MIN_PRIMAL_RATIO = 1.5
# Groups of labels up to which columns are made again for each: to hold them takes as
# long as to make them three times.
MAX_REMADE = 3
MIN_SINGLE_ROWS = 10_000  # from which on leverages are in single precision


@dataclass(frozen=True)
class Consequents:
    """Consequents of some labels.

    ``B`` (Q, L), ``mean`` (Q, L) of the columns, base ``rates`` (L,), and leave-one-out
    scores ``loo_scores`` (n, L) of the rows ``loo_rows``, of all rows if that is None.
    Those of the rows of a fold are by its own pairs. ``sums`` are those of the design
    with the pairs of all folds, which the primal form solved, where they are small
    enough to be kept.
    """

    B: Array
    mean: Array
    rates: Array
    loo_scores: Array
    loo_rows: RowIndex | None = None
    folds: Folds = ()
    sums: tuple[LabelSums, ...] = ()

    def at_base_rates(self, block: Block, n_rows: int) -> "Consequents":
        """With leave-one-out scores that all start from the base rates of all rows.

        ``block`` are the rows that these scores are about, of ``n_rows`` in all.
        """
        Y = cast(block.without_unobserved().Y, np.float64)
        w = cast(block.w, np.float64)
        shifts = rate_shifts(Y, w, block.groups, rates=self.rates, n_rows=n_rows)
        return replace(self, loo_scores=self.loo_scores + shifts)


@dataclass(frozen=True)
class HeldRows:
    """Rows in memory, with the scaled samples if they are known already.

    ``known`` are the columns of the design that is solved, with the pairs of all folds,
    where they are held.
    """

    block: Block
    Z: Matrix | None
    n_rows: int
    known: BlockColumns | None = None

    @property
    def are_all(self) -> bool:
        """Whether these are all rows of the data."""
        return len(self.block.w) == self.n_rows

    def scaled(self, design: Design) -> Matrix:
        """All samples held, on the scale (n, D)."""
        return design.scale.apply(self.block.X) if self.Z is None else self.Z

    def columns(self, design: Design, rows: NDArray[np.intp]) -> Array:
        """Columns (n, Q) of a design for some of the rows."""
        if self.Z is None:
            return design.rows(design.scale.apply(self.block.X[rows]))
        return design.rows(self.Z[rows])

    def moments(
        self, rows: Rows, design: Design, label_groups: Sequence[NDArray[np.intp]]
    ) -> list[Moments]:
        """Sums over all rows for each of some groups of labels."""
        if self.known is not None:
            return self.known.moments(self.block, label_groups)
        if not self.are_all:
            return [rows.moments(design, labels) for labels in label_groups]
        return self._columns(design, is_held=False).moments(self.block, label_groups)

    def holding(self, design: Design) -> "HeldRows":
        """The same rows, which hold the columns of a design."""
        return replace(self, known=self._columns(design, is_held=True))

    def _columns(self, design: Design, *, is_held: bool) -> BlockColumns:
        return BlockColumns(
            of=design.rows,
            Z=self.scaled(design),
            n_columns=design.n_columns,
            is_held=is_held,
        )


def solve(
    rows: Rows,
    design: Design,
    penalty: Penalty,
    sample: HeldRows,
    label_groups: Sequence[NDArray[np.intp]],
    *,
    folds: Folds = (),
    max_bytes: float | None = None,
    form: str | None = None,
) -> Consequents:
    """Solve for all labels.

    ``folds`` are rows of the sample, each with the pairs that were found without them:
    these rows are scored by the design that has those pairs. ``max_bytes`` is what a
    square matrix may take, by default a share of the memory; ``form`` is "primal",
    "dual", "products", or None for the cheapest.
    """
    held = sample
    if not sample.are_all and rows.shape[0] <= rows.limit:
        held = HeldRows(rows.sample(rows.shape[0]), None, rows.shape[0])
        in_data = np.arange(rows.shape[0])[sample.block.index]
        folds = tuple((in_data[own], pairs) for own, pairs in folds)
    if max_bytes is None:
        max_bytes = MEMORY_SHARE * _memory_beside(held.block.w)
    if form is None:
        form = _cheapest_form(held, design, len(label_groups), max_bytes)
    if form == "products":
        return _by_products(design, penalty, held, folds, max_bytes)
    if form == "primal":
        solutions = _primals(rows, design, penalty, held, label_groups, folds)
    else:
        solutions = _duals_with_folds(design, penalty, held, label_groups, folds)
    solution = replace(_joined(label_groups, solutions), folds=folds)
    solution = solution.at_base_rates(held.block, held.n_rows)
    if held.are_all:
        return solution
    return replace(solution, loo_rows=held.block.index)


def _memory_beside(array: Array) -> int:
    """Bytes of memory of the device that an array lies on, or of this machine."""
    on_device = device_memory(array) if is_tensor(array) else 0
    return on_device or total_memory()


def _cheapest_form(
    held: HeldRows, design: Design, n_groups: int, max_bytes: float
) -> str:
    """The cheapest form that fits in memory."""
    N = held.n_rows
    Q = design.n_columns
    has_primal = 16 * Q * Q <= max_bytes  # the matrix and its centred copy
    if not held.are_all:
        if has_primal:
            return "primal"
        raise InputError(
            f"{Q:,} columns need a matrix of {8e-9 * Q * Q:.0f} GB, more than "
            f"{MEMORY_SHARE:.0%} of the memory here: take fewer features, "
            "or scale='standard', which has one term per feature."
        )
    if _takes_too_long(held, min(N, Q), n_groups):
        return "products"
    is_short = is_tensor(held.block.w) or N <= MAX_FACTORISED
    has_dual = is_short and 16 * N * N <= max_bytes
    if has_primal and not (has_dual and N < MIN_PRIMAL_RATIO * Q):
        return "primal"
    return "dual" if has_dual else "products"


def _takes_too_long(held: HeldRows, size: int, n_groups: int) -> bool:
    """Whether matrices of a size are too large, or too many, to be factorised."""
    flops = n_groups * float(size) ** 2 * held.n_rows
    if n_groups > 1 and flops > MAX_PATTERN_FLOPS:
        return True
    return size > MAX_FACTORISED and not is_tensor(held.block.w)


def _primals(
    rows: Rows,
    design: Design,
    penalty: Penalty,
    held: HeldRows,
    label_groups: Sequence[NDArray[np.intp]],
    folds: Folds,
) -> list[Consequents]:
    """Solve the primal form for every group of labels, on sums over all rows.

    Columns are made once for all groups where that is faster than to make them again,
    and where they fit in memory.
    """
    widest = with_pairs_of_folds(design, folds)
    is_slow = len(label_groups) > MAX_REMADE or len(design.rules) > 0
    if held.are_all and is_slow:
        held = held.holding(widest)
    keeps_sums = n_sum_cells(widest.n_columns, len(label_groups)) <= MAX_SUM_CELLS
    solutions = []
    for batch in group_batches(label_groups, widest.n_columns):
        sums = held.moments(rows, widest, batch)
        for labels, moments in zip(batch, sums, strict=True):
            solution = solve_sums(moments, design, penalty, held, labels, folds=folds)
            if keeps_sums:
                kept = LabelSums.on_host(labels, moments)
                solution = replace(solution, sums=(kept,))
            solutions.append(solution)
    return solutions


def with_pairs_of_folds(design: Design, folds: Folds) -> Design:
    """A design with all pairs that it or one of some folds has."""
    pairs = reduce(Pairs.joined, [pairs for _, pairs in folds], design.pairs)
    return replace(design, pairs=pairs)


def solve_sums(
    moments: Moments,
    design: Design,
    penalty: Penalty,
    held: HeldRows,
    labels: NDArray[np.intp],
    *,
    folds: Folds,
) -> Consequents:
    """Solve the primal form for labels that have the same weights.

    The sums are those of `with_pairs_of_folds`: one pass over the rows serves all
    folds. Leave-one-out scores are those of the rows held, of which folds are some.
    """
    widest = with_pairs_of_folds(design, folds)

    def solved(own: Design) -> PrimalSolution:
        columns = columns_of_pairs(widest, own.pairs)
        if np.array_equal(columns, np.arange(widest.n_columns)):
            return moments.solve(penalty, design.prior)
        of_columns = moments.weighted(columns, np.ones(len(columns)))
        return of_columns.solve(penalty, design.prior)

    primal = solved(design)
    Y = held.block.of_labels(labels).Y
    loo_scores = namespace(Y).empty_like(Y)
    others = np.ones(len(Y), dtype=bool)
    for own_rows, own_pairs in folds:
        own = replace(design, pairs=own_pairs)
        loo_scores[own_rows] = _left_out(
            solved(own), own, widest, held, labels, own_rows
        )
        others[own_rows] = False
    rest = np.flatnonzero(others)
    loo_scores[rest] = _left_out(primal, design, widest, held, labels, rest)
    mean = primal.mean[:, None] + 0 * primal.B
    return Consequents(primal.B, mean, primal.rates, loo_scores)


def _left_out(
    primal: PrimalSolution,
    design: Design,
    widest: Design,
    held: HeldRows,
    labels: NDArray[np.intp],
    chosen: NDArray[np.intp],
) -> Array:
    """Leave-one-out scores of some of the rows held, by a solution for a design.

    The rows may hold the columns of the ``widest`` design, which has all of these.
    """
    targets = held.block.of_labels(labels).take(chosen)
    loo_scores = namespace(targets.Y).empty_like(targets.Y)
    bytes_per_row = 8 * ROW_COPIES * design.n_columns
    precision = _precision_of_leverages(held, primal.penalty)
    own_columns = columns_of_pairs(widest, design.pairs)
    for rows in blocks_of_groups(
        targets.groups, len(targets.Y), bytes_per_row, like=targets.w
    ):
        block = targets.take(rows)
        if held.known is None:
            Phi = held.columns(design, chosen[rows])
        else:
            Phi = held.known.rows(chosen[rows])[:, own_columns]
        loo_scores[rows] = primal.leave_one_out(
            Phi, block.Y, block.w, block.groups, precision=precision
        )
    return loo_scores


def _precision_of_leverages(held: HeldRows, penalty: Penalty) -> DTypeLike:
    """Single for many rows, whose leverages are small; their errors are below 1e-5."""
    has_many_rows = held.n_rows >= MIN_SINGLE_ROWS
    if has_many_rows and penalty.rho >= MIN_RIDGE and not is_tensor(held.block.w):
        return np.float32
    return np.float64


def _duals_with_folds(
    design: Design,
    penalty: Penalty,
    held: HeldRows,
    label_groups: Sequence[NDArray[np.intp]],
    folds: Folds,
) -> list[Consequents]:
    """Solve the dual form for every group of labels, and once more for each fold."""
    Z = held.scaled(design)
    solutions = _duals(design, penalty, held.block, Z, label_groups)
    for own_rows, own_pairs in folds:
        own_design = replace(design, pairs=own_pairs)
        own = _duals(own_design, penalty, held.block, Z, label_groups)
        for solution, of_fold in zip(solutions, own, strict=True):
            solution.loo_scores[own_rows] = of_fold.loo_scores[own_rows]
    return solutions


def _duals(
    design: Design,
    penalty: Penalty,
    block: Block,
    Z: Matrix,
    label_groups: Sequence[NDArray[np.intp]],
) -> list[Consequents]:
    """Solve the dual form for every group of labels."""
    K = design.kernel(Z)
    if len(label_groups) == 1:
        targets = block.of_labels(label_groups[0])
        return [_dual(design, penalty, targets, Z, K)]
    return [
        # solving overwrites the kernel
        _dual(design, penalty, block.of_labels(labels), Z, K * 1)
        for labels in label_groups
    ]


def _dual(
    design: Design, penalty: Penalty, targets: LabelRows, Z: Matrix, K: Array
) -> Consequents:
    """Solve the dual form with the kernel K (N, N), which is overwritten."""
    counted = namespace(targets.w).flatnonzero(targets.w > 0)
    if len(counted) == len(targets.w):
        return _dual_of_counted(design, penalty, targets, Z, K)
    solution = _dual_of_counted(
        design, penalty, targets.take(counted), Z[counted], K[counted][:, counted]
    )
    # rows that do not count are scored as new ones are
    scores = design.times(Z, solution.B) - solution.mean[:, 0] @ solution.B
    scores = solution.rates + scores
    scores[counted] = solution.loo_scores
    return replace(solution, loo_scores=scores)


def _dual_of_counted(
    design: Design, penalty: Penalty, targets: LabelRows, Z: Matrix, K: Array
) -> Consequents:
    """Solve the dual form of rows whose weights are all above 0."""
    w = targets.w
    A, loo_scores = solve_dual(K, targets.Y, w, targets.groups, penalty)
    share = (w / w.sum())[:, None]
    columns = namespace(A).concatenate([A, share], axis=1)
    products = design.transposed(Z, columns)
    B = design.unshrunk(products[:, :-1])
    mean = products[:, -1:] + 0 * B
    return Consequents(B, mean, share[:, 0] @ targets.Y, loo_scores)


def _by_products(
    design: Design, penalty: Penalty, held: HeldRows, folds: Folds, max_bytes: float
) -> Consequents:
    """Conjugate gradients for all labels at once, whatever rows each was observed in.

    Leave-one-out scores are those of fits to some rows alone, for which the dual form
    fits in memory.
    """
    block = held.block
    Z = held.scaled(design)
    Y = cast(block.Y, np.float64)
    w = block.w[:, None] if block.w.ndim == 1 else block.w
    Phi = None
    if 8.0 * Z.shape[0] * design.n_columns <= max_bytes:
        Phi = design.rows(Z)

    def times(B: Array) -> Array:
        return design.times(Z, B) if Phi is None else Phi @ B

    def transposed(A: Array) -> Array:
        return design.transposed(Z, A) if Phi is None else Phi.T @ A

    share = w / w.sum(axis=0)
    mean = transposed(share)
    rates = (share * Y).sum(axis=0)

    def apply(B: Array) -> Array:
        weighted = w * (times(B) - (mean * B).sum(axis=0))
        centred = transposed(weighted) - mean * weighted.sum(axis=0)
        return centred + penalty.times(design.shrunk(B))

    right = w * (Y - rates)
    B = conjugate_gradients(apply, transposed(right) - mean * right.sum(axis=0))
    judged = np.arange(len(Y))[spread_rows(len(Y), JUDGING_ROWS_LINEAR)]
    own_folds = folds_among(judged, folds)
    judges = block.take(judged)
    loo_scores = _left_out_by_folds(design, penalty, judges, Z[judged], own_folds)
    solution = Consequents(
        B=B,
        mean=mean + 0 * B,
        rates=rates,
        loo_scores=put(loo_scores, Y),
        loo_rows=judged,
        folds=own_folds,
    )
    return solution.at_base_rates(judges, len(Y))


def folds_among(rows: NDArray[np.intp], folds: Folds) -> Folds:
    """Folds of some rows, by their positions among these."""
    return tuple((np.flatnonzero(np.isin(rows, own)), pairs) for own, pairs in folds)


def _left_out_by_folds(
    design: Design, penalty: Penalty, block: Block, Z: Matrix, folds: Folds
) -> Array:
    """`left_out_scores`; those of the rows of a fold are by its own pairs."""
    scores = left_out_scores(design, penalty, block, Z, design.kernel(Z))
    for own_rows, own_pairs in folds:
        own_design = replace(design, pairs=own_pairs)
        own = left_out_scores(own_design, penalty, block, Z, own_design.kernel(Z))
        scores[own_rows] = own[own_rows]
    return scores


def left_out_scores(
    design: Design, penalty: Penalty, block: Block, Z: Matrix, K: Array
) -> Array:
    """Leave-one-out scores (n, L) of a fit to these rows alone.

    Z (n, D) are the scaled rows of the block and K (n, n) is their kernel.
    """
    label_groups = groups_of_labels(block.w, block.Y.shape[1])
    # sums leave whole groups out by one ridge, and a coupling has several
    has_one_ridge = penalty.basis is None
    if has_one_ridge and Z.shape[0] >= MIN_PRIMAL_RATIO * design.n_columns:
        held = HeldRows(block, Z, Z.shape[0]).holding(design)
        sums = held.moments(block.all_rows(), design, label_groups)
        solutions = [
            solve_sums(own, design, penalty, held, labels, folds=())
            for labels, own in zip(label_groups, sums, strict=True)
        ]
    else:
        solutions = [
            _dual(design, penalty, block.of_labels(labels), Z, K * 1)
            for labels in label_groups
        ]
    return _joined(label_groups, solutions).loo_scores


def groups_of_labels(w: Array | None, n_labels: int) -> list[NDArray[np.intp]]:
    """Group labels that have the same weights; w is (n,), (n, L) or None."""
    if w is None or w.ndim == 1:
        return [np.arange(n_labels)]
    # bytes of numbers that are not negative are in the order of the numbers
    columns = np.ascontiguousarray(asnumpy(w).T, dtype=">f8")
    groups: dict[bytes, list[int]] = {}
    for label, column in enumerate(columns):
        groups.setdefault(column.tobytes(), []).append(label)
    return [np.array(groups[weights]) for weights in sorted(groups)]


def _joined(
    label_groups: Sequence[NDArray[np.intp]], solutions: Sequence[Consequents]
) -> Consequents:
    """Put solutions of groups of labels together, in the order of the labels."""
    if len(solutions) == 1:
        return solutions[0]
    order = np.argsort(np.concatenate(label_groups))

    def columns(arrays: Sequence[Array]) -> FloatArray:
        return np.concatenate([asnumpy(a) for a in arrays], axis=-1)[..., order]

    return Consequents(
        B=columns([solution.B for solution in solutions]),
        mean=columns([solution.mean for solution in solutions]),
        rates=columns([solution.rates for solution in solutions]),
        loo_scores=columns([solution.loo_scores for solution in solutions]),
        sums=tuple(part for solution in solutions for part in solution.sums),
    )
