"""The numbers with which a report begins."""

from mltsk.paper.experiments.headlines import headlines
from mltsk.paper.experiments.rank_tables import comparisons
from mltsk.paper.experiments.selection import chosen_all
from mltsk.paper.experiments.summary import paper_gaps


def values(results):
    choices = chosen_all(results)
    found = headlines(results, choices, paper_gaps(results, choices), comparisons(results, choices))
    return {line.label: (line.value, line.detail) for line in found}


def test_a_finished_run(make_results):
    told = values(make_results(protocols=["paper", "strict", "nested"]))
    assert told["data sets with AP of ML-TSK FS within 0.01 of Table III"] == ("3 of 3", "mean difference 0.000")
    assert told["comparable cells of Table III within 0.03"] == ("42 of 42", "3 more cannot be compared")
    assert told["mean rank of ML-TSK FS by AP"][0] == "1.33"
    assert told["what the leak adds to AP"][0] == "+0.020"
    assert told["pairs of method and data set finished"] == ("12 of 12", "protocol paper")


def test_an_empty_run_has_one_number(make_results, failed_cell):
    results = make_results([], cells=[failed_cell("yeast", "br", 0)])
    assert values(results) == {
        "pairs of method and data set finished": ("0 of 12", "protocol paper, 1 with failed folds"),
    }
