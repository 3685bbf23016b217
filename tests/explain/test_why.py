import json

import pytest

from mltsk.explain.why import FeaturePart, RulePart, Why, why_text


@pytest.fixture
def why():
    features = (FeaturePart("glucose", 8.1, 0.83, None, 0.3), FeaturePart("ward", 5.0, 0.9, "west", -0.1))
    return Why(4, "gout", 0.7, 0.5, (RulePart(2, 0.8, 0.6), RulePart(0, 0.2, 0.1)), 0.5, features)


def test_a_ledger_reads_in_the_callers_words(why):
    assert str(why).splitlines() == [
        "gout: 0.700, given (threshold 0.5)",
        "  by rule",
        "    +0.600  Rule 3, with a share of 80 %",
        "    +0.100  Rule 1, with a share of 20 %",
        "  by feature",
        "    +0.500  base of these rules",
        "    +0.300  glucose is very high (8.1, top 17 %)",
        "    -0.100  ward is west",
    ]


def test_what_is_left_out_is_summed(why):
    text = why_text(why, 1)
    assert "    +0.100  1 other rule, with 20 %" in text
    assert "    -0.100  1 smaller one" in text


def test_a_score_at_its_threshold_is_given(why):
    assert why.given
    assert Why(0, "gout", 0.5, 0.5, (), 0.5, ()).given
    assert "not given" in str(Why(0, "gout", 0.4, 0.5, (), 0.4, ()))


def test_a_sparse_feature_is_told_by_its_value():
    assert str(FeaturePart("oil", 3.0, None, None, 0.1)) == "oil is 3"


def test_plain_data(why):
    plain = json.loads(json.dumps(why.to_dict(top=1)))
    assert [part["feature"] for part in plain["features"]] == ["glucose"]
    assert plain["given"] is True
    assert plain["rules"][0] == {"index": 2, "firing": 0.8, "contribution": 0.6}
