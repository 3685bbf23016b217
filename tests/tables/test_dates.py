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


@pytest.mark.parametrize(
    ("cells", "years"),
    [
        (["27-NOV-86", "03-JUN-91"], [1986.9041, 1991.4192]),
        (["27NOV1986", "3JUN1991"], [1986.9041, 1991.4192]),
        (["27 November 1986", "3. Juni 1991"], [1986.9041, 1991.4192]),
        (["Nov 27, 1986", "June 3rd 1991"], [1986.9041, 1991.4192]),
        (["11/1986", "06/1991"], [1986.8329, 1991.4137]),
        (["Nov-86", "Jun-91"], [1986.8329, 1991.4137]),
        (["1986-11", "1991-06"], [1986.8329, 1991.4137]),
        (["27-nov-1986 10:12", "3 août 1991"], [1986.9041, 1991.5863]),
    ],
)
def test_years_of_knows_names_of_months(column, cells, years):
    assert column(cells)[0].kind == "date"
    report, values = column(cells, number="it")
    assert report.kind == "number"
    assert values == pytest.approx(years, abs=1e-4)


@pytest.mark.parametrize(
    "cells",
    [
        ["3/4", "5/6"],
        ["Mayer 12", "Junge 34"],
        ["120/1500", "130/1600"],
        ["SEPT11", "MARCH10"],  # genes
        ["2000-1", "2000-2"],  # semesters
    ],
)
def test_dates_are_not_seen_where_there_are_none(column, cells):
    assert column(cells * 5)[0].kind != "date"


def test_dates_without_signs_are_no_measurements(column):
    cells = ["19861127", "19910603", "20240229"] * 4
    for values in (cells, list(map(int, cells))):
        report, _ = column(values)
        assert report.kind == "date"
        assert "left out as a date without signs; --age as an age" in report.notes[0]
    report, values = column(cells, number="it")
    assert (report.kind, values[0]) == ("number", 19861127)
    # one such number among others is a number
    assert column([*cells, "19861327"])[0].kind == "number"
