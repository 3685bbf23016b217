"""Facts that hold for any data: operators equal matrices, solvers agree, certificates are honest."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
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
    st.integers(2, 30), st.integers(1, 6), st.integers(1, 4), st.integers(1, 4)
)
seeds = st.integers(0, 2**31)


def draw(size, seed):
    n, d, k, n_labels = size
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 1) * (rng.random((n, d)) < 0.7)
    return (
        FuzzyMap(X, rng.dirichlet(np.ones(k), size=n)),
        (rng.random((n, n_labels)) < 0.4).astype(float),
        rng,
    )


@given(sizes, seeds)
@settings(max_examples=60, deadline=None)
def test_operator_equals_matrix(size, seed):
    G, Y, rng = draw(size, seed)
    csr, dense = FuzzyMap(sparse.csr_array(G.X), G.M), G.rows()
    P = rng.normal(size=(dense.shape[1], 2))
    for op in (G, csr):
        assert_allclose(op @ P, dense @ P, atol=1e-10)
        assert_allclose(op.transpose_matmul(Y), dense.T @ Y, atol=1e-10)
        assert_allclose(op.gram(), dense.T @ dense, atol=1e-10)
        assert_allclose(op.dual_gram(), dense @ dense.T, atol=1e-10)


@given(
    sizes,
    seeds,
    st.sampled_from(CONVEX),
    st.floats(0, 5),
    st.floats(0, 2),
    st.floats(0.05, 5),
)
@settings(max_examples=60, deadline=None)
def test_no_neighbour_is_better_than_a_certified_optimum(
    size, seed, kind, alpha, beta, rho
):
    G, Y, rng = draw(size, seed)
    problem = Problem(
        quadratic(G, Y, form=True),
        coupling_matrix(label_correlation(Y), kind),
        alpha,
        beta,
        rho,
    )
    found = fista(problem, tol=1e-9, max_iter=20000)
    assert found.converged
    for scale in (1e-3, 1.0):
        other = found.P + scale * rng.normal(size=found.P.shape)
        assert problem.value(other) >= problem.value(found.P) - 1e-9 * max(
            problem.data.yy, 1e-9
        )


@given(sizes, seeds, st.floats(1.0, 3.0))
@settings(max_examples=60, deadline=None)
def test_clustering_gives_finite_centres_inside_the_data(size, seed, fuzzifier):
    G, _, _ = draw(size, seed)
    found = fuzzy_c_means(G.X, size[2] + 2, fuzzifier=fuzzifier)
    assert_allclose(found.memberships.sum(axis=1), 1.0)
    assert (found.centers >= G.X.min(axis=0) - 1e-9).all()
    assert (found.centers <= G.X.max(axis=0) + 1e-9).all()


@given(sizes, seeds, st.floats(1e-6, 1e6))
@settings(max_examples=60, deadline=None)
def test_firing_strengths_are_shares(size, seed, width):
    G, _, rng = draw(size, seed)
    C = rng.normal(size=(size[2], size[1]))
    M = firing_strengths(G.X * 1e3, C, np.full(C.shape, width))
    assert (M >= 0).all()
    assert_allclose(M.sum(axis=1), 1.0)


@given(
    sizes,
    seeds,
    st.sampled_from(["quantile", "standard", "minmax", "unit", None]),
    st.sampled_from([None, 0, 1]),
)
@settings(max_examples=60, deadline=None)
def test_any_table_gives_a_model_that_adds_up(size, seed, scale, order):
    G, Y, rng = draw(size, seed)
    w = rng.integers(0, 3, len(Y)) * 1.0
    w[rng.integers(len(w))] = 1.0
    clf = MLTSKClassifier(
        "auto" if order is None else 2,
        order="auto" if order is None else order,
        scale=scale,
    )
    Y = np.column_stack([Y, 1 - Y[:, 0]])
    clf.fit(G.X, Y, w)
    for system in (clf.system_, clf.shorten(2, 1).system_):
        for j in range(Y.shape[1]):
            added = effects_of_features(system, G.X, j).sum(
                axis=1
            ) + effects_of_exceptions(system, G.X, j).sum(axis=1)
            assert_allclose(
                system.intercept[j] + added, system.scores(G.X)[:, j], atol=1e-8
            )
    assert np.isfinite(clf.predict_proba(10 * G.X)).all()
    assert np.isfinite(clf.loo_scores_).all()


@pytest.mark.filterwarnings("ignore:Column .* different words")
@given(st.integers(2, 40), st.floats(0, 0.9), seeds, st.sampled_from([None, 0, 1]))
@settings(max_examples=60, deadline=None)
def test_any_frame_with_words_and_gaps_gives_a_model_that_adds_up(
    n, hidden, seed, order
):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "number": np.where(rng.random(n) < hidden, np.nan, rng.normal(size=n)),
            "word": [
                None if rng.random() < hidden else str(rng.integers(4))
                for _ in range(n)
            ],
            "yes": pd.array(
                [
                    pd.NA if rng.random() < hidden else bool(rng.integers(2))
                    for _ in range(n)
                ],
                "boolean",
            ),
        }
    )
    Y = np.where(rng.random((n, 3)) < hidden, np.nan, rng.random((n, 3)) < 0.4)
    Y[rng.integers(n)] = 1.0  # every label is observed somewhere
    clf = MLTSKClassifier(
        "auto" if order is None else 2, order="auto" if order is None else order
    ).fit(X, Y)
    for model in (clf, clf.shorten(2, 1)):
        why = model.explain(X)
        total = why.base + why.feature_effects().sum(axis=1) + why.shifts.sum(axis=1)
        assert_allclose(total, why.scores, atol=1e-8)
        assert np.isfinite(model.predict_proba(X)).all()
        assert np.isfinite(model.loo_scores_).all()
        assert str(model.rules_)
