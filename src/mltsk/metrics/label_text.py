"""The table of labels as text: a line per label, then means, within 80 columns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mltsk.exceptions import printable
from mltsk.text import padded, plural, shortened, width_of

if TYPE_CHECKING:
    from pandas import DataFrame  # slower to import than this package

MAX_TEXT_WIDTH = 80
MAX_SHOWN_LABELS = 20
MIN_DIGITS_WIDTH = len("0.123")
COUNTS = ("observed",)
AVERAGED_METRICS = ("AP", "AUC", "sensitivity", "precision", "Brier")


def label_text(metrics: "DataFrame", columns: Sequence[str]) -> str:
    """A row per label of metrics, for the first labels, and their mean.

    Long names are cut so that lines are at most 80 characters long. A dash stands where
    a metric is about no row.
    """
    widths = [max(len(column), MIN_DIGITS_WIDTH) for column in columns]
    room = MAX_TEXT_WIDTH - sum(widths) - len(widths)
    shown = metrics[list(columns)][:MAX_SHOWN_LABELS]
    rows = [("label", list(columns))]
    decimals = [0 if column in COUNTS else 3 for column in columns]
    for name, *values in shown.itertuples():
        digits = list(map(digits_of, values, decimals))
        rows.append((shortened(printable(str(name)), room), digits))
    n_more = len(metrics) - len(shown)
    if len(metrics) > 1:
        rows.append((shortened("mean of labels", room), _means(metrics, columns)))
    longest = max(width_of(name) for name, _ in rows)
    lines = []
    for name, cells in rows:
        digits = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
        lines.append(" ".join([padded(name, longest), *digits]).rstrip())
    if n_more > 0:
        lines.insert(-1, f"… and {plural(n_more, 'more label')}")
    return "\n".join(lines)


def _means(metrics: "DataFrame", columns: Sequence[str]) -> list[str]:
    """Means over labels of the metrics for which a mean says something."""
    means = []
    for column in columns:
        mean = metrics[column].mean() if column in AVERAGED_METRICS else float("nan")
        means.append("" if mean != mean else digits_of(mean, 3))
    return means


def digits_of(value: float, n_decimals: int) -> str:
    """A number with some decimals, a whole one without, a dash for NaN."""
    if value != value:
        return "-"
    if value == int(value) and value > 1:
        return str(int(value))
    return f"{value:.{n_decimals}f}"
