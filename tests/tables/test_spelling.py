"""Remarks behind answers, capitals, and words that have an order."""

import pandas as pd
import pytest

from mltsk import read_table
from mltsk.tables.spelling import note_on_ranks, one_spelling, without_remarks


def test_without_remarks_cuts_what_is_said_behind_yes_and_no():
    notes = []
    texts = ["Yes (2019)", "No", "yes, since 2010", None, "Unknown", "No"]
    answers = without_remarks(texts, notes)
    assert answers == ["Yes", "No", "yes", None, "Unknown", "No"]
    assert notes == [
        "remarks around yes and no left out (Yes (2019) is Yes); --nominal to overrule"
    ]


@pytest.mark.parametrize(
    "texts", [["Yes (2019)", "maybe"], ["yes", "no"], ["a (b)"], ["1:64", "1:8"]]
)
def test_without_remarks_changes_nothing_where_other_words_stand(texts):
    notes = []
    assert without_remarks(texts, notes) is texts
    assert notes == []


def test_read_table_reads_answers_with_remarks_as_labels_and_features():
    cells = ["Yes (2019)", "No", "Unknown"] * 5
    frame = pd.DataFrame({"x": range(15), "asthma": cells, "gout": cells})
    table = read_table(frame, "gout", number="x")
    assert table.Y["gout"].tolist()[:2] == [1.0, 0.0]
    assert table.Y["gout"].isna().sum() == 5
    assert table.X["asthma"].dtype == "boolean"
    assert table.X["asthma"].isna().sum() == 5


def test_one_spelling_keeps_short_words_apart_but_not_those_for_a_sex():
    assert one_spelling(["Aa", "AA", "aa"], []) == ["Aa", "AA", "aa"]
    assert one_spelling(["a", "A"], []) == ["a", "A"]
    assert one_spelling(["f", "M", "F", "F"], []) == ["F", "M", "F", "F"]


def test_read_table_keeps_capitals_apart_where_the_user_says_nominal():
    frame = pd.DataFrame({"sex": ["female", "Female", "male"] * 4, "y": [0, 1, 1] * 4})
    together = read_table(frame, "y").X["sex"]
    assert set(together.cat.categories) == {"female", "male"}
    apart = read_table(frame, "y", nominal="sex").X["sex"]
    assert set(apart.cat.categories) == {"female", "Female", "male"}


@pytest.mark.parametrize(
    ("words", "order"),
    [
        (["Severe", "none", "mild"], "none < mild < Severe"),
        (["II", "IV", "I"], "I < II < IV"),
        (["70+", "18-39", "40-69"], "18-39 < 40-69 < 70+"),
        (
            ["Satisfied", "Neutral", "Dissatisfied"],
            "Dissatisfied < Neutral < Satisfied",
        ),
        (["north", "south", "west"], ""),
        (["high", "low"], ""),
        (["2 weeks", "3 days", "1 month"], ""),
        (["2 weeks", "1 week", "10 weeks"], "1 week < 2 weeks < 10 weeks"),
        (["2nd", "3rd", "1st"], "1st < 2nd < 3rd"),
        (["Very_High", "Low", "High"], "Low < High < Very_High"),
        (["2_Fair", "1_Good", "3_Poor"], "1_Good < 2_Fair < 3_Poor"),
        (["★★", "★", "★★★"], "★ < ★★ < ★★★"),
        (["2+", "neg", "1+", "trace"], "neg < trace < 1+ < 2+"),
        (["moderado", "leve", "grave"], "leve < moderado < grave"),
    ],
)
def test_note_on_ranks_names_the_order(words, order):
    note = note_on_ranks("it", words)
    assert note == (
        order and f'may be ranks; --ordinal "it: {order}" to use their order'
    )


def test_note_on_ranks_knows_ranges_behind_a_number():
    words = ["4_51+", "2_11-20", "3_21-50"]
    order = "esr: 2_11-20 < 3_21-50 < 4_51+"
    assert f'--ordinal "{order}"' in note_on_ranks("esr", words)
