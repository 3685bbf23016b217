"""Sheets of points: one A4 page per label, or Markdown, or CSV.

A sheet is made as data → template, and holds all of what `mltsk.PointsClassifier`
computes. `points_facts` are the data, for other pages that show them.
"""

from datetime import date
from pathlib import Path
from typing import Any

from pandas import Series

from .. import __version__
from ..exceptions import InputError, check_installed
from ..explain.points import PointsItem, PointsSheet, percent_text
from ..explain.wording import name
from ..files import check_outputs, csv_text
from ..points import PointsClassifier
from ..text import listing, plural
from .nomogram import nomogram
from .render import template, write_page

SUFFIXES = (".html", ".md", ".csv")
TOTALS_PER_LINE = 12  # of the table of probabilities: a phone has room for so many
CSV_HEADER = (
    "label",
    "part",
    "feature",
    "from",
    "below",
    "value",
    "points",
    "probability",
)


def points_sheet(
    points: PointsClassifier, path: str | Path, *, title: str = ""
) -> Path:
    """Write the sheets of points that add up, a page per label.

    Parameters
    ----------
    points : PointsClassifier
        What ``clf.points()`` returns.
    path : str or Path
        ``….html`` prints on one A4 page per label, with a nomogram; ``….md`` and
        ``….csv`` hold the same points.
    title : str, optional
        Where the points come from, such as the name of the table.

    Examples
    --------
    >>> import tempfile
    >>> from mltsk import MLTSKClassifier, points_sheet, read_table
    >>> table = read_table("pbc")
    >>> points = MLTSKClassifier().fit(table.X, table.Y).points(max_statements=4)
    >>> page = points_sheet(points, tempfile.mkdtemp() + "/pbc.html", title="pbc")
    >>> "Points for hepatomegaly" in page.read_text(encoding="utf-8")
    True
    """
    path = Path(path)
    check_outputs([path])
    return write_page(sheet_text(points, path, title=title), path)


def check_sheet_path(path: str | Path) -> None:
    """Refuse a file whose name does not say how to write it."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            f"{path} does not say how to write it: end its name with "
            f"{listing(SUFFIXES, last='or')}."
        )
    if suffix == ".html":
        check_installed("jinja2", extra="report")


def sheet_text(points: PointsClassifier, path: str | Path, *, title: str) -> str:
    """The sheets as HTML, Markdown or CSV, by the end of the file's name."""
    check_sheet_path(path)
    suffix = Path(path).suffix.lower()
    if suffix == ".csv":
        return points_csv(points)
    facts = [points_facts(points, j) for j in range(len(points.sheets_))]
    kind = "points.html" if suffix == ".html" else "points.md"
    origin = f"{name(title)}, " if title else ""
    origin = f"{origin}{date.today():%d %B %Y}, mltsk {__version__}"
    return template(kind).render(
        title=f"Points: {name(title)}" if title else "Points",
        sheets=facts,
        origin=origin,
    )


def points_facts(points: PointsClassifier, j: int) -> dict[str, Any]:
    """What the sheet of one label shows, as plain data for a template."""
    sheet = points.sheets_[j]
    return {
        "label": name(sheet.label),
        "items": [_item_facts(item) for item in sheet.items],
        "total_lines": _total_lines(sheet),
        "verdict": _verdict(sheet),
        "worth": _worth_sentences(points, j),
        "nomogram": nomogram(sheet),
    }


def _item_facts(item: PointsItem) -> dict[str, Any]:
    """A feature, its findings with their points, and the points if not measured."""
    *found, missing = item.choices()
    choices = [(name(text), given) for text, given in found]
    return {"name": name(item.name), "choices": choices, "missing": missing[1]}


def _total_lines(sheet: PointsSheet) -> list[list[dict[str, Any]]]:
    """Lines of the table from totals to probabilities."""
    cut = sheet.cut
    cells = []
    for total, probability in enumerate(sheet.probabilities):
        is_given = cut is not None and total >= cut
        percent = percent_text(probability)
        cells.append({"total": total, "percent": percent, "given": is_given})
    n_lines = -(-len(cells) // TOTALS_PER_LINE)
    per_line = -(-len(cells) // n_lines)
    return [cells[i : i + per_line] for i in range(0, len(cells), per_line)]


def _verdict(sheet: PointsSheet) -> str:
    """From which total on the label is given."""
    label = name(sheet.label)
    threshold = f"{100 * sheet.threshold:.3g} %"
    if sheet.cut is None:
        return f"No total reaches {threshold}, from which on {label} would be given."
    if sheet.cut == 0:
        return f"Every total reaches {threshold}, from which on {label} is given."
    return f"{plural(sheet.cut, 'point')} or more: {label} is given (from {threshold})."


def _worth_sentences(points: PointsClassifier, j: int) -> list[str]:
    """How well the sheet tells the label, on rows that were left out."""
    worth = points.worth_.iloc[j]
    label = name(points.sheets_[j].label)
    seen = f"{worth['cases']:,.0f} of {worth['observed']:,.0f} rows had {label}."
    if worth.isna().any():
        return [f"{seen} That is too one-sided to say how good the sheet is."]
    pairs = (
        f"Of two rows, one with {label} and one without, the one with it has more "
        f"points in {100 * worth['AUC']:.0f} of 100 pairs (AUC "
        f"{_with_range(worth, 'AUC')})."
    )
    precision = (
        f"Average precision: {_with_range(worth, 'AP')} with these points, "
        f"{worth['AP_short']:.2f} by the same number of statements before rounding, "
        f"{worth['AP_long']:.2f} by the whole model, "
        f"{worth['AP_guessed']:.2f} by guessing."
    )
    return [seen, pairs, precision]


def _with_range(worth: Series, figure: str) -> str:
    """A figure with its 95 % interval, such as "0.57 [0.35 to 0.76]"."""
    low = worth[f"{figure}_low"]
    high = worth[f"{figure}_high"]
    return f"{worth[figure]:.2f} [{low:.2f} to {high:.2f}]"


# CSV ----------------------------------------------------------------------------------


def points_csv(points: PointsClassifier) -> str:
    """All sheets as one table for programs.

    The part "range" has numbers from one end to below the other (an empty end is
    open), "value" a word, "other" any other word, "missing" no cell; "total" has the
    probability of a sum of points, "threshold" that from which on a label is given.
    """
    lines: list[tuple[object, ...]] = []
    for sheet in points.sheets_:
        for item in sheet.items:
            lines += [(sheet.label, *line, None) for line in _item_lines(item)]
        for total, probability in enumerate(sheet.probabilities):
            lines.append(_line(sheet.label, "total", total, probability))
        lines.append(_line(sheet.label, "threshold", sheet.cut, sheet.threshold))
    return csv_text(CSV_HEADER, lines)


def _line(
    label: str, part: str, points: int | None, probability: float
) -> tuple[object, ...]:
    """A line about totals."""
    return label, part, None, None, None, None, points, probability


def _item_lines(item: PointsItem) -> list[tuple[object, ...]]:
    """Lines about a feature: part, feature, from, below, value, points."""
    lines: list[tuple[object, ...]] = []
    if item.values:
        for value, given in zip(item.values, item.points, strict=True):
            lines.append(("value", item.name, None, None, value, given))
        lines.append(("other", item.name, None, None, None, item.other))
    else:
        starts = [None, *item.cuts]
        stops = [*item.cuts, None]
        for start, stop, given in zip(starts, stops, item.points, strict=True):
            lines.append(("range", item.name, start, stop, None, given))
    lines.append(("missing", item.name, None, None, None, item.missing))
    return lines
