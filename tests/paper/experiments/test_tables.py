"""Tables: our values next to the paper's, and what stands where there are none."""

import pytest

from mltsk.paper.experiments.tables import (
    TableCell,
    ap_table,
    mean_text,
    protocol_table,
    readings_table,
    result_table,
    signed,
    table_one,
    table_two,
    time_table,
    worth_table,
)


def row_of(table, *heads):
    return next(row for row in table.rows if row.heads == heads)


def cell_of(table, dataset, metric, column):
    return row_of(table, dataset, metric).cells[table.columns.index(column)]


def notes_of(table, cell):
    return [table.notes[mark] for mark in cell.notes]


def test_a_cell_of_result_table_has_ours_the_paper_s_and_the_difference(make_results):
    table = result_table(make_results(), "III", "paper")
    cell = cell_of(table, "Emotions", "AP", "BR")
    assert cell.text == "0.800 (0.007)"
    assert cell.value == pytest.approx(0.80)
    assert cell.paper == "0.80 (0.01)"
    assert cell.difference == pytest.approx(0.0)
    assert cell.facts["setting"] == '{"C": 0.5}'


@pytest.mark.parametrize("metric", ["AP", "HL"])
def test_result_table_has_the_best_of_a_row_bold_by_the_direction_of_its_metric(
    make_results, metric
):
    table = result_table(make_results(), "III", "paper")
    row = row_of(table, "Emotions", metric)
    is_bold = [cell.bold for cell in row.cells]
    assert is_bold == [name == "ML-TSK FS" for name in table.columns]


def test_result_table_has_equal_values_all_bold(make_results):
    row = row_of(result_table(make_results(), "III", "paper"), "Flags", "AP")
    # MLSF and ML-TSK FS, which stands first, print .82
    assert [cell.bold for cell in row.cells] == [True, True, False, False]


def test_ties_win_nothing_in_result_table(make_results):
    results = make_results(datasets=("emotions",))
    results.scores.loc[results.scores["method"] == "br", ["OE", "tied"]] = [0.0, 0.6]
    row = row_of(result_table(results, "V", "paper"), "Emotions", "OE")
    assert [cell.bold for cell in row.cells] == [True, False, False, False]


def test_strangers_have_no_paper_s_value_in_result_table(make_results):
    results = make_results(datasets=("emotions", "mine"))
    table = result_table(results, "III", "paper")
    assert cell_of(table, "Emotions", "AP", "our default").paper == ""
    assert cell_of(table, "Mine", "AP", "BR").paper == ""
    assert cell_of(table, "Mine", "AP", "BR").value == pytest.approx(0.5)


def test_result_table_says_why_printed_cells_cannot_be_compared(make_results):
    table = result_table(make_results(), "IV", "paper")
    (mark,) = cell_of(table, "Yeast", "AP", "MLSF").paper_notes
    assert "all-zero score matrix" in table.notes[mark]
    assert cell_of(table, "Yeast", "AP", "BR").paper_notes == ()


def test_result_table_marks_failed_and_unfinished_cells(
    make_results, make_row, failed_cell
):
    row = make_row("paper", "flags", "br", 0, '{"C": 0.5}', [0.8, 0.3, 0.2, 0.2, 0.5])
    cells = [
        failed_cell("flags", "mlsf", 0, "ValueError: x<0"),
        failed_cell("flags", "mlsf", 1),
    ]
    results = make_results([row], cells=cells, datasets=("flags",))
    table = result_table(results, "III", "paper")
    assert cell_of(table, "Flags", "AP", "ML-TSK FS").text == "—"
    failed = cell_of(table, "Flags", "AP", "MLSF")
    assert failed.text == "failed"
    assert notes_of(table, failed) == ["2 of 2 folds failed: ValueError: x<0"]
    half = cell_of(table, "Flags", "AP", "BR")
    assert (half.text, half.bold) == ("0.800", False)
    assert notes_of(table, half) == [
        "1 of 2 folds so far.",
        "Chosen among 1 of 2 settings.",
    ]


def test_result_table_marks_degenerate_choices_of_ours(make_results, make_row):
    rows = []
    for fold in range(2):
        tied = [0.5, 0.48, 0.0, 1.0, 0.6]
        sound = [0.8, 0.3, 0.1, 0.2, 0.5]
        rows.append(make_row("paper", "flags", "br", fold, "{}", tied, tied=1.0))
        rows.append(make_row("paper", "flags", "mlsf", fold, "{}", sound, tied=0.2))
    table = result_table(make_results(rows, datasets=("flags",)), "V", "paper")
    degenerate = notes_of(table, cell_of(table, "Flags", "OE", "BR"))
    assert "100 % of test rows" in degenerate[-1]
    some_ties = notes_of(table, cell_of(table, "Flags", "OE", "MLSF"))
    assert "20 % of test rows" in some_ties[-1]
    other_metric = notes_of(table, cell_of(table, "Flags", "RL", "MLSF"))
    assert not any("20 %" in note for note in other_metric)


@pytest.mark.parametrize(
    ("number", "values"),
    [("III", [0.8, 0.3]), ("IV", [0.7, 0.2]), ("V", [0.8, 0.2])],
)
def test_result_table_chooses_by_the_rule_of_its_number(
    make_results, make_row, number, values
):
    rows = []
    for fold in range(2):
        best_ap = [0.8, 0.3, 0.2, 0.2, 0.5]
        best_hl = [0.7, 0.2, 0.1, 0.2, 0.5]
        rows.append(make_row("paper", "flags", "br", fold, '{"C": 0.5}', best_ap))
        rows.append(make_row("paper", "flags", "br", fold, '{"C": 2.0}', best_hl))
    table = result_table(make_results(rows, datasets=("flags",)), number, "paper")
    cells = [cell_of(table, "Flags", metric, "BR") for metric in ("AP", "HL")]
    assert [cell.value for cell in cells] == values


def test_the_caption_of_result_table_says_what_flatters_and_what_is_missing(
    make_results,
):
    results = make_results(
        protocols=["paper", "nested"], missing={"mirflickr": "no file"}, seeds=[0]
    )
    caption = result_table(results, "III", "paper").caption
    assert "flatter" in caption
    assert "Not run: mirflickr" in caption
    assert "flatter" not in result_table(results, "III", "nested").caption
    standard = result_table(make_results(convention="standard"), "III", "paper")
    assert "differences are partly of definition" in standard.caption


def test_table_one_has_shapes_and_names_what_is_missing(make_results):
    results = make_results(
        datasets=("yeast", "mine"), missing={"mirflickr": "no file of it"}
    )
    table = table_one(results)
    assert [row.heads[0] for row in table.rows] == ["Yeast", "Mine", "mirflickr"]
    yeast = table.rows[0].cells[:3]
    assert [cell.paper_value for cell in yeast] == [2417, 103, 14]
    # nothing to say where they agree
    assert [cell.paper for cell in yeast] == ["", "", ""]
    assert table.rows[1].cells[0].paper == ""
    gone = table.rows[2].cells[0]
    assert (gone.text, gone.paper) == ("not run", "25,000")
    assert notes_of(table, gone) == ["Not run: no file of it"]


def test_table_two_counts_settings(make_results):
    table = table_two(make_results())
    rows = {row.heads[0]: row.cells for row in table.rows}
    assert rows["ML-TSK FS"][0].text == "K ∈ {1, 2}"
    assert (rows["ML-TSK FS"][3].value, rows["ML-TSK FS"][3].paper) == (2, "4,000")
    assert rows["our default"][0].text == "nothing is tuned"
    assert rows["our default"][3].paper == ""


def test_time_table_adds_up_pieces_and_folds(make_results, failed_cell):
    # a second each
    cells = [failed_cell("yeast", "br", 0), failed_cell("yeast", "br", 1)]
    table = time_table(make_results(cells=cells))
    row = row_of(table, "protocol paper", "Yeast")
    assert [cell.text for cell in row.cells] == ["—", "2.0", "—", "—"]
    assert table.caption.endswith("2.0 s in all.")


def test_time_table_is_none_where_nothing_was_done(make_results):
    assert time_table(make_results()) is None


def test_protocol_table_has_the_worth_of_each_step(make_results):
    # made up: each .02 worse than the one before it
    results = make_results(protocols=["nested", "strict", "paper"])
    table = protocol_table(results)
    assert table.columns[:3] == ("paper", "strict", "nested")
    assert table.columns[3:] == (
        "leak: paper − strict",
        "selection: strict − nested",
        "both: paper − nested",
    )
    gains = [cell.value for cell in table.rows[0].cells[3:]]
    assert gains == pytest.approx([-0.02, -0.02, -0.04])


def test_worth_table_counts_finished_sets_only(make_results, failed_cell):
    results = make_results(
        protocols=["paper", "strict"], cells=[failed_cell("yeast", "br", 0)]
    )
    texts = {row.heads[1]: row.cells[0].text for row in worth_table(results).rows}
    assert texts["BR"] == "+0.020 (2)"
    assert texts["ML-TSK FS"] == "+0.020 (3)"


def test_protocol_table_and_worth_table_are_none_of_one_protocol(make_results):
    results = make_results()
    assert results.protocol_pairs == []
    assert protocol_table(results) is None
    assert worth_table(results) is None


def test_a_variant_is_no_column_of_ap_table_but_a_line_of_readings_table(with_variant):
    assert with_variant.methods == ["c2ae", "short"]
    table = ap_table(with_variant, "paper")
    assert table.columns == ("C2AE",)
    assert [cell.text for cell in table.rows[0].cells] == [".770 (.57)"]
    lines = {}
    for row in readings_table(with_variant).rows:
        lines[row.heads[1]] = [cell.text for cell in row.cells]
    assert lines == {
        "as compared": [".770", ".770"],
        "C2AE, 50 epochs": [".580", ".580"],
        "the paper prints": [".57", ".57"],
    }


def test_readings_table_is_none_without_variants(make_results):
    assert readings_table(make_results()) is None


def test_ap_table_and_readings_table_are_none_of_variants_alone(variant_alone):
    assert ap_table(variant_alone, "paper") is None
    assert readings_table(variant_alone) is None


def test_marks_of_table_one_go_on_after_the_alphabet_and_never_repeat(make_results):
    missing = {str(i): str(i) for i in range(800)}
    notes = table_one(make_results(missing=missing)).notes
    marks = list(notes)
    assert len(marks) == len(set(notes.values())) == 800
    assert marks[25:28] == ["z", "aa", "ab"]
    assert marks[702] == "aaa"


def test_the_same_note_of_table_one_has_one_mark(make_results):
    missing = {"x": "no", "y": "lost", "z": "no"}
    notes = table_one(make_results(missing=missing)).notes
    assert notes == {"a": "Not run: no", "b": "Not run: lost"}


@pytest.mark.parametrize(
    ("value", "text"),
    [(-0.0004, "0.000"), (-0.0006, "−0.001"), (0.25, "+0.250"), (0.0, "0.000")],
)
def test_signed_differences_have_a_sign_unless_they_vanish(value, text):
    assert signed(value) == text


@pytest.mark.parametrize(
    ("text", "difference"), [("0.82 (0.01)", "+2.00"), ("7", "+2"), ("0.5", "+2.0")]
)
def test_difference_text_has_as_many_decimals_as_the_value(text, difference):
    assert TableCell(text, difference=2).difference_text == difference


def test_mean_text_of_a_single_fold_has_no_spread():
    assert mean_text(0.5, float("nan")) == "0.500"
    assert mean_text(0.5, 0.0) == "0.500 (0.000)"
