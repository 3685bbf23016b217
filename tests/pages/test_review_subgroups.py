"""Subgroups of a review: figures by hand, and a word only where chance cannot do it."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

from mltsk import read_table
from mltsk.exceptions import InputError
from mltsk.metrics import holm
from mltsk.pages.judged import JudgedLabel
from mltsk.pages.review_subgroups import (
    check_by,
    figures_of,
    p_values,
    splits_of,
)


def made_table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return read_table(
        pd.DataFrame(
            {
                "sex": rng.choice(["f", "m"], n),
                "age": rng.uniform(20, 80, n).round(1),
                "ward": rng.choice(list("abcdefgh"), n),
                "score": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
                "gout": rng.integers(0, 2, n),
            }
        ),
        ["gout"],
    )


def judged(y, p, threshold=0.4):
    given = p >= threshold
    return JudgedLabel(
        name="gout",
        observed=len(y),
        cases=int(y.sum()),
        AP=(0.5, 0.4, 0.6),
        AUC=(0.7, 0.6, 0.8),
        guessed_AP=0.3,
        found=int((y & given).sum()),
        alarms=int((~y & given).sum()),
        threshold=threshold,
        y=y,
        is_given=given,
        chances=p,
        scores=np.log(p / (1 - p)),
        rows=np.arange(len(y)),
        groups=None,
    )


def made_label(n=400, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.beta(2, 3, n)
    return judged(rng.random(n) < p, p)


def test_figures_of_subgroups_are_those_of_their_rows():
    table = made_table()
    label = made_label()
    (split,) = splits_of(table, ["sex"])
    for subgroup in figures_of(label, split):
        rows = (table.X["sex"] == subgroup.name).to_numpy()
        y, given = label.y[rows], label.is_given[rows]
        assert subgroup.observed == rows.sum()
        assert subgroup.cases == y.sum()
        assert_allclose(subgroup.AUC.value, roc_auc_score(y, label.scores[rows]))
        assert_allclose(subgroup.sensitivity.value, given[y].mean())
        assert_allclose(subgroup.specificity.value, (~given[~y]).mean())
        assert_allclose(subgroup.predicted, label.chances[rows].mean())


def test_shares_of_subgroups_know_that_visits_of_a_patient_are_alike():
    table = made_table()
    label = made_label()
    split = splits_of(table, ["sex"])[0]
    alone = figures_of(label, split)
    visits = figures_of(label._replace(groups=np.arange(400) // 2), split)
    copies = figures_of(label._replace(groups=np.repeat(np.arange(4), 100)), split)
    for one, two, many in zip(alone, visits, copies, strict=True):
        assert one.share.value == two.share.value == many.share.value
        assert one.share.low >= two.share.low
    assert any(a.share != m.share for a, m in zip(alone, copies, strict=True))


def test_splits_are_values_of_nominal_columns_quarters_of_age_and_what_is_asked_for():
    table = made_table()
    usual = splits_of(table)
    assert [split.column for split in usual] == ["sex", "age", "ward"]
    assert len(usual[1].names) == 4
    assert_allclose(np.bincount(usual[1].codes), 100, atol=3)
    assert usual[2].names[-1] == "other values"
    (asked,) = splits_of(table, ["score"])
    assert asked.names[-1] == "not measured"
    assert (asked.codes[table.X["score"].isna()] == 4).all()
    check_by(table, ["score"])
    with pytest.raises(InputError, match="did you mean 'score'"):
        check_by(table, ["scor"])


def test_differences_are_seldom_called_real_where_there_are_none():
    n_wrong = 0
    for seed in range(60):
        label = made_label(300, seed)
        splits = splits_of(made_table(300, seed))
        p = [p_values(label, split, figures_of(label, split)) for split in splits]
        n_wrong += (holm(p) < 0.05).any()
    assert n_wrong <= 6


def test_differences_are_called_real_where_they_are():
    table = made_table()
    is_woman = (table.X["sex"] == "f").to_numpy()
    label = made_label()
    y = np.where(is_woman, label.y, np.random.default_rng(1).random(400) < 0.8)
    label = judged(y, label.chances)
    (split,) = splits_of(table, ["sex"])
    AUC, _, _, calibration = holm(p_values(label, split, figures_of(label, split)))
    assert AUC < 0.05
    assert calibration < 1e-6
