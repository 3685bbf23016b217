"""A whole model at a glance, as data: what its labels share, what its features are worth, how its rules differ.

Everything takes a `FuzzySystem`, or a classifier that has one as ``system_``; `mltsk.explain.plot` draws what it gives.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.arrays import Array
from ..core.membership import firing_strengths, rule_distances
from ..exceptions import InputError
from ..system import FuzzySystem
from .rules import TWO_SIDED, rule_base
from .tables import Tables, doubles
from .wording import positions


def tables_of(model: Any, *, sure: bool = False) -> Tables:
    """The numbers of a model in its caller's units, also how ``sure`` they are.

    Whoever asks often may pass these tables on instead of the model.
    """
    if isinstance(model, Tables):
        return model
    system = (
        model if isinstance(model, FuzzySystem) else getattr(model, "system_", None)
    )
    if not isinstance(system, FuzzySystem):
        raise InputError(
            f"{type(model).__name__} has no rules: give a fitted MLTSKClassifier or its system_."
        )
    record = getattr(model, "fit_record_", None)
    if sure and record is not None and system.certainty is None:
        system = replace(system, certainty=record.certainty())
    return Tables(system, system.categories)


def left_out(model: Any, *labels: str) -> dict[str, tuple[Any, Array, Array]]:
    """Of some labels or all, on rows where they were observed: whether they have it, probability and score without it.

    That is what each row of the training data would have been told if it had not been there.
    """
    record = getattr(model, "fit_record_", None)
    if record is None:
        raise InputError(
            "No leave-one-out scores: give a classifier that was fitted here, not one of a file."
        )
    Y, scores, names = record.labels, record.loo_scores, model.system_.label_names
    chances, found = model.system_.probabilities(scores), {}
    for j in positions(names, labels or names, np.arange(len(names)), "label"):
        seen = ~np.isnan(Y[:, j])
        found[names[j]] = Y[seen, j] > 0, chances[seen, j], scores[seen, j]
    return found


@dataclass(frozen=True)
class FeatureImportance:
    """``values``: size of what each feature does to the score of each label, a row per feature, the largest first.

    It is the standard deviation over the data, in general and within rules; ``rest`` is that of features not shown.
    """

    features: tuple[str, ...]
    labels: tuple[str, ...]
    values: Array
    rest: Array


def feature_importance(model: Any, top: int | None = 20) -> FeatureImportance:
    """What the ``top`` features are worth for each label, or all of them."""
    tables = tables_of(model)
    sizes = np.zeros((len(tables.feature_names), len(tables.system.label_names)))
    # what a value adds is 0 on average where there is one: it does not correlate with whether there is one
    np.add.at(
        sizes, [subject.feature for subject in tables.subjects], tables.importance**2
    )
    sizes = np.sqrt(sizes)
    order = np.argsort(-sizes.sum(axis=1), kind="stable")
    names = tuple(tables.feature_names[f] for f in order[:top])
    shown, rest = sizes[order[:top]], sizes[order[len(names) :]].sum(axis=0)
    return FeatureImportance(names, tables.system.label_names, shown, rest)


@dataclass(frozen=True)
class Curve:
    """A line ``y`` over values ``x`` of a feature in the caller's units, with the same in ``words``.

    Of a shape, y is what is added to the score of ``label``, 0 on average; of a condition, which has no label, it is
    membership, 1 at ``center``, which values without an order do not have. ``quantiles`` are those of the training
    data, ``categories`` the names of values. ``missing`` is what a shape adds where the feature was not measured, if
    that has a number of its own; ``error`` is how far to each side of y the line may be, in 95 of 100 cases.
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


def shapes(model: Any, *labels: str, top: int = 6) -> tuple[Curve, ...]:
    """Curves of the ``top`` features for some labels or all, feature by feature, largest first.

    Sparse features have straight lines from none to their full weight.
    """
    tables = tables_of(model, sure=True)
    names = tables.system.label_names
    kept = positions(names, labels or names, np.arange(len(names)), "label")
    sizes = np.zeros(len(tables.feature_names))
    np.add.at(
        sizes,
        [subject.feature for subject in tables.subjects],
        tables.sizes[:, kept].sum(axis=1),
    )
    order = np.argsort(-sizes, kind="stable")[: min(top, np.count_nonzero(sizes))]
    return tuple(_shape(tables, int(f), int(j)) for f in order for j in kept)


def _shape(tables: Tables, f: int, j: int) -> Curve:
    feature, label, missing = (
        tables.feature_names[f],
        tables.system.label_names[j],
        None,
    )
    told = rule_base(tables).for_feature(feature).for_label(label).general[0].shapes[:1]
    named, ends = (
        [*tables.named_values(f)],
        _range(tables.system, tables.subjects[f].columns.start),
    )
    x = doubles(named) if named else np.linspace(*ends, 101)
    y, error = tables.effect(f, x, j), tables.deviation(f, j, x)
    if (gap := tables.gaps.get(f)) is not None:
        measured, missing = tables.effect(gap, np.array([0.0, 1.0]), j).tolist()
        y = y + measured
    error = None if error is None else TWO_SIDED * error
    return _curve(
        tables,
        f,
        x,
        y,
        ", ".join(map(str, told)),
        None,
        label,
        missing=missing,
        error=error,
    )


def _curve(
    tables: Tables,
    t: int,
    x: Array,
    y: Array,
    words: str,
    center: Any,
    label: Any,
    **known: Any,
) -> Curve:
    subject, quantiles = tables.subjects[t], tables.system.quantiles
    found = (
        np.zeros(0)
        if quantiles is None or subject.values
        else doubles(quantiles[subject.columns.start])
    )
    return Curve(
        subject.name, label, x, y, words, center, found, tables.named_values(t), **known
    )


@dataclass(frozen=True)
class LabelCorrelation:
    """Two (L, L) matrices with 1 on the diagonal.

    ``consequents`` is how alike the model's numbers of two labels are (cosine of their effects over terms and rules);
    ``labels`` is how alike the labels are, in the data if they were given, else in the scores at the centres of the
    rules. ``agreement`` is the correlation of the two over all pairs of labels, NaN where there are fewer than three.
    """

    names: tuple[str, ...]
    labels: Array
    consequents: Array
    from_data: bool
    agreement: float


def label_correlation_view(model: Any, Y: Any = None) -> LabelCorrelation:
    """Label correlation against consequent correlation; ``Y`` (N, L) are labels of 0, 1 or NaN, training ones say."""
    tables = tables_of(model)
    system, L = tables.system, tables.system.shape[2]
    if Y is None:
        scores = system.scores(doubles(system.prototypes))
        said = (scores - tables.weights @ scores) * np.sqrt(tables.weights)[:, None]
    else:
        given = doubles(Y)
        if given.ndim != 2 or given.shape[1] != L:
            raise InputError(
                f"Y must have one column for each of {L} labels, got shape {given.shape}."
            )
        said = np.nan_to_num(given - np.nanmean(given, axis=0))
    # all numbers of the model as effects on each label that can be compared, (rows, L)
    w = np.sqrt(doubles(system.rule_weights))[:, None]
    spread = (
        tables.spreads
        if system.is_linear or not len(system.terms)
        else tables.grid_terms.std(axis=0)
    )
    found = [
        doubles(system.term_coef) * spread[: len(system.terms), None],
        tables.shifts * w,
    ]
    found += [
        coef[1:] * tables.spreads[:, None] * a
        for coef, a in zip(system.coef, w, strict=True)
        if system.order
    ]
    labels, consequents, pairs = (
        _cosine(said),
        _cosine(np.concatenate(found)),
        np.triu_indices(L, 1),
    )
    both = np.stack([labels[pairs], consequents[pairs]], axis=1)
    agreement = (
        float(_cosine(both - both.mean(axis=0))[0, 1]) if len(both) > 1 else np.nan
    )
    return LabelCorrelation(
        system.label_names, labels, consequents, Y is not None, agreement
    )


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

    ``distances`` (K, K) are total variation distances of their firing, 0 alike to 1 disjoint, and ``nearest`` (K,) of
    each rule from the one most like it, 1 for a single rule; ``coverage`` (K,) is the share of data that each governs;
    ``positions`` (K, 2) lay the rules out so that distances in the plane come as close to those as a plane allows,
    which is for ``explained`` (0..1) of them.
    """

    distances: Array
    nearest: Array
    coverage: Array
    positions: Array
    explained: float


def rule_map(model: Any, X: Any = None) -> RuleMap:
    """Distinctness and coverage of the rules, as they fire on samples ``X`` or, without, at each other's centres."""
    system = tables_of(model).system
    if not len(system.centers):
        raise InputError(
            "This model has no exceptions that could be laid out: its shapes are the whole of it."
        )
    if X is None:
        M = firing_strengths(
            system.centers, system.centers, system.widths, firing=system.firing
        )
        T, coverage = (
            rule_distances(M, np.asarray(system.rule_weights)),
            doubles(system.rule_weights),
        )
    else:
        X = X if system.columns is None else system.columns.expand(X)
        M = system.firing_strengths(X if hasattr(X, "toarray") else doubles(X))
        T, coverage = rule_distances(M), M.mean(axis=0)
    # classical scaling of distances into the plane, and the share of their squares that it shows
    K, J = len(T), np.eye(len(T)) - 1.0 / len(T)
    values, vectors = np.linalg.eigh(-0.5 * J @ T**2 @ J)
    values = np.maximum(values[::-1], 0.0)
    plane, total = np.zeros((K, 2)), float(values.sum())
    plane[:, : min(K, 2)] = vectors[:, ::-1][:, :2] * np.sqrt(values[:2])
    nearest = np.minimum((T + 2.0 * np.eye(K)).min(axis=1), 1.0)
    return RuleMap(
        T,
        nearest,
        coverage,
        plane,
        float(values[:2].sum()) / total if total > 0 else 1.0,
    )


def membership_curves(model: Any, rule: int, top: int = 6) -> tuple[Curve, ...]:
    """Curves of the ``top`` most distinct conditions of a rule (counted from 0) over the training range."""
    tables = tables_of(model)
    system, curves, K = tables.system, [], tables.system.shape[0]
    if not 0 <= rule < K:
        known = f"they are counted from 0 to {K - 1}" if K else "there are none"
        raise InputError(f"There is no rule {rule}: {known}.")
    order, _ = tables.order(rule, np.arange(len(tables.subjects)))
    for t, condition in zip(
        order[:top].tolist(), rule_base(tables)[rule].conditions[:top], strict=True
    ):
        own, center, x = (
            tables.subjects[t].columns,
            None,
            doubles([*tables.named_values(t)]),
        )
        if tables.subjects[t].kind != "nominal":
            center = float(
                (system if system.scaling is None else tables).centers[rule, own.start]
            )
            x = np.linspace(*_range(system, own.start, center), 201)
        apart = (tables.scaled(t, x) - system.centers[rule, own]) ** 2 / system.widths[
            rule, own
        ]
        curves.append(
            _curve(
                tables, t, x, np.exp(-apart.sum(axis=1)), str(condition), center, None
            )
        )
    return tuple(curves)


def _range(system: FuzzySystem, d: int, *inside: float) -> tuple[float, float]:
    """Training values of a feature without a far tail, and those ``inside``; of a row of unit length, 0 to 1."""
    if system.quantiles is None:
        return 0.0, 1.0 if system.unit_length else max(
            [1.0, *(2.0 * abs(x) for x in inside)]
        )
    least, low, high, most = (float(q) for q in system.quantiles[d, [0, 1, -2, -1]])
    reach = max(high - low, 1e-9 * max(abs(low), 1.0))
    least, most = (
        min(max(least, low - reach), *inside, most),
        max(min(most, high + reach), *inside, least),
    )
    return (least, most) if most > least else (least - 0.5, most + 0.5)
