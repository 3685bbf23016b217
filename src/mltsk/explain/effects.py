"""The numbers behind the words: what a fuzzy system does, in the caller's own units.

Symbols: K exceptions, T subjects, D columns of numbers, L labels, P terms, Q = 21
training quantiles.

The *curve* of a feature for a label is the sum of its centred terms: it is 0 on
average. The *size* of an effect is its standard deviation over the data: of a curve,
over the training quantiles; of a shift c, |c| times that of membership.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np

from ..core.arrays import Array, underflow_is_zero
from ..core.membership import firing_strengths
from ..core.scales import Scaling
from ..core.terms import Terms
from ..system import FuzzySystem
from .subjects import Index, Subjects, doubles

# Quantiles of the data, each with its share: the first and the last have half of that
# of the others, and stand for the outer 1/40 of the data.
QUANTILE_SHARES = np.full(21, 1 / 20)
QUANTILE_SHARES[[0, -1]] = 1 / 40
# Centres at which memberships in exceptions are compared.
MAX_SAMPLE_CENTERS = 500
TINIEST = 1e-300  # keeps a division by a sum of weights from failing
# Curves are looked at in the same values for every label. Their memberships are kept:
# they were two thirds of the time that 1,000 labels took.
MAX_KEPT_MEMBERSHIPS = 2_000
MAX_BLOCK_NUMBERS = 4_000_000  # numbers of curves that are worked out together

Labels = int | slice  # one label, or some


class Effects:
    """What one system does; numbers that take time are computed when first asked for.

    ``system`` is the `FuzzySystem`, ``subjects`` what it is about.
    """

    def __init__(self, system: FuzzySystem) -> None:
        self.system = system
        self.subjects = Subjects(system)
        self._own_terms: dict[int, tuple[Index, Terms, Scaling | None]] = {}
        self._memberships: dict[tuple[int, bytes], Array] = {}

    @property
    def noun(self) -> str:
        """What a rule with conditions is called.

        Without a general rule there are no exceptions to it.
        """
        return "Exception" if len(self.system.terms) else "Rule"

    @property
    def start(self) -> str:
        """What the base of a score is, in words."""
        if self.system.is_sheet:
            return "at the start"
        later = []
        if self.subjects.given:
            later.append("your rules")
        if len(self.system.centers) and not self.has_centred_exceptions:
            later.append("exceptions")
        return f"before {' and '.join(later)}" if later else "on average"

    @property
    def has_centred_exceptions(self) -> bool:
        """Whether an exception is told as its distance from what it adds on average.

        It is where exceptions only shift, next to a general rule. Hundreds of wide
        exceptions would otherwise give back what the base lacks: 42 % "before
        exceptions" of a label that 51 % have (hepatomegaly in pbc). A short model
        computes what its text says, so its exceptions add what they say.
        """
        system = self.system
        is_whole = not system.is_sheet and not system.is_chosen
        return is_whole and system.order == 0 and len(system.terms) > 0

    @cached_property
    def usual_firing(self) -> Array:
        """Firing strengths (K,) at which exceptions are told to add nothing."""
        firing = doubles(self.system.rule_weights)
        return firing if self.has_centred_exceptions else np.zeros_like(firing)

    @cached_property
    def base(self) -> Array:
        """Where the scores of all labels begin, (L,)."""
        base = doubles(self.system.intercept)
        if not self.has_centred_exceptions:
            return base
        return np.asarray(base + self.usual_firing @ doubles(self.system.coef[:, 0]))

    # the average sample -------------------------------------------------------------

    @property
    def member_regions(self) -> Array | None:
        """Where members lie, (K+1, D, 2), as `Members` has it, or None."""
        members = self.system.members
        return None if members is None else members.regions

    @cached_property
    def weights(self) -> Array:
        """Weights of the exceptions, (K,), which add up to 1."""
        weights = doubles(self.system.rule_weights)
        return np.asarray(weights / max(float(weights.sum()), TINIEST))

    @cached_property
    def centers(self) -> Array:
        """Centres of the fuzzy sets, (K, D).

        For rows of unit length, the mean of what each rule fires on.
        """
        system = self.system
        unscaled = system.scaling is None and not system.unit_length
        return doubles(system.centers if unscaled else system.prototypes)

    @cached_property
    def middle(self) -> Array:
        """The average sample on the scale of the rules, (D,)."""
        system = self.system
        if system.is_linear:
            return doubles(system.terms.mean)
        if system.is_sheet:
            return self._sheet_middle()
        if system.scaling is not None and system.scaling.bounded:
            return np.zeros(system.shape[1])  # the percentile scale has it at 0
        return self.weights @ system.centers

    def _sheet_middle(self) -> Array:
        """The average sample of a short model; of values, how frequent they are."""
        middle = np.asarray(self._grid).mean(axis=0)
        columns = self.system.columns
        if columns is None or self.member_regions is None:
            return middle
        return np.where(columns.indicators, shares(self.member_regions[-1]), middle)

    @cached_property
    @underflow_is_zero()
    def averages(self) -> Array:
        """The average sample in the caller's units, (D,)."""
        if self.system.scaling is not None:
            rows = self.middle[None, :]
            return self.system.scaling.apply(rows, inverse=True)[0]
        if self.system.unit_length:
            return self.weights @ self.centers
        return self.middle

    @cached_property
    @underflow_is_zero()
    def spreads(self) -> Array:
        """Standard deviations on the scale of the rules, (D,)."""
        if self._grid is not None:
            return self._grid.std(axis=0)
        # a mostly absent feature has a variance of about its mean times the size that
        # it has where it is present
        return np.sqrt(np.abs(self.middle))

    @cached_property
    def _grid(self) -> Array | None:
        """Samples that have every feature at one of its training quantiles, (Q, D)."""
        if self.system.quantiles is None:
            return None
        return self.system.scale(doubles(self.system.quantiles).T)

    def frequencies(self, t: int) -> Array:
        """How often a subject has each of its named values, where it has one."""
        subject = self.subjects[t]
        frequencies = self.averages[subject.columns]
        if len(frequencies) == len(subject.values):
            return frequencies
        return np.array([1 - frequencies[0], frequencies[0]])

    # what holds in general ----------------------------------------------------------

    @cached_property
    def grid_terms(self) -> Array:
        """Centred memberships in the terms at the training quantiles, (Q, P).

        The first and the last stand for the outer 1/40 of the data, and lie in its
        middle: at the ends of the range lines would count twice.
        """
        terms = self.system.terms
        scaling = self.system.scaling
        Z = self._grid
        if Z is not None and scaling is not None and not self.system.is_sheet:
            low = (QUANTILE_SHARES[0] / 2 - scaling.offset) / scaling.spread
            high = (1 - QUANTILE_SHARES[-1] / 2 - scaling.offset) / scaling.spread
            Z = np.clip(Z, low, high)
        return terms.memberships(Z, scaling) - terms.mean

    @cached_property
    def sizes(self) -> Array:
        """Size of what each subject adds to each label in general, (T, L)."""
        return self._by_subject(self._column_sizes(), slice(None))

    @underflow_is_zero()
    def _column_sizes(self) -> Array:
        """Size of what each column adds to each label in general, (D, L)."""
        system = self.system
        if system.is_linear:
            return np.abs(doubles(system.term_coef)) * self.spreads[:, None]
        _, D, L = system.shape
        sizes = np.zeros((D, L))
        if not len(system.terms):
            return sizes
        step = max(1, MAX_BLOCK_NUMBERS // self.grid_terms.size)
        for start in range(0, L, step):
            labels = slice(start, start + step)
            coef = system.term_coef[:, labels].T
            numbers = self.grid_terms * coef[:, None, :]  # (labels, Q, P)
            of_grid = numbers.reshape(-1, len(system.terms))
            curves = system.terms.by_feature(of_grid, D)
            curves = curves.reshape(*numbers.shape[:2], D)
            means = np.einsum("q,jqd->jd", QUANTILE_SHARES, curves)
            squares = (curves - means[:, None, :]) ** 2
            variances = np.einsum("q,jqd->jd", QUANTILE_SHARES, squares)
            sizes[:, labels] = np.sqrt(variances).T
        return sizes

    def _by_subject(self, sizes: Array, labels: Labels, k: int | None = None) -> Array:
        """Sizes (D, …) of columns as those of subjects, (T, …).

        The size of values that have no order is the deviation over these.
        """
        by_subject = sizes[self.subjects.starts]
        for t, subject in self.subjects.unordered:
            p = self.frequencies(t)
            values = np.arange(float(len(subject.values)))
            y = self.effect(t, values, labels, k)
            by_subject[t] = np.sqrt(p @ (y - p @ y) ** 2)
        return by_subject

    def effect(self, t: int, x: Array, labels: Labels, k: int | None = None) -> Array:
        """What values ``x`` (N,) of subject t add to the score of a label, or of some.

        That is in general, or by the slopes of rule k; (N,) or (N, labels).
        """
        if k is not None:
            columns = self.subjects[t].columns
            distances = self.subjects.scaled(t, x) - self.middle[columns]
            return _finite_product(distances, self.system.coef[k, 1:][columns, labels])
        own = self.terms_of(t)
        centred = self.memberships(t, x) - self.system.terms.mean[own]
        return _finite_product(centred, self.system.term_coef[own, labels])

    def terms_of(self, t: int) -> Index:
        """Numbers of the terms of subject t, (P',)."""
        return self._terms_of(t)[0]

    def _terms_of(self, t: int) -> tuple[Index, Terms, Scaling | None]:
        """Which terms subject t has, these terms, and the scaling of its columns."""
        kept = self._own_terms.get(t)
        if kept is not None:
            return kept
        columns = self.subjects[t].columns
        terms = self.system.terms
        scaling = self.system.scaling
        # terms come feature by feature
        ends = np.searchsorted(terms.feature, [columns.start, columns.stop])
        own = np.arange(*ends)
        own_terms = terms.take(own)
        own_terms = replace(own_terms, feature=own_terms.feature - columns.start)
        own_scaling = None if scaling is None else scaling.columns(columns)
        self._own_terms[t] = own, own_terms, own_scaling
        return own, own_terms, own_scaling

    def memberships(self, t: int, x: Array) -> Array:
        """Memberships (N, P') of values ``x`` (N,) in the P' terms of subject t."""
        key = t, x.tobytes()
        memberships = self._memberships.get(key)
        if memberships is None:
            _, terms, scaling = self._terms_of(t)
            Z = self.subjects.scaled(t, x)
            memberships = doubles(terms.memberships(Z, scaling))
            if len(self._memberships) >= MAX_KEPT_MEMBERSHIPS:
                self._memberships.clear()
            self._memberships[key] = memberships
        return memberships

    def fine_values(self, t: int) -> Array:
        """Values (n,) of a dense number between which its curve hardly bends.

        They are its training quantiles and the values at which its ramps begin and
        end, each once, rising.
        """
        d = self.subjects[t].columns.start
        x = doubles(self.system.quantiles)[d]
        terms = self.system.terms
        scaling = self.system.scaling
        if scaling is None or terms.low is None or terms.high is None:
            return np.unique(x)
        own = terms.feature == d
        levels = np.unique([terms.low[own], terms.high[own]])
        bends = np.interp(levels, scaling.levels[d], scaling.values[d])
        return np.unique(np.concatenate([x, bends]).clip(x[0], x[-1]))

    def deviation(
        self, t: int, j: int, x: Array, than: Array | None = None
    ) -> Array | None:
        """Standard errors (N,) of what values ``x`` (N,) of subject t add to label j.

        With values ``than`` (N,), of how much more they add than these. None where
        the covariance is not known.
        """
        own = self.terms_of(t)
        covariance = self.covariance(j, own)
        if covariance is None:
            return None
        V = self.memberships(t, x)
        if than is None:
            V = V - self.system.terms.mean[own]
        else:
            V = V - self.memberships(t, than)
        variances = np.einsum("np,pq,nq->n", V, covariance, V)
        return np.sqrt(np.maximum(variances, 0.0))

    def covariance(self, j: int, own: Index) -> Array | None:
        """Covariance (A, A) of some numbers of label j, None where it is not known.

        ``own`` (A,) are their positions among those of terms, pairs and exceptions.
        """
        system = self.system
        if system.certainty is None:
            return None
        of_terms = system.term_coef[:, j] != 0
        of_pairs = np.zeros(0, dtype=bool)
        if system.pair_coef is not None:
            of_pairs = system.pair_coef[:, j] != 0
        of_exceptions = (system.coef[:, :, j] != 0).ravel()
        used = np.concatenate([of_terms, of_pairs, of_exceptions])
        if not system.certainty.knows(used, own):
            return None
        return system.certainty.covariance(used, j, own)

    # exceptions ---------------------------------------------------------------------

    @cached_property
    def shifts(self) -> Array:
        """What each exception says at its own centre, (K, L)."""
        coef = doubles(self.system.coef)
        if not self.system.order:
            return coef[:, 0]
        slopes = np.einsum("kd,kdl->kl", self.system.centers, coef[:, 1:])
        return np.asarray(coef[:, 0] + slopes)

    @cached_property
    @underflow_is_zero()
    def shift_sizes(self) -> Array:
        """Size of each shift, (K, L), with the deviation of membership over centres.

        Of thousands of exceptions, 500 evenly spread centres stand for all.
        """
        system = self.system
        share = doubles(system.rule_weights)
        # at most the deviation of all or nothing
        spreads = np.sqrt(np.maximum(share * (1 - share), 0.0))
        if len(share) > 1:
            n_samples = min(len(share), MAX_SAMPLE_CENTERS)
            samples = np.linspace(0, len(share) - 1, n_samples).astype(np.intp)
            M = firing_strengths(
                doubles(system.centers)[samples],
                system.centers,
                system.widths,
                firing=system.firing,
            )
            weights = self.weights[samples]
            weights = weights / max(float(weights.sum()), TINIEST)
            variances = weights @ M**2 - (weights @ M) ** 2
            spreads = np.minimum(spreads, np.sqrt(np.maximum(variances, 0.0)))
        return np.abs(self.shifts) * spreads[:, None]

    @underflow_is_zero()
    def slope_sizes(self, k: int, labels: Labels = slice(None)) -> Array:
        """Size of each slope of rule k for one label, (T,), or some, (T, labels)."""
        if self.system.order == 0:
            return np.zeros_like(self.sizes[:, labels])
        slopes = np.abs(doubles(self.system.coef[k, 1:, labels]))
        sizes = self._by_subject((slopes.T * self.spreads).T, labels, k)
        return sizes * self.system.rule_weights[k]

    @cached_property
    def importance(self) -> Array:
        """Size of what each subject does in general and by rules, (T, L)."""
        total = self.sizes
        for k in range(self.system.shape[0] * self.system.order):
            total = total + self.slope_sizes(k)
        return total


def shares(counts: Array) -> Array:
    """Of columns that stand for values, the share of measured samples that have them.

    ``counts`` (…, 2) are how many have it and how many have any.
    """
    return np.asarray(counts[..., 0] / np.maximum(counts[..., 1], 1.0))


def _finite_product(A: Array, B: Array) -> Array:
    """A @ B, where numbers that are too large become the largest there are."""
    largest = np.finfo(np.float64).max / 4  # distances between these are finite, too
    with np.errstate(over="ignore"):
        product = A @ B
    return np.clip(product, -largest, largest)
