"""Cross-validation and searches with a plain number for cv, on labels with gaps."""

import numpy as np
import pytest
from sklearn import model_selection as of_sklearn

from mltsk import MLTSKClassifier, read_table
from mltsk.model_selection import (
    GridSearchCV,
    IterativeStratification,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    get_scorer,
)

MODEL = MLTSKClassifier(n_rules=0, ridge=5.0)


@pytest.fixture(scope="module")
def pbc():
    return read_table("pbc")


@pytest.mark.filterwarnings("ignore:invalid value")  # scikit-learn's, before it refuses
def test_cross_val_score_takes_a_number_where_scikit_learn_refuses_it(pbc):
    with pytest.raises(ValueError, match="Input y contains NaN"):
        of_sklearn.cross_val_score(MODEL, pbc.X, pbc.Y, cv=3)
    scores = cross_val_score(MODEL, pbc.X, pbc.Y, cv=3)
    folds = IterativeStratification(3)
    same = of_sklearn.cross_val_score(MODEL, pbc.X, pbc.Y, cv=folds)
    assert scores.tolist() == same.tolist()


def test_cross_validate_takes_a_number_and_scorers_by_name(pbc):
    scoring = {"AUC": get_scorer("macro_roc_auc")}
    results = cross_validate(MODEL, pbc.X, pbc.Y, cv=3, scoring=scoring)
    assert (results["test_AUC"] > 0.6).all()


@pytest.mark.parametrize("kind", [GridSearchCV, RandomizedSearchCV])
def test_searches_take_a_number_and_keep_it(pbc, kind):
    options = {} if kind is GridSearchCV else {"n_iter": 2}
    search = kind(MODEL, {"ridge": [0.1, 10.0]}, cv=3, **options)
    search.fit(pbc.X, pbc.Y)
    assert search.n_splits_ == 3
    assert search.cv == 3
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_cross_val_predict_takes_none_for_five_folds(pbc):
    by_default = cross_val_predict(MODEL, pbc.X, pbc.Y, cv=None)
    assert (by_default == cross_val_predict(MODEL, pbc.X, pbc.Y, cv=5)).all()
