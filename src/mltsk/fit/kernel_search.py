"""Candidates for a design of some hundreds of rows: kernels between them, and errors.

Symbols: n rows, D features, L labels, P terms, Z (n, D) scaled rows, w (n,) weights.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import (
    Array,
    FloatArray,
    Matrix,
    cast,
    dense,
    namespace,
    put,
    weighted_mean_and_sd,
)
from ..core.membership import Firing
from .choice import Choice, Structure, Wishes
from .clusters import Clusters
from .design import Design, ExceptionRules, gram
from .judge import KernelErrors, KernelJudge
from .left_out import take_groups
from .scale import Scale

# Shares of ramps in a general rule that has lines, too: lines alone, ramps alone, or
# both. The least error decides where there are MIN_ROWS_PER_LINE rows for each line:
# on 14 small tables macro AP rose by .002 next to asking for a gain, on emotions, yeast
# and scene AP rose by .002. With fewer rows both together must add MIN_MIXED_GAIN to
# the part of the labels' variance that the better of them explains alone: on birds, two
# rows for each line, a few rows far out lowered the error and test AP (.721 to .712).
LINES_ALONE = 0.0
RAMPS_ALONE = 1.0
MIXED_SHARES = (0.1, 0.3, 0.6)
MIN_ROWS_PER_LINE = 4
MIN_MIXED_GAIN = 0.03
# What "not measured" counts, next to 1, where that is better. Standardised, a gap that
# is rare counts much per row: on nhefs .3 instead of 1 raised macro AP from .212 to
# .215, and 0, the only other choice before, left it there.
GAP_SHARES = (0.2, 0.0)
# Share of the error by which exceptions of order 0 and 1 must lower it to be taken:
# more where they join ramps, which bend, and most where slopes do. On pbc shifts that
# gave 0.7 % made test AP worse (.584 against .596, two partitions).
MIN_GAINS = (0.01, 0.03)
MIN_GAINS_LINEAR = (0.005, 0.005)
# How many standard errors (of the differences between errors, row by row) the gain of a
# choice over the base rates must have, below which the ridge is the largest one. With
# 1, the mean probability was off by up to .06 on 40 tables of noise (300 rows in groups
# of 3), with 2 by up to .02, and log loss on signals, weak, strong and rare, was the
# same.
MIN_SURE_GAIN_OF_ALL = 2.0
# Numbers of exceptions that are tried, next to none.
N_ZERO_ORDER = 400
N_FIRST_ORDER = 20
# From this many rows on every row may be the centre of an exception, with the kernel's
# own prior: image .820 to .833, scene .906 to .914, but pbc (334 rows) .609 to .605.
MIN_KERNEL_ROWS = 400
# Widths as shares of twice the variance of scaled samples: order 0, order 1, order 1
# for linear terms. Half and twice of these are tried when the structure is known.
WIDTH_ZERO_ORDER = 0.3
WIDTH_FIRST_ORDER = 0.09
WIDTH_FIRST_ORDER_LINEAR = 0.025
WIDTH_FACTORS = (0.5, 2.0)
# Weight of the exceptions where the general rule has 1; then these times the best.
RULE_SHARES = (0.5, 5.0)
RULE_SHARE_FACTORS = (0.3, 3.0)

Made = TypeVar("Made")


class General(NamedTuple):
    """A general rule: the weights of its terms (P,), its kernel and its errors."""

    weights: FloatArray
    kernel: Array
    errors: KernelErrors


class Exceptions(NamedTuple):
    """Exceptions, their kernel of size 1, and what it was divided by."""

    rules: ExceptionRules
    kernel: Array
    size: float


@dataclass(frozen=True, eq=False)
class KernelSearch:
    """Choices for scaled rows Z (n, D) of weights w (n,).

    ``n_groups`` is the number of rows or groups of rows, of which some judge. Kernels
    of the general rule and of exceptions are of size 1 each. Errors are those
    of the rows that are ``counted``, a mask (n,), or of all. ``known`` has what was
    judged already, whichever rows are counted.
    """

    scale: Scale
    Z: Matrix
    w: Array
    judge: KernelJudge
    clusters: Clusters
    wishes: Wishes
    n_groups: int
    counted: NDArray[np.bool_] | None = None
    known: dict[Hashable, Any] = field(default_factory=dict)

    def _once(self, key: Hashable, made: Callable[[], Made]) -> Made:
        """What ``made`` gives, made once for each key."""
        if key not in self.known:
            self.known[key] = made()
        kept: Made = self.known[key]
        return kept

    def _error(self, errors: KernelErrors) -> float:
        """The error of the rows that are counted."""
        if self.counted is None:
            return errors.error
        return float(errors.by_row[self.counted].sum())

    def sureness(self, before: Choice, after: Choice) -> float:
        """How many standard errors the gain of one choice over another has."""
        return self._sureness(before.by_row, after.by_row)

    def is_sure_of(self, choice: Choice) -> bool:
        """Whether a choice gains over the base rates more than chance does."""
        gain = self._sureness(self.judge.null_errors.by_row, choice.by_row)
        return gain > MIN_SURE_GAIN_OF_ALL

    def _sureness(self, before: FloatArray | None, after: FloatArray | None) -> float:
        """How many standard errors the sum of differences between errors (n,) has.

        Rows of a group are one.
        """
        if before is None or after is None or not np.isfinite(before).all():
            return np.inf
        counted = slice(None) if self.counted is None else self.counted
        gains = (before - after)[counted]
        groups = take_groups(self.judge.groups, np.arange(len(before))[counted])
        if groups is not None:
            gains = np.bincount(groups, gains).astype(np.float64)
        error = float(gains.std()) * len(gains) ** 0.5
        return float(gains.sum()) / max(error, 1e-300)

    @property
    def may_learn_nothing(self) -> bool:
        """Whether ridge and exceptions are open."""
        return self.judge.ridge is None and not self.wishes.n_rules

    def with_largest_ridge(self) -> Choice:
        """The general rule alone, shrunk as far as rows of this weight shrink it."""
        ridge = self.judge.search.max_ridge
        judge = replace(self.judge, ridge=ridge)
        key = "largest ridge", self._general_key
        errors = self._once(key, lambda: judge.error(self.general.kernel))
        alone = self.without_rules()
        return replace(
            alone, ridge=ridge, error=self._error(errors), by_row=errors.by_row
        )

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
    def _general_key(self) -> tuple[float, float]:
        """The shares of ramps and of terms for gaps that have the least error."""
        if not self.scale.has_lines:
            return RAMPS_ALONE, 1.0

        def error(share: float, gap_share: float = 1.0) -> float:
            return self._error(self._general_of(share, gap_share).errors)

        pure = min((LINES_ALONE, RAMPS_ALONE), key=error)
        mixed = min(MIXED_SHARES, key=error)
        is_mixed = error(pure) - error(mixed) > self._min_mixed_gain(error(pure))
        best = mixed if is_mixed else pure
        if self.scale.is_gap is None or not self.scale.is_gap.any():
            return best, 1.0
        return best, min((1.0, *GAP_SHARES), key=lambda gaps: error(best, gaps))

    def _min_mixed_gain(self, pure_error: float) -> float:
        """By how much lines and ramps together must lower the error of one alone."""
        is_line = self.scale.terms.straight
        n_lines = 0 if is_line is None else int(is_line.sum())
        if self.n_groups >= MIN_ROWS_PER_LINE * n_lines:
            return 0.0
        explained = self._error(self.judge.null_errors) - pure_error
        return MIN_MIXED_GAIN * explained

    @property
    def general(self) -> General:
        """The general rule whose shares of lines and ramps have the least error."""
        return self._general_of(*self._general_key)

    def _general_of(self, share: float, gap_share: float) -> General:
        """The general rule at a share of ramps and one of terms for gaps."""
        key = "general", share, gap_share
        return self._once(key, lambda: self._judged_general(share, gap_share))

    def _judged_general(self, share: float, gap_share: float) -> General:
        """`_general_of`, with its errors worked out."""
        T, variances = self._terms
        if not self.scale.has_lines:
            kernel, size = self._sized(gram(T))
            return General(np.asarray(1 / size), kernel, self.judge.error(kernel))
        weights = self.scale.term_weights(variances, share, gap_share)
        kernel, size = self._sized(gram(T * put(np.sqrt(weights), T)))
        return General(weights / size, kernel, self.judge.error(kernel))

    @property
    def _terms(self) -> tuple[Array, FloatArray]:
        """Memberships of the rows in the terms (n, P), and their variances (P,)."""

        def made() -> tuple[Array, FloatArray]:
            T = self.scale.general(self.Z)
            return T, weighted_mean_and_sd(T, self.w)[1] ** 2

        return self._once("terms", made)

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

    @property
    def _inner_products(self) -> Array:
        """Z Zᵀ (n, n)."""
        return self._once("inner", lambda: gram(self.scale.terms.filled(self.Z)))

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
            return self.without_rules()
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

    def without_rules(self) -> Choice:
        """The general rule alone."""
        errors = self.general.errors

        def design() -> Design:
            no_rules = ExceptionRules(self.clusters.rows(1)[:0], width=1.0, order=0)
            return self._design(no_rules, rule_weight=1.0, share=0.0)

        alone = self._once(("no rules", self._general_key), design)
        return Choice(alone, errors.ridge, self._error(errors), by_row=errors.by_row)

    def _exceptions(self, structure: Structure, width_scale: float) -> Exceptions:
        """The exceptions of a structure at a width, and their kernel."""

        def made() -> Exceptions:
            rules = self._rules(structure, width_scale)
            return Exceptions(rules, *self._sized(self._kernel(rules)))

        return self._once(("exceptions", structure, width_scale), made)

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
        choices = []
        for share in shares:
            key = "share", self._general_key, structure, width_scale, share
            judged = partial(self._judged, structure, width_scale, share)
            design, errors = self._once(key, judged)
            choices.append(
                Choice(
                    design=design,
                    ridge=errors.ridge,
                    error=self._error(errors),
                    width_scale=width_scale,
                    share=share,
                    by_row=errors.by_row,
                )
            )
        return min(choices, key=lambda choice: choice.error)

    def _judged(
        self, structure: Structure, width_scale: float, share: float
    ) -> tuple[Design, KernelErrors]:
        """The design of exceptions of a width and weight, and its errors."""
        rules, kernel, size = self._exceptions(structure, width_scale)
        general = self.general.kernel
        errors = self.judge.error((general + share * kernel) / (1 + share))
        return self._design(rules, share / (size * (1 + share)), share), errors

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
