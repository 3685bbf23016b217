"""The explorer: a model as one offline page in which its inputs can be moved and its answers watched.

The page evaluates the model itself, in plain JavaScript (``templates/explorer``), from the arrays of a fuzzy system,
its words and a handful of examples. Its content security policy lets nothing else run: the one script and the one style
sheet are named by their hashes, and no address may be fetched.

Symbols: K exceptions, D columns of numbers, F features, L labels, P terms. Arrays are base64 of little-endian numbers:
exact, and a third of their size as decimal text. Of coefficients only those that are not zero are written, with a bit
for each that says where; widths that are all equal are written once.
"""

import json
import warnings
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from .. import __version__
from ..columns import MISSING
from ..core.arrays import dense
from ..exceptions import InputError
from ..explain.tables import Subject, Tables
from ..explain.views import label_correlation_view
from ..explain.wording import name, times
from ..pipelines import named, transformed
from ..rows.read import read_samples
from ..system import FuzzySystem
from .render import _template, _trusted, write_page

SCRIPTS = ("model.js", "words.js", "draw.js", "features.js", "views.js", "main.js")
MOST_EXAMPLES, MANY = 12, 500_000
PLAIN = ("intercept", "centers", "prototypes", "slopes", "offsets", "quantiles")
CONDITIONS, SHAPES = 5, 8  # in the words of an exception, and of the general rule of a label


def explore(model: Any, path: str | Path, X: Any = None, Y: Any = None, *, title: str = "Rules") -> Path:
    """Write a page in which a model can be explored, to be opened by any browser without a server or a network.

    Parameters
    ----------
    model : MLTSKClassifier, IncrementalMLTSK, PaperMLTSK, or a pipeline that ends so
        Fitted. Of a pipeline the page shows the classifier, whose features are what the steps before it return.
    path : str or Path
        Where to write the page (``….html``).
    X : array, data frame or CSR of shape (n, n_features), optional
        Rows to take a handful of examples from; without it there are a usual sample and that of each exception.
    Y : indicator of shape (n, n_labels), optional
        Labels of those rows: the page then marks the true labels of an example, and shows which labels go together.
    title : str, default="Rules"

    Examples
    --------
    >>> import tempfile
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=60, random_state=0)
    >>> clf = MLTSKClassifier(n_rules=2).fit(data.X, data.Y)
    >>> page = explore(clf, tempfile.mkdtemp() + "/page.html", data.X, data.Y)
    >>> page.stat().st_size < 200_000
    True
    """
    return write_page(explorer_page(model, X, Y, title=title), path)


def explorer_page(model: Any, X: Any = None, Y: Any = None, *, title: str = "Rules") -> str:
    """The page of `explore` as text."""
    data = explorer_data(model, X, Y)
    K, _, L, P = data["shape"]
    style, script = _source("style.css"), script_source()
    parts = {"style": _trusted(style), "script": _trusted(script), "data": _trusted(embedded(data))}
    subtitle = f"{times(K, data['noun'].lower())} · {times(len(data['features']), 'feature')} · {times(L, 'label')}"
    facts = {"title": title, "subtitle": subtitle, "noun": data["noun"], "general": P, "rules": K}
    facts |= {"calibrated": data["slopes"], "truth": "labels" in data["correlation"], "version": __version__}
    facts |= {"slopes": K and data["order"], "dashed": K and data["scale"]["kind"] != "unit"}
    return _template("explorer/page.html").render(policy=policy(style, script), **facts, **parts)


def embedded(data: Any) -> str:
    """JSON that can stand inside a script element: no text in it can end that element or begin a comment."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def policy(style: str, script: str) -> str:
    """A content security policy under which this style and this script run, and nothing else does."""
    runs, looks = (b64encode(sha256(text.encode()).digest()).decode() for text in (script, style))
    allowed = f"script-src 'sha256-{runs}'; style-src 'sha256-{looks}'"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def script_source() -> str:
    """The page's program: its files in order, as one."""
    body = "\n".join(_source(name) for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{body}}})();\n'


@cache
def _source(name: str) -> str:
    return (files("mltsk.pages") / "templates" / "explorer" / name).read_text(encoding="utf-8")


def explorer_data(model: Any, X: Any = None, Y: Any = None) -> dict[str, Any]:
    """Everything that the page needs, ready for JSON; X and Y are rows to take examples from, and their labels."""
    model, X = named(model), None if X is None else transformed(model, X)
    if not hasattr(type(model), "system_"):
        raise InputError(f"A {type(model).__name__} has no rules to explore: pass a fitted MLTSKClassifier.")
    base, system = model.rules_, model.system_
    K, D, L = system.shape
    values = None if X is None else _checked(model, X)
    rows, made, known = (np.empty((0, D)), [], None) if values is None else _chosen(model, values, Y)
    view = label_correlation_view(system, known)
    alike = {"consequents": view.consequents} | ({} if known is None else {"labels": view.labels})
    return {
        "shape": [K, D, L, len(system.terms)],
        "features": [name(feature) for feature in base.tables.feature_names],
        **_parts(base.tables, values),
        "labels": [name(label) for label in system.label_names],
        "noun": base.tables.noun,
        "single": bool(not model.multilabel_ and len(model.classes_) > 2),
        "thresholds": packed(system.thresholds),
        "middle": packed(base.tables.middle),
        **_arrays(system),
        **_ranges(system, rows),
        **_words(base, system),
        **_examples(base.tables, rows, made),
        "correlation": {kind: packed(np.round(127 * table), "i1") for kind, table in alike.items()},  # whole 127ths
    }


def packed(array: Any, kind: str = "<f8") -> Any:
    """An array as base64 of its little-endian numbers; None stays None."""
    return None if array is None else b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()


def _sparse(array: Any, unit_length: bool) -> dict[str, Any]:
    """Numbers that are not zero and where they are; very many in single precision, if no score moves by 1e-6."""
    single = array.size > MANY and bool(np.linalg.norm(array, 2 if unit_length else 1, axis=-2).max() < 8)
    mask, values = packed(np.packbits(array.ravel() != 0, bitorder="little"), "u1"), array[array != 0]
    return {"mask": mask, "values": packed(values, "<f4" if single else "<f8"), "single": single}


def _arrays(system: FuzzySystem) -> dict[str, Any]:
    terms, widths = system.terms, np.asarray(system.widths)
    return {
        "underflow": system.underflow,
        "share": packed(np.ones(system.shape[1]) if system.scaling is None else system.scaling.share),
        "order": system.order,
        "scale": _scale(system),
        "terms": {key: packed(getattr(terms, key)) for key in ("low", "high", "mean")}
        | {"feature": packed(terms.feature, "<u4"), "coef": _sparse(system.term_coef, system.unit_length)},
        "coef": _sparse(system.coef, system.unit_length),
        "widths": packed(widths.ravel()[:1] if widths.size and (widths == widths[0, 0]).all() else widths),
        "weights": packed(system.rule_weights),
        **{key: packed(getattr(system, key)) for key in PLAIN},
    }


def _scale(system: FuzzySystem) -> dict[str, Any]:
    scaling, counts = system.scaling, _knots(system)
    if scaling is None:
        return {"kind": "unit" if system.unit_length else "none"}
    kept = np.arange(scaling.values.shape[1]) < counts[:, None]  # the rest is padding
    knots = {"kind": "knots", "values": scaling.values[kept], "levels": scaling.levels[kept]}
    if not scaling.bounded:
        knots = {"kind": "linear", "values": scaling.values[:, [0, -1]], "levels": None}
    knots |= {"offset": scaling.offset, "spread": scaling.spread, "ends": np.cumsum([0, *counts])}
    return {key: part if key == "kind" else packed(part) for key, part in knots.items()}


def _knots(system: FuzzySystem) -> np.ndarray:
    """How many different values each feature of a percentile scale has, (D,); 0 elsewhere."""
    scaling = system.scaling
    if scaling is None or not scaling.bounded:
        return np.zeros(system.shape[1], dtype=int)
    return 1 + (np.diff(scaling.values, axis=1) > 0).sum(axis=1)


def _ranges(system: FuzzySystem, rows: np.ndarray) -> dict[str, Any]:
    """Between which ends each feature can be set, and which are whole numbers."""
    if system.quantiles is None:
        # nothing is known of sparse features but what the examples and the averages of the rules hold
        seen = np.vstack([np.zeros((1, system.shape[1])), system.prototypes, rows])
        ends = np.stack([seen.min(axis=0), np.maximum(seen.max(axis=0) * 1.5, 1.0)], axis=1)
        return {"ranges": packed(ends), "whole": []}
    ends = system.quantiles[:, [0, -1]]
    values = system.quantiles if system.scaling is None else system.scaling.values
    whole = (values == np.round(values)).all(axis=1) & (ends[:, 1] - ends[:, 0] > 1)
    return {"ranges": packed(ends), "whole": np.flatnonzero(whole).tolist()}


def _parts(tables: Tables, values: Any) -> dict[str, Any]:
    """How features became columns, the values that have names, and which features may be missing.

    A feature has its first column, the one after its last, and that of "not measured" or -1. Of values without an order
    the number is given: each has a column, unless there are two.
    """
    columns, subjects = tables.system.columns, tables.subjects[: len(tables.feature_names)]
    choices: dict[str, dict[str, Any]] = {}
    for f, subject in enumerate(subjects):
        if names := tables.named_values(f):
            choices[str(f)] = {"values": [*names], "names": [name(value) for value in names.values()]}
            choices[str(f)] |= {"nominal": len(names)} if subject.kind == "nominal" else {}
    if columns is None:
        return {"choices": choices, "optional": []}
    lacks = np.zeros(len(columns.parts), dtype=bool) if values is None else np.isnan(values).any(axis=0)
    optional, where = [], []
    for f, (_, _, kind, own, _) in enumerate(subjects):
        gap = tables.gaps.get(f)
        where.append([own.start, own.stop, -1 if gap is None else tables.subjects[gap].columns.start])
        if kind != "number" or gap is not None or lacks[own].any():
            optional.append(f)
    told = [name(part) for part in columns.part_names]
    return {"choices": choices, "optional": optional, "columns": where, "parts": told}


def _words(base: Any, system: FuzzySystem) -> dict[str, Any]:
    """The general rule of each label and the IF-part of each exception, in words with their features."""
    where = {feature: f for f, feature in reversed(list(enumerate(base.tables.feature_names)))}

    def told(parts: Any, most: int, rest: str, **known: Any) -> dict[str, Any]:
        more = f"{'and ' * (most > 0)}{times(len(parts) - most, rest)}" if len(parts) > most else ""
        return {"words": [[where[part.feature], str(part)] for part in parts[:most]], "more": more, **known}

    general, members = base.general if len(system.terms) else (), system.members
    return {
        "general": [told(rule.shapes, SHAPES, "smaller one") for rule in general],
        "rules": [
            told(rule.conditions, min(CONDITIONS, rule.told), "smaller condition", size=rule.size, always=rule.always)
            for rule in base.exceptions
        ],
        "had": None if members is None else packed(np.stack([members.positives, members.observed]), "<u4"),
    }


def _examples(tables: Tables, rows: Any, made: list[Any]) -> dict[str, Any]:
    """The chosen rows first, then a usual sample and the centre of each exception."""
    system, noun = tables.system, tables.noun.lower()
    order = np.argsort(-system.rule_weights, kind="stable")[:MOST_EXAMPLES]
    usual, called = np.zeros(system.shape[1]), "an empty row"
    if system.quantiles is not None:
        usual, called = system.quantiles[:, 10], "every feature at its median"
    names = [called, *(f"typical of {noun} {k + 1}" for k in order)]
    values = np.vstack([usual, system.prototypes[order]])
    for t, subject in enumerate(tables.subjects):
        _settle(values, tables, t, subject)
    examples = [*made, *({"name": title, "truth": None} for title in names)]
    return {"examples": examples, "rows": packed(np.vstack([rows, values]))}


def _settle(values: np.ndarray, tables: Tables, t: int, subject: Subject) -> None:
    """Give rows one of the named values of a subject, the nearest or most frequent: there is nothing between them."""
    known, own = np.array(list(tables.named_values(t))), values[:, subject.columns]
    if subject.kind == MISSING:
        own[:] = 0.0
    elif subject.kind == "nominal" and own.shape[1] == len(known):
        own[0] = tables.frequencies(t)
        own[:] = own.argmax(axis=1)[:, None] == np.arange(len(known))
    elif len(known):
        own[:] = known[np.abs(own - known).argmin(axis=1)][:, None]


def _chosen(model: Any, values: Any, Y: Any) -> tuple[np.ndarray, list[dict[str, Any]], np.ndarray | None]:
    """A few of the rows ``values``, their names and true labels, and the labels of all rows.

    They are the rows that each exception applies to most, those with most data first; without exceptions, by labels.
    """
    system = model.system_
    scores = np.asarray(system.scores(values))
    ranked = (system.firing(values), system.rule_weights) if system.shape[0] else (scores, scores.mean(axis=0))
    rows = np.array(typical_rows(*ranked, MOST_EXAMPLES))
    silent = (scores[rows] < system.thresholds).all(axis=1)
    rows = rows[np.argsort(silent, kind="stable")]  # the page opens on one that is given a label
    made = [{"name": f"row {i + 1}", "truth": None} for i in rows]
    if Y is None:
        return np.asarray(dense(values[rows])), made, None
    labels = _indicator(model, Y, values.shape[0])
    for example, row in zip(made, labels[rows], strict=True):
        example["truth"] = np.flatnonzero(row > 0).tolist()
        told = [name(system.label_names[j]) for j in example["truth"]]
        example["name"] += f": {', '.join(told[:3])}" * bool(told) + ", …" * (len(told) > 3)
    return np.asarray(dense(values[rows])), made, labels


def _checked(inner: Any, X: Any) -> Any:
    """Rows as the classifier reads them: named columns in its order, dense or CSR, tables in columns of numbers."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        try:
            if hasattr(inner, "columns_"):
                X = read_samples(inner, X)
                return X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
            return validate_data(inner, X, accept_sparse="csr", dtype=np.float64, reset=False)
        except ValueError as error:
            raise InputError(f"These rows cannot be examples: {' '.join(str(error).split())[:300]}") from None


def _indicator(inner: Any, Y: Any, n_rows: int) -> np.ndarray:
    """Labels (n, L) of 0 and 1, also of classes in one dimension."""
    labels = np.asarray(dense(getattr(Y, "values", Y)))
    if labels.ndim == 1:
        labels = labels[:, None] == (inner.classes_[1:] if len(inner.classes_) == 2 else inner.classes_)
    if labels.shape != (n_rows, len(inner.label_names_)):
        raise InputError(f"Y has shape {labels.shape}, and rows and labels are {(n_rows, len(inner.label_names_))}.")
    return labels.astype(np.float64)


def typical_rows(M: np.ndarray, weights: np.ndarray, most: int) -> list[int]:
    """Rows that stand highest in the columns of M: one per column, then their seconds, in the order of the weights."""
    ranked = np.argsort(-M, axis=0, kind="stable")[:, np.argsort(-weights, kind="stable")]
    return list(dict.fromkeys(ranked[:most].ravel().tolist()))[: min(most, len(M))]
