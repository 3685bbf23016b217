"""A row per patient and diagnosis becomes a row per patient."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mltsk import read_table

FRAME = pd.DataFrame(
    {
        "patient": ["a", "a", "b", "c", "c", "d", None],
        "age": [61.5, None, 48, 55, 55, 39, 20],
        "day": [1, 2, 1, 1, 3, 1, 1],
        "diagnosis": ["E11.9", "I10", "none", "E11.0", "E11.0", None, "I10"],
    }
)


def test_row_per_key_makes_a_row_per_patient_and_a_label_per_code():
    table = read_table(FRAME, long="patient,diagnosis")
    assert table.ids["patient"].tolist() == ["a", "b", "c", "d"]
    assert table.X["age"].tolist() == [61.5, 48, 55, 39]
    assert table.feature_names == ("age",)
    assert table.label_names == ("E11.0", "E11.9", "I10")
    assert_array_equal(
        table.Y, [[0, 1, 1], [0, 0, 0], [1, 0, 0], [np.nan, np.nan, np.nan]]
    )
    notes = " / ".join(table.columns.notes)
    assert "7 rows put together to 4, one per patient" in notes
    assert "1 row without patient left out" in notes
    assert "columns that differ between rows of one patient left out: 'day'" in notes


def test_row_per_key_cuts_codes_and_reads_blanks_as_no():
    table = read_table(FRAME, long=("patient", "diagnosis"), prefix=3)
    assert table.label_names == ("E11", "I10")
    assert table.Y["E11"].tolist()[:3] == [1, 0, 1]
    table = read_table(FRAME, long="patient,diagnosis", blank_means_no=True)
    assert table.Y.iloc[3].tolist() == [0, 0, 0]


def test_row_per_key_can_do_without_columns_that_are_dropped():
    table = read_table(FRAME, long="patient,diagnosis", drop="day")
    assert not any("differ between" in note for note in table.columns.notes)


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"long": "patient"}, 'write them as "patient,diagnosis"'),
        ({"long": "patient,patient"}, 'write them as "patient,diagnosis"'),
        ({"long": "patient,diagnoses"}, "did you mean 'diagnosis'?"),
        ({"long": "patient,diagnosis", "labels": "day"}, "not both"),
    ],
)
def test_key_and_code_refuse_what_is_no_long_form(refusal, said, complaint):
    assert complaint in refusal(FRAME, **said)


def test_row_per_key_refuses_keys_that_are_all_missing(refusal):
    frame = FRAME.assign(patient=None)
    assert "has no value in any row" in refusal(frame, long="patient,diagnosis")


def test_row_per_key_notes_a_column_of_answers_that_it_does_not_follow():
    frame = pd.DataFrame(
        {
            "patient": ["a", "a", "b", "b"],
            "age": [61, 61, 48, 48],
            "diagnosis": ["gout", "flu", "gout", "flu"],
            "present": ["yes", "no", "yes", "no"],
        }
    )
    notes = read_table(frame, long="patient,diagnosis").columns.notes
    assert notes[0] == (
        "a row counts as diagnosis whatever present says; to overrule, leave rows with "
        "a no in present out of the file"
    )
    yes = read_table(frame[frame["present"] == "yes"], long="patient,diagnosis")
    assert "whatever" not in " ".join(yes.columns.notes)
