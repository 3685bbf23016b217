"""One rule of the paper as a value: its Gaussians, and its lines. (2) (14)"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from ..core.arrays import FloatArray
from ..exceptions import InputError
from ..text import plural
from .page import Node, Page
from .wording import name, percent

PLAIN_NAME = re.compile(r"\w[\w.-]*")
DIGITS = 4  # of numbers in printed rules, unless the caller asks for more
ALL_DIGITS = 17  # whoever reads so many has the same number


@dataclass(frozen=True)
class GaussianCondition:
    """x is Gauss(c, δ): a membership of exp(-(x - c)² / (2δ²)).

    ``separation`` is how far c lies from the middle of all rules, in units of δ: where
    it is small, the condition tells rules hardly apart.

    Examples
    --------
    >>> condition = GaussianCondition("age", center=50.0, width=10.0, separation=0.5)
    >>> print(condition, condition.membership([50.0, 60.0]).round(3))
    age is Gauss(50, 10) [1.    0.607]
    """

    feature: str
    center: float
    width: float
    separation: float

    def membership(self, x: FloatArray) -> FloatArray:
        """Membership of values x of the feature, an array of their shape."""
        distance = (np.asarray(x) - self.center) / self.width
        return np.exp(-(distance**2) / 2)

    def text(self, digits: int = DIGITS) -> str:
        """The condition, such as ``age is Gauss(50, 10)``."""
        center = printed(self.center, digits)
        width = printed(self.width, digits)
        return f"{name(self.feature)} is Gauss({center}, {width})"

    def __str__(self) -> str:
        return self.text()


@dataclass(frozen=True)
class LinearConsequent:
    """f = p0 + p1·x1 + …: what a rule says about one label.

    ``sizes`` are what terms change over the range of their feature.

    Examples
    --------
    >>> line = LinearConsequent("gout", 0.2, ("age", "uric"), (-0.01, 1.5), (0.6, 3.0))
    >>> print(line)
    f_gout = 0.2 - 0.01·age + 1.5·uric
    >>> print(line.formula(top=1))
    f_gout = 0.2 + 1.5·uric + 1 smaller term
    """

    label: str
    intercept: float
    features: tuple[str, ...]
    coefficients: tuple[float, ...]
    sizes: tuple[float, ...]

    def terms(self, top: int | None = None) -> list[tuple[str, float]]:
        """Features with their p, in order, without those of 0.

        All, or the ``top`` that change f most over the range of their feature.
        """
        shown = set(largest(self.sizes, top))
        terms = []
        for d, (feature, p) in enumerate(
            zip(self.features, self.coefficients, strict=True)
        ):
            if p != 0 and d in shown:
                terms.append((feature, p))
        return terms

    def n_left_out(self, top: int | None) -> int:
        """How many terms other than 0 are not among the ``top``."""
        return len(self.terms()) - len(self.terms(top))

    def formula(self, top: int | None = None, digits: int = DIGITS) -> str:
        """The line, such as ``f_gout = 0.2 + 1.5·uric - 0.01·age``."""
        text = f"f_{symbol(self.label)} = {printed(self.intercept, digits)}"
        for feature, p in self.terms(top):
            sign = "-" if p < 0 else "+"
            text += f" {sign} {printed(abs(p), digits)}·{symbol(feature)}"
        n_more = self.n_left_out(top)
        return f"{text} + {plural(n_more, 'smaller term')}" if n_more else text

    def __str__(self) -> str:
        return self.formula()


@dataclass(frozen=True)
class FuzzyRule(Page):
    """A rule of the paper: shared conditions, and a line per label.

    ``index`` counts from 0; ``share`` of the training data is governed by it.

    Examples
    --------
    >>> condition = GaussianCondition("age", center=50.0, width=10.0, separation=0.5)
    >>> line = LinearConsequent("gout", 0.2, ("age",), (-0.01,), (0.6,))
    >>> print(FuzzyRule(0, 1.0, [condition], [line]))
    Rule 1 — governs 100 % of the data
      IF age is Gauss(50, 10)
      THEN
        f_gout = 0.2 - 0.01·age
    """

    index: int
    share: float
    conditions: Sequence[GaussianCondition]
    consequents: Sequence[LinearConsequent]

    def shown_conditions(self, top: int | None = None) -> list[GaussianCondition]:
        """All conditions, or the ``top`` that tell rules apart most, in order."""
        shown = largest([condition.separation for condition in self.conditions], top)
        return [self.conditions[d] for d in sorted(shown)]

    def nodes(
        self,
        top: int | None = None,
        max_labels: int | None = None,
        digits: int = DIGITS,
    ) -> list[Node]:
        """The rule as a page, with the ``top`` conditions and terms."""
        shown = self.shown_conditions(top)
        words = " and ".join(condition.text(digits) for condition in shown)
        n_more = len(self.conditions) - len(shown)
        if n_more:
            words += f" and {plural(n_more, 'more condition')}"
        lines = []
        for consequent in self.consequents[:max_labels]:
            lines.append(Node(consequent.formula(top, digits)))
        title = f"Rule {self.index + 1} — governs {percent(self.share)} of the data"
        parts = (Node(f"IF {words}"), Node("THEN", tuple(lines)))
        return [Node(title, parts)]

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """The rule as plain data."""
        conditions = []
        for condition in self.shown_conditions(top):
            conditions.append(
                {
                    "feature": condition.feature,
                    "center": condition.center,
                    "width": condition.width,
                }
            )
        lines = []
        for line in self.consequents:
            lines.append(
                {
                    "label": line.label,
                    "intercept": line.intercept,
                    "terms": [list(term) for term in line.terms(top)],
                }
            )
        return {"share": self.share, "if": conditions, "then": lines}


def printed(x: float, digits: int = DIGITS) -> str:
    """A number of a printed rule.

    >>> printed(2 / 3), printed(2 / 3, digits=17)
    ('0.6667', '0.66666666666666663')
    """
    check_count(digits, "digits")
    return f"{x:.{digits}g}"


def symbol(text: str) -> str:
    """A name as it stands in a formula: in quotes unless it is one plain word.

    >>> symbol("age"), symbol("blood pressure")
    ('age', "'blood pressure'")
    """
    one_line = name(text)
    return one_line if PLAIN_NAME.fullmatch(one_line) else f"'{one_line}'"


def largest(sizes: Sequence[float], top: int | None) -> list[int]:
    """Positions of the ``top`` largest sizes; of all where ``top`` is None."""
    if top is not None:
        check_count(top, "top")
    order = np.argsort(-np.asarray(sizes), kind="stable")
    return order[:top].tolist()


def check_count(count: object, parameter: str) -> None:
    """Refuse what is no number of things to show."""
    if not isinstance(count, Integral) or count < 1:
        raise InputError(
            f"{parameter} must be a whole number of at least 1, got {count!r}."
        )
