"""The review: a user's table on one offline page, what is in it, what can be predicted from it, and how.

Everything is judged on rows that the judged model has not seen. The page needs no network; its content security policy
lets nothing run but its own script and style sheet. Pictures are inline SVG (`svg`), words come from `verdicts`.
"""

import platform
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pandas import DataFrame, concat
from sklearn.base import clone

from .. import __version__
from ..classifier import MLTSKClassifier
from ..core.arrays import Array, spread_rows
from ..exceptions import InputError
from ..explain import views
from ..explain.wording import name, percent, times
from ..files import check_target
from ..metrics.curves import calibration_groups, precision_recall_curve, roc_curve
from ..tables.files import read_raw
from ..tables.read import Table, read_table, sparse_rows
from . import svg
from .baselines import FOLDS, FOREST, LINEAR, MOST_ROWS, OURS, SHORT, TERMS, Comparison, compare, n_draws
from .explorer import explorer_parts, policy
from .render import _source, _template, _trusted, write_page
from .verdicts import FEW, Judged, chances_told, clearly_ahead, headline, judge, sentence

OPEN, SHAPES, EXCEPTIONS = 6, 6, 12  # labels that are unfolded, curves per label, exceptions that are told
COLUMNS, GAPS, STRIPS, PAIRS, MAPPED = 300, 40, 80, 8, 40  # that are shown of the table at most
CELLS = 200_000  # of rows to try that a page holds
PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas")
Progress = Callable[[int, int], object]


class Made(NamedTuple):
    """A review: its ``page``, its first lines, a sentence for each label, and the fitted ``model``."""

    page: str
    summary: list[str]
    labels: list[str]
    model: Any


def review(
    table: Any,
    path: str | Path,
    Y: Any = None,
    *,
    model: Any = None,
    quick: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> Path:
    """Write a page: what is in a table, how well its labels can be predicted, and what a model says about them.

    Parameters
    ----------
    table : Table of `mltsk.read_table`, or features as a data frame or array with labels ``Y``
    path : str or Path
        Where to write the page (``….html``); it opens in any browser, without a network.
    Y : data frame or array of shape (n, n_labels), optional
        Labels of 0 and 1, NaN where not observed, where ``table`` holds features alone.
    model : MLTSKClassifier, optional
        The unfitted model to fit; by default one with thresholds for the best F1.
    quick : bool, default=False
        Leave out the comparison with other methods and with shorter models.
    seed : int, default=0
        Of folds, of the forest and of intervals.
    progress : callable, optional
        Called with (steps done, steps in all).

    Examples
    --------
    >>> import tempfile
    >>> from mltsk import read_table, review
    >>> page = review(read_table("pbc"), tempfile.mkdtemp() + "/pbc.html", quick=True)
    >>> "hepatomegaly can be found" in page.read_text(encoding="utf-8")
    True
    """
    check_target(path)
    made = review_page(_table(table, Y), model=model, quick=quick, seed=seed, progress=progress)
    return write_page(made.page, path)


def _table(table: Any, Y: Any) -> Table:
    if isinstance(table, Table):
        return table
    if Y is None:
        raise InputError("review takes a table of read_table, or features and their labels: review(X, path, Y).")
    X = read_raw(table).frame if hasattr(table, "columns") else DataFrame(np.asarray(table)).add_prefix("x")
    Y = read_raw(Y).frame if hasattr(Y, "columns") else DataFrame(np.asarray(Y)).add_prefix("label ")
    return read_table(concat([X, Y.set_axis(X.index, axis=0)], axis=1), labels=list(map(str, Y.columns)))


def review_page(
    table: Table,
    *,
    model: Any = None,
    quick: bool = False,
    seed: int = 0,
    command: str = "",
    progress: Progress | None = None,
) -> Made:
    """What `review` writes, with what it says first; ``command`` repeats it, to be shown in the page."""
    if not table.label_names:
        raise InputError(f"{table.name} has no labels to review: say which columns are labels.")
    quick = quick or len(table) < 4 * FOLDS
    done = _counted(progress, 3 if quick else 4 + FOLDS * n_draws(min(len(table), MOST_ROWS)))
    X, Y = _features(table), table.Y.to_numpy(dtype=float)
    model = MLTSKClassifier(threshold="f1") if model is None else clone(model)
    fitted = clone(model).fit(X, table.Y)
    fitted.feature_names_in_ = np.array(table.feature_names, dtype=object)
    done()
    compared = None if quick else compare(model, X, Y, seed=seed, done=done)
    short = fitted.shorten(TERMS)
    done()
    path = None if quick else fitted.size_path_
    if path is not None:
        done()
    labels = judge(fitted, seed)
    told = headline(labels, compared)
    facts = {"title": name(table.name), "told": told, "rows": len(table), "features": len(table.feature_names)}
    facts |= {"labels": len(labels), "quick": quick, "table": _contents(table, Y)}
    facts |= {"judged": _judged(fitted, labels, table), "said": _said(fitted, short, labels, path, compared)}
    facts |= {"compared": None if compared is None else _comparison(compared, labels, len(table))}
    page = _rendered(_try_it(fitted, table), **facts, made=_made(table, fitted, seed, command, compared))
    done()
    return Made(page, told, [sentence(label) for label in labels], fitted)


def _counted(progress: Progress | None, total: int) -> Callable[[], object]:
    """A function to call after each step, which tells how many are done to whoever wants to know."""
    steps = count()
    done = (lambda: None) if progress is None else lambda: progress(next(steps), total)
    done()  # none yet
    return done


def _features(table: Table) -> Any:
    rows = sparse_rows(table.X)
    return table.X if rows is None else rows


def _rendered(tried: dict[str, str], **parts: Any) -> str:
    styles = [_source("base.css") + _source("review.css"), tried["style"]]
    scripts = [_source("review.js"), tried["script"]]
    ours = {"styles": _trusted(styles), "scripts": _trusted(scripts), "policy": policy(styles, scripts)}
    ours |= {"tried": _trusted(tried), "version": __version__, "effect": svg.effect}
    return _template("review.html").render(**parts, **ours)


# ---- 1. what is in the table


def _contents(table: Table, Y: Array) -> dict[str, Any]:
    """What the page shows of a table whose labels are Y (n, L), NaN where not observed."""
    observed, kinds = ~np.isnan(Y), [column.kind for column in table.columns]
    had, seen = np.nansum(Y, axis=0), observed.sum(axis=0)
    shares = had / np.maximum(seen, 1)
    return {
        "columns": [table.columns._cells(column, 60) for column in table.columns[:COLUMNS]],
        "more": max(len(table.columns) - COLUMNS, 0),
        "kinds": [times(kinds.count(kind), f"{kind} column") for kind in dict.fromkeys(kinds)],
        "notes": [name(note) for note in table.columns.notes],
        "gaps": _gaps(table),
        "labels": [
            {"name": name(label), "had": int(had[j]), "seen": int(seen[j]), "share": percent(float(shares[j]))}
            | {"bar": svg.share_bar(float(shares[j])), "rare": had[j] < FEW}
            for j, label in enumerate(table.label_names)
        ],
        **_together(table, Y),
    }


def _gaps(table: Table) -> dict[str, Any]:
    """Columns that have missing cells, where they are; most first."""
    found = []
    for frame in (table.X, table.Y):
        absent = frame.isna().to_numpy() if sparse_rows(frame) is None else np.zeros((1, 0), dtype=bool)
        parts = np.array_split(np.arange(len(frame)), min(STRIPS, len(frame)))
        for j in np.flatnonzero(absent.any(axis=0)):
            strip = np.array([absent[rows, j].mean() for rows in parts])
            found.append((float(absent[:, j].mean()), name(frame.columns[j]), strip))
    found.sort(key=lambda column: -column[0])
    shown = [
        {"name": title, "share": percent(share), "strip": svg.gaps(f"missing cells of {title}", strip)}
        for share, title, strip in found[:GAPS]
    ]
    return {"shown": shown, "more": len(found) - len(shown)}


def _together(table: Table, Y: Array) -> dict[str, Any]:
    """Which labels go together: a map of few, and pairs that are told."""
    names, L = [name(label) for label in table.label_names], Y.shape[1]
    seen = (~np.isnan(Y)).astype(float)
    filled = np.nan_to_num(Y)
    both, n = filled.T @ filled, seen.T @ seen
    first = filled.T @ seen  # how many have i, of those in whom j was observed too
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.sqrt(first * (n - first))
        C = (both * n - first * first.T) / (spread * spread.T)
    pairs = [(abs(C[i, j]), i, j) for i in range(L) for j in range(i) if np.isfinite(C[i, j]) and abs(C[i, j]) > 0.1]
    told = []
    for _, i, j in sorted(pairs, reverse=True)[:PAIRS]:
        i, j = (i, j) if first[i, j] <= first[j, i] else (j, i)  # from the rarer one
        usual = percent(first[j, i] / n[i, j])
        count = f"{int(both[i, j]):,} of {int(first[i, j]):,}"
        told.append(f"{count} with {names[i]} have {names[j]}; of all rows, {usual} do.")
    return {"pairs": told, "map": svg.together("Correlation of labels", names, C) if 2 < L <= MAPPED else None}


# ---- 2. how well it can be predicted


def _judged(model: Any, labels: list[Judged], table: Table) -> dict[str, Any]:
    some = _some(len(model._left_out[0]), len(table))
    return {"labels": [_label(label) for label in labels], "some": some, "open": len(labels) <= OPEN}


def _some(shown: int, n_rows: int) -> str:
    return "" if shown == n_rows else f"{shown:,} of {n_rows:,} rows, evenly spread"


def _label(label: Judged) -> dict[str, Any]:
    parts = {**vars(label), "sentence": sentence(label), "known": label.is_known, "rate": label.rate}
    if not label.is_known:
        return parts
    recall, given = label.found / label.cases, label.found + label.alarms
    precision = label.found / given if given else None
    at = None if precision is None else (recall, precision)
    groups = calibration_groups(label.y, label.chances)
    alarms = label.alarms / (label.observed - label.cases)
    pictures = {
        "ap": svg.interval(f"AP of {label.name}", label.AP, label.rate),
        "auc": svg.interval(f"AUC of {label.name}", label.AUC, 0.5),
        "roc": svg.roc(f"ROC curve of {label.name}", *roc_curve(label.y, label.scores), (alarms, recall)),
        "pr": svg.precision_recall(
            f"Precision and recall of {label.name}", *precision_recall_curve(label.y, label.scores), label.rate, at
        ),
        "calibration": svg.calibration(f"Calibration of {label.name}", groups),
    }
    told = {"recall": recall, "precision": precision, "chances": chances_told(groups), "pictures": pictures}
    return {**parts, **told}


def _comparison(compared: Comparison, labels: list[Judged], n_rows: int) -> dict[str, Any]:
    ahead, rows = clearly_ahead(compared, [label.name for label in labels]), []
    for i, j in enumerate(compared.labels):
        label, AP = labels[int(j)], {method: float(part[i]) for method, part in compared.AP.items()}
        if np.isfinite(AP[OURS]):
            drawn = {method: AP[method] for method in (OURS, LINEAR, FOREST)}
            found: dict[str, Any] = {"name": label.name, "rate": label.rate, "AP": AP}
            found["AUC"] = {method: float(part[i]) for method, part in compared.AUC.items()}
            found["picture"] = svg.compared(f"AP of {label.name}", drawn, label.rate)
            rows.append(found | {"better": [method for method, where in ahead.items() if label.name in where]})
    kinds = ("AP", "AUC") if rows else ()
    mean = {kind: {m: float(np.mean([row[kind][m] for row in rows])) for m in compared.AP} for kind in kinds}
    some = [] if compared.rows == n_rows else [f"{compared.rows:,} of {n_rows:,} rows"]
    some += [] if len(compared.labels) == len(labels) else [f"{len(compared.labels)} of {len(labels)} labels"]
    folds = f"{n_draws(compared.rows)} times {FOLDS} folds" if n_draws(compared.rows) > 1 else f"{FOLDS} folds"
    return {"rows": rows, "mean": mean, "methods": list(compared.AP), "some": " and ".join(some), "folds": folds}


# ---- 3. what the model says


def _said(model: Any, short: Any, labels: list[Judged], path: Any, compared: Comparison | None) -> dict[str, Any]:
    base, tables, found = short.rules_, views.tables_of(model), []
    general = {name(rule.label): rule.nodes(None, general=base.tables.start)[0] for rule in base.general}
    for label, title in zip(model.label_names_, (judged.name for judged in labels), strict=True):
        curves = views.shapes(tables, str(label), top=SHAPES)
        simple = {curve.feature: curve for curve in views.shapes(base.tables, str(label), top=TERMS)}
        reach = max((float(np.abs(curve.y).max()) for curve in curves), default=1.0) or 1.0
        drawn = [svg.shape(curve, simple.get(curve.feature), reach) for curve in curves]
        pictures = [(name(curve.feature), picture) for curve, picture in zip(curves, drawn, strict=True)]
        found.append({"name": title, "node": general.get(title), "shapes": pictures})
    most = max((abs(n.amount) for node in general.values() for n in node.walk() if n.amount), default=1.0)
    lines = {"mean over rows": path["AP"], "mean over labels": path["macro_AP"]} if path else {}
    lines = {words: part for words, part in lines.items() if np.isfinite(part).all()}
    return {
        "legend": base.legend(),
        "labels": found,
        "most": most,
        "open": len(found) <= OPEN,
        "terms": TERMS,
        "mean": _means(compared),
        "own": _exceptions(short, None),
        "exceptions": _exceptions(model, EXCEPTIONS),
        "n_exceptions": len(model.rules_),
        "n_numbers": int(model.n_terms_.max()),
        "sizes": svg.sizes("What brevity costs", path["terms"], lines, TERMS) if path and lines else None,
    }


def _means(compared: Comparison | None) -> list[float] | None:
    """Mean AP of the whole model and of the short one on the same folds, where they were compared."""
    if compared is None or not np.isfinite(compared.AP[OURS]).any():
        return None
    return [float(np.nanmean(compared.AP[method])) for method in (OURS, SHORT)]


def _exceptions(model: Any, most: int | None) -> list[Any]:
    """What exceptions cover and say, those that move most labels first."""
    rules = model.rules_
    order = np.argsort(-np.abs(rules.tables.shift_sizes).sum(axis=1), kind="stable")[:most]
    return [node for k in order for node in rules[int(k)].nodes(5)]


# ---- 4. and 5.


def _try_it(model: Any, table: Table) -> dict[str, str]:
    """The explorer of all rows, or of ``some``: style, script, data and markup."""
    rows = np.arange(len(table))[spread_rows(len(table), max(CELLS // len(table.feature_names), 50))]
    X, ids = _features(table), table.ids.iloc[rows] if len(table.ids.columns) else None
    parts = explorer_parts(model, X.iloc[rows] if hasattr(X, "iloc") else X[rows], table.Y.iloc[rows], ids=ids)
    return parts | {"some": _some(len(rows), len(table))}


def _made(table: Table, model: Any, seed: int, command: str, compared: Comparison | None) -> list[tuple[str, str]]:
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    params = {k: v for k, v in model.get_params().items() if v != type(model)().get_params()[k]}
    given = ", ".join(f"{k}={v!r}" for k, v in params.items()) or "no options"
    rules = times(len(model.rules_), "exception") if len(model.rules_) else "no exceptions"
    facts = [
        ("Table", name(table.source or table.name)),
        ("Model", f"MLTSKClassifier with {given}; {rules}, ridge {model.ridge_:.3g}"),
        ("Judged on", "leave-one-out scores; intervals are 95 %, over rows drawn again with replacement"),
        ("Seed", f"{seed}, for folds, the forest and intervals; the model itself has no chance in it"),
        ("Versions", f"mltsk {__version__}, Python {platform.python_version()}, {versions}"),
        ("Made on", date.today().isoformat()),
    ]
    if compared is not None:
        others = "scikit-learn's LogisticRegression() and RandomForestClassifier(100, min_samples_leaf=3)"
        facts.insert(3, ("Compared with", others))
    return [*facts, ("Repeat it", command)] if command else facts
