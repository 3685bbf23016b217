"""Fig. 6 and 7: number of rules, and weights."""

import numpy as np

from mltsk.paper.experiments.studies.sensitivity import PAPER_VALUES


def test_paper_values_are_the_45_of_the_paper():
    assert len(PAPER_VALUES) == 45
    assert PAPER_VALUES[:2] == (0.01, 0.02)
    assert PAPER_VALUES[8:11] == (0.09, 0.1, 0.2)
    assert PAPER_VALUES[-1] == 900


def test_weights_study_moves_both_weights_of_both_methods(found):
    result = found["sensitivity"]
    for method in ("paper", "ours"):
        for symbol in ("alpha", "beta"):
            means = result[method][symbol]["mean"]
            assert np.shape(means) == (len(result["values"]), 5)


def test_weights_study_leaves_base_rates_to_ours_under_an_overwhelming_l1_term(
    found,
):
    result = found["sensitivity"]
    paper_ap = result["paper"]["beta"]["mean"][-1][0]
    our_ap = result["ours"]["beta"]["mean"][-1][0]
    assert our_ap > paper_ap


def test_rules_study_has_a_value_for_every_number_of_rules(found):
    for curve in (found["rules"]["paper"], found["rules"]["ours"]):
        assert len(curve["mean"]) == len(curve["sd"]) == len(curve["n_rules"])


def test_rules_study_has_no_distinctness_of_one_rule(found):
    assert found["rules"]["paper"]["distinctness"][0] is None
    assert all(0 < value <= 1 for value in found["rules"]["paper"]["distinctness"][1:])
