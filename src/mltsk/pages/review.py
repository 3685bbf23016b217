"""The review: a user's table on one offline page, what is in it, what can be predicted from it, and how.

Everything is judged on rows that the judged model has not seen (`worth`). The page needs no network; its content
security policy lets nothing run but its own script and style sheet. Pictures are inline SVG (`svg`).
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
from ..datasets.load import is_path
from ..exceptions import InputError
from ..explain import views
from ..explain.wording import name, percent
from ..files import check_outputs
from ..metrics.curves import calibration_groups, precision_recall_curve, roc_curve
from ..pipelines import with_feature_names
from ..tables.files import read_raw
from ..tables.read import DataTable, read_table, sparse_rows
from ..tables.report import report_row
from ..text import plural
from . import svg, worth
from .explorer import explorer_parts, policy
from .render import source, template, write_page

OPEN, SHAPES, EXCEPTIONS = (
    6,
    6,
    12,
)  # labels that are unfolded, curves per label, exceptions that are told
COLUMNS, GAPS, STRIPS, PAIRS, MAPPED = (
    300,
    40,
    80,
    8,
    40,
)  # that are shown of the table at most
CELLS = 200_000  # of rows to try that a page holds
ROC = ("false alarms among the others", "cases found")  # what is drawn across and up
PRECISION = ("cases found", "right among those given")
Progress = Callable[[int, int], object] | None


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
    progress: Progress = None,
) -> Path:
    """Write a page: what is in a table, how well its labels can be predicted, and what a model says about them.

    Parameters
    ----------
    table : table of `mltsk.read_table`, or features as a data frame or array with labels ``Y``
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
    is_file = isinstance(table, DataTable) and is_path(table.source)
    check_outputs([path], inputs=[table.source] if is_file else [])
    if not isinstance(table, DataTable):
        if Y is None:
            raise InputError(
                "review takes a table of read_table, or features and their labels: review(X, path, Y)."
            )
        X = (
            read_raw(table).frame
            if hasattr(table, "columns")
            else DataFrame(np.asarray(table)).add_prefix("x")
        )
        Y = (
            read_raw(Y).frame
            if hasattr(Y, "columns")
            else DataFrame(np.asarray(Y)).add_prefix("label ")
        )
        table = read_table(
            concat([X, Y.set_axis(X.index, axis=0)], axis=1),
            labels=list(map(str, Y.columns)),
        )
    made = review_page(table, model=model, quick=quick, seed=seed, progress=progress)
    return write_page(made.page, path)


def review_page(
    table: DataTable,
    *,
    model: Any = None,
    quick: bool = False,
    seed: int = 0,
    command: str = "",
    progress: Progress = None,
) -> Made:
    """What `review` writes, with what it says first; ``command`` repeats it, to be shown in the page."""
    if not table.label_names:
        raise InputError(
            f"{table.name} has no labels to review: say which columns are labels."
        )
    quick = quick or len(table) < 4 * worth.FOLDS
    steps, total = (
        count(),
        3
        if quick
        else 4 + worth.FOLDS * worth.n_draws(min(len(table), worth.MOST_ROWS)),
    )
    done = (lambda: None) if progress is None else lambda: progress(next(steps), total)
    done()  # none yet
    rows = sparse_rows(table.X)
    X, Y = table.X if rows is None else rows, table.Y.to_numpy(dtype=float)
    model = MLTSKClassifier(threshold="f1") if model is None else model
    fitted = with_feature_names(clone(model).fit(X, table.Y), table.feature_names)
    done()
    compared, path, short = None, None, fitted.shorten(worth.TERMS)
    done()
    if not quick:
        compared, path = (
            worth.compare(model, X, Y, seed=seed, done=done),
            fitted.size_path_,
        )
        done()
    labels = worth.judge(fitted, seed)
    told = worth.headline(labels, compared)
    facts = {
        "told": told,
        "labels": len(labels),
        "quick": quick,
        "table": _contents(table, Y),
    }
    facts |= {
        "judged": [_label(label) for label in labels],
        "said": _said(fitted, short, path, compared),
    }
    facts |= {
        "compared": None
        if compared is None
        else _comparison(compared, labels, len(table))
    }
    page = _rendered(
        fitted,
        X,
        table,
        facts | {"made": _made(table, fitted, seed, command, compared)},
    )
    done()
    return Made(page, told, [worth.sentence(label) for label in labels], fitted)


def _rendered(model: Any, X: Any, table: DataTable, facts: dict[str, Any]) -> str:
    rows = np.arange(len(table))[
        spread_rows(len(table), max(CELLS // len(table.feature_names), 50))
    ]
    ids = table.ids.iloc[rows] if len(table.ids.columns) else None
    tried = explorer_parts(
        model,
        X.iloc[rows] if hasattr(X, "iloc") else X[rows],
        table.Y.iloc[rows],
        ids=ids,
    )
    styles = [source("base.css") + source("review.css"), tried["style"]]
    scripts = [source("review.js"), tried["script"]]
    facts |= {
        "title": name(table.name),
        "rows": len(table),
        "features": len(table.feature_names),
    }
    facts |= {
        "styles": styles,
        "scripts": scripts,
        "policy": policy(styles, scripts),
        "version": __version__,
    }
    facts |= {"tried": tried, "effect": svg.effect, "open": facts["labels"] <= OPEN}
    for what, shown in (
        ("some_judged", len(model.fit_record_.labels)),
        ("some_tried", len(rows)),
    ):
        facts[what] = (
            ""
            if shown == len(table)
            else f"{shown:,} of {len(table):,} rows, evenly spread"
        )
    return template("review.html").render(facts)


def _contents(table: DataTable, Y: Array) -> dict[str, Any]:
    """What is in a table whose labels are Y (n, L), NaN where not observed."""
    kinds, labels = [column.kind for column in table.columns], []
    for label, y in zip(table.label_names, Y.T, strict=True):
        had, seen = int(np.nansum(y)), int((~np.isnan(y)).sum())
        share = had / max(seen, 1)
        told = {
            "name": name(label),
            "had": had,
            "seen": seen,
            "share": percent(share),
            "rare": had < worth.FEW,
        }
        labels.append(told | {"bar": svg.share_bar(share)})
    columns = [report_row(column, 60) for column in table.columns[:COLUMNS]]
    found = {
        "columns": columns,
        "more": len(table.columns) - len(columns),
        "gaps": _gaps(table),
        "labels": labels,
    }
    found["kinds"] = [
        plural(kinds.count(kind), f"{kind} column") for kind in dict.fromkeys(kinds)
    ]
    return found | {
        "notes": [name(note) for note in table.columns.notes],
        **_together(table, Y),
    }


def _gaps(table: DataTable) -> dict[str, Any]:
    """Columns that have missing cells, where they are; most first."""
    absent = concat(
        [table.Y] if sparse_rows(table.X) is not None else [table.X, table.Y], axis=1
    ).isna()
    shares = absent.mean().to_numpy()
    found = [j for j in np.argsort(-shares, kind="stable") if shares[j]]
    parts, shown = np.array_split(absent.to_numpy(), min(STRIPS, len(absent))), []
    for j in found[:GAPS]:
        title, strip = (
            name(absent.columns[j]),
            np.array([part[:, j].mean() for part in parts]),
        )
        picture = svg.gaps(f"missing cells of {title}", strip)
        shown.append(
            {"name": title, "share": percent(float(shares[j])), "strip": picture}
        )
    return {"shown": shown, "more": len(found) - len(shown)}


def _together(table: DataTable, Y: Array) -> dict[str, Any]:
    """Which labels go together: a map of few, and pairs that are told."""
    names, L = [name(label) for label in table.label_names], Y.shape[1]
    seen, filled = (~np.isnan(Y)).astype(float), np.nan_to_num(Y)
    both, n = filled.T @ filled, seen.T @ seen
    first = filled.T @ seen  # how many have i, of those in whom j was observed too
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.sqrt(first * (n - first))
        C = (both * n - first * first.T) / (spread * spread.T)
    pairs = [
        (abs(C[i, j]), i, j)
        for i in range(L)
        for j in range(i)
        if np.isfinite(C[i, j]) and abs(C[i, j]) > 0.1
    ]
    told = []
    for _, i, j in sorted(pairs, reverse=True)[:PAIRS]:
        i, j = (i, j) if first[i, j] <= first[j, i] else (j, i)  # from the rarer one
        have = f"{int(both[i, j]):,} of {int(first[i, j]):,} with {names[i]} have {names[j]}"
        told.append(f"{have}; of all rows, {percent(first[j, i] / n[i, j])} do.")
    return {
        "pairs": told,
        "map": svg.together("Correlation of labels", names, C)
        if 2 < L <= MAPPED
        else None,
    }


def _label(label: worth.Judged) -> dict[str, Any]:
    parts = {
        **label._asdict(),
        "sentence": worth.sentence(label),
        "known": label.is_known,
        "rate": label.rate,
    }
    if not label.is_known:
        return parts
    recall, given = label.found / label.cases, label.found + label.alarms
    precision, alarms = (
        label.found / given if given else None,
        label.alarms / (label.observed - label.cases),
    )
    roc, points = (
        roc_curve(label.y, label.scores),
        precision_recall_curve(label.y, label.scores),
    )
    at, groups = (
        None if precision is None else (recall, precision),
        calibration_groups(label.y, label.chances),
    )
    parts["pictures"] = {
        "ap": svg.interval(f"AP of {label.name}", label.AP, label.rate),
        "auc": svg.interval(f"AUC of {label.name}", label.AUC, 0.5),
        "roc": svg.curve(
            f"ROC curve of {label.name}", ROC, roc, [0, 1], (alarms, recall)
        ),
        "pr": svg.curve(
            f"Precision and recall of {label.name}",
            PRECISION,
            points,
            [label.rate] * 2,
            at,
        ),
        "calibration": svg.calibration(f"Calibration of {label.name}", groups),
    }
    return parts | {
        "recall": recall,
        "precision": precision,
        "chances": worth.chances_told(groups),
    }


def _comparison(
    compared: worth.Comparison, labels: list[worth.Judged], n_rows: int
) -> dict[str, Any]:
    ahead, known, rows = (
        worth.clearly_ahead(compared, labels),
        np.isfinite(compared.AP[worth.OURS]),
        [],
    )
    for i in np.flatnonzero(known):
        label, AP = (
            labels[compared.labels[i]],
            {method: float(part[i]) for method, part in compared.AP.items()},
        )
        drawn = {
            method: AP[method] for method in (worth.OURS, worth.LINEAR, worth.FOREST)
        }
        better = [method for method, where in ahead.items() if label.name in where]
        picture = svg.compared(f"AP of {label.name}", drawn, label.rate)
        rows.append(
            {
                "name": label.name,
                "rate": label.rate,
                "AP": AP,
                "picture": picture,
                "better": better,
            }
        )
    kinds = {"AP": compared.AP, "AUC": compared.AUC} if rows else {}
    mean = {
        kind: {m: float(part[known].mean()) for m, part in found.items()}
        for kind, found in kinds.items()
    }
    some = [] if compared.rows == n_rows else [f"{compared.rows:,} of {n_rows:,} rows"]
    some += (
        []
        if len(compared.labels) == len(labels)
        else [f"{len(compared.labels)} of {len(labels)} labels"]
    )
    folds = (
        f"{'2 times ' if worth.n_draws(compared.rows) == 2 else ''}{worth.FOLDS} folds"
    )
    return {
        "rows": rows,
        "mean": mean,
        "methods": list(compared.AP),
        "some": " and ".join(some),
        "folds": folds,
    }


def _said(
    model: Any, short: Any, path: Any, compared: worth.Comparison | None
) -> dict[str, Any]:
    base, tables, found = short.rules_, views.effects_of(model), []
    general = {
        rule.label: rule.nodes(None, general=base.effects.start)[0]
        for rule in base.general
    }
    for label in map(str, model.label_names_):
        curves = views.shapes(tables, label, top=SHAPES)
        simple = {
            curve.feature: curve
            for curve in views.shapes(base.effects, label, top=worth.TERMS)
        }
        reach = (
            max((float(np.abs(curve.y).max()) for curve in curves), default=1.0) or 1.0
        )
        pictures = [
            (name(curve.feature), svg.shape(curve, simple.get(curve.feature), reach))
            for curve in curves
        ]
        found.append(
            {"name": name(label), "node": general.get(label), "shapes": pictures}
        )
    most = max(
        (abs(n.amount) for node in general.values() for n in node.walk() if n.amount),
        default=1.0,
    )
    said = {
        "legend": base.legend(),
        "labels": found,
        "most": most,
        "terms": worth.TERMS,
    }
    said |= {
        "own": _exceptions(short, None),
        "exceptions": _exceptions(model, EXCEPTIONS),
    }
    said |= {
        "n_exceptions": len(model.rules_.exceptions),
        "n_numbers": int(model.n_statements_.max()),
        "mean": None,
        "sizes": None,
    }
    if (
        compared is not None and np.isfinite(compared.AP[worth.OURS]).any()
    ):  # on the same folds
        said["mean"] = [
            float(np.nanmean(compared.AP[method]))
            for method in (worth.OURS, worth.SHORT)
        ]
    lines = (
        {"mean over rows": path["AP"], "mean over labels": path["macro_AP"]}
        if path
        else {}
    )
    lines = {words: part for words, part in lines.items() if np.isfinite(part).all()}
    if lines:
        said["sizes"] = svg.sizes(
            "What brevity costs", path["terms"], lines, worth.TERMS
        )
    return said


def _exceptions(model: Any, most: int | None) -> list[Any]:
    """What exceptions cover and say, those that move most labels first."""
    rules = model.rules_
    order = np.argsort(-np.abs(rules.effects.shift_sizes).sum(axis=1), kind="stable")[
        :most
    ]
    return [node for k in order for node in rules.exceptions[int(k)].nodes(5)]


def _made(
    table: DataTable,
    model: Any,
    seed: int,
    command: str,
    compared: worth.Comparison | None,
) -> dict[str, str]:
    versions = ", ".join(
        f"{package} {version(package)}"
        for package in ("numpy", "scipy", "scikit-learn", "pandas")
    )
    params = {
        k: v
        for k, v in model.get_params().items()
        if v != type(model)().get_params()[k]
    }
    given = ", ".join(f"{k}={v!r}" for k, v in params.items()) or "no options"
    rules = plural(model.n_rules_, "exception") if model.n_rules_ else "no exceptions"
    others = "scikit-learn's LogisticRegression() and RandomForestClassifier(100, min_samples_leaf=3)"
    facts = {
        "Table": name(table.source or table.name),
        "Model": f"MLTSKClassifier with {given}; {rules}, ridge {model.ridge_:.3g}",
        "Judged on": "leave-one-out scores; intervals are 95 %, over rows drawn again with replacement",
        "Compared with": "" if compared is None else others,
        "Seed": f"{seed}, for folds, the forest and intervals; the model itself has no chance in it",
        "Versions": f"mltsk {__version__}, Python {platform.python_version()}, {versions}",
        "Made on": date.today().isoformat(),
        "Repeat it": command,
    }
    return {what: how for what, how in facts.items() if how}
