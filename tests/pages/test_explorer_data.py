"""What goes into the page: exact arrays, words, choices and examples."""

import json
from base64 import b64decode

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import FuzzyRuleFeatures, MLTSKClassifier, MultilabelThreshold
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.pages.explorer_data import Examples, explorer_data, score_thresholds, typical_rows

DATA = make_multilabel_rules(n_samples=80, random_state=0)
SPARSE = make_multilabel_rules(n_samples=80, sparse=True, random_state=0)


def floats(text):
    return np.frombuffer(b64decode(text))


@pytest.fixture(scope="module")
def model():
    return MLTSKClassifier(n_rules=3).fit(*DATA.frames())


def test_arrays_come_exactly_and_zeros_are_left_out(model):
    data = explorer_data(model)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert_array_equal(floats(data["centers"]), model.centers_.ravel())
    assert_array_equal(floats(data["coef"]["values"]), model.coef_[model.coef_ != 0])
    mask = np.unpackbits(np.frombuffer(b64decode(data["coef"]["mask"]), np.uint8), bitorder="little")
    assert_array_equal(mask[: model.coef_.size], model.coef_.ravel() != 0)


def test_knots_come_without_padding():
    X = DATA.X.copy()
    X[:, 0] = X[:, 0] > 0
    data = explorer_data(MLTSKClassifier(n_rules=2).fit(X, DATA.Y))
    ends = np.frombuffer(b64decode(data["scale"]["ends"]), np.uint32)
    assert ends[:3].tolist() == [0, 2, 82]
    assert data["choices"]["0"] == {"values": [0.0, 1.0], "names": ["0", "1"]}


def test_whole_numbers_and_categories_are_set_as_such():
    X = DATA.X.copy()
    X[:, 1] = np.arange(80) % 7
    clf = MLTSKClassifier(n_rules=2).fit(X, DATA.Y)
    clf.categories_ = {"x2": {0.0: "no", 5.0: "yes\n", 7.0: "?"}}
    data = explorer_data(clf)
    assert data["whole"] == [1]
    assert data["choices"]["2"] == {"values": [0.0, 5.0, 7.0], "names": ["no", "yes", "?"]}
    rows = floats(data["rows"]).reshape(-1, 10)
    assert set(rows[:, 2]) <= {0.0, 5.0, 7.0}  # no average of categories


def test_words_are_those_of_the_rules(model):
    rule = explorer_data(model)["rules"][1]
    assert [words for _, words in rule["conditions"]] == [str(c) for c in model.rules_[1].conditions[:5]]
    assert model.rules_[1].conditions[0].feature == DATA.feature_names[rule["conditions"][0][0]]
    assert rule["more"] == "and 5 conditions closer to the average"


def test_short_rules_show_the_conditions_that_they_have():
    clf = MLTSKClassifier(n_rules=3, max_conditions=2).fit(DATA.X, DATA.Y)
    clf.widths_[1] = np.inf
    rules = explorer_data(clf)["rules"]
    assert [len(rule["conditions"]) for rule in rules] == [2, 0, 2]
    assert [rule["more"] for rule in rules] == ["", "always: this rule has no condition", ""]


def test_examples_are_rows_that_rules_fire_on_most(model):
    found = Examples.of(model, *DATA.frames())
    rows = [int(name.removeprefix("row ")) - 1 for name in found.names]
    assert_array_equal(found.rows, DATA.X[rows])
    assert set(model.system_.firing(DATA.X).argmax(axis=0)) <= set(rows)
    assert found.truth == [np.flatnonzero(DATA.Y[i]).tolist() for i in rows]


def test_typical_rows_are_different_and_no_more_than_there_are():
    M = np.array([[0.5, 0.5], [0.5, 0.5]])
    assert typical_rows(M, np.array([0.5, 0.5]), 12) == [0, 1]


def test_sparse_models_have_ranges_from_what_is_known():
    clf = MLTSKClassifier(n_rules=2).fit(SPARSE.X, SPARSE.Y)
    data = explorer_data(clf, Examples.of(clf, SPARSE.X))
    low, high = floats(data["ranges"]).reshape(-1, 2).T
    assert (data["quantiles"], data["scale"]["kind"]) == (None, "unit")
    assert (low <= 0).all()
    assert (high >= 1).all()


def test_tuned_thresholds_are_given_on_the_scale_of_the_scores():
    for response in ("predict_proba", "decision_function"):
        tuned = MultilabelThreshold(MLTSKClassifier(n_rules=2), cv=2, response_method=response).fit(DATA.X, DATA.Y)
        given = tuned.estimator_.system_.scores(DATA.X) >= score_thresholds(tuned)
        assert_array_equal(given.astype(int), tuned.predict(DATA.X))
    assert_allclose(score_thresholds(tuned.estimator_), 0.5)


def test_what_cannot_be_explored_says_so(model):
    with pytest.raises(InputError, match="has no rules to explore"):
        explorer_data(FuzzyRuleFeatures(2).fit(DATA.X))
    with pytest.raises(InputError, match="X has 3 features, but MLTSKClassifier is expecting 10"):
        Examples.of(model, DATA.X[:, :3])
    with pytest.raises(InputError, match=r"cannot be examples: .*NaN"):
        Examples.of(model, np.full((1, 10), np.nan))
    with pytest.raises(InputError, match="The feature names should match"):
        Examples.of(model, DATA.frames()[0].iloc[:, ::-1])
    with pytest.raises(InputError, match=r"Y has shape \(80, 2\)"):
        Examples.of(model, DATA.X, DATA.Y[:, :2])


@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "b", "c"]])
def test_classes_of_one_dimension_are_labels_too(classes):
    y = np.array(classes)[np.arange(80) % len(classes)]
    clf = MLTSKClassifier(n_rules=2).fit(DATA.X, y)
    found = Examples.of(clf, DATA.X, y)
    rows = [int(name.removeprefix("row ")) - 1 for name in found.names]
    assert [[clf.label_names_[j] for j in truth] for truth in found.truth] == [
        [y[i]] if y[i] != "no" else [] for i in rows
    ]
    assert explorer_data(clf, found)["single"] is (len(classes) == 3)
