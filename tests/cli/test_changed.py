"""New data whose columns are not what they were when a model was fitted."""

import pytest

from . import messy

HEADER = ["age", "income", "sex", "smoker", "ward", "gout"]
ROWS = [
    [
        f"{p['age']:.1f}",
        f"{1000 * p['weight']:.0f}",
        "MF"[p["number"] % 2],
        ("yes", "no", "no")[p["number"] % 3],
        ("007", "012", "103")[p["number"] % 3],
        int(p["gout"]),
    ]
    for p in messy.patients()
]


@pytest.fixture
def model(succeeds, csv_file, tmp_path):
    path = tmp_path / "model.skops"
    succeeds("fit", csv_file("fit.csv", HEADER, ROWS), "--labels gout --out", path)
    return path


@pytest.fixture
def changed(csv_file):
    """The table of the fit with another column."""

    def change(name, new_cell):
        j = HEADER.index(name)
        rows = [[*row[:j], new_cell(row[j]), *row[j + 1 :]] for row in ROWS]
        return csv_file("new.csv", HEADER, rows)

    return change


@pytest.mark.parametrize(
    ("name", "new_cell", "sentence"),
    [
        ("age", lambda _: "1950-01-01", "holds dates; it held numbers when"),
        ("age", lambda _: "13:45", "holds times of day; it held numbers when"),
        ("age", lambda cell: f"about {cell} or so", "is not a number (120 such"),
        ("sex", lambda cell: "MF".index(cell), "holds numbers ('0', '1'); it held"),
        (
            "smoker",
            lambda cell: 1 if cell == "yes" else 2,
            "holds numbers ('2'); it held words ('no', 'yes') when",
        ),
        (
            "smoker",
            {"yes": "daily", "no": "never"}.get,
            "holds 'daily', 'never'; it held yes and no when the model was fitted.",
        ),
    ],
)
def test_predict_refuses_a_column_of_another_kind(
    refused, model, changed, name, new_cell, sentence
):
    assert sentence in refused("predict", model, changed(name, new_cell))


@pytest.mark.parametrize(
    ("name", "new_cell", "note"),
    [
        ("age", lambda cell: cell.replace(".", ","), "decimal commas read as points"),
        ("age", lambda cell: f"{cell} years", "age is in years here and was without"),
        ("sex", str.lower, "sex: 'f' read as 'F', which the model knows."),
        ("ward", int, "ward has lost zeros in front: read as the codes that the mo"),
        ("smoker", {"yes": "1", "no": "0"}.get, ""),
        ("smoker", {"yes": "Oui", "no": "Non"}.get, ""),
    ],
)
def test_predict_reads_other_notations_as_the_same(
    succeeds, model, changed, tmp_path, name, new_cell, note
):
    expected = succeeds("predict", model, tmp_path / "fit.csv").out
    answer = succeeds("predict", model, changed(name, new_cell))
    assert answer.out == expected
    assert note in answer.err


@pytest.mark.parametrize(
    ("name", "new_cell", "note"),
    [
        (
            "sex",
            {"M": "male", "F": "female"}.get,
            "(sex: 'female', 'male', where the model knows 'F', 'M')",
        ),
        (
            "income",
            lambda cell: f"{int(cell) / 1000:.0f}",
            "income is far from all numbers of the fit, which are from ",
        ),
        ("age", lambda cell: f"{float(cell) + 200:.1f}", "age is far from all"),
    ],
)
def test_predict_notes_what_may_be_meant_otherwise(
    succeeds, model, changed, name, new_cell, note
):
    assert note in succeeds("predict", model, changed(name, new_cell)).err


def test_predict_says_nothing_about_the_table_of_the_fit(succeeds, model, tmp_path):
    err = succeeds("predict", model, tmp_path / "fit.csv").err
    assert err == "predicting 120 rows …\n"


def test_predict_reads_dates_of_a_model_of_dates(succeeds, refused, csv_file, tmp_path):
    rows = [[f"19{row[0][:2]}-03-01", *row[1:]] for row in ROWS]
    path = csv_file("dates.csv", HEADER, rows)
    model = tmp_path / "model.skops"
    succeeds("fit", path, "--labels gout --number age --out", model)
    other = csv_file("other.csv", HEADER, [["1.3." + r[0][:4], *r[1:]] for r in rows])
    assert succeeds("predict", model, other).out == succeeds("predict", model, path).out
    sentence = refused("predict", model, csv_file("plain.csv", HEADER, ROWS))
    assert "holds numbers; it held dates when the model was fitted." in sentence
