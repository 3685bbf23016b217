"""The rule base: a sequence of rules, narrowed down, as data and as text."""

import json
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mltsk import MLTSKClassifier
from mltsk.core.terms import Terms
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.explain import GeneralRule, RuleBase, rule_base
from mltsk.explain.effects import Effects

from .conftest import CATEGORIES, FEATURES, LABELS, SCALES

KINDS = [{}, {"order": 1}, {"K": 0}, {"general": False, "order": 1}]


# the sequence -------------------------------------------------------------------------


def test_rule_base_is_a_sequence_of_the_general_rule_and_exceptions(make_system):
    rules = rule_base(make_system())
    assert len(rules) == len(list(rules)) == 4
    general, *exceptions = rules
    assert isinstance(general, GeneralRule)
    assert [consequent.label for consequent in general.consequents] == list(LABELS)
    assert [rule.index for rule in exceptions] == [0, 1, 2]
    assert [rule.index for rule in rules.exceptions] == [0, 1, 2]
    assert str(rules[-1]) == str(rules[3]) == str(rules.exceptions[2])
    with pytest.raises(IndexError):
        rules[4]


def test_len_of_a_rule_base_counts_a_general_rule_alone(make_system):
    rules = rule_base(make_system(K=0))
    assert len(rules) == len(list(rules)) == 1
    assert len(rules.exceptions) == 0


def test_len_of_a_rule_base_without_a_general_rule_counts_its_rules(make_system):
    rules = rule_base(make_system(general=False))
    assert len(rules) == len(rules.exceptions) == 3
    assert len(rules.general) == 0


def test_slices_of_a_rule_base_are_rule_bases_with_fewer_rules(make_system):
    rules = rule_base(make_system())
    first = rules[:2]
    assert isinstance(first, RuleBase)
    assert [rule.index for rule in first.exceptions] == [0]
    assert str(first[0]) == str(rules[0])
    assert "In general" in str(first)
    last = rules[2:]
    assert [rule.index for rule in last.exceptions] == [1, 2]
    assert len(last.general) == 0
    assert str(last).startswith("2 exceptions on 4 features for 2 labels. Each adds")


def test_for_label_and_for_feature_leave_out_everything_else(make_system):
    rules = rule_base(make_system())
    narrow = rules.for_label("asthma").for_feature("age", "ward")
    assert narrow.label_names == ("asthma",)
    assert narrow.feature_names == ("age", "ward")
    shapes = narrow.general[0].shapes
    assert {shape.feature for shape in shapes} == {"age", "ward"}
    consequents = narrow.exceptions[0].consequents
    assert [consequent.label for consequent in consequents] == ["asthma"]
    assert "gout" not in rules.to_text(label="asthma")


def test_for_label_and_for_feature_refuse_unknown_names(make_system):
    rules = rule_base(make_system())
    with pytest.raises(
        InputError, match="no feature called 'glucos': did you mean 'glucose'"
    ):
        rules.for_feature("glucos")
    with pytest.raises(
        InputError, match="no feature called 'zzz': the first of 4 is 'age'"
    ):
        rules.for_feature("zzz")
    with pytest.raises(
        InputError, match="no label called 'astma': did you mean 'asthma'"
    ):
        rules.for_label("astma")
    with pytest.raises(InputError, match="at least one label"):
        rules.for_label()


# as text ------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", KINDS)
def test_rule_base_prints_the_callers_names(make_system, scale, kind):
    rules = rule_base(make_system(scale, categories=CATEGORIES, **kind))
    for text in (str(rules), rules.to_markdown(), rules.to_html()):
        assert all(name in text for name in FEATURES + LABELS)
        assert text.count("governs") == len(rules.exceptions)
    assert json.loads(rules.to_json()) == rules.to_dict()


def test_to_text_prints_a_model_of_few_statements_whole(make_system):
    assert "These 14 statements cover the whole model." in str(rule_base(make_system()))


def test_to_text_prints_a_shortened_classifier_whole():
    data = make_multilabel_rules(n_samples=200, random_state=0)
    clf = MLTSKClassifier().fit(*data.frames()).shorten(max_statements=12)
    n_statements = 0
    for consequent in clf.rules_.general:
        n_statements += len(consequent.shapes)
    for rule in clf.rules_.exceptions:
        n_statements += len(rule.consequents)
    coverage = f"These {n_statements} statements cover the whole model."
    assert coverage in str(clf.rules_)
    assert n_statements <= clf.n_statements_.sum()


def test_to_text_says_how_much_of_the_model_it_shows(make_system):
    rules = rule_base(make_system())
    effects = rules.effects
    largest = np.abs(effects.shifts).argmax(axis=1)
    shown = effects.sizes.max(axis=0).sum()
    shown += effects.shift_sizes[range(3), largest].sum()
    share = 100 * shown / (effects.sizes.sum() + effects.shift_sizes.sum())
    coverage = f"These 5 statements carry {share:.0f} % of what the model does."
    assert coverage in rules.to_text(top=1)


def test_to_text_makes_the_largest_statements_of_a_large_model_only(
    make_system, monkeypatch
):
    X = np.random.default_rng(0).normal(size=(30, 300))
    features = [f"f{d}" for d in range(300)]
    labels = [f"l{j}" for j in range(60)]
    rules = rule_base(make_system(K=25, X=X, features=features, labels=labels))
    effect = Effects.effect
    calls = []

    def counted(self, *args):
        calls.append(args)
        return effect(self, *args)

    monkeypatch.setattr(Effects, "effect", counted)
    text = str(rules)
    assert "and 40 more labels, which for_label shows" in text
    assert "and 5 more exceptions" in text
    assert len(calls) <= 2 * 20 * 5


def test_to_text_has_twenty_of_very_many_labels_unless_more_are_asked_for(make_system):
    labels = [f"l{j}" for j in range(501)]
    rules = rule_base(make_system(K=0, labels=labels))
    text = rules.to_text()
    assert text.count(" on average") == 20
    assert "and 481 more labels, which for_label or max_labels=501 shows" in text
    assert rules.to_text(max_labels=30).count(" on average") == 30
    assert rules.to_text(max_labels=501).count(" on average") == 501
    few = rules.for_label(*labels[1:])
    assert few.to_text().count(" on average") == 500


def test_to_text_has_the_labels_that_a_model_moves_most(make_system):
    labels = [f"l{j}" for j in range(501)]
    system = make_system(K=0, labels=labels)
    moved = replace(system, term_coef=system.term_coef * (1 + np.arange(501) % 7))
    sizes = Effects(moved).sizes.sum(axis=0)
    text = rule_base(moved).to_text(max_labels=3)
    for j in np.argsort(-sizes)[:3]:
        assert f"l{j}: " in text


def test_to_text_looks_up_memberships_once_for_all_labels(make_system, monkeypatch):
    rules = rule_base(make_system(K=0, labels=[f"l{j}" for j in range(40)]))
    memberships = Terms.memberships
    calls = []

    def counted(self, *args):
        calls.append(args)
        return memberships(self, *args)

    monkeypatch.setattr(Terms, "memberships", counted)
    assert "cover the whole model" in str(rules)
    assert len(calls) <= 1 + 4  # on the grid, and for each feature


def test_legend_says_that_there_are_no_exceptions(make_system):
    legend = rule_base(make_system(K=0)).legend()
    assert "this table needs no exceptions" in legend[0]


def test_legend_says_that_there_is_no_general_rule(make_system):
    system = make_system("minmax", order=1, general=False, firing="authors")
    text = str(rule_base(system))
    assert text.startswith("3 rules on 4 features for 2 labels. Each adds what it says")
    assert "Rule 1 — governs" in text
    assert "In general" not in text


def test_legend_tells_thresholds_as_one_or_by_label(make_system):
    assert "where its score reaches 0.5." in rule_base(make_system()).legend()[0]
    likely = make_system(thresholds=np.zeros(2), has_log_odds=True)
    assert "where its probability reaches 50 %." in rule_base(likely).legend()[0]
    system = make_system(thresholds=np.array([0.7, 0.2]))
    assert "its threshold: gout 0.7, asthma 0.2." in rule_base(system).legend()[0]


def test_legend_of_a_short_model_says_what_its_numbers_mean():
    data = make_multilabel_rules(n_samples=200, random_state=0)
    clf = MLTSKClassifier(n_rules=0, max_statements=3).fit(*data.frames())
    legend = clf.rules_.legend()
    assert "Log-odds start at the number after a label." in legend[1]
    assert legend[-1] == (
        "± is a 95 % interval. '15 of 16' means: of 16 fits, each to a random half of "
        "the table, 15 chose the feature again, with the same effect."
    )


def test_legend_of_a_short_model_names_the_rare_values_that_are_told_as_one():
    rng = np.random.default_rng(0)
    share = [0.5, 0.48, 0.005, 0.005, 0.005, 0.005]
    ward = rng.choice(list("abcdef"), p=share, size=900)
    X = pd.DataFrame({"ward": ward, "age": rng.normal(size=900)})
    Y = np.stack([X["ward"] > "b", X["age"] > 0], axis=1).astype(int)
    rules = MLTSKClassifier(n_rules=0, n_pairs=0, max_statements=4).fit(X, Y).rules_
    (rare,) = rules.system.columns.rare[:1]
    assert len(rare) > 1
    told = f"{', '.join(rare[:-1])} and {rare[-1]}"
    assert f"other of ward stands for {told}." in rules.legend()


def test_to_html_keeps_names_as_text(make_system):
    evil = ("<script>alert(1)</script>", "a&b", '"q"', "ward")
    page = rule_base(make_system(features=evil, labels=("<b>", "x")))._repr_html_()
    assert "<script" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;" in page


# as data ------------------------------------------------------------------------------


def test_to_frame_has_one_row_for_each_statement(make_system):
    system = make_system(order=1)
    rules = rule_base(system)
    frame = rules.to_frame()
    counts = {"then": system.coef.size, "if": 12, "general": 8}
    assert frame.part.value_counts().to_dict() == counts
    assert set(frame.feature.dropna()) == set(FEATURES)
    assert set(rules.for_label("gout").to_frame("then").label) == {"gout"}
    with pytest.raises(InputError, match="'if', 'then' or None"):
        rules.to_frame("when")


def test_to_frame_without_pandas_says_the_install_command(make_system, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'^pip install "mltsk\[data\]"$'):
        rule_base(make_system()).to_frame()


def test_to_dict_of_single_precision_reads_as_plain_numbers(make_system):
    system = make_system("standard", order=1)
    names = ("coef", "term_coef", "centers", "widths")
    single = {name: np.float32(getattr(system, name)) for name in names}
    rules = rule_base(replace(system, **single))
    assert json.loads(rules.to_json()) == rules.to_dict()


def test_to_frame_and_to_json_carry_the_values_of_a_table(table):
    rules = MLTSKClassifier(n_rules=3).fit(*table).rules_
    frame = rules.to_frame("general").set_index(["label", "feature", "kind"])
    values = frame.loc[("copd", "smoker", "varies"), "values"]
    assert set(values) == {"never", "former", "daily", "other"}
    names = set()
    for shape in json.loads(rules.to_json())["general"][0]["shapes"]:
        if shape["feature"] == "smoker":
            names.update(shape["names"])
    assert {"never", "daily"} < names
    for text in (rules.to_markdown(), rules.to_html(), str(rules)):
        assert "smoker = daily: +" in text


def test_rules_of_a_model_that_says_nothing_say_so():
    X = pd.DataFrame({"age": np.arange(40.0)})
    clf = MLTSKClassifier(n_rules=0, max_statements=3).fit(
        X, pd.DataFrame({"ill": np.ones(40)})
    )
    text = " ".join(str(clf.rules_).split())
    assert "No rule on 1 feature for 1 label: every sample has the same" in text
    assert "There is no statement: the model adds nothing to its start." in text
    assert "0 rules" not in text
