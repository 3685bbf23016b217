"""What the explorer page knows, as plain data: the arrays of a fuzzy system, its words, and a handful of examples.

Symbols: K rules, D features, L labels. Arrays are base64 of little-endian numbers: exact, and a third of their size as
decimal text. Of the coefficients only those that are not zero are written, with a bit for each that says where.
"""

import warnings
from base64 import b64encode
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from .. import __version__
from ..core.coupling import label_correlation
from ..core.system import FuzzySystem
from ..exceptions import InputError
from ..explain.rules import RuleBase
from ..explain.tables import Tables, dense_rows
from ..explain.text import condition_words, legend
from ..explain.wording import name, times
from ..thresholds import MultilabelThreshold
from .summarise import column_correlation

MOST_EXAMPLES = 12
CONDITIONS = 5  # in the words of a rule


@dataclass(frozen=True)
class Examples:
    """Rows (n, D) to load into the page, their names, their true labels (or None), and correlations of all labels."""

    rows: np.ndarray
    names: list[str]
    truth: list[list[int]] | None = None
    correlation: np.ndarray | None = None

    @classmethod
    def of(cls, model: Any, X: Any = None, Y: Any = None, most: int = MOST_EXAMPLES) -> "Examples | None":
        """The rows that each rule fires on most, the rules with most data first."""
        if X is None:
            return None
        inner = inner_model(model)
        values = _checked(inner, X)
        chosen = typical_rows(inner.system_.firing(values), inner.rule_weights_, most)
        silent = (inner.system_.scores(values[chosen]) < score_thresholds(model)).all(axis=1)
        chosen = [chosen[i] for i in np.argsort(silent, kind="stable")]  # the page opens on one that is given a label
        truth, correlation = None, None
        if Y is not None:
            labels = _indicator(inner, Y, values.shape[0])
            truth = [np.flatnonzero(labels[i] > 0).tolist() for i in chosen]
            correlation = label_correlation(labels)
        return cls(dense_rows(values[chosen]), [f"row {i + 1}" for i in chosen], truth, correlation)


def _checked(inner: Any, X: Any) -> Any:
    """Rows as the classifier reads them: named columns in its order, complete, dense or CSR."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        try:
            return validate_data(inner, X, accept_sparse="csr", dtype=np.float64, reset=False)
        except ValueError as error:
            raise InputError(f"These rows cannot be examples: {' '.join(str(error).split())[:300]}") from None


def _indicator(inner: Any, Y: Any, n_rows: int) -> np.ndarray:
    """Labels (n, L) of 0 and 1, also of classes in one dimension."""
    labels = dense_rows(getattr(Y, "values", Y))
    if labels.ndim == 1:
        labels = labels[:, None] == (inner.classes_[1:] if len(inner.classes_) == 2 else inner.classes_)
    if labels.shape != (n_rows, len(inner.label_names_)):
        raise InputError(f"Y has shape {labels.shape}, and rows and labels are {(n_rows, len(inner.label_names_))}.")
    return labels.astype(np.float64)


def typical_rows(M: np.ndarray, weights: np.ndarray, most: int) -> list[int]:
    """Rows on which rules fire most: one a rule, then their seconds, at most ``most``, in the order of the weights.

    Examples
    --------
    >>> typical_rows(np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]), np.array([0.4, 0.6]), 3)
    [1, 0, 2]
    """
    ranked = np.argsort(-M, axis=0, kind="stable")[:, np.argsort(-weights, kind="stable")]
    return list(dict.fromkeys(ranked[:most].ravel().tolist()))[: min(most, len(M))]


def inner_model(model: Any) -> Any:
    """The classifier whose rules a model has."""
    inner = model.estimator_ if isinstance(model, MultilabelThreshold) else model
    if not hasattr(type(inner), "system_"):
        raise InputError(f"A {type(inner).__name__} has no rules to explore: pass a fitted MLTSKClassifier.")
    return inner


def explorer_data(model: Any, examples: Examples | None = None) -> dict[str, Any]:
    """Everything that the page needs, ready for JSON."""
    inner = inner_model(model)
    base = inner.rules_
    tables, system = base.tables, base.tables.system
    K, D, L = system.shape
    rows = examples if examples is not None else Examples(np.empty((0, D)), [])
    return {
        "format": "mltsk explorer",
        "version": 1,
        "mltsk": __version__,
        "shape": [K, D, L],
        "features": [name(feature) for feature in system.feature_names],
        "labels": [name(label) for label in system.label_names],
        "single": bool(not inner.multilabel_ and len(inner.classes_) > 2),
        "legend": legend(K, D, system.thresholds.tolist(), base.step)[0],
        "thresholds": packed(score_thresholds(model)),
        **_arrays(tables),
        **_feature_choices(tables, rows.rows),
        "rules": [_rule(base, k) for k in range(K)],
        **_examples(tables, rows),
        "correlation": _correlations(system, rows.correlation),
    }


def packed(array: Any, kind: str = "<f8") -> str:
    """An array as base64 of its little-endian numbers.

    Examples
    --------
    >>> packed([1.0]), packed([True, False, True], "u1")
    ('AAAAAAAA8D8=', 'AQAB')
    """
    return b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()


def score_thresholds(model: Any) -> np.ndarray:
    """Thresholds on the scale of the scores, (L,), also where they were tuned on probabilities.

    A probability is a logistic curve of four times the distance from the inner threshold, so the way back is its logit.
    """
    inner = inner_model(model)
    own = np.asarray(inner.thresholds_, dtype=np.float64)
    if model is inner:
        return own
    if not model._asks_probabilities():
        return own + model.thresholds_
    p = np.clip(model.thresholds_, 1e-15, 1 - 1e-15)
    return own + np.log(p / (1 - p)) / 4


def _arrays(tables: Tables) -> dict[str, Any]:
    system = tables.system
    coef = np.asarray(system.coef, dtype=np.float64).ravel()
    return {
        "underflow": system.underflow,
        "scale": _scale(system),
        "centers": packed(system.centers),
        "widths": packed(system.widths),
        "coef": {"mask": packed(np.packbits(coef != 0, bitorder="little"), "u1"), "values": packed(coef[coef != 0])},
        "weights": packed(system.rule_weights),
        "prototypes": packed(tables.centers),
        "reference": packed(tables.reference),
        "middle": packed(tables.middle),
        "spreads": packed(tables.spreads),
        "levels": packed(tables.levels),
        "usual": packed(tables.usual),
        "quantiles": None if system.quantiles is None else packed(system.quantiles),
    }


def _scale(system: FuzzySystem) -> dict[str, Any]:
    scaling = system.scaling
    if scaling is None:
        return {"kind": "unit" if system.unit_length else "none"}
    common = {"offset": packed(scaling.offset), "spread": packed(scaling.spread)}
    if not scaling.bounded:
        return {"kind": "linear", "values": packed(scaling.values[:, [0, -1]]), **common}
    counts = 1 + (np.diff(scaling.values, axis=1) > 0).sum(axis=1)  # the rest is padding
    kept = np.arange(scaling.values.shape[1]) < counts[:, None]
    ends = np.concatenate([[0], np.cumsum(counts)])
    knots = {"values": packed(scaling.values[kept]), "levels": packed(scaling.levels[kept])}
    return {"kind": "knots", "ends": packed(ends, "<u4"), **knots, **common}


def _feature_choices(tables: Tables, rows: np.ndarray) -> dict[str, Any]:
    """How the value of each feature can be set: between which ends, in whole numbers, or from a list."""
    system = tables.system
    seen = np.vstack([tables.centers, rows])
    if system.quantiles is None:
        # nothing is known of sparse features but what the examples and the averages of the rules hold
        low, high = np.minimum(seen.min(axis=0), 0.0), np.maximum(seen.max(axis=0) * 1.5, 1.0)
        whole = np.zeros(len(low), dtype=bool)
    else:
        low, high = system.quantiles[:, 0], system.quantiles[:, -1]
        values = system.quantiles if system.scaling is None else system.scaling.values
        whole = (values == np.round(values)).all(axis=1) & (high - low > 1)
    return {
        "ranges": packed(np.stack([low, high], axis=1)),
        "whole": np.flatnonzero(whole).tolist(),
        "choices": {str(d): choice for d in range(system.shape[1]) if (choice := _choice(tables, d))},
    }


def _choice(tables: Tables, d: int) -> dict[str, Any] | None:
    names = tables.categories.get(tables.system.feature_names[d])
    if names:
        return {"values": [float(value) for value in names], "names": [name(text) for text in names.values()]}
    if np.isnan(tables.pairs[d, 0]):
        return None
    return {"values": tables.pairs[d].tolist(), "names": [name(text) for text in tables.pair_names(d)]}


def _rule(base: RuleBase, k: int) -> dict[str, Any]:
    """The words of a rule: its most distinct conditions with their features, and how many more there are."""
    conditions = base[k].conditions
    where = {feature: d for d, feature in reversed(list(enumerate(base.feature_names)))}
    shown = [[where[c.feature], condition_words(c)] for c in conditions[:CONDITIONS]]
    rest = len(conditions) - len(shown)
    more = f"and {times(rest, 'condition')} closer to the average" if rest > 0 else ""
    return {"conditions": shown, "more": more if shown else "always: this rule has no condition"}


def _examples(tables: Tables, rows: Examples) -> dict[str, Any]:
    """The chosen rows first, then the average sample and the centre of each rule."""
    order = np.argsort(-tables.system.rule_weights, kind="stable")[:MOST_EXAMPLES]
    made = [{"name": _row_name(tables, rows, i), "truth": rows.truth and rows.truth[i]} for i in range(len(rows.names))]
    made += [{"name": "the average sample", "truth": None}]
    made += [{"name": f"typical of rule {k + 1}", "truth": None} for k in order]
    values = np.vstack([tables.averages, tables.centers[order]])
    for d in range(tables.system.shape[1]):
        if choice := _choice(tables, d):  # between categories there is nothing: take the nearest
            known = np.array(choice["values"])
            values[:, d] = known[np.abs(values[:, [d]] - known).argmin(axis=1)]
    return {"examples": made, "rows": packed(np.vstack([rows.rows, values]))}


def _row_name(tables: Tables, rows: Examples, i: int) -> str:
    if rows.truth is None:
        return rows.names[i]
    labels = [name(tables.system.label_names[j]) for j in rows.truth[i]]
    return f"{rows.names[i]}: {', '.join(labels[:3])}{', …' if len(labels) > 3 else ''}" if labels else rows.names[i]


def _correlations(system: FuzzySystem, labels: np.ndarray | None) -> dict[str, str]:
    """Correlations of labels in whole 127ths: of their consequents, and of themselves where rows were given."""
    slopes = column_correlation(np.asarray(system.coef[:, 1:], dtype=np.float64).reshape(-1, system.shape[2]))
    found = {"consequents": slopes} | ({} if labels is None else {"labels": labels})
    return {kind: packed(np.round(127 * np.clip(table, -1, 1)), "i1") for kind, table in found.items()}
