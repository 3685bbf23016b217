"""Dates of birth as ages, up to another date or to a day."""

import pandas as pd
import pytest

from mltsk import read_table
from mltsk.exceptions import InputError

FRAME = pd.DataFrame(
    {
        "born": ["20.11.1934", "07.06.1964", ""],
        "visit": ["20.11.2022", "07.12.2021", "01.01.2022"],
        "gout": [0, 1, 1],
    }
)


def test_read_table_reads_a_date_as_the_age_at_another():
    table = read_table(FRAME, "gout", age="born:visit")
    ages = table.X["age (born)"].tolist()
    assert ages[:2] == [88.0, 57.5]
    assert ages[2] != ages[2]
    assert "age (born): years from born to visit" in table.columns.notes
    until_day = read_table(FRAME, "gout", age={"born": "2024-11-20"})
    assert until_day.X["age (born)"].tolist()[0] == 90.0


@pytest.mark.parametrize(
    ("age", "sentence"),
    [
        ("born", "is not written as born:visit"),
        ("birth:visit", "has no column 'birth'"),
        ("gout:visit", "'0' is no date whose day and month can be told"),
        ("born:yesterday", "'yesterday' is no date"),
    ],
)
def test_read_table_refuses_ages_of_what_is_no_date(age, sentence):
    with pytest.raises(InputError) as refused:
        read_table(FRAME, "gout", age=age)
    assert sentence in str(refused.value)


def test_read_table_reads_births_of_two_digits_in_the_past():
    frame = FRAME.assign(born=["27-NOV-56", "03-JUN-61", "20.11.1990"])
    table = read_table(frame, "gout", age="born:visit")
    assert table.X["age (born)"].tolist() == [65.98, 60.51, 31.12]
    assert "born: 27-NOV-56 is of the last century" in table.columns.notes


def test_read_table_reads_dates_without_signs_as_ages():
    frame = FRAME.assign(born=[19341120, 19640607, 19700101])
    table = read_table(frame, "gout", age="born:visit")
    assert table.X["age (born)"].tolist()[:2] == [88.0, 57.5]
