"""What is in a table."""

import numpy as np
import pandas as pd

from mltsk import read_table
from mltsk.pages.contents import contents


def test_gaps_labels_and_pairs_are_counted_where_they_were_observed():
    n = 100
    rows = np.arange(n)
    frame = pd.DataFrame(
        {"id": [f"p{i}" for i in rows], "age": rows * 1.5, "late": np.where(rows < 75, rows % 9 + 0.5, np.nan)}
    )
    frame["a"], frame["b"] = (rows % 2 == 0) * 1.0, np.where(rows < 50, rows % 4 == 0, np.nan)
    table = read_table(frame, ["a", "b"], id="id")
    found = contents(table, table.Y.to_numpy())
    assert [(column["name"], column["share"]) for column in found["gaps"]["shown"]] == [("b", "50 %"), ("late", "25 %")]
    assert [(label["had"], label["seen"]) for label in found["labels"]] == [(50, 100), (13, 50)]
    assert found["pairs"] == ["13 of 13 with b have a; of all rows, 50 % do."]
    assert found["labels"][1]["rare"]
    assert found["map"] is None  # two labels need none
