"""Facts that hold for any data: operators equal matrices, optima and sums are exact."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from mltsk import MLTSKClassifier
from mltsk.core.clustering import fuzzy_c_means
from mltsk.core.coupling import CONVEX, coupling_matrix, label_correlation
from mltsk.core.fuzzymap import FuzzyMap
from mltsk.core.membership import firing_strengths
from mltsk.paper.solvers.problem import Problem, fista, quadratic

from ..conftest import effects_of_exceptions, effects_of_features

sizes = st.tuples(
    st.integers(2, 30),  # samples
    st.integers(1, 6),  # features
    st.integers(1, 4),  # rules
    st.integers(1, 4),  # labels
)
seeds = st.integers(0, 2**31)
orders = st.sampled_from([None, 0, 1])
scales = st.sampled_from(["quantile", "standard", "minmax", "unit", None])


def draw(size, seed):
    """A map of samples, their labels, and the generator that drew them."""
    n_samples, n_features, n_rules, n_labels = size
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_samples, n_features)), 1)
    X = X * (rng.random(X.shape) < 0.7)
    M = rng.dirichlet(np.ones(n_rules), size=n_samples)
    Y = (rng.random((n_samples, n_labels)) < 0.4).astype(float)
    return FuzzyMap(X, M), Y, rng


def classifier(order, **options):
    """A classifier with two exceptions of an order, or with all defaults for None."""
    if order is None:
        return MLTSKClassifier(**options)
    return MLTSKClassifier(2, order=order, **options)


@given(sizes, seeds)
@settings(max_examples=60, deadline=None)
def test_fuzzymap_equals_its_matrix(size, seed):
    G, Y, rng = draw(size, seed)
    matrix = G.rows()
    P = rng.normal(size=(matrix.shape[1], 2))
    for operator in (G, FuzzyMap(sparse.csr_array(G.X), G.M)):
        assert_allclose(operator @ P, matrix @ P, atol=1e-10)
        assert_allclose(operator.transpose_matmul(Y), matrix.T @ Y, atol=1e-10)
        assert_allclose(operator.gram(), matrix.T @ matrix, atol=1e-10)
        assert_allclose(operator.dual_gram(), matrix @ matrix.T, atol=1e-10)


@given(
    sizes,
    seeds,
    st.sampled_from(CONVEX),
    st.floats(0, 5),
    st.floats(0, 2),
    st.floats(0.05, 5),
)
@settings(max_examples=60, deadline=None)
def test_fista_converges_to_where_no_neighbour_is_better(
    size, seed, kind, alpha, beta, rho
):
    G, Y, rng = draw(size, seed)
    coupling = coupling_matrix(label_correlation(Y), kind)
    problem = Problem(quadratic(G, Y, form=True), coupling, alpha, beta, rho)
    solution = fista(problem, tol=1e-9, max_iter=20000)
    assert solution.converged
    least = problem.value(solution.P) - 1e-9 * max(problem.data.yy, 1e-9)
    for scale in (1e-3, 1.0):
        neighbour = solution.P + scale * rng.normal(size=solution.P.shape)
        assert problem.value(neighbour) >= least


@given(sizes, seeds, st.floats(1.0, 3.0))
@settings(max_examples=60, deadline=None)
def test_fuzzy_c_means_gives_finite_centres_inside_the_data(size, seed, fuzzifier):
    X = draw(size, seed)[0].X
    clustering = fuzzy_c_means(X, size[2] + 2, fuzzifier=fuzzifier)
    assert_allclose(clustering.memberships.sum(axis=1), 1.0)
    assert (clustering.centers >= X.min(axis=0) - 1e-9).all()
    assert (clustering.centers <= X.max(axis=0) + 1e-9).all()


@given(sizes, seeds, st.floats(1e-6, 1e6))
@settings(max_examples=60, deadline=None)
def test_firing_strengths_are_shares(size, seed, width):
    G, _, rng = draw(size, seed)
    C = rng.normal(size=(size[2], size[1]))
    M = firing_strengths(G.X * 1e3, C, np.full(C.shape, width))
    assert (M >= 0).all()
    assert_allclose(M.sum(axis=1), 1.0)


@given(sizes, seeds, scales, orders)
@settings(max_examples=60, deadline=None)
def test_fit_of_any_table_gives_a_model_that_adds_up(size, seed, scale, order):
    G, Y, rng = draw(size, seed)
    X = G.X
    w = rng.integers(0, 3, len(Y)) * 1.0
    w[rng.integers(len(w))] = 1.0
    Y = np.column_stack([Y, 1 - Y[:, 0]])
    clf = classifier(order, scale=scale).fit(X, Y, w)
    for system in (clf.system_, clf.shorten(2, 1).system_):
        scores = system.scores(X)
        for j in range(Y.shape[1]):
            total = system.intercept[j]
            total = total + effects_of_features(system, X, j).sum(axis=1)
            total = total + effects_of_exceptions(system, X, j).sum(axis=1)
            assert_allclose(total, scores[:, j], atol=1e-8)
    assert np.isfinite(clf.predict_proba(10 * X)).all()
    assert np.isfinite(clf.loo_scores_).all()


def frame_with_gaps(n, hidden, rng):
    """A number, a word and a yes-or-no column, of which a share is hidden."""
    number = np.where(rng.random(n) < hidden, np.nan, rng.normal(size=n))
    words = rng.integers(0, 4, n).astype(str).astype(object)
    words[rng.random(n) < hidden] = None
    answers = pd.array(rng.integers(0, 2, n) > 0, "boolean")
    answers[rng.random(n) < hidden] = pd.NA
    return pd.DataFrame({"number": number, "word": words, "yes": answers})


@pytest.mark.filterwarnings("ignore:Column .* different words")
@given(st.integers(2, 40), st.floats(0, 0.9), seeds, orders)
@example(n=5, hidden=0.75, seed=3, order=None)  # "yes" has values without labels alone
@example(n=6, hidden=0.5, seed=0, order=0)  # a label was observed in one row
@settings(max_examples=60, deadline=None)
def test_explain_of_any_frame_with_words_and_gaps_adds_up(n, hidden, seed, order):
    rng = np.random.default_rng(seed)
    X = frame_with_gaps(n, hidden, rng)
    Y = np.where(rng.random((n, 3)) < hidden, np.nan, rng.random((n, 3)) < 0.4)
    Y[rng.integers(n)] = 1.0  # every label is observed somewhere
    clf = classifier(order).fit(X, Y)
    for model in (clf, clf.shorten(2, 1)):
        why = model.explain(X)
        total = why.base + why.feature_effects().sum(axis=1) + why.shifts.sum(axis=1)
        assert_allclose(total, why.scores, atol=1e-8)
        assert np.isfinite(model.predict_proba(X)).all()
        assert np.isfinite(model.loo_scores_).all()
        assert str(model.rules_)
