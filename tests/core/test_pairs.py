"""Pairs of features: triangles on percentiles, rules of two of them, lists of pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk.core.pairs import Conditions, Pairs
from mltsk.core.scales import fit_scaling

from .conftest import assert_tensor_equals

N_PEAKS = 5
NUMBER, OTHER_NUMBER, YES_OR_NO, LEVELS = range(4)


def sample(n=400, seed=0):
    """Samples of two numbers, a column of two values, and one of three."""
    rng = np.random.default_rng(seed)
    yes_or_no = rng.integers(0, 2, n)
    levels = rng.integers(0, 3, n)
    return np.column_stack(
        [rng.lognormal(size=n), rng.normal(size=n), yes_or_no, levels]
    )


def with_gaps(X, share=0.2):
    """The same samples, in which cells of each column are missing."""
    return np.where(np.random.default_rng(9).random(X.shape) < share, np.nan, X)


def averaged(columns, X, w=None):
    """The rules of some pairs of columns, the scaling and the scaled samples."""
    if w is None:
        w = np.ones(len(X))
    scaling = fit_scaling(X, w, "quantile")
    Z = scaling.apply(X)
    pairs = Pairs.of(scaling, columns, N_PEAKS).averaged(Z, scaling, w)
    return pairs, scaling, Z


# conditions ---------------------------------------------------------------------------


@pytest.mark.parametrize("column", [NUMBER, OTHER_NUMBER, LEVELS])
def test_memberships_of_the_conditions_of_a_column_add_up_to_1(column):
    X = sample()
    scaling = fit_scaling(X, np.ones(len(X)), "quantile")
    conditions = Conditions.of(scaling, [column], N_PEAKS)
    beyond = np.vstack([X, np.full((1, 4), -1e9), np.full((1, 4), 1e9)])
    U = conditions.memberships(scaling.apply(beyond), scaling)
    assert U.shape == (len(beyond), 3 if column == LEVELS else N_PEAKS)
    assert U.min() >= 0
    assert_allclose(U.sum(axis=1), 1)


def test_conditions_of_two_values_are_one_that_the_larger_value_fulfils():
    X = sample()
    scaling = fit_scaling(X, np.ones(len(X)), "quantile")
    conditions = Conditions.of(scaling, [YES_OR_NO], N_PEAKS)
    U = conditions.memberships(scaling.apply(X), scaling)
    assert len(conditions) == 1
    assert_allclose(U[:, 0], X[:, YES_OR_NO], atol=1e-12)


def test_conditions_of_few_values_are_each_fulfilled_by_one_value():
    X = sample()
    scaling = fit_scaling(X, np.ones(len(X)), "quantile")
    U = Conditions.of(scaling, [LEVELS], N_PEAKS).memberships(scaling.apply(X), scaling)
    assert_allclose(U, X[:, [LEVELS]] == [0, 1, 2], atol=1e-12)


def test_memberships_of_conditions_are_nan_where_a_value_is_missing():
    X = with_gaps(sample())
    scaling = fit_scaling(X, np.ones(len(X)), "quantile")
    conditions = Conditions.of(scaling, [NUMBER, LEVELS], N_PEAKS)
    U = conditions.memberships(scaling.apply(X), scaling)
    assert_array_equal(np.isnan(U), np.isnan(X[:, conditions.column]))


def test_conditions_joined_are_the_first_and_then_the_others():
    X = sample()
    scaling = fit_scaling(X, np.ones(len(X)), "quantile")
    Z = scaling.apply(X)
    first = Conditions.of(scaling, [YES_OR_NO], N_PEAKS)
    second = Conditions.of(scaling, [NUMBER, LEVELS], N_PEAKS)
    both = np.hstack([each.memberships(Z, scaling) for each in (first, second)])
    assert_array_equal(first.joined(second).memberships(Z, scaling), both)


# rules --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "n_rules"),
    [
        ((NUMBER, OTHER_NUMBER), 25),
        ((OTHER_NUMBER, YES_OR_NO), 5),
        ((NUMBER, LEVELS), 15),
        ((YES_OR_NO, LEVELS), 3),
    ],
)
def test_memberships_of_pairs_are_products_of_what_both_are_above_average(
    columns, n_rules
):
    X = sample()
    pairs, scaling, Z = averaged([columns], X)
    of_first, of_second = (
        Conditions.of(scaling, [column], N_PEAKS).memberships(Z, scaling)
        for column in columns
    )
    of_first = of_first - of_first.mean(axis=0)
    of_second = of_second - of_second.mean(axis=0)
    expected = np.einsum("na,nb->nab", of_first, of_second).reshape(len(X), -1)
    assert len(pairs) == n_rules
    assert_allclose(pairs.memberships(Z, scaling), expected, atol=1e-12)


def test_memberships_of_pairs_of_a_missing_value_are_0():
    X = with_gaps(sample())
    pairs, scaling, Z = averaged([(NUMBER, OTHER_NUMBER), (YES_OR_NO, LEVELS)], X)
    F = pairs.memberships(Z, scaling)
    has_gap = np.isnan(X[:, pairs.columns]).any(axis=2)
    assert has_gap.any()
    assert_array_equal(F[has_gap], 0)
    assert (F[~has_gap] != 0).any()


def test_memberships_of_pairs_are_0_on_average_over_a_grid_of_independent_values():
    numbers, levels = np.meshgrid(np.arange(40.0), np.arange(3.0))
    X = np.column_stack([numbers.ravel(), levels.ravel()])
    pairs, scaling, Z = averaged([(0, 1)], X)
    F = pairs.memberships(Z, scaling).reshape(3, 40, -1)
    assert_allclose(F.mean(axis=0), 0, atol=1e-12)
    assert_allclose(F.mean(axis=1), 0, atol=1e-12)


def test_memberships_of_no_pairs_have_no_columns():
    _, scaling, Z = averaged([(NUMBER, LEVELS)], sample())
    assert len(Pairs.none()) == len(Pairs.none().starts) == 0
    assert Pairs.none().blocks == {}
    assert Pairs.none().memberships(Z, scaling).shape == (len(Z), 0)


def test_memberships_of_pairs_are_the_same_for_tensors(torch):
    X = with_gaps(sample())
    pairs, scaling, Z = averaged([(NUMBER, LEVELS), (OTHER_NUMBER, YES_OR_NO)], X)
    F = pairs.memberships(torch.asarray(Z), scaling)
    assert_tensor_equals(F, pairs.memberships(Z, scaling))


def test_averaged_pairs_count_weights_as_copies():
    X = with_gaps(sample())
    w = np.random.default_rng(1).integers(0, 4, len(X))
    columns = [(NUMBER, OTHER_NUMBER), (OTHER_NUMBER, YES_OR_NO)]
    pairs, scaling, Z = averaged(columns, X, w.astype(float))
    copies = np.repeat(Z, w, axis=0)
    repeated = pairs.averaged(copies, scaling, np.ones(len(copies)))
    assert_allclose(pairs.conditions.mean, repeated.conditions.mean)
    assert_allclose(pairs.share, repeated.share)


def test_averaged_pairs_have_shares_of_the_data_that_add_up_to_1():
    pairs, _, _ = averaged([(NUMBER, OTHER_NUMBER)], with_gaps(sample()))
    assert pairs.share.min() >= 0
    assert pairs.share.sum() == pytest.approx(1)


def test_averaged_pairs_of_a_column_without_values_have_means_of_0():
    pairs, scaling, Z = averaged([(NUMBER, LEVELS)], sample())
    Z[:, NUMBER] = np.nan
    never_measured = pairs.averaged(Z, scaling, np.ones(len(Z)))
    is_number = never_measured.conditions.column == NUMBER
    assert_array_equal(never_measured.conditions.mean[is_number], 0)
    assert_array_equal(never_measured.share, 0)


# lists of pairs -----------------------------------------------------------------------


def test_blocks_of_pairs_are_the_rules_of_each_pair_in_its_order():
    columns = [(OTHER_NUMBER, YES_OR_NO), (NUMBER, LEVELS), (NUMBER, YES_OR_NO)]
    pairs, _, _ = averaged(columns, sample())
    assert list(pairs.blocks) == columns
    assert_array_equal(np.concatenate(list(pairs.blocks.values())), np.arange(25))
    assert_array_equal(pairs.starts, [0, 5, 20])
    for pair, rules in pairs.blocks.items():
        assert (pairs.columns[rules] == pair).all()


def test_pairs_joined_have_each_pair_once():
    X = sample()
    first, scaling, Z = averaged([(NUMBER, LEVELS), (OTHER_NUMBER, YES_OR_NO)], X)
    second, _, _ = averaged([(YES_OR_NO, LEVELS), (NUMBER, LEVELS)], X)
    joined = first.joined(second)
    F = joined.memberships(Z, scaling)
    new = second.memberships(Z, scaling)[:, second.blocks[YES_OR_NO, LEVELS]]
    assert list(joined.blocks) == [*first.blocks, (YES_OR_NO, LEVELS)]
    assert_array_equal(F, np.hstack([first.memberships(Z, scaling), new]))


def test_pairs_joined_with_none_stay_as_they_are():
    pairs, scaling, Z = averaged([(NUMBER, LEVELS)], sample())
    F = pairs.memberships(Z, scaling)
    for joined in (pairs.joined(Pairs.none()), Pairs.none().joined(pairs)):
        assert_array_equal(joined.memberships(Z, scaling), F)


def test_positions_in_joined_pairs_find_the_rules_of_both_lists():
    X = sample()
    first, scaling, Z = averaged([(NUMBER, LEVELS), (OTHER_NUMBER, YES_OR_NO)], X)
    second, _, _ = averaged([(YES_OR_NO, LEVELS), (NUMBER, LEVELS)], X)
    joined = first.joined(second)
    F = joined.memberships(Z, scaling)
    for pairs in (first, second):
        own = F[:, pairs.positions_in(joined)]
        assert_array_equal(own, pairs.memberships(Z, scaling))
    assert len(Pairs.none().positions_in(joined)) == 0
