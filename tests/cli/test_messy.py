"""Tables as people have them go through the commands without a wrong kind."""

import json
from typing import NamedTuple

import pytest

from mltsk import read_table

from . import messy

REPORT_WIDTH = 80


class Expected(NamedTuple):
    """What must be found in a file.

    ``options`` are those for its labels, ``kinds`` those of the features, and ``notes``
    what the report must say.
    """

    options: str
    kinds: dict[str, str]
    labels: tuple[str, ...]
    notes: tuple[str, ...]


EXPECTED = {
    messy.salaries: Expected(
        "--labels gout,asthma",
        dict.fromkeys(["salary", "loan", "weight", "share"], "number"),
        ("gout", "asthma"),
        ("(55,015 is 55015); --decimal ,", "currency $", "unit lbs", "percent signs"),
    ),
    messy.workbook: Expected(
        "--labels gout,asthma",
        {"age": "number", "ward": "nominal", "weight": "number", "height": "number"},
        ("gout", "asthma"),
        ("sheet 'patients 2024' was read, of 2", "2 rows above", "two rows"),
    ),
    messy.german: Expected(
        "--labels Gicht,Asthma",
        {"Alter": "number", "Einkommen": "number", "Stra\u00dfe": "nominal"},
        ("Gicht", "Asthma"),
        ("read as Windows-1252 ('Stra\u00dfe')", "decimal commas read as points"),
    ),
    messy.export: Expected(
        "--labels gout,asthma",
        {"age": "number", "ward": "nominal"},
        ("gout", "asthma"),
        ("2 rows above the names", "left out as totals or remarks"),
    ),
    messy.report: Expected(
        "--labels gout,asthma",
        {"age": "number", "weight": "number", "ward": "nominal"},
        ("gout", "asthma"),
        ("left out as units ('years', 'kg'", "('Total'); --skip-end 0"),
    ),
    messy.joined: Expected(
        "--labels gout,asthma",
        {"value": "number", "value (2)": "number"},
        ("gout", "asthma"),
        ("now 'column 1', 'value (2)', 'column 4'",),
    ),
    messy.ticks: Expected(
        "--labels gout,asthma --blank-means-no",
        {"age": "number", "smoker": "tick box"},
        ("gout", "asthma"),
        ("blank cells read as no",),
    ),
    messy.diagnoses: Expected(
        "--long patient,diagnosis --prefix 3",
        {"age": "number", "weight": "number"},
        ("M10", "J45"),
        (
            "175 rows put together to 120, one per patient",
            "3 codes cut to 3 characters",
        ),
    ),
    messy.visits: Expected(
        "--labels lab=positive --number day --drop diagnoses",
        {"day": "number", "age": "number", "crp": "number"},
        ("lab",),
        (
            "rows of one patient are kept together",
            "limits such as '<4.0'",
            "counted as not observed",
            "dates read as years",
        ),
    ),
    messy.ward: Expected(
        "--labels Gicht,Asthma --age Geburt:Aufnahme",
        {"age (Geburt)": "number", "CRP": "number", "Größe": "number"},
        ("Gicht", "Asthma"),
        (
            "age (Geburt): years from Geburt to Aufnahme",
            "limits such as '< 5,0'",
            "with 'k.A.' counted as missing",
            "unit m taken off",
            "Aufnahme: left out as a date",
            "Fallnummer: left out as an identifier",
        ),
    ),
    messy.cohort: Expected(
        "--labels gout,asthma",
        {"age": "number", "weight": "number"},
        ("gout", "asthma"),
        (
            "3 rows above the names skipped ('Export of the cohort', 'printed:')",
            "names are in two rows",
            "left out as units ('years', 'kg', 'Y/N', …)",
            "3 rows at the end left out as totals or remarks ('Total', ",
            "cells with '--' counted as missing",
        ),
    ),
    messy.pages: Expected(
        "--labels gout,asthma --missing=-99",
        {"age": "number", "sex": "nominal", "crp": "number"},
        ("gout", "asthma"),
        (
            "1 empty row among the data left out",
            "1 row with the names again left out",
            "40 cells with 'Female' read as 'female'; --nominal",
            "remarks around yes and no left out (Yes (2015) is Yes)",
            "12 cells with '-99' counted as missing",
            "unit y taken off",
        ),
    ),
    messy.form: Expected(
        "--labels gout,asthma",
        {"titer": "number", "protein": "nominal", "fee": "number"},
        ("gout", "asthma"),
        (
            "Timestamp: left out as a date",
            "titers read as their second number (1:128 is 128); --nominal",
            "14 limits such as '<8' read as the number alone",
            'may be ranks; --ordinal "protein: - < + < ++ < +++"',
            "apostrophes between thousands taken out",
        ),
    ),
    messy.survey: Expected(
        "--labels Q3_1,Q3_2 --blank-means-no",
        {"Q1": "number", "Q2": "nominal"},
        ("Q3_1", "Q3_2"),
        (
            "2 rows below the names left out as questions and keys of a survey",
            "EndDate: left out as a date",
            "ResponseId: left out as an identifier",
            "Q3_1: 'Gout' read as yes",
            'may be ranks; --ordinal "Q2: never < sometimes < often"',
        ),
    ),
    messy.clinic: Expected(
        "--labels gout,asthma",
        {"column 1": "identifier", "age": "number", "sex": "nominal", "crp": "number"},
        ("gout", "asthma"),
        (
            "cells are divided by spaces",
            "rows have a cell more than there are names: the first names the row",
        ),
    ),
    messy.polish: Expected(
        "--labels Dna,Astma",
        {"Wiek": "number", "Płeć": "nominal", "Dochód": "number", "CRP": "number"},
        ("Dna", "Astma"),
        (
            "read as Windows-1250 ('Płeć')",
            "Dochód: points between thousands taken out (6.",
            "CRP: signs behind numbers left out",
            "Przyjęcie: left out as a date",
        ),
    ),
    messy.wards: Expected(
        "--labels gout,asthma --missing=-999",
        {"ward": "nominal", "subject_id": "group", "age": "number", "weight": "number"},
        ("gout", "asthma"),
        (
            "108 cells of merged ones filled with what stands in the first",
            "rows of one subject_id are kept together (60 groups of up to 2 rows)",
            "remarks around yes and no left out (0. no is no)",
            "11 cells with '-999' counted as missing",
        ),
    ),
    messy.trial: Expected(
        "--labels GOUT=POS,A --number SEEN",
        {
            "SUBJID": "group",
            "REMARK": "text",
            "PAIN": "number",
            "SEEN": "number",
            "SMOKER": "yes/no",
            "CRP": "number",
            "WARD": "nominal",
        },
        ("GOUT", "A"),
        (
            "rows of one SUBJID are kept together (60 groups of up to 2 rows)",
            "PAIN: numbers out of 10 (",
            "SEEN: times read as hours; --drop",
            "SMOKER: 15 cells with 'Refused' counted as missing; --nominal",
            "WARD: 12 cells with 'unknown' a category; --missing=unknown",
            "CRP: signs behind numbers left out (",
        ),
    ),
    messy.board: Expected(
        "--labels Gicht,Asthma --number Uhrzeit",
        {"Station": "nominal", "Alter": "number", "CRP": "number", "Anteil": "number"},
        ("Gicht", "Asthma"),
        (
            "3 rows with totals among the data left out ('north Ergebnis', 'south Erge",
            "unit Jahre taken off",
            "limits such as 'unter 5,0' read as the number alone",
            "CRP: 12 cells with '#NV' counted as missing",
            "Uhrzeit: times read as hours",
        ),
    ),
    messy.forms: Expected(
        "--label-column findings --drop remark",
        {"age": "number", "height": "number", "pain": "number", "consent": "yes/no"},
        ("gout", "asthma"),
        (
            "109 rows have fewer cells than there are names: blank at the end",
            "1 row with the names again left out",
            "unit 歳 taken off",
            "feet and inches read as inches (5' 0\" is 60); --nominal",
            "words behind numbers left out (1 - none is 1); --nominal",
            "('gout / asthma' is 'asthma', 'gout'); --separator to overrule",
        ),
    ),
    messy.register: Expected(
        "--labels gout,asthma",
        {"date of birth": "number", "twice": "constant", "weight": "number"},
        ("gout", "asthma"),
        (
            "6 rows below left out as another table ('Wards'); --skip-end 0",
            "no value in the file for 120 formulas: open it in Excel and save it",
            "twice: left out: no value at all",
            "may be dates as Excel counts days (",
        ),
    ),
}


def test_messy_files_all_have_an_expectation():
    assert list(EXPECTED) == list(messy.FILES)


@pytest.fixture(params=messy.FILES, ids=lambda make: make.__name__)
def make(request):
    if request.param in (messy.workbook, messy.cohort, messy.wards, messy.register):
        pytest.importorskip("openpyxl")
    return request.param


def test_columns_finds_what_is_in_a_messy_file(make, succeeds, tmp_path):
    expected = EXPECTED[make]
    out = succeeds("columns", make(tmp_path), expected.options).out
    assert max(map(len, out.splitlines())) <= REPORT_WIDTH
    text = " ".join(out.split())
    for note in expected.notes:
        assert note in text
    rows = {line.partition("  ")[0].strip(): line for line in out.splitlines()}
    for name, kind in expected.kinds.items():
        assert f"  {kind}  " in rows[name]


def test_all_commands_take_a_messy_file(make, succeeds, tmp_path):
    pytest.importorskip("jinja2")
    expected = EXPECTED[make]
    path = make(tmp_path)
    model = tmp_path / "model.skops"
    fitted = succeeds("fit", path, expected.options, "--rules 0 --out", model).out
    short_path = fitted.replace(str(model), "model.skops")
    assert max(map(len, short_path.splitlines())) <= REPORT_WIDTH
    header, *rows = succeeds("predict", model, path, "--reasons").out.splitlines()
    for label in expected.labels:
        assert f"probability:{label},{label},reasons:{label}" in header
    assert len(rows) >= messy.N_ROWS
    judged = succeeds("evaluate", model, path).out
    assert judged.startswith(f"{path.stem}: {messy.N_ROWS} rows")
    assert max(map(len, judged.splitlines())) <= REPORT_WIDTH
    page = tmp_path / "page.html"
    succeeds("explore", model, "--data", path, "--out", page)
    succeeds("export", model, "--json", tmp_path / "model.json")
    succeeds("second-look", model, path)  # the same table by its digest
    succeeds("review", path, expected.options, "--quick --out", page)
    assert all(label in page.read_text("utf-8") for label in expected.labels)


def test_evaluate_divides_entries_of_labels_that_the_model_knows(succeeds, tmp_path):
    path = messy.forms(tmp_path)
    model = tmp_path / "model.skops"
    succeeds("fit", path, EXPECTED[messy.forms].options, "--rules 0 --out", model)
    header, *rows = path.read_text("utf-8-sig").splitlines()
    both = [f"{row}," for row in rows if "gout / asthma" in row and "called" not in row]
    none = [f"{row}," for row in rows if row.endswith("none")]
    path.write_text("\n".join([header, *both, *none]))
    answer = succeeds("evaluate", model, path, "--json")
    assert "label 'gout / asthma' read as 'asthma', 'gout'." in answer.err
    told = json.loads(answer.out)["per_label"]
    share = len(both) / len(both + none)
    assert told["gout"]["prevalence"] == told["asthma"]["prevalence"] == share


def test_evaluate_says_whether_rows_are_those_of_the_fit(succeeds, tmp_path):
    path = messy.salaries(tmp_path)
    model = tmp_path / "model.skops"
    succeeds("fit", path, EXPECTED[messy.salaries].options, "--rules 0 --out", model)
    sentence = "the model was fitted on these rows: it may predict others less well."
    assert sentence in succeeds("evaluate", model, path).err
    header, first, _, *rows = path.read_text().splitlines()
    other = "\n".join([header, first, first, *rows])  # as many, by the same name
    path.write_text(other)
    assert sentence not in succeeds("evaluate", model, path).err


def test_predict_refuses_a_column_in_another_unit(succeeds, refused, tmp_path):
    path = messy.ward(tmp_path)
    model = tmp_path / "model.skops"
    succeeds("fit", path, EXPECTED[messy.ward].options, "--rules 0 --out", model)
    text = path.read_text("cp1252")
    path.write_text(text.replace(" m;", " cm;"), "cp1252")
    sentence = refused("predict", model, path)
    assert sentence.splitlines()[-1].endswith(
        "is in cm, and it was in m when the model was fitted: convert it."
    )
    path.write_text(text.replace(" m;", ";"), "cp1252")
    noted = succeeds("predict", model, path).err
    assert "Größe is without a unit here and was in m when the model" in noted


def test_predict_knows_words_in_other_capitals_and_refuses_numbers(
    succeeds, refused, tmp_path
):
    path = messy.pages(tmp_path)
    model = tmp_path / "model.skops"
    succeeds("fit", path, EXPECTED[messy.pages].options, "--rules 0 --out", model)
    text = path.read_text()
    expected = succeeds("predict", model, path).out
    path.write_text(text.replace("female", "FEMALE"))
    answer = succeeds("predict", model, path)
    assert answer.out == expected
    assert "sex: 'FEMALE' read as 'female', which the model knows." in answer.err
    numbers = text.replace("Female", "2").replace("female", "2").replace("male", "1")
    path.write_text(numbers)
    sentence = refused("predict", model, path).splitlines()[-1]
    assert "holds numbers ('1', '2'); it held words ('female', 'male')" in sentence


def test_predict_puts_the_rows_of_one_patient_together(succeeds, tmp_path):
    path = messy.diagnoses(tmp_path)
    model = tmp_path / "model.skops"
    succeeds("fit", path, EXPECTED[messy.diagnoses].options, "--out", model)
    answer = succeeds("predict", model, path)
    patients = [row.partition(",")[0] for row in answer.out.splitlines()[1:]]
    assert patients == [f"P{number}" for number in range(messy.N_ROWS)]
    assert f"rows put together to {messy.N_ROWS}, one per patient" in answer.err
    without_codes = tmp_path / "new.csv"
    rows = [line.rpartition(",")[0] for line in path.read_text().splitlines()]
    without_codes.write_text("\n".join(dict.fromkeys(rows)))
    assert succeeds("predict", model, without_codes).out == answer.out


def test_predict_asks_for_the_encoding_of_chinese_columns(succeeds, refused, tmp_path):
    path = tmp_path / "gbk.csv"
    rows = [(p["number"], f"{p['age']:.0f}", int(p["gout"])) for p in messy.patients()]
    path.write_text(messy.lines(["编号", "年龄", "痛风"], rows), encoding="gbk")
    model = tmp_path / "model.skops"
    succeeds("fit", path, "--labels 痛风 --encoding gbk --out", model)
    sentence = refused("predict", model, path)
    assert "as Windows-1252 it would have words such as" in sentence
    assert "say with --encoding which it has, such as gbk ('编号')" in sentence
    succeeds("predict", model, path, "--encoding gbk")


def test_predict_says_how_a_file_was_read_whose_columns_are_not_there(
    succeeds, mltsk, tmp_path
):
    path = tmp_path / "macintosh.csv"
    rows = [(f"{p['age']:.0f}", int(p["gout"])) for p in messy.patients()]
    path.write_text(messy.lines(["Zündung", "Gicht"], rows), encoding="mac-roman")
    model = tmp_path / "model.skops"
    succeeds("fit", path, "--labels Gicht --encoding mac-roman --out", model)
    answer = mltsk("predict", model, path)
    assert answer.status == 2
    assert "read as Windows-1252" in answer.err
    assert "--encoding to overrule" in answer.err
    assert "has no column 'Zündung'" in answer.err


@pytest.mark.parametrize(
    ("make", "options", "sentence"),
    [
        (messy.ticks, "--labels gout", "holds 'x' or no value, and never a no: say"),
        (messy.ticks, "--labels gout=x", "never a no: say blank_means_no=True"),
        (messy.visits, "--labels lab", "labels={'lab': 'positive'}"),
        (
            messy.german,
            "--labels Gicht --encoding utf-8",
            "is not a text file in utf-8",
        ),
        (messy.german, "--encoding klingon", "Encoding 'klingon' is not known"),
        (messy.export, "--skip-rows 999", "none is left after skipping 999"),
        (messy.diagnoses, "--long patient", 'write them as "patient,diagnosis"'),
        (messy.diagnoses, "--long patient,dx", "has no column 'dx'"),
    ],
)
def test_columns_refuses_what_it_cannot_know(
    refused, tmp_path, make, options, sentence
):
    assert sentence in refused("columns", make(tmp_path), options)


def test_columns_hints_at_long_form_and_at_lists(succeeds, tmp_path):
    out = succeeds("columns", messy.diagnoses(tmp_path)).out
    assert "rows of one patient differ in diagnosis alone; --long" in out
    out = succeeds("columns", messy.visits(tmp_path)).out
    assert "diagnoses: entries with a sign between them; --label-column" in out


def test_doctor_says_what_will_hurt(succeeds, tmp_path, csv_file):
    rows = []
    for p in messy.patients():
        seen = int(p["gout"])
        rows.append([round(p["age"], 1), round(p["weight"], 1), 10 + seen, seen, 0])
    path = csv_file("leak.csv", ["age", "weight", "after", "gout", "none"], rows)
    out = " ".join(succeeds("doctor", path, "--labels gout,none").out.split())
    assert "after tells gout almost alone (AUC 1.00)" in out
    assert "none: the same in all rows; leave the label out." in out
    formulas = messy.register(tmp_path)
    out = " ".join(succeeds("doctor", formulas, "--labels gout,asthma").out.split())
    assert "no value in the file for 120 formulas: open it in Excel and save" in out
    assert "twice: no value in any row; left out." in out
    clean = messy.export(tmp_path)
    out = succeeds("doctor", clean, "--labels gout,asthma").out
    assert "Nothing was found that will hurt." in out


def test_read_table_reads_ten_thousand_columns(tmp_path):
    names = [f"x{i}" for i in range(10_000)]
    rows = [[f"{(i * j) % 97 / 7:.2f}" for j in range(10_000)] for i in range(6)]
    path = tmp_path / "wide.csv"
    path.write_text(
        messy.lines(["gout", *names], [[i % 2, *rows[i]] for i in range(6)])
    )
    table = read_table(path, "gout")
    assert table.X.shape[0] == 6
    assert table.X.shape[1] > 9_000
    assert len(str(table.columns).splitlines()) < 130
