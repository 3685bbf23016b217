"""Rows of the table that are worth a second look, as a part of the review."""

from typing import Any

import pandas as pd

from ..explain.wording import name
from ..surprises import SecondLook, second_look
from ..tables.table import DataTable
from .sections import Review, Section

MAX_SHOWN_ROWS = 8
MAX_SHOWN_PULLING = 5
WHAT_CHANCE_DOES = (
    '"Expected by chance" is how many labels at least as unlikely there would be if '
    "all records were right."
)


def second_look_section(review: Review) -> Section | None:
    """Labels that look wrong, and rows that pull hardest, of the table of the fit."""
    if review.is_finished:
        return None
    table = review.training or review.table
    look = second_look(review.taken, at_most=MAX_SHOWN_ROWS)
    return Section(
        key="second-look",
        title="Rows worth a second look",
        bar_title="Second look",
        template="review/second_look.html",
        facts={
            "sentence": look_sentence(look),
            "note": WHAT_CHANCE_DOES,
            "unlikely": [_unlikely(row, table) for row in _rows(look.unlikely)],
            "pulling": [
                _pulling(row, table) for row in _rows(look.pulling)[:MAX_SHOWN_PULLING]
            ],
        },
    )


def second_look_csv_lines(
    look: SecondLook, table: DataTable
) -> tuple[list[str], list[list[object]]]:
    """The unlikely labels as a header and lines of a CSV file, with identifiers."""
    names = [str(column) for column in table.ids.columns]
    header = ["row", *names, *look.unlikely.columns[1:]]
    lines: list[list[object]] = []
    for row in _rows(look.unlikely):
        ids = table.ids.iloc[row["row"]].astype(object)
        identifiers = ids.where(ids.notna(), None).tolist()
        cells = [_cell(row[column]) for column in look.unlikely.columns[1:]]
        lines.append([row["row"] + 1, *identifiers, *cells])
    return header, lines


def _cell(value: object) -> object:
    """A cell of a CSV file: numbers have five digits."""
    return f"{value:.5g}" if isinstance(value, float) else value


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame as dicts."""
    return frame.to_dict(orient="records")


def look_sentence(look: SecondLook) -> str:
    """Whether something here is more than chance."""
    n_clear = len(look.clear)
    if not len(look.unlikely):
        return "No label was observed."
    looked = f"{look.n_cells:,} recorded labels were looked at."
    if n_clear:
        which = "The first" if n_clear == 1 else f"The first {n_clear}"
        return (
            f"{looked} {which} of these would hardly come up by chance: check the "
            "record."
        )
    by_chance = look.unlikely["by_chance"].iloc[0]
    count = f"{by_chance:.1f}" if by_chance < 10 else f"{by_chance:.0f}"
    return (
        f"{looked} None is so unlikely that it must be a slip: if all records were "
        f"right, about {count} would still look as unlikely as the first."
    )


def _unlikely(row: dict[str, Any], table: DataTable) -> dict[str, str]:
    """A label that looks wrong, in words."""
    recorded = "yes" if row["recorded"] else "no"
    return {
        "who": _who(row["row"], table),
        "label": name(row["label"]),
        "recorded": recorded,
        "probability": f"{100 * row['probability']:.1f} %",
        "by_chance": f"{row['by_chance']:.2g}",
        "reasons": row["reasons"],
    }


def _pulling(row: dict[str, Any], table: DataTable) -> dict[str, str]:
    """A row that moves its own answer, in words."""
    return {
        "who": _who(row["row"], table),
        "label": name(row["label"]),
        "recorded": "yes" if row["recorded"] else "no",
        "with_it": f"{100 * row['with_it']:.0f} %",
        "without_it": f"{100 * row['without_it']:.0f} %",
    }


def _who(row: int, table: DataTable) -> str:
    """A row by its number from 1 on, and its first identifier if it has one."""
    number = f"row {row + 1:,}"
    if not len(table.ids.columns):
        return number
    column = table.ids.columns[0]
    return f"{number} ({name(str(column))} {name(str(table.ids.iloc[row, 0]))})"
