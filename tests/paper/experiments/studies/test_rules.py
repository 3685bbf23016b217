import json

import pandas as pd

from mltsk.paper.experiments.studies import best_by_rules


def test_a_value_for_every_number_of_rules(found):
    for curve in (found["rules"]["paper"], found["rules"]["ours"]):
        assert len(curve["mean"]) == len(curve["sd"]) == len(curve["distinctness"]) == len(curve["n_rules"])


def test_one_rule_has_no_distinctness_and_more_have(found):
    assert found["rules"]["ours"]["distinctness"][0] is None
    assert all(0 < value <= 1 for value in found["rules"]["ours"]["distinctness"][1:])


def scores_frame():
    rows = []
    for K, alpha, APs in ((1, 1, (0.5, 0.7)), (1, 2, (0.7, 0.7)), (2, 1, (0.9, 0.1))):
        setting = json.dumps({"correlation_weight": alpha, "n_rules": K})
        rows += [
            {"protocol": "paper", "dataset": "toy", "method": "ml-tsk-fs", "fold": f, "setting": setting, "AP": AP}
            for f, AP in enumerate(APs)
        ]
    return pd.DataFrame([*rows, {**rows[0], "method": "br", "AP": 1.0}, {**rows[0], "protocol": "strict", "AP": 1.0}])


def test_the_best_setting_of_each_number_of_rules_is_read_off_a_grid_search():
    curve = best_by_rules(scores_frame())["toy"]
    assert curve["n_rules"] == [1, 2]
    assert curve["AP"] == [0.7, 0.5]
    assert json.loads(curve["settings"][0])["correlation_weight"] == 2
