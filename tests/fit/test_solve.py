"""One ridge problem in three forms: sums of columns, kernels, products."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.core.coupling import coupling_matrix, label_correlation
from mltsk.exceptions import InputError
from mltsk.fit.design import Design, ExceptionRules
from mltsk.fit.left_out import rate_shifts
from mltsk.fit.ridge import Penalty
from mltsk.fit.rows import ArrayRows, Block
from mltsk.fit.scale import Scale
from mltsk.fit.solve import HeldRows, groups_of_labels, left_out_scores, solve

FORMS = ["primal", "dual", "products"]


@pytest.fixture(scope="module")
def block():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    Y = (X @ rng.normal(size=(4, 3)) + rng.normal(size=(200, 3)) > 0) * 1.0
    w = rng.integers(0, 3, size=200) * 1.0
    return Block(X, Y, w)


@pytest.fixture(scope="module")
def design(block):
    scale, Z = Scale.of(block.X, block.w, "quantile")
    rules = ExceptionRules(
        centers=Z[:5], width=0.18 * scale.variance, order=1, firing="softmax"
    )
    return Design(scale, rules, term_weights=0.25, rule_weight=1.5)


def coupled(Y, w):
    """A ridge of 1, and labels that are pulled together."""
    coupling = coupling_matrix(label_correlation(Y, w), "precision")
    lam, basis = np.linalg.eigh(coupling)
    return Penalty(1.0, alpha=0.5, lam=lam, basis=basis)


def solution_of(rows, design, penalty, n_sample=200, **options):
    """The consequents of rows of which a sample is held."""
    sample = HeldRows(rows.sample(n_sample), Z=None, n_rows=200)
    label_groups = groups_of_labels(rows.w, rows.shape[1])
    return solve(rows, design, penalty, sample, label_groups, **options)


@pytest.mark.parametrize("is_coupled", [False, True], ids=["separate", "coupled"])
@pytest.mark.parametrize(("form", "atol"), [("dual", 1e-9), ("products", 1e-4)])
def test_solve_gives_one_solution_in_three_forms(block, design, is_coupled, form, atol):
    penalty = coupled(block.Y, block.w) if is_coupled else Penalty(1.0)
    rows = block.all_rows()
    primal = solution_of(rows, design, penalty, form="primal")
    solution = solution_of(rows, design, penalty, form=form)
    assert_allclose(solution.B, primal.B, atol=atol)
    assert_allclose(solution.mean, primal.mean, atol=1e-12)
    assert_allclose(solution.rates, primal.rates)
    assert_allclose(solution.loo_scores, primal.loo_scores, atol=1e-9)


def test_solve_by_products_judges_rows_that_are_evenly_spread(block, design):
    rows = block.all_rows()
    solution = solution_of(rows, design, Penalty(1.0), form="products")
    assert solution.loo_rows.tolist() == list(range(200))


@pytest.mark.parametrize(
    ("form", "atol"), [("primal", 1e-9), ("dual", 1e-9), ("products", 1e-4)]
)
def test_solve_treats_each_pattern_of_observed_labels_as_its_own_problem(
    block, design, form, atol
):
    rng = np.random.default_rng(1)
    w = np.column_stack([np.ones(200), rng.random(200) + 0.1, rng.random(200) < 0.5])
    rows = Block(block.X, block.Y, w).all_rows()
    together = solution_of(rows, design, Penalty(2.0), form=form)
    for label in range(3):
        Y = block.Y[:, [label]]
        own = Block(block.X, Y, w[:, label]).all_rows()
        alone = solution_of(own, design, Penalty(2.0), form="primal")
        assert_allclose(together.B[:, label], alone.B[:, 0], atol=atol)
        assert_allclose(together.mean[:, label], alone.mean[:, 0])
        assert_allclose(together.rates[label], alone.rates[0])
        assert_allclose(together.loo_scores[:, label], alone.loo_scores[:, 0])


@pytest.mark.parametrize("form", FORMS)
def test_left_out_scores_are_the_loo_scores_of_solve(block, design, form):
    Z = design.scale.apply(block.X)
    penalty = Penalty(1.0)
    solution = solution_of(block.all_rows(), design, penalty, form=form)
    scores = left_out_scores(design, penalty, block, Z, design.kernel(Z))
    shifts = rate_shifts(block.Y, block.w, groups=None)
    assert_allclose(scores + shifts, solution.loo_scores, atol=1e-9)


def test_solve_refuses_more_columns_than_max_bytes_hold_and_names_a_way_out(
    block, design
):
    rows = ArrayRows(
        X=block.X,
        Y=block.Y,
        w=block.w,
        shape=(200, 3),
        limit=30,
    )
    with pytest.raises(InputError, match="take fewer features"):
        solution_of(rows, design, Penalty(1.0), n_sample=60, max_bytes=100.0)


def test_groups_of_labels_have_the_same_weights(block):
    w = np.column_stack([block.w, np.ones(200), block.w])
    per_label = [labels.tolist() for labels in groups_of_labels(w, 3)]
    shared = [labels.tolist() for labels in groups_of_labels(block.w, 2)]
    assert sorted(per_label) == [[0, 2], [1]]
    assert shared == [[0, 1]]
