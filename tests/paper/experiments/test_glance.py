"""Tables at a glance: all methods in one, and other readings of a method beside it."""

import pytest

from mltsk.paper.experiments.glance import ap_table, readings_table
from mltsk.paper.experiments.ranks import comparisons
from mltsk.paper.experiments.summary import paper_gaps, summarise

C2AE = {"title": "C2AE", "paper": "C2AE", "grid": {}, "settings": 1}
SHORT = {"title": "C2AE, 50 epochs", "paper": None, "variant_of": "c2ae", "grid": {}, "settings": 1}


@pytest.fixture
def results(make_results):
    """C2AE .2 above the paper, and a reading of it .01 above."""
    found = make_results(datasets=("emotions", "yeast"), methods={"short": SHORT, "c2ae": C2AE})
    found.scores.loc[found.scores["method"] == "c2ae", "AP"] += 0.2
    for dataset, printed in (("emotions", 0.57), ("yeast", 0.57)):
        mine = (found.scores["method"] == "short") & (found.scores["dataset"] == dataset)
        found.scores.loc[mine, "AP"] = printed + 0.01
    return found


def test_a_variant_is_no_column_of_its_own_at_a_glance_but_a_line_of_readings(results):
    assert results.methods == ["c2ae", "short"]
    table = ap_table(results, "paper")
    assert table.columns == ("C2AE",)
    assert [cell.text for cell in table.rows[0].cells] == [".770 (.57)"]
    readings = {row.heads[1]: [cell.text for cell in row.cells] for row in readings_table(results).rows}
    assert readings == {
        "as compared": [".770", ".770"], "C2AE, 50 epochs": [".580", ".580"], "the paper prints": [".57", ".57"],
    }  # fmt: skip


def test_a_gap_is_explained_by_the_reading_that_closes_it(results):
    told = {s.title: s.sentences for s in summarise(results, paper_gaps(results), comparisons(results))}
    near = "C2AE on Emotions (0.580) and Yeast (0.580): within 0.03 of the paper in the reading “C2AE, 50 epochs”."
    assert near in told["What does not, and by how much"]
    assert told["What other readings of a method give"] == (
        "C2AE, 50 epochs: mean distance from Table III 0.010 AP on 2 data sets, against 0.200 of C2AE as compared; "
        "closer on 2, within 0.03 on 2.",
    )
    assert "Methods that are not in the paper" not in told


def test_a_printed_value_between_two_readings_is_named_so(results):
    results.scores.loc[results.scores["method"] == "short", "AP"] -= 0.1
    told = {s.title: s.sentences for s in summarise(results, paper_gaps(results), comparisons(results))}
    said = told["What does not, and by how much"]
    assert said[-1] == "C2AE on Yeast: the paper's value lies between those of two readings."  # emotions is known
    assert not any("no reading" in sentence for sentence in said)


def test_without_variants_there_is_no_table_of_readings(make_results):
    assert readings_table(make_results()) is None


def test_a_run_of_variants_alone_has_no_table_of_methods(make_results):
    assert ap_table(make_results(datasets=("yeast",), methods={"short": SHORT}), "paper") is None
