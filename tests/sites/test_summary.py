"""What a site tells before there is a plan."""

import json

import numpy as np
import pandas as pd
import pytest

from mltsk import read_table
from mltsk.exceptions import InputError
from mltsk.sites import summary_of
from mltsk.sites.summary import limits_of


def numbers_in(content):
    """All whole numbers above 0 in plain data."""
    if isinstance(content, dict):
        content = list(content.values())
    if isinstance(content, list):
        return [number for item in content for number in numbers_in(item)]
    return [content] if isinstance(content, int) and content > 0 else []


def test_summary_of_tells_no_count_of_few_people_and_names_no_rare_value(tables):
    for table in tables:
        summary = summary_of(table, least=10)
        counts = numbers_in([summary["features"], summary["labels"]])
        assert min(counts) >= 10
        assert "attic" not in json.dumps(summary)


def test_the_ends_of_numbers_are_those_of_the_tenth_person(tables):
    summary = summary_of(tables[0], least=10)
    age = tables[0].X["age"].to_numpy()
    told = summary["features"][0]["percentiles"]
    assert (age < told[0]).sum() >= 8
    assert (age > told[-1]).sum() >= 8


def test_limits_of_count_people_not_rows():
    numbers = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    groups = np.array([0, 0, 0, 1, 1, 2])
    assert limits_of(numbers, groups, 2) == (4.0, 5.0)


def test_a_table_of_few_people_is_refused():
    frame = pd.DataFrame({"x": [0.5, 1.5, 2.5] * 4, "y": [0, 1] * 6})
    with pytest.raises(InputError, match="too few"):
        summary_of(read_table(frame, labels=["y"]))
