"""What fewer rows teach: ridge regression of scikit-learn, groups that stay whole."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from mltsk.fit.learning import learning_scores

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X[:, :2] + RNG.normal(size=(60, 2)) > 0).astype(float)
K = X @ X.T


def scores_of(groups=None, Y=Y, shares=(0.4, 0.8)):
    return learning_scores(K, Y, np.ones(60), groups, 2.0, shares, seed=3)


def test_learning_scores_are_those_of_a_ridge_regression_without_the_fold():
    scores = scores_of(shares=(0.8,))[0]
    place = np.random.default_rng(3).permutation(60)
    test = place % 5 == 0
    ridge = Ridge(alpha=2.0).fit(X[~test], Y[~test])
    expected = ridge.predict(X[test]) - Y[~test].mean(axis=0)
    assert_allclose(scores[test], expected, atol=1e-10)


def test_learning_scores_of_a_group_do_not_know_its_labels():
    groups = np.repeat(np.arange(20), 3)
    changed = Y.copy()
    changed[groups == 7] = 1 - changed[groups == 7]
    rows = groups == 7
    assert_allclose(
        scores_of(groups)[:, rows], scores_of(groups, changed)[:, rows], atol=1e-12
    )
    assert not np.allclose(scores_of(groups), scores_of(groups, changed))
