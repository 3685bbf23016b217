def test_a_value_for_every_number_of_rules(found):
    for curve in (found["rules"]["paper"], found["rules"]["ours"]):
        assert len(curve["mean"]) == len(curve["sd"]) == len(curve["n_rules"])


def test_one_rule_has_no_distinctness_and_more_have(found):
    assert found["rules"]["paper"]["distinctness"][0] is None
    assert all(0 < value <= 1 for value in found["rules"]["paper"]["distinctness"][1:])
