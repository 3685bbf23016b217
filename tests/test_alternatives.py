"""Models that are as good: data, words and figures."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier, load, save
from mltsk.exceptions import InputError


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 300
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n).astype(float),
            "noise": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "ward": rng.choice(["a", "b", "c"], n),
        }
    )
    strength = 0.08 * (X.age - 55) + 1.5 * (X.ward == "a")
    Y = pd.DataFrame({"fever": (strength + rng.normal(size=n) > 0).astype(int)})
    Y["gout"] = (rng.random(n) < 0.3).astype(int)
    return X, Y


@pytest.fixture(scope="module")
def clf(table):
    return MLTSKClassifier(n_rules=0).fit(*table)


def test_effects_are_those_of_the_model_in_log_odds(clf, table):
    effects = clf.alternatives("fever").to_frame().set_index("contrast")
    X = table[0].iloc[[0, 0]].copy()
    age = effects[effects["feature"] == "age"].iloc[0]
    low, high = (float(word) for word in age.name.split()[1::2])
    X["age"] = [low, high]
    added = np.diff(clf.decision_function(X)[:, 0])
    assert_allclose(added, age["effect"], atol=1e-9)
    assert age["low"] < age["effect"] < age["high"]


def test_noise_may_be_left_out_and_what_matters_may_not(clf):
    effects = clf.alternatives("fever").to_frame().set_index("feature")
    assert not effects.loc["age", "may_be_left_out"]
    assert effects.loc["age", "low"] > 0
    assert effects.loc["noise", "may_be_left_out"]
    assert effects.loc["noise", "may_turn"]


def test_effects_of_stages_are_told_between_stages():
    rng = np.random.default_rng(0)
    stage = rng.permutation(np.repeat([1.0, 2.0, 3.0, 4.0], [15, 85, 100, 100]))
    y = (stage + rng.normal(size=300) > 2.5).astype(int)
    clf = MLTSKClassifier(n_rules=0).fit(pd.DataFrame({"stage": stage}), y)
    (effect,) = clf.alternatives(clf.label_names_[0]).effects
    assert effect.contrast == "from 2 to 4"
    assert 1 < clf.system_.quantiles[0, 1] < 2
    assert_allclose(
        effect.effect,
        np.diff(clf.decision_function(pd.DataFrame({"stage": [2.0, 4.0]})), axis=0)[0],
    )


def test_words_say_what_the_data_do_not(clf):
    text = str(clf.alternatives("fever"))
    assert "The data do not say whether noise matters for fever" in text
    assert "age raises fever" in text


def test_values_of_a_feature_that_may_be_left_out_are_one_sentence(clf):
    lines = str(clf.alternatives("gout")).splitlines()
    told = [line for line in lines if "ward" in line]
    assert len(told) == 1
    assert all(f"{value} between" in told[0] for value in "abc")


def test_a_feature_that_acts_in_pairs_alone_may_not_be_left_out():
    """Its curve is nothing, but no model without its pair is as good."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(600, 3)), columns=["a", "b", "noise"])
    y = (X.a * X.b + 0.5 * rng.normal(size=600) > 0.3).astype(int)
    clf = MLTSKClassifier(n_rules=0, n_pairs=1).fit(X, y)
    assert str(next(iter(clf.pairs_))).startswith("a and b")
    ranges = clf.alternatives(clf.label_names_[0], tolerance=0.02)
    effects = ranges.to_frame().set_index("feature")
    assert abs(effects["effect"]["a"]) < 1
    assert effects["may_be_left_out"].to_dict() == {
        "a": False,
        "b": False,
        "noise": True,
    }
    assert "What pairs of features add comes on top" in str(ranges)


def test_a_feature_of_a_given_rule_may_not_be_left_out(table):
    X, _ = table
    old = (X["age"] > 60) & (X["ward"] == "a")
    y = (old ^ (np.random.default_rng(1).random(len(X)) < 0.1)).astype(int)
    rules = [{"age": [60, None], "ward": "a"}]
    clf = MLTSKClassifier(n_rules=0, n_pairs=0).fit(X, y, rules=rules)
    ranges = clf.alternatives(clf.label_names_[0]).to_frame()
    costs = ranges.groupby("feature")["cost_without"].first()
    assert costs["age"] > 0.2
    assert costs["ward"] > 0.2


def test_sampled_models_differ_in_one_label_alone(clf, table):
    X, _ = table
    first, second = clf.alternatives("fever", tolerance=0.05).sample(2)
    p = clf.predict_proba(X)
    assert np.abs(first.predict_proba(X)[:, 0] - p[:, 0]).max() > 1e-3
    assert_allclose(first.predict_proba(X)[:, 1], p[:, 1])
    assert np.abs(first.predict_proba(X) - second.predict_proba(X)).max() > 1e-4


def test_alternatives_of_a_file_are_those_of_its_sums(clf, tmp_path):
    loaded = load(save(clf, tmp_path / "model.skops", keep_sums=True))
    one, other = clf.alternatives("gout"), loaded.alternatives("gout")
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame())


def test_band_holds_the_curve(clf):
    band = clf.alternatives("fever").band("age", [30, 50, 70])
    assert (band["low"] < band["effect"]).all()
    assert (band["effect"] < band["high"]).all()


def title_of(ax):
    return ax.get_title() + ax.get_title(loc="left")


def test_plot_has_a_panel_per_feature(clf):
    pytest.importorskip("matplotlib")
    figure = clf.alternatives("fever").plot(top=2)
    assert sum("fever by" in title_of(ax) for ax in figure.axes) == 2


@pytest.mark.parametrize(
    ("label", "tolerance", "says"),
    [
        ("fevr", 0.01, "did you mean 'fever'"),
        ("fever", 0, "above 0"),
        ("fever", "1 %", "above 0"),
    ],
)
def test_alternatives_refuse_what_they_do_not_know(clf, label, tolerance, says):
    with pytest.raises(InputError, match=says):
        clf.alternatives(label, tolerance)


def test_alternatives_refuse_short_and_corrected_models(clf):
    with pytest.raises(InputError, match="ask the long model"):
        clf.shorten(3).alternatives("fever")
    with pytest.raises(InputError, match="corrected from"):
        clf.constrained(monotonic_cst={"age": 1}).alternatives("fever")
    with pytest.raises(InputError, match="nominal"):
        clf.alternatives("fever").band("ward", [0.0])


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda ranges: ranges.band("age", ["old"]), "list of finite numbers"),
        (lambda ranges: ranges.band("age", [np.nan]), "list of finite numbers"),
        (lambda ranges: ranges.band("age", 5), "list of finite numbers"),
        (lambda ranges: ranges.sample(-1), "n_models must be 1 or more"),
        (lambda ranges: ranges.plot(top=0), "top must be 1 or more"),
    ],
)
def test_ranges_refuse_wrong_questions_with_a_sentence(clf, ask, says):
    with pytest.raises(InputError, match=says):
        ask(clf.alternatives("fever"))


def test_two_values_are_no_curve(table):
    X, Y = table
    clf = MLTSKClassifier(n_rules=0).fit(X.assign(old=X["age"] > 60), Y)
    with pytest.raises(InputError, match="'old' is nominal"):
        clf.alternatives("fever").band("old", [1.0])
