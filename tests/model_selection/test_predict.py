"""`cross_val_predict`, and scikit-learn's own tools, on labels not all observed."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_score,
    cross_validate,
)
from sklearn.model_selection import cross_val_predict as sklearn_cross_val_predict

from mltsk import MLTSKClassifier, evaluate, read_table
from mltsk.exceptions import InputError
from mltsk.model_selection import (
    IterativeStratification,
    cross_val_predict,
    get_scorer,
    label_scorer,
)

X, Y = make_multilabel_classification(n_samples=90, n_classes=3, random_state=0)
FOLDS = KFold(3, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def pbc():
    return read_table("pbc")


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_cross_val_predict_is_scikit_learns_where_all_labels_were_observed(method):
    model = MLTSKClassifier(n_rules=0)
    ours = cross_val_predict(model, X, Y, cv=FOLDS, method=method)
    theirs = sklearn_cross_val_predict(model, X, Y, cv=FOLDS, method=method)
    assert_array_equal(ours, theirs)


def test_cross_val_predict_makes_a_table_of_lists():
    forest = RandomForestClassifier(5, random_state=0)
    ours = cross_val_predict(forest, X, Y, cv=FOLDS, method="predict_proba")
    theirs = sklearn_cross_val_predict(forest, X, Y, cv=FOLDS, method="predict_proba")
    assert_allclose(ours, np.column_stack([p[:, 1] for p in theirs]))


def test_cross_val_predict_scores_labels_that_were_not_all_observed(pbc):
    model = MLTSKClassifier(n_rules=0)
    held_out = cross_val_predict(model, pbc.X, pbc.Y, method="predict_proba")
    assert held_out.shape == (418, 4)
    table = evaluate(pbc.Y, held_out, per_label=True)
    assert (table["AUC"] > 0.65).all()
    train, test = next(IterativeStratification(5).split(pbc.X, pbc.Y))
    fitted = model.fit(pbc.X.iloc[train], pbc.Y.iloc[train])
    assert_allclose(held_out[test], fitted.predict_proba(pbc.X.iloc[test]))


class TakesGroups(ClassifierMixin, BaseEstimator):
    """An estimator whose answer is how many of a row's group it has seen."""

    def fit(self, X, y, groups=None, sample_weight=None, note=""):
        assert note == "as it is"
        assert len(sample_weight) == len(X)
        self.groups_ = np.array(groups)
        return self

    def predict(self, X):
        seen = (X[:, :1] == self.groups_).sum(axis=1)
        return np.column_stack([seen, seen, seen])


def test_cross_val_predict_hands_groups_to_the_splitter_and_to_fit():
    group = np.arange(90) // 3
    params = {"sample_weight": np.ones(90), "note": "as it is"}
    for cv in (3, GroupKFold(3)):
        seen = cross_val_predict(
            TakesGroups(), group[:, None], Y, groups=group, cv=cv, params=params
        )
        assert_array_equal(seen, np.zeros((90, 3)))


def test_cross_val_predict_refuses_with_a_sentence():
    model = MLTSKClassifier(n_rules=0)
    with pytest.raises(InputError, match="a column per label"):
        cross_val_predict(model, X, Y[:, 0])
    with pytest.raises(InputError, match="method is one of predict"):
        cross_val_predict(model, X, Y, method="transform")
    rows = np.arange(90)
    with pytest.raises(InputError, match="each row is tested once"):
        cross_val_predict(model, X, Y, cv=[(rows[:60], rows[60:])])


def test_cross_val_predict_of_scikit_learn_is_refused_with_the_way_out(pbc):
    model = MLTSKClassifier(n_rules=0)
    gaps = pbc.Y.to_numpy(dtype=float)
    with pytest.raises(InputError, match=r"use that of mltsk\.model_selection"):
        sklearn_cross_val_predict(model, pbc.X, gaps, cv=FOLDS, method="predict_proba")


# --- scikit-learn's own tools on the table that comes with the package


def test_cross_val_score_and_grid_search_take_labels_that_were_not_observed(pbc):
    model = MLTSKClassifier(n_rules=0)
    cv = IterativeStratification(3)
    plain = cross_val_score(model, pbc.X, pbc.Y, cv=cv, error_score="raise")
    assert ((plain > 0.2) & (plain < 0.9)).all()
    search = GridSearchCV(
        model,
        {"ridge": [1.0, 1000.0]},
        cv=cv,
        scoring=get_scorer("macro_average_precision"),
        error_score="raise",
    )
    search.fit(pbc.X, pbc.Y)
    assert 0.4 < search.best_score_ < 0.8
    scoring = {
        "AP": label_scorer("ascites"),
        "AUC": label_scorer("ascites", "AUC"),
        "log loss": get_scorer("neg_log_loss"),
    }
    results = cross_validate(
        model, pbc.X, pbc.Y, cv=cv, scoring=scoring, error_score="raise"
    )
    assert (results["test_AUC"] > 0.7).all()
    assert (results["test_log loss"] < 0).all()


def test_cross_val_score_takes_plain_folds_by_the_score_of_the_model(pbc):
    gaps = pbc.Y.to_numpy(dtype=float)
    model = MLTSKClassifier(n_rules=0)
    folds = KFold(3, shuffle=True, random_state=0)
    of_array = cross_val_score(model, pbc.X, gaps, cv=folds, error_score="raise")
    of_frame = cross_val_score(
        model, pbc.X, pd.DataFrame(gaps), cv=folds, error_score="raise"
    )
    assert_array_equal(of_array, of_frame)
    assert np.isfinite(of_array).all()
