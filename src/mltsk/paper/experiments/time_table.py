"""What a run cost: processor seconds of every method on every data set."""

from .results import Results
from .selection import datasets_of, methods_of
from .table import Table, TableCell, TableRow
from .tables import method_title, title_of


def time_table(results: Results) -> Table | None:
    """Processor time of all finished and failed work, a row a protocol and data set; None when nothing was done."""
    if not len(results.cells):
        return None
    spent = results.cells.groupby(["protocol", "dataset", "method"], observed=True)["cpu_seconds"].sum().to_dict()
    rows = [
        TableRow(
            (f"protocol {protocol}", title_of(results, dataset)),
            tuple(_time(spent.get((protocol, dataset, method))) for method in methods_of(results)),
        )
        for protocol in results.run["protocols"]
        for dataset in datasets_of(results)
    ]
    total = float(results.cells["cpu_seconds"].sum())
    return Table(
        key="time",
        title="Processor time",
        caption=f"Seconds of processor time for whole grids and all folds; {duration(total)} in all.",
        heads=("protocol", "data set"),
        columns=tuple(method_title(results, key) for key in methods_of(results)),
        rows=tuple(rows),
    )


def duration(seconds: float) -> str:
    """A time in the unit that people would use.

    Examples
    --------
    >>> duration(0.42), duration(75), duration(7300), duration(90)
    ('0.4 s', '1.2 min', '2.0 h', '1.5 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


def _time(seconds: float | None) -> TableCell:
    return TableCell("—") if seconds is None else TableCell(f"{seconds:,.1f}", float(seconds))
