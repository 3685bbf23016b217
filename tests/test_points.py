"""PointsClassifier: whole points, probabilities of their sums, honest worth."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import average_precision_score

from mltsk import MLTSKClassifier, PointsClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError


def simulated(n, seed):
    """Rows whose log-odds are a sum of a few effects, and their probabilities."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    log_odds = np.column_stack([1.5 * X[:, 0] - X[:, 1], X[:, 2] - 1.5])
    p = 1 / (1 + np.exp(-log_odds))
    return X, (rng.random(p.shape) < p).astype(int), p


def test_points_are_as_good_on_new_rows_as_their_sheet_says():
    X_new, Y_new, p_new = simulated(4000, seed=99)
    promised = []
    reached = []
    for seed in range(4):
        X, Y, _ = simulated(400, seed)
        points = MLTSKClassifier(n_rules=0).fit(X, Y).points(max_statements=4)
        proba = points.predict_proba(X_new)
        promised.append(points.worth_["AP"].mean())
        reached.append(average_precision_score(Y_new, proba, average="macro"))
        # five ranges per feature are coarse; guessing the rate is off by .19
        assert np.abs(proba - p_new).mean() < 0.12
        assert np.abs(proba.mean(axis=0) - p_new.mean(axis=0)).max() < 0.06
    assert np.mean(promised) == pytest.approx(np.mean(reached), abs=0.03)


def test_totals_are_whole_and_higher_totals_never_mean_less():
    data = make_multilabel_rules(n_samples=200, random_state=0)
    points = MLTSKClassifier().fit(data.X, data.Y).points(max_points=6)
    totals = points.totals(data.X)
    assert totals.dtype.kind == "i"
    assert totals.min() >= 0
    for sheet in points.sheets_:
        assert (np.diff(sheet.probabilities) >= 0).all()
        for item in sheet.items:
            every = [*item.points, item.other, item.missing]
            assert min(every) == 0
            assert max(every) <= 6


def test_predict_says_yes_exactly_from_the_threshold_on(table):
    X, Y = table
    points = MLTSKClassifier(threshold=[0.3, 0.62]).fit(X, Y).points()
    proba = points.predict_proba(X)
    assert points.thresholds_.tolist() == [0.3, 0.62]
    expected = proba >= points.thresholds_
    assert points.predict(X).astype(bool).tolist() == expected.tolist()
    assert ((points.decision_function(X) > 0) == expected).all()
    for j, sheet in enumerate(points.sheets_):
        assert (points.totals(X)[:, j] >= sheet.cut).tolist() == expected[:, j].tolist()


def test_points_are_honest_about_noise_and_about_groups():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(60, 4)), 4, axis=0)
    patient = np.repeat(np.arange(60), 4)
    y = np.repeat(rng.integers(0, 2, size=60), 4)
    points = MLTSKClassifier().fit(X, y, groups=patient).points(max_statements=4)
    assert points.worth_["AUC"].iloc[0] < 0.65  # 1.0 if patients were cut in two


def test_fit_makes_the_same_points_as_a_fitted_model(table):
    X, Y = table
    expected = MLTSKClassifier(threshold="f1").fit(X, Y).points(max_statements=5)
    unfitted = PointsClassifier(MLTSKClassifier(threshold="f1"), max_statements=5)
    assert clone(unfitted).fit(X, Y).sheets_ == expected.sheets_


def test_one_column_of_yes_and_no_gets_probabilities_of_both_classes():
    X, Y, _ = simulated(200, seed=3)
    y = np.where(Y[:, 0] == 1, "sick", "well")
    points = MLTSKClassifier().fit(X, y).points(max_statements=3)
    proba = points.predict_proba(X)
    assert proba.shape == (200, 2)
    assert set(points.predict(X)) <= {"sick", "well"}
    three = np.array(["a", "b", "c"])[np.arange(200) % 3]
    of_classes = MLTSKClassifier().fit(X, three)
    with pytest.raises(InputError, match="one class of several"):
        of_classes.points()


def test_what_cannot_be_put_into_points_is_refused_with_a_sentence(table):
    X, Y = table
    clf = MLTSKClassifier().fit(X, Y)
    with pytest.raises(InputError, match="max_points must be a whole number"):
        clf.points(max_points=0)
    clf.fit_record_ = None
    with pytest.raises(InputError, match="pass its training data"):
        clf.points()
    own_rules = MLTSKClassifier().fit(X, Y, rules=[{"age": (60, None)}])
    with pytest.raises(InputError, match="rules of your own"):
        own_rules.points()
    data = make_multilabel_rules(n_samples=60, random_state=0)
    text = MLTSKClassifier(scale="unit").fit(data.X, data.Y)
    with pytest.raises(InputError, match="Points are given to ranges"):
        text.points()
    coupled = MLTSKClassifier(coupling="laplacian").fit(data.X, data.Y)
    with pytest.raises(InputError, match="fit it with coupling=None"):
        coupled.points()
