"""Whether rows are enough: what a doubling gave, and rules of thumb by hand."""

import re

import numpy as np
import pandas as pd

from mltsk import read_table
from mltsk.metrics import required_rows
from mltsk.pages.review import review_page
from mltsk.pages.review_enough import LearningCurve, curve_in_words

from .test_review import Reader


def made_table(n, n_noise=0):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 2 + n_noise))).add_prefix("x")
    X["ward"] = rng.choice(["a", "b", "c"], n)
    y = X.x0 + X.x1 + rng.normal(0, 0.7, n) > 0.5
    return read_table(pd.concat([X, y.astype(float).rename("ill")], axis=1), ["ill"])


def mean_APs(table):
    text = Reader(review_page(table, quick=True).page).text
    moved = re.search(r"moved the mean AP from (\d\.\d+) to (\d\.\d+)", text)
    return text, float(moved[1]), float(moved[2])


def test_more_rows_help_where_there_are_few_of_many_columns():
    text, half, whole = mean_APs(made_table(80, n_noise=20))
    assert whole - half > 0.01
    assert "more rows would still help" in text


def test_a_gain_that_other_draws_of_folds_do_not_have_may_be_chance():
    curve = LearningCurve([10, 20, 40, 80], [0.3, 0.4, 0.5, 0.52], [0.6] * 4, 0.015)
    assert "which may be chance: more rows may help, or not." in curve_in_words(curve)
    assert "would still help" in curve_in_words(curve._replace(error=0.004))


def test_more_rows_hardly_help_where_little_is_to_learn():
    table = made_table(600)
    text, half, whole = mean_APs(table)
    assert abs(whole - half) < 0.015  # as rounded
    assert "would hardly help" in text
    n_cases = int(table.Y["ill"].sum())
    needed = required_rows(n_cases / 600, 4).rows  # two numbers, three wards
    assert f"ill {n_cases} {n_cases / 4:.1f} 600 {needed} enough by both" in text


def test_rules_of_thumb_count_each_patient_once():
    table = made_table(600)
    rows = pd.concat([table.X, table.Y], axis=1).loc[np.repeat(np.arange(150), 4)]
    rows = rows.reset_index(drop=True).assign(patient=np.repeat(np.arange(150), 4))
    text = Reader(review_page(read_table(rows, ["ill"]), quick=True).page).text
    n_cases = int(table.Y["ill"][:150].sum())
    needed = required_rows(n_cases / 150, 4).rows
    told = f"ill {n_cases} {n_cases / 4:.1f} 150 {needed} {needed - 150} too few"
    assert "so each patient counts once here" in text
    assert told in text
