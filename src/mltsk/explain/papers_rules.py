"""Rules in the paper's own form: Gaussians in the IF-part, lines in the THEN-part. (14)

Symbols: K rules, D features, L labels; c, δ (K, D) of a membership
exp(-(x - c)² / (2δ²)) (2); p0 (K, L) and p (K, D, L), the consequents (12).

    IF x1 is Gauss(c, δ) and … THEN f_l = p0 + p1·x1 + …                        (14)

The score of label l is the sum of f_l over the rules, each times its firing. (16)
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..core.arrays import FloatArray
from ..exceptions import InputError, optional
from ..system import FuzzySystem
from ..text import plural
from .latex_rules import rules_as_latex
from .linear_rule import (
    ALL_DIGITS,
    DIGITS,
    FuzzyRule,
    GaussianCondition,
    LinearConsequent,
    check_count,
)
from .page import Node, Page, left_out
from .subjects import Index
from .wording import number, positions

if TYPE_CHECKING:
    import pandas as pd

MAX_FEATURES_WHOLE = 12  # a rule of no more is printed whole
SHOWN_OF_MANY = 5  # conditions, and terms of a line, of a longer rule
MAX_SHOWN_LINES = 20  # labels of a rule, unless the caller asks for more
HOW_RULES_FIRE = (
    "Gauss(c, δ) is the membership exp(-(x - c)² / (2δ²)). A rule fires by the product "
    "of its memberships, divided by the sum of these products over all rules. The "
    "score of a label is the sum of its f over the rules, each times its firing."
)
WHERE_NOTHING_FIRES = (
    "Where all products are 0 to the computer, no rule fires and scores are 0."
)
SCALES = {
    "units": "Values are in the units of the data.",
    "paper": "Values are on the paper's scale: 0 is the least of a feature, 1 the "
    "largest.",
}
ROUNDED = (
    "Numbers are rounded here; digits=17 prints all of them, and to_frame() and "
    "to_dict() have them."
)


def fuzzy_rules(system: FuzzySystem, *, strict: bool = False) -> "FuzzyRules":
    """The rules of a system of the paper, in the units of the data.

    Parameters
    ----------
    system : FuzzySystem
        One whose rules have lines and which has no general rule, on a straight scale:
        ``PaperMLTSK(…).fit(X, y).system_``.
    strict : bool, default=False
        Whether a label needs more than its threshold.

    Examples
    --------
    >>> from mltsk import PaperMLTSK
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=60, n_features=2, random_state=0)
    >>> model = PaperMLTSK(2, width_scale=10, correlation_weight=0.01)
    >>> fuzzy_rules(model.fit(data.X, data.Y).system_)
    <FuzzyRules: 2 rules, 2 features, 5 labels>
    """
    if not system.is_papers:
        raise InputError(
            "These rules have another form than the paper's: `rule_base` reads them."
        )
    K, D, L = system.shape
    return FuzzyRules(
        system=system,
        scale="units",
        strict=strict,
        kept_rules=np.arange(K),
        kept_features=np.arange(D),
        kept_labels=np.arange(L),
    )


@dataclass(frozen=True, eq=False, repr=False)
class FuzzyRules(Page, Sequence[FuzzyRule]):
    """Rules as the paper writes them; ``str()`` prints them.

    A sequence of `FuzzyRule`. ``rules[:2]``, `for_label` and `for_feature` leave out
    everything else; `on_paper_scale` has features from 0 to 1, as the fit sees them.

    Examples
    --------
    >>> from mltsk import PaperMLTSK
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=60, n_features=2, random_state=0)
    >>> model = PaperMLTSK(2, width_scale=10, correlation_weight=0.01)
    >>> rules = model.fit(*data.frames()).rules_
    >>> print(rules[0].conditions[0])
    x1 is Gauss(0.1415, 0.6859)
    """

    system: FuzzySystem
    scale: str
    strict: bool
    kept_rules: Index
    kept_features: Index
    kept_labels: Index

    # numbers ----------------------------------------------------------------------

    @cached_property
    def lines(self) -> tuple[FloatArray, FloatArray]:
        """Slope and constant (D,) of z = slope · x + constant on the paper's scale."""
        n_features = self.system.shape[1]
        scaling = self.system.scaling
        if self.scale == "paper" or scaling is None:
            return np.ones(n_features), np.zeros(n_features)
        low = scaling.values[:, 0]
        high = scaling.values[:, -1]
        z_low, z_high = scaling.apply(np.stack([low, high]))
        is_line = high > low
        run = np.where(is_line, high - low, 1.0)
        slope = np.where(is_line, (z_high - z_low) / run, 1.0)
        return slope, z_low - slope * low

    @property
    def centers(self) -> FloatArray:
        """c of (2), (n_rules, n_features)."""
        slope, constant = self.lines
        return self._kept((self.system.centers - constant) / slope)

    @property
    def widths(self) -> FloatArray:
        """δ of (2), (n_rules, n_features)."""
        slope, _ = self.lines
        return self._kept(np.sqrt(self.system.widths / 2) / slope)

    @property
    def intercepts(self) -> FloatArray:
        """p0 of (14), (n_rules, n_labels)."""
        _, constant = self.lines
        coef = self.system.coef
        p0 = coef[:, 0] + np.einsum("d,kdl->kl", constant, coef[:, 1:])
        return p0[np.ix_(self.kept_rules, self.kept_labels)]

    @property
    def slopes(self) -> FloatArray:
        """p1, p2, … of (14), (n_rules, n_features, n_labels)."""
        slope, _ = self.lines
        p = self.system.coef[:, 1:] * slope[:, None]
        return p[np.ix_(self.kept_rules, self.kept_features, self.kept_labels)]

    @property
    def sizes(self) -> FloatArray:
        """What terms change over the range of their feature, shaped as `slopes`."""
        kept = np.ix_(self.kept_rules, self.kept_features, self.kept_labels)
        return np.abs(self.system.coef[:, 1:][kept])

    @property
    def _separation(self) -> FloatArray:
        """How far each condition is from the middle of the rules, in its own δ."""
        middle = self.centers.mean(axis=0)
        return np.abs(self.centers - middle) / self.widths

    def _kept(self, numbers: FloatArray) -> FloatArray:
        return numbers[np.ix_(self.kept_rules, self.kept_features)]

    # parts ------------------------------------------------------------------------

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the features in these rules."""
        return tuple(self.system.feature_names[d] for d in self.kept_features)

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels."""
        return tuple(self.system.label_names[j] for j in self.kept_labels)

    @property
    def on_paper_scale(self) -> "FuzzyRules":
        """The same rules for features that go from 0 to 1."""
        return replace(self, scale="paper")

    def for_label(self, *names: str) -> "FuzzyRules":
        """The same rules for some labels only."""
        kept = positions(self.label_names, names, self.kept_labels, "label")
        return replace(self, kept_labels=kept)

    def for_feature(self, *names: str) -> "FuzzyRules":
        """The same rules with what they say about some features only."""
        kept = positions(self.feature_names, names, self.kept_features, "feature")
        return replace(self, kept_features=kept)

    def __len__(self) -> int:
        return len(self.kept_rules)

    @overload
    def __getitem__(self, i: int) -> FuzzyRule: ...
    @overload
    def __getitem__(self, i: slice) -> "FuzzyRules": ...
    def __getitem__(self, i: int | slice) -> "FuzzyRule | FuzzyRules":
        if isinstance(i, slice):
            return replace(self, kept_rules=self.kept_rules[i])
        one = replace(self, kept_rules=self.kept_rules[[i]])
        k = int(one.kept_rules[0])
        return FuzzyRule(
            index=k,
            share=float(self.system.rule_weights[k]),
            conditions=tuple(one._conditions()),
            consequents=tuple(one._consequents()),
        )

    def _conditions(self) -> list[GaussianCondition]:
        """Conditions of a single rule."""
        numbers = zip(
            self.feature_names,
            self.centers[0].tolist(),
            self.widths[0].tolist(),
            self._separation_of_rule,
            strict=True,
        )
        return [GaussianCondition(*condition) for condition in numbers]

    @property
    def _separation_of_rule(self) -> list[float]:
        """`_separation` of the only rule that is kept, among all rules."""
        everyone = replace(self, kept_rules=np.arange(self.system.shape[0]))
        return everyone._separation[int(self.kept_rules[0])].tolist()

    def _consequents(self) -> list[LinearConsequent]:
        """Lines of a single rule, one per label."""
        lines = []
        for j, label in enumerate(self.label_names):
            line = LinearConsequent(
                label=label,
                intercept=float(self.intercepts[0, j]),
                features=self.feature_names,
                coefficients=tuple(self.slopes[0, :, j].tolist()),
                sizes=tuple(self.sizes[0, :, j].tolist()),
            )
            lines.append(line)
        return lines

    # as data ------------------------------------------------------------------------

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Plain data, ready for JSON, with every digit.

        All of it, or the ``top`` conditions and terms that matter most.
        """
        return {
            "format": "mltsk fuzzy rules",
            "version": 1,
            "membership": "exp(-(x - center)^2 / (2 width^2))",
            "scale": self.scale,
            "features": list(self.feature_names),
            "labels": list(self.label_names),
            "thresholds": self.system.thresholds[self.kept_labels].tolist(),
            "rules": [rule.to_dict(top) for rule in self],
        }

    def to_json(
        self, top: int | None = None, label: str | None = None, indent: int | None = 2
    ) -> str:
        """`to_dict` as JSON text."""
        rules = self if label is None else self.for_label(label)
        data = rules.to_dict(top)
        return json.dumps(data, indent=indent, ensure_ascii=False, allow_nan=False)

    def to_frame(self, part: str = "then") -> "pd.DataFrame":
        """One pandas row per number of the rules.

        ``part`` "if" has the columns rule, feature, center and width; "then" has rule,
        label, feature (None for the constant p0) and coefficient.
        """
        if part not in ("if", "then"):
            raise InputError(f"part must be 'if' or 'then', got {part!r}.")
        n_rules, n_features = self.centers.shape
        numbers = self.kept_rules + 1
        pandas = optional("pandas", "data")
        if part == "if":
            columns = {
                "rule": numbers.repeat(n_features),
                "feature": list(self.feature_names) * n_rules,
                "center": self.centers.ravel(),
                "width": self.widths.ravel(),
            }
            return pandas.DataFrame(columns)
        n_labels = len(self.kept_labels)
        p = np.concatenate([self.intercepts[:, None], self.slopes], axis=1)
        labels = np.array(self.label_names, dtype=object).repeat(n_features + 1)
        features = [None, *self.feature_names] * n_labels
        columns = {
            "rule": numbers.repeat(n_labels * (n_features + 1)),
            "label": np.tile(labels, n_rules),
            "feature": features * n_rules,
            "coefficient": p.transpose(0, 2, 1).ravel(),
        }
        return pandas.DataFrame(columns)

    def to_latex(
        self,
        top: int | None = None,
        label: str | None = None,
        digits: int = DIGITS,
    ) -> str:
        """The rules as an ``align*`` of LaTeX, to be put into a document with amsmath.

        All of it, or the ``top`` conditions and terms that matter most. Lines fit the
        width of an article's text, and it goes on over pages.
        """
        rules = self if label is None else self.for_label(label)
        return rules_as_latex(rules, top, digits)

    # as text ------------------------------------------------------------------------

    def nodes(
        self,
        top: int | None = None,
        label: str | None = None,
        max_labels: int | None = None,
        digits: int = DIGITS,
    ) -> list[Node]:
        """The page that `to_text` prints, for one label or all.

        It has the ``top`` conditions of each rule and terms of each line. Without
        ``top``, rules of up to 12 features are printed whole, and five of each of
        longer ones. Lines are printed of the first ``max_labels`` labels, 20 by
        default. With ``digits=17`` numbers are those of the model, to the last digit.
        """
        check_count(digits, "digits")
        if label is not None:
            return self.for_label(label).nodes(top, None, max_labels, digits)
        if top is None and len(self.kept_features) > MAX_FEATURES_WHOLE:
            top = SHOWN_OF_MANY
        page = [Node(line) for line in self.legend(digits)]
        for rule in self:
            page += rule.nodes(top, max_labels or MAX_SHOWN_LINES, digits)
        shown = max_labels or MAX_SHOWN_LINES
        return [*page, *left_out(len(self.kept_labels), shown, "more label")]

    def legend(self, digits: int = DIGITS) -> tuple[str, ...]:
        """How to read the rules, with numbers of so many digits."""
        count = plural(len(self), "rule")
        features = plural(len(self.kept_features), "feature")
        labels = plural(len(self.kept_labels), "label")
        contents = f"{count} on {features} for {labels}. {SCALES[self.scale]}"
        verb = "is above" if self.strict else "reaches"
        given = f"A label is given where its score {verb} {self._thresholds()}."
        if self.system.firing == "authors":
            given = f"{WHERE_NOTHING_FIRES} {given}"
        reading = (contents, f"{HOW_RULES_FIRE} {given}")
        return reading if digits >= ALL_DIGITS else (*reading, ROUNDED)

    def _thresholds(self) -> str:
        """The threshold of all labels, or their range."""
        thresholds = self.system.thresholds[self.kept_labels]
        lowest = number(float(thresholds.min()))
        highest = number(float(thresholds.max()))
        if lowest == highest:
            return lowest
        return f"its threshold, {lowest} to {highest}"

    def __repr__(self) -> str:
        return (
            f"<FuzzyRules: {len(self)} rules, {len(self.kept_features)} features, "
            f"{len(self.kept_labels)} labels>"
        )
