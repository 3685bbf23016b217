import pickle
import sys

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from mltsk.metrics import evaluate
from mltsk.paper.methods.c2ae import C2AE, decoded

SMALL = C2AE(hidden=16, batch_size=20, epochs=4)


def toy(n=80, labels=3):
    rng = np.random.default_rng(1)
    X = rng.random((n, 6))
    return X, (X @ rng.normal(size=(6, labels)) > 0.2).astype(int)


def test_alpha_multiplies_in_the_paper_and_divides_in_the_program():
    X, Y = toy()
    paper = clone(SMALL).set_params(alpha=0.5, alpha_meaning="multiply").fit(X, Y)
    program = clone(SMALL).set_params(alpha=2.0, alpha_meaning="divide").fit(X, Y)
    assert_array_equal(paper.decision_function(X), program.decision_function(X))


def test_a_fit_needs_no_torch(monkeypatch):
    X, Y = toy()
    expected = clone(SMALL).fit(X, Y).decision_function(X)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert_array_equal(clone(SMALL).fit(X, Y).decision_function(X), expected)


def test_a_row_of_weight_zero_is_no_row():
    X, Y = toy()
    w = (np.arange(80) % 3 > 0).astype(float)
    weighted = clone(SMALL).fit(X, Y, sample_weight=w).decision_function(X)
    assert_array_equal(clone(SMALL).fit(X[w > 0], Y[w > 0]).decision_function(X), weighted)


def test_small_data_gets_enough_steps_and_a_number_is_obeyed():
    assert C2AE()._epoch_count(400) == 400
    assert C2AE()._epoch_count(4800) == 50
    assert C2AE(epochs=50)._epoch_count(400) == 50


def test_grid_equals_one_fit_after_another():
    X, Y = toy()
    for point in SMALL.grid_path(X, Y, X[:9], {"alpha": [0.1, 10.0], "epochs": [1, 3]}):
        alone = clone(SMALL).set_params(**point.params).fit(X, Y)
        assert_allclose(point.scores, alone.decision_function(X[:9]) + 0.5, atol=1e-15)
        assert_array_equal(point.labels, alone.predict(X[:9]))


def test_paper_grid_is_eleven_alphas():
    X, Y = toy(30)
    points = list(SMALL.grid_path(X, Y, X))
    assert [point.params["alpha"] for point in points] == [0.1, 0.3, 0.5, 0.7, 0.9, 1, 3, 5, 7, 9, 10]
    assert np.abs(points[0].scores - points[-1].scores).max() > 1e-6


def test_it_learns_with_empty_and_full_rows():
    X, Y = toy(200)
    Y[:5], Y[5:9] = 0, 1
    model = C2AE(hidden=64, batch_size=50, learning_rate=1e-3).fit(X[:150], Y[:150])
    assert evaluate(Y[150:], model.decision_function(X[150:]))["AP"] > 0.9


def test_sparse_and_dense_rows_train_the_same_net():
    X, Y = toy()
    X[X < 0.5] = 0
    dense, thin = (clone(SMALL).fit(rows, Y).decision_function(rows) for rows in (X, sparse.csr_array(X)))
    assert_allclose(thin, dense, atol=1e-7)


def test_scores_are_the_decoder_of_the_features():
    X, Y = toy()
    model = clone(SMALL).fit(X, Y)
    scores = decoded(X, model.feature_net_, model.decoder_net_)
    assert_allclose(model.decision_function(X), scores - 0.5)
    assert_array_equal(model.predict(X), scores >= 0.5)


def test_constant_labels_one_label_and_many_classes():
    X, Y = toy(200)
    model = C2AE(hidden=64, batch_size=50, learning_rate=1e-3)
    assert clone(model).fit(X, Y[:, 0]).score(X, Y[:, 0]) > 0.9
    assert clone(model).fit(X, X[:, :3].argmax(axis=1)).score(X, X[:, :3].argmax(axis=1)) > 0.85
    Y[:, 0], Y[:, 1] = 0, 1
    scores = clone(model).fit(X, Y).decision_function(X)
    assert (scores[:, 1] > scores[:, 0]).all()


def test_same_seed_same_model_and_pickle_keeps_it():
    X, Y = toy()
    model = clone(SMALL).set_params(random_state=4).fit(X, Y)
    again, other = (clone(SMALL).set_params(random_state=s).fit(X, Y).decision_function(X) for s in (4, 5))
    assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), again)
    assert np.abs(again - other).max() > 1e-6
