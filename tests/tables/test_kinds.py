"""Kinds of columns: numbers, words, dates, identifiers, and what looks like them."""

import pandas as pd
import pytest

from mltsk import read_table

SENTENCES = [
    "a long sentence about patient",
    "quite another sentence on number",
    "something else was written about",
]
ISO_DATES = [f"2020-01-{day:02}" for day in range(1, 13)]
GERMAN_DATES = [f"{day}.11.2020" for day in range(1, 13)]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1.5", "2.25", "3", "1.5"], "number"),
        ([f"{i}.5" for i in range(30)], "number"),  # distinct, rising, but measured
        ([3, 1, 2] * 5, "number"),
        (["5", "3", "9", "1"], "number"),  # distinct by chance
        (["0", "1", "1", "0"], "number"),
        (["Yes", "no", "YES"], "yes/no"),
        ([True, False, None], "yes/no"),
        (["t", "F", "t"], "yes/no"),
        (["male", "female", "male"], "nominal"),
        (["1", "2", "3a", "3b"] * 10, "nominal"),
        (["007", "012", "007"], "nominal"),  # codes, not numbers
        ([f"town {i % 30}" for i in range(400)], "nominal"),
        ([f"{i} kg" for i in range(60, 80)], "number"),  # rising, but measured
        (["same", "same", None], "constant"),
        ([None, "NA", ""], "constant"),
        ([4, 4, 4], "constant"),
        (ISO_DATES, "date"),
        (GERMAN_DATES, "date"),
        (["3/14/21 12:30", "12/1/21 09:05"], "date"),
        (["13:45", "9:05", "00:00"], "date"),
        (["7:05 PM", "12:30 a.m."], "date"),
        (["01.02.2023 r.", "17.02.2023 r."], "date"),
        (["1 de marzo de 2023", "17 марта 2023 г.", "1 Mart 2023"], "date"),
        (["1/2023", "5/2023"] * 5, "date"),
        (["120/80", "135/90", "110/70"] * 4, "text"),
        (["120/80", "135/80", "110/80"] * 4, "text"),
        (["WAHR", "FALSCH", "WAHR"], "yes/no"),
        (["Checked", "Unchecked", "Checked"], "yes/no"),
        (["Ja", "Nein", "k. A."], "yes/no"),
        (["1 (none)", "2 (some)", "3"] * 4, "nominal"),  # codes and what they mean
        (list(range(100, 120)), "identifier"),  # consecutive
        ([str(i) for i in range(100, 120)], "identifier"),
        ([f"P-{i:03}" for i in range(20)], "identifier"),
        ([f"{SENTENCES[i % 3]} {i}" for i in range(20)], "text"),
        ([f"town {i % 30}" for i in range(40)], "text"),  # hardly repeats
    ],
)
def test_decide_finds_the_kind(column, cells, kind):
    report, values = column(cells)
    assert report.kind == kind
    assert (values is None) == (kind in ("constant", "date", "identifier", "text"))


@pytest.mark.parametrize(
    "name",
    ["id", "patient", "PatientID", "patient_id", "Nr.", "seqn", "case no", "sampleid"],
)
def test_decide_knows_names_of_identifiers(column, name):
    assert column([17, 12, 31], name)[0].kind == "identifier"
    assert column([17, 12, 12], name)[0].kind == "number"  # not unique


@pytest.mark.parametrize(
    "name", ["acid", "width", "grid", "age", "thyroid", "noise", "keyboard"]
)
def test_decide_is_not_misled_by_names_that_look_like_identifiers(column, name):
    assert column([17, 12, 31], name)[0].kind == "number"


def test_reasons_are_given_for_what_was_left_out_and_what_may_be_codes(column):
    assert "--number or --nominal" in column(list(range(20)))[0].notes[0]
    assert "--number reads it as a year" in column(ISO_DATES)[0].notes[0]
    assert column([None, None])[0].notes == ("left out: no value at all",)
    assert "--nominal for codes" in column([1, 2, 3] * 2)[0].notes[0]
    assert column(["31", "35", "38"])[0].notes == ()  # too few rows to tell
    assert column([0, 1, 1, 0])[0].notes == ()


def test_decide_finds_real_identifiers_and_keeps_real_measurements(real_tables):
    pbc = read_table(real_tables / "pbc.csv", "ascites,hepatomegaly,spiders,edema")
    left_out = [c.name for c in pbc.columns if c.model.startswith("left out")]
    assert left_out == ["patient"]
    assert {c.name for c in pbc.columns if c.kind == "nominal"} == {"treatment", "sex"}
    assert pbc.Y.isna().sum().tolist() == [106, 106, 106, 0]
    nhefs = read_table(real_tables / "nhefs.csv", 15)
    left_out = [c.name for c in nhefs.columns if c.model.startswith("left out")]
    assert left_out == ["seqn"]
    assert [c.name for c in nhefs.columns if c.kind == "yes/no"] == ["birthcontrol"]
    not_asked = nhefs.Y[["hbp", "diabetes", "boweltrouble", "hbpmed"]]
    assert not_asked.isna().sum().tolist() == [791] * 4
    assert nhefs.X.shape == (1629, 20)


@pytest.mark.parametrize(
    "stamp",
    [
        "2024/03/01 9:12:05 AM GMT+1",
        "3/17/2024 17:02:11",
        "2024-03-01T09:12:05.120+01:00",
        "2024-03-01 09:12 UTC",
        "01.03.24 9:12 am CET",
    ],
)
def test_decide_knows_time_stamps_of_programs(column, stamp):
    assert column([stamp, stamp.replace("12", "14").replace("11", "13")])[0].kind == (
        "date"
    )


@pytest.mark.parametrize(
    ("cells", "hours"),
    [
        (["13:45", "9:30", None], [13.75, 9.5]),
        (["1:45 PM", "9:30am", "12:00 AM", "12:15 p.m."], [13.75, 9.5, 0, 12.25]),
    ],
)
def test_read_table_reads_times_as_hours_where_it_is_told(column, cells, hours):
    assert column(cells, number="it")[1][: len(hours)] == hours


@pytest.mark.parametrize(
    ("cells", "noted"),
    [
        ([3.5, 4.1, -99, -99], True),
        ([3.5, 4.1, -99, 2.0], False),  # once, by mistake
        ([-120.0, 4.1, -99, -99], False),  # among numbers below 0
        ([41, 62, 999, 999], True),
        ([410, 620, 999, 999], False),
    ],
)
def test_read_table_notes_numbers_that_may_mean_missing(cells, noted):
    notes = read_table(pd.DataFrame({"it": cells, "y": [0, 1] * 2}), "y").columns.notes
    assert any("if that means no value" in note for note in notes) is noted


@pytest.mark.parametrize("name", ["Unnamed: 0", "rownames", "row.names", "column 1"])
def test_names_of_rows_are_identifiers_in_any_order(column, name):
    numbers = [7, 3, 9, 1, 12, 5, 2, 8, 11, 4]
    assert column(numbers, name=name)[0].kind == "identifier"
    assert column([str(n) for n in numbers], name=name)[0].kind == "identifier"
    assert column(numbers, name="weight")[0].kind == "number"


def test_categories_among_numbers_are_noted(column):
    report, _ = column(["none", "1", "2", "3"] * 5)
    assert report.kind == "nominal"
    note = (
        "numbers and 'none', read as categories; for numbers, --number with "
        '--missing "none"'
    )
    assert report.notes[0] == note
    _, values = column(["none", "1", "2", "3"] * 5, number="it", missing="none")
    assert values[1:4] == [1, 2, 3]
    hours = ["none", "<1", "2", "3", "5+"] * 4
    report, _ = column(hours)
    assert report.notes[0] == note  # limits are numbers
    _, values = column(hours, number="it", missing="none")
    assert values[1:5] == [1, 2, 3, 5]


@pytest.mark.parametrize("name", ["age", "Alter (Jahre)", "peso_kg", "Year"])
def test_numbers_that_rise_under_the_name_of_a_measurement_are_numbers(column, name):
    cells = list(range(40, 70))
    assert column(cells, name=name)[0].kind == "number"
    assert column(cells, name="obs")[0].kind == "identifier"
    assert column(cells, name=f"{name} id")[0].kind == "identifier"


def test_dip_sticks_are_ranks_and_no_numbers(column):
    report, _ = column(["neg", "trace", "1+", "2+"] * 5)
    assert report.kind == "nominal"
    order = "neg < trace < 1+ < 2+"
    assert report.notes == (
        f'may be ranks; --ordinal "it: {order}" to use their order',
    )


def test_a_dash_among_words_is_noted(column):
    cells = ["-", "North", "South", "West"] * 5
    report, _ = column(cells)
    assert report.notes[0] == "5 cells with '-' a category; --missing=- if it is none"
    assert column(cells, missing="-")[0].distinct == 3
    signs = column(["-", "+", "++", "+++"] * 5)[0]
    assert not any("--missing=-" in note for note in signs.notes)


def test_words_for_unknown_are_missing_beside_yes_and_no_alone(column):
    report, values = column(["yes", "no", "not known", "no"])
    assert values[:2] == [True, False]
    assert pd.isna(values[2])
    assert report.notes == (
        "1 cell with 'not known' counted as missing; --nominal to keep the word",
    )
    report, _ = column(["north", "south", "not known", "south"] * 5)
    assert report.distinct == 3
    assert report.notes[0] == (
        "5 cells with 'not known' a category; --missing=\"not known\" if it is none"
    )


def test_days_as_excel_counts_them_are_noted_under_the_name_of_a_date(column):
    days = [f"{18264 + 700 * (i * 7 % 24)}" for i in range(24)]
    report, _ = column(days, name="Geb. Datum")
    assert "(18264 is 1950-01-01); format the column as dates" in report.notes[-1]
    report, _ = column(days, name="salary")
    assert not any("Excel" in note for note in report.notes)


def test_read_table_reads_times_as_the_french_write_them(column):
    _, hours = column(["14h30", "9h05", "23h59"], number="it")
    assert hours == pytest.approx([14.5, 9 + 5 / 60, 23 + 59 / 60])
