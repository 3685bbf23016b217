"""The table of labels that `evaluate` returns, which prints within 80 columns.

A module of its own, because pandas is slower to import than this package.
"""

from pandas import DataFrame, get_option

MAX_TEXT_WIDTH = 80
# Columns that are left out of the text where it would be wider, the first one first.
OPTIONAL_COLUMNS = ("Brier", "observed", "prevalence")


class LabelTable(DataFrame):
    """A data frame with a row per label; ``print`` shows three digits of each metric.

    What pandas makes of it, such as ``table.round(2)``, is a plain data frame.

    Examples
    --------
    >>> table = LabelTable({"AP": [2 / 3], "AUC": [0.75]}, index=["fever"])
    >>> print(table)
             AP   AUC
    fever 0.667 0.750
    """

    def __repr__(self) -> str:
        shown = DataFrame(self)
        if "Brier" in shown and shown["Brier"].isna().all():
            shown = shown.drop(columns="Brier")  # the scores are no probabilities
        left_out = []
        for column in OPTIONAL_COLUMNS:
            if column in shown and _excess(shown) > 0:
                shown = shown.drop(columns=column)
                left_out.append(column)
        excess = _excess(shown)
        if excess > 0:
            shown = _with_short_names(shown, excess)
        text = _text(shown)
        if left_out:
            text += f"\nnot shown: {', '.join(left_out)}"
        return text


def _text(table: DataFrame) -> str:
    """A table as text, with three digits."""
    return table.to_string(
        float_format="{:.3f}".format, max_rows=get_option("display.max_rows")
    )


def _excess(table: DataFrame) -> int:
    """By how many characters the text of a table is too wide."""
    return max(map(len, _text(table).splitlines())) - MAX_TEXT_WIDTH


def _with_short_names(table: DataFrame, excess: int) -> DataFrame:
    """The table with names of labels that are cut so that its text is narrower."""
    names = [str(name) for name in table.index]
    room = max(max(map(len, names)) - excess, 2)
    short = []
    for name in names:
        short.append(name if len(name) <= room else name[: room - 1] + "…")
    return table.set_axis(short).rename_axis(table.index.name)
