"""A model at a glance: numbers that can be worked out by hand, and input refused."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier
from mltsk.core.pairs import Pairs
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.explain import views
from mltsk.explain.effects import Effects

from ..conftest import effects_of_features
from .conftest import CATEGORIES, FEATURES


def by_feature(curves):
    return {curve.feature: curve for curve in curves}


# features -----------------------------------------------------------------------------


def test_feature_importance_is_the_size_of_effects_largest_first(make_system):
    system = make_system(order=1)
    view = views.feature_importance(system, top=3)
    expected = dict(zip(FEATURES, Effects(system).importance, strict=True))
    for feature, values in zip(view.features, view.values, strict=True):
        assert_allclose(values, expected.pop(feature))
    (rest,) = expected.values()
    assert_allclose(view.rest, rest)
    total = view.values.sum(axis=1).tolist()
    assert total == sorted(total, reverse=True)


@pytest.mark.parametrize("scale", ["quantile", "standard", None])
def test_shapes_are_the_effects_of_the_system(make_system, X, scale):
    system = make_system(scale)
    curves = views.shapes(system, "asthma", top=3)
    assert len(curves) == 3
    for curve in curves:
        d = FEATURES.index(curve.feature)
        rows = np.tile(X[0], (len(curve.x), 1))
        rows[:, d] = curve.x
        assert_allclose(curve.y, effects_of_features(system, rows, 1)[:, d], atol=1e-12)
        assert_allclose(curve.quantiles, system.quantiles[d])
        assert curve.feature in curve.words


def test_shapes_come_feature_by_feature_for_all_labels(make_system, texts):
    curves = views.shapes(make_system("unit", X=texts), top=2)
    assert [curve.label for curve in curves] == ["gout", "asthma"] * 2
    first = curves[0]
    assert (first.x[0], first.x[-1], len(first.quantiles)) == (0.0, 1.0, 0)
    assert views.shapes(make_system("minmax", order=1, general=False)) == ()


def test_shapes_and_membership_curves_have_the_names_of_categories(make_system):
    system = make_system("minmax", categories=CATEGORIES)
    ward = by_feature(views.shapes(system, "gout"))["ward"]
    assert ward.x.tolist() == [1.0, 2.0, 5.0]
    assert "ward = " in ward.words
    for curves in (views.membership_curves(system, 0), views.shapes(system)):
        assert by_feature(curves)["ward"].categories == CATEGORIES["ward"]


def test_feature_importance_and_shapes_of_a_table_are_by_feature(table):
    clf = MLTSKClassifier(n_rules=3).fit(*table)
    assert set(views.feature_importance(clf).features) == set(table[0].columns)
    curves = by_feature(views.shapes(clf, "copd"))
    categories = list(curves["smoker"].categories.values())
    assert categories == ["never", "former", "daily", "other"]
    assert curves["albumin"].missing > max(curves["albumin"].y)
    assert curves["age"].missing is None
    smoker = by_feature(views.membership_curves(clf, 0))["smoker"]
    assert (smoker.center, len(smoker.y)) == (None, 4)


def test_errors_of_shapes_of_triangles_are_those_of_their_heights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1))
    Y = (X + rng.normal(size=(300, 1)) > 0).astype(int)
    clf = MLTSKClassifier(n_rules=0, scale="triangles", ridge=0.7)
    clf.fit(X, np.hstack([Y, 1 - Y]))
    (curve,) = views.shapes(clf, "label 0")
    scaling = clf.system_.scaling
    peaks = np.arange(0.1, 1, 0.2)

    def terms(x):
        p = scaling.apply(x[:, None])[:, 0] * scaling.spread + scaling.offset
        return np.stack([np.interp(p, peaks, height) for height in np.eye(5)], axis=1)

    A = terms(X[:, 0]) - terms(X[:, 0]).mean(axis=0)
    V = terms(curve.x) - terms(X[:, 0]).mean(axis=0)
    # what the ridge is a multiple of, the same for all terms
    (a,) = np.unique(clf.fit_record_.training.design.term_weights)
    covariance = np.linalg.inv(A.T @ A + 0.7 / a * np.eye(5))
    variance = np.einsum("np,pq,nq->n", V, covariance, V)
    record = clf.fit_record_
    noise = np.sqrt(((Y[:, 0] - record.scores[:, 0]) ** 2).mean())
    noise *= record.curves.slopes[0]
    assert_allclose(curve.error, 1.96 * noise * np.sqrt(variance), rtol=1e-6)


def test_shapes_have_points_where_curves_bend():
    rng = np.random.default_rng(0)
    X = np.exp(2 * rng.normal(size=(400, 1)))
    Y = np.hstack([X > 1, X < 2]).astype(int)
    clf = MLTSKClassifier(n_rules=0).fit(X, Y)
    (curve,) = views.shapes(clf, "label 0")
    finer = np.linspace(curve.x[0], curve.x[-1], 5001)
    drawn = np.interp(finer, curve.x, curve.y)
    exact = Effects(clf.system_).effect(0, finer, 0)
    assert np.abs(drawn - exact).max() < 0.05 * np.ptp(exact)


def test_feature_importance_counts_half_of_a_pair_for_each_feature():
    data = make_multilabel_rules(n_samples=300, random_state=0)
    clf = MLTSKClassifier(n_pairs=1, n_rules=0).fit(*data.frames())
    with_pair = views.feature_importance(clf, None)
    system = replace(clf.system_, pairs=Pairs.none(), pair_coef=None)
    alone = views.feature_importance(system, None)
    (pair,) = clf.pairs_
    for name in data.feature_names:
        more = with_pair.values[with_pair.features.index(name)] ** 2
        more = more - alone.values[alone.features.index(name)] ** 2
        expected = pair.sizes**2 / 2 if name in pair.features else 0.0
        assert_allclose(more, expected, atol=1e-12)


# labels -------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [0, 1])
def test_label_correlation_view_finds_labels_with_opposite_consequents(
    make_system, order
):
    system = make_system("standard", labels=("a", "b", "c"), order=order)
    system.coef[:, :, 1] = -2 * system.coef[:, :, 0]
    system.term_coef[:, 1] = -2 * system.term_coef[:, 0]
    Y = np.array([[1, 0, 1], [0, 1, 1], [1, 0, 0]])
    view = views.label_correlation_view(system, Y)
    assert_allclose(view.consequents[0, 1], -1.0)
    assert_allclose(view.labels[0, 1], -1.0)
    assert_allclose(np.diag(view.consequents), 1.0)
    assert view.from_data
    assert not views.label_correlation_view(system).from_data


def test_label_correlation_view_leaves_out_labels_that_were_not_observed(make_system):
    Y = np.array([[1, 1], [0, 0], [1, np.nan], [0, 0]])
    assert views.label_correlation_view(make_system(), Y).labels[0, 1] > 0.8


def test_label_correlation_view_has_no_agreement_of_a_single_pair(make_system):
    assert np.isnan(views.label_correlation_view(make_system(K=0)).agreement)


# rules --------------------------------------------------------------------------------


def test_rule_map_has_the_distances_of_firing(make_system, X):
    system = make_system()
    system.centers[1] = system.centers[0]
    view = views.rule_map(system, X)
    assert_allclose(view.distances[0, 1], 0.0, atol=1e-12)
    assert_allclose(view.positions[0], view.positions[1], atol=1e-6)
    assert_allclose(view.coverage, system.firing_strengths(X).mean(axis=0))
    assert view.nearest[2] > 0.1


def test_rule_map_of_one_rule(make_system):
    view = views.rule_map(make_system(K=1))
    assert view.positions.shape == (1, 2)
    assert view.nearest.tolist() == [1.0]


@pytest.mark.parametrize("scale", ["quantile", "standard", None])
def test_membership_curves_are_1_at_their_centres_in_units(make_system, scale):
    for curve in views.membership_curves(make_system(scale), 1):
        assert curve.y[np.abs(curve.x - curve.center).argmin()] > 0.97
        assert curve.words.startswith(curve.feature)
        assert curve.x[0] <= curve.center <= curve.x[-1]


def test_membership_curves_leave_out_what_is_no_condition(make_system):
    system = make_system()
    system.widths[0, 1:] = system.widths[1] = np.inf
    assert [curve.feature for curve in views.membership_curves(system, 0)] == ["age"]
    assert views.membership_curves(system, 1) == ()


def test_views_refuse_what_has_no_rules_or_no_such_rule(make_system):
    with pytest.raises(InputError, match="dict has no rules"):
        views.rule_map({})
    with pytest.raises(InputError, match="no exceptions"):
        views.rule_map(make_system(K=0))
    with pytest.raises(InputError, match="counted from 0 to 2"):
        views.membership_curves(make_system(), 3)
    with pytest.raises(InputError, match="there are none"):
        views.membership_curves(make_system(K=0), 0)
    with pytest.raises(InputError, match="one column for each of 2 labels"):
        views.label_correlation_view(make_system(), np.ones((4, 3)))


def test_label_correlation_view_warns_of_no_label_that_was_never_observed(make_system):
    system = make_system()
    Y = np.random.default_rng(0).integers(0, 2, (30, len(system.label_names))) * 1.0
    Y[:, 0] = np.nan
    correlation = views.label_correlation_view(system, Y).labels
    assert_allclose(correlation[0, 1:], 0.0)
    assert np.isfinite(correlation).all()
