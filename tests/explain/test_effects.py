from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier
from mltsk.explain.effects import Effects

from ..conftest import effects_of_exceptions, effects_of_features
from .conftest import DENSE_SCALES, SCALES


@pytest.mark.parametrize("scale", DENSE_SCALES)
def test_effect_is_that_of_the_system(make_system, X, scale):
    effects = Effects(make_system(scale))
    for d in range(4):
        rows = np.tile(X[0], (5, 1))
        rows[:, d] = X[:5, d]
        expected = effects_of_features(effects.system, rows, 1)[:, d]
        assert_allclose(effects.effect(d, X[:5, d], 1), expected, atol=1e-12)


def test_sizes_are_deviations_over_the_data(make_system, X):
    system = make_system()
    deviations = effects_of_features(system, X, 1).std(axis=0)
    assert_allclose(Effects(system).sizes[:, 1], deviations, rtol=0.1)


def test_sizes_of_lines_are_deviations_over_the_data_of_skewed_features():
    rng = np.random.default_rng(0)
    X = np.exp(1.2 * rng.normal(size=(800, 2)))
    Y = X + rng.normal(size=(800, 2)) > 2
    system = MLTSKClassifier(n_rules=0).fit(X, Y).system_
    assert system.terms.straight.any()
    coef = np.zeros_like(system.term_coef)
    coef[system.terms.straight] = 1.0
    system = replace(system, term_coef=coef)
    deviations = effects_of_features(system, X, 0).std(axis=0)
    assert deviations.min() > 0
    # of a long tail the percentiles that sizes are worked out at know a part
    assert_allclose(Effects(system).sizes[:, 0], deviations, rtol=0.2)


def test_fine_values_are_quantiles_and_the_ends_of_ramps(make_system):
    effects = Effects(make_system())
    values = effects.fine_values(1)
    assert (np.diff(values) > 0).all()
    assert set(effects.system.quantiles[1]) <= set(values)
    assert len(values) > 21
    assert Effects(make_system("standard")).fine_values(1).shape == (21,)


@pytest.mark.parametrize("scale", SCALES)
def test_centers_are_in_the_callers_units_on_every_scale(make_system, X, scale):
    assert_allclose(Effects(make_system(scale)).centers, X[:3])


def test_shifts_are_what_rules_say_at_their_centres(make_system):
    system = make_system("minmax", order=1)
    for k, shift in enumerate(Effects(system).shifts):
        slopes = system.centers[k] @ system.coef[k, 1:]
        assert_allclose(shift, system.coef[k, 0] + slopes)


def test_shift_sizes_are_about_their_deviations_over_the_data(make_system, X):
    system = make_system(K=40, widths=np.full((40, 4), 2.0))
    system = replace(system, rule_weights=system.firing_strengths(X).mean(axis=0))
    deviations = effects_of_exceptions(system, X, 0).std(axis=0)
    assert_allclose(Effects(system).shift_sizes[:, 0], deviations, rtol=0.5)


def test_shift_sizes_of_thousands_of_rules_are_about_those_over_all_centres(
    make_system,
):
    X = np.random.default_rng(0).normal(size=(2000, 4))
    system = make_system(K=2000, X=X, rule_weights=np.full(2000, 1 / 2000))
    effects = Effects(replace(system, widths=np.full((2000, 4), 2.0)))
    deviations = effects.system.firing_strengths(X).std(axis=0)
    share = 1 / 2000  # a rule that governs so little deviates by its share at most
    largest = np.sqrt(share * (1 - share))
    expected = np.abs(effects.shifts[:, 0]) * np.minimum(deviations, largest)
    assert_allclose(effects.shift_sizes[:, 0], expected, rtol=0.3)


def test_shift_sizes_of_a_single_rule_are_0_as_it_shifts_all_alike(make_system):
    assert_allclose(Effects(make_system(K=1)).shift_sizes, 0.0)


def test_importance_adds_what_rules_do_to_what_holds_in_general(make_system):
    effects = Effects(make_system(order=1))
    by_rules = sum(effects.slope_sizes(k) for k in range(3))
    assert_allclose(effects.importance, effects.sizes + by_rules)


def test_frequencies_of_values_are_those_of_the_table(table):
    effects = Effects(MLTSKClassifier(0).fit(*table).system_)
    often = table[0]["smoker"].value_counts(normalize=True)
    expected = often[["never", "former", "daily"]].to_numpy()
    assert effects.frequencies(1)[:3] == pytest.approx(expected)


@pytest.mark.parametrize("order", [0, 1])
def test_sizes_of_a_table_are_deviations_over_the_data(table, order):
    clf = MLTSKClassifier(3, order=order).fit(*table)
    X = clf.system_.columns.expand(table[0])
    by_column = effects_of_features(clf.system_, X, 0)
    effects = Effects(clf.system_)
    for subject, size in zip(effects.subjects, effects.sizes[:, 0], strict=True):
        is_measured = ~np.isnan(X[:, subject.columns]).any(axis=1)
        amounts = by_column[is_measured, subject.columns].sum(axis=1)
        tolerance = 0.1 if subject.kind == "number" else 0.05
        assert size == pytest.approx(amounts.std(), rel=tolerance), subject
