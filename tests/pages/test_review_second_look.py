"""The part of the review about rows worth a second look."""

import numpy as np
import pandas as pd

from mltsk import MLTSKClassifier, read_table
from mltsk.pages.review_second_look import look_sentence, second_look_csv_lines
from mltsk.surprises import second_look


def test_a_slip_is_named_by_number_and_identifier():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    sick = (x > 0).astype(int)
    x[41] = 2.9
    sick[41] = 0
    name = [f"=P{i}" for i in range(300)]
    frame = pd.DataFrame({"id": name, "x": x, "z": rng.normal(size=300), "sick": sick})
    table = read_table(frame, labels=["sick"], id=["id"])
    look = second_look(MLTSKClassifier(n_rules=0).fit(table.X, table.Y), at_most=3)
    assert look_sentence(look).startswith("300 recorded labels were looked at.")
    header, lines = second_look_csv_lines(look, table)
    assert header[:3] == ["row", "id", "label"]
    assert lines[0][:4] == [42, "=P41", "sick", 0]
