"""Weights: what is none is refused in a sentence, and every size of them is taken."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mltsk import MLTSKClassifier
from mltsk.exceptions import InputError
from mltsk.rows.weights import check_weights


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("3", "'3'"),
        ("a", "'a'"),
        (None, r"nothing \(NaN\)"),
        (np.nan, r"nothing \(NaN\)"),
        (np.inf, "inf"),
        (-0.5, "-0.5"),
        (1j, "1j"),
    ],
)
def test_check_weights_names_the_row_of_what_is_no_weight(cell, shown):
    weights = [1.0, 2.0, cell, 1.0]
    with pytest.raises(InputError, match=f"holds {shown} in row 2"):
        check_weights(weights, (4,))


def test_check_weights_names_the_label():
    w = np.ones((3, 2))
    w[1, 1] = -1
    with pytest.raises(InputError, match=r"holds -1.0 in row 1 for label 'b'"):
        check_weights(w, (3, 2), ("a", "b"))
    with pytest.raises(InputError, match="zero for every row of label 'a'"):
        check_weights(np.array([[0, 1], [0, 2]]), (2, 2), ("a", "b"))


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.ones(3), r"has the shape \(3,\), but X has 4 rows"),
        (2.0, r"has the shape \(\), but X has 4 rows"),
        (sparse.csr_array(np.ones((4, 2))), "is sparse"),
        ([[1, 2], [1], [1], [1]], "rows of different lengths"),
        (
            pd.DataFrame(np.ones((4, 2)), columns=["a", "c"]),
            "name its columns like them",
        ),
    ],
)
def test_check_weights_refuses_other_forms_in_a_sentence(weights, sentence):
    with pytest.raises(InputError, match=sentence):
        check_weights(weights, (4, 2), ("a", "b"))


def test_check_weights_matches_the_columns_of_a_frame_with_labels():
    w = np.arange(1.0, 7.0).reshape(3, 2)
    frame = pd.DataFrame(w[:, ::-1], columns=["b", "a"])
    assert_array_equal(check_weights(frame, (3, 2), ("a", "b")), w)


def test_sample_weight_of_large_whole_numbers_is_importance_not_copies(data):
    w = np.random.default_rng(0).integers(1, 1000, len(data.X))
    whole = MLTSKClassifier(n_rules=3).fit(data.X, data.Y, sample_weight=w)
    relative = MLTSKClassifier(n_rules=3).fit(data.X, data.Y, sample_weight=w / 7.3)
    assert_allclose(
        whole.decision_function(data.X), relative.decision_function(data.X), atol=1e-8
    )


@pytest.mark.parametrize("unit", [1e308, 1e-308, 5e-324, 1e200, 1e-200])
def test_fit_takes_weights_of_any_size(data, unit):
    w = np.arange(len(data.X)) % 3 + 1.0
    clf = MLTSKClassifier(n_rules=2).fit(data.X, data.Y, sample_weight=w / 4 * unit)
    short = clf.shorten(3)
    for model in (clf, short):
        assert np.isfinite(model.predict_proba(data.X)).all()
        assert "inf" not in str(model.rules_)
    if unit > 1e-308:
        same = MLTSKClassifier(n_rules=2).fit(data.X, data.Y, sample_weight=w / 8)
        assert_allclose(
            clf.predict_proba(data.X), same.predict_proba(data.X), atol=1e-9
        )


@pytest.mark.parametrize("exponent", [20, 150, 300])
def test_fit_takes_weights_of_huge_ratios(data, exponent):
    w = 10.0 ** np.linspace(-exponent, exponent, len(data.X))
    clf = MLTSKClassifier(n_rules=2).fit(data.X, data.Y, sample_weight=w)
    assert np.isfinite(clf.predict_proba(data.X)).all()
