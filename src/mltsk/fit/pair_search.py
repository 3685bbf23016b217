"""How many pairs of features a design takes, and how fine they are.

Pairs are found by what the general rule leaves over (`mltsk.fit.pair_scores`). They are
found on one half of the rows, and their number and fineness are judged by rows of the
other half: judged by the rows they were found on, they always pay.

Symbols: n rows, D features, L labels, C conditions, Z (n, D) scaled rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, FloatArray, asnumpy
from ..core.pairs import Conditions, Pairs
from ..core.scales import Scaling
from .choice import Choice
from .curves import Curves, GeneralRule
from .judge import BlockColumns, SumsJudge
from .judged_sample import JudgedSample
from .pair_scores import MIN_SIZE, ranked_pairs
from .rows import RowIndex

# Numbers of pairs that are tried, of MAX_PAIR_RULES rules at most, and the share of the
# explained variance that each must add to that of fewer. A share of the error would
# ask for more where labels are rare: crashes has .679 with 10 pairs and .691 with 78,
# which lower the error by .1 %.
# 250 take twice the time of 100, and stops has .3373, .3465 and .3335 with them where
# it has .3335, .3452 and .3299 with 100 (partitions that nothing was chosen on).
PAIR_NUMBERS = (10, 40, 100, 250)
MAX_PAIR_RULES = 1_200
MIN_PAIR_GAIN = 0.002
PAIR_SHARE = 0.3  # weight of pairs where the general rule has 1
# Where the ridge that pairs ask for, at least USUAL_RIDGE, is so many times that of the
# general rule, their weight is tried so much lower, and then in steps: one ridge is too
# large for what the finest curves tell, or too small for pairs.
USUAL_RIDGE = 1.0
MIN_RIDGE_RISE = 4.0
WEIGHT_STEP = 4.0
MIN_STEP_GAIN = 1e-4  # share of the error that each must lower it by
# Conditions per feature of a pair. Eight are taken where they are clearly better than
# five: visits .410 to .415, stops .337 to .342, but a table of surveys .523 to .516.
PAIR_PEAKS = (5, 8)
SEARCH_PEAKS = 3  # conditions per feature while pairs are searched
AVERAGED_ROWS = 10_000  # on which averages of pairs are found
MAX_PAIRED_COLUMNS = 120  # of largest effect, among which pairs are searched


class GrownPairs(NamedTuple):
    """So many pairs, of so many conditions per feature, and what they weigh.

    ``error`` and ``ridge`` are those of the design that has them.
    """

    n_pairs: int
    n_peaks: int
    weight: float
    error: float
    ridge: float


@dataclass(frozen=True, eq=False)
class PairSearch:
    """Pairs of features next to a general rule.

    ``residuals`` (n, L) are what the general rule leaves over.
    """

    curves: Curves
    general: GeneralRule
    residuals: FloatArray

    def choice(self) -> Choice:
        """The choice with as many pairs as pay, or as the user asks for."""
        choice = self.general.choice
        if self.sample.wishes.n_pairs == 0:
            return choice
        grown = self._judged_pairs()
        if grown is None:
            return choice

        def best(ranked: Sequence[tuple[int, int]]) -> Pairs:
            return self._pairs(ranked[: grown.n_pairs], grown.n_peaks)

        first, second = self.sample.halves
        pairs = best(self._ranked_by(slice(None)))
        return replace(
            choice,
            design=replace(choice.design, pairs=pairs, pair_weight=grown.weight),
            ridge=grown.ridge,
            error=grown.error,
            folds=(
                (second, best(self._ranked)),
                (first, best(self._ranked_by(second))),
            ),
        )

    @property
    def sample(self) -> JudgedSample:
        """The rows."""
        return self.curves.sample

    @cached_property
    def _ranked(self) -> list[tuple[int, int]]:
        """Pairs of columns, best first, by the rows of the first half."""
        return self._ranked_by(self.sample.halves[0])

    def _ranked_by(self, rows: RowIndex) -> list[tuple[int, int]]:
        """Pairs of columns, best first, by some of the rows."""
        U, column = self._searched
        return ranked_pairs(U[rows], column, self.residuals[rows])

    def _pairs(self, columns: Sequence[tuple[int, int]], n_peaks: int) -> Pairs:
        """The rules of pairs of columns, with their means over the sample."""
        pairs = Pairs.of(self._scaling, columns, n_peaks)
        rows = slice(0, AVERAGED_ROWS)
        return pairs.averaged(self.sample.Z[rows], self._scaling, self.sample.w[rows])

    @property
    def _scaling(self) -> Scaling:
        if self.sample.scale.scaling is None:
            raise ValueError("pairs need a scale of percentiles")
        return self.sample.scale.scaling

    def _judged_pairs(self) -> GrownPairs | None:
        """How many of the ranked pairs are taken, and how fine; None for none.

        Finer ones, and more than the fewest, are only looked at where those pay.
        """
        if not self._ranked:
            return None
        wished = self.sample.wishes.n_pairs
        if wished is not None:
            return self._ever_finer(wished, error=np.inf)[-1]
        fewest, *more = PAIR_NUMBERS
        few = self._ever_finer(fewest, error=self.general.choice.error)
        if not few:
            return None
        if few[-1].n_pairs == len(self._ranked):
            return few[-1]
        grown = []
        for pairs in few:
            many = self._grown_pairs(more, pairs.n_peaks)
            grown.append(self._best_pairs(pairs.error, many) or pairs)
        return min(grown, key=lambda pairs: pairs.error)

    def _ever_finer(self, n_pairs: int, *, error: float) -> list[GrownPairs]:
        """So many pairs, ever finer as long as an error falls clearly."""
        finer: list[GrownPairs] = []
        for n_peaks in PAIR_PEAKS:
            pairs = self._grown_pairs([n_pairs], n_peaks)[0]
            if finer and pairs.n_pairs < finer[-1].n_pairs:
                break  # so fine that so many have too many cells
            if self._best_pairs(error, [pairs]) is None:
                break
            finer.append(pairs)
            error = pairs.error
        return finer

    def _best_pairs(
        self, error: float, grown: Sequence[GrownPairs]
    ) -> GrownPairs | None:
        """The last that has an error clearly below that of those before, if any has."""
        taken = None
        for pairs in grown:
            if pairs.error < error - MIN_PAIR_GAIN * (self.sample.null_error - error):
                error = pairs.error
                taken = pairs
        return taken

    def _grown_pairs(self, numbers: Sequence[int], n_peaks: int) -> list[GrownPairs]:
        """The general rule with some numbers of pairs, at their best weight and ridge.

        The columns of fewer pairs are the first ones of more: one judge has them all.
        """
        pairs = self._pairs(self._ranked[: max(numbers)], n_peaks)
        ends = np.append(pairs.starts[1:], len(pairs))
        ends = ends[ends <= max(MAX_PAIR_RULES, ends[0])]
        numbers = sorted({min(number, len(ends)) for number in numbers})
        pairs = pairs.first_rules(int(ends[numbers[-1] - 1]))
        columns = self._columns_of_pairs(pairs)
        judge = self.sample.judge(columns, before=self.curves.judge)
        variances = columns.variances(self.sample.w)
        grown = []
        for number in numbers:
            is_own = np.arange(len(pairs)) < ends[number - 1]
            variance = float(variances[is_own].sum())
            usual = GrownPairs(
                n_pairs=number,
                n_peaks=n_peaks,
                weight=PAIR_SHARE / max(variance, MIN_SIZE),
                error=np.inf,
                ridge=self.general.choice.ridge,
            )
            judged = self._judged(usual, judge, is_own)
            grown.append(self._lighter(judged, judge, is_own))
        return grown

    def _judged(
        self, pairs: GrownPairs, judge: SumsJudge, is_own: NDArray[np.bool_]
    ) -> GrownPairs:
        """Pairs of some weight with their error, and the ridge that gives it.

        ``is_own`` says which of the judge's rules of pairs they have.
        """
        of_pairs = np.where(is_own, pairs.weight, 0.0)
        weights = np.concatenate([self.general.weights, of_pairs])
        error, ridge = judge.error(weights)
        return pairs._replace(error=error / judge.total_weight, ridge=ridge)

    def _lighter(
        self, pairs: GrownPairs, judge: SumsJudge, is_own: NDArray[np.bool_]
    ) -> GrownPairs:
        """Pairs at a lower weight next to the ridge of the general rule, if better.

        Only tried where that ridge is far below what pairs ask for. They are shrunk so
        much then, and the general rule is shrunk as it is without them.
        """
        ridge = self.general.choice.ridge
        step = max(pairs.ridge, USUAL_RIDGE) / ridge
        if step < MIN_RIDGE_RISE or judge.ridge is not None:
            return pairs
        own_judge = replace(judge, search=replace(judge.search, last=ridge))
        while True:
            light = pairs._replace(weight=pairs.weight / step)
            lighter = self._judged(light, own_judge, is_own)
            if not lighter.error < (1 - MIN_STEP_GAIN) * pairs.error:
                return pairs
            pairs = lighter
            step = WEIGHT_STEP

    def _columns_of_pairs(self, pairs: Pairs) -> BlockColumns:
        """The columns of pairs, of all rows."""

        def of(Z: Array) -> Array:
            return pairs.memberships(Z, self._scaling)

        return BlockColumns(of, self.sample.Z_single, len(pairs), np.float32)

    @cached_property
    def _searched(self) -> tuple[FloatArray, NDArray[np.intp]]:
        """Memberships (n, C) of the conditions that are searched for pairs.

        Also the column of each, (C,). A missing value belongs to no condition.
        """
        is_searched = self._scaling.n_values > 1
        if self.sample.scale.is_gap is not None:
            is_searched &= ~self.sample.scale.is_gap
        is_searched[len(is_searched) - self.sample.scale.n_given :] = False
        columns = np.flatnonzero(is_searched)
        if len(columns) > MAX_PAIRED_COLUMNS:
            strongest = np.argsort(-self._strengths()[columns], kind="stable")
            columns = np.sort(columns[strongest[:MAX_PAIRED_COLUMNS]])
        conditions = Conditions.of(self._scaling, columns.tolist(), SEARCH_PEAKS)
        U = asnumpy(conditions.memberships(self.sample.Z, self._scaling))
        return np.nan_to_num(U).astype(np.float32), conditions.column

    def _strengths(self) -> FloatArray:
        """How well the best term of each column tells the labels alone, (D,)."""
        T = asnumpy(self.sample.scale.general(self.sample.Z))
        centred = T - T.mean(axis=0)
        Y = asnumpy(self.sample.block.Y)
        covariances = centred.T @ (Y - Y.mean(axis=0))
        variances = np.maximum((centred * centred).sum(axis=0), MIN_SIZE)
        strengths = np.zeros(self.sample.Z.shape[1])
        of_terms = (covariances**2).sum(axis=1) / variances
        np.maximum.at(strengths, self.sample.scale.terms.feature, of_terms)
        return strengths
