"""The one fit next to ridge problems that are written out and solved again."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mltsk import MLTSKClassifier
from mltsk.columns import Columns
from mltsk.fit.fit import fit_system
from mltsk.fit.left_out import rate_shifts
from mltsk.fit.options import Names, Options
from mltsk.fit.rows import ArrayRows, Block
from mltsk.rows.given_rules import with_rules


@pytest.fixture(scope="module")
def block():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    Y = (X @ rng.normal(size=(4, 3)) + rng.normal(size=(200, 3)) > 0) * 1.0
    w = rng.integers(0, 3, size=200) * 1.0
    return Block(X, Y, w)


def fitted(rows, columns=None, **options):
    """A fit of features and labels that have no names of their own."""
    names = Names(
        features=tuple(f"x{d}" for d in range(rows.X.shape[1])),
        labels=tuple(f"label {j}" for j in range(rows.shape[1])),
        columns=columns,
    )
    return fit_system(rows, Options(**options), names)


def unweighted(X, Y):
    """Rows that all count once."""
    ones = np.ones(len(X))
    return Block(X, Y, w=ones).all_rows()


def ridge_solution(A, Y, ridge):
    """B that minimises the squared error of A B plus the ridge, A and Y centred."""
    return np.linalg.solve(A.T @ A + ridge * np.eye(A.shape[1]), A.T @ Y)


def total_variance(X, w):
    """Variance of all linear terms together: ridges are in units of it."""
    mean = np.average(X, axis=0, weights=w)
    return np.average((X - mean) ** 2, axis=0, weights=w).sum()


def score_at_zero(fit, label):
    """Score of a sample whose features are all 0, under linear terms."""
    at_mean = fit.design.scale.terms.mean @ fit.system.term_coef[:, label]
    return fit.system.intercept[label] - at_mean


@pytest.mark.parametrize("coupling", [None, "precision"])
@pytest.mark.parametrize(("form", "atol"), [("dual", 1e-9), ("products", 1e-4)])
def test_fit_system_gives_one_system_in_each_form(block, coupling, form, atol):
    options = {
        "n_rules": 5,
        "order": 1,
        "ridge": 1.0,
        "coupling": coupling,
        "coupling_weight": 0.5,
    }
    primal = fitted(block.all_rows(), form="primal", **options)
    fit = fitted(block.all_rows(), form=form, **options)
    assert_allclose(fit.system.term_coef, primal.system.term_coef, atol=atol)
    assert_allclose(fit.system.coef, primal.system.coef, atol=atol)
    assert_allclose(fit.loo_scores, primal.loo_scores, atol=1e-9)


@pytest.mark.parametrize(
    ("form", "atol"), [("primal", 1e-9), ("dual", 1e-9), ("products", 1e-5)]
)
def test_fit_system_with_weights_per_label_is_a_fit_per_label(block, form, atol):
    X = block.X
    rng = np.random.default_rng(1)
    w = np.column_stack([np.ones(200), rng.random(200) + 0.1, rng.random(200) < 0.5])
    rows = Block(X, block.Y, w).all_rows()
    together = fitted(rows, scale=None, n_rules=0, ridge=2.0, form=form)
    # what labels share knows only where they were observed
    variance = total_variance(X, (w > 0).mean(axis=1))
    for label in range(3):
        own_w = w[:, label]
        own = Block(X, block.Y[:, [label]], own_w)
        ridge = 2.0 * variance / total_variance(X, own_w)
        alone = fitted(own.all_rows(), scale=None, n_rules=0, ridge=ridge)
        assert_allclose(
            together.system.term_coef[:, label],
            alone.system.term_coef[:, 0],
            atol=atol,
        )
        assert_allclose(together.loo_scores[:, label], alone.loo_scores[:, 0])
        expected = score_at_zero(alone, 0)
        assert score_at_zero(together, label) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("scale", "half_top"), [("triangles", 0.0), ("trapezoids", 0.05)]
)
def test_fit_system_with_five_terms_is_a_ridge_on_their_heights(block, scale, half_top):
    """The same problem with a column per term, "is very low" to "is very high"."""
    X = block.X.copy()
    X[:, 3] = X[:, 3] > 0  # of two values: one ramp and two terms
    fit = fitted(unweighted(X, block.Y), n_rules=0, ridge=0.7, scale=scale)
    scaling = fit.design.scale.scaling
    Z = scaling.apply(X)
    percentiles = Z * scaling.spread + scaling.offset
    peaks = np.arange(0.1, 1, 0.2)
    corners = np.sort(np.concatenate([peaks - half_top, peaks + half_top]))
    heights_at_corners = np.repeat(np.eye(5), 2, axis=0)
    columns = []
    for d in range(3):
        for heights in heights_at_corners.T:
            columns.append(np.interp(percentiles[:, d], corners, heights))
    columns += [X[:, 3], 1 - X[:, 3]]
    A = np.column_stack(columns) * fit.design.term_weights**0.5
    A = A - A.mean(axis=0)
    rates = block.Y.mean(axis=0)
    expected = rates + A @ ridge_solution(A, block.Y - rates, ridge=0.7)
    ramps = fit.design.scale.terms
    T = ramps.memberships(Z, scaling) - ramps.mean
    scores = fit.system.intercept + T @ fit.system.term_coef
    assert_allclose(scores, expected, atol=1e-9)


@pytest.mark.parametrize("n_rules", [0, 4])
def test_loo_scores_with_given_rules_are_those_of_fits_without_the_row(block, n_rules):
    """One ridge problem per row that is left out, on the same columns."""
    Y = block.Y
    first_rule = block.X[:, 0] > 1
    second_rule = (block.X[:, 1] > 0) & (block.X[:, 2] < 0)
    X = np.column_stack([block.X, first_rule, second_rule])
    numbers = Columns.of_numbers(("a", "b", "c", "d"), np.zeros(4), 200)
    rules = [{"a": (1, None)}, {"b": (0, None), "c": (None, 0)}]
    columns = with_rules(numbers, rules)
    fit = fitted(unweighted(X, Y), columns, n_rules=n_rules, order=0, ridge=1.0)
    Phi = fit.design.rows(fit.design.scale.apply(X))
    assert fit.design.scale.terms.mean[-2:].tolist() == [0, 0]
    # but for rows without which another design was chosen
    others = [rows for rows, _ in fit.others]
    same = np.setdiff1d(np.arange(200), np.concatenate([[], *others]))
    for i in same[::15].astype(int):
        is_kept = np.arange(200) != i
        mean = Phi[is_kept].mean(axis=0)
        rates = Y[is_kept].mean(axis=0)
        B = ridge_solution(Phi[is_kept] - mean, Y[is_kept] - rates, fit.penalty.rho)
        score = rates + (Phi[i] - mean) @ B
        # the base rates are those of all rows
        expected = score + Y.mean(axis=0) - rates
        assert_allclose(fit.loo_scores[i], expected, atol=1e-9)


def left_out(fit, design, block, i):
    """Scores of row i by the ridge problem of a design, each label without this row.

    Weights of the block are (n, L).
    """
    Phi = design.rows(design.scale.apply(block.X))
    basis = np.eye(block.Y.shape[1])
    if fit.penalty.basis is not None:
        basis = fit.penalty.basis
    ridges = np.broadcast_to(fit.penalty.ridges, len(basis))
    Y = block.Y @ basis
    scores = np.empty(len(basis))
    for label, ridge in enumerate(ridges):
        w = block.w[:, label] * (np.arange(len(Y)) != i)
        mean = w @ Phi / w.sum()
        rate = w @ Y[:, label] / w.sum()
        weighted = w[:, None] * (Phi - mean)
        H = weighted.T @ (Phi - mean) + ridge * design.shrunk(np.eye(Phi.shape[1]))
        B = np.linalg.solve(H, weighted.T @ (Y[:, label] - rate))
        scores[label] = rate + (Phi[i] - mean) @ B
    return basis @ scores


def observed_in(share, block):
    """Rows whose labels were observed in a share of the cells, (n, L) weights."""
    rng = np.random.default_rng(4)
    w = (rng.random(block.Y.shape) < share) * 1.0
    return Block(block.X, block.Y, w)


@pytest.mark.parametrize("form", ["primal", "dual", "products"])
@pytest.mark.parametrize(
    ("share", "options"),
    [
        (0.8, {"n_rules": 0}),
        (0.8, {"n_rules": 4, "ridge": 1.0}),
        (1.0, {"n_rules": 4, "coupling": "precision", "coupling_weight": 0.5}),
    ],
    ids=["observed in part", "with exceptions", "coupled"],
)
def test_loo_scores_with_pairs_are_those_of_fits_without_the_row(
    block, form, share, options
):
    """Rows of a fold are scored by the pairs that were found without them."""
    cells = observed_in(share, block)
    rows = cells
    if options.get("coupling"):
        rows = Block(block.X, block.Y, w=cells.w[:, 0])
    fit = fitted(rows.all_rows(), n_pairs=2, form=form, **options)
    assert len(fit.design.pairs) > 0
    shifts = rate_shifts(cells.Y, cells.w, groups=None)
    for own_rows, pairs in fit.folds:
        design = replace(fit.design, pairs=pairs)
        for i in own_rows[::40]:
            expected = left_out(fit, design, cells, i) + shifts[i]
            assert_allclose(fit.loo_scores[i], expected, atol=1e-8)


@pytest.mark.parametrize("coupling", [None, "precision"])
def test_fit_system_gives_exceptions_no_prior_of_a_kernel_under_a_coupling(coupling):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    waves = np.column_stack([np.sin(3 * X[:, 0]) * np.sin(3 * X[:, 1]), X[:, 2]])
    fit = fitted(unweighted(X, (waves > 0) * 1.0), coupling=coupling)
    assert len(fit.design.rules) > 0
    assert fit.design.rules.has_kernel_prior == (coupling is None)


def test_loo_rows_are_an_evenly_spread_sample_where_rows_are_not_held(block):
    rows = ArrayRows(
        X=block.X,
        Y=block.Y,
        w=block.w,
        shape=(200, 3),
        limit=30,
    )
    fit = fitted(rows, n_rules=5, order=1, ridge=1.0, sample_rows=60)
    assert fit.loo_rows.tolist() == np.linspace(0, 199, 60).astype(int).tolist()
    assert fit.loo_scores.shape == (60, 3)


@pytest.mark.parametrize("n_rules", ["auto", 3])
def test_fit_of_thin_rows_in_their_own_units_is_that_of_the_dense_array(n_rules):
    rng = np.random.default_rng(0)
    thin = sparse.random_array((300, 400), density=0.006, rng=rng, format="csr")
    Y = (thin @ rng.normal(size=(400, 2)) > 0) * 1
    parameters = {"scale": None, "order": 0, "n_rules": n_rules}
    model = MLTSKClassifier(**parameters).fit(thin, Y)
    of_dense = MLTSKClassifier(**parameters).fit(thin.toarray(), Y)
    assert_allclose(
        model.predict_proba(thin), of_dense.predict_proba(thin.toarray()), atol=1e-6
    )
