import numpy as np

from mltsk.paper.experiments.studies.sensitivity import PAPER_VALUES


def test_the_45_values_of_the_paper():
    assert len(PAPER_VALUES) == 45
    assert PAPER_VALUES[:2] == (0.01, 0.02)
    assert PAPER_VALUES[8:11] == (0.09, 0.1, 0.2)
    assert PAPER_VALUES[-1] == 900


def test_both_methods_move_both_weights(found):
    result = found["sensitivity"]
    for method in ("paper", "ours"):
        for symbol in ("alpha", "beta"):
            assert np.shape(result[method][symbol]["mean"]) == (
                len(result["values"]),
                5,
            )


def test_an_overwhelming_l1_term_leaves_base_rates_to_ours_and_nothing_to_the_paper(
    found,
):
    paper, ours = (
        found["sensitivity"][method]["beta"]["mean"][-1][0]
        for method in ("paper", "ours")
    )
    assert ours > paper


def test_a_value_for_every_number_of_rules(found):
    for curve in (found["rules"]["paper"], found["rules"]["ours"]):
        assert len(curve["mean"]) == len(curve["sd"]) == len(curve["n_rules"])


def test_one_rule_has_no_distinctness_and_more_have(found):
    assert found["rules"]["paper"]["distinctness"][0] is None
    assert all(0 < value <= 1 for value in found["rules"]["paper"]["distinctness"][1:])
