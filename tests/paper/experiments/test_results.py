"""Which settings are reported, and what is said of them."""

import numpy as np
import pytest

from mltsk.paper.experiments.results import Results, worths

A = '{"C": 0.5}'
B = '{"C": 2.0}'


def choice(results, by="AP", protocol="paper", metric="AP"):
    """The row of `choices` of BR on flags."""
    frame = results.of_metric(protocol, by, metric)
    return frame.set_index(["dataset", "method"]).loc[("flags", "br")]


def rows_of(make_row, setting, values, **more):
    """Rows of folds 0, 1, …: AP and HL of each, the rest fixed."""
    rows = []
    for fold, (ap, hl) in enumerate(values):
        metrics = [ap, hl, 0.2, 0.2, 0.5]
        rows.append(make_row("paper", "flags", "br", fold, setting, metrics, **more))
    return rows


def test_choices_take_the_highest_ap_and_the_lowest_hl(make_results, make_row):
    rows = rows_of(make_row, A, [(0.8, 0.3)] * 2) + rows_of(
        make_row, B, [(0.7, 0.2)] * 2
    )
    results = make_results(rows, datasets=("flags",))
    assert choice(results, "AP")["setting"] == A
    assert choice(results, "HL")["setting"] == B
    # all metrics are of the same setting
    assert choice(results, "HL", metric="AP")["mean"] == 0.7
    assert choice(results, "each", metric="AP")["setting"] == A
    assert choice(results, "each", metric="HL")["setting"] == B


def test_choices_have_a_spread_over_folds_with_one_less(make_results, make_row):
    rows = rows_of(make_row, A, [(0.8, 0.3), (0.6, 0.3)])
    row = choice(make_results(rows, datasets=("flags",)))
    assert row["mean"] == pytest.approx(0.7)
    assert row["sd"] == pytest.approx(np.std([0.8, 0.6], ddof=1))


def test_choices_have_the_mean_of_seeds_and_the_spread_of_all_folds(
    make_results, make_row
):
    rows = rows_of(make_row, A, [(0.8, 0.3), (0.6, 0.3)])
    rows += rows_of(make_row, A, [(0.9, 0.3)], seed=1)
    row = choice(make_results(rows, datasets=("flags",), seeds=[0, 1]))
    assert row["mean"] == pytest.approx((0.7 + 0.9) / 2)
    assert row["sd"] == pytest.approx(np.std([0.8, 0.6, 0.9], ddof=1))
    assert (row["folds"], row["expected"], row["status"]) == (3, 4, "partial")


@pytest.mark.parametrize("by", ["AP", "HL"])
def test_choices_never_take_what_is_not_a_number(make_results, make_row, by):
    rows = rows_of(make_row, A, [(0.9, 0.1), (np.nan, np.nan)])
    rows += rows_of(make_row, B, [(0.5, 0.4)] * 2)
    assert choice(make_results(rows, datasets=("flags",)), by)["setting"] == B


def test_choices_take_nothing_where_nothing_is_a_number(make_results, make_row):
    rows = rows_of(make_row, A, [(np.nan, np.nan)] * 2)
    row = choice(make_results(rows, datasets=("flags",)))
    assert (row["status"], row["setting"]) == ("missing", "")


def test_choices_take_of_equal_means_the_first_of_the_grid_not_of_the_alphabet(
    make_results, make_row
):
    method = {"title": "BR", "paper": "BR", "grid": {"C": [2, 10]}, "settings": 2}
    rows = rows_of(make_row, '{"C": 10}', [(0.1 + 0.2, 0.3)] * 2)
    rows += rows_of(make_row, '{"C": 2}', [(0.3, 0.3)] * 2)
    results = make_results(rows, datasets=("flags",), methods={"br": method})
    assert choice(results)["setting"] == '{"C": 2}'


def test_choices_never_take_a_setting_with_fewer_folds(make_results, make_row):
    rows = rows_of(make_row, A, [(0.9, 0.1)]) + rows_of(make_row, B, [(0.5, 0.4)] * 2)
    row = choice(make_results(rows, datasets=("flags",)))
    assert (row["setting"], row["n_settings"]) == (B, 1)


def test_choices_under_nested_are_those_of_inner_folds(make_results, make_row):
    rows = []
    for fold, setting, ap, by in [
        (0, A, 0.6, "AP"),
        (1, B, 0.8, "AP"),
        (0, B, 0.9, "HL"),
        (1, B, 0.9, "HL"),
    ]:
        metrics = [ap, 0.3, 0.2, 0.2, 0.5]
        row = make_row("nested", "flags", "br", fold, setting, metrics, chosen_by=by)
        rows.append(row)
    results = make_results(rows, datasets=("flags",), protocols=["nested"])
    by_ap = choice(results, "AP", "nested")
    assert by_ap["mean"] == pytest.approx(0.7)  # not the best of what is there
    assert by_ap["n_settings"] == 2
    assert choice(results, "HL", "nested")["mean"] == pytest.approx(0.9)


def test_choices_under_nested_need_none_of_a_method_without_a_grid(
    make_results, make_row
):
    metrics = [0.6, 0.3, 0.2, 0.2, 0.5]
    rows = []
    for fold in range(2):
        rows.append(make_row("nested", "flags", "br", fold, "{}", metrics))
    results = make_results(rows, datasets=("flags",), protocols=["nested"])
    assert choice(results, "HL", "nested")["status"] == "done"


def test_choices_count_failures_by_fold_and_average_ties(
    make_results, make_row, failed_cell
):
    cells = [
        failed_cell("flags", "br", 1),
        failed_cell("flags", "br", 1),
        failed_cell("flags", "mlsf", 0, "boom"),
    ]
    rows = rows_of(make_row, A, [(0.8, 0.3)], tied=0.25)
    results = make_results(rows, cells=cells, datasets=("flags",))
    row = choice(results)
    assert (row["failed"], row["status"], row["tied"]) == (1, "partial", 0.25)
    frame = results.choices["paper", "AP"].set_index(["method", "metric"])
    assert frame.loc[("mlsf", "AP"), ["status", "error"]].tolist() == ["failed", "boom"]
    assert frame.loc[("ml-tsk-fs", "AP"), "status"] == "missing"


def test_choices_take_categories_and_cut_long_errors(make_results, failed_cell):
    results = make_results(cells=[failed_cell("flags", "br", 0, "x\n" * 400)])
    texts = ["protocol", "dataset", "method", "chosen_by", "setting"]
    scores = results.scores.astype(dict.fromkeys(texts, "category"))
    same = Results(results.run, scores, results.cells, {})
    assert same.choices["paper", "each"].equals(results.choices["paper", "each"])
    error = choice(same)["error"]
    assert len(error) == 300
    assert error.endswith("…")
    assert "\n" not in error


def test_datasets_and_methods_come_in_the_paper_s_order_then_the_others(make_results):
    results = make_results(datasets=("mine", "yeast", "emotions"))
    assert results.datasets == ["emotions", "yeast", "mine"]
    assert results.methods == ["mlsf", "br", "ml-tsk-fs", "mltsk"]


@pytest.mark.parametrize("metric", ["AP", "HL"])
def test_worths_are_positive_where_the_lenient_protocol_looks_better(
    make_results, metric
):
    gains = worths(make_results(protocols=["paper", "strict"]), ("paper", "strict"))
    of_br = gains[(gains["method"] == "br") & (gains["metric"] == metric)]
    # a loss that is .02 smaller looks better as well
    assert of_br["gain"].tolist() == pytest.approx([0.02] * 3)
