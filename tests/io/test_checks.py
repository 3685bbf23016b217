"""Attributes that do not fit together are refused, wherever they come from."""

import numpy as np
import pytest
from scipy import sparse

from mltsk import MLTSKClassifier, PaperMLTSK
from mltsk.datasets import make_multilabel_rules
from mltsk.io.checks import check_scores
from mltsk.io.rebuild import check_attributes, check_safe
from mltsk.io.state import plain_attributes
from mltsk.paper import METHODS

DATA = make_multilabel_rules(n_samples=60, random_state=0)


@pytest.fixture(scope="module")
def attributes():
    return plain_attributes(MLTSKClassifier(n_rules=2).fit(*DATA.frames()))


def refused(kind, attributes, says):
    with pytest.raises(ValueError, match=says):
        check_attributes(kind, attributes)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("classes_", np.zeros(5), "'classes_' must be different values"),
        ("classes_", [0, 1, 2, 3, 4], "'classes_' must be different values"),
        (
            "classes_",
            np.array([0, 1, 2, 3, np.inf]),
            "'multilabel_' must be true or false, and 'classes_' finite",
        ),
        ("multilabel_", 1, "'multilabel_' must be true or false"),
        ("n_features_in_", "ten", "'n_features_in_' must be a number of features"),
        ("n_features_in_", 10**9, "'n_features_in_' must be a number of features"),
        ("n_features_in_", 0, "'n_features_in_' must be a number of features, not 0"),
        ("n_features_in_", 3, "'coef_' has|must be a table of"),
        ("predict", 1, "in the place of predict"),
    ],
)
def test_check_attributes_refuses_each_damage(attributes, name, value, says):
    refused(MLTSKClassifier, {**attributes, name: value}, says)


@pytest.mark.parametrize("name", ["centers_", "terms_", "certainty_", "classes_"])
def test_check_attributes_names_what_is_missing(attributes, name):
    without = {key: value for key, value in attributes.items() if key != name}
    says = f"it has no {name}, which mltsk .* needs: fit the model again"
    refused(MLTSKClassifier, without, says)


def test_check_attributes_changes_nothing(attributes):
    before = dict(attributes)
    check_attributes(MLTSKClassifier, attributes)
    assert attributes == before


def test_check_attributes_lets_the_papers_system_pass():
    model = PaperMLTSK(n_rules=2, correlation_weight=0.01).fit(DATA.X, DATA.Y)
    check_attributes(PaperMLTSK, plain_attributes(model))


@pytest.mark.parametrize("name", ["br", "ml-knn", "mlsf", "hnoml", "bp-mll"])
def test_check_attributes_refuses_damaged_arrays_of_the_compared_methods(name):
    parameters = {"epochs": 2} if name == "bp-mll" else {}
    model = METHODS[name](**parameters).fit(DATA.X, DATA.Y)
    kind = type(model)
    attributes = plain_attributes(model)
    check_attributes(kind, attributes)
    for array, value in attributes.items():
        if not isinstance(value, np.ndarray) or value.dtype != float:
            continue
        for damaged in (value * np.nan, value * 1j):
            says = f"'{array}' must hold finite numbers"
            refused(kind, {**attributes, array: damaged}, says)


@pytest.mark.parametrize("name", ["br", "hnoml"])
def test_check_attributes_needs_numbers_of_every_label(name):
    model = METHODS[name]().fit(DATA.X, DATA.Y)
    attributes = plain_attributes(model)
    attributes["coef_"] = attributes["coef_"][..., :1]
    refused(type(model), attributes, "'coef_' must have as many columns as there are")


@pytest.mark.parametrize("damage", [lambda Y: Y[:-1], lambda Y: Y + 119])
def test_check_attributes_needs_labels_of_0_and_1_for_every_neighbour(damage):
    model = METHODS["ml-knn"]().fit(DATA.X, DATA.Y)
    attributes = {**plain_attributes(model), "Y_": damage(model.Y_)}
    says = "'Y_' must hold 0 and 1 for every row of 'X_'"
    refused(type(model), attributes, says)


def test_check_safe_refuses_a_sparse_matrix_before_it_is_used():
    model = METHODS["ml-knn"]().fit(sparse.csr_array(DATA.X), DATA.Y)
    attributes = plain_attributes(model)
    check_safe(type(model), attributes)
    attributes["X_"].indptr[-1] = 0  # which SciPy's own check lets pass
    with pytest.raises(ValueError, match="the parts of 'X_' do not fit each other"):
        check_safe(type(model), attributes)


@pytest.mark.parametrize(
    "scores_of",
    [
        lambda rows: np.full((len(rows), 5), np.nan),
        lambda rows: np.zeros((len(rows), 4)),
        lambda rows: np.zeros((len(rows), 5), dtype=int),
        lambda rows: np.zeros((3, 5)),
    ],
    ids=["not finite", "too few", "whole numbers", "three rows"],
)
def test_check_scores_refuses_what_is_no_finite_score_per_label(scores_of):
    with pytest.raises(ValueError, match="its parts give no finite score per label"):
        check_scores(scores_of, 10, 5)
    check_scores(lambda rows: rows[:, :5], 10, 5)
