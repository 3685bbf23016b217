"""Table VI for our results and for the paper's."""

import pytest

from mltsk.paper.experiments.published import METRICS, table_vi
from mltsk.paper.experiments.ranks import comparisons, rank_table, table_six


@pytest.fixture
def found(make_results):
    results = make_results()
    return comparisons(results)


def test_the_printed_table_v_gives_table_vi(found):
    recomputed = {one.metric: one for one in found if one.source == "paper, recomputed"}
    assert {m: round(one.test.f, 2) for m, one in recomputed.items()} == dict(
        table_vi().F
    )
    assert {round(one.dunn.critical_difference, 4) for one in recomputed.values()} == {
        3.0455
    }


def test_ours_stand_beside_the_paper_s_on_the_same_sets_and_methods(found):
    ours = next(
        one for one in found if one.metric == "AP" and one.source == "ours, paper"
    )
    assert (
        list(ours.scores.columns)
        == list(ours.printed.scores.columns)
        == ["MLSF", "BR", "ML-TSK FS"]
    )
    assert (ours.printed.source, ours.printed.test.n_datasets) == (
        "paper, on 3 sets and 3 methods",
        3,
    )


def test_methods_outside_the_paper_get_a_comparison_of_their_own(found):
    every = next(one for one in found if one.source == "ours, paper, all methods")
    assert list(every.scores.columns) == ["MLSF", "BR", "ML-TSK FS", "our default"]
    assert every.control == "ML-TSK FS"


def test_a_latecomer_is_left_out_and_holes_are_not_ranked(make_results):
    results = make_results(datasets=("emotions", "yeast", "flags", "birds"))
    late = results.scores["method"].eq("br") & results.scores["dataset"].ne("yeast")
    hole = results.scores["method"].eq("mlsf") & results.scores["dataset"].eq("flags")
    kept = make_results(
        results.scores[~late & ~hole].to_numpy().tolist(),
        datasets=tuple(results.run["datasets"]),
    )
    ours = next(
        one
        for one in comparisons(kept)
        if one.metric == "AP" and one.source == "ours, paper"
    )
    assert list(ours.scores.columns) == ["MLSF", "ML-TSK FS"]
    assert list(ours.scores.index) == ["birds", "emotions", "yeast"]


def test_one_data_set_is_not_ranked(make_results):
    results = make_results(datasets=("flags",))
    assert {one.source for one in comparisons(results)} == {"paper, recomputed"}


def test_table_six_has_printed_recomputed_and_our_lines(found):
    table = table_six(found)
    sources = [row.heads[1] for row in table.rows if row.heads[0] == "AP"]
    assert sources == [
        "paper, printed",
        "paper, recomputed",
        "paper, on 3 sets and 3 methods",  # once, though two comparisons refer to it
        "ours, paper",
        "ours, paper, all methods",
    ]
    f = [
        row.cells[table.columns.index("F")].text
        for row in table.rows
        if row.heads[0] == "AP"
    ]
    assert f[0] == f[1] == "15.01"


def test_mean_ranks_stand_beside_the_paper_s(found):
    table = rank_table(found, "ours, paper")
    assert table.columns == METRICS
    cell = next(row for row in table.rows if row.heads == ("ML-TSK FS",)).cells[0]
    assert cell.bold
    assert cell.value == pytest.approx(
        4 / 3
    )  # first, and first together with another on flags and yeast
    assert cell.paper == "1.33"
    assert rank_table(found, "ours, nested") is None


def test_a_stranger_with_a_name_of_the_paper_s_is_told_apart(make_results):
    titles = {"x": "BR", "y": "mine", "z": "mine", "br": "BR"}
    about = {
        key: {"title": title, "paper": None, "grid": {}, "settings": 1}
        for key, title in titles.items()
    }
    about["br"]["paper"] = "BR"
    every = comparisons(make_results(methods=about))[-1]
    assert list(every.scores.columns) == ["BR", "BR (x)", "mine (y)", "mine (z)"]
