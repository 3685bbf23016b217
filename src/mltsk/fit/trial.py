"""A design with exceptions on trial: of which weight, and with what error."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .choice import Choice
from .design import Design
from .judge import SumsJudge


@dataclass(frozen=True, eq=False)
class RulesTrial:
    """A design with exceptions of weight 1, its judge, and the size of what they add.

    ``size`` is the mean squared distance of rows from their mean in the exceptions.
    """

    design: Design
    judge: SumsJudge
    size: float

    def error_without_rules(self) -> float:
        """Mean error of the same design without its exceptions."""
        weights = np.ones(self.design.n_columns)
        weights[self.design.first_rule :] = 0.0
        return self.judge.error(weights)[0] / self.judge.total_weight

    def best(self, choice: Choice, shares: Sequence[float]) -> Choice:
        """A choice with these exceptions, of the best of some weights."""
        grown = [self._with_share(choice, share) for share in shares]
        return min(grown, key=lambda each: each.error)

    def _with_share(self, choice: Choice, share: float) -> Choice:
        """A choice with these exceptions, of a weight where the general rule has 1."""
        weight = share / self.size
        weights = np.ones(self.design.n_columns)
        weights[self.design.first_rule :] = weight
        error, ridge = self.judge.error(weights, self.design.prior)
        return replace(
            choice,
            design=replace(self.design, rule_weight=weight),
            ridge=ridge,
            error=error / self.judge.total_weight,
            width_scale=self.design.rules.width / (2.0 * self.design.scale.variance),
            share=share,
        )
