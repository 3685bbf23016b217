"""What leave-one-out chooses where there are thousands of rows: pairs and exceptions.

Designs are fitted to all rows of a sample by sums over them, and judged by some of its
rows. They grow as long as that pays: the general rule, pairs of features that act
together, exceptions. Nothing here is of the size rows × rows.

Pairs are found by what the general rule leaves over (`mltsk.fit.pair_scores`). They are
found on one half of the rows, and their number and fineness are judged by rows of the
other half: judged by the rows they were found on, they always pay.

Symbols: n rows, D features, L labels, Z (n, D) scaled rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import (
    Array,
    FloatArray,
    Matrix,
    asnumpy,
    cast,
    dense,
    namespace,
    put,
)
from ..core.pairs import Conditions, Pairs
from ..core.scales import Scaling
from .choose import (
    MAX_CENTERS,
    MIN_GAINS,
    RULE_SHARES,
    WIDTH_ZERO_ORDER,
    Choice,
    Wishes,
)
from .clusters import Clusters
from .design import Design, ExceptionRules
from .finer import finer_scale
from .judge import BlockColumns, RidgeSearch, SumsJudge
from .left_out import whole_groups
from .order import stratified_rows
from .pair_scores import MIN_SIZE, in_few_directions, ranked_pairs, residuals_of
from .patterns import group_batches
from .ridge import Penalty
from .rows import Block
from .scale import Scale
from .trial import RulesTrial

# From this many rows on designs grow by sums, if the general rule has at most
# MAX_GROWN_TERMS columns. On text slopes are better up to some 8,000 rows.
GROWING_SCALES = ("quantile", "unit")
MIN_GROWN_ROWS = 3_000
MIN_GROWN_LINEAR_ROWS = 8_000
MAX_GROWN_TERMS = 2_000
JUDGING_ROWS_OF_MANY = 3_000
CURVE_SHARES_OF_MANY = (0.3, 1.0)  # of ramps, next to lines
# Share of the explained variance that finer curves must add.
MIN_FINER_GAIN = 0.01
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
# Conditions per feature of a pair. Eight are taken where they are clearly better than
# five: visits .410 to .415, stops .337 to .342, but a table of surveys .523 to .516.
PAIR_PEAKS = (5, 8)
SEARCH_PEAKS = 3  # conditions per feature while pairs are searched
AVERAGED_ROWS = 10_000  # on which averages of pairs are found
MAX_PAIRED_COLUMNS = 120  # of largest effect, among which pairs are searched
# Exceptions under the kernel's own prior are tried on few rows and with few centres,
# more of them next to linear terms; then there are as many as the rows allow and as
# MAX_GROWN_PRODUCTS (rows × columns²) can be paid for. Widths are shares of twice the
# variance, shares the weight of exceptions where the general rule has 1.
TRIAL_ROWS = 8_000
N_TRIAL_CENTERS = 300
N_LINEAR_CENTERS = 1_000
ROWS_PER_CENTER = 3
MAX_GROWN_PRODUCTS = 1.6e11
KERNEL_WIDTHS = (0.5,)
KERNEL_SHARES = (1.0,)
LINEAR_WIDTHS = (0.3, 0.5)
LINEAR_SHARES = (20.0,)
# Next to linear terms exceptions must add this share to the part of the labels'
# variance that is explained: on corel16k1 they lower the error by .4 %, which is 7 % of
# that part, and raise AP from .347 to .354.
MIN_EXPLAINED_GAIN = 0.01


def may_grow(scale: Scale, wishes: Wishes, n_rows: int) -> bool:
    """Whether there are rows enough, and columns few enough, to choose by sums."""
    if wishes.order == 1 or scale.name not in GROWING_SCALES:
        return False
    if len(scale.terms) > MAX_GROWN_TERMS:
        return False
    least = MIN_GROWN_ROWS if scale.name == "quantile" else MIN_GROWN_LINEAR_ROWS
    return n_rows >= least or bool(wishes.n_pairs)


def grow(
    scale: Scale,
    block: Block,
    Z: Matrix,
    w: Array,
    label_groups: Sequence[NDArray[np.intp]],
    wishes: Wishes,
    n_rows: int,
) -> Choice:
    """Choose a design for rows that are sorted by content and all count.

    Parameters
    ----------
    scale : Scale
    block : Block
        A sample of the rows.
    Z : (n, D) scaled rows of the block
    w : (n,) weights
    label_groups : labels that have the same weights
    wishes : Wishes
    n_rows : int
        Rows of the data.
    """
    growing = Growing(scale, block, Z=Z, w=w, label_groups=label_groups, wishes=wishes)
    general = growing.general()
    choice = general.choice
    if scale.name == "quantile":
        residuals = growing.residuals(general)
        finer = growing.with_finer_curves(general, residuals)
        if finer is not None:
            growing, general = finer
            residuals = growing.residuals(general)
        choice = growing.with_pairs(general, residuals)
    if wishes.n_rules == 0:
        return choice
    if wishes.n_rules is None:
        if len(choice.design.pairs.blocks) > PAIR_NUMBERS[0]:
            return choice  # of twelve such tables none took exceptions, a fifth of time
        return growing.with_kernel(choice, n_rows)
    return growing.with_rules(choice, wishes.n_rules)


class GeneralRule(NamedTuple):
    """The choice of a general rule, with the weights (P,) of all terms of the scale.

    Terms of weight 0 are not in its design.
    """

    choice: Choice
    weights: FloatArray


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
class Growing:
    """Designs for a sample of rows; all as in `grow`."""

    scale: Scale
    block: Block
    Z: Matrix
    w: Array
    label_groups: Sequence[NDArray[np.intp]]
    wishes: Wishes

    @cached_property
    def _search(self) -> RidgeSearch:
        return RidgeSearch.of(self.block)

    @cached_property
    def _halves(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Every other row or group of rows, and those between them."""
        rows = np.arange(len(self.w))
        if self.block.groups is None:
            return rows[::2], rows[1::2]
        is_second = self.block.groups % 2 == 1
        return rows[~is_second], rows[is_second]

    @cached_property
    def _judging(self) -> NDArray[np.intp]:
        """The rows that judge, from the second half."""
        second = self._halves[1]
        Y = asnumpy(self.block.Y[second])
        limit = min(JUDGING_ROWS_OF_MANY, len(second) // 2)
        groups = self.block.groups
        if groups is None:
            return second[stratified_rows(Y, limit)]
        rows_per_group = len(groups) / (groups.max() + 1)
        first_judges = second[stratified_rows(Y, int(limit / rows_per_group) + 1)]
        return whole_groups(groups, first_judges)

    def _columns(self, design: Design) -> BlockColumns:
        """The columns of a design, of all rows."""
        return BlockColumns(design.rows, self.Z, design.n_columns)

    @cached_property
    def _Z_single(self) -> Matrix:
        return cast(self.Z, np.float32)

    @cached_property
    def _terms(self) -> BlockColumns:
        """The columns of all terms, of all rows.

        In single precision, as those of pairs: their products take half of the time,
        and errors of judging rows differ in the seventh digit.
        """

        def of(Z: Matrix) -> Array:
            return dense(self.scale.general(Z, dtype=np.float32))

        return BlockColumns(of, self._Z_single, len(self.scale.terms), np.float32)

    def _columns_of_pairs(self, pairs: Pairs) -> BlockColumns:
        """The columns of pairs, of all rows."""

        def of(Z: Array) -> Array:
            return pairs.memberships(Z, self._scaling)

        return BlockColumns(of, self._Z_single, len(pairs), np.float32)

    @cached_property
    def _terms_judge(self) -> SumsJudge:
        return self._judge(self._terms)

    def _judge(
        self, columns: BlockColumns, before: SumsJudge | None = None
    ) -> SumsJudge:
        """The judge of some columns, or of those of another judge and then these."""
        return SumsJudge.of(
            columns,
            self.block,
            judging=self._judging,
            label_groups=self.label_groups,
            ridge=self.wishes.ridge,
            search=self._search,
            before=before,
        )

    # the general rule -----------------------------------------------------------------

    def general(self) -> GeneralRule:
        """The general rule, with the best shares of lines and ramps."""
        judge = self._terms_judge
        variances = self._terms.variances(self.w)
        tried = []
        for share, gap_share in self._shares():
            weights = self.scale.term_weights(variances, share, gap_share)
            tried.append((*judge.error(weights), weights))
        error, ridge, weights = min(tried, key=lambda each: each[0])
        kept = weights > 0
        design = self._without_rules(self.scale.keeping(kept), weights[kept])
        choice = Choice(design, ridge, error / judge.total_weight)
        return GeneralRule(choice, weights)

    def _without_rules(self, scale: Scale, term_weights: FloatArray) -> Design:
        """The design of a general rule alone."""
        no_rules = ExceptionRules(dense(self.Z[:0]), width=1.0, order=0)
        return Design(scale, no_rules, term_weights=term_weights)

    def _shares(self) -> list[tuple[float, float]]:
        """Shares of ramps to try, each with terms for gaps or without."""
        shares = CURVE_SHARES_OF_MANY if self.scale.has_lines else (1.0,)
        has_gaps = self.scale.is_gap is not None and bool(self.scale.is_gap.any())
        gap_shares = (1.0, 0.0) if has_gaps else (1.0,)
        return list(product(shares, gap_shares))

    def with_finer_curves(
        self, general: GeneralRule, residuals: FloatArray
    ) -> "tuple[Growing, GeneralRule] | None":
        """Designs with finer curves where residuals (n, L) ask for it, and the choice.

        They are chosen by the first half of the rows, and judged by rows of the second;
        None where they do not pay.
        """
        first = self._halves[0]
        X = self.block.X[first]
        scale = finer_scale(self.scale, X, residuals[first], self.Z, self.w)
        if scale is None:
            return None
        finer = replace(self, scale=scale)
        grown = finer.general()
        error = general.choice.error
        explained = self._null_error - error
        if grown.choice.error < error - MIN_FINER_GAIN * explained:
            return finer, grown
        return None

    # pairs ----------------------------------------------------------------------------

    def with_pairs(self, general: GeneralRule, residuals: FloatArray) -> Choice:
        """The choice with as many pairs as pay, or as the user asks for.

        ``residuals`` (n, L) are what the general rule leaves over.
        """
        choice = general.choice
        if self.wishes.n_pairs == 0:
            return choice
        U, column = self._searched()
        first, second = self._halves
        ranked = ranked_pairs(U[first], column, residuals[first])
        grown = self._judged_pairs(general, ranked)
        if grown is None:
            return choice
        n_pairs = grown.n_pairs
        by_all = ranked_pairs(U, column, residuals)[:n_pairs]
        by_second = ranked_pairs(U[second], column, residuals[second])[:n_pairs]

        def of(columns: Sequence[tuple[int, int]]) -> Pairs:
            return self._pairs(columns, grown.n_peaks)

        design = replace(choice.design, pairs=of(by_all), pair_weight=grown.weight)
        return replace(
            choice,
            design=design,
            ridge=grown.ridge,
            error=grown.error,
            folds=(
                (second, of(ranked[:n_pairs])),
                (first, of(by_second)),
            ),
        )

    def _pairs(self, columns: Sequence[tuple[int, int]], n_peaks: int) -> Pairs:
        """The rules of pairs of columns, with their means over the sample."""
        pairs = Pairs.of(self._scaling, columns, n_peaks)
        rows = slice(0, AVERAGED_ROWS)
        return pairs.averaged(self.Z[rows], self._scaling, self.w[rows])

    @property
    def _scaling(self) -> Scaling:
        if self.scale.scaling is None:
            raise ValueError("pairs need a scale of percentiles")
        return self.scale.scaling

    def _judged_pairs(
        self, general: GeneralRule, ranked: Sequence[tuple[int, int]]
    ) -> GrownPairs | None:
        """How many of the ranked pairs are taken, and how fine; None for none.

        Finer ones, and more than the fewest, are only looked at where those pay.
        """
        if not ranked:
            return None
        wished = self.wishes.n_pairs
        if wished is not None:
            return self._ever_finer(general, ranked, wished, error=np.inf)[-1]
        fewest, *more = PAIR_NUMBERS
        error = general.choice.error
        few = self._ever_finer(general, ranked, fewest, error=error)
        if not few:
            return None
        if few[-1].n_pairs == len(ranked):
            return few[-1]
        grown = []
        for pairs in few:
            many = self._grown_pairs(general, ranked, more, pairs.n_peaks)
            grown.append(self._best_pairs(pairs.error, many) or pairs)
        return min(grown, key=lambda pairs: pairs.error)

    def _ever_finer(
        self,
        general: GeneralRule,
        ranked: Sequence[tuple[int, int]],
        n_pairs: int,
        *,
        error: float,
    ) -> list[GrownPairs]:
        """So many pairs, ever finer as long as an error falls clearly."""
        finer: list[GrownPairs] = []
        for n_peaks in PAIR_PEAKS:
            pairs = self._grown_pairs(general, ranked, [n_pairs], n_peaks)[0]
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
            if pairs.error < error - MIN_PAIR_GAIN * (self._null_error - error):
                error = pairs.error
                taken = pairs
        return taken

    def _grown_pairs(
        self,
        general: GeneralRule,
        ranked: Sequence[tuple[int, int]],
        numbers: Sequence[int],
        n_peaks: int,
    ) -> list[GrownPairs]:
        """The general rule with some numbers of pairs, of the usual weight, best ridge.

        The columns of fewer pairs are the first ones of more: one judge has them all.
        """
        pairs = self._pairs(ranked[: max(numbers)], n_peaks)
        ends = np.append(pairs.starts[1:], len(pairs))
        ends = ends[ends <= max(MAX_PAIR_RULES, ends[0])]
        numbers = sorted({min(number, len(ends)) for number in numbers})
        pairs = pairs.first_rules(int(ends[numbers[-1] - 1]))
        columns = self._columns_of_pairs(pairs)
        judge = self._judge(columns, before=self._terms_judge)
        variances = columns.variances(self.w)
        grown = []
        for number in numbers:
            end = ends[number - 1]
            weight = PAIR_SHARE / max(float(variances[:end].sum()), MIN_SIZE)
            of_pairs = np.where(np.arange(len(pairs)) < end, weight, 0.0)
            weights = np.concatenate([general.weights, of_pairs])
            error, ridge = judge.error(weights)
            grown.append(
                GrownPairs(
                    n_pairs=number,
                    n_peaks=n_peaks,
                    weight=weight,
                    error=error / judge.total_weight,
                    ridge=ridge,
                )
            )
        return grown

    def residuals(self, general: GeneralRule) -> FloatArray:
        """What a general rule leaves over of the labels, (n, L), times weights.

        It is 0 where nothing was observed. These are residuals of the fit, of thousands
        of rows: leaving each row out took a tenth of the time and moved hardly a pair.
        """
        roots = np.sqrt(general.weights)
        every_term = np.arange(len(roots))
        penalty = Penalty(general.choice.ridge)
        residuals = np.zeros(self.block.Y.shape)
        for batch in group_batches(self.label_groups, len(roots)):
            sums = self._terms.moments(self.block, batch)
            for labels, moments in zip(batch, sums, strict=True):
                targets = self.block.of_labels(labels)
                if int((targets.w > 0).sum()) < 2:
                    continue
                fitted = moments.weighted(every_term, roots).solve(penalty)
                # numbers of weighted terms, turned into those of the terms themselves
                own = replace(
                    fitted,
                    B=put(roots, fitted.B)[:, None] * fitted.B,
                    mean=moments.phi / moments.total,
                )
                residuals[:, labels] = residuals_of(own, self._terms, targets)
        return in_few_directions(residuals)

    def _searched(self) -> tuple[FloatArray, NDArray[np.intp]]:
        """Memberships (n, C) of the conditions that are searched for pairs.

        Also the column of each, (C,). A missing value belongs to no condition.
        """
        is_searched = self._scaling.n_values > 1
        if self.scale.is_gap is not None:
            is_searched &= ~self.scale.is_gap
        is_searched[len(is_searched) - self.scale.n_given :] = False
        columns = np.flatnonzero(is_searched)
        if len(columns) > MAX_PAIRED_COLUMNS:
            strongest = np.argsort(-self._strengths()[columns], kind="stable")
            columns = np.sort(columns[strongest[:MAX_PAIRED_COLUMNS]])
        conditions = Conditions.of(self._scaling, columns.tolist(), SEARCH_PEAKS)
        U = asnumpy(conditions.memberships(self.Z, self._scaling))
        return np.nan_to_num(U).astype(np.float32), conditions.column

    def _strengths(self) -> FloatArray:
        """How well the best term of each column tells the labels alone, (D,)."""
        T = asnumpy(self.scale.general(self.Z))
        centred = T - T.mean(axis=0)
        Y = asnumpy(self.block.Y)
        covariances = centred.T @ (Y - Y.mean(axis=0))
        variances = np.maximum((centred * centred).sum(axis=0), MIN_SIZE)
        strengths = np.zeros(self.Z.shape[1])
        of_terms = (covariances**2).sum(axis=1) / variances
        np.maximum.at(strengths, self.scale.terms.feature, of_terms)
        return strengths

    # exceptions -----------------------------------------------------------------------

    def with_kernel(self, choice: Choice, n_rows: int) -> Choice:
        """The choice with exceptions under the kernel's own prior, if they pay.

        They are judged with centres that are not among the judging rows: a row that is
        its own centre looks as if it could be told. Then there are more of them.
        """
        n_centers = self._n_centers(choice.design, n_rows)
        if n_centers < N_TRIAL_CENTERS:
            return choice
        grown = self._first_rows(TRIAL_ROWS)._best_kernel(choice)
        if grown is None:
            return choice
        if not grown.design.rules.has_kernel_prior:
            return grown  # under an ordinary prior, more of them would weigh more
        rules = replace(grown.design.rules, centers=self._filled(np.arange(n_centers)))
        return replace(grown, design=replace(grown.design, rules=rules))

    def _n_centers(self, design: Design, n_rows: int) -> int:
        """How many exceptions there may be: fewer than rows, and at bounded cost."""
        affordable = int((MAX_GROWN_PRODUCTS / n_rows) ** 0.5) - design.first_rule
        return min(MAX_CENTERS, n_rows // ROWS_PER_CENTER, len(self.w), affordable)

    def _best_kernel(self, choice: Choice) -> Choice | None:
        """The choice with exceptions of the best width and weight, if they pay."""
        widths = LINEAR_WIDTHS if self._is_linear else KERNEL_WIDTHS
        if self.wishes.width_scale is not None:
            widths = (self.wishes.width_scale,)
        shares = LINEAR_SHARES if self._is_linear else KERNEL_SHARES
        error = np.inf
        tried: list[Choice] = []
        for width in widths:
            trial = self._trial(choice, self._kernel_rules(width))
            if not tried:
                error = trial.error_without_rules()
            tried.append(trial.best(choice, shares))
        best = min(tried, key=lambda each: each.error)
        return best if best.error < error - self._min_gain(error) else None

    def _first_rows(self, n_rows: int) -> "Growing":
        """The same for fewer rows."""
        rows = slice(0, n_rows)
        return replace(
            self, block=self.block.take(rows), Z=self.Z[rows], w=self.w[rows]
        )

    @property
    def _is_linear(self) -> bool:
        return self.scale.terms.low is None

    def _min_gain(self, error: float) -> float:
        """By how much exceptions must lower an error."""
        if not self._is_linear:
            return MIN_GAINS[0] * error
        return MIN_EXPLAINED_GAIN * (self._null_error - error)

    @cached_property
    def _null_error(self) -> float:
        """Error of the base rates alone."""
        nothing = BlockColumns(self._nothing, self.Z, n_columns=1)
        judge = self._judge(nothing)
        return judge.error(np.ones(1))[0] / judge.total_weight

    def _nothing(self, Z: Matrix) -> Array:
        """A column of zeros (m, 1)."""
        return namespace(self.block.Y).zeros((Z.shape[0], 1), like=self.block.Y)

    def _filled(self, rows: NDArray[np.intp]) -> Array:
        """Some rows as centres."""
        return dense(self.scale.terms.filled(self.Z[rows]))

    def _kernel_rules(self, width_scale: float) -> ExceptionRules:
        """Exceptions that sit at rows which do not judge.

        They have the kernel's own prior, or an ordinary one for the minimum and for a
        coupling.
        """
        others = np.setdiff1d(self._halves[0], self._judging)
        n_centers = N_LINEAR_CENTERS if self._is_linear else N_TRIAL_CENTERS
        return self._rules(self._filled(others[:n_centers]), width_scale, prior=True)

    def _rules(
        self, centers: Array, width_scale: float, *, prior: bool
    ) -> ExceptionRules:
        """Exceptions of order 0."""
        is_product = self.wishes.tnorm == "product"
        return ExceptionRules(
            centers,
            width=width_scale * 2.0 * self.scale.variance,
            order=0,
            firing="plain" if is_product else "minimum",
            has_kernel_prior=prior and is_product and self.wishes.may_have_prior,
        )

    def with_rules(self, choice: Choice, n_rules: int) -> Choice:
        """The choice with so many exceptions, wherever the rows are."""
        centers = Clusters(self.Z, self.w, self.scale).centers(n_rules)
        width = self.wishes.width_scale or WIDTH_ZERO_ORDER
        rules = self._rules(centers, width, prior=False)
        return self._trial(choice, rules).best(choice, RULE_SHARES)

    def _trial(self, choice: Choice, rules: ExceptionRules) -> RulesTrial:
        """A choice with some exceptions, judged."""
        design = replace(choice.design, rules=rules)
        columns = self._columns(design)
        return RulesTrial(design, self._judge(columns), self._size(design, columns))

    def _size(self, design: Design, columns: BlockColumns) -> float:
        """Mean squared distance of rows from their mean, in what exceptions add."""
        if design.prior is None:
            variances = columns.variances(self.w)[design.first_rule :]
            return max(float(variances.sum()), MIN_SIZE)
        sample = self.Z[self._judging]
        filled = dense(self.scale.terms.filled(sample))
        K = replace(design, rules=replace(design.rules, centers=filled))
        strengths = asnumpy(K.firing(sample))
        return max(1.0 - float(strengths.mean()), MIN_SIZE)
