import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk.exceptions import InputError
from mltsk.explain import explain, rule_base

from .conftest import FEATURES


def test_a_frame_has_one_row_for_each_number(make_system):
    system = make_system("quantile")
    frame = rule_base(system).to_frame()
    assert (frame.part == "if").sum() == 3 * 4
    assert (frame.part == "then").sum() == np.count_nonzero(system.coef[:, 1:]) + 3 * 2
    assert set(frame.feature.dropna()) == set(FEATURES)


@pytest.mark.parametrize("scale", ["quantile", "standard", None, "unit"])
def test_the_frame_agrees_with_the_rules(make_system, scale):
    rules = rule_base(make_system(scale)).for_label("asthma")
    then = rules.to_frame("then")
    terms = {(r.index, t.feature): t for r in rules for t in r.consequents[0].terms}
    rows = then[then.feature.notna()]
    assert {(row.rule, row.feature): row.weight for row in rows.itertuples()} == {k: t.weight for k, t in terms.items()}
    assert {row.per for row in rows.itertuples()} == {t.per for t in terms.values()}
    intercepts = then[then.feature.isna()].set_index("rule").weight
    assert_allclose(intercepts, [r.consequents[0].intercept for r in rules])


def test_the_if_side_alone(make_system):
    frame = rule_base(make_system("standard")).for_feature("age").to_frame("if")
    assert frame.feature.tolist() == ["age"] * 3
    assert_allclose(frame.share, [1 / 6, 2 / 6, 3 / 6])
    assert (frame.low < frame.center).all()


def test_an_unknown_part_is_refused(make_system):
    with pytest.raises(InputError, match="'if', 'then' or None"):
        rule_base(make_system(None)).to_frame("when")


def test_without_pandas_the_message_is_the_install_command(make_system, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'^pip install "mltsk\[data\]"$'):
        rule_base(make_system(None)).to_frame()


def test_an_explanation_adds_up_in_its_frame(make_system, X):
    why = explain(make_system("quantile"), X[:5])[2:]
    frame = why.to_frame()
    for parts in (["rule"], ["base", "feature"]):
        sums = frame[frame.part.isin(parts)].groupby(["sample", "label"]).contribution.sum().unstack()
        assert sums.index.tolist() == [2, 3, 4]
        assert_allclose(sums[list(why.label_names)], why.scores)
