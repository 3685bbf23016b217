"""The models that are as good as the one that was fitted, for one label.

Data rarely choose one model: many sets of numbers have nearly the same loss. What all
of them say is known; what some of them say otherwise is not.
"""

import reprlib
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .columns import Columns
from .core.arrays import FloatArray, underflow_is_zero
from .core.terms import FEW_VALUES
from .exceptions import InputError
from .fit.ellipsoid import Ellipsoid
from .fit.scale import OVERLAPPING
from .fit.sums import FitSums
from .frames import MISSING
from .system import FuzzySystem
from .text import listing

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

LOW, HIGH = 1, 19  # of the 21 percentiles: the 5th and the 95th
MAX_TOLD_VALUES = 5  # of a nominal feature, in one sentence


@dataclass(frozen=True)
class EffectRange:
    """What a feature does to a label, over all models that are as good.

    Parameters
    ----------
    feature : str
    contrast : str
        Between which values the effect is told, such as "from 33 to 68" or "m".
    effect, low, high : float
        In log-odds: in the model, and at least and at most in those that are as good.
    cost_without : float
        By which share of itself the loss grows without the feature: without its curve,
        its pairs with other features, and rules of the user that ask for it.
    may_be_left_out : bool
        Whether some of these models do without the feature, exceptions aside.
    """

    feature: str
    contrast: str
    effect: float
    low: float
    high: float
    cost_without: float
    may_be_left_out: bool

    @property
    def may_turn(self) -> bool:
        """Whether the effect has the other sign in some of these models."""
        return self.low < 0 < self.high

    def told(self, label: str) -> str:
        """One sentence."""
        between = f"between {self.low:+.2f} and {self.high:+.2f}"
        if self.may_be_left_out:
            return (
                f"The data do not say whether {self.feature} matters for {label}: "
                f"{self.contrast}, {between} at the same loss."
            )
        if self.may_turn:
            return (
                f"{self.feature} matters for {label}, but {self.contrast} its effect "
                f"may rise or fall: {between}."
            )
        verb = "raises" if self.effect > 0 else "lowers"
        return f"{self.feature} {verb} {label} ({self.contrast}): {between}."


@dataclass(frozen=True, eq=False)
class Alternatives:
    """Models whose loss for a label is at most a share larger than the least.

    `mltsk.MLTSKClassifier.alternatives` makes them. ``print`` tells one sentence per
    feature.

    Parameters
    ----------
    model : fitted classifier
    sums : FitSums
        Sums over its rows.
    label : str
    tolerance : float
    """

    model: Any
    sums: FitSums
    label: str
    tolerance: float

    @property
    def _system(self) -> FuzzySystem:
        system: FuzzySystem = self.model.system_
        return system

    @cached_property
    def _position(self) -> int:
        return list(self._system.label_names).index(self.label)

    @cached_property
    def ellipsoid(self) -> Ellipsoid:
        """The numbers of these models, in units of the ridge problem."""
        return Ellipsoid.of(self.sums, self._position, self.tolerance)

    @property
    def _slope(self) -> float:
        """Log-odds per unit of the scores that are fitted."""
        if self.sums.curves is None:
            return 1.0
        return float(self.sums.curves.slopes[self._position])

    @cached_property
    @underflow_is_zero()
    def effects(self) -> tuple[EffectRange, ...]:
        """The range of each effect, the largest first."""
        ranges: list[EffectRange] = []
        for feature, name in enumerate(self._feature_names):
            ranges += self._ranges(feature, name)
        return tuple(sorted(ranges, key=lambda one: -abs(one.effect)))

    @property
    def _columns(self) -> Columns | None:
        return self._system.columns

    @property
    def _feature_names(self) -> Sequence[str]:
        columns = self._columns
        return self._system.feature_names if columns is None else columns.names

    def _ranges(self, feature: int, name: str) -> list[EffectRange]:
        """The ranges of the effects of one feature."""
        positions = self._positions(feature)
        if not len(positions):
            return []
        cost = self.ellipsoid.cost_without(positions)
        ranges = []
        for column, contrast, ends in self._contrasts(feature):
            low, high = self._rows(column, np.array(ends))
            row = (high - low)[None, :]
            effect = float(row[0] @ self.ellipsoid.center) * self._slope
            reach = float(self.ellipsoid.reach(row)[0]) * self._slope
            ranges.append(
                EffectRange(
                    feature=name,
                    contrast=contrast,
                    effect=effect,
                    low=effect - reach,
                    high=effect + reach,
                    cost_without=cost,
                    may_be_left_out=cost <= self.tolerance,
                )
            )
        return ranges

    def _positions(self, feature: int) -> NDArray[np.intp]:
        """The numbers of a feature: of its curve, its gaps, its pairs, and own rules.

        Own rules are those of the user that ask for it.
        """
        own = [feature]
        if self._columns is not None:
            parts = self._columns.parts
            own = [d for d, part in enumerate(parts) if part.feature == feature]
            own += _rules_that_ask_for(self._columns, feature)
        terms = np.isin(self._system.terms.feature, own)
        pairs = np.isin(self.sums.design.pairs.columns, own).any(axis=1)
        return np.flatnonzero(np.concatenate([terms, pairs]))

    def _contrasts(self, feature: int) -> list[tuple[int, str, tuple[float, float]]]:
        """Columns of a feature, and between which values effects are told."""
        columns = self._columns
        if columns is None or columns.kinds[feature] != "nominal":
            column = feature
            if columns is not None:
                column = [part.feature for part in columns.parts].index(feature)
            return [(column, *self._ends(column))]
        contrasts = []
        for d, part in enumerate(columns.parts):
            if part.feature == feature and part.value != MISSING:
                contrasts.append((d, str(part.value), (0.0, 1.0)))
        return contrasts

    def _ends(self, column: int) -> tuple[str, tuple[float, float]]:
        """The 5th and 95th percentile of a column, or its ends if these are one.

        Where there are few values, such as stages, the values next to these: nobody has
        a stage of 1.55.
        """
        if self._system.quantiles is None:
            return "from 0 to 1", (0.0, 1.0)
        grid = self._system.quantiles[column]
        low, high = float(grid[LOW]), float(grid[HIGH])
        if low == high:
            low, high = float(grid[0]), float(grid[-1])
        scaling = self._system.scaling
        if scaling is not None and scaling.n_values[column] <= FEW_VALUES:
            values = scaling.values[column, : scaling.n_values[column]]
            low, high = (
                float(values[np.abs(values - end).argmin()]) for end in (low, high)
            )
        return f"from {low:.4g} to {high:.4g}", (low, high)

    def _rows(self, column: int, values: FloatArray) -> FloatArray:
        """What each number of the ridge problem adds at values of a column, (m, Q)."""
        system = self._system
        design = self.sums.design
        X = np.full((len(values), len(system.feature_names)), np.nan)
        X[:, column] = values
        # cells that are missing count as averages, which add nothing
        T = system.terms.memberships(system.scale(X), system.scaling)
        heights = np.asarray(T) - system.terms.mean
        if design.scale.name in OVERLAPPING:
            heights = np.asarray(heights @ design.scale.heights)
        rows = np.zeros((len(values), design.n_columns))
        rows[:, : design.n_terms] = heights * np.sqrt(design.term_weights)
        return rows

    def to_frame(self) -> "DataFrame":
        """The ranges as a frame, one row per effect, the largest first."""
        import pandas as pd

        rows = []
        for one in self.effects:
            rows.append({**vars(one), "may_turn": one.may_turn})
        return pd.DataFrame(rows)

    def band(self, feature: str, values: Sequence[float]) -> "DataFrame":
        """The curve of a feature at some values: ``effect``, ``low`` and ``high``."""
        import pandas as pd

        names = list(self._feature_names)
        if feature not in names:
            raise InputError(f"There is no feature {feature!r:.80} in this model.")
        position = names.index(feature)
        columns = self._columns
        if columns is not None and columns.kinds[position] == "nominal":
            raise InputError(
                f"{feature!r:.80} is nominal, so it has no curve: see to_frame()."
            )
        at = _numbers(values)
        rows = self._rows(self._contrasts(position)[0][0], at)
        effect = rows @ self.ellipsoid.center * self._slope
        reach = self.ellipsoid.reach(rows) * self._slope
        return pd.DataFrame(
            {
                "value": at,
                "effect": effect,
                "low": effect - reach,
                "high": effect + reach,
            }
        )

    def sample(self, n_models: int = 5, random_state: int = 0) -> list[Any]:
        """Some of these models, each as far from the best as the tolerance allows.

        They are fitted copies that differ in the numbers of this label alone.
        """
        _check_count(n_models, "n_models")
        copies = []
        for numbers in self.ellipsoid.members(n_models, random_state):
            other = copy(self.model)
            other.system_ = self._with_numbers(numbers)
            other.fit_record_ = None
            copies.append(other)
        return copies

    def _with_numbers(self, numbers: FloatArray) -> FuzzySystem:
        """The system with other numbers (Q,) of this label."""
        system = self._system
        design = self.sums.design
        sums = next(sums for sums in self.sums.parts if self._position in sums.labels)
        place = int(np.flatnonzero(sums.labels == self._position)[0])
        moments = sums.moments
        mean = (moments.phi / moments.total)[:, None]
        rates = moments.y[[place]] / moments.total
        coefficients = design.coefficients(numbers[:, None], mean, rates)
        offset = 0.0
        if self.sums.curves is not None:
            offset = float(self.sums.curves.offsets[self._position])
        j = self._position

        def with_label(table: FloatArray, own: FloatArray) -> FloatArray:
            changed = np.array(table)
            changed[..., j] = own[..., 0] * self._slope
            return changed

        intercept = np.array(system.intercept)
        intercept[j] = coefficients.intercept[0] * self._slope + offset
        pair_coef = system.pair_coef
        if pair_coef is not None:
            pair_coef = with_label(pair_coef, coefficients.pairs)
        return replace(
            system,
            intercept=intercept,
            term_coef=with_label(system.term_coef, coefficients.terms),
            pair_coef=pair_coef,
            coef=with_label(system.coef, coefficients.rules),
            certainty=None,
        )

    def plot(self, top: int = 6) -> "Figure":
        """Curves of the ``top`` features; between the dashed lines lie all models."""
        _check_count(top, "top")
        from .explain.canvas import panels
        from .explain.plot_curves import draw_shape
        from .explain.views import shapes

        curves = []
        for curve in shapes(self.model, self.label, top=top):
            error = None
            if not curve.categories:
                band = self.band(curve.feature, curve.x.tolist())
                error = (band["high"] - band["low"]).to_numpy() / 2
            curves.append(replace(curve, error=error))
        title = f"{self.label}: models within {self.tolerance:.2%} of the least loss"
        return panels(curves, draw_shape, 3, size=(2.8, 1.6), title=title, sharey=True)

    def __str__(self) -> str:
        first = (
            f"Models whose squared loss for {self.label} is at most "
            f"{self.tolerance:.2%} above the least; effects in log-odds, with all "
            "others free to follow."
        )
        sentences = []
        for own in self._by_feature():
            if len(own) > 1 and own[0].may_be_left_out:
                sentences.append(self._told_together(own))
            else:
                sentences += [one.told(self.label) for one in own]
        return "\n".join([first, *self._beside_curves(), "", *sentences])

    def _by_feature(self) -> list[list[EffectRange]]:
        """The effects of each feature, in the order of the largest."""
        groups: dict[str, list[EffectRange]] = {}
        for one in self.effects:
            groups.setdefault(one.feature, []).append(one)
        return list(groups.values())

    def _told_together(self, effects: list[EffectRange]) -> str:
        """One sentence on all values of a feature that some models do without."""
        ranges = [
            f"{one.contrast} between {one.low:+.2f} and {one.high:+.2f}"
            for one in effects
        ]
        return (
            f"The data do not say whether {effects[0].feature} matters for "
            f"{self.label}: {listing(ranges, at_most=MAX_TOLD_VALUES)}, at the same "
            "loss."
        )

    def _beside_curves(self) -> list[str]:
        """What the model has that no curve tells, in a sentence."""
        kinds = []
        if len(self._system.pairs):
            kinds.append("pairs of features")
        if len(self._system.centers):
            kinds.append("exceptions, which ask for all features,")
        if not kinds:
            return []
        return [f"What {listing(kinds)} add comes on top of these effects."]


def _rules_that_ask_for(columns: Columns, feature: int) -> list[int]:
    """The columns of the user's rules that have a condition on a feature."""
    first = len(columns.parts) - len(columns.rules)
    asking = []
    for number, rule in enumerate(columns.rules):
        if any(asked[0] == feature for asked in rule):
            asking.append(first + number)
    return asking


def _numbers(values: Sequence[float]) -> FloatArray:
    """Values of a feature as numbers (m,)."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.full((1, 1), np.nan)
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise InputError(
            f"values must be a list of finite numbers, not {reprlib.repr(values)}."
        )
    return numbers


def _check_count(count: int, name: str) -> None:
    """Refuse what is no count of at least 1."""
    is_count = isinstance(count, Integral) and not isinstance(count, bool)
    if not is_count or count < 1:
        raise InputError(f"{name} must be 1 or more, not {reprlib.repr(count)}.")
