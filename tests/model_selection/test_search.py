"""Cross-validation and searches with a plain number for cv, on labels with gaps."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn import model_selection as of_sklearn
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

from mltsk import MLTSKClassifier, read_table
from mltsk.exceptions import InputError
from mltsk.model_selection import (
    GridSearchCV,
    IterativeStratification,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    get_scorer,
    label_scorer,
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


def test_scoring_takes_our_scorers_by_name_one_or_a_list(pbc):
    names = ["macro_roc_auc", "AP of edema", "AUC of ascites"]
    results = cross_validate(MODEL, pbc.X, pbc.Y, cv=3, scoring=names)
    for name in names:
        alone = cross_val_score(MODEL, pbc.X, pbc.Y, cv=3, scoring=name)
        assert results[f"test_{name}"].tolist() == alone.tolist()
    of_edema = label_scorer("edema", "AP")
    same = cross_val_score(MODEL, pbc.X, pbc.Y, cv=3, scoring=of_edema)
    assert results["test_AP of edema"].tolist() == same.tolist()


def test_a_search_takes_a_scorer_by_name_and_keeps_the_name(pbc):
    search = GridSearchCV(MODEL, {"ridge": [0.1]}, cv=3, scoring="AUC of edema")
    assert search.fit(pbc.X, pbc.Y).best_score_ > 0.6
    assert search.scoring == "AUC of edema"


def test_metrics_of_scikit_learn_are_refused_where_they_would_give_nan(pbc):
    with pytest.raises(InputError, match=r"NaN in y\): take 'macro_roc_auc'"):
        cross_val_score(MODEL, pbc.X, pbc.Y, cv=3, scoring="roc_auc")
    Y = pbc.Y.fillna(0)
    scores = cross_val_score(MODEL, pbc.X, Y, cv=3, scoring="roc_auc")
    assert np.isfinite(scores).all()


def test_group_folds_and_fits_get_their_groups_by_routing(pbc):
    patients = np.arange(len(pbc.X)) // 2
    by_route = {}
    with config_context(enable_metadata_routing=True):
        model = clone(MODEL).set_fit_request(groups=True)
        options = {"cv": GroupKFold(3), "scoring": "macro_roc_auc"}
        params = {"groups": patients}
        by_route["scores"] = cross_val_score(
            model, pbc.X, pbc.Y, params=params, **options
        )
        by_route["predictions"] = cross_val_predict(
            model, pbc.X, pbc.Y, params=params, cv=GroupKFold(3)
        )
        search = GridSearchCV(model, {"ridge": [5.0]}, **options)
        search.fit(pbc.X, pbc.Y, groups=patients)
    assert search.best_score_ == pytest.approx(by_route["scores"].mean())
    by_argument = cross_val_predict(
        MODEL, pbc.X, pbc.Y, groups=patients, cv=GroupKFold(3)
    )
    assert (by_route["predictions"] == by_argument).all()


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


@pytest.mark.parametrize("classes", [[0, 1], ["no", "yes"], ["a", "b", "c"]])
def test_a_number_of_folds_stands_for_stratified_ones_of_classes_too(classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = np.array(classes)[np.arange(90) % len(classes)]
    scores = cross_val_score(MODEL, X, y, cv=3)
    assert scores.shape == (3,)
    folds = IterativeStratification(3).split(X, y)
    counts = [np.unique(y[test], return_counts=True)[1] for _, test in folds]
    assert np.ptp(counts, axis=0).max() <= 1


def test_scorers_of_labels_are_refused_for_classes_before_the_work():
    X = np.zeros((6, 1))
    y = np.array([0, 1, 0, 1, 0, 1])
    with pytest.raises(InputError, match="but y is 1-d: pass y as a table of one"):
        cross_val_score(MODEL, X, y, cv=2, scoring="macro_roc_auc")
