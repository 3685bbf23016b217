"""Exceptions where there are thousands of rows: whether they pay, and how many.

Symbols: n rows, D features, Z (n, D) scaled rows.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, asnumpy, dense
from .choice import MAX_CENTERS, Choice
from .clusters import Clusters
from .design import Design, ExceptionRules
from .judge import BlockColumns
from .judged_sample import JudgedSample
from .kernel_search import MIN_GAINS, RULE_SHARES, WIDTH_ZERO_ORDER
from .pair_scores import MIN_SIZE
from .trial import RulesTrial

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


@dataclass(frozen=True, eq=False)
class RulesSearch:
    """Exceptions next to what was chosen for a sample of rows."""

    sample: JudgedSample
    choice: Choice

    def with_kernel(self, n_rows: int) -> Choice:
        """The choice with exceptions under the kernel's own prior, if they pay.

        They are judged with centres that are not among the judging rows: a row that is
        its own centre looks as if it could be told. Then there are more of them.
        """
        n_centers = self._n_centers(n_rows)
        if n_centers < N_TRIAL_CENTERS:
            return self.choice
        on_few = replace(self, sample=self.sample.first_rows(TRIAL_ROWS))
        grown = on_few._best_kernel()
        if grown is None:
            return self.choice
        if not grown.design.rules.has_kernel_prior:
            return grown  # under an ordinary prior, more of them would weigh more
        rules = replace(grown.design.rules, centers=self._filled(np.arange(n_centers)))
        return replace(grown, design=replace(grown.design, rules=rules))

    def _n_centers(self, n_rows: int) -> int:
        """How many exceptions there may be: fewer than rows, and at bounded cost."""
        n_columns = int((MAX_GROWN_PRODUCTS / n_rows) ** 0.5)
        affordable = n_columns - self.choice.design.first_rule
        enough = min(n_rows // ROWS_PER_CENTER, len(self.sample.w))
        return min(MAX_CENTERS, enough, affordable)

    def _best_kernel(self) -> Choice | None:
        """The choice with exceptions of the best width and weight, if they pay."""
        widths = LINEAR_WIDTHS if self._is_linear else KERNEL_WIDTHS
        if self.sample.wishes.width_scale is not None:
            widths = (self.sample.wishes.width_scale,)
        shares = LINEAR_SHARES if self._is_linear else KERNEL_SHARES
        error = np.inf
        tried: list[Choice] = []
        for width in widths:
            trial = self._trial(self._kernel_rules(width))
            if not tried:
                error = trial.error_without_rules()
            tried.append(trial.best(self.choice, shares))
        best = min(tried, key=lambda each: each.error)
        return best if best.error < error - self._min_gain(error) else None

    @property
    def _is_linear(self) -> bool:
        return self.sample.scale.terms.low is None

    def _min_gain(self, error: float) -> float:
        """By how much exceptions must lower an error."""
        if not self._is_linear:
            return MIN_GAINS[0] * error
        return MIN_EXPLAINED_GAIN * (self.sample.null_error - error)

    def _filled(self, rows: NDArray[np.intp]) -> Array:
        """Some rows as centres."""
        return dense(self.sample.scale.terms.filled(self.sample.Z[rows]))

    def _kernel_rules(self, width_scale: float) -> ExceptionRules:
        """Exceptions that sit at rows which do not judge.

        They have the kernel's own prior, or an ordinary one for the minimum and for a
        coupling.
        """
        others = np.setdiff1d(self.sample.halves[0], self.sample.judging)
        n_centers = N_LINEAR_CENTERS if self._is_linear else N_TRIAL_CENTERS
        return self._rules(self._filled(others[:n_centers]), width_scale, prior=True)

    def _rules(
        self, centers: Array, width_scale: float, *, prior: bool
    ) -> ExceptionRules:
        """Exceptions of order 0."""
        wishes = self.sample.wishes
        is_product = wishes.tnorm == "product"
        return ExceptionRules(
            centers,
            width=width_scale * 2.0 * self.sample.scale.variance,
            order=0,
            firing="plain" if is_product else "minimum",
            has_kernel_prior=prior and is_product and wishes.may_have_prior,
        )

    def with_rules(self, n_rules: int) -> Choice:
        """The choice with so many exceptions, wherever the rows are."""
        sample = self.sample
        centers = Clusters(sample.Z, sample.w, sample.scale).centers(n_rules)
        width = self.sample.wishes.width_scale or WIDTH_ZERO_ORDER
        rules = self._rules(centers, width, prior=False)
        return self._trial(rules).best(self.choice, RULE_SHARES)

    def _trial(self, rules: ExceptionRules) -> RulesTrial:
        """The choice with some exceptions, judged."""
        design = replace(self.choice.design, rules=rules)
        columns = BlockColumns(design.rows, self.sample.Z, design.n_columns)
        judge = self.sample.judge(columns)
        return RulesTrial(design, judge, self._size(design, columns))

    def _size(self, design: Design, columns: BlockColumns) -> float:
        """Mean squared distance of rows from their mean, in what exceptions add."""
        if design.prior is None:
            variances = columns.variances(self.sample.w)[design.first_rule :]
            return max(float(variances.sum()), MIN_SIZE)
        sample = self.sample.Z[self.sample.judging]
        filled = dense(self.sample.scale.terms.filled(sample))
        K = replace(design, rules=replace(design.rules, centers=filled))
        strengths = asnumpy(K.firing(sample))
        return max(1.0 - float(strengths.mean()), MIN_SIZE)
