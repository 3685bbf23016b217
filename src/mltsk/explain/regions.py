"""Where exceptions lie: what sets their members apart from the rest of the data.

Symbols: K exceptions, T subjects, D columns of numbers.
"""

from functools import cached_property
from itertools import compress

import numpy as np

from ..core.arrays import Array, underflow_is_zero
from ..core.magnitude import rounded
from ..frames import MISSING
from .conditions import CLEAR_DIFFERENCE, ValueRange, ValueShare
from .effects import Effects, shares
from .sheet import decimals_of
from .subjects import Index, Mask, doubles

MAX_REGION_SHARE = 0.8  # a region that holds this much of the data sets nothing apart


class Regions:
    """The regions of the exceptions of a system, in the caller's units."""

    def __init__(self, effects: Effects) -> None:
        self.effects = effects
        self.system = effects.system
        self.subjects = effects.subjects

    @cached_property
    @underflow_is_zero()
    def distinct(self) -> Array:
        """How far each centre lies from the average, in widths √s, (K, T).

        Signed where values have an order, NaN where a width is infinite.
        """
        widths = doubles(self.system.widths)
        finite = np.isfinite(widths)
        apart = (doubles(self.system.centers) - self.effects.middle) / np.sqrt(widths)
        distinct = np.where(finite, apart, np.nan)[:, self.subjects.starts]
        for t, subject in self.subjects.unordered:
            distances = np.linalg.norm(apart[:, subject.columns], axis=1)
            has_condition = finite[:, subject.columns].any(axis=1)
            distinct[:, t] = np.where(has_condition, distances, np.nan)
            if subject.kind == MISSING:  # has no part in distances
                distinct[:, t] = np.nan
        return distinct

    def order(self, k: int, subjects: Index) -> tuple[Index, int]:
        """Which of some subjects rule k has conditions on, the most distinct first.

        Those that set its members apart come before the others; they are counted.
        """
        kept = subjects[~np.isnan(self.distinct[k, subjects])]
        is_open = np.zeros(len(kept), dtype=bool)
        if self.ends is not None:
            is_open = np.isnan(self.ends[k, kept]).all(axis=1)
        order = np.lexsort([-np.abs(self.distinct[k, kept]), is_open])
        return kept[order], int((~is_open).sum())

    @cached_property
    def ends(self) -> Array | None:
        """From where to where the members of each exception lie, (K, T, 2).

        NaN is an open end, one that reaches the outer tenth of the data. Both ends are
        NaN where a region holds nearly all of the data. Both are 0 for values without
        an order of which some are clearly more or less frequent than overall. None
        where members are not known.
        """
        members = self.effects.member_regions
        if members is None:
            return None
        if self.system.is_sheet:
            ends, sets_apart = self._half_met()
        else:
            ends, sets_apart = self._inner_members(members)
        is_told = sets_apart[:, :, None] & np.isfinite(ends)
        ends = np.where(is_told, ends, np.nan)
        for t, _ in self.subjects.unordered:
            is_clear = self._has_clear_shares(members, t)
            ends[:, t] = np.where(is_clear, 0.0, np.nan)[:, None]
        return ends

    def _half_met(self) -> tuple[Array, Mask]:
        """Where conditions of a short model are half met, and which there are."""
        starts = self.subjects.starts
        every = range(len(self.subjects))
        quantiles = doubles(self.system.quantiles)[starts]
        centers = self.effects.centers[:, starts]
        half = self._reaches * np.sqrt(np.log(2))
        with np.errstate(over="ignore"):  # what lies beyond all numbers is open
            low = self._rounded_values(centers - half)
            high = self._rounded_values(centers + half)
        low[centers <= quantiles[:, 0]] = -np.inf
        high[centers >= quantiles[:, -1]] = np.inf
        # of two values, one meets the condition wholly and the other not at all
        has_two = np.array([len(self.subjects.named_values(t)) == 2 for t in every])
        low[:, has_two] = centers[:, has_two]
        high[:, has_two] = centers[:, has_two]
        has_condition = np.isfinite(self.system.widths[:, starts])
        return np.stack([low, high], axis=2), has_condition

    @cached_property
    def _reaches(self) -> Array:
        """Widths of a short model's conditions in the caller's units, (K, T)."""
        starts = self.subjects.starts
        widths = doubles(self.system.widths)[:, starts]
        return np.sqrt(np.where(np.isfinite(widths), widths, 0.0)) * self._spans

    @cached_property
    def _spans(self) -> Array:
        """Ranges of the values of the data, (T,)."""
        quantiles = doubles(self.system.quantiles)[self.subjects.starts]
        with np.errstate(over="ignore"):
            return np.nan_to_num(np.ptp(quantiles, axis=1))

    def _rounded_values(self, values: Array) -> Array:
        """Values (K, T) of the subjects, as a short model has them."""
        columns = zip(values.T, self._spans.tolist(), strict=True)
        each = [rounded(column, decimals_of(span)) for column, span in columns]
        return np.stack(each, axis=1)

    def _inner_members(self, members: Array) -> tuple[Array, Mask]:
        """Between which values members lie, and where that sets them apart."""
        starts = self.subjects.starts
        quantiles = doubles(self.system.quantiles)[starts]
        low, high = np.moveaxis(members[:-1, starts], 2, 0)
        first, last = members[-1, starts].T
        is_single = low == high
        low = np.where((low <= first) & ~is_single, -np.inf, low)
        high = np.where((high >= last) & ~is_single, np.inf, high)
        inside = (quantiles >= low[:, :, None]) & (quantiles <= high[:, :, None])
        is_coded = np.zeros(len(self.subjects), dtype=bool)
        for t, subject in enumerate(self.subjects):
            many_names = len(self.subjects.named_values(t)) > 2
            is_coded[t] = subject.kind == "number" and many_names
        is_narrow = inside.mean(axis=2) < MAX_REGION_SHARE
        ends = np.stack([low, high], axis=2)
        return ends, is_narrow & (is_single | ~is_coded)

    def _has_clear_shares(self, members: Array, t: int) -> Mask:
        """In which exceptions (K,) some value of subject t is clearly more frequent.

        In those of a short model that is said of every value with a condition.
        """
        columns = self.subjects[t].columns
        has_condition = np.isfinite(self.system.widths[:, columns])
        if self.system.is_sheet:
            return np.asarray(has_condition.any(axis=1))
        differences = shares(members[:-1, columns]) - shares(members[-1, columns])
        largest = np.abs(differences * has_condition).max(axis=1, initial=0.0)
        return np.asarray(largest > CLEAR_DIFFERENCE)

    def value_shares(self, k: int, t: int) -> tuple[ValueShare, ...]:
        """The values of subject t that rule k has a condition on.

        Each has its name, its share among members (or at the centre), and on average.
        """
        subject = self.subjects[t]
        members = self.effects.member_regions
        if members is None or self.system.is_sheet:
            pair = np.stack([self.effects.centers[k], self.effects.averages])
        else:
            pair = shares(members[[k, -1]])
        share = np.clip(pair[0, subject.columns], 0, 1).tolist()
        overall = pair[1, subject.columns].tolist()
        if len(share) < len(subject.values):  # one column for two values
            first, second = subject.values
            others = ValueShare(first, 1 - share[0], 1 - overall[0])
            return others, ValueShare(second, share[0], overall[0])
        has_condition = np.isfinite(self.system.widths[k, subject.columns])
        values = map(ValueShare, subject.values, share, overall)
        return tuple(compress(values, has_condition))

    def value_range(self, k: int, t: int) -> ValueRange:
        """From where to where the condition of rule k on a number reaches."""
        if self.ends is not None:
            return ValueRange.from_ends(*self.ends[k, t])
        begin = self._halfway(k, self.subjects[t].columns.start)
        if self.distinct[k, t] > 0:
            return ValueRange.from_ends(begin, np.nan)
        return ValueRange.from_ends(np.nan, begin)

    @underflow_is_zero()
    def _halfway(self, k: int, d: int) -> float:
        """The value half way between the average sample and the centre of rule k."""
        if self.system.unit_length:
            return np.nan
        center = doubles(self.system.centers)[k, d]
        half = (center + self.effects.middle[d]) / 2
        if self.system.scaling is None:
            return float(half)
        scaling = self.system.scaling.columns(slice(d, d + 1))
        return float(scaling.apply(np.array([[half]]), inverse=True)[0, 0])

    def reach(self, k: int, t: int) -> float | None:
        """The reach of a condition of a short model; None for a long one."""
        if not self.system.is_sheet or self.system.quantiles is None:
            return None
        reach = self._reaches[k, t]
        return float(rounded(reach, decimals_of(float(self._spans[t]))))
