"""The one fit: scale, terms, rules, weights and consequents from rows.

Scale, rules and weights are found on a sample of rows that is evenly spread,
consequents on all rows (`mltsk.fit.solve`). Everything is in closed form.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse as is_sparse

from ..core.arrays import (
    Array,
    FloatArray,
    Matrix,
    asnumpy,
    cast,
    is_csr,
    is_tensor,
    namespace,
    spread_rows,
    underflow_is_zero,
    weights_per_label,
)
from ..core.coupling import coupling_matrix, label_correlation
from ..core.members import Members
from ..core.scales import column_quantiles
from ..core.threads import blas_threads
from ..core.used import UsedFeatures
from ..exceptions import InputError
from ..system import FuzzySystem
from .choice import Choice, Folds, Wishes
from .choose import CHOICE_FOLDS, JUDGING_ROWS, JUDGING_ROWS_LINEAR, choose
from .clusters import Clusters
from .design import Design
from .factor import SingularError
from .grow import MIN_GROWN_ROWS, grow, may_grow
from .judge import KernelJudge
from .left_out import count_groups
from .memory import FitSize
from .options import Names, Options, checked_order
from .order import mixed_order, places_in_any_units, stratified_rows
from .ridge import Penalty, solve_dual
from .rows import ArrayRows, Block, RowIndex, Rows
from .rules_search import N_LINEAR_CENTERS
from .scale import Scale
from .solve import Consequents, HeldRows, groups_of_labels, solve, with_pairs_of_folds
from .sums import FitSums, on_host

MIN_ROWS_PER_RULE = 2
SAMPLE_ROWS = 20_000
MAX_MEMBER_CELLS = 25_000_000  # rows × rules that members are counted among
# A sample has more rows where they are narrow: pairs are found better on more rows
# (stops: macro AP .331 with 20,000, .334 with 41,536).
MAX_SAMPLE_ROWS = 60_000
MAX_SAMPLE_CELLS = 4_000_000
MIN_SPREAD = 1e-3  # of scores of a design chosen for some rows, next to the model's
COUPLING_SHARES = (0.0, 0.25, 0.5, 0.75)  # of the ridge, tried by leave-one-out


@dataclass(frozen=True)
class FitResult:
    """A system with NumPy arrays, what was chosen, and leave-one-out scores.

    ``loo_scores`` (n, L) are those of the rows ``loo_rows``, of all rows if that is
    None; ``folds`` are some of these n rows, scored by pairs that were found without
    them, ``others`` some that are scored by what was chosen without them, and
    ``choice_shifts`` (n, L) is how far these scores are from those by the choice of all
    rows, None where there are no others. Thresholds
    are 0.5 and probabilities are not calibrated yet. ``sums`` are over all rows, for
    the pairs of all folds too; None where the solution did not need them or they are
    too large.
    """

    system: FuzzySystem
    design: Design
    penalty: Penalty
    coupling: Array | None
    width_scale: float
    rule_share: float
    loo_error: float
    loo_scores: FloatArray
    loo_rows: NDArray[np.intp] | None
    folds: Folds
    others: tuple[tuple[NDArray[np.intp], Choice], ...] = ()
    choice_shifts: FloatArray | None = None
    sums: FitSums | None = None


@underflow_is_zero()
def fit_system(rows: Rows, options: Options, names: Names) -> FitResult:
    """Fit a general rule and exceptions to rows.

    One that would take more memory than there is is refused first.
    """
    label_groups = groups_of_labels(rows.w, rows.shape[1])
    _check_memory(rows, len(names.features), len(label_groups))
    n_sampled = options.sample_rows
    if n_sampled is None:
        n_sampled = _sample_rows(rows, len(names.features))
    sample = rows.sample(n_sampled)
    w = sample.row_weights
    with blas_threads(0.0):
        scale, Z = Scale.of(
            sample.X, w, options.scale, names.columns, n_rows=rows.shape[0]
        )
    with blas_threads(_choice_flops(sample, scale)):
        w = cast(w, np.float64)
        choice = _chosen(rows.shape[0], sample, Z, scale, names.used, options)
        penalty = Penalty(choice.ridge)
        coupling = None
        if options.coupling is not None:
            penalty, coupling = _coupled(choice, sample, Z, options)
    fewer, more = sorted((rows.shape[0], choice.design.n_columns))
    with blas_threads(float(fewer) ** 2 * more):
        held = HeldRows(sample, Z, rows.shape[0])
        try:
            solution, shifts = _solved(
                rows, choice, penalty, held, label_groups, options
            )
        except SingularError as error:
            raise _unsolved(error, options, scale) from None
    return FitResult(
        system=_system(choice.design, solution, sample, Z, w, names),
        design=choice.design,
        penalty=penalty,
        coupling=coupling,
        width_scale=choice.width_scale,
        rule_share=choice.share,
        loo_error=choice.error,
        loo_scores=asnumpy(solution.loo_scores),
        loo_rows=_positions(solution.loo_rows),
        folds=solution.folds,
        others=choice.others,
        choice_shifts=shifts,
        sums=_kept_sums(solution, choice.design, penalty),
    )


def _solved(
    rows: Rows,
    choice: Choice,
    penalty: Penalty,
    held: HeldRows,
    label_groups: Sequence[NDArray[np.intp]],
    options: Options,
) -> tuple[Consequents, FloatArray | None]:
    """Consequents of what was chosen, and honest scores of the rows.

    Rows that some choice was made without are scored by that choice. The second result
    is how far these scores are from those by the choice of all rows.
    """
    solution = solve(
        rows,
        choice.design,
        penalty,
        held,
        label_groups,
        folds=choice.folds,
        max_bytes=options.max_bytes,
        form=options.form,
    )
    if not choice.others:
        return solution, None
    by_all = asnumpy(solution.loo_scores)
    loo_scores = by_all.copy()
    for own_rows, other in choice.others:
        without = solve(rows, other.design, Penalty(other.ridge), held, label_groups)
        scores = _on_scale_of(by_all, asnumpy(without.loo_scores), held.block)
        loo_scores[own_rows] = scores[own_rows]
    return replace(solution, loo_scores=loo_scores), loo_scores - by_all


def _check_memory(rows: Rows, n_columns: int, n_patterns: int) -> None:
    """Refuse rows whose fit needs more memory than there is; of tensors nobody asks."""
    n_rows, n_labels = rows.shape
    n_cells = None
    if isinstance(rows, ArrayRows):
        if is_tensor(rows.X):
            return
        if is_csr(rows.X):
            n_cells = rows.X.nnz
    held = n_rows if n_rows <= rows.limit else min(n_rows, SAMPLE_ROWS)
    size = FitSize(
        n_rows=held,
        n_columns=n_columns,
        n_labels=n_labels,
        n_patterns=n_patterns,
        n_cells=n_cells,
        n_sampled=_sample_rows(rows, n_columns),
    )
    size.check()


def _on_scale_of(scores: FloatArray, others: FloatArray, block: Block) -> FloatArray:
    """Scores of another design (n, L), spread as widely as those of the model.

    Without some of the rows a fit may choose to shrink much more, and its scores then
    lie close together, in the same order. Ranked among those of the model as they are,
    they would tell of the choice and not of the rows: of 3 % of 600 rows that are told
    well, the AUC was .039 below the truth, and with one spread for all it is .006.
    Scores that differ by less than MIN_SPREAD of those of the model stay as they are:
    they tell nothing of the rows where the label was observed.
    """
    Y = asnumpy(block.without_unobserved().Y)
    weights = weights_per_label(asnumpy(block.w), Y.shape)
    _, spread = _mean_and_spread(scores, weights)
    mean, spread_of_others = _mean_and_spread(others, weights)
    tells = spread_of_others > MIN_SPREAD * spread
    ratio = np.divide(spread, spread_of_others, out=np.ones_like(spread), where=tells)
    return mean + (others - mean) * ratio


def _mean_and_spread(
    scores: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation (L,) of scores (n, L) with weights (n, L)."""
    total = np.maximum(weights.sum(axis=0), 1e-300)
    mean = (weights * scores).sum(axis=0) / total
    variance = (weights * (scores - mean) ** 2).sum(axis=0) / total
    return mean, np.sqrt(variance)


def _kept_sums(
    solution: Consequents, design: Design, penalty: Penalty
) -> FitSums | None:
    """The sums that a solution was found by, where they are kept."""
    if not solution.sums or penalty.basis is not None:
        return None
    widest = with_pairs_of_folds(on_host(design), solution.folds)
    return FitSums(widest, penalty.rho, solution.sums)


def _choice_flops(sample: Block, scale: Scale) -> float:
    """Work of the choice: for few rows many small factorisations.

    Threads would wait for each other there.
    """
    n_rows = len(sample.w)
    if n_rows < MIN_GROWN_ROWS:
        return 0.0
    return 4.0 * n_rows * (len(scale.terms) + N_LINEAR_CENTERS) ** 2


def _sample_rows(rows: Rows, n_columns: int) -> int:
    """On how many rows scale, rules and weights are found."""
    n_rows, n_labels = rows.shape
    if n_rows > rows.limit:
        return SAMPLE_ROWS
    of_few_columns = min(MAX_SAMPLE_ROWS, MAX_SAMPLE_CELLS // (n_columns + n_labels))
    return max(SAMPLE_ROWS, of_few_columns)


def _unsolved(error: SingularError, options: Options, scale: Scale) -> ValueError:
    """Why there is no solution, in words of the user."""
    if options.ridge is not None:
        return error
    return InputError(
        f"X varies too little next to its size for scale={scale.name!r}: "
        "take 'quantile', or subtract from each column what its values have in common."
    )


def _chosen(
    n_rows: int,
    sample: Block,
    Z: Matrix,
    scale: Scale,
    used: UsedFeatures | None,
    options: Options,
) -> Choice:
    """Let leave-one-out choose on rows of a sample that count.

    Z (n, D) are the scaled rows of the sample.
    """
    sample = sample.with_shared_weights()
    label_groups = groups_of_labels(sample.w, sample.Y.shape[1])
    w = cast(sample.row_weights, np.float64)
    has_all_rows = len(w) == n_rows
    weight_of_all = n_rows * float(w.sum()) / len(w)
    positions = np.flatnonzero(asnumpy(w) > 0)
    order = checked_order(options, scale, sample.X)
    if len(positions) < len(w):
        sample = sample.take(positions)
    sample = sample.without_unobserved()
    mixed = mixed_order(sample, scale.scaling, n_rows, used)
    positions = positions[mixed]
    sample = sample.take(mixed)
    Z = Z[positions]
    w = w[positions]
    clusters = Clusters(Z, w, scale)
    wishes = _wishes(options, order, clusters, weight_of_all)
    if may_grow(scale, wishes, n_rows):
        choice = grow(scale, sample, Z, w, label_groups, wishes, n_rows)
        return replace(choice, folds=_original(choice.folds, positions))
    limit = JUDGING_ROWS_LINEAR if scale.terms.low is None else JUDGING_ROWS
    judging = stratified_rows(asnumpy(sample.Y), limit)
    judges = sample.take(judging)
    fold_of_rows = None
    if has_all_rows and len(judging) == len(w) and options.coupling is None:
        fold_of_rows = places_in_any_units(judges, scale.scaling) % CHOICE_FOLDS
    choice = choose(
        scale,
        Z[judging],
        w[judging],
        judge=KernelJudge.of(judges, label_groups, options.ridge),
        clusters=clusters,
        wishes=wishes,
        n_groups=count_groups(sample.groups, len(w)),
        fold_of_rows=fold_of_rows,
    )
    others = tuple((positions[own], other) for own, other in choice.others)
    return replace(choice, others=others)


def _wishes(
    options: Options, order: int | None, clusters: Clusters, weight: float
) -> Wishes:
    """What the user asks for, given the weight of all rows."""
    n_rules = options.n_rules
    if n_rules == "xie-beni":
        n_rules = clusters.most_valid()
    return Wishes(
        n_rules=n_rules,
        n_pairs=options.n_pairs,
        ridge=options.ridge,
        order=order,
        width_scale=options.width_scale,
        tnorm=options.tnorm,
        max_rules=max(1, int(weight / MIN_ROWS_PER_RULE)),
        may_have_prior=options.coupling is None,
    )


def _original(folds: Folds, positions: NDArray[np.intp]) -> Folds:
    """Folds whose rows are those of the sample as it came, at these positions."""
    return tuple((positions[rows], pairs) for rows, pairs in folds)


def _coupled(
    choice: Choice, sample: Block, Z: Matrix, options: Options
) -> tuple[Penalty, Array]:
    """The ridge together with the label coupling, and the coupling (L, L)."""
    if sample.groups is not None:
        raise InputError(
            "A coupling of labels cannot leave rows out in groups: set coupling=None."
        )
    if sample.w.ndim == 2:
        raise InputError(
            "A coupling needs all labels observed at the same weights in every sample: "
            "set coupling=None."
        )
    correlation = label_correlation(asnumpy(sample.Y), asnumpy(sample.w))
    coupling = coupling_matrix(correlation, options.coupling)
    lam, basis = np.linalg.eigh(coupling)
    if options.coupling_weight is not None:
        return Penalty(choice.ridge, options.coupling_weight, lam, basis), coupling
    counted = np.flatnonzero(asnumpy(sample.w) > 0)
    judging_rows = counted[spread_rows(len(counted), JUDGING_ROWS)]
    judging = sample.take(judging_rows)
    K = choice.design.kernel(Z[judging_rows])

    def penalty(share: float) -> Penalty:
        return Penalty(choice.ridge * (1 - share), choice.ridge * share, lam, basis)

    def error(share: float) -> float:
        _, loo_scores = solve_dual(
            K * 1, judging.Y, judging.w, judging.groups, penalty(share)
        )
        return float((judging.w @ (loo_scores - judging.Y) ** 2).sum())

    return penalty(min(COUPLING_SHARES, key=error)), coupling


def _system(
    design: Design,
    solution: Consequents,
    sample: Block,
    Z: Matrix,
    w: Array,
    names: Names,
) -> FuzzySystem:
    """The system of a solution, with what the sample tells of its rules.

    Z (n, D) are the scaled rows of the sample, w (n,) their weights.
    """
    numbers = design.coefficients(
        asnumpy(solution.B), asnumpy(solution.mean), asnumpy(solution.rates)
    )
    quantiles = _quantiles(sample.X, w)
    if len(design.rules) * len(w) > MAX_MEMBER_CELLS:
        some = spread_rows(len(w), MAX_MEMBER_CELLS // len(design.rules))
        sample = sample.take(some)
        Z = Z[some]
        w = w[some]
    M = design.firing(Z)
    mass = asnumpy(w @ M)
    centers = cast(asnumpy(design.rules.centers), np.float64)
    X = sample.X if is_sparse(sample.X) else asnumpy(sample.X)
    return FuzzySystem(
        feature_names=names.features,
        label_names=names.labels,
        scale_name=design.scale.name,
        scaling=design.scale.scaling,
        intercept=numbers.intercept,
        terms=design.scale.terms,
        # row by row, as they come back from a file: another layout rounds differently
        term_coef=np.ascontiguousarray(numbers.terms),
        pairs=design.pairs,
        pair_coef=np.ascontiguousarray(numbers.pairs),
        centers=centers,
        widths=np.full_like(centers, design.rules.width),
        coef=np.ascontiguousarray(numbers.rules),
        prototypes=_prototypes(design, sample.X, M, w, centers),
        rule_weights=mass / float(w.sum()),
        thresholds=np.full(len(names.labels), 0.5),
        quantiles=quantiles,
        firing=design.rules.firing,
        columns=names.columns,
        used=names.used,
        members=Members.of(
            X,
            asnumpy(M),
            asnumpy(sample.Y),
            asnumpy(sample.w),
            shared=design.rules.order == 1,
            groups=sample.groups,
            indicators=None if names.columns is None else names.columns.indicators,
            n_given=0 if names.columns is None else len(names.columns.rules),
        ),
    )


def _prototypes(
    design: Design, X: Matrix, M: Array, w: Array, centers: Array
) -> FloatArray:
    """Centres (K, D) in the caller's units.

    Without a scaling, the mean of the samples X (n, D) in each rule, which fires on
    them with the strengths M (n, K); of a feature with gaps, where it was measured.
    """
    scaling = design.scale.scaling
    if scaling is not None:
        return scaling.apply(centers, inverse=True)
    weighted = M * w[:, None]
    values = X
    mass = asnumpy(w @ M)[:, None]
    if not is_sparse(X) and bool((X != X).any()):  # means of what was measured
        values = namespace(X).where(X == X, X, 0.0)
        mass = asnumpy(cast(X == X, M.dtype).T @ weighted).T
    least = np.maximum(mass, 1e-300)
    weighted = cast(weighted, X.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        means = np.asarray(asnumpy(values.T @ weighted)).T / least
    if not np.isfinite(means).all():  # sums of very large numbers
        largest = float(abs(values).max())
        shares = np.asarray(asnumpy((values / largest).T @ weighted)).T / least
        means = largest * shares
    return np.where(mass > 0, means, centers)


def _quantiles(X: Matrix, w: Array) -> FloatArray | None:
    """Percentiles 0, 5, …, 100 (D, 21) of dense samples that count."""
    if is_sparse(X):
        return None
    counted = X if bool((w > 0).all()) else X[w > 0]
    return column_quantiles(counted, np.linspace(0, 1, 21))


def _positions(rows: RowIndex | None) -> NDArray[np.intp] | None:
    """Positions of rows on the host."""
    return None if rows is None else asnumpy(rows)
