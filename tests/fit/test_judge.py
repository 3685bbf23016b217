"""Judges: errors in closed form against those of fits, by kernels and by sums."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from mltsk.core.arrays import BLOCK_BYTES
from mltsk.fit.judge import BlockColumns, KernelJudge, RidgeSearch, SumsJudge
from mltsk.fit.ridge import Moments, Penalty, solve_dual
from mltsk.fit.rows import Block


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(400, 4))


@pytest.mark.parametrize("n_labels", [3, 40])
def test_kernel_judge_error_is_the_squared_error_of_all_labels_if_few_or_many(
    X, n_labels
):
    rng = np.random.default_rng(2)
    K = X[:20] @ X[:20].T
    Y = (rng.random((20, n_labels)) < 0.4) * 1.0
    w = rng.random(20) + 0.1
    block = Block(X=None, Y=Y, w=w)
    judge = KernelJudge.of(block, label_groups=[np.arange(n_labels)], ridge=0.5)
    _, loo_scores = solve_dual(K.copy(), Y, w, groups=None, penalty=Penalty(0.5))
    mean_error = (w @ (loo_scores - Y) ** 2).sum() / (w.sum() * n_labels)
    error, ridge, by_row = judge.error(K)
    assert ridge == 0.5
    assert by_row.sum() == pytest.approx(error)
    assert error / judge.total_weight == pytest.approx(mean_error)


def test_kernel_judge_error_is_at_the_ridge_that_is_best_of_its_neighbours(X):
    K = X[:80] @ X[:80].T / 4
    noise = np.random.default_rng(3).normal(size=(80, 2))
    Y = (X[:80, :2] + noise > 0) * 1.0
    w = np.ones(80)
    block = Block(X=None, Y=Y, w=w)
    judge = KernelJudge.of(block, label_groups=[np.arange(2)], ridge=None)
    error, ridge, _ = judge.error(K.astype(np.float32))
    for neighbour in (ridge / 2, ridge * 2):
        penalty = Penalty(neighbour)
        _, loo_scores = solve_dual(K.copy(), Y, w, groups=None, penalty=penalty)
        assert ((loo_scores - Y) ** 2).sum() >= error * (1 - 1e-4)


def judge_of_sines(block, columns, **options):
    """The judge of the sines of some columns of a block."""
    return SumsJudge.of(
        BlockColumns(lambda Z: np.sin(Z[:, columns]), block.X, n_columns=len(columns)),
        block,
        **options,
    )


@pytest.mark.parametrize("is_observed_in_part", [False, True])
@pytest.mark.parametrize("is_in_two_steps", [False, True])
def test_sums_judge_error_is_that_of_rows_that_are_left_out(
    X, is_observed_in_part, is_in_two_steps
):
    rng = np.random.default_rng(4)
    Y = (X[:60, :2] + rng.normal(size=(60, 2)) > 0) * 1.0
    w = np.ones((60, 2))
    label_groups = [np.arange(2)]
    if is_observed_in_part:
        w[:20, 1] = 0
        label_groups = [np.array([0]), np.array([1])]
    judging = np.arange(10, 50)
    block = Block(X=X[:60], Y=Y, w=w)
    options = {
        "judging": judging,
        "label_groups": label_groups,
        "ridge": 0.5,
        "search": RidgeSearch(max_ridge=60.0),
    }
    if is_in_two_steps:
        first = judge_of_sines(block, [0], **options)
        judge = judge_of_sines(block, [1, 2, 3], before=first, **options)
    else:
        judge = judge_of_sines(block, [0, 1, 2, 3], **options)
    weights = np.array([1.0, 0.0, 2.0, 3.0])
    error, ridge = judge.error(weights)
    Phi = np.sin(X[:60]) * np.sqrt(weights)
    expected = 0.0
    for label in range(2):
        counted = np.flatnonzero(w[:, label] > 0)
        others = np.setdiff1d(counted, judging)
        judges = np.intersect1d(counted, judging)
        theirs = Ridge(alpha=0.5).fit(Phi[others], Y[others, label])
        expected += ((Y[judges, label] - theirs.predict(Phi[judges])) ** 2).sum()
    assert ridge == 0.5
    assert error == pytest.approx(expected)


def test_block_columns_give_sums_and_variances_of_rows_in_several_blocks(X):
    n_columns = BLOCK_BYTES // 2_000  # so many that a block has some 80 rows
    columns = BlockColumns(np.sin, X, n_columns)
    rng = np.random.default_rng(5)
    w = rng.integers(0, 3, size=400) * 1.0
    block = Block(X=X, Y=(X > 0) * 1.0, w=w)
    assert len(list(columns.blocks(w))) > 2
    expected = Moments.of(np.sin(X), block.Y, w)
    (sums,) = columns.moments(block, [np.arange(X.shape[1])])
    for name in ("H", "B", "phi", "y", "total"):
        assert_allclose(getattr(sums, name), getattr(expected, name))
    mean = np.average(np.sin(X), axis=0, weights=w)
    variances = np.average((np.sin(X) - mean) ** 2, axis=0, weights=w)
    assert_allclose(columns.variances(w), variances)
