"""Tables I to V: values of ours next to the paper's, and what stands where there are none."""

import pytest

from mltsk.exceptions import InputError
from mltsk.paper.experiments.tables import (
    protocol_table,
    result_table,
    table_one,
    table_two,
    time_table,
    worth_table,
)


def cell_of(table, dataset, metric, column):
    row = next(row for row in table.rows if row.heads == (dataset, metric))
    return row.cells[table.columns.index(column)]


def make(results, number="III", protocol="paper"):
    return result_table(results, number, protocol)


def test_a_cell_has_ours_the_paper_s_and_the_difference(make_results):
    cell = cell_of(make(make_results()), "Emotions", "AP", "BR")
    assert cell.text == "0.800 (0.007)"
    assert cell.value == pytest.approx(0.80)
    assert cell.paper == "0.80 (0.01)"
    assert cell.difference == pytest.approx(0.0)
    assert cell.facts["setting"] == '{"C": 0.5}'


def test_the_best_of_a_row_is_bold_by_the_direction_of_its_metric(make_results):
    table = make(make_results())
    for metric in ("AP", "HL"):
        row = next(row for row in table.rows if row.heads == ("Emotions", metric))
        assert [name for name, cell in zip(table.columns, row.cells, strict=True) if cell.bold] == ["ML-TSK FS"]


def test_equal_values_are_all_bold(make_results):
    row = next(row for row in make(make_results()).rows if row.heads == ("Flags", "AP"))
    assert [cell.bold for cell in row.cells] == [True, False, True, False]  # MLSF and ML-TSK FS print .82


def test_ties_win_nothing(make_results):
    results = make_results(datasets=("emotions",))
    results.scores.loc[results.scores["method"] == "br", ["OE", "tied"]] = [0.0, 0.6]
    row = next(row for row in make(results, "V").rows if row.heads == ("Emotions", "OE"))
    assert [cell.bold for cell in row.cells] == [False, False, True, False]


def test_strangers_have_no_paper_s_value(make_results):
    table = make(make_results(datasets=("emotions", "mine")))
    assert cell_of(table, "Emotions", "AP", "our default").paper == ""
    assert cell_of(table, "Mine", "AP", "BR").paper == ""
    assert cell_of(table, "Mine", "AP", "BR").value == pytest.approx(0.5)


def test_printed_cells_that_cannot_be_compared_say_why(make_results):
    table = make(make_results(), "IV")
    cell = cell_of(table, "Yeast", "AP", "MLSF")
    assert ["all-zero score matrix" in table.notes[mark] for mark in cell.paper_notes] == [True]
    assert cell_of(table, "Yeast", "AP", "BR").paper_notes == ()


def test_failed_and_unfinished_cells(make_results, make_row, failed_cell):
    row = make_row("paper", "flags", "br", 0, '{"C": 0.5}', [0.8, 0.3, 0.2, 0.2, 0.5])
    cells = [failed_cell("flags", "mlsf", 0, "ValueError: x<0"), failed_cell("flags", "mlsf", 1)]
    table = make(make_results([row], cells=cells, datasets=("flags",)))
    assert cell_of(table, "Flags", "AP", "ML-TSK FS").text == "—"
    assert cell_of(table, "Flags", "AP", "MLSF").text == "failed"
    assert [table.notes[m] for m in cell_of(table, "Flags", "AP", "MLSF").notes] == [
        "2 of 2 folds failed: ValueError: x<0"
    ]
    half = cell_of(table, "Flags", "AP", "BR")
    assert (half.text, half.bold) == ("0.800", False)
    assert [table.notes[m] for m in half.notes] == ["1 of 2 folds so far.", "Chosen among 1 of 2 settings."]


def test_degenerate_choices_of_ours_are_marked(make_results, make_row):
    rows = [make_row("paper", "flags", "br", f, "{}", [0.5, 0.48, 0.0, 1.0, 0.6], tied=1.0) for f in range(2)]
    rows += [make_row("paper", "flags", "mlsf", f, "{}", [0.8, 0.3, 0.1, 0.2, 0.5], tied=0.2) for f in range(2)]
    table = make(make_results(rows, datasets=("flags",)), "V")
    assert "100 % of test rows" in table.notes[cell_of(table, "Flags", "OE", "BR").notes[-1]]
    assert "20 % of test rows" in table.notes[cell_of(table, "Flags", "OE", "MLSF").notes[-1]]
    assert not any("20 %" in table.notes[m] for m in cell_of(table, "Flags", "RL", "MLSF").notes)


def test_each_table_chooses_by_its_own_rule(make_results, make_row):
    rows = [make_row("paper", "flags", "br", f, s, v) for f in range(2) for s, v in
            (("{\"C\": 0.5}", [0.8, 0.3, 0.2, 0.2, 0.5]), ("{\"C\": 2.0}", [0.7, 0.2, 0.1, 0.2, 0.5]))]  # fmt: skip
    results = make_results(rows, datasets=("flags",))
    found = {n: [cell_of(make(results, n), "Flags", m, "BR").value for m in ("AP", "HL")] for n in ("III", "IV", "V")}
    assert found == {"III": [0.8, 0.3], "IV": [0.7, 0.2], "V": [0.8, 0.2]}


def test_captions_say_what_flatters_and_what_is_missing(make_results):
    results = make_results(protocols=["paper", "nested"], missing={"mirflickr": "no file"}, seeds=[0])
    assert "flatter" in make(results).caption
    assert "flatter" not in make(results, protocol="nested").caption
    assert "Not run: mirflickr" in make(results).caption
    assert "differences are partly of definition" in make(make_results(convention="standard")).caption


def test_table_one_has_shapes_and_names_what_is_missing(make_results):
    table = table_one(make_results(datasets=("yeast", "mine"), missing={"mirflickr": "no file of it"}))
    assert [row.heads[0] for row in table.rows] == ["Yeast", "Mine", "mirflickr"]
    assert [cell.paper_value for cell in table.rows[0].cells[:3]] == [2417, 103, 14]
    assert [cell.paper for cell in table.rows[0].cells[:3]] == ["", "", ""]  # nothing to say where they agree
    assert table.rows[1].cells[0].paper == ""
    gone = table.rows[2].cells[0]
    assert (gone.text, gone.paper, table.notes[gone.notes[0]]) == ("not run", "25,000", "Not run: no file of it")


def test_table_two_counts_settings(make_results):
    table = table_two(make_results())
    rows = {row.heads[0]: row.cells for row in table.rows}
    assert rows["ML-TSK FS"][0].text == "K ∈ {1, 2}"
    assert (rows["ML-TSK FS"][3].value, rows["ML-TSK FS"][3].paper) == (2, "4,000")
    assert rows["our default"][0].text == "nothing is tuned"
    assert rows["our default"][3].paper == ""


def test_other_tables_are_refused(make_results):
    with pytest.raises(InputError, match="III, IV and V, not 'VI'"):
        make(make_results(), "VI")


def test_parts_and_folds_are_added_up(make_results, failed_cell):
    cells = [failed_cell("yeast", "br", 0), failed_cell("yeast", "br", 1)]  # a second each
    table = time_table(make_results(cells=cells))
    row = next(row for row in table.rows if row.heads == ("protocol paper", "Yeast"))
    assert [cell.text for cell in row.cells] == ["—", "2.0", "—", "—"]
    assert table.caption.endswith("2.0 s in all.")


def test_nothing_was_spent_on_nothing(make_results):
    assert time_table(make_results()) is None


def test_each_step_has_its_worth(make_results):
    results = make_results(protocols=["nested", "strict", "paper"])  # made up: each .02 worse than the one before it
    table = protocol_table(results)
    assert table.columns[:3] == ("paper", "strict", "nested")
    assert table.columns[3:] == ("leak: paper − strict", "selection: strict − nested", "both: paper − nested")
    assert [cell.value for cell in table.rows[0].cells[3:]] == pytest.approx([-0.02, -0.02, -0.04])


def test_means_count_finished_sets_only(make_results, failed_cell):
    results = make_results(protocols=["paper", "strict"], cells=[failed_cell("yeast", "br", 0)])
    table = worth_table(results)
    texts = {row.heads[1]: row.cells[0].text for row in table.rows}
    assert texts["BR"] == "+0.020 (2)"
    assert texts["ML-TSK FS"] == "+0.020 (3)"


def test_one_protocol_has_nothing_beside_it(make_results):
    results = make_results()
    assert results.protocol_pairs == []
    assert protocol_table(results) is None
    assert worth_table(results) is None
