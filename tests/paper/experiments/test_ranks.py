"""Table VI for our results and for the paper's."""

import pytest

from mltsk.paper.experiments.published import METRICS, table_vi
from mltsk.paper.experiments.ranks import comparisons, rank_table, table_six


@pytest.fixture
def compared(make_results):
    return comparisons(make_results())


def by_ap(compared, source):
    for comparison in compared:
        if comparison.metric == "AP" and comparison.source == source:
            return comparison
    raise LookupError(source)


def test_comparisons_of_the_printed_table_v_give_table_vi(compared):
    recomputed = [one for one in compared if one.source == "paper, recomputed"]
    values = {one.metric: round(one.test.f, 2) for one in recomputed}
    assert values == dict(table_vi().F)
    for comparison in recomputed:
        assert round(comparison.dunn.critical_difference, 4) == 3.0455


def test_comparisons_of_ours_have_the_paper_s_on_the_same_sets_and_methods(compared):
    ours = by_ap(compared, "ours, paper")
    names = ["MLSF", "BR", "ML-TSK FS"]
    assert list(ours.scores.columns) == names
    assert list(ours.printed.scores.columns) == names
    assert ours.printed.source == "paper, on 3 sets and 3 methods"
    assert ours.printed.test.n_datasets == 3


def test_comparisons_have_one_more_with_methods_outside_the_paper(compared):
    every = by_ap(compared, "ours, paper, all methods")
    assert list(every.scores.columns) == ["MLSF", "BR", "ML-TSK FS", "our default"]
    assert every.control == "ML-TSK FS"


def test_comparisons_leave_out_a_latecomer_and_do_not_rank_holes(make_results):
    datasets = ("emotions", "yeast", "flags", "birds")
    scores = make_results(datasets=datasets).scores
    late = scores["method"].eq("br") & scores["dataset"].ne("yeast")
    hole = scores["method"].eq("mlsf") & scores["dataset"].eq("flags")
    rows = scores[~late & ~hole].to_numpy().tolist()
    ours = by_ap(comparisons(make_results(rows, datasets=datasets)), "ours, paper")
    assert list(ours.scores.columns) == ["MLSF", "ML-TSK FS"]
    assert list(ours.scores.index) == ["birds", "emotions", "yeast"]


def test_comparisons_do_not_rank_one_data_set(make_results):
    compared = comparisons(make_results(datasets=("flags",)))
    assert {one.source for one in compared} == {"paper, recomputed"}


def test_table_six_has_printed_recomputed_and_our_lines(compared):
    table = table_six(compared)
    rows = [row for row in table.rows if row.heads[0] == "AP"]
    assert [row.heads[1] for row in rows] == [
        "paper, printed",
        "paper, recomputed",
        "paper, on 3 sets and 3 methods",  # once, though two comparisons refer to it
        "ours, paper",
        "ours, paper, all methods",
    ]
    f_values = [row.cells[table.columns.index("F")].text for row in rows]
    assert f_values[0] == f_values[1] == "15.01"


def test_rank_table_has_the_paper_s_mean_ranks_beside_ours(compared):
    table = rank_table(compared, "ours, paper")
    assert table.columns == METRICS
    row = next(row for row in table.rows if row.heads == ("ML-TSK FS",))
    cell = row.cells[0]
    assert cell.bold
    # first, and first together with another on flags and yeast
    assert cell.value == pytest.approx(4 / 3)
    assert cell.paper == "1.33"
    assert rank_table(compared, "ours, nested") is None


def test_comparisons_tell_a_stranger_from_a_method_of_the_same_name(make_results):
    titles = {"x": "BR", "y": "mine", "z": "mine", "br": "BR"}
    methods = {}
    for key, title in titles.items():
        methods[key] = {"title": title, "paper": None, "grid": {}, "settings": 1}
    methods["br"]["paper"] = "BR"
    every = comparisons(make_results(methods=methods))[-1]
    assert list(every.scores.columns) == ["BR", "BR (x)", "mine (y)", "mine (z)"]
