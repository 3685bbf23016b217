import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier
from mltsk.exceptions import InputError
from mltsk.explain import Part, Why, explain

from ..conftest import effects_of_exceptions, effects_of_features
from .conftest import CATEGORIES, LABELS

SCALES = ["quantile", "standard", "minmax", None, "unit"]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    "kind", [{}, {"order": 1}, {"K": 0}, {"general": False, "order": 1}]
)
def test_parts_add_up_to_the_score(make_system, X, scale, kind):
    system = make_system(scale, **kind)
    why = explain(system, X)
    assert_allclose(why.scores, system.scores(X), rtol=1e-13)
    assert_allclose(
        why.base + why.feature_effects().sum(axis=1) + why.shifts.sum(axis=1),
        why.scores,
        atol=1e-12,
    )
    frame = why[:3].to_frame()
    sums = (
        frame[frame.part != "slope"]
        .groupby(["sample", "label"])
        .contribution.sum()
        .unstack()
    )
    assert_allclose(sums[list(LABELS)], why.scores[:3], atol=1e-12)


def test_effects_and_shifts_are_those_of_the_system(make_system, X):
    system = make_system(order=1)
    why = explain(system, X).for_label("asthma")
    assert_allclose(
        why.feature_effects()[:, :, 0], effects_of_features(system, X, 1), atol=1e-14
    )
    assert_allclose(
        why.shifts[:, :, 0], effects_of_exceptions(system, X, 1), atol=1e-12
    )


def test_sparse_rows_tell_what_is_absent_in_one_sum(make_system, texts):
    system = make_system("unit", X=texts, order=1)
    why = explain(system, texts)
    for one in list(why)[:5]:
        account = one.why("gout")
        assert sum(
            part.contribution for part in account.parts if part.part != "slope"
        ) == pytest.approx(account.score)
        assert len(account.of_kind("feature")) == np.count_nonzero(one.X.toarray())
        assert len(account.of_kind("absent")) <= 1


def test_slopes_tell_what_rules_make_of_features(make_system, X):
    system = make_system("minmax", order=1, general=False)
    why = explain(system, X)
    at_average = why.firing @ system.coef[:, 0] + np.einsum(
        "nk,kdl,d->nl", why.firing, system.coef[:, 1:], why.tables.middle
    )
    assert_allclose(
        why.slope_effects().sum(axis=1) + at_average, why.shifts.sum(axis=1), atol=1e-12
    )
    assert "of what rules add, by feature" in str(why[0])
    assert not explain(make_system(), X).slope_effects().any()


def test_probabilities_are_told_where_there_are_some(make_system, X):
    system = make_system()
    why = explain(system, X[:4]).for_label("asthma")
    assert_allclose(
        why.probabilities, system.probabilities(system.scores(X[:4]))[:, [1]]
    )
    assert why.why("asthma").probability == pytest.approx(why.probabilities[0, 0])
    assert "probability" in str(why)
    bare = explain(make_system(slopes=None), X[:1])
    assert bare.probabilities is None
    assert "probability" not in str(bare)


def test_one_score_in_full(make_system, X):
    one = explain(make_system(), X, categories=CATEGORIES)[7].why("asthma")
    assert (one.sample, one.label) == (7, "asthma")
    assert {part.name: part.value for part in one.of_kind("feature")}["age"] == X[7, 0]
    assert any(part.words in ("smoker is no", "smoker is yes") for part in one.parts)
    assert all(0 <= part.value <= 1 for part in one.of_kind("exception"))
    for kind in ("feature", "exception"):
        sizes = [abs(part.contribution) for part in one.of_kind(kind)]
        assert sizes == sorted(sizes, reverse=True)


def test_narrowing_keeps_the_numbers_of_samples_and_labels(make_system, X):
    why = explain(make_system("standard"), X)
    narrow = why[10:14][::2].for_label("asthma")
    assert [one.samples.tolist() for one in narrow] == [[10], [12]]
    assert_allclose(narrow.scores[:, 0], why.scores[[10, 12], 1])
    assert (narrow.shifts.shape, narrow.feature_effects().shape) == (
        (2, 3, 1),
        (2, 4, 1),
    )
    with pytest.raises(InputError, match="no label called 'flu'"):
        why[0].why("flu")


def test_the_story_tells_the_highest_labels_of_the_first_samples(make_system, X):
    why = explain(make_system(), X)
    text = why.to_text(labels=1, samples=2)
    above = [LABELS[j] for j in why.scores[:2].argmax(axis=1)]
    assert [
        line.split(":")[0].strip() for line in text.splitlines() if "threshold" in line
    ] == above
    assert text.endswith("and 58 more samples")
    assert str(why[3]).startswith("Sample 3\n")


def test_plain_data_round_trip(make_system, X):
    why = explain(make_system(), X[:2])
    plain = json.loads(json.dumps(why.to_dict(), allow_nan=False))
    labels = plain["samples"][1]["labels"]
    assert [entry["label"] for entry in labels] == list(LABELS)
    assert sum(part["contribution"] for part in labels[0]["parts"]) == pytest.approx(
        why.scores[1, 0]
    )
    assert len(why.to_dict(top=1)["samples"][0]["labels"][0]["parts"]) == 3


def test_html_is_escaped(make_system, X):
    page = explain(make_system(features=("<x>", "b", "c", "d")), X[:1])._repr_html_()
    assert "<x>" not in page
    assert "&lt;x&gt;" in page


def test_a_sample_that_fires_no_rule_scores_nothing(make_system):
    widths = np.full((3, 4), 1e-3)
    system = make_system(
        None,
        general=False,
        order=1,
        firing="authors",
        widths=widths,
        intercept=np.zeros(2),
    )
    why = explain(system, np.full((1, 4), 1e6))
    assert_allclose(why.shifts, 0.0)
    assert "Rule 1, which fits by 0 %" in str(why)


def test_a_ledger_reads_in_the_callers_words_and_sums_what_is_left_out():
    parts = [
        Part("base", None, None, 0.2, "before exceptions"),
        Part("feature", "glucose", 8.1, 0.3, "glucose is high"),
    ]
    parts += [
        Part("exception", k, 0.3, a, f"Exception {k + 1}")
        for k, a in enumerate((0.1, 0.06, 0.04))
    ]
    why = Why(4, "gout", 0.7, 0.5, 0.83, tuple(parts))
    assert page_lines(why, 1) == [
        "gout: 0.700, given (threshold 0.5, probability 83 %)",
        "  +0.200  before exceptions",
        "  +0.300  glucose is high",
        "  +0.100  Exception 1",
        "  +0.100  2 smaller ones",
    ]
    assert "not given" in str(Why(0, "gout", 0.4, 0.5, None, ()))
    assert Why(0, "gout", 0.5, 0.5, None, ()).given


def page_lines(why, top):
    (node,) = why.nodes(top)
    return [node.text, *(f"  {child.text}" for child in node.children)]


@pytest.mark.parametrize(
    "kind",
    [
        {"n_rules": 0},
        {"n_rules": 5, "order": 0},
        {"n_rules": 3, "order": 1},
        {"max_statements": 6},
    ],
)
@pytest.mark.parametrize("scale", ["quantile", "standard"])
def test_reasons_of_a_table_add_up(table, kind, scale):
    X = (
        table[0]
        .iloc[:40]
        .assign(smoker=lambda X: X["smoker"].replace("former", "unheard of"))
    )
    clf = MLTSKClassifier(scale=scale, **kind).fit(*table)
    why = clf.explain(X)
    assert_allclose(why.scores, clf.decision_function(X) + clf.thresholds_, atol=1e-12)
    assert_allclose(
        why.base + why.feature_effects().sum(axis=1) + why.shifts.sum(axis=1),
        why.scores,
        atol=1e-12,
    )
    frame = why.to_frame()
    sums = (
        frame[frame.part != "slope"]
        .groupby(["sample", "label"])
        .contribution.sum()
        .unstack()
    )
    assert_allclose(sums[["copd", "gout"]], why.scores, atol=1e-12)
    assert set(frame.name[frame.part == "feature"]) <= set(X.columns)
    json.dumps(why.to_dict(), allow_nan=False)


def test_a_feature_of_a_table_is_one_line_in_its_words(table):
    clf = MLTSKClassifier(n_rules=0).fit(*table)
    X = (
        table[0]
        .iloc[[10, 10]]
        .assign(
            age=[50.0, np.nan],
            smoker=["daily", "vape"],
            stage=["IV", None],
            albumin=[np.nan, 3.5],
            fever=[True, None],
        )
    )
    first, second = (
        {part.name: part for part in one.why("copd").of_kind("feature")}
        for one in clf.explain(X)
    )
    assert (first["smoker"].words, first["smoker"].value) == ("smoker = daily", "daily")
    assert (first["albumin"].words, first["albumin"].value) == (
        "albumin not measured",
        None,
    )
    assert first["stage"].words == "stage = IV"
    assert first["fever"].words == "fever = yes"
    assert first["age"].words.startswith("age is ")
    assert second["smoker"].words == "smoker = 'vape' (never seen: counts as nothing)"
    assert second["age"].words == "age not measured (counts as nothing)"
    assert second["age"].contribution == second["fever"].contribution == 0
    assert "+0.000  age not measured (counts as nothing)" in str(clf.explain(X)[1])
