"""Rows worth a second look: planted slips are found, chance is not taken for one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, second_look
from mltsk.exceptions import InputError
from mltsk.fit.left_out import rate_shifts
from mltsk.surprises import chance_counts


def sure_rows(seed, n=400):
    """Rows whose two labels can be predicted well."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    p = 1 / (1 + np.exp(-5 * X[:, :2]))
    return X, (rng.random(p.shape) < p).astype(int)


@pytest.mark.parametrize("seed", [0, 2])
def test_a_planted_slip_is_among_the_first_two_with_its_reason(seed):
    X, Y = sure_rows(seed)
    X[17] = [2.5, 0.0, 0.0]
    Y[17, 0] = 0
    unlikely = second_look(MLTSKClassifier(n_rules=0).fit(X, Y)).unlikely
    slip = unlikely.head(2).set_index("row").loc[17]
    assert (slip["label"], slip["recorded"]) == ("label 0", 0)
    assert slip["probability"] > 0.95
    assert slip["reasons"].startswith("x0 is very high")


def test_chance_alone_is_seldom_called_clear():
    looks = [
        second_look(MLTSKClassifier(n_rules=0).fit(*sure_rows(s))) for s in range(6)
    ]
    assert sum(len(look.clear) for look in looks) <= 1
    for look in looks:
        assert look.n_cells == 800
        assert look.unlikely["by_chance"].is_monotonic_increasing


def test_chance_counts_are_those_of_labels_drawn_from_the_probabilities():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=500)
    drawn = rng.random((400, 500)) < p
    of_drawn = np.where(drawn, p, 1 - p)
    for level in (0.02, 0.1, 0.3):
        (expected,) = chance_counts(p, np.array([level]))
        assert (of_drawn <= level).sum(axis=1).mean() == pytest.approx(
            expected, rel=0.1
        )


def test_pull_is_leverage_times_the_residual_without_the_row(monkeypatch):
    # the algebra is about one choice for all rows
    monkeypatch.setattr("mltsk.fit.choose.CHOICE_FOLDS", 0)
    X, Y = sure_rows(1, n=120)
    clf = MLTSKClassifier(n_rules=0).fit(X, Y)
    pulling = second_look(clf, at_most=1000).pulling
    row = pulling.iloc[0]
    expected = clf.system_.scores(X) - clf.loo_scores_
    assert row["pull"] == pytest.approx(expected.flat[np.abs(expected).argmax()])
    rows = clf.fit_record_.training
    K = rows.design.kernel(rows.design.scale.apply(rows.X))
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    H = 1 / 120 + K @ np.linalg.inv(K + rows.penalty.rho * np.eye(120))
    leverage = np.diag(H)[:, None]
    without_itself = (Y - H @ Y) / (1 - leverage)
    pull = leverage * without_itself - rate_shifts(rows.Y, rows.w, None)
    assert_allclose(expected, pull * clf.fit_record_.curves.slopes, atol=1e-8)


def test_rows_of_a_group_are_judged_without_each_other():
    X, Y = sure_rows(2, n=60)
    X = np.repeat(X, 4, axis=0) + 1e-6
    Y = np.repeat(Y, 4, axis=0)
    Y[:4, 0] = 1 - Y[:4, 0]
    X[:4, 0] = np.where(Y[:4, 0] == 0, 3.0, -3.0)
    clf = MLTSKClassifier(n_rules=0).fit(X, Y, groups=np.repeat(np.arange(60), 4))
    first = second_look(clf, at_most=16).unlikely
    assert {0, 1, 2, 3} <= set(first["row"])


def test_a_model_without_rows_is_refused(table):
    X, Y = table
    clf = MLTSKClassifier().fit(X, Y)
    look = second_look(clf.shorten(5), at_most=2)
    assert len(look.unlikely) == 2
    clf.fit_record_ = None
    with pytest.raises(InputError, match="holds no rows"):
        second_look(clf)
