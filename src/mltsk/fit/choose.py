"""What leave-one-out chooses: shares of lines and ramps, exceptions, and the ridge.

The error is the squared leave-one-out error summed over labels, in closed form, on all
rows up to some hundreds and beyond on rows that have every label as often as the data.
It is a good judge of a handful of numbers and a bad one of many, so there are few
candidates. First come the shares of lines and ramps in the general rule. Then
structures (order, number of rules), at one width, from few numbers to many: one with
more numbers must lower the error by its share in MIN_GAINS. Then width and weight are
refined. Each candidate's ridge is found by steps of a factor 2 from the last one's.

Where there are thousands of rows, `mltsk.fit.grow` chooses.

Symbols: n rows, D features, L labels, Z (n, D) scaled rows, w (n,) weights.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse as is_sparse

from ..core.arrays import (
    Array,
    FloatArray,
    Matrix,
    asnumpy,
    cast,
    dense,
    namespace,
    put,
    spread_rows,
    weighted_mean_and_sd,
)
from ..core.clustering import fuzzy_c_means, xie_beni
from ..core.membership import Firing
from ..core.pairs import Pairs
from .design import Design, ExceptionRules, Scale, gram
from .judge import KernelJudge

# Rows that judge; linear terms (text) need more to notice what first-order rules add.
JUDGING_ROWS = 1000
JUDGING_ROWS_LINEAR = 1200
# Shares of ramps in a general rule that has lines, too. Lines and ramps together must
# add this share to the part of the labels' variance that the better of both explains
# alone: on the dense sets they add at most 2.4 % and lower test AP as often as they
# raise it (birds by .007); on nhefs they add 1 to 2 % to lines and lower AP by .002.
LINES_ALONE = 0.0
RAMPS_ALONE = 1.0
MIXED_SHARES = (0.1, 0.3, 0.6)
MIN_MIXED_GAIN = 0.03
# Share of the error by which exceptions of order 0 and 1 must lower it to be taken:
# more where they join ramps, which bend, and most where slopes do. On pbc shifts that
# gave 0.7 % made test AP worse (.584 against .596, two partitions).
MIN_GAINS = (0.01, 0.03)
MIN_GAINS_LINEAR = (0.005, 0.005)
# On rows of unit length (text) exceptions of order 0 are not tried if slopes lower the
# error by this share: on the text sets slopes gave 2.8 to 5.3 %, and shifts a third to
# a half of that.
CLEAR_GAIN = 0.02
# Numbers of exceptions that are tried, next to none.
N_ZERO_ORDER = 400
N_FIRST_ORDER = 20
# From this many rows on every row may be the centre of an exception, with the kernel's
# own prior: image .820 to .833, scene .906 to .914, but pbc (334 rows) .609 to .605.
MIN_KERNEL_ROWS = 400
# Beyond MAX_KERNEL_ROWS nothing has the size rows × rows, and at most MAX_CENTERS rows
# are centres.
MAX_KERNEL_ROWS = 8_000
MAX_CENTERS = 4_000
# Widths as shares of twice the variance of scaled samples: order 0, order 1, order 1
# for linear terms. Half and twice of these are tried when the structure is known.
WIDTH_ZERO_ORDER = 0.3
WIDTH_FIRST_ORDER = 0.09
WIDTH_FIRST_ORDER_LINEAR = 0.025
WIDTH_FACTORS = (0.5, 2.0)
# Weight of the exceptions where the general rule has 1; then these times the best.
RULE_SHARES = (0.5, 5.0)
RULE_SHARE_FACTORS = (0.3, 3.0)
# Centres are found on 2,000 rows for more than 50 centres, else on 5,000.
MANY_CENTERS = 50
CLUSTER_ROWS_FOR_MANY = 2_000
CLUSTER_ROWS = 5_000
XIE_BENI_NUMBERS = range(2, 21)  # of exceptions that Xie and Beni's index chooses from


# Rows, and the pairs of features that were found without them.
Folds: TypeAlias = tuple[tuple[NDArray[np.intp], Pairs], ...]


class Structure(NamedTuple):
    """What leave-one-out chooses among: order, number and prior of exceptions."""

    order: int
    n_rules: int
    has_kernel_prior: bool = False


@dataclass(frozen=True)
class Wishes:
    """What the user asks for; None leaves it to leave-one-out.

    ``max_rules`` is the largest number of exceptions that may be tried, ``ridge`` None
    where it is searched. ``may_have_prior`` says whether exceptions may have the
    kernel's own prior, which is for one ridge: a coupling has several.
    """

    n_rules: int | None
    n_pairs: int | None
    ridge: float | None
    order: int | None
    width_scale: float | None
    tnorm: str
    max_rules: int
    may_have_prior: bool = True


@dataclass(frozen=True)
class Choice:
    """What leave-one-out took.

    ``ridge`` is that of the design, ``error`` the mean squared error per row and label,
    ``share`` the weight of the exceptions where the general rule has 1. ``folds`` are
    rows of the sample, and the pairs of features that were found without them.
    """

    design: Design
    ridge: float
    error: float
    width_scale: float = 0.0
    share: float = 0.0
    folds: Folds = ()


def choose(
    scale: Scale,
    Z: Matrix,
    w: Array,
    judge: KernelJudge,
    clusters: "Clusters",
    wishes: Wishes,
) -> Choice:
    """Choose a structure for scaled rows Z (n, D) of weights w (n,), and refine it.

    ``clusters`` say where exceptions sit.
    """
    search = _Search(
        scale=scale, Z=Z, w=w, judge=judge, clusters=clusters, wishes=wishes
    )
    tried = _tried(search)
    best = tried[0]
    for candidate in tried[1:]:
        gain = search.min_gain(candidate.design.rules.order)
        if candidate.error < (1 - gain) * best.error:
            best = candidate
    if len(best.design.rules):
        best = search.refined(best)
    design = best.design
    if design.rules.has_kernel_prior:
        n_centers = _n_centers(len(clusters.w), design.first_rule)
        rules = replace(design.rules, centers=clusters.rows(n_centers))
        design = replace(design, rules=rules)
    return replace(best, design=design, error=best.error / judge.total_weight)


def _n_centers(n_rows: int, n_other_columns: int) -> int:
    """How many rows are centres: all, or so many that all columns can be solved for."""
    if n_rows <= MAX_KERNEL_ROWS:
        return n_rows
    affordable = min(MAX_CENTERS, MAX_KERNEL_ROWS - n_other_columns)
    return max(affordable, N_ZERO_ORDER)


def _tried(search: "_Search") -> list[Choice]:
    """The best choice of each structure, fewest numbers first."""
    structures = list(search.structures())
    if search.is_text:  # slopes first: they often settle it
        structures.sort(key=lambda structure: structure.n_rules)
    choices: dict[Structure, Choice] = {}
    for structure in structures:
        if search.is_text and _slopes_settled_it(choices):
            break
        choices[structure] = search.best(structure)
    return [choices[s] for s in search.structures() if s in choices]


def _slopes_settled_it(choices: dict[Structure, Choice]) -> bool:
    """Whether slopes lower the error so clearly that shifts need not be tried."""
    if len(choices) != 2:
        return False
    none = choices[Structure(0, 0)]
    least = min(choice.error for choice in choices.values())
    return least < (1 - CLEAR_GAIN) * none.error


@dataclass(frozen=True, eq=False)
class Clusters:
    """Where exceptions of scaled rows Z (N, D) of weights w (N,), all above 0, sit."""

    Z: Matrix
    w: Array
    scale: Scale
    cache: dict[int, Array] = field(default_factory=dict)

    def centers(self, n_centers: int) -> Array:
        """Centres by k-means (n_centers, D) or fewer, where the rows are."""
        if n_centers not in self.cache:
            self.cache[n_centers] = self._found(n_centers)
        return self.cache[n_centers]

    def _found(self, n_centers: int) -> Array:
        """Centres on the host, as the steps are small and many."""
        limit = CLUSTER_ROWS
        if n_centers > MANY_CENTERS:
            limit = CLUSTER_ROWS_FOR_MANY
        rows = spread_rows(len(self.w), limit)
        raw = self._on_host(self.Z[rows])
        w = asnumpy(self.w[rows])
        filled = self.scale.terms.filled(raw)
        clusters = fuzzy_c_means(
            filled,
            n_centers,
            fuzzifier=1.0,
            sample_weight=w,
            rtol=1e-3,
            max_iter=8,
            power_steps=2,
        )
        C = clusters.centers
        if filled is not raw:
            C = _measured_means(raw, clusters.memberships * w[:, None], C)
        return put(C, self.Z)

    def rows(self, n_centers: int) -> Array:
        """The first rows as centres, which are spread like the data."""
        return dense(self.scale.terms.filled(self.Z[:n_centers]))

    def most_valid(self) -> int:
        """The number of centres that Xie and Beni's index prefers."""
        rows = spread_rows(len(self.w), CLUSTER_ROWS)
        Z = self._on_host(self.scale.terms.filled(self.Z[rows]))
        w = asnumpy(self.w[rows])

        def index(n_centers: int) -> float:
            C = asnumpy(self.centers(n_centers))
            return xie_beni(Z, C, fuzzifier=1.0, sample_weight=w)

        return min(XIE_BENI_NUMBERS, key=index)

    @staticmethod
    def _on_host(Z: Matrix) -> Matrix:
        """Rows as NumPy or SciPy has them."""
        return Z if is_sparse(Z) else asnumpy(Z)


def _measured_means(Z: Array, V: Array, C: Array) -> Array:
    """Means (K, D) of what was measured in each cluster of memberships V (n, K).

    Where nothing was, the centre C (K, D) stays.
    """
    measured = Z == Z
    weight = V.T @ measured
    sums = V.T @ np.where(measured, Z, 0.0)
    return np.where(weight > 0, sums / np.maximum(weight, 1e-300), C)


class General(NamedTuple):
    """A general rule: the weights of its terms (P,), its kernel, error and ridge."""

    weights: FloatArray
    kernel: Array
    error: float
    ridge: float


def _least(generals: dict[float, General]) -> float:
    """The share whose general rule has the least error."""
    return min(generals, key=lambda share: generals[share].error)


@dataclass(frozen=True, eq=False)
class _Search:
    """Choices for scaled rows Z (n, D) of weights w (n,).

    Kernels of the general rule and of exceptions are of size 1 each.
    """

    scale: Scale
    Z: Matrix
    w: Array
    judge: KernelJudge
    clusters: "Clusters"
    wishes: Wishes

    @property
    def is_text(self) -> bool:
        """Whether rows are texts, and the number of exceptions is open."""
        return self.scale.name == "unit" and self.wishes.n_rules is None

    @property
    def has_ramps(self) -> bool:
        """Whether terms bend, or are linear."""
        return self.scale.terms.low is not None

    def min_gain(self, order: int) -> float:
        """Share of the error by which exceptions of an order must lower it."""
        gains = MIN_GAINS if self.has_ramps else MIN_GAINS_LINEAR
        return gains[order]

    def structures(self) -> Iterator[Structure]:
        """Structures to try, fewest numbers first."""
        wishes = self.wishes
        if wishes.n_rules is None:
            yield Structure(0, 0)
            if wishes.order in (None, 0):
                yield Structure(0, min(N_ZERO_ORDER, wishes.max_rules))
            if wishes.order in (None, 1):
                yield Structure(1, min(N_FIRST_ORDER, wishes.max_rules))
            if self._may_have_kernel():
                yield Structure(0, len(self.Z), has_kernel_prior=True)
        elif wishes.order is None and wishes.n_rules:
            yield Structure(0, wishes.n_rules)
            yield Structure(1, wishes.n_rules)
        else:
            yield Structure(wishes.order or 0, wishes.n_rules)

    def _may_have_kernel(self) -> bool:
        """Whether every row may be the centre of an exception."""
        wishes = self.wishes
        if wishes.order == 1 or wishes.tnorm != "product" or not wishes.may_have_prior:
            return False
        return self.has_ramps and len(self.w) >= MIN_KERNEL_ROWS

    @cached_property
    def general(self) -> General:
        """The general rule whose shares of lines and ramps have the least error."""
        T = self.scale.general(self.Z)
        if not self.scale.has_lines:
            kernel, size = self._sized(gram(T))
            return General(np.asarray(1 / size), kernel, *self.judge.error(kernel))
        variances = weighted_mean_and_sd(T, self.w)[1] ** 2

        def general_of(share: float, *, with_gaps: bool = True) -> General:
            return self._general_of(T, variances, share, with_gaps=with_gaps)

        pure = {share: general_of(share) for share in (LINES_ALONE, RAMPS_ALONE)}
        mixed = {share: general_of(share) for share in MIXED_SHARES}
        best_share = _least(pure)
        best = pure[best_share]
        explained = self.judge.null_error - best.error
        share = _least(mixed)
        if best.error - mixed[share].error > MIN_MIXED_GAIN * explained:
            best_share = share
            best = mixed[share]
        if self.scale.is_gap is not None and self.scale.is_gap.any():
            without = general_of(best_share, with_gaps=False)
            if without.error < best.error:
                best = without
        return best

    def _general_of(
        self, T: Array, variances: FloatArray, share: float, *, with_gaps: bool
    ) -> General:
        """The general rule at a share of ramps, with terms for gaps or without."""
        weights = self.scale.term_weights(variances, share, with_gaps=with_gaps)
        kernel, size = self._sized(gram(T * put(np.sqrt(weights), T)))
        return General(weights / size, kernel, *self.judge.error(kernel))

    def _design(
        self, rules: ExceptionRules, rule_weight: float, share: float
    ) -> Design:
        """A design in which the general rule has 1 and exceptions a share of that."""
        weights = self.general.weights / (1 + share)
        scale = self.scale
        if weights.ndim:
            scale = scale.keeping(weights > 0)
            weights = weights[weights > 0]
        return Design(scale, rules, term_weights=weights, rule_weight=rule_weight)

    @cached_property
    def _inner_products(self) -> Array:
        """Z Zᵀ (n, n)."""
        return gram(self.scale.terms.filled(self.Z))

    @cached_property
    def _distance(self) -> float:
        """Mean squared distance between two samples.

        For the minimum, in the feature in which they lie farthest apart.
        """
        if self.wishes.tnorm != "minimum":
            return 2.0 * self.scale.variance
        xp = namespace(self.Z)
        half = len(self.Z) // 2
        steps = xp.nan_to_num((self.Z[half : 2 * half] - self.Z[:half]) ** 2)
        return float(xp.amax(steps, axis=1).mean()) or 1.0

    def best(self, structure: Structure) -> Choice:
        """The best of a few weights for a structure at its usual width."""
        if structure.n_rules == 0:
            return self._without_rules()
        width = self.wishes.width_scale
        if width is None:
            width = self._usual_width(structure.order)
        shares = RULE_SHARES[1:] if structure.order else RULE_SHARES
        return self._best_share(structure, width, shares)

    def _usual_width(self, order: int) -> float:
        """The width that structures are compared at."""
        if order == 0:
            return WIDTH_ZERO_ORDER
        return WIDTH_FIRST_ORDER if self.has_ramps else WIDTH_FIRST_ORDER_LINEAR

    def _without_rules(self) -> Choice:
        """The general rule alone."""
        no_rules = ExceptionRules(self.clusters.rows(1)[:0], width=1.0, order=0)
        design = self._design(no_rules, rule_weight=1.0, share=0.0)
        return Choice(design, self.general.ridge, self.general.error)

    def _rules(self, structure: Structure, width_scale: float) -> ExceptionRules:
        """The exceptions of a structure; every row is a centre under a kernel's prior.

        The kernel between rows is then that of the judging rows alone: a row that is
        left out is not a centre either.
        """
        if structure.has_kernel_prior:
            centers = dense(self.scale.terms.filled(self.Z))
        else:
            centers = self.clusters.centers(structure.n_rules)
        return ExceptionRules(
            centers,
            width=width_scale * self._distance,
            order=structure.order,
            firing=self._firing(structure.order),
            has_kernel_prior=structure.has_kernel_prior,
        )

    def _kernel(self, rules: ExceptionRules) -> Array:
        """The kernel (n, n) of exceptions."""
        design = Design(self.scale, rules)
        if rules.has_kernel_prior:
            return design.firing(self.Z)
        inner = self._inner_products if rules.order else None
        return design.exception_kernel(self.Z, inner)

    def _best_share(
        self, structure: Structure, width_scale: float, shares: Sequence[float]
    ) -> Choice:
        """The best of some weights of exceptions, at a width."""
        rules = self._rules(structure, width_scale)
        kernel, size = self._sized(self._kernel(rules))
        general = self.general.kernel
        choices = []
        for share in shares:
            error, ridge = self.judge.error((general + share * kernel) / (1 + share))
            design = self._design(rules, share / (size * (1 + share)), share)
            choices.append(
                Choice(design, ridge, error, width_scale=width_scale, share=share)
            )
        return min(choices, key=lambda choice: choice.error)

    def _firing(self, order: int) -> Firing:
        """How rules of an order fire."""
        if order:
            return "softmax"
        return "minimum" if self.wishes.tnorm == "minimum" else "plain"

    def refined(self, best: Choice) -> Choice:
        """The choice with the first other width that is better, and another weight."""
        rules = best.design.rules
        structure = Structure(rules.order, len(rules), rules.has_kernel_prior)
        factors = WIDTH_FACTORS if self.wishes.width_scale is None else ()
        for factor in factors:
            width = best.width_scale * factor
            other = self._best_share(structure, width, (best.share,))
            if other.error < best.error:
                best = other
                break
        shares = [best.share * factor for factor in RULE_SHARE_FACTORS]
        finer = self._best_share(structure, best.width_scale, shares)
        return min(best, finer, key=lambda choice: choice.error)

    def _sized(self, K: Array) -> tuple[Array, float]:
        """A kernel (n, n) of size 1, and what it was divided by.

        Its rows then lie at a mean squared distance of 1 from their mean.
        """
        share = self.w / self.w.sum()
        mean_square = float(share @ namespace(K).diagonal(K))
        size = mean_square - float(share @ (K @ share))
        if size <= 1e-12 * mean_square:  # all rows are the same
            K = 0 * K
            size = 1.0
        return cast(K / size, self.judge.dtype), size
