"""One fit in three forms: sums of columns, kernels, products."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.columns import Columns
from mltsk.exceptions import InputError
from mltsk.fit import Names, Options
from mltsk.fit import fit_system as fit_named
from mltsk.fit.rows import ArrayRows, Block
from mltsk.rows.given_rules import with_rules

GIVEN = Options(n_rules=5, order=1, ridge=1.0)


def fit_system(rows, options, columns=None):
    """A fit of features and labels that have no names of their own."""
    n_features = rows.X.shape[1]
    names = Names(
        features=tuple(f"x{d}" for d in range(n_features)),
        labels=tuple(f"label {j}" for j in range(rows.shape[1])),
        columns=columns,
    )
    return fit_named(rows, options, names)


@pytest.fixture(scope="module")
def block():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    Y = (X @ rng.normal(size=(4, 3)) + rng.normal(size=(200, 3)) > 0) * 1.0
    w = rng.integers(0, 3, size=200) * 1.0
    return Block(X, Y, w, np.maximum(w, 1.0))


def variance(X, w):
    """Of all linear terms together: ridges are given in units of it."""
    return np.average(
        (X - np.average(X, axis=0, weights=w)) ** 2, axis=0, weights=w
    ).sum()


@pytest.mark.parametrize("coupling", [None, "precision"])
def test_three_forms_give_one_model(block, coupling):
    options = Options(
        n_rules=5, order=1, ridge=1.0, coupling=coupling, coupling_weight=0.5
    )
    found = {
        form: fit_system(block.all_rows(), replace(options, form=form))
        for form in ("primal", "dual", "products")
    }
    for form, atol in (("dual", 1e-9), ("products", 1e-4)):
        assert_allclose(
            found[form].system.term_coef, found["primal"].system.term_coef, atol=atol
        )
        assert_allclose(found[form].system.coef, found["primal"].system.coef, atol=atol)
        assert_allclose(found[form].loo_scores, found["primal"].loo_scores, atol=1e-9)
    assert found["products"].loo_rows.tolist() == list(range(200))


@pytest.mark.parametrize("form", ["primal", "dual", "products"])
def test_weights_per_label_are_separate_fits(block, form):
    X, Y, rng = block.X, block.Y, np.random.default_rng(1)
    w = np.column_stack([np.ones(200), rng.random(200) + 0.1, rng.random(200) < 0.5])
    both = fit_system(
        Block(X, Y, w, np.ones_like(w)).all_rows(),
        Options(scale=None, n_rules=0, ridge=2.0, form=form),
    )
    for label, wl in enumerate(w.T):
        ridge = 2.0 * variance(X, w.mean(axis=1)) / variance(X, wl)
        options = Options(scale=None, n_rules=0, ridge=ridge)
        alone = fit_system(
            Block(X, Y[:, [label]], wl, np.ones(200)).all_rows(), options
        )
        assert_allclose(
            both.system.term_coef[:, label],
            alone.system.term_coef[:, 0],
            atol=1e-5 if form == "products" else 1e-9,
        )
        assert_allclose(both.loo_scores[:, label], alone.loo_scores[:, 0])
        start = [
            f.system.intercept[k] - f.design.scale.terms.mean @ f.system.term_coef[:, k]
            for f, k in ((both, label), (alone, 0))
        ]
        assert start[0] == pytest.approx(start[1], abs=1e-5)


@pytest.mark.parametrize("shape", ["triangles", "trapezoids"])
def test_five_terms_per_feature_are_a_ridge_on_their_heights(block, shape):
    """Next to the problem with a column per term, "is very low" to "is very high"."""
    X, Y, flat = block.X, block.Y, 0.05 * (shape == "trapezoids")
    X = np.where(
        np.arange(4) == 3, np.round(X[:, [3]] > 0), X
    )  # of two values, one ramp and two terms
    found = fit_system(
        Block(X, Y, np.ones(200), np.ones(200)).all_rows(),
        Options(n_rules=0, ridge=0.7, scale=shape),
    )
    ramps, scaling = found.design.scale.terms, found.design.scale.scaling
    p = scaling.apply(X) * scaling.spread + scaling.offset
    peaks = np.sort(
        np.concatenate([np.arange(0.1, 1, 0.2) - flat, np.arange(0.1, 1, 0.2) + flat])
    )
    heights = np.repeat(np.eye(5), 2, axis=0)
    terms = [
        [np.interp(x, peaks, height) for height in heights.T] for x in p[:, :3].T
    ] + [[X[:, 3], 1 - X[:, 3]]]
    A = (
        np.stack([term for own in terms for term in own], axis=1)
        * found.design.general_weight**0.5
    )
    A, rates = A - A.mean(axis=0), Y.mean(axis=0)
    scores = rates + A @ np.linalg.solve(
        A.T @ A + 0.7 * np.eye(A.shape[1]), A.T @ (Y - rates)
    )
    T = ramps.memberships(scaling.apply(X), scaling) - ramps.mean
    assert_allclose(
        found.system.intercept + T @ found.system.term_coef, scores, atol=1e-9
    )


@pytest.mark.parametrize("n_rules", [0, 4])
def test_scores_without_itself_are_exact_with_given_rules(block, n_rules):
    """One ridge problem per row that is left out, on the same columns."""
    X, Y = (
        np.column_stack(
            [block.X, block.X[:, 0] > 1, (block.X[:, 1] > 0) & (block.X[:, 2] < 0)]
        ),
        block.Y,
    )
    options = Options(
        n_rules=n_rules,
        order=0,
        ridge=1.0,
    )
    numbers = Columns.of_numbers(("a", "b", "c", "d"), np.zeros(4), 200)
    rules = [{"a": (1, None)}, {"b": (0, None), "c": (None, 0)}]
    rows = Block(X, Y, np.ones(200), np.ones(200)).all_rows()
    found = fit_system(rows, options, with_rules(numbers, rules))
    Phi = found.design.rows(found.design.scale.apply(X))
    assert found.design.scale.terms.mean[-2:].tolist() == [0, 0]
    for i in range(0, 200, 20):
        rest = np.arange(200) != i
        A, y = Phi[rest] - Phi[rest].mean(axis=0), Y[rest].mean(axis=0)
        B = np.linalg.solve(
            A.T @ A + found.penalty.rho * np.eye(A.shape[1]), A.T @ (Y[rest] - y)
        )
        assert_allclose(
            y + (Phi[i] - Phi[rest].mean(axis=0)) @ B, found.loo_scores[i], atol=1e-9
        )


def test_scores_without_itself_are_of_a_spread_sample_where_rows_are_not_held(block):
    parts = ArrayRows(
        block.X, block.Y, block.w, block.copies, block.Y.shape, 30, lambda X, Y: (X, Y)
    )
    found = fit_system(parts, replace(GIVEN, sample_rows=60))
    assert found.loo_rows.tolist() == np.linspace(0, 199, 60).astype(int).tolist()
    assert found.loo_scores.shape == (60, 3)


def test_more_columns_than_the_memory_holds_are_refused_with_a_way_out(block):
    parts = ArrayRows(
        block.X, block.Y, block.w, block.copies, block.Y.shape, 30, lambda X, Y: (X, Y)
    )
    with pytest.raises(InputError, match="take fewer features"):
        fit_system(parts, replace(GIVEN, sample_rows=60, max_bytes=100.0))
