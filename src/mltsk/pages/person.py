"""One person on one printable page: probabilities, how sure they are, and why."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import __version__
from ..classifier import MLTSKClassifier
from ..columns import in_known_capitals
from ..explain.why import ROUNDED_TO_NOTHING, Part
from ..explain.wording import name, number
from ..files import check_outputs
from ..frames import InputColumn, columns_of
from ..person import Person, PersonLabel, person
from ..rows.read import TableLike
from ..text import listing, plural
from .render import template, write_page

MAX_SHOWN_REASONS = 6
NO_REASONS = ("base", "slope")  # parts of a score that say nothing about a person


def person_sheet(
    model: MLTSKClassifier,
    X: TableLike,
    path: str | Path,
    *,
    title: str = "One person",
    neighbours: int = 0,
    ids: pd.DataFrame | None = None,
    Y: pd.DataFrame | None = None,
) -> Path:
    """Write what a model says about one person, how sure it is, and why.

    Parameters
    ----------
    model : MLTSKClassifier
        Fitted without this person. A model from a file gives no interval: it holds no
        rows.
    X : data frame or array of shape (1, n_features)
    path : str or Path
        Where to write the page (``….html``); it prints on paper as it is.
    title : str, optional
        The heading, such as the name of the person.
    neighbours : int, default=0
        How many rows of the fit that are most like this person to show.
    ids, Y : data frames, optional
        Identifiers and labels of the rows of the fit, to show of these neighbours,
        which are called as the index has them.

    Examples
    --------
    >>> import tempfile
    >>> from mltsk import MLTSKClassifier, person_sheet, read_table
    >>> table = read_table("pbc")
    >>> clf = MLTSKClassifier().fit(table.X[1:], table.Y[1:])
    >>> page = person_sheet(clf, table.X[:1], tempfile.mkdtemp() + "/person.html")
    >>> "95 % interval" in page.read_text(encoding="utf-8")
    True
    """
    check_outputs([path])
    html = person_page(model, X, title=title, neighbours=neighbours, ids=ids, Y=Y)
    return write_page(html, path)


def person_page(
    model: MLTSKClassifier,
    X: TableLike,
    *,
    title: str,
    neighbours: int = 0,
    ids: pd.DataFrame | None = None,
    Y: pd.DataFrame | None = None,
) -> str:
    """The page that `person_sheet` writes."""
    answer = person(model, X, neighbours)
    return template("person.html").render(
        title=name(title),
        labels=[_label_facts(label) for label in answer.labels],
        is_sure=answer.n_rows > 0,
        n_rows=answer.n_rows,
        known=_known(X, model),
        beyond=_beyond_the_fit(X, model),
        neighbours=_neighbour_facts(answer, ids, Y),
        origin=f"{date.today():%d %B %Y}, mltsk {__version__}",
    )


def _label_facts(label: PersonLabel) -> dict[str, Any]:
    """What the page shows of one label."""
    reasons = [part for part in label.why.parts if part.part not in NO_REASONS]
    reasons = [part for part in reasons if abs(part.contribution) > ROUNDED_TO_NOTHING]
    reasons.sort(key=lambda part: -abs(part.contribution))
    most = max((abs(part.contribution) for part in reasons), default=1.0)
    start = sum(part.contribution for part in label.why.of_kind("base"))
    rest = reasons[MAX_SHOWN_REASONS:]
    return {
        "name": name(label.label),
        "probability": _percent(label.probability),
        "place": 100 * label.probability,
        "low": 100 * label.low,
        "high": 100 * label.high,
        "has_interval": not np.isnan(label.low),
        "interval": f"{_percent(label.low)} to {_percent(label.high)}",
        "threshold": 100 * label.threshold,
        "verdict": _verdict(label),
        "refits": _refit_sentence(label),
        "start": f"{start:+.2f}",
        "reasons": [_reason_facts(part, most) for part in reasons[:MAX_SHOWN_REASONS]],
        "rest": _rest(rest),
        "measure": _measure_sentence(label),
    }


def _percent(share: float) -> str:
    """A share in per cent, with one decimal near 0 and 100."""
    if np.isnan(share):
        return "unknown"
    percent = 100 * share
    digits = int(min(percent, 100 - percent) < 1)
    return f"{percent:.{digits}f} %"


def _verdict(label: PersonLabel) -> str:
    """Whether the model gives the label."""
    threshold = f"{100 * label.threshold:.3g} %"
    if label.is_given:
        return f"reaches {threshold}, from which on the model says {name(label.label)}"
    return f"below {threshold}, from which on the model would say {name(label.label)}"


def _refit_sentence(label: PersonLabel) -> str:
    """How much the answer moves if the model is fitted to other rows."""
    n_refits = len(label.refits)
    if not n_refits:
        return ""
    low, high = label.refit_range
    same = "all come" if label.agreeing == n_refits else f"{label.agreeing} come"
    return (
        f"Of {n_refits} models, each fitted to a random half of the table, eight in "
        f"ten say {_percent(low)} to {_percent(high)}, and {same} to the same answer."
    )


def _reason_facts(part: Part, most: float) -> dict[str, Any]:
    """A reason with its amount and the length of its bar."""
    return {
        "words": name(part.words),
        "amount": f"{part.contribution:+.2f}",
        "size": 100 * abs(part.contribution) / most,
        "is_for": part.contribution > 0,
    }


def _rest(parts: list[Part]) -> str:
    """What all smaller reasons add together."""
    if not parts:
        return ""
    amount = sum(part.contribution for part in parts)
    return f"{amount:+.2f} by {plural(len(parts), 'smaller reason')} together"


def _measure_sentence(label: PersonLabel) -> str:
    """What to measure next."""
    if not label.measurements:
        return ""
    named = []
    for measurement in label.measurements:
        ends = f"{_percent(measurement.low)} and {_percent(measurement.high)}"
        named.append(f"{name(measurement.name)} (between {ends})")
    return (
        "Not measured, and what the probability would be for eight in ten people if "
        f"it were: {listing(named)}."
    )


def _known(X: TableLike, model: MLTSKClassifier) -> list[tuple[str, str]]:
    """What is known about the person: features and values as they came."""
    names = getattr(model, "feature_names_in_", None)
    columns = columns_of(X if hasattr(X, "shape") else np.asarray(X))
    facts = []
    for d, column in enumerate(columns):
        own = column.name if names is None else names[d]
        text = column.words.by_row()[0]
        facts.append((name(own), "not measured" if text is None else name(text)))
    return facts


def _beyond_the_fit(X: TableLike, model: MLTSKClassifier) -> list[str]:
    """Values of the person that the model has never seen, and what it makes of them."""
    columns = model.system_.columns
    if columns is None:
        return []
    cells = columns_of(X if hasattr(X, "shape") else np.asarray(X))
    unseen = []
    for d, kind in enumerate(columns.kinds):
        known = columns.known_words(d)
        if kind == "number":
            continue
        (text,) = in_known_capitals(cells[d], known).by_row()
        if text is not None and text not in known:
            unseen.append(f"{name(columns.names[d])} ({name(text)})")
    lines = []
    if unseen:
        lines.append(
            f"Never seen in the fit, and counted as nothing: {listing(unseen)}."
        )
    far = _far_numbers(cells, model)
    if far:
        lines.append(
            "Beyond all numbers of the fit, and counted as the nearest of them: "
            f"{listing(far)}. Is the unit the same?"
        )
    return lines


def _far_numbers(cells: Sequence[InputColumn], model: MLTSKClassifier) -> list[str]:
    """Numbers of the person beyond the least and largest of the fit, with these."""
    columns = model.system_.columns
    quantiles = model.system_.quantiles
    if columns is None or quantiles is None:
        return []
    far = []
    for part, knots in zip(columns.parts, quantiles, strict=False):
        is_number = part.feature >= 0 and part.value is None
        if not is_number or columns.kinds[part.feature] != "number":
            continue
        value = float(cells[part.feature].as_numbers()[0])
        low, high = float(knots[0]), float(knots[-1])
        if value < low or value > high:
            ends = f"{number(low, 0)} to {number(high, 0)}"
            far.append(f"{name(columns.names[part.feature])} ({ends})")
    return far


def _neighbour_facts(
    answer: Person, ids: pd.DataFrame | None, Y: pd.DataFrame | None
) -> list[dict[str, str]]:
    """The rows that are most like the person, and what was recorded of them."""
    facts = []
    for neighbour in answer.neighbours:
        cells = {"row": str(neighbour.row)}
        for frame in (ids, Y):
            if frame is not None:
                cells["row"] = name(str(frame.index[neighbour.row]))
        if ids is not None:
            for column, value in ids.iloc[neighbour.row].items():
                cells[name(str(column))] = name(str(value))
        cells["distance"] = f"{neighbour.distance:.2f}"
        if Y is not None:
            for label, value in Y.iloc[neighbour.row].items():
                seen = {1.0: "yes", 0.0: "no"}.get(value, "not observed")
                cells[name(str(label))] = seen
        facts.append(cells)
    return facts
