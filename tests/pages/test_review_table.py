"""What a review says about a table: counts where labels were observed, gaps, pairs."""

import numpy as np
import pandas as pd
import pytest

from mltsk import read_table
from mltsk.pages.review_table import table_facts

ROWS = np.arange(100)


@pytest.fixture(scope="module")
def facts():
    frame = pd.DataFrame(
        {
            "id": [f"p{i}" for i in ROWS],
            "age": ROWS * 1.5,
            "late": np.where(ROWS < 75, ROWS % 9 + 0.5, np.nan),
            "a": (ROWS % 2 == 0) * 1.0,
            "b": np.where(ROWS < 50, ROWS % 4 == 0, np.nan),
        }
    )
    table = read_table(frame, ["a", "b"], id="id")
    return table_facts(table, table.Y.to_numpy(dtype=float))


def test_table_facts_have_gaps_by_column_most_first(facts):
    gaps = [(gap["name"], gap["share"]) for gap in facts["gaps"]["shown"]]
    assert gaps == [("b", "50 %"), ("late", "25 %")]
    assert facts["gaps"]["more"] == 0


def test_table_facts_count_labels_where_they_were_observed(facts):
    first, second = facts["labels"]
    counts = (second["had"], second["seen"], second["share"], second["rare"])
    assert (first["had"], first["seen"], first["share"]) == (50, 100, "50 %")
    assert not first["rare"]
    assert counts == (13, 50, "26 %", True)


def test_table_facts_tell_pairs_from_the_rarer_label(facts):
    assert facts["pairs"] == ["13 of 13 with b have a; of all rows, 50 % do."]
    assert facts["map"] is None  # two labels need none


def test_table_facts_have_a_map_of_three_labels():
    frame = pd.DataFrame({"x": ROWS * 1.5, "a": ROWS % 2, "b": ROWS % 3 == 0, "c": 1.0})
    table = read_table(frame, ["a", "b", "c"])
    facts = table_facts(table, table.Y.to_numpy(dtype=float))
    assert facts["map"].startswith("<svg")


def test_table_facts_have_what_each_column_was_taken_for(facts):
    kinds = {row[0]: row[1] for row in facts["columns"]}
    assert list(kinds) == ["id", "age", "late", "a", "b"]
    assert kinds["id"] == "identifier"
    assert "2 number columns" in facts["kinds"]
    assert facts["more"] == 0
