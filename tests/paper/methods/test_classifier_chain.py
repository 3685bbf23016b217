"""CC over ε-insensitive TSK: the chain trained at once, its order, and prediction."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk.core.fuzzymap import FuzzyMap
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.paper.methods.binary_relevance import BinaryRelevanceTSK
from mltsk.paper.methods.classifier_chain import ClassifierChainTSK, chain_order
from mltsk.paper.methods.epsilon_insensitive import RidgeDesign, RidgeFactor, minimise


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(
        n_samples=140, n_features=5, n_labels=4, random_state=0
    )


def scores(model, X):
    return model.decision_function(X) + 0.5


@pytest.mark.parametrize("n_rows", [140, 15])
def test_fit_of_a_chain_at_once_equals_link_by_link(data, n_rows):
    order = [2, 0, 3, 1]
    X = data.X[:n_rows]
    Y = data.Y[:n_rows].astype(float)
    model = ClassifierChainTSK(3, C=2, order=order, tol=1e-9).fit(X, data.Y[:n_rows])
    G = FuzzyMap.of(X, model.centers_, model.widths_)
    for i, j in enumerate(order):
        E = (Y[:, order[:i], None] * G.M[:, None, :]).reshape(len(Y), -1)
        factor = RidgeFactor(RidgeDesign(G, np.ones(n_rows), E), 0.25)
        link = minimise(factor, Y[:, [j]], 0.05, tol=1e-9)
        alone = (G @ link.P + E @ link.extra)[:, 0]
        from_labels = E @ model.chain_coef_[order[:i], :, j].ravel()
        from_features = (G @ model.coef_.reshape(-1, 4))[:, j]
        assert_allclose(from_features + from_labels, alone, atol=1e-4)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_fit_with_labels_in_the_antecedents_makes_systems_over_earlier_labels(form):
    rng = np.random.default_rng(0)
    # Two groups of rows, which have one clustering.
    X = np.repeat([[0.0, 1.0], [1.0, 0.2]], 30, axis=0) + 0.05 * rng.random((60, 2))
    Y = (X[:, [0, 1, 0]] + rng.normal(size=(60, 3)) > 0.5).astype(int)
    order = [2, 0, 1]
    chain = ClassifierChainTSK(2, order=order, antecedents="labels", tol=1e-9)
    chain.fit(form(X[:40]), Y[:40])
    chained = scores(chain, form(X[40:]))
    predicted = np.empty((20, 0))
    for i, j in enumerate(order):
        inputs = np.hstack([X[:40], Y[:40, order[:i]]])
        alone = BinaryRelevanceTSK(2, tol=1e-9).fit(inputs, Y[:40, j])
        link = scores(alone, np.hstack([X[40:], predicted]))
        assert_allclose(chained[:, j], link, atol=2e-4)
        predicted = np.hstack([predicted, link[:, None] >= 0.5])


def test_fit_with_labels_in_the_antecedents_tells_apart_what_features_cannot():
    first = np.arange(40) % 2
    X = 0.1 * first[:, None]
    Y = np.column_stack([first, first])
    chain = ClassifierChainTSK(2, antecedents="labels").fit(X, Y)
    centres, _, _ = chain.links_[1]
    assert_allclose(np.sort(centres[:, 1]), [0, 1], atol=0.05)


def test_decision_function_goes_along_the_chain(data):
    model = ClassifierChainTSK(1, order=[2, 0, 1]).fit(data.X, data.Y[:, :3])
    model.chain_coef_[:] = 0
    model.chain_coef_[2, 0] = [0.4, 0.0, 0.0]  # label 2 lifts label 0 ...
    model.chain_coef_[0, 0] = [0.0, -1.0, 0.0]  # ... which then pushes label 1 down
    model.coef_[:] = 0
    for last, expected in ((0.9, [0.6, -0.4, 0.9]), (0.1, [0.2, 0.6, 0.1])):
        model.coef_[0, 0] = [0.2, 0.6, last]
        assert_allclose(scores(model, data.X), np.tile(expected, (140, 1)))


def test_predict_of_a_label_that_copies_another_follows_its_prediction():
    rng = np.random.default_rng(0)
    X = rng.random((200, 3))
    first = (X[:, 0] + 0.5 * rng.random(200) > 0.75).astype(int)
    model = ClassifierChainTSK(2, C=32).fit(X, np.column_stack([first, first]))
    labels = model.predict(X)
    assert_array_equal(labels[:, 0], labels[:, 1])
    assert_allclose(model.chain_coef_[0, :, 1], 1.0, atol=0.15)


def test_decision_function_of_the_first_link_knows_no_labels(data):
    chain = scores(ClassifierChainTSK(3).fit(data.X, data.Y), data.X)
    alone = scores(BinaryRelevanceTSK(3).fit(data.X, data.Y), data.X)
    assert_allclose(chain[:, 0], alone[:, 0], atol=1e-9)
    assert not np.allclose(chain[:, 3], alone[:, 3])


def test_chain_order_is_that_of_columns_drawn_or_given():
    assert_array_equal(chain_order("index", 4), [0, 1, 2, 3])
    assert_array_equal(chain_order([3, 1, 0, 2], 4), [3, 1, 0, 2])
    assert_array_equal(chain_order("random", 9, 0), chain_order("random", 9, 0))
    assert_array_equal(np.sort(chain_order("random", 9, 0)), np.arange(9))


@pytest.mark.parametrize("order", [[0, 0, 1], [0, 1], [[0, 1, 2]], [1, 2, 3]])
def test_chain_order_refuses_columns_that_are_missing_or_there_twice(order):
    with pytest.raises(InputError, match="each of the 3 columns"):
        chain_order(order, 3)


def test_fit_counts_weights_as_copies(data):
    w = np.random.default_rng(2).integers(0, 3, size=140)
    weighted = ClassifierChainTSK(3).fit(data.X, data.Y, sample_weight=w)
    X_copies = np.repeat(data.X, w, axis=0)
    Y_copies = np.repeat(data.Y, w, axis=0)
    copied = ClassifierChainTSK(3).fit(X_copies, Y_copies)
    assert_allclose(scores(weighted, data.X), scores(copied, data.X), atol=1e-7)
