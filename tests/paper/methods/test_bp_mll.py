"""BP-MLL: one step by hand, gradients, thresholds, and what it learns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

from mltsk.metrics import evaluate
from mltsk.paper.methods.bp_mll import BPMLL, best_thresholds, make_batches, online_step
from mltsk.paper.methods.nets import pair_share

torch = pytest.importorskip("torch")

# One step by hand: V (2 features, 2 units), W (2 units, 3 labels), biases last.
V = np.array([[0.1, 0.3], [-0.2, 0.4], [0.05, -0.05]])
W = np.array([[0.2, -0.3, 0.4], [0.1, 0.5, -0.1], [0.0, 0.1, -0.1]])
x = np.array([[1.0, 2.0]])
y = np.array([[1.0, 0.0, 1.0]])
h = np.array([[-0.244919, 0.781806]])
c = np.array([[0.029189, 0.511219, -0.269336]])


def toy(n=60, labels=3):
    rng = np.random.default_rng(1)
    X = rng.random((n, 6))
    return X, (X @ rng.normal(size=(6, labels)) > 0.2).astype(int)


def outputs(X, V, W):
    """Outputs of the net for rows X, by NumPy."""
    hidden = np.tanh(X @ V[:-1] + V[-1])
    return np.tanh(hidden @ W[:-1] + W[-1])


def pairwise_error(c, Y):
    """Error (N,) of outputs c (N, L); 0 for rows with no label or all labels."""
    relevant = (np.exp(-c) * Y).sum(axis=1)
    irrelevant = (np.exp(c) * (1 - Y)).sum(axis=1)
    return relevant * irrelevant * pair_share(Y)


def first_batch(X, Y, size=1):
    order = np.arange(len(Y))
    steps = make_batches(X, Y, np.ones(len(Y)), order, size=size, device="cpu")
    return next(steps)


def test_the_worked_example_has_these_outputs_and_this_error():
    assert_allclose(np.tanh(x @ V[:-1] + V[-1]), h, atol=5e-7)
    assert_allclose(outputs(x, V, W), c, atol=5e-7)
    assert_allclose(pairwise_error(outputs(x, V, W), y), [1.90102166], atol=5e-9)


@pytest.mark.parametrize("rows_of", [np.asarray, sparse.csr_array])
def test_online_step_of_the_worked_example(rows_of):
    first = torch.tensor(V)
    second = torch.tensor(W)
    batch = first_batch(rows_of(x), y)
    factor = online_step(first, second, batch, rate=0.05, decay=2 * 0.1 / 10)
    assert_allclose(
        factor * first.numpy(),
        [[0.144433, 0.279957], [-0.103133, 0.363914], [0.095433, -0.063043]],
        atol=5e-7,
    )
    assert_allclose(
        second.numpy(),
        [
            [0.186093, -0.276804, 0.379605],
            [0.129624, 0.435109, -0.058434],
            [0.040449, 0.027790, -0.047391],
        ],
        atol=5e-7,
    )


def test_online_step_descends_the_gradient_of_the_error():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 2))
    Y = (rng.random((6, 3)) < 0.4).astype(float)

    def error(layers):
        return pairwise_error(outputs(X, *layers), Y).sum()

    moved = (torch.tensor(V), torch.tensor(W))
    online_step(*moved, first_batch(X, Y, size=6), rate=1.0, decay=0.0)
    for i, start in enumerate((V, W)):
        for place in np.ndindex(start.shape):
            above = [V.copy(), W.copy()]
            above[i][place] += 1e-6
            below = [V.copy(), W.copy()]
            below[i][place] -= 1e-6
            slope = (error(above) - error(below)) / 2e-6
            step = float(moved[i][place]) - start[place]
            assert step == pytest.approx(-slope, abs=1e-7)


def test_make_batches_leaves_out_rows_with_no_label_or_all_labels():
    Y = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    order = np.array([2, 1, 0])
    steps = make_batches(np.eye(3), Y, np.ones(3), order, size=1, device="cpu")
    assert [step.x.tolist() for step in steps] == [[[0.0, 1.0, 0.0, 1.0]]]


def test_best_thresholds_are_the_first_that_err_least():
    rng = np.random.default_rng(2)
    C = rng.integers(0, 4, (200, 5)) / 4  # ties on purpose
    Y = rng.integers(0, 2, (200, 5))
    S = np.sort(C, axis=1)
    midpoints = (S[:, :-1] + S[:, 1:]) / 2
    candidates = np.hstack([S[:, :1] - 0.1, midpoints, S[:, -1:] + 0.1])
    wrong = ((C[:, None, :] >= candidates[:, :, None]) != Y[:, None, :]).sum(axis=2)
    expected = candidates[np.arange(200), wrong.argmin(axis=1)]
    assert_array_equal(best_thresholds(C, Y), expected)


def test_decision_function_cuts_at_the_regression_of_the_best_thresholds():
    X, Y = toy(200)
    w = np.random.default_rng(3).random(200)
    model = BPMLL(epochs=5).fit(X, Y, w)
    first, second = map(np.vstack, zip(model.coefs_, model.intercepts_, strict=True))
    c = outputs(X, first, second)
    line = LinearRegression().fit(c, best_thresholds(c, Y), sample_weight=w)
    cuts = np.tile(line.predict(c)[:, None], 3)
    assert_allclose(c - model.decision_function(X), cuts, atol=1e-9)


def test_fit_with_small_batches_stays_near_the_published_method():
    X, Y = toy(200)
    model = BPMLL(epochs=20, hidden=6)
    one = clone(model).set_params(batch_size=1).fit(X, Y).decision_function(X)
    four = clone(model).set_params(batch_size=4).fit(X, Y).decision_function(X)
    assert 0 < np.abs(one - four).mean() < 0.1 * np.abs(one).mean()


def test_grid_path_of_ten_epoch_counts_is_one_run():
    X, Y = toy(30)
    done = []
    points = list(BPMLL(progress=lambda *step: done.append(step)).grid_path(X, Y, X))
    epochs = [point.params["epochs"] for point in points]
    assert epochs == list(range(10, 101, 10))
    assert len(done) == 100


def test_fit_learns_to_rank():
    X, Y = toy(200)
    Y[:5] = 0
    Y[5:9] = 1
    model = BPMLL(hidden=6).fit(X[:150], Y[:150])
    assert evaluate(Y[150:], model.decision_function(X[150:]))["AP"] > 0.9


def test_fit_takes_weight_two_nearly_for_a_repeated_row():
    X, Y = toy()
    model = BPMLL(epochs=3, learning_rate=1e-3, shuffle=False)
    weighted = clone(model).fit(X, Y, np.full(60, 2.0)).coefs_[0]
    single = clone(model).fit(X, Y).coefs_[0]
    twice = clone(model).fit(np.repeat(X, 2, 0), np.repeat(Y, 2, 0)).coefs_[0]
    assert np.abs(weighted - twice).max() < 0.02 * np.abs(weighted - single).max()


def test_fit_shuffles_rows_that_are_sorted_by_label():
    X, _ = toy(200)
    best = X.argmax(axis=1)
    Y = np.eye(6, dtype=int)[best]
    order = np.argsort(best, kind="stable")

    def precision(shuffle):
        model = BPMLL(epochs=30, hidden=6, shuffle=shuffle).fit(X[order], Y[order])
        return evaluate(Y, model.decision_function(X))["AP"]

    assert precision(shuffle=True) > 0.8
    assert precision(shuffle=True) > precision(shuffle=False) + 0.05


def test_fit_undoes_centring_in_the_stored_net():
    X, Y = toy()
    model = BPMLL(epochs=3).fit(X, Y).decision_function(X)
    moved = BPMLL(epochs=3).fit(X + 5, Y).decision_function(X + 5)
    assert_allclose(moved, model, atol=1e-9)


def test_fit_ranks_constant_labels():
    X, Y = toy()
    Y[:, 0] = 0
    Y[:, 1] = 1
    scores = BPMLL(epochs=20).fit(X, Y).decision_function(X)
    assert (scores[:, 1] > scores[:, 0]).all()


def test_fit_learns_a_threshold_where_no_row_has_a_pair():
    X, _ = toy()
    model = BPMLL(epochs=2).fit(X, np.ones((60, 3), dtype=int))
    assert model.predict(X).mean() > 0.95
