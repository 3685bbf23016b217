"""Label columns, and columns that list the labels of each row."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mltsk import read_table
from mltsk.exceptions import InputError

FRAME = pd.DataFrame({"x": [0.5, 1, 3], "p": [0, 1, 1], "q": ["no", "yes", None]})


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (2, "pq"),
        ("1", "q"),
        (-1, "x"),
        ("q, p", "qp"),
        (["p", "p"], "p"),
        ({"q": "yes", "p": None}, "qp"),
        (0, ""),
    ],
)
def test_label_columns_can_be_named_in_many_ways(labels, names):
    frame = FRAME if labels != -1 else FRAME.assign(x=[0, 1, 0])
    assert "".join(read_table(frame, labels).label_names) == names


def test_read_label_says_not_observed_where_a_cell_is_missing():
    assert_array_equal(read_table(FRAME, "q").Y["q"], [0, 1, np.nan])


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["Yes", "NO", "?"], [1, 0, np.nan]),
        ([True, False, None], [1, 0, np.nan]),
        (["1.0", "0.0", "1"], [1, 0, 1]),
        (["y", "n", "F"], [1, 0, 0]),
        ([0, 0, 0], [0, 0, 0]),
    ],
)
def test_read_label_knows_the_words_for_yes_and_no(cells, expected):
    assert_array_equal(read_table(FRAME.assign(p=cells), "p").Y["p"], expected)


@pytest.mark.parametrize(
    ("cells", "complaint"),
    [
        (
            [-1, 1, 1],
            "holds '-1', '1', not 0 and 1 or yes and no: "
            "say which one means yes, labels={'p': '1'}",
        ),
        (
            [0, 7, 0],
            "holds '0', '7', not 0 and 1 or yes and no: "
            "say which one means yes, labels={'p': '7'}",
        ),
        (["neg", "pos", "neg"], "labels={'p': 'pos'} or --labels p=pos."),
        (
            [0, 0.5, 1],
            "holds '0', '0.5', '1', not 0 and 1 or yes and no: count words as missing",
        ),
    ],
)
def test_read_label_refuses_other_words_until_the_user_says_what_means_yes(
    refusal, cells, complaint
):
    assert complaint in refusal(FRAME.assign(p=cells), "p")


def test_read_label_takes_words_that_the_user_says_mean_yes():
    frame = FRAME.assign(p=["absent", "present", ""], q=[0, 0.5, 1])
    assert_array_equal(read_table(frame, "p=present").Y["p"], [0, 1, np.nan])
    signs = read_table(FRAME.assign(p=[-1, 1, -1]), {"p": 1})
    assert_array_equal(signs.Y["p"], [0, 1, 0])
    both = read_table(frame, {"p": "present", "q": [0.5, 1]})
    assert_array_equal(both.Y, [[0, 0], [1, 1], [np.nan, 1]])


def test_read_label_counts_the_point_of_sas_as_not_observed(refusal):
    table = read_table(FRAME.assign(p=["1", ".", "0"]), "p")
    assert_array_equal(table.Y["p"], [1, np.nan, 0])
    assert "p: 1 cell with '.' counted as not observed" in table.columns.notes
    assert "holds '+', '-', '.'" in refusal(FRAME.assign(p=["+", ".", "-"]), "p")


def test_label_columns_hint_at_tables_that_have_labels_in_other_places(refusal):
    rows = pd.DataFrame({"name": ["age", "gout"], "P1": ["61", "1"], "P2": ["48", "0"]})
    sentence = refusal(rows, "gout")
    assert "has a row 'gout' and no such column: swap rows and columns" in sentence
    long = pd.DataFrame({"x": [1.5, 2, 3], "seen as": ["gout", "none", "gout"]})
    sentence = refusal(long, "gout")
    assert "has no column 'gout', and column 'seen as' holds it" in sentence
    assert '--labels "seen as=gout|" if all others mean no' in sentence
    assert read_table(long, "seen as=gout|").Y["seen as"].tolist() == [1, 0, 1]


def test_read_label_refuses_words_and_columns_that_are_not_there(refusal):
    sentence = refusal(FRAME, {"q": "maybe"})
    assert "has no cell with 'maybe'; it holds 'no', 'yes'" in sentence
    sentence = refusal(FRAME.assign(p=["a", "b", "c"]), "p=c")
    assert "give all words that mean yes in a list" in sentence
    sentence = refusal(FRAME, "pp,x")
    assert "has no column 'pp' (it has 3 columns); did you mean 'p'?" in sentence
    assert "3 labels leave no feature" in refusal(FRAME, 3)
    assert "not 1.5" in refusal(FRAME, 1.5)


def test_read_lists_makes_a_column_per_label():
    lists = ["gout; asthma", "asthma", None, "None", "asthma;;fever"]
    frame = pd.DataFrame({"x": [1.5, 2, 3, 5, 4], "sick": lists})
    table = read_table(frame, label_column="sick")
    # The most frequent label is the first, then they go by name.
    assert table.label_names == ("asthma", "fever", "gout")
    expected = [[1, 0, 1], [1, 0, 0], [np.nan] * 3, [0, 0, 0], [1, 1, 0]]
    assert_array_equal(table.Y, expected)
    note = "sick: 1 empty cell, not observed; write none where there is no label"
    assert note in str(table.columns)
    assert table.feature_names == ("x",)


def test_read_lists_takes_lists_and_other_separators():
    frame = pd.DataFrame({"x": [1.5, 2, 3], "sick": [["b"], [], None]})
    assert_array_equal(read_table(frame, label_column="sick").Y["b"], [1, 0, np.nan])
    frame["sick"] = ["a, b", "b", "none"]
    table = read_table(frame, label_column="sick", separator=",")
    assert_array_equal(table.Y, [[1, 1], [1, 0], [0, 0]])


def test_read_lists_refuses_a_column_without_labels(refusal):
    frame = pd.DataFrame({"x": [1.5, 2], "sick": ["none", ""]})
    assert "names no label in any row" in refusal(frame, label_column="sick")
    sentence = refusal(frame, label_column="sick", separator="")
    assert "separator of label lists is empty" in sentence
    assert "not both" in refusal(frame, "x", label_column="sick")
    assert "did you mean 'sick'?" in refusal(frame, label_column="sik")


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["ja", "nein", "Ja"], [1, 0, 1]),
        (["oui", "non", None], [1, 0, np.nan]),
        (["sí", "no", "no"], [1, 0, 0]),
        (["да", "нет", "нет"], [1, 0, 0]),
        (["是", "否", "是"], [1, 0, 1]),
        (["✓", "✗", "✓"], [1, 0, 1]),
        (["예", "아니오", "네"], [1, 0, 1]),
        (["ja", "nej", "nei"], [1, 0, 0]),
        (["igen", "nem", "nem"], [1, 0, 0]),
        (["ya", "tidak", "ya"], [1, 0, 1]),
        (["ναι", "όχι", "όχι"], [1, 0, 0]),
        (["есть", "нет", "нет"], [1, 0, 0]),
        (["VAR", "YOK", "YOK"], [1, 0, 0]),
        (["да", "не", "не"], [1, 0, 0]),
        (["Taip", "Ne", "Ne"], [1, 0, 0]),
        (["áno", "nie", "nie"], [1, 0, 0]),
        (["PRAWDA", "FAŁSZ", "FAŁSZ"], [1, 0, 0]),
        (["DOĞRU", "YANLIŞ", "YANLIŞ"], [1, 0, 0]),
        (["[x]", "[ ]", "[ ]"], [1, 0, 0]),
        (["✔️", "❌", "❌"], [1, 0, 0]),
    ],
)
def test_read_label_knows_yes_and_no_in_many_languages(cells, expected):
    assert_array_equal(read_table(FRAME.assign(p=cells), "p").Y["p"], expected)


@pytest.mark.parametrize(
    "word", ["unknown", "Not tested", "unbekannt", "Refused", "N/K", "non noto", "b.d."]
)
def test_read_label_counts_unknown_as_not_observed(word):
    table = read_table(FRAME.assign(p=["yes", word, "no"]), "p")
    assert_array_equal(table.Y["p"], [1, np.nan, 0])
    assert f"p: 1 cell with '{word}' counted as not observed" in table.columns.notes


def test_read_label_names_the_words_to_count_as_missing_beside_yes_and_no(refusal):
    frame = FRAME.assign(p=["yes", "later", "no"])
    assert 'count words as missing (--missing "later")' in refusal(frame, "p")


def test_read_label_names_the_words_to_count_as_missing_beside_the_only_yes(refusal):
    frame = FRAME.assign(p=["POS", "NEG", "ND"])
    assert 'or count others as missing (--missing "ND")' in refusal(frame, "p=POS")


def test_read_label_never_proposes_unknown_as_yes(refusal):
    frame = pd.DataFrame({"x": range(4), "p": ["positive", "negative", "unknown", ""]})
    assert "labels={'p': 'positive'}" in refusal(frame, "p")


@pytest.mark.parametrize("labels", ["p", "p=x", {"p": "x"}])
def test_read_label_asks_what_a_blank_next_to_ticks_means(refusal, labels):
    frame = FRAME.assign(p=["x", "", "x"])
    sentence = refusal(frame, labels)
    assert "holds 'x' or no value, and never a no" in sentence
    table = read_table(frame, labels, blank_means_no=True)
    assert_array_equal(table.Y["p"], [1, 0, 1])
    assert "p: 1 blank cell read as no" in table.columns.notes


def test_read_label_reads_a_word_for_missing_as_no_blank():
    frame = FRAME.assign(p=["yes", "NA", ""])
    table = read_table(frame, "p", blank_means_no=True)
    assert_array_equal(table.Y["p"], [1, np.nan, 0])


def test_read_column_reads_tick_boxes_if_a_blank_is_a_no(column):
    cells = ["x", "", "x", ""]
    report, values = column(cells, blank_means_no=True)
    assert (report.kind, report.model) == ("tick box", "yes or no")
    assert values == [True, False, True, False]
    report, values = column(cells)
    assert (report.kind, values) == ("constant", None)
    assert "--blank-means-no if a blank cell is a no" in report.notes[0]
    again = read_table(pd.DataFrame({"it": ["", "x"]}), kinds={"it": "tick box"})
    assert again.X["it"].tolist() == [False, True]


def test_read_lists_finds_the_separator_and_says_so():
    frame = pd.DataFrame({"x": [1.5, 2, 3], "sick": ["a|b", "b", "none"]})
    table = read_table(frame, label_column="sick")
    assert table.label_names == ("b", "a")
    note = "sick: '|' between two labels; --separator to overrule"
    assert note in table.columns.notes
    assert read_table(frame, label_column="sick", separator=";").label_names == (
        "a|b",
        "b",
    )


def test_read_lists_reads_a_dash_and_words_for_none_as_no_label():
    lists = ["gout, asthma", "-", "No", "gout", "-", "ninguna"]
    frame = pd.DataFrame({"x": [1.5, 2, 3, 4, 5, 6], "sick": lists})
    table = read_table(frame, label_column="sick")
    assert table.label_names == ("gout", "asthma")
    assert_array_equal(table.Y["gout"], [1, 0, 0, 1, 0, 0])
    note = "sick: 2 cells with '-' read as no label; --missing=- to overrule"
    assert note in table.columns.notes
    told = read_table(frame, label_column="sick", missing="-")
    assert told.Y["gout"].isna().sum() == 2


@pytest.mark.parametrize("sign", [" / ", "/", " + ", "&", ", "])
def test_read_lists_divides_entries_that_are_labels_alone_too(sign):
    lists = [f"gout{sign}asthma", "asthma", "gout; asthma", "gout", "heart/lung"]
    frame = pd.DataFrame({"x": [1.5, 2, 3, 4, 5], "sick": lists})
    table = read_table(frame, label_column="sick")
    assert table.label_names == ("asthma", "gout", "heart/lung")
    assert_array_equal(table.Y["gout"], [1, 0, 1, 1, 0])
    note = f"({f'gout{sign}asthma'!r} is 'asthma', 'gout'); --separator to overrule"
    assert note in table.columns.notes[0]
    told = read_table(frame, label_column="sick", separator=";")
    assert f"gout{sign}asthma" in told.label_names


def test_read_lists_puts_labels_in_other_capitals_together():
    lists = ["Asthma; gout", "asthma", "asthma", "AA; Aa"]
    frame = pd.DataFrame({"x": [1.5, 2, 3, 4], "sick": lists})
    table = read_table(frame, label_column="sick")
    assert table.label_names == ("asthma", "AA", "Aa", "gout")
    assert_array_equal(table.Y["asthma"], [1, 1, 1, 0])
    assert "1 cell with 'Asthma' read as 'asthma'" in table.columns.notes[0]


def test_read_lists_cuts_codes():
    frame = pd.DataFrame({"x": [1.5, 2, 3], "icd": ["E11.9;I10", "E11.0", "I10"]})
    table = read_table(frame, label_column="icd", prefix=3)
    assert_array_equal(table.Y[["E11", "I10"]], [[1, 1], [1, 0], [0, 1]])
    note = "icd: 3 codes cut to 3 characters: 2 labels; --prefix to overrule"
    assert note in table.columns.notes


def test_label_columns_take_several_words_for_yes_in_one_text():
    frame = pd.DataFrame({"x": [1.0, 2, 3], "stage": ["none", "mild", "severe"]})
    table = read_table(frame, "stage=mild|severe")
    assert table.Y["stage"].tolist() == [0.0, 1.0, 1.0]
    with pytest.raises(InputError, match=r'or --labels "stage=severe\|…"'):
        read_table(frame, "stage")


@pytest.mark.parametrize(
    ("cells", "hint"),
    [
        (["Detected", "Not detected", "Detected"], "--labels p=Detected."),
        (["Non-reactive", "Reactive", "Reactive"], "--labels p=Reactive."),
        (["unauffällig", "auffällig", "auffällig"], "--labels p=auffällig."),
        (["pos.", "neg.", "neg."], "--labels p=pos."),
        (["old age", "young age", "old age"], '--labels "p='),
        (["a", "b", "c"], "list those that mean yes, labels={'p': ['c', …]}"),
        (["a", "b", "Indeterminate"], '--missing "Indeterminate"'),
        (["2", "0", "1"], 'those above 0 mean yes, --labels "p=1|2"'),
    ],
)
def test_read_label_hints_at_the_likely_yes_as_a_shell_takes_it(refusal, cells, hint):
    assert hint in refusal(FRAME.assign(p=cells), "p")


def test_read_label_knows_coded_answers():
    frame = FRAME.assign(p=["1. yes", "0. no", "0. no"], q=["1 = ja", "0 = nein", None])
    table = read_table(frame, "p,q")
    assert_array_equal(table.Y, [[1, 1], [0, 0], [0, np.nan]])
    note = 'p: remarks around yes and no left out (0. no is no); --labels "p=…" to'
    assert note in " ".join(table.columns.notes)
    assert_array_equal(read_table(frame, "p=0. no").Y["p"], [0, 1, 1])
    assert_array_equal(read_table(frame, "q=0 = nein").Y["q"], [0, 1, np.nan])


def test_label_columns_may_have_an_equals_sign_in_their_names():
    frame = FRAME.rename(columns={"p": "a=b"}).assign(q=["x", "y=z", "x"])
    table = read_table(frame, "a=b,q=y=z")
    assert table.label_names == ("a=b", "q")
    assert_array_equal(table.Y["q"], [0, 1, 0])
    assert_array_equal(read_table(frame, "a=b=1").Y["a=b"], [0, 1, 1])


def test_blank_means_no_beside_the_name_of_a_choice():
    frame = pd.DataFrame(
        {
            "x": [1.5, 2, 3, 4],
            "p": ["Gout", None, "Gout", ""],
            "fever": ["Fever", "", "", "Fever"],
            "site": ["none", "", "none", ""],
        }
    )
    table = read_table(frame, "p", blank_means_no=True)
    assert_array_equal(table.Y["p"], [1, 0, 1, 0])
    assert "p: 'Gout' read as yes" in table.columns.notes
    assert table.X["fever"].tolist() == [True, False, False, True]
    assert "fever: 'Fever' read as yes; --drop to overrule" in table.columns.notes
    assert "site" not in table.X  # a no beside blanks says nothing
    again = read_table(frame, kinds=table.kinds)
    assert again.X["fever"].tolist() == [True, False, False, True]
    unsaid = " ".join(read_table(frame.drop(columns="p")).columns.notes)
    assert "fever: left out: one sign or word, or a blank; --blank-means-no" in unsaid


def test_a_number_of_labels_that_is_a_name_too_is_noted():
    frame = FRAME.rename(columns={"p": "2", "q": "2019"})
    table = read_table(frame, "2")
    assert table.label_names == ("2", "2019")
    assert table.columns.notes[0].startswith("the last 2 columns read as labels; --lab")
    table = read_table(frame, "2,")
    assert (table.label_names, table.columns.notes) == (("2",), ())
    assert read_table(frame, "2019").label_names == ("2019",)  # no number of columns
    assert not read_table(FRAME, 2).columns.notes


def test_read_label_takes_one_word_of_three_if_the_user_says_it_is_alone(refusal):
    frame = FRAME.assign(p=["1", "2", "3"])
    assert_array_equal(read_table(frame, "p=1|").Y["p"], [1, 0, 0])
    assert_array_equal(read_table(frame, {"p": ["1"]}).Y["p"], [1, 0, 0])
    sentence = refusal(frame, "p=1")
    assert "say that it is '1' alone (--labels \"p=1|\")" in sentence
    assert "has no cell with '4'" in refusal(frame, "p=4|")


def test_read_label_knows_one_and_nought_with_decimal_commas(refusal):
    assert_array_equal(
        read_table(FRAME.assign(p=["1,00", "0,0", "1"]), "p").Y, [[1], [0], [1]]
    )
    assert '--labels "p=100%"' in refusal(FRAME.assign(p=["0%", "100%", "0%"]), "p")
