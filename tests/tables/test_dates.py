"""Dates as years with decimals, where the user wants numbers."""

import pandas as pd
import pytest

from mltsk import read_table


@pytest.mark.parametrize(
    ("cells", "years"),
    [
        (["2024-07-01", "2023-01-01"], [2024.4973, 2023]),
        (["2024-07-01T12:30", "2023-01-01 00:00:00"], [2024.4973, 2023]),
        (["1.7.2024", "31.12.2023"], [2024.4973, 2023.9973]),
        (["7/1/2024", "1/31/2023"], [2024.4973, 2023.0822]),
        (["31/01/99", "01/02/24"], [1999.0822, 2024.0847]),
        (pd.to_datetime(["2024-07-01", "2023-01-01"]), [2024.4973, 2023]),
    ],
)
def test_years_of_reads_dates_in_the_order_of_the_column(column, cells, years):
    report, values = column(cells, number="it")
    assert report.kind == "number"
    assert values == pytest.approx(years, abs=1e-4)
    assert report.notes[0].startswith("dates read as years (")


def test_years_of_are_the_same_for_a_model(column):
    table = read_table(pd.DataFrame({"it": ["2024-07-01"]}), kinds={"it": "number"})
    assert table.X["it"][0] == pytest.approx(2024.4973, abs=1e-4)


@pytest.mark.parametrize(
    "cells", [["1/2/2024", "3/4/2024"], ["2024-02-30", "2024-01-01"]]
)
def test_years_of_refuses_dates_that_nobody_can_read(refusal, cells):
    sentence = refusal(pd.DataFrame({"it": cells}), number="it")
    assert sentence.startswith("Column 'it', row 1: ")
