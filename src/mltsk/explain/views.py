"""A whole model at a glance, as data: what its labels share, what its features are worth, how its rules differ.

Everything takes a `FuzzySystem`, or a classifier that has one as ``system_``, and gives arrays; `mltsk.explain.plot`
draws them. Symbols: K rules, D features, L labels, T the number of features shown.

Nothing here needs data: rules stand for the samples they govern, by their weights.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.arrays import Array
from ..core.membership import firing_strengths, rule_distances
from ..core.system import FuzzySystem
from ..exceptions import InputError
from .rules import rule_base
from .tables import Categories, Tables
from .values import Condition


def system_of(model: Any) -> FuzzySystem:
    """The fuzzy system of a classifier, or of what wraps one, or the system itself."""
    model = getattr(model, "estimator_", model)
    found = model if isinstance(model, FuzzySystem) else getattr(model, "system_", None)
    if not isinstance(found, FuzzySystem):
        raise InputError(f"{type(model).__name__} has no rules: give a fitted MLTSKClassifier or its system_.")
    return found


def tables_of(model: Any) -> Tables:
    """The numbers of a model in its caller's units."""
    inner = getattr(model, "estimator_", model)
    categories: Categories | None = inner._category_names() if hasattr(inner, "_category_names") else None
    return Tables.of(system_of(model), categories)


@dataclass(frozen=True)
class FeatureImportance:
    """``values`` (T, L): mean absolute effect of each feature on the score of each label, largest features first.

    The effect of a feature in a rule is the change of the score for about one standard deviation; rules count by the
    share of data that they govern. ``total`` (T,) is the sum over labels, ``rest`` (L,) what the features that are not
    shown add up to.
    """

    features: tuple[str, ...]
    labels: tuple[str, ...]
    values: Array
    rest: Array

    @property
    def total(self) -> Array:
        """Sum over labels, (T,)."""
        return np.asarray(self.values.sum(axis=1))


def feature_importance(model: Any, top: int | None = 20) -> FeatureImportance:
    """What the ``top`` features are worth for each label, or all of them.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=200, random_state=0)
    >>> clf = MLTSKClassifier(n_rules=3).fit(*data.frames())
    >>> feature_importance(clf, top=4).values.shape
    (4, 5)
    """
    tables = tables_of(model)
    system = tables.system
    sizes = np.einsum("k,kdl->dl", system.rule_weights, np.abs(system.coef[:, 1:])) * tables.spreads[:, None]
    order = np.argsort(-sizes.sum(axis=1), kind="stable")
    shown, others = order[:top], order[len(order) if top is None else top :]
    names = tuple(system.feature_names[d] for d in shown)
    return FeatureImportance(names, system.label_names, sizes[shown], sizes[others].sum(axis=0))


@dataclass(frozen=True)
class LabelCorrelation:
    """Two (L, L) matrices with 1 on the diagonal.

    ``consequents`` is how alike the THEN-parts of two labels are (correlation of their effects over rules and
    features); ``labels`` is how alike the labels are, in the data if they were given, else in the scores at the centres
    of the rules.
    """

    names: tuple[str, ...]
    labels: Array
    consequents: Array
    from_data: bool

    @property
    def agreement(self) -> float:
        """Correlation of the two over all pairs of labels; NaN where there are fewer than three labels."""
        pairs = np.triu_indices(len(self.names), 1)
        if len(pairs[0]) < 2:
            return float("nan")
        return float(_correlation(np.stack([self.labels[pairs], self.consequents[pairs]], axis=1))[0, 1])


def label_correlation_view(model: Any, Y: Any = None) -> LabelCorrelation:
    """Label correlation against consequent correlation; ``Y`` (N, L) are labels of 0 and 1, training ones say.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=200, random_state=0)
    >>> view = label_correlation_view(MLTSKClassifier(n_rules=3).fit(data.X, data.Y), data.Y)
    >>> view.consequents.shape, view.agreement > 0
    ((5, 5), True)
    """
    tables = tables_of(model)
    system, L = tables.system, tables.system.shape[2]
    effects = system.coef[:, 1:] * tables.spreads[:, None] * np.sqrt(system.rule_weights)[:, None, None]
    levels = (tables.levels - tables.usual) * np.sqrt(system.rule_weights)[:, None]
    if Y is None:
        said = _cosine(levels)
    else:
        dense = np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y, dtype=np.float64)
        if dense.ndim != 2 or dense.shape[1] != L:
            raise InputError(f"Y must have one column for each of {L} labels, got shape {dense.shape}.")
        said = _correlation(dense)
    return LabelCorrelation(system.label_names, said, _cosine(effects.reshape(-1, L)), Y is not None)


def _correlation(columns: Array) -> Array:
    return _cosine(columns - columns.mean(axis=0))


def _cosine(columns: Array) -> Array:
    """Cosines between columns, 0 where one is 0, 1 on the diagonal."""
    norms = np.linalg.norm(columns, axis=0)
    unit = columns / np.where(norms > 0, norms, 1.0)
    C = np.clip(unit.T @ unit, -1.0, 1.0)
    np.fill_diagonal(C, 1.0)
    return np.asarray(C)


@dataclass(frozen=True)
class RuleMap:
    """Where rules lie to each other.

    ``distances`` (K, K) are total variation distances of their firing, 0 alike to 1 disjoint; ``coverage`` (K,) the
    share of data that each governs; ``positions`` (K, 2) lay the rules out so that distances in the plane come as close
    to those as a plane allows, which is for ``explained`` (0..1) of them.
    """

    distances: Array
    coverage: Array
    positions: Array
    explained: float

    @property
    def nearest(self) -> Array:
        """Distance of each rule from the one most like it, (K,); 1 for a single rule."""
        others = self.distances + 2.0 * np.eye(len(self.distances))
        return np.minimum(others.min(axis=1), 1.0)


def rule_map(model: Any, X: Any = None) -> RuleMap:
    """Distinctness and coverage of the rules, as they fire on the samples ``X`` or, without, at each other's centres.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=200, random_state=0)
    >>> clf = MLTSKClassifier(n_rules=4).fit(data.X, data.Y)
    >>> rule_map(clf, data.X).positions.shape
    (4, 2)
    """
    system = system_of(model)
    if X is None:
        M = firing_strengths(system.centers, system.centers, system.widths, underflow=system.underflow)
        T = rule_distances(M, np.asarray(system.rule_weights))
        coverage = np.asarray(system.rule_weights, dtype=np.float64)
    else:
        M = system.firing(X if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64))
        T, coverage = rule_distances(M), M.mean(axis=0)
    positions, explained = _laid_out(T)
    return RuleMap(T, coverage, positions, explained)


def _laid_out(T: Array) -> tuple[Array, float]:
    """Classical scaling of distances into the plane, and the share of their squares that it shows."""
    K = len(T)
    J = np.eye(K) - 1.0 / K
    values, vectors = np.linalg.eigh(-0.5 * J @ T**2 @ J)
    values = np.maximum(values[::-1], 0.0)
    plane = np.zeros((K, 2))
    plane[:, : min(K, 2)] = vectors[:, ::-1][:, :2] * np.sqrt(values[:2])
    total = float(values.sum())
    return plane, float(values[:2].sum()) / total if total > 0 else 1.0


@dataclass(frozen=True)
class MembershipCurve:
    """One condition of a rule: membership ``y`` over values ``x`` of the feature in the caller's units.

    ``center`` is where membership is 1; ``categories`` names some of the values where the feature is nominal.
    """

    feature: str
    x: Array
    y: Array
    center: float
    words: str
    categories: Mapping[float, str]


def membership_curves(model: Any, rule: int, top: int = 6, points: int = 201) -> tuple[MembershipCurve, ...]:
    """Curves of the ``top`` most distinct conditions of a rule (counted from 0) over the training range.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=200, random_state=0)
    >>> clf = MLTSKClassifier(n_rules=3).fit(*data.frames())
    >>> [curve.y.shape for curve in membership_curves(clf, 0, top=2)]
    [(201,), (201,)]
    """
    tables = tables_of(model)
    K = tables.system.shape[0]
    if not 0 <= rule < K:
        raise InputError(f"There is no rule {rule}: they are counted from 0 to {K - 1}.")
    found, order = rule_base(tables.system, categories=tables.categories)[rule].conditions, tables.order(rule)
    return tuple(_curve(tables, rule, int(d), c, points) for d, c in zip(order[:top], found[:top], strict=True))


def _curve(tables: Tables, k: int, d: int, condition: Condition, points: int) -> MembershipCurve:
    system = tables.system
    c, s = float(system.centers[k, d]), float(system.widths[k, d])
    center = c if system.scaling is None else condition.center
    x = np.linspace(*_range(system, d, center), points)
    if system.scaling is not None:
        row = np.tile(tables.averages, (points, 1))
        row[:, d] = x
        z = system.scaling.apply(row)[:, d]
    else:
        z = x
    name = system.feature_names[d]
    return MembershipCurve(
        name, x, np.exp(-((z - c) ** 2) / s), center, str(condition), tables.categories.get(name, {})
    )


def _range(system: FuzzySystem, d: int, center: float) -> tuple[float, float]:
    """Training values of a feature without a far tail, centre included; of a row of unit length, 0 to 1."""
    if system.quantiles is None:
        return (0.0, 1.0) if system.unit_length else (0.0, max(2.0 * abs(center), 1.0))
    least, low, high, most = (float(q) for q in system.quantiles[d, [0, 1, -2, -1]])
    reach = max(high - low, 1e-9 * max(abs(low), 1.0))
    least, most = max(least, low - reach), min(most, high + reach)
    least, most = min(least, center), max(most, center)
    return (least, most) if most > least else (least - 0.5, most + 0.5)
