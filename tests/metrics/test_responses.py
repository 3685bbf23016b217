import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mltsk.exceptions import InputError
from mltsk.metrics.responses import label_scores, response_method

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = (X + RNG.normal(scale=0.3, size=X.shape) > 0).astype(int)


class Answers:
    """A model that answers with what it was given."""

    def __init__(self, answer):
        self.answer = answer

    def predict_proba(self, X):
        return self.answer


def test_decision_functions_are_asked_first():
    model = RidgeClassifier().fit(X, Y)
    assert response_method(model) == "decision_function"
    assert_array_equal(label_scores(model, X, 3), model.decision_function(X))


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(5, random_state=0),
        KNeighborsClassifier(),
        MultiOutputClassifier(LogisticRegression()),
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
    ],
    ids=["forest", "neighbours", "multi-output", "pipeline"],
)
def test_lists_of_probabilities_become_a_table(model):
    model.fit(X, Y)
    expected = np.column_stack([p[:, 1] for p in model.predict_proba(X)])
    assert_allclose(label_scores(model, X, 3), expected)


@pytest.mark.parametrize("value", [0, 1])
def test_a_constant_label_scores_what_it_is(value):
    constant = Y.copy()
    constant[:, 1] = value
    scores = label_scores(RandomForestClassifier(5, random_state=0).fit(X, constant), X, 3)
    assert_array_equal(scores[:, 1], value)


def test_two_labels_are_not_taken_for_one_binary_target():
    table = RNG.random((4, 2))
    assert_array_equal(label_scores(Answers(table), X[:4], 2), table)
    assert_array_equal(label_scores(Answers(table), X[:4], 1), table[:, 1:])


def test_one_label_may_answer_in_one_dimension():
    model = RidgeClassifier().fit(X, Y[:, 0])
    assert label_scores(model, X, 1).shape == (40, 1)


def test_models_without_scores_are_refused():
    with pytest.raises(InputError, match="object has no decision_function or predict_proba"):
        response_method(object())


def test_a_wrong_number_of_columns_is_refused():
    with pytest.raises(InputError, match="returned 3 columns for 4 labels"):
        label_scores(RidgeClassifier().fit(X, Y), X, 4)


def test_a_single_column_of_an_unknown_class_is_refused():
    with pytest.raises(InputError, match="does not say which"):
        label_scores(Answers([np.ones((4, 1)), np.ones((4, 2))]), X[:4], 2)
