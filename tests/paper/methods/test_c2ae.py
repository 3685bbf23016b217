import sys

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
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


def test_small_data_gets_enough_steps_and_a_number_is_obeyed():
    assert C2AE()._epoch_count(400) == 400
    assert C2AE()._epoch_count(4800) == 50
    assert C2AE(epochs=50)._epoch_count(400) == 50
    assert C2AE(validation_fraction=0.5)._epoch_count(2000) == 200


def test_held_out_rows_pick_the_best_epoch():
    X, Y = toy(200)
    model = clone(SMALL).set_params(validation_fraction=0.2, epochs=30).fit(X, Y)
    assert 1 <= model.best_epoch_ <= model.n_iter_ == 30
    shorter = clone(model).set_params(epochs=model.best_epoch_).fit(X, Y)
    assert_array_equal(model.decision_function(X), shorter.decision_function(X))


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


def test_scores_are_the_decoder_of_the_features():
    X, Y = toy()
    model = clone(SMALL).fit(X, Y)
    scores = decoded(X, model.feature_net_, model.decoder_net_)
    assert_allclose(model.decision_function(X), scores - 0.5)
    assert_array_equal(model.predict(X), scores >= 0.5)
