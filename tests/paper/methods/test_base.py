"""What every method inherits: reading inputs, outputs, whole grids, the registry."""

from contextlib import contextmanager
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from mltsk.exceptions import InputError
from mltsk.paper.methods import METHODS, GridPoint, MultilabelMethod, base
from mltsk.paper.methods.base import (
    Trial,
    agreeing_except_in,
    agreeing_in,
    inside_unit_interval,
    register,
    with_labels,
)

X = np.array([[0.0, 2.0], [1.0, 0.0], [3.0, 1.0], [2.0, 2.0]])
Y = np.array([[1, 0], [1, 1], [0, 1], [1, 1]])


class ShareOfRows(MultilabelMethod):
    """Scores a label by its weighted share of the training rows, times a factor."""

    PAPER_GRID: ClassVar = {"beta": [0.5, 1.0]}

    def __init__(self, beta=1.0):
        self.beta = beta

    def _fit(self, X, Y, w):
        self.share_ = self.beta * (w @ Y) / w.sum()

    def _scores(self, X):
        return np.tile(self.share_, (X.shape[0], 1))


class FirstFeatures(MultilabelMethod):
    """Scores labels by the first features themselves."""

    def _fit(self, X, Y, w):
        self.n_labels_ = Y.shape[1]

    def _scores(self, X):
        return X[:, : self.n_labels_]


class DenseOnly(ShareOfRows):
    """Takes neither sparse rows nor weights."""

    _sparse = False
    _takes_weights = False


# reading


def test_fit_keeps_the_names_of_features_and_labels():
    features = pd.DataFrame(X, columns=["age", "weight"])
    labels = pd.DataFrame(Y, columns=["fever", "cough"])
    model = ShareOfRows().fit(features, labels)
    assert model.label_names_ == ("fever", "cough")
    assert list(model.feature_names_in_) == ["age", "weight"]
    assert model.multilabel_


def test_fit_reads_sparse_labels():
    model = ShareOfRows().fit(X, sparse.csr_array(Y))
    assert_allclose(model.share_, [0.75, 0.75])


def test_fit_leaves_rows_of_weight_zero_out():
    weighted = ShareOfRows().fit(X, Y, sample_weight=[1, 0, 2, 0])
    assert_allclose(weighted.share_, [1 / 3, 2 / 3])


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ([0, 0, 0, 0], "zero for every row"),
        ([1, -1, 1, 1], "holds -1 in row 1"),
        ([1, None, 1, 1], r"holds nothing \(NaN\) in row 1"),
        ([1, 1, 1e308, 1], r"holds 1e\+308 in row 2, but ShareOfRows takes weights as"),
        ([1, 1, 1, 1e-20], r"holds 1e-20 in row 3"),
        ([1, 1], r"shape \(2,\), but X has 4 rows"),
        (np.ones((4, 2)), r"shape \(4, 2\), but X has 4 rows"),
    ],
)
def test_fit_refuses_weights_that_cannot_be_used(weights, sentence):
    with pytest.raises(ValueError, match=sentence):
        ShareOfRows().fit(X, Y, sample_weight=weights)


def test_fit_refuses_weights_where_a_method_has_no_meaning_for_them():
    with pytest.raises(ValueError, match="DenseOnly has no meaning for sample_weight"):
        DenseOnly().fit(X, Y, sample_weight=[1, 1, 1, 1])


def test_fit_refuses_sparse_rows_where_a_method_takes_dense_ones_only():
    with pytest.raises(TypeError, match="dense"):
        DenseOnly().fit(sparse.csr_array(X), Y)


def test_fit_refuses_another_number_of_labels_than_rows():
    with pytest.raises(ValueError, match="X has 4 rows but y has 3"):
        ShareOfRows().fit(X, sparse.csr_array(Y[:3]))


def test_fit_refuses_parameters_before_it_reads_rows():
    with pytest.raises(
        ValueError, match="'beta' parameter of ShareOfRows must be a fl"
    ):
        ShareOfRows(beta=-1).fit("no rows", None)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_predict_refuses_rows_before_fit_and_rows_of_another_width(form):
    with pytest.raises(NotFittedError):
        ShareOfRows().predict(form(X))
    model = ShareOfRows().fit(form(X), Y)
    with pytest.raises(ValueError, match="expecting 2 features"):
        model.predict(form(X[:, :1]))


def test_predict_refuses_complex_numbers():
    model = ShareOfRows().fit(X, Y)
    with pytest.raises(InputError, match="Complex data not supported"):
        model.predict(X + 1j)


# labels, classes and probabilities


def test_predict_gives_a_label_whose_score_is_the_cut():
    model = FirstFeatures().fit(X, Y)
    rows = [[0.5, 0.4], [0.6, 0.5]]
    assert_array_equal(model.predict(rows), [[1, 0], [1, 1]])
    assert_array_equal(model.decision_function(rows) > 0, [[1, 0], [1, 1]])


def test_predict_of_two_classes_gives_their_names():
    model = FirstFeatures().fit(X, ["yes", "no", "yes", "no"])
    rows = [[0.6, 0.0], [0.5, 0.0], [0.4, 0.0]]
    assert model.predict(rows).tolist() == ["yes", "yes", "no"]
    assert model.decision_function(rows).shape == (3,)
    probabilities = model.predict_proba(rows)
    assert_allclose(probabilities.sum(axis=1), 1)
    assert_allclose(probabilities[1], [0.5, 0.5])
    assert_array_equal(probabilities[[0, 2]].argmax(axis=1), [1, 0])


def test_predict_of_many_classes_gives_the_one_of_the_highest_score():
    rows = np.hstack([X, X[:, :1] / 2])
    model = FirstFeatures().fit(rows, ["a", "b", "c", "c"])
    new = [[0.2, 0.3, 0.1], [0.9, 0.8, 1.0]]
    assert model.predict(new).tolist() == ["b", "c"]
    assert_allclose(model.predict_proba(new).sum(axis=1), 1)


def test_predict_proba_is_a_logistic_curve_inside_the_unit_interval():
    model = FirstFeatures().fit(X, Y)
    p = model.predict_proba([[0.5, 0.75], [-1e9, 1e9]])
    assert_allclose(p[0], [0.5, 1 / (1 + np.exp(-1))])
    assert 0 < p[1, 0] < p[1, 1] < 1


def test_inside_unit_interval_moves_the_ends_only():
    p = inside_unit_interval(np.array([0.0, 0.3, 1.0]))
    assert p[1] == 0.3
    assert 0 < p[0] < 1e-15
    assert 1 - 1e-15 < p[2] < 1


# grids


def test_grid_path_takes_the_papers_grid_by_default():
    points = list(ShareOfRows().grid_path(X, Y, X[:2]))
    assert [point.params for point in points] == [{"beta": 0.5}, {"beta": 1.0}]
    assert all(isinstance(point, GridPoint) for point in points)
    assert_allclose(points[0].scores, np.full((2, 2), 0.375))
    assert_array_equal(points[0].labels, np.zeros((2, 2)))
    assert_array_equal(points[1].labels, np.ones((2, 2)))


def test_grid_path_counts_weights_and_leaves_the_model_unfitted():
    model = ShareOfRows()
    (point,) = model.grid_path(X, Y, X, {"beta": [1.0]}, sample_weight=[1, 0, 2, 0])
    assert_allclose(point.scores[0], [1 / 3, 2 / 3])
    assert not hasattr(model, "share_")


def test_grid_path_refuses_a_setting_before_any_is_fitted():
    path = ShareOfRows().grid_path(X, Y, X, {"beta": [1.0, -1.0]})
    with pytest.raises(ValueError, match="'beta' parameter"):
        next(path)


def test_grid_path_limits_threads_while_it_computes_and_not_between_points(monkeypatch):
    limited = []

    @contextmanager
    def blas_threads(flops):
        limited.append(True)
        yield
        limited.pop()

    class Watched(ShareOfRows):
        def _fit(self, X, Y, w):
            assert limited
            super()._fit(X, Y, w)

    monkeypatch.setattr(base, "blas_threads", blas_threads)
    for _ in Watched().grid_path(X, Y, X):
        assert not limited
    assert not limited


TRIALS = [
    Trial({"C": 1.0, "order": [0, 1], "tol": 0.1}, "first"),
    Trial({"C": 2.0, "order": [0, 1], "tol": 0.2}, "second"),
    Trial({"C": 1.0, "order": [1, 0], "tol": 0.1}, "third"),
    Trial({"C": 1.0, "order": [0, 1], "tol": 0.2}, "fourth"),
]


def models(groups):
    return [[trial.model for trial in group] for group in groups]


def test_agreeing_in_groups_trials_by_equal_values_in_order_of_appearance():
    assert models(agreeing_in(TRIALS, "C")) == [
        ["first", "third", "fourth"],
        ["second"],
    ]
    by_two = models(agreeing_in(TRIALS, "order", "tol"))
    assert by_two == [["first"], ["second", "fourth"], ["third"]]


def test_agreeing_except_in_groups_trials_that_differ_there_alone():
    assert models(agreeing_except_in(TRIALS, "C", "tol")) == [
        ["first", "second", "fourth"],
        ["third"],
    ]
    assert agreeing_except_in([], "C") == []


def test_agreeing_except_in_puts_a_single_fit_without_parameters_in_one_group():
    assert models(agreeing_except_in([Trial({}, "only")], "C")) == [["only"]]


# the rest


def test_register_adds_a_class_to_methods_and_returns_it():
    try:
        assert register("share")(ShareOfRows) is ShareOfRows
        assert METHODS["share"] is ShareOfRows
    finally:
        METHODS.pop("share", None)


def test_methods_hold_every_method_under_the_key_that_it_registered():
    assert {key: method.__name__ for key, method in METHODS.items()} == {
        "ml-knn": "MLkNN",
        "hnoml": "HNOML",
        "mlsf": "MLSF",
        "cc": "ClassifierChainTSK",
        "br": "BinaryRelevanceTSK",
        "c2ae": "C2AE",
        "bp-mll": "BPMLL",
        "jbnn": "JBNN",
        "ml-tsk-fs": "PaperMLTSK",
    }


@pytest.mark.parametrize("labels", [Y, Y > 0, Y * 1.0])
def test_with_labels_appends_columns_and_keeps_rows_sparse(labels):
    expected = np.hstack([X, Y])
    assert_array_equal(with_labels(X, labels), expected)
    both = with_labels(sparse.csr_array(X), labels)
    assert both.format == "csr"
    assert_array_equal(both.toarray(), expected)
