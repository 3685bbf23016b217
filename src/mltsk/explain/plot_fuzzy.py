"""Figures of rules in the paper's form, as papers on fuzzy systems print them."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..core.arrays import Matrix
from ..text import plural
from . import plot
from .canvas import INK_COLOUR, MUTED_COLOUR, draw_matrix, styled_figure
from .linear_rule import GaussianCondition, largest
from .page import FALL, RISE
from .papers_rules import FuzzyRules
from .views import Model
from .wording import percent, shortened_within

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEMBERSHIP_INCHES = 1.7
LINES_INCHES = 4.2
ROW_INCHES = 1.7
LABEL_INCHES = 0.2  # of a label's line where many make a row higher
CURVE_POINTS = 201
MAX_DRAWN_RULES = 20
MAX_DRAWN_LABELS = 20
MAX_DRAWN_TERMS = 40  # features of the consequents
NAME_LETTERS = 18  # of a feature below its memberships
LONG_NAME = 17  # letters; a longer one is written small


class FuzzyFigures:
    """The figures of a model of the paper: ``clf.plot.rules()`` is the whole of it."""

    def __init__(self, model: Any) -> None:
        self._model: Model = model
        self._rules: FuzzyRules = model.rules_

    def rules(self, *labels: str, top: int = 4) -> "Figure":
        """Memberships and consequents, see `rules_figure`."""
        rules = self._rules.for_label(*labels) if labels else self._rules
        return rules_figure(rules, top=top)

    def feature_importance(self, top: int = 20) -> "Figure":
        """How much features matter, see `mltsk.explain.plot.feature_importance`."""
        return plot.feature_importance(self._model, top)

    def label_correlation(self, Y: ArrayLike | None = None) -> "Figure":
        """Which labels go together, see `mltsk.explain.plot.label_correlation`."""
        return plot.label_correlation(self._model, Y)

    def rule_map(self, X: Matrix | None = None) -> "Figure":
        """How rules lie to each other, see `mltsk.explain.plot.rule_map`."""
        return plot.rule_map(self._model, X)


def rules_figure(rules: FuzzyRules, top: int = 4) -> "Figure":
    """A row per rule: its memberships, then its lines.

    Each of the ``top`` features that tell rules apart most has a column, with the
    Gaussian of the rule over the range of the training data, and those of the other
    rules in grey. The last column has the consequents: a line of it is a label, a
    column a feature, and the colour is what the feature changes from its least to its
    largest value (p on the paper's scale), blue up, orange down. The first column is
    p0, the score where all features are at their least. Of more than 20 labels and 40
    features, those are drawn whose numbers are largest, and the title says so.

    Examples
    --------
    >>> import pytest; _ = pytest.importorskip("matplotlib")
    >>> from mltsk import PaperMLTSK
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=60, n_features=2, random_state=0)
    >>> model = PaperMLTSK(2, width_scale=10, correlation_weight=0.01)
    >>> figure = rules_figure(model.fit(data.X, data.Y).rules_, top=2)
    >>> figure.axes[0].get_title(loc="left")
    'Rule 1, 50 % of the data'
    """
    shown = rules[:MAX_DRAWN_RULES]
    features = _told_apart(rules, top)
    lines = _largest_lines(rules)
    row_inches = max(ROW_INCHES, LABEL_INCHES * len(lines.label_names))
    width = MEMBERSHIP_INCHES * len(features) + LINES_INCHES
    height = 0.6 + row_inches * len(shown)
    ratios = [*[MEMBERSHIP_INCHES] * len(features), LINES_INCHES]
    with styled_figure(
        width,
        height,
        rows=len(shown),
        columns=len(ratios),
        width_ratios=ratios,
    ) as (figure, grid):
        axes = np.asarray(grid).reshape(len(shown), len(ratios))
        for row in range(len(shown)):
            is_last = row == len(shown) - 1
            for ax, d in zip(axes[row], features, strict=False):
                _draw_membership(ax, rules, row, d, named=is_last)
            share = percent(float(rules.system.rule_weights[rules.kept_rules[row]]))
            number = int(rules.kept_rules[row]) + 1
            axes[row, 0].set_title(f"Rule {number}, {share} of the data", fontsize=9)
            _draw_lines(axes[row, -1], lines, row, named=is_last)
        figure.suptitle(_title(rules, lines), x=0.01, ha="left", color=INK_COLOUR)
    return figure


def _told_apart(rules: FuzzyRules, top: int) -> list[int]:
    """Features, in order, on which the rules differ most."""
    separations = []
    for rule in rules:
        separations.append([condition.separation for condition in rule.conditions])
    return sorted(largest(np.max(separations, axis=0).tolist(), top))


def _largest_lines(rules: FuzzyRules) -> FuzzyRules:
    """The rules with the labels and features of the largest consequents, in order."""
    sizes = rules.sizes
    labels = sorted(largest(sizes.sum(axis=(0, 1)).tolist(), MAX_DRAWN_LABELS))
    features = sorted(largest(sizes.sum(axis=(0, 2)).tolist(), MAX_DRAWN_TERMS))
    return replace(
        rules,
        kept_labels=rules.kept_labels[labels],
        kept_features=rules.kept_features[features],
    )


def _title(rules: FuzzyRules, lines: FuzzyRules) -> str:
    """What the figure shows, and how much of the consequents."""
    title = "IF memberships, THEN what each feature changes over its range"
    left_out = []
    for noun, names, drawn in (
        ("label", rules.label_names, lines.label_names),
        ("feature", rules.feature_names, lines.feature_names),
    ):
        if len(drawn) < len(names):
            left_out.append(f"{len(drawn)} of {plural(len(names), noun)}")
    return f"{title} ({', '.join(left_out)})" if left_out else title


def _draw_membership(
    ax: "Axes", rules: FuzzyRules, row: int, d: int, *, named: bool
) -> None:
    """The Gaussian of one rule and feature, and those of other rules in grey."""
    name = rules.feature_names[d]
    x = _range_of(rules, d)
    for other in range(len(rules)):
        is_own = other == row
        condition = GaussianCondition(
            feature=name,
            center=float(rules.centers[other, d]),
            width=float(rules.widths[other, d]),
            separation=0.0,
        )
        y = condition.membership(x)
        colour = RISE if is_own else MUTED_COLOUR
        ax.plot(x, y, color=colour, alpha=1.0 if is_own else 0.35, lw=1.2)
        if is_own:
            ax.fill_between(x, y, color=RISE, alpha=0.15)
    ax.set(ylim=(0, 1.05), yticks=[0, 1], xlim=(x[0], x[-1]))
    if named:
        size = 7 if len(name) > LONG_NAME else None
        ax.set_xlabel(shortened_within(name, NAME_LETTERS), fontsize=size)


def _range_of(rules: FuzzyRules, d: int) -> np.ndarray:
    """Values of a feature from its least to its largest in the training data."""
    low, high = 0.0, 1.0
    scaling = rules.system.scaling
    if rules.scale == "units" and scaling is not None:
        column = int(rules.kept_features[d])
        low = float(scaling.values[column, 0])
        high = float(scaling.values[column, -1])
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, CURVE_POINTS)


def _draw_lines(ax: "Axes", rules: FuzzyRules, row: int, *, named: bool) -> None:
    """The consequents of one rule in colours: labels down, features across."""
    scaled = rules.on_paper_scale
    coef = np.concatenate([scaled.intercepts[:, None], scaled.slopes], axis=1)
    largest_change = float(np.abs(coef).max()) or 1.0
    image = draw_matrix(
        ax,
        coef[row].T,
        across=["p0", *rules.feature_names] if named else [""] * coef.shape[1],
        down=rules.label_names,
        colours=(FALL, "#ffffff", RISE),
        vmin=-largest_change,
        vmax=largest_change,
        aspect="auto",
    )
    ax.figure.colorbar(image, ax=ax, shrink=0.8)
