import json
from time import process_time

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.explain import Part, Why, explain, rule_base

from ..conftest import effects_of_exceptions, effects_of_features
from .conftest import CATEGORIES, LABELS, SCALES


def sums_of_parts(frame):
    """Sums of contributions, a row per sample and a column per label."""
    parts = frame[frame.part != "slope"]
    sums = parts.groupby(["sample", "label"]).contribution.sum()
    return sums.unstack()


# explain ------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    "kind", [{}, {"order": 1}, {"K": 0}, {"general": False, "order": 1}]
)
def test_explain_takes_scores_apart_into_parts_that_add_up(make_system, X, scale, kind):
    system = make_system(scale, **kind)
    why = explain(system, X)
    assert_allclose(why.scores, system.scores(X), rtol=1e-13)
    total = why.base + why.feature_effects().sum(axis=1) + why.shifts.sum(axis=1)
    assert_allclose(total, why.scores, atol=1e-12)
    sums = sums_of_parts(why[:3].to_frame())
    assert_allclose(sums[list(LABELS)], why.scores[:3], atol=1e-12)


def test_feature_effects_and_shifts_are_those_of_the_system(make_system, X):
    system = make_system(order=1)
    why = explain(system, X).for_label("asthma")
    effects = effects_of_features(system, X, 1)
    assert_allclose(why.feature_effects()[:, :, 0], effects, atol=1e-14)
    shifts = effects_of_exceptions(system, X, 1)
    assert_allclose(why.shifts[:, :, 0], shifts, atol=1e-12)


def test_explain_begins_with_the_average_of_the_training_data():
    data = make_multilabel_rules(n_samples=200, random_state=0)
    clf = MLTSKClassifier(n_rules=20, order=0).fit(data.X, data.Y)
    why = clf.explain(data.X)
    assert_allclose(why.base, why.scores.mean(axis=0), atol=1e-9)
    assert_allclose(why.shifts.mean(axis=0), 0.0, atol=1e-9)
    assert "on average" in str(why)


def test_explain_tells_what_is_absent_from_sparse_rows_in_one_sum(make_system, texts):
    for sample in explain(make_system("unit", X=texts, order=1), texts[:5]):
        account = sample.why("gout")
        parts = [part for part in account.parts if part.part != "slope"]
        total = sum(part.contribution for part in parts)
        assert total == pytest.approx(account.score)
        n_features = len(account.of_kind("feature"))
        assert n_features == np.count_nonzero(sample.X.toarray())
        assert len(account.of_kind("absent")) <= 1


def test_slope_effects_tell_what_rules_make_of_features(make_system, X):
    system = make_system("minmax", order=1, general=False)
    why = explain(system, X)
    middle = why.effects.middle
    slopes = np.einsum("nk,kdl,d->nl", why.firing, system.coef[:, 1:], middle)
    at_average = why.firing @ system.coef[:, 0] + slopes
    total = why.slope_effects().sum(axis=1) + at_average
    assert_allclose(total, why.shifts.sum(axis=1), atol=1e-12)
    assert "of what rules add, by feature" in str(why[0])
    assert not explain(make_system(), X).slope_effects().any()


def test_probabilities_are_told_where_there_are_some(make_system, X):
    system = make_system(has_log_odds=True)
    why = explain(system, X[:4]).for_label("asthma")
    expected = system.probabilities(system.scores(X[:4]))[:, [1]]
    assert_allclose(why.probabilities, expected)
    assert why.why("asthma").probability == pytest.approx(why.probabilities[0, 0])
    assert "log-odds" in str(why)
    bare = explain(make_system(), X[:1])
    assert bare.probabilities is None
    assert "log-odds" not in str(bare)


def test_explain_of_a_sample_that_fires_no_rule_has_no_shifts(make_system):
    system = make_system(
        None,
        general=False,
        order=1,
        firing="authors",
        widths=np.full((3, 4), 1e-3),
        intercept=np.zeros(2),
    )
    why = explain(system, np.full((1, 4), 1e6))
    assert_allclose(why.shifts, 0.0)
    assert "no rule fires" in str(why)


# narrowing down -----------------------------------------------------------------------


def test_why_is_one_score_in_full(make_system, X):
    account = explain(make_system(categories=CATEGORIES), X)[7].why("asthma")
    assert (account.sample, account.label) == (7, "asthma")
    values = {part.name: part.value for part in account.of_kind("feature")}
    assert values["age"] == X[7, 0]
    words = {part.words for part in account.parts}
    assert words & {"smoker is no", "smoker is yes"}
    assert all(0 <= part.value <= 1 for part in account.of_kind("exception"))
    for kind in ("feature", "exception"):
        sizes = [abs(part.contribution) for part in account.of_kind(kind)]
        assert sizes == sorted(sizes, reverse=True)


def test_narrowed_explanations_keep_the_numbers_of_samples_and_labels(make_system, X):
    why = explain(make_system("standard"), X)
    narrow = why[10:14][::2].for_label("asthma")
    assert [sample.samples.tolist() for sample in narrow] == [[10], [12]]
    assert_allclose(narrow.scores[:, 0], why.scores[[10, 12], 1])
    assert narrow.shifts.shape == (2, 3, 1)
    assert narrow.feature_effects().shape == (2, 4, 1)
    with pytest.raises(InputError, match="no label called 'flu'"):
        why[0].why("flu")


# as text and data ---------------------------------------------------------------------


def test_to_text_tells_the_highest_labels_of_the_first_samples(make_system, X):
    why = explain(make_system(), X)
    text = why.to_text(labels=1, samples=2)
    titles = [line for line in text.splitlines() if "threshold" in line]
    highest = [LABELS[j] for j in why.scores[:2].argmax(axis=1)]
    assert [title.split(":")[0].strip() for title in titles] == highest
    assert text.endswith("and 58 more samples")
    assert str(why[3]).startswith("Sample 3\n")


def test_to_text_says_the_same_as_the_full_account(make_system, X):
    why = explain(make_system(order=1), X[:1])
    account = why.why("gout").to_text(top=2)
    lines = [line.strip() for line in account.splitlines()]
    text = why.to_text(top=2, labels=2)
    assert set(lines) <= {line.strip() for line in text.splitlines()}


def test_to_dict_is_plain_data(make_system, X):
    why = explain(make_system(), X[:2])
    data = json.loads(json.dumps(why.to_dict(), allow_nan=False))
    labels = data["samples"][1]["labels"]
    assert [entry["label"] for entry in labels] == list(LABELS)
    total = sum(part["contribution"] for part in labels[0]["parts"])
    assert total == pytest.approx(why.scores[1, 0])
    assert len(why.to_dict(top=1)["samples"][0]["labels"][0]["parts"]) == 3


def test_to_html_is_escaped(make_system, X):
    page = explain(make_system(features=("<x>", "b", "c", "d")), X[:1])._repr_html_()
    assert "<x>" not in page
    assert "&lt;x&gt;" in page


def test_why_reads_in_the_callers_words_and_sums_what_is_left_out():
    parts = [
        Part("base", None, None, 0.2, words="before exceptions"),
        Part("feature", "glucose", 8.1, 0.3, words="glucose is high"),
    ]
    for k, amount in enumerate((0.1, 0.06, 0.04)):
        parts.append(Part("exception", k, 0.3, amount, words=f"Exception {k + 1}"))
    why = Why(4, "gout", score=0.7, threshold=0.5, probability=0.83, parts=tuple(parts))
    assert why.to_text(top=1).splitlines() == [
        "gout: 83 %, given (threshold 62.2 %, log-odds +0.700)",
        "  +0.200  before exceptions",
        "  +0.300  glucose is high",
        "  +0.100  Exception 1",
        "  +0.100  2 smaller ones",
    ]


@pytest.mark.parametrize(("score", "given"), [(0.5, True), (0.4, False)])
def test_why_is_given_where_the_score_reaches_the_threshold(score, given):
    why = Why(0, "gout", score, threshold=0.5, probability=None, parts=())
    assert why.given == given
    assert ("not given" in str(why)) != given


# tables -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"n_rules": 0},
        {"n_rules": 5, "order": 0},
        {"n_rules": 3, "order": 1},
        {"max_statements": 6},
    ],
)
@pytest.mark.parametrize("scale", ["quantile", "standard"])
def test_explain_of_a_table_adds_up(table, options, scale):
    X = table[0].iloc[:40]
    X = X.assign(smoker=X["smoker"].replace("former", "unheard of"))
    clf = MLTSKClassifier(scale=scale, **options).fit(*table)
    why = clf.explain(X)
    assert_allclose(why.scores, clf.decision_function(X), atol=1e-12)
    total = why.base + why.feature_effects().sum(axis=1) + why.shifts.sum(axis=1)
    assert_allclose(total, why.scores, atol=1e-12)
    frame = why.to_frame()
    sums = sums_of_parts(frame)
    assert_allclose(sums[["copd", "gout"]], why.scores, atol=1e-12)
    assert set(frame.name[frame.part == "feature"]) <= set(X.columns)
    json.dumps(why.to_dict(), allow_nan=False)


def test_explain_tells_a_feature_of_a_table_in_one_line_in_its_words(table):
    clf = MLTSKClassifier(n_rules=0).fit(*table)
    changes = {
        "age": [50.0, np.nan],
        "smoker": ["daily", "vape"],
        "stage": ["IV", None],
        "albumin": [np.nan, 3.5],
        "fever": [True, None],
    }
    X = table[0].iloc[[10, 10]].assign(**changes)
    first, second = (
        {part.name: part for part in sample.why("copd").of_kind("feature")}
        for sample in clf.explain(X)
    )
    assert (first["smoker"].words, first["smoker"].value) == ("smoker = daily", "daily")
    assert first["albumin"].words == "albumin not measured"
    assert first["albumin"].value is None
    assert first["stage"].words == "stage = IV"
    assert first["fever"].words == "fever = yes"
    assert first["age"].words.startswith("age is ")
    assert second["smoker"].words == "smoker = 'vape' (never seen: counts as nothing)"
    assert second["age"].words == "age not measured (counts as nothing)"
    assert second["age"].contribution == second["fever"].contribution == 0
    assert "+0.000  age not measured (counts as nothing)" in str(clf.explain(X)[1])


def test_explain_tells_values_of_any_size_with_their_digits():
    rng = np.random.default_rng(0)
    X = 1e-15 * np.column_stack([rng.normal(size=60), rng.integers(1, 3, 60)])
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 1.5e-15]).astype(int)
    clf = MLTSKClassifier(n_rules=0).fit(X, Y)
    text = str(clf.explain([[2.5e-16, 1e-15]]))
    assert "(2.5e-16, " in text
    assert "x1 is 1e-15" in text
    assert "about 0" not in str(clf.rules_)


def test_explanations_and_rules_of_5000_exceptions_take_less_than_a_second(make_system):
    X = np.random.default_rng(0).normal(size=(5000, 20))
    labels = [f"label {j}" for j in range(20)]
    features = [f"feature {d}" for d in range(20)]
    system = make_system(K=5000, X=X, labels=labels, features=features)
    start = process_time()
    text = str(explain(system, X[:3]))
    explained = process_time()
    rules = str(rule_base(system))
    told = process_time()
    assert explained - start < 1.0
    assert told - explained < 1.0
    assert "smaller ones" in text
    assert "and 4,980 more exceptions" in rules
