import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier
from mltsk.explain.tables import Tables

from ..conftest import effects_of_exceptions, effects_of_features
from .conftest import CATEGORIES

SCALES = ["quantile", "standard", "minmax", None]


@pytest.mark.parametrize("scale", SCALES)
def test_effects_are_those_of_the_system(make_system, X, scale):
    tables = Tables(make_system(scale), None)
    for d in range(4):
        rows = np.tile(X[0], (5, 1))
        rows[:, d] = X[:5, d]
        assert_allclose(
            tables.effect(d, X[:5, d], 1),
            effects_of_features(tables.system, rows, 1)[:, d],
            atol=1e-12,
        )


def test_sizes_are_deviations_over_the_data(make_system, X):
    system = make_system()
    sizes = Tables(system, None).sizes
    assert_allclose(
        sizes[:, 1], effects_of_features(system, X, 1).std(axis=0), rtol=0.1
    )


@pytest.mark.parametrize("scale", [*SCALES, "unit"])
def test_centres_are_in_the_callers_units_on_every_scale(make_system, X, scale):
    assert_allclose(Tables(make_system(scale), None).centers, X[:3])


def test_a_shift_is_what_a_rule_says_at_its_centre(make_system):
    system = make_system("minmax", order=1)
    said = [
        system.coef[k, 0] + system.centers[k] @ system.coef[k, 1:] for k in range(3)
    ]
    assert_allclose(Tables(system, None).shifts, said)


def test_the_size_of_a_shift_is_about_its_deviation_over_the_data(make_system, X):
    system = make_system(K=40, widths=np.full((40, 4), 2.0))
    system = type(system)(
        **{**vars(system), "rule_weights": system.firing_strengths(X).mean(axis=0)}
    )
    sizes = Tables(system, None).shift_sizes
    assert_allclose(
        sizes[:, 0], effects_of_exceptions(system, X, 0).std(axis=0), rtol=0.5
    )
    assert_allclose(
        Tables(make_system(K=1), None).shift_sizes, 0.0
    )  # everybody is shifted alike


def test_importance_adds_what_rules_do_to_what_holds_in_general(make_system):
    tables = Tables(make_system(order=1), None)
    assert_allclose(
        tables.importance, tables.sizes + sum(tables.slope_sizes(k) for k in range(3))
    )


def test_values_with_names(make_system):
    assert Tables(make_system(), CATEGORIES).named_values(3) == {
        1.0: "east",
        2.0: "north",
        5.0: "west",
    }
    assert Tables(make_system(), None).named_values(2) == {0.0: "0", 1.0: "1"}
    assert Tables(make_system(), None).named_values(0) == {}


def test_values_of_a_table_are_told_by_their_positions(table):
    tables = Tables(MLTSKClassifier(0).fit(*table).system_, None)
    assert [(s.name, s.kind) for s in tables.subjects[-2:]] == [
        ("smoker", "not measured"),
        ("albumin", "not measured"),
    ]
    assert tables.named_values(1) == {
        0.0: "never",
        1.0: "former",
        2.0: "daily",
        3.0: "other",
    }
    assert tables.named_values(2) == {0.0: "f", 1.0: "m"}
    often = table[0]["smoker"].value_counts(normalize=True)
    assert tables.frequencies(1)[:3] == pytest.approx(
        often[["never", "former", "daily"]].to_numpy()
    )


@pytest.mark.parametrize("order", [0, 1])
def test_sizes_of_a_table_are_deviations_over_the_data(table, order):
    clf = MLTSKClassifier(3, order=order).fit(*table)
    Z = clf.system_.columns.expand(table[0])
    tables = Tables(clf.system_, None)
    by_column = effects_of_features(clf.system_, Z, 0)
    for subject, size in zip(tables.subjects, tables.sizes[:, 0], strict=True):
        told = by_column[:, subject.columns].sum(axis=1)[
            ~np.isnan(Z[:, subject.columns]).any(axis=1)
        ]
        assert size == pytest.approx(
            told.std(), rel=0.1 if subject.kind == "number" else 0.05
        ), subject
