"""The table of labels as text."""

import pandas as pd

from mltsk import evaluate
from mltsk.metrics.label_text import label_text


def test_label_text_shows_the_first_twenty_labels():
    names = [f"label {i}" for i in range(21)]
    lines = label_text(pd.DataFrame({"AP": 0.5}, index=names), ["AP"]).splitlines()
    assert len(lines) == 23
    assert lines[-3:] == [
        "label 19       0.500",
        "… and 1 more label",
        "mean of labels 0.500",
    ]


def test_label_text_counts_in_whole_rows_and_ranks_with_decimals():
    """One row in which a label was observed, told without error."""
    metrics = {"observed": 1, "AP": 1.0}
    text = label_text(pd.DataFrame(metrics, index=["gout"]), list(metrics))
    assert text.splitlines()[1].split() == ["gout", "1", "1.000"]


def test_label_text_cuts_long_names_so_that_lines_have_80_characters():
    metrics = {"observed": 1000, "prevalence": 0.1, "AP": 0.5, "AUC": 0.7}
    table = pd.DataFrame(metrics, index=["a very long name " * 9])
    lines = label_text(table, list(metrics)).splitlines()
    assert [len(line) for line in lines] == [80, 80]
    assert "… " in lines[1]


def test_print_of_an_evaluation_shows_each_label_within_80_columns():
    Y = pd.DataFrame({"gout " * 20: [1, 0, 1], "asthma": [0, 1, 1]})
    text = str(evaluate(Y, [[0.9, 0.5], [0.2, 0.8], [0.7, 0.6]]))
    assert max(map(len, text.splitlines())) <= 80
    for name in ("AP", "AUC", "sensitivity", "precision"):
        assert name in text.splitlines()[0].split()
    assert text.splitlines()[3].startswith("mean of labels")
