"""What leave-one-out chooses: number, order, width and weight of exceptions, and ridge.

The error is the squared leave-one-out error summed over labels, on a few hundred rows
evenly spread, in closed form. It is a good judge of a handful of numbers and a bad one
of many, so there are few candidates. Structures (order, number of rules) come first, at
one width, from few numbers to many: one with more numbers must lower the error by its
share in MIN_GAINS. Then width and weight are refined. Each candidate's ridge is found
by steps of a factor 2 from the last one's.

Symbols: n rows, D features, L labels, Z (n, D) scaled rows, w (n,) weights.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse as is_sparse

from ..core.arrays import Array, Matrix, asnumpy, cast, namespace, put, spread_rows
from ..core.clustering import fuzzy_c_means, xie_beni
from ..core.membership import Firing
from .design import Design, ExceptionRules, Scale, gram
from .ridge import Factor, SingularError, centred_kernel
from .rows import Block

# Rows that judge; linear terms (text) need more to notice what first-order rules add.
JUDGING_ROWS = 500
JUDGING_ROWS_LINEAR = 1200
# Patterns of observed rows that judge, the most frequent ones: each has its own kernel.
JUDGING_PATTERNS = 6
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
# Widths as shares of twice the variance of scaled samples: order 0, order 1, order 1
# for linear terms. Half and twice of these are tried when the structure is known.
WIDTH_ZERO_ORDER = 0.3
WIDTH_FIRST_ORDER = 0.09
WIDTH_FIRST_ORDER_LINEAR = 0.025
WIDTH_FACTORS = (0.5, 2.0)
# Weight of the exceptions where the general rule has 1; then these times the best.
RULE_SHARES = (0.5, 5.0)
RULE_SHARE_FACTORS = (0.3, 3.0)
# Rows that come twice would ask for less: below MIN_RIDGE a model repeats its rows.
MIN_RIDGE = 1e-2
MAX_RIDGE = 1e5
# Centres are found on 2,000 rows for more than 50 centres, else on 5,000.
MANY_CENTERS = 50
CLUSTER_ROWS_FOR_MANY = 2_000
CLUSTER_ROWS = 5_000
XIE_BENI_NUMBERS = range(2, 21)  # of exceptions that Xie and Beni's index chooses from
DOUBLE_PRECISION_ROWS = 200  # up to here kernels are in double precision
MIN_JUDGED_SHARE = 1e-6  # least 1 - h of a row that judges


class Structure(NamedTuple):
    """What leave-one-out chooses among: order and number of exceptions."""

    order: int
    n_rules: int


@dataclass(frozen=True)
class Wishes:
    """What the user asks for; None leaves it to leave-one-out.

    ``max_rules`` is the largest number of exceptions that may be tried.
    """

    n_rules: int | None
    order: int | None
    width_scale: float | None
    tnorm: str
    max_rules: int


@dataclass(frozen=True)
class Choice:
    """What leave-one-out took.

    ``ridge`` is that of the design, ``error`` the mean squared error per row and label,
    ``share`` the weight of the exceptions where the general rule has 1.
    """

    design: Design
    ridge: float
    error: float
    width_scale: float
    share: float


@dataclass(frozen=True)
class JudgedPattern:
    """Labels that were observed in the same rows.

    ``target`` (n, labels) are the labels, centred and times √w; ``rows`` (n,) are the
    positions of the rows; ``w`` and ``copies`` (n,) as in a `Block`.
    """

    target: Array
    rows: NDArray[np.intp]
    w: Array
    copies: Array

    @classmethod
    def of(
        cls, block: Block, labels: NDArray[np.intp], dtype: Any
    ) -> "JudgedPattern | None":
        """The pattern of some labels, or None where fewer than two rows count."""
        targets = block.of_labels(labels)
        xp = namespace(targets.Y)
        rows = xp.flatnonzero(targets.w > 0)
        if len(rows) < 2:
            return None
        counted = targets.take(rows)
        w = cast(counted.w, np.float64)
        mean = (w @ counted.Y) / w.sum()
        target = xp.sqrt(w)[:, None] * (counted.Y - mean)
        if target.shape[0] < target.shape[1]:
            # fewer columns with the same sums of squares: 120 for 5,000 labels
            target = xp.linalg.qr(target.T)[1].T
        return cls(
            target=cast(target, dtype),
            rows=rows,
            w=cast(w, dtype),
            copies=cast(counted.copies, dtype),
        )

    def kernel(self, K: Array) -> Array:
        """The kernel of all rows (N, N) as that of the counted rows, centred."""
        return centred_kernel(K[self.rows][:, self.rows], self.w)

    def squared_error(self, centred: Array, ridge: float) -> float:
        """Squared leave-one-out error of a centred kernel at a ridge."""
        factor = Factor.of(centred * 1, np.full(1, ridge))
        solved = factor.solve(self.target)  # first: the diagonal overwrites the factor
        leverage = 1.0 - ridge * factor.inverse_diagonal()[:, 0] + self.w / self.w.sum()
        kept = namespace(centred).maximum(
            1.0 - leverage / self.copies, MIN_JUDGED_SHARE
        )
        residuals = ridge * solved / kept[:, None]
        return float((residuals * residuals).sum())


@dataclass
class Judge:
    """Leave-one-out errors of kernels on some rows.

    Parameters
    ----------
    patterns : groups of labels with the same weights
    total_weight : weight of all labels of all rows
    ridge : float or None
        The ridge where it is fixed; None has it searched.
    dtype : precision of kernels
        Single precision is enough, but for a ridge that is fixed and may be small, and
        for so few rows that they may be reproduced exactly.
    last_ridge : where the next search begins
    """

    patterns: list[JudgedPattern]
    total_weight: float
    ridge: float | None
    dtype: Any = np.float32
    last_ridge: float = 1.0

    @classmethod
    def of(
        cls,
        block: Block,
        label_groups: Sequence[NDArray[np.intp]],
        ridge: float | None,
    ) -> "Judge":
        """A judge by the rows of a block; the largest groups of labels count."""
        is_exact = ridge is not None or len(block.Y) <= DOUBLE_PRECISION_ROWS
        dtype = np.float64 if is_exact else np.float32
        patterns = []
        total_weight = 0.0
        for labels in sorted(label_groups, key=len, reverse=True)[:JUDGING_PATTERNS]:
            pattern = JudgedPattern.of(block, labels, dtype)
            if pattern is not None:
                patterns.append(pattern)
                w = cast(block.of_labels(labels).w, np.float64)
                total_weight += float(w[pattern.rows].sum()) * len(labels)
        return cls(patterns, max(total_weight, 1e-300), ridge, dtype)

    def error(self, K: Array) -> tuple[float, float]:
        """Least error of a kernel (n, n), and the ridge that gives it."""
        kernels = [pattern.kernel(K) for pattern in self.patterns]
        if self.ridge is not None:
            return self._error_at(self.ridge, kernels), self.ridge
        ridge = self.last_ridge
        error = self._error_at(ridge, kernels)
        while error == np.inf and ridge < MAX_RIDGE:
            ridge = 2 * ridge
            error = self._error_at(ridge, kernels)
        for factor in (0.5, 2.0):
            walked = self._walk(ridge, error, factor, kernels)
            if walked[0] != ridge:
                ridge, error = walked
                break
        self.last_ridge = ridge
        return error, ridge

    def _walk(
        self, ridge: float, error: float, factor: float, kernels: Sequence[Array]
    ) -> tuple[float, float]:
        """Multiply the ridge by a factor as long as the error falls."""
        while MIN_RIDGE < ridge * factor < MAX_RIDGE:
            next_error = self._error_at(ridge * factor, kernels)
            if not next_error < error:
                break
            ridge = ridge * factor
            error = next_error
        return ridge, error

    def _error_at(self, ridge: float, kernels: Sequence[Array]) -> float:
        """Error of centred kernels at a ridge; infinite where one is singular."""
        error = 0.0
        for pattern, centred in zip(self.patterns, kernels, strict=True):
            try:
                error += pattern.squared_error(centred, ridge)
            except SingularError:
                if self.ridge is not None:
                    raise
                return np.inf  # in single precision
        return error


def choose(
    scale: Scale,
    Z: Matrix,
    w: Array,
    judge: Judge,
    centers: Callable[[int], Array],
    wishes: Wishes,
) -> Choice:
    """Choose a structure for scaled rows Z (n, D) of weights w (n,), and refine it.

    ``centers`` gives that many centres of exceptions.
    """
    search = _Search(scale=scale, Z=Z, w=w, judge=judge, centers=centers, wishes=wishes)
    tried = _tried(search)
    best = tried[0]
    for candidate in tried[1:]:
        gain = search.min_gain(candidate.design.rules.order)
        if candidate.error < (1 - gain) * best.error:
            best = candidate
    if len(best.design.rules):
        best = search.refined(best)
    return replace(best, error=best.error / judge.total_weight)


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

    def centers(self, n_centers: int) -> Array:
        """Centres by k-means (n_centers, D) or fewer, where the rows are.

        They are found on the host, as the steps are small and many.
        """
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


@dataclass(frozen=True, eq=False)
class _Search:
    """Choices for scaled rows Z (n, D) of weights w (n,).

    Kernels of the general rule and of exceptions are of size 1 each.
    """

    scale: Scale
    Z: Matrix
    w: Array
    judge: Judge
    centers: Callable[[int], Array]
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
        elif wishes.order is None and wishes.n_rules:
            yield Structure(0, wishes.n_rules)
            yield Structure(1, wishes.n_rules)
        else:
            yield Structure(wishes.order or 0, wishes.n_rules)

    @cached_property
    def _general_gram(self) -> Array:
        """T Tᵀ (n, n) of the general rule."""
        return gram(self.scale.general(self.Z))

    @cached_property
    def _general(self) -> tuple[Array, float]:
        """The kernel of the general rule, and what it was divided by."""
        return self._sized(self._general_gram)

    @cached_property
    def _inner_products(self) -> Array:
        """Z Zᵀ (n, n)."""
        if self.has_ramps:
            return gram(self.scale.terms.filled(self.Z))
        return self._general_gram

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
        kernel, size = self._general
        error, ridge = self.judge.error(kernel)
        no_rules = ExceptionRules(self.centers(1)[:0], width=1.0, order=0)
        design = Design(self.scale, no_rules, general_weight=1 / size)
        return Choice(design, ridge, error, width_scale=0.0, share=0.0)

    def _best_share(
        self, structure: Structure, width_scale: float, shares: Sequence[float]
    ) -> Choice:
        """The best of some weights of exceptions, at a width."""
        rules = ExceptionRules(
            self.centers(structure.n_rules),
            width=width_scale * self._distance,
            order=structure.order,
            firing=self._firing(structure.order),
        )
        inner = self._inner_products if structure.order else None
        exceptions = Design(self.scale, rules).exception_kernel(self.Z, inner)
        kernel, size = self._sized(exceptions)
        general, general_size = self._general
        choices = []
        for share in shares:
            error, ridge = self.judge.error((general + share * kernel) / (1 + share))
            design = Design(
                self.scale,
                rules,
                general_weight=1 / (general_size * (1 + share)),
                rule_weight=share / (size * (1 + share)),
            )
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
        structure = Structure(rules.order, len(rules))
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
