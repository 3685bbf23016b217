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


def test_counts_of_a_summary_are_about_right_and_no_difference_of_them_is_of_few(
    tables,
):
    summary = summary_of(tables[1], least=10)
    assert len(tables[1]) - 10 < summary["rows"] <= len(tables[1])
    counts = numbers_in([summary["features"], summary["labels"]])
    assert {count % 10 for count in [*counts, summary["rows"]]} == {0}


def test_percentiles_are_not_the_exact_numbers_of_single_people():
    rng = np.random.default_rng(0)
    x = rng.normal(500, 100, 101)
    frame = pd.DataFrame({"x": x, "y": np.arange(101) % 2})
    told = summary_of(read_table(frame, labels=["y"]))["features"][0]["percentiles"]
    assert not set(told) & set(x.tolist())
    exact = np.quantile(x, np.linspace(0.1, 0.9, 17))
    assert np.abs(np.array(told[2:-2]) - exact).max() < 1


def test_a_number_measured_in_few_people_has_no_percentiles():
    rng = np.random.default_rng(0)
    x = np.where(np.arange(90) < 15, rng.normal(size=90), np.nan)
    frame = pd.DataFrame({"x": x, "z": rng.normal(size=90), "y": np.arange(90) % 2})
    feature = summary_of(read_table(frame, labels=["y"]))["features"][0]
    assert "percentiles" not in feature
    assert feature["numbers"] == []
