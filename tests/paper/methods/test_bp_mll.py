import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from mltsk.metrics import evaluate
from mltsk.paper.methods.bp_mll import (
    BPMLL,
    best_thresholds,
    deltas,
    make_batches,
    online_step,
    pairwise_descent,
    threshold_function,
)
from mltsk.paper.methods.nets import pair_share

torch = pytest.importorskip("torch")

# One step by hand: V (2 features, 2 units), W (2 units, 3 labels), biases last.
V = np.array([[0.1, 0.3], [-0.2, 0.4], [0.05, -0.05]])
W = np.array([[0.2, -0.3, 0.4], [0.1, 0.5, -0.1], [0.0, 0.1, -0.1]])
x, y = np.array([[1.0, 2.0]]), np.array([[1.0, 0.0, 1.0]])
h = np.array([[-0.244919, 0.781806]])
c = np.array([[0.029189, 0.511219, -0.269336]])


def toy(n=60, labels=3):
    rng = np.random.default_rng(1)
    X = rng.random((n, 6))
    return X, (X @ rng.normal(size=(6, labels)) > 0.2).astype(int)


def pairwise_error(c, Y):
    """Error (N,) of outputs c (N, L) for an indicator Y; 0 for rows with no label or all labels."""
    relevant, irrelevant = (np.exp(-c) * Y).sum(axis=1), (np.exp(c) * (1 - Y)).sum(axis=1)
    return relevant * irrelevant * pair_share(Y)


def one_batch(X, Y, size=1):
    return next(make_batches(X, Y, np.ones(len(Y)), np.arange(len(Y)), size, "cpu"))


def test_forward_pass_and_error_of_the_worked_example():
    hidden = np.tanh(x @ V[:-1] + V[-1])
    outputs = np.tanh(hidden @ W[:-1] + W[-1])
    assert_allclose(hidden, h, atol=5e-7)
    assert_allclose(outputs, c, atol=5e-7)
    assert_allclose(pairwise_error(outputs, y), [1.90102166], atol=5e-9)


def test_deltas_of_the_worked_example():
    hidden = np.tanh(x @ V[:-1] + V[-1])
    outputs = np.tanh(hidden @ W[:-1] + W[-1])
    d, e = deltas(*(torch.tensor(a) for a in (hidden, outputs, W)), one_batch(x, y))
    assert_allclose(d.numpy(), [[0.808990, -1.404199, 1.012174]], atol=5e-7)
    assert_allclose(e.numpy(), [[0.928666, -0.280861]], atol=5e-7)


@pytest.mark.parametrize("rows_of", [np.asarray, sparse.csr_array])
def test_updates_of_the_worked_example(rows_of):
    first, second = torch.tensor(V), torch.tensor(W)
    factor = online_step(first, second, one_batch(rows_of(x), y), rate=0.05, decay=2 * 0.1 / 10)
    assert_allclose(
        factor * first.numpy(), [[0.144433, 0.279957], [-0.103133, 0.363914], [0.095433, -0.063043]], atol=5e-7
    )
    assert_allclose(
        second.numpy(),
        [[0.186093, -0.276804, 0.379605], [0.129624, 0.435109, -0.058434], [0.040449, 0.027790, -0.047391]],
        atol=5e-7,
    )


def test_descent_is_minus_the_gradient_of_the_error():
    rng = np.random.default_rng(0)
    C, Y = rng.uniform(-1, 1, (4, 5)), (rng.random((4, 5)) < 0.4).astype(float)
    batch = next(make_batches(C, Y, np.ones(4), np.arange(4), 4, "cpu"))
    kept = np.flatnonzero((Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 5))
    step = 1e-6 * np.eye(5)[2]
    numeric = (pairwise_error(C + step, Y) - pairwise_error(C - step, Y)) / 2e-6
    exact = pairwise_descent(torch.tensor(C[kept]), batch.Y, batch.signs, batch.share)
    assert_allclose(-exact[:, 2].numpy(), numeric[kept], atol=1e-8)


def test_rows_with_no_label_or_all_labels_make_no_batch():
    Y = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    steps = list(make_batches(np.eye(3), Y, np.ones(3), np.array([2, 1, 0]), 1, "cpu"))
    assert [step.x.tolist() for step in steps] == [[[0.0, 1.0, 0.0, 1.0]]]


def test_best_thresholds_are_the_first_that_err_least():
    rng = np.random.default_rng(2)
    C, Y = rng.integers(0, 4, (200, 5)) / 4, rng.integers(0, 2, (200, 5))  # ties on purpose
    S = np.sort(C, axis=1)
    candidates = np.hstack([S[:, :1] - 0.1, (S[:, :-1] + S[:, 1:]) / 2, S[:, -1:] + 0.1])
    wrong = ((C[:, None, :] >= candidates[:, :, None]) != Y[:, None, :]).sum(axis=2)
    assert_array_equal(best_thresholds(C, Y), candidates[np.arange(200), wrong.argmin(axis=1)])


def test_threshold_function_recovers_a_linear_rule():
    rng = np.random.default_rng(3)
    C = rng.uniform(-1, 1, (300, 2))
    Y = (C >= C.mean(axis=1, keepdims=True)).astype(int)  # the midpoint of two outputs is their mean
    assert_allclose(threshold_function(C, Y, np.ones(300)), [0.5, 0.5, 0], atol=1e-12)


def test_small_batches_stay_near_the_published_method():
    X, Y = toy(200)
    one, four = (BPMLL(epochs=20, hidden=6, batch_size=size).fit(X, Y).decision_function(X) for size in (1, 4))
    assert 0 < np.abs(one - four).mean() < 0.1 * np.abs(one).mean()


def test_paper_grid_is_ten_epoch_counts_from_one_run():
    X, Y = toy(30)
    done = []
    points = list(BPMLL(progress=lambda *step: done.append(step)).grid_path(X, Y, X))
    assert [point.params for point in points] == [{"epochs": e} for e in range(10, 101, 10)]
    assert len(done) == 100


def test_it_learns_to_rank():
    X, Y = toy(200)
    Y[:5], Y[5:9] = 0, 1
    model = BPMLL(hidden=6).fit(X[:150], Y[:150])
    assert evaluate(Y[150:], model.decision_function(X[150:]))["AP"] > 0.9


def test_weight_two_is_nearly_the_same_as_repeating_a_row():
    X, Y = toy()
    model = BPMLL(epochs=3, learning_rate=1e-3, shuffle=False)
    once, other = (clone(model).fit(X, Y, np.full(60, weight)).coefs_[0] for weight in (2.0, 1.0))
    twice = clone(model).fit(np.repeat(X, 2, 0), np.repeat(Y, 2, 0)).coefs_[0]
    assert np.abs(once - twice).max() < 0.02 * np.abs(once - other).max()


def test_rows_sorted_by_label_do_no_harm():
    X, _ = toy(200)
    Y = np.eye(6, dtype=int)[X.argmax(axis=1)]
    order = np.argsort(X.argmax(axis=1), kind="stable")
    models = (BPMLL(epochs=30, hidden=6, shuffle=shuffle).fit(X[order], Y[order]) for shuffle in (True, False))
    drawn, as_given = (evaluate(Y, model.decision_function(X))["AP"] for model in models)
    assert drawn > 0.8
    assert drawn > as_given + 0.05


def test_centring_is_undone_in_the_stored_net():
    X, Y = toy()
    moved = BPMLL(epochs=3).fit(X + 5, Y)
    assert_allclose(moved.decision_function(X + 5), BPMLL(epochs=3).fit(X, Y).decision_function(X), atol=1e-9)


def test_constant_labels_and_rows_without_pairs_alone():
    X, Y = toy()
    Y[:, 0], Y[:, 1] = 0, 1
    scores = BPMLL(epochs=20).fit(X, Y).decision_function(X)
    assert (scores[:, 1] > scores[:, 0]).all()
    assert BPMLL(epochs=2).fit(X, np.ones((60, 3), dtype=int)).predict(X).mean() > 0.95  # nothing but a threshold
