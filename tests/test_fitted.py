"""Public attributes of a fitted classifier are those of its system."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score

from mltsk import IncrementalMLTSK, MLTSKClassifier, PaperMLTSK
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.explain import rule_base
from mltsk.fitted import FittedAttributes

DATA = make_multilabel_rules(n_samples=120, n_features=5, n_labels=3, random_state=0)
FIELD_OF_ATTRIBUTE = {
    "scale_": "scale_name",
    "scaling_": "scaling",
    "columns_": "columns",
    "intercept_": "intercept",
    "terms_": "terms",
    "general_coef_": "term_coef",
    "centers_": "centers",
    "widths_": "widths",
    "coef_": "coef",
    "prototypes_": "prototypes",
    "rule_weights_": "rule_weights",
    "quantiles_": "quantiles",
    "members_": "members",
    "certainty_": "certainty",
    "order_": "order",
    "tnorm_": "tnorm",
}
COMPUTED_ATTRIBUTES = [
    "loo_proba_",
    "n_pairs_",
    "n_rules_",
    "n_statements_",
    "pairs_",
    "rules_",
    "thresholds_",
]


@pytest.fixture(scope="module")
def clf():
    return MLTSKClassifier(n_rules=4).fit(DATA.X, DATA.Y)


def test_fitted_attributes_are_all_named_in_this_file():
    public = [name for name in vars(FittedAttributes) if not name.startswith("_")]
    assert sorted(public) == sorted([*FIELD_OF_ATTRIBUTE, *COMPUTED_ATTRIBUTES])


@pytest.mark.parametrize("estimator", [MLTSKClassifier, IncrementalMLTSK, PaperMLTSK])
@pytest.mark.parametrize("attribute", [*FIELD_OF_ATTRIBUTE, *COMPUTED_ATTRIBUTES])
def test_fitted_attributes_are_not_there_before_fit(estimator, attribute):
    assert not hasattr(estimator(), attribute)


@pytest.mark.parametrize("attribute", ["rules_", "pairs_", "n_statements_"])
def test_rules_pairs_and_n_statements_before_fit_ask_for_a_fit(attribute):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(MLTSKClassifier(), attribute)


@pytest.mark.parametrize("attribute", FIELD_OF_ATTRIBUTE)
def test_fitted_attributes_are_fields_of_system(clf, attribute):
    field = getattr(clf.system_, FIELD_OF_ATTRIBUTE[attribute])
    assert getattr(clf, attribute) is field


@pytest.mark.parametrize("attribute", [*FIELD_OF_ATTRIBUTE, *COMPUTED_ATTRIBUTES])
def test_fitted_attributes_cannot_be_set(clf, attribute):
    with pytest.raises(AttributeError):
        setattr(clf, attribute, None)


@pytest.mark.parametrize("n_pairs", [0, 3])
def test_n_pairs_is_the_number_of_pairs(n_pairs):
    clf = MLTSKClassifier(n_rules=2, n_pairs=n_pairs).fit(DATA.X, DATA.Y)
    assert clf.n_pairs_ == len(clf.pairs_) == n_pairs
    expected = [counted_by_hand(clf, label) for label in range(3)]
    assert_array_equal(clf.n_statements_, expected)


def test_n_rules_is_the_number_of_exceptions(clf):
    assert clf.n_rules_ == len(clf.centers_) == 4


def test_rules_are_read_from_system(clf):
    told, rules = str(clf.rules_).split("\n\n", maxsplit=1)
    assert rules == str(rule_base(clf.system_))
    assert told.startswith("How well each label can be predicted")


def counted_by_hand(clf, label):
    """Statements of a label, counted one after the other."""
    count = 0
    numbers = clf.general_coef_[:, label]
    is_given = np.zeros(len(numbers), dtype=bool)
    if clf.columns_ is not None:
        conditions = np.array(clf.columns_.conditions)[clf.terms_.feature]
        is_given = conditions > 0
        count += conditions[is_given & (numbers != 0)].sum()
    if clf.scale_ == "range":  # a short model: every two points of a line
        shapes = clf.rules_.general[label].shapes
        count += sum((len(shape.x) + 1) // 2 for shape in shapes)
    else:
        count += np.count_nonzero(numbers[~is_given])
    for consequent, widths in zip(clf.coef_[:, :, label], clf.widths_, strict=True):
        if consequent.any():
            n_conditions = max(np.isfinite(widths).sum(), 1)
            count += n_conditions + np.count_nonzero(consequent[1:])
    for pair in clf.pairs_:
        n_numbers = len(pair.rules(clf.label_names_[label]))
        count += 2 * n_numbers  # two conditions each
    return count


@pytest.mark.parametrize("rules", [None, [{"x0": (0.5, None), "x1": (None, 0.5)}]])
@pytest.mark.parametrize("max_statements", [None, 7])
@pytest.mark.parametrize("order", [0, 1])
def test_n_statements_counts_long_and_short_models_alike(order, max_statements, rules):
    clf = MLTSKClassifier(n_rules=4, order=order, max_statements=max_statements)
    clf.fit(DATA.X, DATA.Y, rules=rules)
    expected = [counted_by_hand(clf, label) for label in range(3)]
    assert_array_equal(clf.n_statements_, expected)


# --- the score


@pytest.mark.parametrize(
    "form",
    [np.asarray, np.ndarray.tolist, pd.DataFrame, sparse.csr_array],
)
def test_score_is_subset_accuracy_where_all_labels_were_observed(clf, form):
    expected = accuracy_score(DATA.Y, clf.predict(DATA.X))
    assert clf.score(DATA.X, form(DATA.Y)) == pytest.approx(expected)


def test_score_takes_weights_and_words(clf):
    weight = np.random.default_rng(0).random(120)
    expected = accuracy_score(DATA.Y, clf.predict(DATA.X), sample_weight=weight)
    words = np.where(DATA.Y == 1, "yes", "no")
    assert clf.score(DATA.X, words, sample_weight=weight) == pytest.approx(expected)


def test_score_does_not_count_labels_that_were_not_observed(clf):
    Y = DATA.Y.astype(float)
    Y[:30] = np.nan
    Y[30:60, 1] = np.nan
    right = clf.predict(DATA.X) == DATA.Y
    exact = np.r_[right[30:60][:, [0, 2]].all(axis=1), right[60:].all(axis=1)]
    assert clf.score(DATA.X, Y) == pytest.approx(exact.mean())


def test_score_takes_lists_of_labels():
    lists = [[name for name, has in zip("abc", y, strict=True) if has] for y in DATA.Y]
    clf = MLTSKClassifier(n_rules=0).fit(DATA.X, lists)
    expected = accuracy_score(DATA.Y, clf.predict(DATA.X))
    assert clf.score(DATA.X, lists) == pytest.approx(expected)
    with pytest.raises(InputError, match="Row 0 of y lists 'd'"):
        clf.score(DATA.X[:2], [["d"], []])


def test_score_of_one_label_with_gaps_takes_a_column():
    y = DATA.Y[:, :1].astype(float)
    gaps = y.copy()
    gaps[:10] = np.nan
    clf = MLTSKClassifier(n_rules=0).fit(DATA.X, gaps)
    expected = (clf.predict(DATA.X) == y).mean()
    assert clf.score(DATA.X, y) == pytest.approx(expected)


def test_score_of_classes_is_accuracy():
    y = np.array(["low", "high"])[DATA.Y[:, 0]]
    clf = MLTSKClassifier(n_rules=0).fit(DATA.X, y)
    expected = accuracy_score(y, clf.predict(DATA.X))
    assert clf.score(DATA.X, y) == pytest.approx(expected)
