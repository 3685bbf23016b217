"""The general rule where there are thousands of rows, and what it leaves over.

Symbols: n rows, D features, L labels, P terms of the scale.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from ..core.arrays import Array, FloatArray, Matrix, dense, put
from .choice import Choice
from .design import Design, ExceptionRules
from .finer import finer_scale
from .judge import BlockColumns, SumsJudge
from .judged_sample import JudgedSample
from .pair_scores import in_few_directions, residuals_of
from .patterns import group_batches
from .ridge import Penalty
from .scale import Scale

CURVE_SHARES_OF_MANY = (0.3, 1.0)  # of ramps, next to lines
# Share of the explained variance that finer curves must add.
MIN_FINER_GAIN = 0.01


class GeneralRule(NamedTuple):
    """The choice of a general rule, with the weights (P,) of all terms of the scale.

    Terms of weight 0 are not in its design.
    """

    choice: Choice
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class Curves:
    """General rules for a sample of rows, on its scale."""

    sample: JudgedSample

    @cached_property
    def terms(self) -> BlockColumns:
        """The columns of all terms, of all rows.

        In single precision, as those of pairs: their products take half of the time,
        and errors of judging rows differ in the seventh digit.
        """

        def of(Z: Matrix) -> Array:
            return dense(self.sample.scale.general(Z, dtype=np.float32))

        n_terms = len(self.sample.scale.terms)
        return BlockColumns(of, self.sample.Z_single, n_terms, np.float32)

    @cached_property
    def judge(self) -> SumsJudge:
        """The judge of all terms."""
        return self.sample.judge(self.terms)

    def general(self) -> GeneralRule:
        """The general rule, with the best shares of lines and ramps."""
        return self._general

    @cached_property
    def _general(self) -> GeneralRule:
        judge = self.judge
        variances = self.terms.variances(self.sample.w)
        tried = []
        for share, gap_share in self._shares():
            weights = self.sample.scale.term_weights(variances, share, gap_share)
            tried.append((*judge.error(weights), weights))
        error, ridge, weights = min(tried, key=lambda each: each[0])
        kept = weights > 0
        design = self._without_rules(self.sample.scale.keeping(kept), weights[kept])
        choice = Choice(design, ridge, error / judge.total_weight)
        return GeneralRule(choice, weights)

    def _without_rules(self, scale: Scale, term_weights: FloatArray) -> Design:
        """The design of a general rule alone."""
        no_rules = ExceptionRules(dense(self.sample.Z[:0]), width=1.0, order=0)
        return Design(scale, no_rules, term_weights=term_weights)

    def _shares(self) -> list[tuple[float, float]]:
        """Shares of ramps to try, each with terms for gaps or without."""
        scale = self.sample.scale
        shares = CURVE_SHARES_OF_MANY if scale.has_lines else (1.0,)
        has_gaps = scale.is_gap is not None and bool(scale.is_gap.any())
        gap_shares = (1.0, 0.0) if has_gaps else (1.0,)
        return list(product(shares, gap_shares))

    def finer(self, general: GeneralRule, residuals: FloatArray) -> "Curves | None":
        """General rules with finer curves where residuals (n, L) ask for it.

        They are chosen by the first half of the rows, and judged by rows of the second;
        None where they do not pay.
        """
        sample = self.sample
        first = sample.halves[0]
        X = sample.block.X[first]
        scale = finer_scale(sample.scale, X, residuals[first], sample.Z, sample.w)
        if scale is None:
            return None
        finer = Curves(replace(self.sample, scale=scale))
        error = general.choice.error
        explained = self.sample.null_error - error
        pays = finer.general().choice.error < error - MIN_FINER_GAIN * explained
        return finer if pays else None

    def residuals(self, general: GeneralRule) -> FloatArray:
        """What a general rule leaves over of the labels, (n, L), times weights.

        It is 0 where nothing was observed. These are residuals of the fit, of thousands
        of rows: leaving each row out took a tenth of the time and moved hardly a pair.
        """
        roots = np.sqrt(general.weights)
        every_term = np.arange(len(roots))
        penalty = Penalty(general.choice.ridge)
        residuals = np.zeros(self.sample.block.Y.shape)
        for batch in group_batches(self.sample.label_groups, len(roots)):
            sums = self.terms.moments(self.sample.block, batch)
            for labels, moments in zip(batch, sums, strict=True):
                targets = self.sample.block.of_labels(labels)
                if int((targets.w > 0).sum()) < 2:
                    continue
                fitted = moments.weighted(every_term, roots).solve(penalty)
                # numbers of weighted terms, turned into those of the terms themselves
                own = replace(
                    fitted,
                    B=put(roots, fitted.B)[:, None] * fitted.B,
                    mean=moments.phi / moments.total,
                )
                residuals[:, labels] = residuals_of(own, self.terms, targets)
        return in_few_directions(residuals)
