"""A model at a glance: numbers that can be worked out by hand, and input that must be refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.exceptions import InputError
from mltsk.explain import views

from .conftest import CATEGORIES, FEATURES


def test_importance_is_the_mean_effect_over_rules_largest_first(make_system):
    system = make_system("quantile")
    view = views.feature_importance(system, top=3)
    expected = {f: system.rule_weights @ np.abs(system.coef[:, 1 + d]) for d, f in enumerate(FEATURES)}
    for feature, values in zip(view.features, view.values, strict=True):
        assert_allclose(values, expected.pop(feature))
    assert_allclose(view.rest, next(iter(expected.values())))
    assert list(view.total) == sorted(view.total, reverse=True)


def test_equal_labels_have_equal_consequents(make_system):
    system = make_system("standard", labels=("a", "b", "c"))
    system.coef[:, :, 1] = -2 * system.coef[:, :, 0]
    view = views.label_correlation_view(system, np.array([[1, 0, 1], [0, 1, 1], [1, 0, 0]]))
    assert_allclose(view.consequents[0, 1], -1.0)
    assert_allclose(view.labels[0, 1], -1.0)
    assert_allclose(np.diag(view.consequents), 1.0)
    assert view.from_data


def test_agreement_needs_more_than_one_pair(make_system):
    assert np.isnan(views.label_correlation_view(make_system("standard")).agreement)


def test_distances_of_the_rule_map_are_those_of_firing(make_system, X):
    system = make_system("quantile")
    system.centers[1] = system.centers[0]
    view = views.rule_map(system, X)
    assert_allclose(view.distances[0, 1], 0.0, atol=1e-12)
    assert_allclose(view.positions[0], view.positions[1], atol=1e-6)
    assert_allclose(view.coverage, system.firing(X).mean(axis=0))
    assert view.nearest[2] > 0.1


def test_one_rule_has_a_map(make_system):
    view = views.rule_map(make_system("quantile", K=1))
    assert view.positions.shape == (1, 2)
    assert view.nearest.tolist() == [1.0]


@pytest.mark.parametrize("scale", ["quantile", "standard", None])
def test_a_curve_is_1_at_its_centre_in_units(make_system, scale):
    system = make_system(scale)
    for curve in views.membership_curves(system, 1):
        near = curve.y[np.abs(curve.x - curve.center).argmin()]
        assert near > 0.97
        assert curve.words.startswith(curve.feature)
        assert curve.x[0] <= curve.center <= curve.x[-1]


def test_no_curve_for_no_condition(make_system):
    system = make_system("quantile")
    system.widths[0, 1:] = system.widths[1] = np.inf
    assert [curve.feature for curve in views.membership_curves(system, 0)] == ["age"]
    assert views.membership_curves(system, 1) == ()


def test_categories_reach_the_curves(make_system):
    class Model:
        system_ = make_system("minmax")

        def _category_names(self):
            return CATEGORIES

    curves = {curve.feature: curve for curve in views.membership_curves(Model(), 0)}
    assert curves["ward"].categories == CATEGORIES["ward"]


def test_what_has_no_rules_is_refused(make_system):
    with pytest.raises(InputError, match="dict has no rules"):
        views.rule_map({})
    with pytest.raises(InputError, match="counted from 0 to 2"):
        views.membership_curves(make_system("quantile"), 3)
    with pytest.raises(InputError, match="one column for each of 2 labels"):
        views.label_correlation_view(make_system("quantile"), np.ones((4, 3)))
