"""Pairs of features: heights in the caller's units, in words, tables and colours."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier
from mltsk.exceptions import InputError
from mltsk.explain import FeaturePairs


def joint_table(n=600):
    """Numbers, of which one is often missing, and words, which act together."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n).astype(float),
            "kids": rng.integers(0, 4, n).astype(float),
            "sex": rng.choice(["f", "m"], n),
            "ward": rng.choice(["east", "north", "west"], n),
            "iron": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
        }
    )
    old = X["age"] > 60
    gout = (old & (X["sex"] == "f")) | (~old & (X["sex"] == "m"))
    asthma = (old & (X["kids"] > 1)) | ((X["ward"] == "west") & ~old)
    measles = (X["iron"] > 0) == old
    noise = rng.random((n, 3)) < 0.1
    Y = pd.DataFrame({"gout": gout, "asthma": asthma, "measles": measles}) ^ noise
    return X, Y.astype(int)


@pytest.fixture(scope="module")
def clf():
    return MLTSKClassifier(n_pairs=6, n_rules=0).fit(*joint_table())


def without_pairs(clf, X):
    """Scores of samples without what pairs add."""
    why = clf.explain(X)
    return why.base + why.feature_effects().sum(axis=1) + why.shifts.sum(axis=1)


def pair_of(clf, *features):
    (pair,) = (pair for pair in clf.pairs_ if pair.features == features)
    return pair


def test_pairs_are_a_sequence_with_the_largest_first(clf):
    pairs = clf.pairs_
    assert isinstance(pairs, FeaturePairs)
    assert len(pairs) == clf.n_pairs_ == 6
    assert [pair.index for pair in pairs] == list(range(6))
    totals = [sum(pair.size.values()) for pair in pairs]
    assert totals == sorted(totals, reverse=True)
    assert pairs[0].features == ("age", "iron")
    assert len(pairs[1:3]) == 2
    assert set(pairs[0].size) == {"gout", "asthma", "measles"}


def test_heights_of_a_pair_are_what_both_values_add_to_the_score(clf):
    pair = pair_of(clf, "age", "sex")
    heights = pair.heights("gout")
    assert list(heights.columns) == ["m", "f"]
    assert heights.index.name == "age"
    assert heights.index.is_monotonic_increasing
    assert (
        heights.loc[heights.index[-1], "f"] > 0.1 > heights.loc[heights.index[0], "f"]
    )
    rows = joint_table()[0].iloc[:1]
    for age in heights.index:
        for sex in heights.columns:
            sample = rows.assign(age=age, sex=sex)
            amounts = clf.explain(sample).pair_effects()[0, pair.index]
            assert_allclose(amounts[0], heights.loc[age, sex], atol=1e-12)


def test_heights_of_one_of_several_words_have_it_and_any_other(clf):
    (pair,) = (pair for pair in clf.pairs_ if pair.title == "age and ward = west")
    axis = pair.axes[pair.features.index("ward")]
    assert axis.names == ("any other", axis.category)
    words = [rule.words for rule in pair.rules("asthma")]
    assert sum("ward is west" in each for each in words) == len(words) / 2
    assert sum("ward is not west" in each for each in words) == len(words) / 2


def test_heights_of_a_number_of_few_values_are_at_each_of_them(clf):
    pair = pair_of(clf, "age", "kids")
    assert list(pair.heights("asthma").columns) == ["0", "1", "2", "3"]
    assert any("kids is 3" in rule.words for rule in pair.rules("asthma"))


def test_heights_are_0_on_average_and_refuse_unknown_labels(clf):
    X, _ = joint_table()
    slopes = clf.fit_record_.curves.slopes
    averages = clf.explain(X).pair_effects().mean(axis=0) / slopes
    assert_allclose(averages, 0, atol=0.02)
    with pytest.raises(InputError, match="no label called 'gaut': did you mean 'gout'"):
        clf.pairs_[0].heights("gaut")


def test_rules_of_a_pair_come_largest_first_and_add_up_to_its_size(clf):
    pair = pair_of(clf, "age", "kids")
    rules = pair.rules("asthma")
    sizes = [rule.size for rule in rules]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == pytest.approx(pair.size["asthma"], rel=1e-9)
    largest = rules[0]
    assert largest.change == pair.heights("asthma").loc[largest.values]
    assert str(largest) == f"{largest.words}: {largest.change:+#.2g}"
    assert largest.words == "high age (≈ 70) and kids is 1"


def test_str_of_a_pair_is_a_table_for_each_label(clf):
    text = str(pair_of(clf, "age", "sex"))
    assert text.startswith("age and sex: what both together add, 0 on average\n")
    assert "  gout\n    age ↓  sex →\n" in text
    assert " or below" in text
    assert str(clf.pairs_).count("what both together add") == 6
    assert repr(clf.pairs_).startswith("<FeaturePairs: age and iron, age and sex, ")


def test_repr_html_of_a_pair_is_a_heat_map_with_escaped_names():
    X, Y = joint_table(300)
    X = X.rename(columns={"age": "<age>"})
    clf = MLTSKClassifier(n_pairs=2, n_rules=0).fit(X, Y)
    html = clf.pairs_._repr_html_()
    assert "<table" in html
    assert "background:#" in html
    assert "&lt;age&gt;" in html
    assert "<age>" not in html


def test_pairs_of_a_model_without_any_say_so():
    X, Y = joint_table(120)
    clf = MLTSKClassifier(n_pairs=0, n_rules=0).fit(X, Y)
    assert clf.n_pairs_ == len(clf.pairs_) == 0
    assert str(clf.pairs_) == "No features act together in this model."
    assert "Two features together" not in str(clf.rules_)


# in rules -----------------------------------------------------------------------------


def test_rules_tell_pairs_between_the_general_rule_and_exceptions():
    X, Y = joint_table()
    rules = MLTSKClassifier(n_pairs=6, n_rules=3).fit(X, Y).rules_
    text = str(rules)
    general, rest = text.split("\nTwo features together\n")
    assert "In general" in general
    assert "Exception 1" in rest
    assert "6 pairs of features that act together" in text
    of_gout = rest[rest.index("  gout\n") : rest.index("  asthma\n")]
    assert of_gout.count(" and ") == 6  # five rules, and how many there are more
    assert "age (" in of_gout
    assert "sex is f: " in of_gout
    assert len(rules) == 1 + 6 + 3
    assert rules[1].features == rules.pairs[0].features
    assert len(rules[1:2].pairs) == 1


def test_to_frame_has_a_row_for_each_rule_of_a_pair(clf):
    frame = clf.rules_.to_frame("pair")
    n_cells = sum(np.count_nonzero(pair.surface) for pair in clf.pairs_)
    assert len(frame) == n_cells
    assert list(frame) == [
        "part",
        "rule",
        "conditions",
        "label",
        "change",
        "size",
        "share",
    ]
    first = frame[(frame["label"] == "gout") & (frame["rule"] == 0)].iloc[0]
    assert first["change"] == clf.pairs_[0].rules("gout")[0].change
    assert "pair" in set(clf.rules_.to_frame()["part"])


def test_to_dict_and_to_json_have_all_heights_of_pairs(clf):
    pairs = json.loads(clf.rules_.to_json())["pairs"]
    assert len(pairs) == 6
    first = pairs[0]
    assert [axis["feature"] for axis in first["features"]] == ["age", "iron"]
    assert pairs[1]["features"][1]["values"] == ["m", "f"]
    gout = next(entry for entry in first["labels"] if entry["label"] == "gout")
    assert_allclose(gout["heights"], clf.pairs_[0].heights("gout"))
    assert gout["size"] == clf.pairs_[0].size["gout"]


def test_to_html_of_rules_has_pairs_with_bars(clf):
    html = clf.rules_.to_html()
    start = html.index("Two features together")
    assert "class='up'" in html[start:]
    assert "class='down'" in html[start:]


def test_for_label_and_for_feature_narrow_pairs_down(clf):
    narrow = clf.rules_.for_feature("kids").for_label("asthma")
    assert [pair.features for pair in narrow.pairs] == [
        pair.features for pair in clf.pairs_ if "kids" in pair.features
    ]
    assert narrow.pairs[0].labels == ("asthma",)
    assert "gout" not in str(narrow)


# in explanations ----------------------------------------------------------------------


def test_explain_adds_up_with_pairs_also_where_values_are_missing(clf):
    X, _ = joint_table()
    samples = X.iloc[:40].copy()
    samples.loc[samples.index[:5], "age"] = np.nan
    why = clf.explain(samples)
    total = without_pairs(clf, samples) + why.pair_effects().sum(axis=1)
    assert_allclose(total, why.scores, atol=1e-12)
    frame = why[:8].to_frame()
    sums = frame.groupby(["sample", "label"], sort=False)["contribution"].sum()
    assert_allclose(sums, why.scores[:8].ravel(), atol=1e-12)
    paired = frame[frame["part"] == "pair"]
    assert "age and sex" in set(paired["name"])
    assert not paired[(paired["sample"] == 0)]["name"].str.contains("age").any()


def test_explain_tells_both_values_of_a_pair(clf):
    X, _ = joint_table()
    sample = X.iloc[[10]].assign(age=88.0, sex="f")
    text = str(clf.explain(sample).for_label("gout"))
    assert "together: age is very high (88, top " in text
    assert ") and sex = f" in text


def test_explain_adds_up_with_pairs_exceptions_and_rules_of_the_user():
    X, Y = joint_table()
    rules = [{"kids": (2, None)}]
    clf = MLTSKClassifier(n_pairs=4, n_rules=3).fit(X, Y, rules=rules)
    why = clf.explain(X[:5])
    total = without_pairs(clf, X[:5]) + why.pair_effects().sum(axis=1)
    assert_allclose(total + why.given_effects().sum(axis=1), why.scores, atol=1e-12)
    frame = why.to_frame()
    assert {"given", "feature", "pair", "exception"} <= set(frame["part"])
    sums = frame.groupby(["sample", "label"], sort=False)["contribution"].sum()
    assert_allclose(sums, why.scores.ravel(), atol=1e-12)
