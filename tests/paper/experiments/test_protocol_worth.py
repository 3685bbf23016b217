"""The same method under several protocols."""

import pytest

from mltsk.paper.experiments.protocol_worth import pairs_of, protocol_table, worth_table, worths


def test_each_step_has_its_worth(make_results):
    results = make_results(protocols=["nested", "strict", "paper"])  # made up: each .02 worse than the one before it
    table = protocol_table(results)
    assert table.columns[:3] == ("paper", "strict", "nested")
    assert table.columns[3:] == ("leak: paper − strict", "selection: strict − nested", "both: paper − nested")
    assert [cell.value for cell in table.rows[0].cells[3:]] == pytest.approx([-0.02, -0.02, -0.04])


def test_losses_are_turned_round(make_results):
    results = make_results(protocols=["paper", "strict"])
    gains = worths(results, ("paper", "strict"))
    br = {metric: rows["gain"].tolist() for metric, rows in gains[gains["method"] == "br"].groupby("metric")}
    assert br["AP"] == pytest.approx([0.02] * 3)
    assert br["HL"] == pytest.approx([0.02] * 3)  # a loss that is .02 smaller looks better as well


def test_means_count_finished_sets_only(make_results, failed_cell):
    results = make_results(protocols=["paper", "strict"], cells=[failed_cell("yeast", "br", 0)])
    table = worth_table(results)
    texts = {row.heads[1]: row.cells[0].text for row in table.rows}
    assert texts["BR"] == "+0.020 (2)"
    assert texts["ML-TSK FS"] == "+0.020 (3)"


def test_one_protocol_has_nothing_beside_it(make_results):
    results = make_results()
    assert pairs_of(results) == []
    assert protocol_table(results) is None
    assert worth_table(results) is None
