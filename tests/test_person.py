"""One person: intervals that hold the truth, reasons that add up, what to measure."""

import numpy as np
import pandas as pd
import pytest

from mltsk import MLTSKClassifier
from mltsk.exceptions import InputError
from mltsk.person import certainty_of_people, interval, person


def simulated(n, seed):
    """Rows, labels and true probabilities."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    log_odds = np.column_stack([1.5 * X[:, 0] - X[:, 1], X[:, 2] - 1.5])
    p = 1 / (1 + np.exp(-log_odds))
    return X, (rng.random(p.shape) < p).astype(int), p


def test_intervals_of_people_hold_their_true_probabilities():
    held = []
    widths = []
    for seed in range(5):
        X, Y, _ = simulated(300, seed)
        record = MLTSKClassifier().fit(X, Y).fit_record_
        X_new, _, p_new = simulated(40, seed=1000 + seed)
        log_odds = record.system().scores(X_new)
        _, errors = certainty_of_people(record, X_new, log_odds)
        low, high = interval(log_odds, errors)
        held.append((low <= p_new) & (p_new <= high))
        widths.append(high - low)
    assert np.mean(held) >= 0.91  # 400 intervals of 95 %
    assert np.mean(widths) < 0.5  # of two labels, one that guessing tells to ± .5


@pytest.fixture(scope="module")
def pair(table):
    """A model without the first row, and that row."""
    X, Y = table
    clf = MLTSKClassifier(threshold="f1").fit(X[1:], Y[1:])
    return clf, X[:1]


def test_a_person_has_the_probability_that_the_model_predicts(pair):
    clf, X = pair
    answer = person(clf, X)
    expected = clf.predict_proba(X)[0]
    assert [label.probability for label in answer.labels] == pytest.approx(expected)
    for label, given in zip(answer.labels, clf.predict(X)[0], strict=True):
        assert label.is_given == bool(given)
        assert label.low < label.probability < label.high
        assert 0 < label.agreeing <= len(label.refits)
        total = sum(part.contribution for part in label.why.parts)
        assert 1 / (1 + np.exp(-total)) == pytest.approx(label.probability)


def test_the_measurement_that_says_most_is_the_one_that_moves_the_answer_most(pair):
    clf, X = pair
    unknown = X.copy()
    unknown["smoker"] = None
    unknown["albumin"] = np.nan
    (copd, _) = person(clf, unknown).labels
    spreads = {}
    for feature, values in {
        "smoker": ["never", "former", "daily"],
        "albumin": [2.8, 3.5, 4.2],
    }.items():
        tried = pd.concat([unknown] * 3).assign(**{feature: values})
        spreads[feature] = np.ptp(clf.predict_proba(tried)[:, 0])
    assert copd.measurements[0].name == max(spreads, key=spreads.get)
    assert copd.measurements[0].low < copd.measurements[0].high
    measured = {
        measurement.name for measurement in person(clf, X).labels[0].measurements
    }
    missing = set(X.columns[X.isna().to_numpy()[0]])
    assert measured <= missing


def test_the_nearest_row_of_a_copy_is_the_row_itself(table):
    X, Y = table
    clf = MLTSKClassifier().fit(X, Y)
    nearest = person(clf, X[7:8], neighbours=2).neighbours
    assert nearest[0].row == 7
    assert nearest[0].distance == 0


def test_a_model_from_a_file_gives_no_interval_and_two_people_are_refused(table):
    X, Y = table
    clf = MLTSKClassifier().fit(X, Y)
    with pytest.raises(InputError, match="about one person, got 2 rows"):
        person(clf, X[:2])
    clf.fit_record_ = None
    (copd, _) = person(clf, X[:1]).labels
    assert np.isnan(copd.low)
    assert len(copd.refits) == 0
