"""Tables: values of ours next to the paper's, what stands where there are none, and their small parts."""

import pytest

from mltsk.paper.experiments.ranks import comparisons
from mltsk.paper.experiments.summary import paper_gaps, summarise
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

C2AE = {"title": "C2AE", "paper": "C2AE", "grid": {}, "settings": 1}
SHORT = {
    "title": "C2AE, 50 epochs",
    "paper": None,
    "variant_of": "c2ae",
    "grid": {},
    "settings": 1,
}


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
        assert [
            name
            for name, cell in zip(table.columns, row.cells, strict=True)
            if cell.bold
        ] == ["ML-TSK FS"]


def test_equal_values_are_all_bold(make_results):
    row = next(row for row in make(make_results()).rows if row.heads == ("Flags", "AP"))
    assert [cell.bold for cell in row.cells] == [
        True,
        False,
        True,
        False,
    ]  # MLSF and ML-TSK FS print .82


def test_ties_win_nothing(make_results):
    results = make_results(datasets=("emotions",))
    results.scores.loc[results.scores["method"] == "br", ["OE", "tied"]] = [0.0, 0.6]
    row = next(
        row for row in make(results, "V").rows if row.heads == ("Emotions", "OE")
    )
    assert [cell.bold for cell in row.cells] == [False, False, True, False]


def test_strangers_have_no_paper_s_value(make_results):
    table = make(make_results(datasets=("emotions", "mine")))
    assert cell_of(table, "Emotions", "AP", "our default").paper == ""
    assert cell_of(table, "Mine", "AP", "BR").paper == ""
    assert cell_of(table, "Mine", "AP", "BR").value == pytest.approx(0.5)


def test_printed_cells_that_cannot_be_compared_say_why(make_results):
    table = make(make_results(), "IV")
    cell = cell_of(table, "Yeast", "AP", "MLSF")
    assert [
        "all-zero score matrix" in table.notes[mark] for mark in cell.paper_notes
    ] == [True]
    assert cell_of(table, "Yeast", "AP", "BR").paper_notes == ()


def test_failed_and_unfinished_cells(make_results, make_row, failed_cell):
    row = make_row("paper", "flags", "br", 0, '{"C": 0.5}', [0.8, 0.3, 0.2, 0.2, 0.5])
    cells = [
        failed_cell("flags", "mlsf", 0, "ValueError: x<0"),
        failed_cell("flags", "mlsf", 1),
    ]
    table = make(make_results([row], cells=cells, datasets=("flags",)))
    assert cell_of(table, "Flags", "AP", "ML-TSK FS").text == "—"
    assert cell_of(table, "Flags", "AP", "MLSF").text == "failed"
    assert [table.notes[m] for m in cell_of(table, "Flags", "AP", "MLSF").notes] == [
        "2 of 2 folds failed: ValueError: x<0"
    ]
    half = cell_of(table, "Flags", "AP", "BR")
    assert (half.text, half.bold) == ("0.800", False)
    assert [table.notes[m] for m in half.notes] == [
        "1 of 2 folds so far.",
        "Chosen among 1 of 2 settings.",
    ]


def test_degenerate_choices_of_ours_are_marked(make_results, make_row):
    rows = [
        make_row("paper", "flags", "br", f, "{}", [0.5, 0.48, 0.0, 1.0, 0.6], tied=1.0)
        for f in range(2)
    ]
    rows += [
        make_row("paper", "flags", "mlsf", f, "{}", [0.8, 0.3, 0.1, 0.2, 0.5], tied=0.2)
        for f in range(2)
    ]
    table = make(make_results(rows, datasets=("flags",)), "V")
    assert (
        "100 % of test rows"
        in table.notes[cell_of(table, "Flags", "OE", "BR").notes[-1]]
    )
    assert (
        "20 % of test rows"
        in table.notes[cell_of(table, "Flags", "OE", "MLSF").notes[-1]]
    )
    assert not any(
        "20 %" in table.notes[m] for m in cell_of(table, "Flags", "RL", "MLSF").notes
    )


def test_each_table_chooses_by_its_own_rule(make_results, make_row):
    rows = [make_row("paper", "flags", "br", f, s, v) for f in range(2) for s, v in
            (("{\"C\": 0.5}", [0.8, 0.3, 0.2, 0.2, 0.5]), ("{\"C\": 2.0}", [0.7, 0.2, 0.1, 0.2, 0.5]))]  # fmt: skip
    results = make_results(rows, datasets=("flags",))
    found = {
        n: [cell_of(make(results, n), "Flags", m, "BR").value for m in ("AP", "HL")]
        for n in ("III", "IV", "V")
    }
    assert found == {"III": [0.8, 0.3], "IV": [0.7, 0.2], "V": [0.8, 0.2]}


def test_captions_say_what_flatters_and_what_is_missing(make_results):
    results = make_results(
        protocols=["paper", "nested"], missing={"mirflickr": "no file"}, seeds=[0]
    )
    assert "flatter" in make(results).caption
    assert "flatter" not in make(results, protocol="nested").caption
    assert "Not run: mirflickr" in make(results).caption
    assert (
        "differences are partly of definition"
        in make(make_results(convention="standard")).caption
    )


def test_table_one_has_shapes_and_names_what_is_missing(make_results):
    table = table_one(
        make_results(datasets=("yeast", "mine"), missing={"mirflickr": "no file of it"})
    )
    assert [row.heads[0] for row in table.rows] == ["Yeast", "Mine", "mirflickr"]
    assert [cell.paper_value for cell in table.rows[0].cells[:3]] == [2417, 103, 14]
    assert [cell.paper for cell in table.rows[0].cells[:3]] == [
        "",
        "",
        "",
    ]  # nothing to say where they agree
    assert table.rows[1].cells[0].paper == ""
    gone = table.rows[2].cells[0]
    assert (gone.text, gone.paper, table.notes[gone.notes[0]]) == (
        "not run",
        "25,000",
        "Not run: no file of it",
    )


def test_table_two_counts_settings(make_results):
    table = table_two(make_results())
    rows = {row.heads[0]: row.cells for row in table.rows}
    assert rows["ML-TSK FS"][0].text == "K ∈ {1, 2}"
    assert (rows["ML-TSK FS"][3].value, rows["ML-TSK FS"][3].paper) == (2, "4,000")
    assert rows["our default"][0].text == "nothing is tuned"
    assert rows["our default"][3].paper == ""


def test_parts_and_folds_are_added_up(make_results, failed_cell):
    cells = [
        failed_cell("yeast", "br", 0),
        failed_cell("yeast", "br", 1),
    ]  # a second each
    table = time_table(make_results(cells=cells))
    row = next(row for row in table.rows if row.heads == ("protocol paper", "Yeast"))
    assert [cell.text for cell in row.cells] == ["—", "2.0", "—", "—"]
    assert table.caption.endswith("2.0 s in all.")


def test_nothing_was_spent_on_nothing(make_results):
    assert time_table(make_results()) is None


def test_each_step_has_its_worth(make_results):
    results = make_results(
        protocols=["nested", "strict", "paper"]
    )  # made up: each .02 worse than the one before it
    table = protocol_table(results)
    assert table.columns[:3] == ("paper", "strict", "nested")
    assert table.columns[3:] == (
        "leak: paper − strict",
        "selection: strict − nested",
        "both: paper − nested",
    )
    assert [cell.value for cell in table.rows[0].cells[3:]] == pytest.approx(
        [-0.02, -0.02, -0.04]
    )


def test_means_count_finished_sets_only(make_results, failed_cell):
    results = make_results(
        protocols=["paper", "strict"], cells=[failed_cell("yeast", "br", 0)]
    )
    table = worth_table(results)
    texts = {row.heads[1]: row.cells[0].text for row in table.rows}
    assert texts["BR"] == "+0.020 (2)"
    assert texts["ML-TSK FS"] == "+0.020 (3)"


def test_one_protocol_has_nothing_beside_it(make_results):
    results = make_results()
    assert results.protocol_pairs == []
    assert protocol_table(results) is None
    assert worth_table(results) is None


@pytest.fixture
def results(make_results):
    """C2AE .2 above the paper, and a reading of it .01 above."""
    found = make_results(
        datasets=("emotions", "yeast"), methods={"short": SHORT, "c2ae": C2AE}
    )
    found.scores.loc[found.scores["method"] == "c2ae", "AP"] += 0.2
    for dataset, printed in (("emotions", 0.57), ("yeast", 0.57)):
        mine = (found.scores["method"] == "short") & (
            found.scores["dataset"] == dataset
        )
        found.scores.loc[mine, "AP"] = printed + 0.01
    return found


def test_a_variant_is_no_column_of_its_own_at_a_glance_but_a_line_of_readings(results):
    assert results.methods == ["c2ae", "short"]
    table = ap_table(results, "paper")
    assert table.columns == ("C2AE",)
    assert [cell.text for cell in table.rows[0].cells] == [".770 (.57)"]
    readings = {
        row.heads[1]: [cell.text for cell in row.cells]
        for row in readings_table(results).rows
    }
    assert readings == {
        "as compared": [".770", ".770"], "C2AE, 50 epochs": [".580", ".580"], "the paper prints": [".57", ".57"],
    }  # fmt: skip


def test_a_gap_is_explained_by_the_reading_that_closes_it(results):
    told = {
        s.title: s.sentences
        for s in summarise(results, paper_gaps(results), comparisons(results))
    }
    near = "C2AE on Emotions (0.580) and Yeast (0.580): within 0.03 of the paper in the reading “C2AE, 50 epochs”."
    assert near in told["What does not, and by how much"]
    assert told["What other readings of a method give"] == (
        "C2AE, 50 epochs: mean distance from Table III 0.010 AP on 2 data sets, against 0.200 of C2AE as compared; "
        "closer on 2, within 0.03 on 2.",
    )
    assert "Methods that are not in the paper" not in told


def test_a_printed_value_between_two_readings_is_named_so(results):
    results.scores.loc[results.scores["method"] == "short", "AP"] -= 0.1
    told = {
        s.title: s.sentences
        for s in summarise(results, paper_gaps(results), comparisons(results))
    }
    said = told["What does not, and by how much"]
    assert (
        said[-1]
        == "C2AE on Yeast: the paper's value lies between those of two readings."
    )  # emotions is known
    assert not any("no reading" in sentence for sentence in said)


def test_without_variants_there_is_no_table_of_readings(make_results):
    assert readings_table(make_results()) is None


def test_a_run_of_variants_alone_has_no_table_of_methods(make_results):
    assert (
        ap_table(make_results(datasets=("yeast",), methods={"short": SHORT}), "paper")
        is None
    )


def test_marks_go_on_after_the_alphabet_and_never_repeat(make_results):
    notes = table_one(make_results(missing={str(i): str(i) for i in range(800)})).notes
    marks = list(notes)
    assert len(marks) == len(set(notes.values())) == 800
    assert marks[25:28] == ["z", "aa", "ab"]
    assert marks[702] == "aaa"


def test_the_same_note_has_one_mark(make_results):
    assert table_one(make_results(missing={"x": "no", "y": "lost", "z": "no"})).notes == {
        "a": "Not run: no", "b": "Not run: lost",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text"),
    [(-0.0004, "0.000"), (-0.0006, "−0.001"), (0.25, "+0.250"), (0.0, "0.000")],
)
def test_differences_have_a_sign_unless_they_vanish(value, text):
    assert signed(value) == text


@pytest.mark.parametrize(
    ("text", "difference"), [("0.82 (0.01)", "+2.00"), ("7", "+2"), ("0.5", "+2.0")]
)
def test_differences_have_as_many_decimals_as_the_value(text, difference):
    assert TableCell(text, difference=2).difference_text == difference


def test_a_single_fold_has_no_spread():
    assert mean_text(0.5, float("nan")) == "0.500"
    assert mean_text(0.5, 0.0) == "0.500 (0.000)"
