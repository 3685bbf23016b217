"""The explorer: a model as one offline page in which its inputs can be moved and its answers watched.

The page evaluates the model itself, in plain JavaScript (``templates/explorer``), from the arrays of a fuzzy system,
its words and rows to start from. Its content security policy lets nothing else run: the one script and the one style
sheet are named by their hashes, and no address may be fetched. `explorer_parts` gives the same to another page.
"""

import json
import warnings
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from .. import __version__
from ..exceptions import InputError
from ..explain.views import label_correlation_view
from ..explain.wording import name
from ..fitted import FittedAttributes
from ..metrics import evaluate
from ..pipelines import pipeline_classifier, pipeline_features, with_feature_names
from . import explorer_content as content
from .render import source, template, write_page

SCRIPTS = (
    *("model", "words", "draw", "features", "rows", "finder", "turns"),
    *("views", "rules", "map", "sizes", "state", "main"),
)
STYLE = "explorer/style.css"
LARGEST = 9_000_000  # characters of a page that shorter models may fill
SIZES = (3, 5, 8, 12, 20, 30)  # terms per label of shorter models


def explore(
    model: Any,
    path: str | Path,
    X: Any = None,
    Y: Any = None,
    *,
    ids: Any = None,
    rows: bool = True,
    neighbours: bool = False,
    title: str = "Rules",
) -> Path:
    """Write a page in which a model can be explored, to be opened by any browser without a server or a network.

    Parameters
    ----------
    model : MLTSKClassifier, IncrementalMLTSK, PaperMLTSK, or a pipeline that ends so
        Fitted. Of a pipeline the page shows the classifier, whose features are what the steps before it return. An
        MLTSKClassifier can be made shorter in the page; one from a file if X and Y are what it was fitted on.
    path : str or Path
        Where to write the page (``….html``).
    X : array, data frame or CSR of shape (n, n_features), optional
        Samples to start from, at most 2,000, evenly spread: the page holds them, so pass it on only as you would pass
        on the data. Without X it starts from an average sample and the centre of each exception.
    Y : indicator of shape (n, n_labels), optional
        Labels of those samples: the page then marks the true labels, and shows which labels go together.
    ids : list or data frame of n rows, optional
        Identifiers by which samples are found; by default the index of X.
    rows : bool, default=True
        False leaves the samples of X out of the page.
    neighbours : bool, default=False
        Whether the page lists the samples that are most like the one shown, with their labels.
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
    found = explorer_parts(
        model, X, Y, ids=ids, rows=rows, neighbours=neighbours, title=title
    )
    allowed = policy([found["style"]], [found["script"]])
    return write_page(
        template("explorer/page.html").render(policy=allowed, title=title, **found),
        path,
    )


def explorer_parts(
    model: Any, X: Any = None, Y: Any = None, *, title: str = "", **options: Any
) -> dict[str, str]:
    """What another page needs to hold an explorer; the options are those of `explore`.

    ``style`` belongs into a style element, ``markup`` where the explorer is to be, ``data`` into
    ``<script type="application/json" id="x-model">`` and ``script`` into a script element after both. All identifiers
    begin with "x-", and styles hold within ``.explorer``. `policy` allows these, and what else the page has. Without a
    title there is no heading. A colour scheme other than the system's is ``data-theme`` of the html element.
    """
    data = explorer_data(model, X, Y, **options)
    markup = template("explorer/markup.html").render(
        data, title=title, version=__version__
    )
    return {
        "style": source(STYLE),
        "script": script_source(),
        "data": embedded(data),
        "markup": markup,
    }


def embedded(data: Any) -> str:
    """JSON that can stand inside a script element: no text in it can end that element or begin a comment."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(
        {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
    )


def policy(styles: list[str], scripts: list[str]) -> str:
    """A content security policy under which these styles and these scripts run, and nothing else does."""
    known = [
        [b64encode(sha256(text.encode()).digest()).decode() for text in texts]
        for texts in (scripts, styles)
    ]
    runs, looks = (" ".join(f"'sha256-{one}'" for one in hashes) for hashes in known)
    return f"default-src 'none'; script-src {runs}; style-src {looks}; base-uri 'none'; form-action 'none'"


def script_source() -> str:
    """The page's program: its files in order, as one."""
    body = "\n".join(source(f"explorer/{name}.js") for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{body}}})();\n'


def explorer_data(
    model: Any,
    X: Any = None,
    Y: Any = None,
    *,
    ids: Any = None,
    rows: bool = True,
    neighbours: bool = False,
) -> dict[str, Any]:
    """Everything that the page needs, ready for JSON; parameters are those of `explore`."""
    pipeline, model = model, pipeline_classifier(model)
    if not isinstance(model, FittedAttributes):
        raise InputError(
            f"A {type(model).__name__} has no rules to explore: pass a fitted MLTSKClassifier."
        )
    tables, system, values, labels, kept = (
        model.rules_.effects,
        model.system_,
        None,
        None,
        None,
    )
    if X is not None:
        given, X = X, pipeline_features(pipeline, X)
        values = content.read_values(model, X)
        labels = None if Y is None else content.read_labels(model, Y, values.shape[0])
        names = content.identifiers(given, ids, values.shape[0])
        kept = content.rows_data(system, values, labels, names) if rows else None
    elif neighbours or ids is not None:
        raise InputError("Neighbours and identifiers are of rows: pass X, too.")
    data = {
        "features": [name(feature) for feature in tables.subjects.feature_names],
        **content.parts(tables, values),
    }
    data["labels"] = [name(label) for label in system.label_names]
    data["single"] = bool(not model.multilabel_ and len(model.classes_) > 2)
    data |= {
        **content.system_data(model),
        **content.ranges(system, values),
        "made": content.made_samples(tables),
    }
    view = label_correlation_view(system, labels)
    alike = {"consequents": view.consequents} | (
        {} if labels is None else {"labels": view.labels}
    )
    data["correlation"] = {
        kind: content.packed(np.round(127 * C), "i1") for kind, C in alike.items()
    }  # whole 127ths
    data |= {"rows": kept, "neighbours": neighbours and kept is not None}
    used = len(embedded(data)) + len(script_source()) + len(source(STYLE))
    room = min(used, LARGEST - used)  # no more than twice the page
    return data | {"sizes": sizes_data(model, X, Y, room)}


def sizes_data(
    model: Any, X: Any = None, Y: Any = None, room: float = np.inf
) -> list[dict[str, Any]]:
    """Models of at most ``size`` terms per label with their honest ``AP``, the model itself last; [] if it is alone.

    AP is the mean over labels on what rows score without themselves, all models on the same rows. A model from a file,
    which holds no rows, is fitted again if X and Y are its rows. Those that do not fit into ``room``, in characters of
    JSON, are left out, the longest first.
    """
    if room <= 0 or (long := _with_rows(model, X, Y)) is None:
        return []
    whole, most = content.system_data(model), int(model.n_statements_.max())
    record = long.fit_record_
    rows = record.short_models(
        SIZES[-1], long.max_conditions
    ).rows  # one choice for all
    known, scores = record.labels[rows], record.loo_scores[rows]
    found: list[dict[str, Any]] = []
    for size in (size for size in SIZES if size < most):
        short = long.shorten(size)
        own = {
            key: part
            for key, part in content.system_data(short).items()
            if part != whole[key]
        }
        room -= len(json.dumps(own, ensure_ascii=False, separators=(",", ":")))
        if room < 0:
            break
        found.append({"size": size, "AP": short.loo_scores_, **own})
    found += [{"size": most, "AP": scores}] if found else []
    for one in found:
        mean = float(np.mean(evaluate(known, one["AP"], per_label=True)["AP"]))
        one["AP"] = mean if np.isfinite(mean) else None
    return found


def _with_rows(model: Any, X: Any, Y: Any) -> Any:
    """The model where it holds rows to be shortened by, one that is fitted again and equal, or None."""
    if (
        not hasattr(model, "shorten")
        or getattr(model, "max_statements", None) is not None
    ):
        return None
    if model.fit_record_ is not None:
        return model
    if (
        X is None
        or Y is None
        or model.loo_rows_ is not None
        or len(model.loo_scores_) != X.shape[0]
    ):
        return None
    try:
        with warnings.catch_warnings(action="ignore"):  # the first fit has told
            again = clone(model).fit(X, Y, rules=model.given_rules_)
    except ValueError:
        return None
    if hasattr(model, "feature_names_in_"):  # X may come without
        again = with_feature_names(again, model.feature_names_in_)
    told, known = again.loo_scores_, model.loo_scores_
    return (
        again
        if told.shape == known.shape and np.allclose(told, known, rtol=0, atol=1e-6)
        else None
    )
