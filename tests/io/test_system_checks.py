"""Parts of a fuzzy system that do not fit together are refused."""

import numpy as np
import pytest
from scipy import sparse

from mltsk import MLTSKClassifier, PaperMLTSK
from mltsk.datasets import make_multilabel_rules
from mltsk.io.state import plain_attributes
from mltsk.io.system_checks import check_system

from .lines import fitted

DATA = make_multilabel_rules(n_samples=60, random_state=0)


def attributes_of(model, *data):
    return plain_attributes(model.fit(*data))


@pytest.fixture(scope="module")
def attributes():
    return attributes_of(MLTSKClassifier(n_rules=2), *DATA.frames())


@pytest.fixture(scope="module")
def short():
    return attributes_of(MLTSKClassifier(n_rules=2, max_statements=4), *DATA.frames())


def refused(attributes, says):
    with pytest.raises(ValueError, match=says):
        check_system(attributes, is_calibrated=True)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("coef_", np.zeros((2, 3, 5)), "3 rows per rule for 10 features"),
        ("coef_", np.zeros((2, 1, 4)), "'coef_' must be a table of 2 x 1 x 5"),
        ("coef_", None, "'coef_' must be a table of 2 x 1 x 5"),
        (
            "centers_",
            np.full((2, 10), np.nan),
            "'centers_' must be a table of 2 x 10 finite",
        ),
        ("centers_", np.zeros((2, 10), dtype=object), "'centers_' must be"),
        ("centers_", np.full((2, 10), 1e308), "'centers_' must be"),
        ("widths_", np.zeros((2, 10)), "'widths_' must be above 0"),
        ("widths_", np.full((2, 10), -np.inf), "'widths_' must be"),
        ("widths_", np.full((2, 10), np.nan), "'widths_' must be"),
        ("general_coef_", np.zeros((3, 5)), "'general_coef_' must be"),
        ("intercept_", None, "'intercept_' must be a table of 5"),
        ("intercept_", np.full(5, np.inf, dtype=np.float32), "'intercept_' must be"),
        ("thresholds_", np.array([0.5] * 4 + [np.inf]), "'thresholds_' must be"),
        ("quantiles_", np.zeros((10, 20)), "10 x 21"),
        ("has_log_odds_", False, "'has_log_odds_' must be true for this class"),
        ("has_log_odds_", None, "'has_log_odds_' must be true for this class"),
        (
            "label_names_",
            ("a", "a", "b", "c", "d"),
            "'label_names_' must be 5 different names",
        ),
        ("label_names_", (1, 2, 3, 4, 5), "5 different names"),
        ("feature_names_in_", np.array(["a"], dtype=object), "10 different names"),
        ("classes_", np.arange(3), "3 classes for 5 labels"),
        ("firing_", "random", "'firing_' must be softmax, authors, plain or minimum"),
        ("firing_", None, "'firing_' must be softmax"),
        ("scale_", "cubic", "no scale 'cubic'"),
        ("scale_", "unit", "does not belong to the scale 'unit'"),
        ("scale_", "standard", "ramps must rise on a percentile scale"),
        ("scaling_", None, "does not belong to the scale 'quantile'"),
        ("terms_", None, "'terms_' must hold feature, low, high, mean"),
        ("members_", [1], "'members_' must hold count, observed"),
        ("categories_", {"x1": 3}, "'categories_' of 'x1' must be pairs"),
    ],
)
def test_check_system_refuses_each_damaged_attribute(attributes, name, value, says):
    refused({**attributes, name: value}, says)


@pytest.mark.parametrize(
    ("table", "name", "change", "says"),
    [
        ("scaling_", "values", lambda v: v[:, ::-1].copy(), "knots of the scale must"),
        (
            "scaling_",
            "levels",
            lambda v: v * 1e300,
            "'levels' must lie between 0 and 1",
        ),
        ("scaling_", "spread", lambda v: 0 * v, "'spread' must be above 0"),
        ("scaling_", "share", lambda v: 0 * v, "'share' must be above 0"),
        (
            "scaling_",
            "share",
            lambda v: v * np.inf,
            "'share' must be a table of 10 finite",
        ),
        ("scaling_", "shares", lambda v: v, "'scaling_' must hold values, levels"),
        ("scaling_", "offset", lambda v: v[1:], "'offset' must be a table of 10"),
        ("scaling_", "bounded", lambda v: 1, "'bounded' must be true or false"),
        ("terms_", "feature", lambda v: v[::-1].copy(), "features of the terms, in or"),
        ("terms_", "feature", lambda v: v + 1, "features of the terms, in order"),
        ("terms_", "feature", lambda v: v + 0.0, "features of the terms, in order"),
        ("terms_", "low", lambda v: None, "ramps must rise"),
        ("terms_", "high", lambda v: v - 2, "ramps must rise"),
        ("terms_", "mean", lambda v: v * np.nan, "'mean' must be a table"),
        ("members_", "count", lambda v: v[1:], "'count' must be a table of 3 finite"),
        (
            "members_",
            "positives",
            lambda v: v + 60,
            "'positives' must be some of 'observed'",
        ),
        (
            "members_",
            "observed",
            lambda v: v * np.nan,
            "'observed' must be a table of 3 x 5 finite",
        ),
        (
            "members_",
            "regions",
            lambda v: v[..., ::-1].copy(),
            "'regions' must end abo",
        ),
        ("members_", "regions", lambda v: None, "'regions' must be there"),
        (
            "members_",
            "regions",
            lambda v: v * np.inf,
            "'regions' must be a table of 3 x 10 x 2",
        ),
    ],
)
def test_check_system_refuses_each_damaged_record(
    attributes, table, name, change, says
):
    record = attributes[table]
    damaged = {**record, name: change(record.get(name))}
    refused({**attributes, table: damaged}, says)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("straight", lambda v: v[1:], "'straight' must be .* times true or false"),
        ("straight", lambda v: v * 1, "'straight' must be .* times true or false"),
        ("straight", lambda v: v[:, None], "'straight' must be .* times true or false"),
        ("straight", lambda v: v.tolist(), "'straight' must be .* times true or false"),
        ("straight", lambda v: 1, "'straight' must be .* times true or false"),
        ("straight", lambda v: ~v, "of straight terms must be 0 and 1"),
        ("low", lambda v: v + 1e-9, "of straight terms must be 0 and 1"),
        ("high", lambda v: v - 1e-9, "of straight terms must be 0 and 1"),
    ],
)
def test_check_system_refuses_damaged_lines(name, change, says):
    attributes = plain_attributes(fitted())
    terms = attributes["terms_"]
    check_system(attributes, is_calibrated=True)
    refused({**attributes, "terms_": {**terms, name: change(terms[name])}}, says)


def test_check_system_refuses_lines_among_linear_terms():
    attributes = attributes_of(MLTSKClassifier(1, scale="unit"), DATA.X, DATA.Y)
    terms = {**attributes["terms_"], "straight": np.ones(10, dtype=bool)}
    refused({**attributes, "terms_": terms}, "must not be 'straight' as well")


def test_check_system_lets_terms_without_lines_pass():
    attributes = plain_attributes(fitted())
    terms = dict(attributes["terms_"])
    del terms["straight"]
    check_system({**attributes, "terms_": terms}, is_calibrated=True)
    terms["straight"] = np.zeros(len(terms["feature"]), dtype=bool)
    check_system({**attributes, "terms_": terms}, is_calibrated=True)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("information", lambda v: v[1:], "'information' must be a table of"),
        ("noise", lambda v: v * np.nan, "'noise' must be a table of 5 finite"),
        ("chosen", lambda v: v[1:], "'chosen' must be a table of 10 x 5"),
    ],
)
def test_check_system_refuses_damaged_certainty(short, name, change, says):
    certainty = short["certainty_"]
    damaged = {**certainty, name: change(certainty[name])}
    check_system(short, is_calibrated=True)
    refused({**short, "certainty_": damaged}, says)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda v: v[::-1].copy(), "'numbers' must give positions"),
        (lambda v: v + 1_000, "'numbers' must give positions"),
        (lambda v: v.astype(float), "'numbers' must give positions"),
        (lambda v: v[1:], "'information' must be a table of"),
        (lambda v: (v + 1) % 10, "'numbers' must"),
    ],
)
def test_check_system_refuses_certainty_of_other_numbers(change, says):
    X = sparse.csr_array(np.where(DATA.X > 0.5, DATA.X, 0))
    clf = MLTSKClassifier(max_statements=1).fit(X, DATA.Y)
    short = plain_attributes(clf)
    certainty = short["certainty_"]
    assert 0 < len(certainty["numbers"]) < X.shape[1]
    check_system(short, is_calibrated=True)
    damaged = {**certainty, "numbers": change(certainty["numbers"])}
    refused({**short, "certainty_": damaged}, says)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ({"positions": np.array([3, 1])}, "positions of features, in order"),
        ({"positions": np.array([1, 30])}, "positions of features, in order"),
        ({"positions": np.array([], dtype=np.intp)}, "positions of features, in order"),
        ({"positions": np.array([0.0, 1.0])}, "'used_' must give positions"),
        ({"positions": [1, 2]}, "'used_' must give positions"),
        ({"n_features": 31}, "'used_' must give positions"),
        ({"more": 1}, "'used_' must hold positions, n_features"),
        ({"positions": np.arange(9)}, "must be a table of"),
    ],
)
def test_check_system_refuses_damaged_used_features(damage, says):
    X = sparse.hstack([sparse.csr_array((60, 20)), DATA.X], format="csr")
    attributes = attributes_of(MLTSKClassifier(n_rules=2, order=0), X, DATA.Y)
    check_system(attributes, is_calibrated=True)
    refused({**attributes, "used_": {**attributes["used_"], **damage}}, says)
    refused({**attributes, "used_": None}, "'used_' must not be None")


def test_check_system_lets_members_without_newer_fields_pass(attributes):
    members = dict(attributes["members_"])
    del members["given"]
    check_system({**attributes, "members_": members}, is_calibrated=True)


@pytest.mark.parametrize(
    "model",
    [
        MLTSKClassifier(n_rules=2),
        MLTSKClassifier(n_rules=0, threshold=("recall", 0.9)),
        MLTSKClassifier(n_rules=1, scale="standard"),
        MLTSKClassifier(n_rules=2, scale="unit"),
        MLTSKClassifier(n_rules=2, scale=None),
        MLTSKClassifier(n_rules=2, coupling="laplacian"),
    ],
)
def test_check_system_lets_fitted_models_pass(model):
    check_system(attributes_of(model, DATA.X, DATA.Y), is_calibrated=True)


def test_check_system_lets_a_system_without_probabilities_pass_if_told():
    model = PaperMLTSK(n_rules=2, correlation_weight=0.01)
    attributes = attributes_of(model, DATA.X, DATA.Y)
    check_system(attributes, is_calibrated=False)
    refused(attributes, "'has_log_odds_' must be true for this class")
    with pytest.raises(ValueError, match="'has_log_odds_' must be false for this"):
        check_system({**attributes, "has_log_odds_": True}, is_calibrated=False)
