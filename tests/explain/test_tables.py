import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.exceptions import InputError
from mltsk.explain.tables import Tables, positions

from .conftest import CATEGORIES


def then_part(system, X, k):
    """What rule k says about samples, from the arrays of the system."""
    return system.scale(X) @ system.coef[k, 1:] + system.coef[k, 0]


@pytest.mark.parametrize("scale", ["standard", "minmax", None])
def test_per_unit_weights_are_the_same_function_of_the_callers_values(make_system, X, scale):
    system = make_system(scale)
    tables = Tables.of(system, None)
    for k in range(3):
        stated = tables.intercepts[k] + X @ (system.coef[k, 1:] * tables.factors[:, None])
        assert_allclose(stated, then_part(system, X, k), atol=1e-12)
    assert tables.usual_step == "1 unit"


def test_a_constant_feature_keeps_the_then_part_exact(make_system, X):
    X[:, 1] = 4.25
    for scale in ("standard", "minmax"):
        system = make_system(scale, X=X)
        tables = Tables.of(system, None)
        stated = tables.intercepts[0] + X @ (system.coef[0, 1:] * tables.factors[:, None])
        assert_allclose(stated, then_part(system, X, 0), atol=1e-12)


def test_percentile_weights_are_the_same_function_of_percentiles(make_system, X):
    system = make_system("quantile")
    tables = Tables.of(system, None)
    P = tables.percentiles_of(X, system.scale(X))
    pair = tables.pairs[2]
    steps = (P - system.scaling.offset) / 0.1
    steps[:, 2] = (X[:, 2] - tables.averages[2]) / (pair[1] - pair[0])  # smoker: 1 instead of 0
    stated = tables.intercepts[1] + steps @ (system.coef[1, 1:] * tables.factors[:, None])
    assert_allclose(stated, then_part(system, X, 1), atol=1e-12)


def test_percentile_weights_start_at_the_average_percentile(make_system, X):
    system = make_system("quantile")
    tables = Tables.of(system, None)
    assert_allclose(tables.intercepts, system.coef[:, 0])
    assert_allclose(tables.averages[2], X[:, 2].mean())


def test_unit_rows_count_full_weight_and_empty_rows(make_system, texts):
    system = make_system("unit", X=texts)
    tables = Tables.of(system, None)
    assert_allclose(tables.factors, 1.0)
    assert_allclose(tables.intercepts[1], then_part(system, 0 * texts[:1], 1)[0])
    assert tables.step(0) == "full weight of the feature in a row of unit length"


@pytest.mark.parametrize("scale", ["quantile", "standard", "minmax", None, "unit"])
def test_centres_are_in_the_callers_units_on_every_scale(make_system, X, scale):
    tables = Tables.of(make_system(scale), None)
    assert_allclose(tables.centers, X[:3])


@pytest.mark.parametrize("scale", ["quantile", "standard", "minmax", None])
def test_membership_is_one_half_at_the_ends_of_a_range(make_system, scale):
    system = make_system(scale)
    for side in Tables.of(system, None).ranges:
        Z = np.stack([system.scale(np.nan_to_num(row)[None, :])[0] for row in side])
        membership = np.exp(-((Z - system.centers) ** 2) / system.widths)
        assert_allclose(membership[~np.isnan(side)], 0.5)
        assert scale == "quantile" or not np.isnan(side).any()


def test_a_range_without_a_limit_is_unknown(make_system):
    wide = make_system("quantile")
    wide = type(wide)(**{**vars(wide), "widths": np.full_like(wide.widths, 1e3)})
    assert np.isnan(Tables.of(wide, None).ranges).all()
    assert np.isnan(Tables.of(make_system("unit"), None).ranges).all()


@pytest.mark.parametrize("scale", ["quantile", "standard", "minmax", None, "unit"])
def test_percentiles_are_shares_of_the_training_data(make_system, X, scale):
    system = make_system(scale)
    places = Tables.of(system, None).percentiles_of(X, system.scale(X))
    below = (X[None, :, :] < X[:, None, :]).mean(axis=1)
    tied = (X[None, :, :] == X[:, None, :]).mean(axis=1)
    assert np.abs(places - (below + tied / 2)).max() < 0.06  # the table has 21 percentiles


def test_sparse_features_have_no_percentile(make_system, texts):
    assert np.isnan(Tables.of(make_system("unit", X=texts), None).percentiles).all()


def test_levels_are_scores_at_the_centres(make_system, X):
    for scale in ("quantile", "standard", None):
        system = make_system(scale)
        assert_allclose(Tables.of(system, None).levels, system.scores(X[:3]), atol=1e-12)


def test_two_values_are_found_and_named(make_system):
    tables = Tables.of(make_system("quantile"), CATEGORIES)
    assert tables.pairs[2].tolist() == [0.0, 1.0]
    assert np.isnan(tables.pairs[[0, 1, 3]]).all()
    assert tables.step(2) == "yes instead of no"
    assert tables.step(0) == "10 percentile points"


def test_categories_are_named_by_the_nearest_number(make_system):
    tables = Tables.of(make_system("standard"), CATEGORIES)
    assert [tables.category(3, x) for x in (0.9, 2.4, 4.9)] == ["east", "north", "west"]
    assert tables.category(0, 50.0) is None
    assert (tables.exactly(3, 5.0), tables.exactly(3, 4.9), tables.exactly(2, 1.0)) == ("west", None, "yes")


def test_an_unknown_name_is_refused_with_what_comes_close():
    with pytest.raises(InputError, match="no feature called 'glucos': did you mean 'glucose'"):
        positions(("age", "glucose"), ["glucos"], np.arange(2), "feature")
    with pytest.raises(InputError, match="at least one label"):
        positions(("gout",), [], np.arange(1), "label")
