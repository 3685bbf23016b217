"""A whole model at a glance, as data.

What its labels share, what its features are worth, how its rules differ. Everything
takes a `FuzzySystem`, or a classifier that has one as ``system_``; `mltsk.explain.plot`
draws what these functions return.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core.arrays import Array, Matrix, mean_of_known
from ..core.membership import firing_strengths, rule_distances
from ..exceptions import InputError
from ..system import FuzzySystem
from .effects import Effects
from .pair_effects import PairEffects
from .rules import rule_base
from .statements import Statements, margin_of_95
from .subjects import Index, Mask, doubles
from .wording import positions

CURVE_POINTS = 101  # of the curve of a feature
MAX_MAPPED_RULES = 60  # a map of more cannot be read
MEMBERSHIP_POINTS = 201  # of the curve of a condition

Model = Any  # a FuzzySystem, its Effects, or a fitted classifier


def effects_of(model: Model, *, sure: bool = False) -> Effects:
    """The numbers of a model in its caller's units, also how ``sure`` they are.

    Whoever asks often may pass these on instead of the model.
    """
    if isinstance(model, Effects):
        return model
    is_system = isinstance(model, FuzzySystem)
    system = model if is_system else getattr(model, "system_", None)
    if not isinstance(system, FuzzySystem):
        raise InputError(
            f"{type(model).__name__} has no rules: give a fitted MLTSKClassifier or "
            "its system_."
        )
    record = getattr(model, "fit_record_", None)
    if sure and record is not None and system.certainty is None:
        system = replace(system, certainty=record.certainty())
    return Effects(system)


def left_out(model: Model, *labels: str) -> dict[str, tuple[Mask, Array, Array]]:
    """What each training row would have been told if it had not been there.

    For each label, or some, on rows where it was observed: whether they have it, and
    their probability and log-odds.
    """
    record = getattr(model, "fit_record_", None)
    if record is None:
        raise InputError(
            "No leave-one-out scores: give a classifier that was fitted here, not one "
            "of a file."
        )
    Y = record.labels
    scores = record.loo_scores
    names = model.system_.label_names
    probabilities = model.system_.probabilities(scores)
    by_label = {}
    for j in positions(names, labels or names, np.arange(len(names)), "label"):
        seen = ~np.isnan(Y[:, j])
        by_label[names[j]] = Y[seen, j] > 0, probabilities[seen, j], scores[seen, j]
    return by_label


# features -----------------------------------------------------------------------------


@dataclass(frozen=True)
class FeatureImportance:
    """What features are worth for each label, the largest feature first.

    ``values`` (features, labels) are standard deviations over the data of what each
    adds to log-odds, in general and within rules; half of the variance of a pair of
    features counts for each of them. ``rest`` (labels,) are the sums over the features
    that are not shown.
    """

    features: tuple[str, ...]
    labels: tuple[str, ...]
    values: Array
    rest: Array


def feature_importance(model: Model, top: int | None = 20) -> FeatureImportance:
    """What the ``top`` features are worth for each label, or all of them."""
    effects = effects_of(model)
    names = effects.subjects.feature_names
    # what a value adds is 0 on average where there is one: it does not correlate with
    # whether there is one
    variances = np.zeros((len(names), len(effects.system.label_names)))
    np.add.at(variances, effects.subjects.features, effects.importance**2)
    pairs = PairEffects(effects)
    for p, pair_sizes in enumerate(pairs.sizes):
        for f in pairs.features(p):
            variances[f] += pair_sizes**2 / 2
    sizes = np.sqrt(variances)
    order = np.argsort(-sizes.sum(axis=1), kind="stable")
    shown = order[:top]
    return FeatureImportance(
        features=tuple(names[f] for f in shown),
        labels=effects.system.label_names,
        values=sizes[shown],
        rest=sizes[order[len(shown) :]].sum(axis=0),
    )


@dataclass(frozen=True)
class Curve:
    """A line over values of a feature: what a shape adds, or membership in a condition.

    Attributes
    ----------
    feature, label : str, str or None
        Their names; a condition has no label.
    x, y : array of shape (n,)
        Values in the caller's units; what is added to log-odds, 0 on average, or
        membership, 1 at ``center``.
    words : str
        The same in words.
    center : float or None
        Of a condition on values with an order.
    quantiles : array
        Those of the training data, none for named values and sparse features.
    categories : mapping of float to str
        Names of values.
    missing : float or None
        What a shape adds where the feature was not measured, if that has a number of
        its own.
    error : array of shape (n,) or None
        Half the width of the 95 % interval of ``y``.
    """

    feature: str
    label: str | None
    x: Array
    y: Array
    words: str
    center: float | None
    quantiles: Array
    categories: Mapping[float, str]
    missing: float | None = None
    error: Array | None = None


def shapes(model: Model, *labels: str, top: int = 6) -> tuple[Curve, ...]:
    """Curves of the ``top`` features for some labels or all, the largest feature first.

    Sparse features have straight lines from none to their full weight.
    """
    curves = FeatureCurves(effects_of(model, sure=True))
    names = curves.effects.system.label_names
    kept = positions(names, labels or names, np.arange(len(names)), "label").tolist()
    features = curves.largest(kept, top)
    return tuple(curves.curve(f, j) for f in features for j in kept)


class FeatureCurves:
    """Makes curves of what features of a model do to labels, both by their numbers."""

    def __init__(self, effects: Effects) -> None:
        self.effects = effects
        self.statements = Statements(effects)
        self._values_of: dict[int, Array] = {}

    def largest(self, labels: list[int], top: int) -> list[int]:
        """The ``top`` features that move some labels most, the largest first."""
        subjects = self.effects.subjects
        sizes = np.zeros(len(subjects.feature_names))
        subject_sizes = self.effects.sizes[:, labels].sum(axis=1)
        np.add.at(sizes, subjects.features, subject_sizes)
        n_shown = min(top, np.count_nonzero(sizes))
        return np.argsort(-sizes, kind="stable")[:n_shown].tolist()

    def curve(self, f: int, j: int) -> Curve:
        """The curve of feature f for label j, with its words and its interval."""
        drawn = self.drawn(f, j)
        effects = self.effects
        error = None
        deviation = effects.deviation(f, j, drawn.x)
        if deviation is not None:
            error = margin_of_95(effects.system, j, deviation, drawn.y)
        gap = effects.subjects.gaps.get(f)
        own = [f] if gap is None else [f, gap]
        largest = self.statements.general_shapes(j, np.array(own))[:1]
        return replace(drawn, words=", ".join(map(str, largest)), error=error)

    def drawn(self, f: int, j: int) -> Curve:
        """The curve of feature f for label j without words and interval.

        These take most of the time of `curve`.
        """
        effects = self.effects
        subject = effects.subjects[f]
        named = effects.subjects.named_values(f)
        x = doubles([*named]) if named else self._values(f)
        y = effects.effect(f, x, j)
        missing = None
        gap = effects.subjects.gaps.get(f)
        if gap is not None:
            measured, missing = effects.effect(gap, np.array([0.0, 1.0]), j).tolist()
            y = y + measured
        return Curve(
            feature=subject.name,
            label=effects.system.label_names[j],
            x=x,
            y=y,
            words="",
            center=None,
            quantiles=_quantiles(effects, f),
            categories=named,
            missing=missing,
        )

    def _values(self, f: int) -> Array:
        """Values at which the curve of a number is drawn, the same for all labels."""
        if f not in self._values_of:
            self._values_of[f] = _curve_values(self.effects, f)
        return self._values_of[f]


def _curve_values(effects: Effects, f: int) -> Array:
    """Values of a number at which its curve is drawn.

    They are evenly spread, and those at which it bends: most of a skewed feature's are
    close together.
    """
    first, last = _range(effects.system, effects.subjects[f].columns.start)
    x = np.linspace(first, last, CURVE_POINTS)
    if effects.system.quantiles is None or effects.system.is_linear:
        return x
    bends = effects.fine_values(f)
    inside = bends[(bends > first) & (bends < last)]
    return np.unique(np.concatenate([x, inside]))


def _quantiles(effects: Effects, t: int) -> Array:
    """Training quantiles of a subject, none where values have names or are sparse."""
    subject = effects.subjects[t]
    quantiles = effects.system.quantiles
    if quantiles is None or subject.values:
        return np.zeros(0)
    return doubles(quantiles[subject.columns.start])


# labels -------------------------------------------------------------------------------


@dataclass(frozen=True)
class LabelCorrelation:
    """How alike labels are, and how alike the model treats them.

    Two (L, L) matrices with 1 on the diagonal. ``consequents`` is how alike the model's
    numbers of two labels are: the cosine of their effects over terms and rules.
    ``labels`` is how alike the labels are, in the data if they were given
    (``from_data``), else in the scores at the centres of the rules. ``agreement`` is
    the correlation of the two over all pairs of labels, NaN where there are fewer than
    three.
    """

    names: tuple[str, ...]
    labels: Array
    consequents: Array
    from_data: bool
    agreement: float


def label_correlation_view(
    model: Model, Y: ArrayLike | None = None
) -> LabelCorrelation:
    """Label correlation against consequent correlation.

    ``Y`` (N, L) are labels of 0, 1 or NaN, training ones say.
    """
    effects = effects_of(model)
    L = effects.system.shape[2]
    labels = _cosines(_centred_labels(effects, Y))
    consequents = _cosines(_all_effects(effects))
    pairs = np.triu_indices(L, 1)
    agreement = np.nan
    if len(pairs[0]) > 1:
        both = np.stack([labels[pairs], consequents[pairs]], axis=1)
        agreement = float(_cosines(both - both.mean(axis=0))[0, 1])
    return LabelCorrelation(
        names=effects.system.label_names,
        labels=labels,
        consequents=consequents,
        from_data=Y is not None,
        agreement=agreement,
    )


def _centred_labels(effects: Effects, Y: ArrayLike | None) -> Array:
    """Labels, or without them scores at the centres of the rules, less their means."""
    if Y is None:
        scores = effects.system.scores(doubles(effects.system.prototypes))
        centred = scores - effects.weights @ scores
        return centred * np.sqrt(effects.weights)[:, None]
    observed = doubles(Y)
    L = effects.system.shape[2]
    if observed.ndim != 2 or observed.shape[1] != L:
        raise InputError(
            f"Y must have one column for each of {L} labels, got shape "
            f"{observed.shape}."
        )
    return np.nan_to_num(observed - mean_of_known(observed, axis=0))


def _all_effects(effects: Effects) -> Array:
    """All numbers of the model as effects that can be compared, (numbers, L)."""
    system = effects.system
    if system.is_linear or not len(system.terms):
        spreads = effects.spreads[: len(system.terms)]
    else:
        spreads = effects.grid_terms.std(axis=0)
    shares = np.sqrt(doubles(system.rule_weights))[:, None]
    numbers = [doubles(system.term_coef) * spreads[:, None], effects.shifts * shares]
    if system.pair_coef is not None:
        means = doubles(system.pairs.conditions.mean)
        variances = means * (1 - means)  # of conditions that hold or do not
        first, second = system.pairs.first, system.pairs.second
        deviations: Array = np.sqrt(variances[first] * variances[second])
        numbers.append(doubles(system.pair_coef) * deviations[:, None])
    if system.order:
        for coef, share in zip(system.coef, shares, strict=True):
            numbers.append(coef[1:] * effects.spreads[:, None] * share)
    return np.concatenate(numbers)


def _cosines(columns: Array) -> Array:
    """Cosines between columns, 0 where one is 0, 1 on the diagonal."""
    norms = np.linalg.norm(columns, axis=0)
    unit = columns / np.where(norms > 0, norms, 1.0)
    cosines = np.clip(unit.T @ unit, -1.0, 1.0)
    np.fill_diagonal(cosines, 1.0)
    return np.asarray(cosines)


# rules --------------------------------------------------------------------------------


@dataclass(frozen=True)
class RuleMap:
    """Where rules lie to each other.

    ``rules`` (K,) are their numbers, from 0. ``distances`` (K, K) are total variation
    distances of their firing, 0 alike to 1 disjoint, and ``nearest`` (K,) of each rule
    from the one most like it, 1 for a single rule; ``coverage`` (K,) is the share of
    data that each governs. ``positions`` (K, 2) lay the rules out so that distances in
    the plane come as close to ``distances`` as a plane allows: they show the share
    ``explained`` (0..1) of them.
    """

    rules: Index
    distances: Array
    nearest: Array
    coverage: Array
    positions: Array
    explained: float


def rule_map(model: Model, X: Matrix = None, top: int = MAX_MAPPED_RULES) -> RuleMap:
    """Distinctness and coverage of the ``top`` rules that govern most.

    They are compared as they fire on samples ``X`` or, without, at each other's
    centres.
    """
    system = effects_of(model).system
    if not len(system.centers):
        raise InputError(
            "This model has no exceptions that could be laid out: its shapes are the "
            "whole of it."
        )
    weights = doubles(system.rule_weights)
    rules = np.sort(np.argsort(-weights, kind="stable")[:top])
    if X is None:
        M = firing_strengths(
            system.centers[rules],
            system.centers[rules],
            system.widths[rules],
            firing=system.firing,
        )
        distances = rule_distances(M, weights[rules])
        coverage = weights[rules]
    else:
        if system.columns is not None:
            X = system.columns.expand(X)
        M = system.firing_strengths(X if hasattr(X, "toarray") else doubles(X))
        M = M[:, rules]
        distances = rule_distances(M)
        coverage = M.mean(axis=0)
    plane, explained = _laid_out(distances)
    apart = distances + 2.0 * np.eye(len(distances))  # no rule is its own neighbour
    return RuleMap(
        rules=rules,
        distances=distances,
        nearest=np.minimum(apart.min(axis=1), 1.0),
        coverage=coverage,
        positions=plane,
        explained=explained,
    )


def _laid_out(distances: Array) -> tuple[Array, float]:
    """Classical scaling of distances (K, K) into the plane.

    Returns positions (K, 2), and the share of the squared distances that they show.
    """
    K = len(distances)
    J = np.eye(K) - 1.0 / K
    values, vectors = np.linalg.eigh(-0.5 * J @ distances**2 @ J)
    values = np.maximum(values[::-1], 0.0)
    plane = np.zeros((K, 2))
    plane[:, : min(K, 2)] = vectors[:, ::-1][:, :2] * np.sqrt(values[:2])
    total = float(values.sum())
    return plane, float(values[:2].sum()) / total if total > 0 else 1.0


def membership_curves(model: Model, rule: int, top: int = 6) -> tuple[Curve, ...]:
    """Curves of the ``top`` most distinct conditions of a rule (counted from 0)."""
    effects = effects_of(model)
    K = effects.system.shape[0]
    if not 0 <= rule < K:
        choices = f"they are counted from 0 to {K - 1}" if K else "there are none"
        raise InputError(f"There is no rule {rule}: {choices}.")
    rules = rule_base(effects)
    order, _ = rules.statements.regions.order(rule, np.arange(len(effects.subjects)))
    conditions = rules.exceptions[rule].conditions[:top]
    curves = []
    for t, condition in zip(order[:top].tolist(), conditions, strict=True):
        curves.append(_membership_curve(effects, rule, t, words=str(condition)))
    return tuple(curves)


def _membership_curve(effects: Effects, k: int, t: int, *, words: str) -> Curve:
    """Membership in the condition of rule k on subject t, over the training range."""
    system = effects.system
    subject = effects.subjects[t]
    center = None
    x = doubles([*effects.subjects.named_values(t)])
    if subject.kind != "nominal":
        d = subject.columns.start
        centers = system.centers if system.scaling is None else effects.centers
        center = float(centers[k, d])
        x = np.linspace(*_range(system, d, center), MEMBERSHIP_POINTS)
    apart = effects.subjects.scaled(t, x) - system.centers[k, subject.columns]
    exponents = apart**2 / system.widths[k, subject.columns]
    return Curve(
        feature=subject.name,
        label=None,
        x=x,
        y=np.exp(-exponents.sum(axis=1)),
        words=words,
        center=center,
        quantiles=_quantiles(effects, t),
        categories=effects.subjects.named_values(t),
    )


def _range(system: FuzzySystem, d: int, *inside: float) -> tuple[float, float]:
    """Training values of a column without a far tail, and the values ``inside``.

    In rows of unit length, from 0 to 1.
    """
    if system.quantiles is None:
        if system.unit_length:
            return 0.0, 1.0
        return 0.0, max([1.0, *(2.0 * abs(x) for x in inside)])
    least, low, high, most = (float(q) for q in system.quantiles[d, [0, 1, -2, -1]])
    reach = max(high - low, 1e-9 * max(abs(low), 1.0))
    first = min(max(least, low - reach), *inside, most)
    last = max(min(most, high + reach), *inside, least)
    if last > first:
        return first, last
    return first - 0.5, last + 0.5
