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
x, y = np.array([[1.0, 2.0]]), np.array([[1.0, 0.0, 1.0]])
h = np.array([[-0.244919, 0.781806]])
c = np.array([[0.029189, 0.511219, -0.269336]])


def toy(n=60, labels=3):
    rng = np.random.default_rng(1)
    X = rng.random((n, 6))
    return X, (X @ rng.normal(size=(6, labels)) > 0.2).astype(int)


def pairwise_error(c, Y):
    """Error (N,) of outputs c (N, L) for an indicator Y; 0 for rows with no label or all labels."""
    relevant, irrelevant = (
        (np.exp(-c) * Y).sum(axis=1),
        (np.exp(c) * (1 - Y)).sum(axis=1),
    )
    return relevant * irrelevant * pair_share(Y)


def one_batch(X, Y, size=1):
    return next(
        make_batches(X, Y, np.ones(len(Y)), np.arange(len(Y)), size=size, device="cpu")
    )


def test_forward_pass_and_error_of_the_worked_example():
    hidden = np.tanh(x @ V[:-1] + V[-1])
    outputs = np.tanh(hidden @ W[:-1] + W[-1])
    assert_allclose(hidden, h, atol=5e-7)
    assert_allclose(outputs, c, atol=5e-7)
    assert_allclose(pairwise_error(outputs, y), [1.90102166], atol=5e-9)


@pytest.mark.parametrize("rows_of", [np.asarray, sparse.csr_array])
def test_updates_of_the_worked_example(rows_of):
    first, second = torch.tensor(V), torch.tensor(W)
    factor = online_step(
        first, second, one_batch(rows_of(x), y), rate=0.05, decay=2 * 0.1 / 10
    )
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


def test_a_step_descends_the_gradient_of_the_error():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(6, 2)), (rng.random((6, 3)) < 0.4).astype(float)

    def error(V, W):
        hidden = np.tanh(X @ V[:-1] + V[-1])
        return pairwise_error(np.tanh(hidden @ W[:-1] + W[-1]), Y).sum()

    moved = torch.tensor(V), torch.tensor(W)
    online_step(*moved, one_batch(X, Y, size=6), rate=1.0, decay=0.0)
    for i, start in enumerate((V, W)):
        for place in np.ndindex(start.shape):
            ends = [[V.copy(), W.copy()] for _ in range(2)]
            ends[0][i][place] += 1e-6
            ends[1][i][place] -= 1e-6
            slope = (error(*ends[0]) - error(*ends[1])) / 2e-6
            assert float(moved[i][place]) - start[place] == pytest.approx(
                -slope, abs=1e-7
            )


def test_rows_with_no_label_or_all_labels_make_no_batch():
    Y = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    steps = list(
        make_batches(
            np.eye(3), Y, np.ones(3), np.array([2, 1, 0]), size=1, device="cpu"
        )
    )
    assert [step[0].tolist() for step in steps] == [[[0.0, 1.0, 0.0, 1.0]]]


def test_best_thresholds_are_the_first_that_err_least():
    rng = np.random.default_rng(2)
    C, Y = (
        rng.integers(0, 4, (200, 5)) / 4,
        rng.integers(0, 2, (200, 5)),
    )  # ties on purpose
    S = np.sort(C, axis=1)
    candidates = np.hstack(
        [S[:, :1] - 0.1, (S[:, :-1] + S[:, 1:]) / 2, S[:, -1:] + 0.1]
    )
    wrong = ((C[:, None, :] >= candidates[:, :, None]) != Y[:, None, :]).sum(axis=2)
    assert_array_equal(
        best_thresholds(C, Y), candidates[np.arange(200), wrong.argmin(axis=1)]
    )


def test_the_cut_of_a_row_is_the_regression_of_the_best_thresholds_on_its_outputs():
    X, Y = toy(200)
    w = np.random.default_rng(3).random(200)
    model = BPMLL(epochs=5).fit(X, Y, w)
    hidden = np.tanh(X @ model.coefs_[0] + model.intercepts_[0])
    outputs = np.tanh(hidden @ model.coefs_[1] + model.intercepts_[1])
    line = LinearRegression().fit(outputs, best_thresholds(outputs, Y), sample_weight=w)
    assert_allclose(
        outputs - model.decision_function(X),
        np.tile(line.predict(outputs)[:, None], 3),
        atol=1e-9,
    )


def test_small_batches_stay_near_the_published_method():
    X, Y = toy(200)
    one, four = (
        BPMLL(epochs=20, hidden=6, batch_size=size).fit(X, Y).decision_function(X)
        for size in (1, 4)
    )
    assert 0 < np.abs(one - four).mean() < 0.1 * np.abs(one).mean()


def test_paper_grid_is_ten_epoch_counts_from_one_run():
    X, Y = toy(30)
    done = []
    points = list(BPMLL(progress=lambda *step: done.append(step)).grid_path(X, Y, X))
    assert [point.params for point in points] == [
        {"epochs": e} for e in range(10, 101, 10)
    ]
    assert len(done) == 100


def test_it_learns_to_rank():
    X, Y = toy(200)
    Y[:5], Y[5:9] = 0, 1
    model = BPMLL(hidden=6).fit(X[:150], Y[:150])
    assert evaluate(Y[150:], model.decision_function(X[150:]))["AP"] > 0.9


def test_weight_two_is_nearly_the_same_as_repeating_a_row():
    X, Y = toy()
    model = BPMLL(epochs=3, learning_rate=1e-3, shuffle=False)
    once, other = (
        clone(model).fit(X, Y, np.full(60, weight)).coefs_[0] for weight in (2.0, 1.0)
    )
    twice = clone(model).fit(np.repeat(X, 2, 0), np.repeat(Y, 2, 0)).coefs_[0]
    assert np.abs(once - twice).max() < 0.02 * np.abs(once - other).max()


def test_rows_sorted_by_label_do_no_harm():
    X, _ = toy(200)
    Y = np.eye(6, dtype=int)[X.argmax(axis=1)]
    order = np.argsort(X.argmax(axis=1), kind="stable")
    models = (
        BPMLL(epochs=30, hidden=6, shuffle=shuffle).fit(X[order], Y[order])
        for shuffle in (True, False)
    )
    drawn, as_given = (
        evaluate(Y, model.decision_function(X))["AP"] for model in models
    )
    assert drawn > 0.8
    assert drawn > as_given + 0.05


def test_centring_is_undone_in_the_stored_net():
    X, Y = toy()
    moved = BPMLL(epochs=3).fit(X + 5, Y)
    assert_allclose(
        moved.decision_function(X + 5),
        BPMLL(epochs=3).fit(X, Y).decision_function(X),
        atol=1e-9,
    )


def test_constant_labels_and_rows_without_pairs_alone():
    X, Y = toy()
    Y[:, 0], Y[:, 1] = 0, 1
    scores = BPMLL(epochs=20).fit(X, Y).decision_function(X)
    assert (scores[:, 1] > scores[:, 0]).all()
    assert (
        BPMLL(epochs=2).fit(X, np.ones((60, 3), dtype=int)).predict(X).mean() > 0.95
    )  # nothing but a threshold
