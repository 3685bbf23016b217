"""What a site tells about its table before there is a plan: counts and percentiles.

Values that fewer than ``least`` people have are not named, counts are multiples of
``least``, and the ends of numbers are those of the ``least``-th person from each end.
Counts are not exact, because exact ones less those of sums would tell how few people
were hidden there. Percentiles are rounded, because they lie at the numbers of single
people.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray
from ..exceptions import InputError
from ..fit.left_out import Groups
from ..frames import InputColumn, columns_of
from ..tables.kinds import CONSTANT
from ..text import plural

if TYPE_CHECKING:
    from ..tables import DataTable
    from ..tables.report import ColumnSummary

LEAST_PEOPLE = 10
SUMMARY_FORMAT = "mltsk summary"
SUMMARY_VERSION = 1
N_PERCENTILES = 21
PERCENTILE_DIGITS = 3
# A number with at most so many values is told value by value.
MAX_COUNTED_VALUES = 12

Json = Any


def n_people(rows: NDArray[np.bool_], groups: Groups) -> int:
    """How many people some rows are about: groups count once."""
    if groups is None:
        return int(rows.sum())
    return len(np.unique(groups[rows]))


def summary_of(table: "DataTable", least: int = LEAST_PEOPLE) -> dict[str, Json]:
    """The summary of a table with labels, as plain data for JSON.

    Parameters
    ----------
    table : DataTable
    least : int
        Nothing is told about fewer people than this.

    Examples
    --------
    >>> from mltsk import read_table
    >>> summary = summary_of(read_table("pbc"))
    >>> summary["people"], summary["labels"][0]
    (410, {'name': 'ascites', 'observed': 300, 'cases': 20})
    """
    groups = table.groups
    everyone = np.ones(len(table), dtype=bool)
    people = n_people(everyone, groups)
    if people < 2 * least:
        raise InputError(
            f"{table.name} is about {plural(people, 'person', 'people')}, too few to "
            f"be told without fewer than {least} of them: share {2 * least} or more, "
            "or set --least."
        )
    features = []
    units = table.units
    for column, kind in zip(columns_of(table.X), table.kinds.values(), strict=True):
        feature = _feature(column, kind, groups, least)
        if column.name in units:
            feature["unit"] = units[column.name]
        features.append(feature)
    for summary in table.columns:
        if summary.kind == CONSTANT:
            features.append(_constant(summary, least))
    labels = []
    for name in table.label_names:
        labels.append(_label(str(name), table.Y[name].to_numpy(float), groups, least))
    return {
        "format": SUMMARY_FORMAT,
        "version": SUMMARY_VERSION,
        "site": table.name,
        "least": least,
        "people": _rounded(people, least),
        "rows": _rounded(len(table), least),
        "features": features,
        "labels": labels,
    }


def _feature(
    column: InputColumn, kind: str | tuple[str, ...], groups: Groups, least: int
) -> dict[str, Json]:
    """What is told about a feature."""
    is_missing = column.is_missing()
    plain_kind = kind if isinstance(kind, str) else list(kind)
    about: dict[str, Json] = {
        "name": column.name,
        "kind": plain_kind,
        "rows": _told(~is_missing, groups, least),
        "missing": _told(is_missing, groups, least),
    }
    if column.is_nominal or column.levels is not None:
        words = column.words.by_row()
        about["values"] = _counts(
            words[~is_missing], groups_of_rows(groups, ~is_missing), least
        )
        return about
    numbers = column.as_numbers()
    measured = numbers[~np.isnan(numbers)]
    own_groups = groups_of_rows(groups, ~np.isnan(numbers))
    different = np.unique(measured)
    if len(different) <= MAX_COUNTED_VALUES:
        counts = _counts(measured, own_groups, least)
        about["numbers"] = [[float(value), count] for value, count in counts]
        return about
    if n_people(~np.isnan(numbers), groups) < 2 * least:  # of these there are no ends
        about["numbers"] = []
        return about
    percentiles = percentiles_of(measured, own_groups, least)
    if least > 1:
        percentiles = _short(percentiles)
    about["percentiles"] = percentiles.tolist()
    return about


def _constant(column: "ColumnSummary", least: int) -> dict[str, Json]:
    """What is told about a column that is the same in all rows of this site.

    Elsewhere it may be a feature. Its value is told if everybody has it.
    """
    everybody = _rounded(column.rows, least)
    has_gaps = bool(column.missing)
    is_empty = not column.examples
    return {
        "name": column.name,
        "kind": CONSTANT,
        "rows": 0 if has_gaps else everybody,
        "missing": everybody if is_empty else 0,
        "values": [] if has_gaps else [[column.examples[0], everybody]],
    }


def groups_of_rows(groups: Groups, rows: NDArray[np.bool_]) -> Groups:
    """Groups of some rows."""
    return None if groups is None else groups[rows]


def _told(rows: NDArray[np.bool_], groups: Groups, least: int) -> int:
    """About how many rows there are; 0 where they are about too few people."""
    if n_people(rows, groups) < least:
        return 0
    return _rounded(int(rows.sum()), least)


def _rounded(count: int, least: int) -> int:
    """The multiple of ``least`` that is not above a count.

    >>> _rounded(418, 10), _rounded(418, 1)
    (410, 418)
    """
    return count - count % least


def _short(percentiles: FloatArray) -> FloatArray:
    """Percentiles as fine as a thousandth of their range, in round units."""
    span = float(percentiles[-1] / 2 - percentiles[0] / 2) * 2
    if not 0 < span < np.inf:
        return percentiles
    digits = PERCENTILE_DIGITS - int(np.floor(np.log10(span)))
    return np.asarray(np.round(percentiles, digits))


def _counts(values: NDArray[Any], groups: Groups, least: int) -> list[list[Json]]:
    """Values that enough people have, with how many rows have each."""
    counts = []
    for value in sorted(set(values.tolist())):
        count = _told(values == value, groups, least)
        if count:
            counts.append([value, count])
    return counts


def limits_of(numbers: FloatArray, groups: Groups, least: int) -> tuple[float, float]:
    """The numbers of the ``least``-th person from each end."""
    ends = []
    for order in (np.argsort(numbers), np.argsort(-numbers)):
        if groups is None:
            place = min(least, len(order)) - 1
        else:
            _, first = np.unique(groups[order], return_index=True)
            place = int(np.sort(first)[min(least, len(first)) - 1])
        ends.append(float(numbers[order[place]]))
    return ends[0], max(ends)


def percentiles_of(numbers: FloatArray, groups: Groups, least: int) -> FloatArray:
    """Percentiles 0, 5, …, 100, the ends moved in to the ``least``-th person."""
    low, high = limits_of(numbers, groups, least)
    shares = np.linspace(0.0, 1.0, N_PERCENTILES)
    return np.quantile(np.clip(numbers, low, high), shares)


def _label(name: str, y: FloatArray, groups: Groups, least: int) -> dict[str, Json]:
    """What is told about a label: nothing where cases or others are too few."""
    cases = _told(y == 1, groups, least)
    others = _told(y == 0, groups, least)
    if not cases or not others:
        return {"name": name, "observed": 0, "cases": 0}
    return {"name": name, "observed": cases + others, "cases": cases}
