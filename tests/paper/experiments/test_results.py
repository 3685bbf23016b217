"""Which settings are reported, and what is said of them."""

import numpy as np
import pytest

from mltsk.paper.experiments.results import Results, worths

A, B = '{"C": 0.5}', '{"C": 2.0}'


def pick(results, by="AP", protocol="paper", metric="AP"):
    frame = results.choices[protocol, by]
    return frame[
        (frame["dataset"] == "flags")
        & (frame["method"] == "br")
        & (frame["metric"] == metric)
    ].iloc[0]


def scores(make_row, setting, values, **more):
    """Rows of folds 0, 1, …: AP and HL of each, the rest fixed."""
    rest = [0.2, 0.2, 0.5]
    return [
        make_row("paper", "flags", "br", f, setting, [*v, *rest], **more)
        for f, v in enumerate(values)
    ]


def test_ap_goes_up_and_hl_goes_down(make_results, make_row):
    rows = scores(make_row, A, [(0.8, 0.3)] * 2) + scores(make_row, B, [(0.7, 0.2)] * 2)
    results = make_results(rows, datasets=("flags",))
    assert pick(results, "AP")["setting"] == A
    assert pick(results, "HL")["setting"] == B
    assert (
        pick(results, "HL", metric="AP")["mean"] == 0.7
    )  # all metrics are of the one setting
    assert [pick(results, "each", metric=m)["setting"] for m in ("AP", "HL")] == [A, B]


def test_the_spread_is_over_folds_with_one_less(make_results, make_row):
    row = pick(
        make_results(scores(make_row, A, [(0.8, 0.3), (0.6, 0.3)]), datasets=("flags",))
    )
    assert row["mean"] == pytest.approx(0.7)
    assert row["sd"] == pytest.approx(np.std([0.8, 0.6], ddof=1))


def test_over_seeds_the_mean_is_of_seeds_and_the_spread_of_all_folds(
    make_results, make_row
):
    rows = scores(make_row, A, [(0.8, 0.3), (0.6, 0.3)]) + scores(
        make_row, A, [(0.9, 0.3)], seed=1
    )
    row = pick(make_results(rows, datasets=("flags",), seeds=[0, 1]))
    assert row["mean"] == pytest.approx((0.7 + 0.9) / 2)
    assert row["sd"] == pytest.approx(np.std([0.8, 0.6, 0.9], ddof=1))
    assert (row["folds"], row["expected"], row["status"]) == (3, 4, "partial")


@pytest.mark.parametrize("by", ["AP", "HL"])
def test_what_is_not_a_number_never_wins(make_results, make_row, by):
    rows = scores(make_row, A, [(0.9, 0.1), (np.nan, np.nan)]) + scores(
        make_row, B, [(0.5, 0.4)] * 2
    )
    assert pick(make_results(rows, datasets=("flags",)), by)["setting"] == B


def test_nothing_is_chosen_where_nothing_is_a_number(make_results, make_row):
    row = pick(
        make_results(scores(make_row, A, [(np.nan, np.nan)] * 2), datasets=("flags",))
    )
    assert (row["status"], row["setting"]) == ("missing", "")


def test_equal_means_go_to_the_first_setting_of_the_grid_not_of_the_alphabet(
    make_results, make_row
):
    methods = {
        "br": {"title": "BR", "paper": "BR", "grid": {"C": [2, 10]}, "settings": 2}
    }
    rows = scores(make_row, '{"C": 10}', [(0.1 + 0.2, 0.3)] * 2) + scores(
        make_row, '{"C": 2}', [(0.3, 0.3)] * 2
    )
    assert (
        pick(make_results(rows, datasets=("flags",), methods=methods))["setting"]
        == '{"C": 2}'
    )


def test_a_setting_with_fewer_folds_cannot_win(make_results, make_row):
    rows = scores(make_row, A, [(0.9, 0.1)]) + scores(make_row, B, [(0.5, 0.4)] * 2)
    row = pick(make_results(rows, datasets=("flags",)))
    assert (row["setting"], row["n_settings"]) == (B, 1)


def test_inner_folds_have_chosen_under_nested(make_results, make_row):
    rows = [
        make_row(
            "nested",
            "flags",
            "br",
            fold,
            setting,
            [ap, 0.3, 0.2, 0.2, 0.5],
            chosen_by=by,
        )
        for fold, setting, ap, by in [
            (0, A, 0.6, "AP"),
            (1, B, 0.8, "AP"),
            (0, B, 0.9, "HL"),
            (1, B, 0.9, "HL"),
        ]
    ]
    results = make_results(rows, datasets=("flags",), protocols=["nested"])
    assert pick(results, "AP", "nested")["mean"] == pytest.approx(
        0.7
    )  # not the best of what is there
    assert pick(results, "AP", "nested")["n_settings"] == 2
    assert pick(results, "HL", "nested")["mean"] == pytest.approx(0.9)


def test_a_method_without_a_grid_needs_no_choice_under_nested(make_results, make_row):
    rows = [
        make_row("nested", "flags", "br", fold, "{}", [0.6, 0.3, 0.2, 0.2, 0.5])
        for fold in range(2)
    ]
    results = make_results(rows, datasets=("flags",), protocols=["nested"])
    assert pick(results, "HL", "nested")["status"] == "done"


def test_failures_are_counted_by_fold_and_ties_averaged(
    make_results, make_row, failed_cell
):
    cells = [
        failed_cell("flags", "br", 1),
        failed_cell("flags", "br", 1),
        failed_cell("flags", "mlsf", 0, "boom"),
    ]
    results = make_results(
        scores(make_row, A, [(0.8, 0.3)], tied=0.25), cells=cells, datasets=("flags",)
    )
    row = pick(results)
    assert (row["failed"], row["status"], row["tied"]) == (1, "partial", 0.25)
    frame = results.choices["paper", "AP"].set_index(["method", "metric"])
    assert frame.loc[("mlsf", "AP"), ["status", "error"]].tolist() == ["failed", "boom"]
    assert frame.loc[("ml-tsk-fs", "AP"), "status"] == "missing"


def test_columns_may_be_categories_and_errors_may_be_long(make_results, failed_cell):
    results = make_results(cells=[failed_cell("flags", "br", 0, "x\n" * 400)])
    texts = ["protocol", "dataset", "method", "chosen_by", "setting"]
    same = Results(
        results.run,
        results.scores.astype(dict.fromkeys(texts, "category")),
        results.cells,
        {},
    )
    assert same.choices["paper", "each"].equals(results.choices["paper", "each"])
    error = pick(same)["error"]
    assert (len(error), error[-1], "\n" in error) == (300, "…", False)


def test_names_come_in_the_paper_s_order_then_the_others(make_results):
    results = make_results(datasets=("mine", "yeast", "emotions"))
    assert results.datasets == ["emotions", "yeast", "mine"]
    assert results.methods == ["mlsf", "br", "ml-tsk-fs", "mltsk"]


def test_losses_are_turned_round(make_results):
    results = make_results(protocols=["paper", "strict"])
    gains = worths(results, ("paper", "strict"))
    br = {
        metric: rows["gain"].tolist()
        for metric, rows in gains[gains["method"] == "br"].groupby("metric")
    }
    assert br["AP"] == pytest.approx([0.02] * 3)
    assert br["HL"] == pytest.approx(
        [0.02] * 3
    )  # a loss that is .02 smaller looks better as well
