"""Finite numbers in, finite numbers out: whatever their size, and without a warning."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from mltsk import IncrementalMLTSK, MLTSKClassifier
from mltsk.exceptions import InputError

N_ROWS = 60
RNG = np.random.default_rng(0)
ORDINARY = RNG.normal(size=(N_ROWS, 4))
Y = np.stack([ORDINARY[:, 0] > 0, ORDINARY[:, 1] + ORDINARY[:, 2] > 0], axis=1) * 1.0
LARGEST = np.finfo(np.float64).max


def _constant_columns():
    X = ORDINARY.copy()
    X[:, 1] = 1e300
    X[:, 3] = 5e-324
    return X


def _mixed_columns():
    X = ORDINARY.copy()
    X[:, 2] *= 1e-310
    X[:, 3] *= 1e300
    return X


def _ends_of_all_numbers():
    X = ORDINARY * 1e300
    X[0] = LARGEST
    X[1] = -LARGEST
    return X


SAMPLES = {
    "1e-322": ORDINARY * 1e-322,
    "1e-309": ORDINARY * 1e-309,
    "1e-160": ORDINARY * 1e-160,
    "1e160": ORDINARY * 1e160,
    "1e307": ORDINARY * 1e307,
    "orders of magnitude": np.sign(ORDINARY)
    * 10.0 ** RNG.uniform(-320, 300, ORDINARY.shape),
    "constant columns": _constant_columns(),
    "mixed columns": _mixed_columns(),
    "ends of all numbers": _ends_of_all_numbers(),
}
FAR = np.array(
    [[0.0] * 4, [1e308] * 4, [-1e308] * 4, [5e-324] * 4, [1.0, 1e300, -1e-310, 0.0]]
)


@pytest.fixture(autouse=True)
def strict_numpy():
    """Every overflow, underflow and NaN of NumPy is an error."""
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def assert_all_finite(model, X):
    for rows in (X, FAR if not sparse.issparse(X) else sparse.csr_array(FAR)):
        assert np.isfinite(model.decision_function(rows)).all()
        assert np.isfinite(model.predict_proba(rows)).all()
        assert_no_strange_number(str(model.explain(rows[:5])))
    assert np.isfinite(model.loo_scores_).all()
    assert_no_strange_number(str(model.rules_))


def assert_no_strange_number(text):
    words = text.replace("(", " ").replace(")", " ").replace(",", " ").split()
    assert not {"nan", "inf", "-inf", "+nan", "+inf"} & set(words)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("scale", ["quantile", "triangles", "standard", "minmax"])
@pytest.mark.parametrize("X", SAMPLES.values(), ids=SAMPLES.keys())
def test_fit_on_any_scale_gives_finite_answers_to_finite_samples(X, scale, order):
    model = MLTSKClassifier(n_rules=3, scale=scale, order=order)
    if scale == "minmax" and X is SAMPLES["constant columns"]:
        # such a column stays as it is: 1e300
        with pytest.raises(InputError, match="too large for scale='minmax'"):
            model.fit(X, Y)
        return
    assert_all_finite(model.fit(X, Y), X)


@pytest.mark.filterwarnings("ignore:X varies by less than a millionth of its size")
@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("X", SAMPLES.values(), ids=SAMPLES.keys())
def test_fit_on_rows_of_unit_length_gives_finite_answers(X, order, is_sparse):
    samples = sparse.csr_array(X) if is_sparse else X
    model = MLTSKClassifier(n_rules=3, scale="unit", order=order).fit(samples, Y)
    assert_all_finite(model, samples)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("size", [1e-40, 1e-12, 1e12, 1e40])
def test_fit_without_a_scale_gives_finite_answers(size, order):
    model = MLTSKClassifier(n_rules=3, scale=None, order=order)
    assert_all_finite(model.fit(ORDINARY * size, Y), ORDINARY * size)


@pytest.mark.parametrize("X", SAMPLES.values(), ids=SAMPLES.keys())
def test_shorten_gives_finite_answers_to_finite_samples(X):
    short = MLTSKClassifier(n_rules=3, order=0).fit(X, Y).shorten(4)
    assert_all_finite(short, X)


@pytest.mark.parametrize("X", SAMPLES.values(), ids=SAMPLES.keys())
def test_partial_fit_gives_finite_answers_to_finite_samples(X):
    model = IncrementalMLTSK()
    for start in range(0, N_ROWS, 30):
        model.partial_fit(X[start : start + 30], Y[start : start + 30])
    assert_all_finite(model, X)


@pytest.mark.parametrize("scale", ["quantile", "standard", "minmax", "unit"])
@pytest.mark.parametrize("size", [1e-300, 1e-12, 1e20, 1e300])
def test_fit_does_not_depend_on_the_unit_of_samples(scale, size):
    model = MLTSKClassifier(n_rules=3, scale=scale)
    expected = model.fit(ORDINARY, Y).predict_proba(ORDINARY)
    answers = model.fit(ORDINARY * size, Y).predict_proba(ORDINARY * size)
    np.testing.assert_allclose(answers, expected, atol=1e-6)


@pytest.mark.parametrize("scale", ["standard", "unit", None])
@pytest.mark.parametrize("size", [1e-23, 1e20])
def test_fit_learns_from_very_large_and_small_numbers_of_single_precision(scale, size):
    X = sparse.csr_array(ORDINARY) if scale != "standard" else ORDINARY
    X = (X * size).astype(np.float32)
    model = MLTSKClassifier(n_rules=3, scale=scale).fit(X, Y)
    assert (model.predict(X) == Y).mean() > 0.9


@pytest.mark.parametrize("size", [1e-200, 1e-12, 1e250])
def test_conditions_of_short_models_are_the_same_in_any_unit(size):
    X = np.random.default_rng(1).normal(size=(300, 2))
    is_inside = np.hypot(X[:, 0] - 1, X[:, 1] - 1) < 0.7
    model = MLTSKClassifier(n_rules=8, order=0)
    expected = model.fit(X, is_inside).shorten(9).rules_.exceptions
    exceptions = model.fit(X * size, is_inside).shorten(9).rules_.exceptions
    assert len(exceptions) == len(expected) > 0
    for exception, same in zip(exceptions, expected, strict=True):
        for a, b in zip(exception.conditions, same.conditions, strict=True):
            assert a.feature == b.feature
            np.testing.assert_allclose(a.reach / size, b.reach, rtol=1e-6)
            np.testing.assert_allclose(a.center / size, b.center, rtol=1e-6)
