"""Rows that belong together, and rows that are the same."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mltsk import read_table

N_ROWS = 60


def visits(**columns):
    """Sixty visits of twenty patients, with two features and a label."""
    rng = np.random.default_rng(0)
    frame = {
        "patient": [f"P{i // 3}" for i in range(N_ROWS)],
        "age": rng.normal(50, 9, N_ROWS),
        "gout": [0, 1] * 30,
    }
    return pd.DataFrame(frame | columns)


PERSONS = (
    *("patient", "PatientID", "subject_nr", "person", "pid", "mrn", "customer"),
    *("SUBJID", "USUBJID", "id_paciente", "Pat.-Nr."),
)


@pytest.mark.parametrize("name", ["id", "ID", "order_id", "user id", *PERSONS])
def test_repeating_identifiers_keep_rows_together_by_themselves(name):
    table = read_table(visits().rename(columns={"patient": name}), "gout")
    assert_array_equal(table.groups, np.arange(N_ROWS) // 3)
    assert table.group_name == name
    assert table.feature_names == ("age",)
    assert table.ids.columns.tolist() == [name]
    typed = '"user id"' if name == "user id" else name
    assert table.columns.notes == (
        f"{name}: rows of one {name} are kept together (20 groups of up to 3 rows); "
        f"--group none, or --number {typed}, to overrule",
    )


@pytest.mark.parametrize(
    "cells",
    [
        np.arange(N_ROWS) // 3,
        (np.arange(N_ROWS) // 3).astype(float),
        [str(i // 3 + 1000) for i in range(N_ROWS)],
        pd.array(np.arange(N_ROWS) // 3, dtype="Int64"),
        pd.array([f"P{i // 3}" for i in range(N_ROWS)], dtype="string"),
    ],
)
def test_identifies_groups_takes_whole_numbers_and_words_of_every_type(cells):
    table = read_table(visits(patient=cells), "gout")
    assert_array_equal(table.groups, np.arange(N_ROWS) // 3)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("age2", [i // 3 for i in range(N_ROWS)]),  # no name of an identifier
        ("patient age", [i // 3 for i in range(N_ROWS)]),
        ("acid", [i // 3 for i in range(N_ROWS)]),
        ("patient", ["in", "out"] * 30),  # few values
        ("patient", [i % 3 for i in range(N_ROWS)]),
        ("patient", [i / 3 for i in range(30)] * 2),  # measurements
        ("patient", [f"{i}.5" for i in range(30)] * 2),
        ("patient", [True, False] * 30),
        ("patient", [f"P{i}" for i in range(N_ROWS)]),  # none repeats
    ],
)
def test_identifies_groups_takes_nothing_that_could_be_a_feature(name, cells):
    table = read_table(visits(patient=cells).rename(columns={"patient": name}), "gout")
    assert table.groups is None
    assert table.group_name == ""


def test_identifies_groups_takes_persons_with_many_rows_but_not_shops():
    few = np.arange(600) % 12
    frame = pd.DataFrame({"age": np.arange(600) / 7 % 5, "gout": [0, 1] * 300})
    assert read_table(frame.assign(subject=few), "gout").group_name == "subject"
    assert read_table(frame.assign(shop_id=few), "gout").group_name == ""


def test_repeating_identifiers_with_vague_names_need_many_values():
    many = pd.concat([visits()] * 10, ignore_index=True)
    cases = many.assign(patient=np.arange(600) // 3)
    sizes = many.assign(patient=np.arange(600) % 12)
    assert read_table(cases.rename(columns={"patient": "case"}), 1).group_name == "case"
    assert read_table(sizes.rename(columns={"patient": "family"}), 1).group_name == ""


def test_read_table_takes_the_group_that_it_is_told():
    ward = ["a", "b", None, "a"] * 15
    table = read_table(visits(ward=ward), "gout", group="ward")
    assert len(set(table.groups[::4])) == 1
    assert len(set(table.groups[2::4])) == 15  # a row without a ward is on its own
    assert table.feature_names == ("age",)
    assert table.columns.notes == (
        "ward: rows of one ward are kept together (2 groups of up to 30 rows)",
        "patient: left out as an identifier that repeats; --group patient keeps rows "
        "together, --number patient or --nominal patient uses it",
        "ward: 15 rows without a value: each a group of its own",
    )


@pytest.mark.parametrize("group", [False, "none"])
def test_read_table_keeps_no_rows_together_if_told_so(group):
    table = read_table(visits(), "gout", group=group)
    assert table.groups is None
    assert table.feature_names == ("age",)
    assert table.ids.columns.tolist() == ["patient"]
    assert "left out as an identifier that repeats" in table.columns.notes[0]


def test_read_table_takes_no_group_that_the_user_calls_a_feature():
    numbers = visits(patient=np.arange(N_ROWS) // 3)
    for said in ({"number": "patient"}, {"nominal": "patient"}, {"drop": "patient"}):
        assert read_table(numbers, "gout", **said).groups is None
    assert read_table(numbers, "gout", number="patient").X["patient"].max() == 19


def test_read_table_takes_a_repeating_identifier_of_the_user_for_the_group():
    frame = visits().rename(columns={"patient": "name"})
    table = read_table(frame, "gout", id="name")
    assert table.group_name == "name"


def test_read_table_prefers_persons_to_things():
    orders = visits(order_id=np.arange(N_ROWS) // 2)
    table = read_table(orders[["order_id", "patient", "age", "gout"]], "gout")
    assert table.group_name == "patient"
    assert table.ids.columns.tolist() == ["order_id", "patient"]


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"group": "patent"}, "did you mean 'patient'?"),
        ({"group": "gout"}, "Column 'gout' cannot be both label and the group."),
        (
            {"group": "age", "number": "age"},
            "Column 'age' cannot be both number and the group.",
        ),
    ],
)
def test_read_table_refuses_a_group_that_cannot_be_one(refusal, said, complaint):
    assert complaint in refusal(visits(), "gout", **said)


def test_read_table_knows_no_group_where_a_model_says_the_kinds():
    assert read_table(visits(), kinds={"age": "number"}).groups is None
    asked = read_table(visits(), kinds={"age": "number"}, group="patient")
    assert_array_equal(asked.groups, np.arange(N_ROWS) // 3)
    assert asked.feature_names == ("age",)


def test_note_on_copies_counts_rows_that_are_the_same():
    heights = np.random.default_rng(1).normal(170, 9, (3, N_ROWS))
    frame = visits(height=heights[0], waist=heights[1]).drop(columns="patient")
    copies = pd.concat([frame, frame[:7]], ignore_index=True)
    note = "7 rows are the same as an earlier one, labels included: copies by mistake?"
    assert note in read_table(copies, "gout").columns.notes
    copies.loc[60:, "gout"] = 1 - copies.loc[60:, "gout"]
    assert read_table(copies, "gout").columns.notes == ()


def test_note_on_copies_is_silent_where_few_rows_are_possible():
    frame = pd.DataFrame({"a": [0, 1, 2] * 20, "gout": [0, 1] * 30})
    notes = read_table(frame, "gout").columns.notes
    assert not any("the same as an earlier one" in note for note in notes)


def test_repeating_identifiers_of_a_real_table(real_tables):
    labels = "ascites,hepatomegaly,spiders,edema"
    table = read_table(real_tables / "pbcseq.csv", labels)
    assert table.group_name == "patient"
    assert len(np.unique(table.groups)) == 312
    assert read_table(real_tables / "pbc.csv", labels).groups is None


def test_groups_are_found_among_the_cells_of_a_sheet():
    ids = [1000 + i // 3 for i in range(60)]
    frame = pd.DataFrame({"subject_id": ids, "x": [i / 7 for i in range(60)]})
    for cells in (ids, [float(i) for i in ids], [*ids[:-1], ""]):
        frame["subject_id"] = pd.Series(cells, dtype=object)
        assert read_table(frame).groups is not None
    frame["subject_id"] = pd.Series([i + 0.5 for i in ids], dtype=object)
    assert read_table(frame).groups is None


def test_note_on_copies_counts_rows_with_the_same_identifiers():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "id": [f"P{i // 2}" for i in range(120)],
            "age": rng.integers(20, 80, 120),
            "stage": rng.integers(1, 9, 120),
            "gout": rng.integers(0, 2, 120),
        }
    )
    copied = pd.concat([rows, rows[:15]], ignore_index=True)
    note = "15 rows are the same as an earlier one, labels included: copies by mistake?"
    assert note in read_table(copied, "gout").columns.notes
    without_id = read_table(copied.drop(columns="id"), "gout")
    assert not any("copies" in text for text in without_id.columns.notes)
