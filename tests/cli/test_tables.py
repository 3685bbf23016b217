"""``mltsk columns`` and ``mltsk review``."""

import re
from html import unescape

import pandas as pd
import pytest

import mltsk


@pytest.fixture
def visits(csv_file):
    rows = []
    for i in range(20):
        crp = "NA" if i % 5 else "<4.0"
        sick = "gout,fever" if i % 2 else "none"
        rows.append([i + 1, 60 + i / 4, crp, i % 3 + 1, i % 2, sick])
    header = ["patient", "weight", "crp", "stage", "asthma", "sick"]
    return csv_file("visits.csv", header, rows)


def test_columns_prints_the_report(succeeds, visits):
    result = succeeds("columns", visits, "--labels asthma --drop sick,crp")
    title = "visits: 20 rows, 2 features, 1 label, 3 columns left out"
    assert result.out.splitlines()[0] == title
    assert "10 of 20 yes" in result.out


def test_columns_takes_every_option_about_columns(succeeds, visits):
    result = succeeds(
        "columns",
        visits,
        "--id weight --nominal patient --ordinal 'stage: 1 < 2 < 3' --missing '<4.0'",
        "--label-column sick --separator , --number asthma",
    )
    rows = [line.split() for line in result.out.splitlines()[3:9]]
    assert {row[0]: row[1] for row in rows} == {
        "patient": "nominal",
        "weight": "identifier",
        "crp": "constant",
        "stage": "ordinal",
        "asthma": "number",
        "sick": "label",
    }


def test_columns_reports_cells_that_cannot_be_read_and_refuses_them(mltsk, visits):
    result = mltsk("columns", visits, "--number sick")
    assert result.status == 2
    assert "sick     number" in result.out
    sentence = "mltsk: Column 'sick', row 1: 'none' is not a number (20 such cells: "
    assert result.err.startswith(sentence)


def test_columns_reads_limits_as_numbers_where_it_is_told(succeeds, visits):
    out = " ".join(succeeds("columns", visits, "--number crp").out.split())
    assert "crp: 4 limits such as '<4.0' read as the number alone" in out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--drop wieght", "did you mean 'weight'?"),
        ("--labels asthma --label-column sick", "not both"),
        ("--labels stage", "Label 'stage' holds '1', '2', '3'"),
        ("--ordinal stage", "is not written as"),
    ],
)
def test_columns_refuses_bad_options_with_one_sentence(
    refused, visits, options, sentence
):
    assert sentence in refused("columns", visits, options)


def test_columns_refuses_a_file_that_is_not_there(refused, tmp_path):
    assert "there is no such file" in refused("columns", tmp_path / "none.csv")


def test_review_writes_a_page_and_prints_a_line_per_label(
    succeeds, awkward, names, tmp_path
):
    out = tmp_path / "review.html"
    result = succeeds("review", awkward, "--labels 5 --quick --out", out)
    assert [path.name for path in tmp_path.glob("*.html")] == ["review.html"]
    lines = re.findall(r"^  \S.*", result.out, flags=re.MULTILINE)
    assert len(lines) == 5
    for line, name in zip(lines, names.labels, strict=True):
        assert line.strip().startswith(name)
    assert result.out.splitlines()[-1] == f"review: {out}"
    page = out.read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "ключ" in page
    assert "review of awkward: 3 of 3 steps" in result.err


def test_review_says_how_many_labels_its_page_has(succeeds, awkward, names, tmp_path):
    out = tmp_path / "review.html"
    options = "--labels 5 --quick --max-labels 2 --out"
    result = succeeds("review", awkward, options, out)
    assert "Of 5 labels, this page shows the 2 that most rows have." in result.out
    assert all(name in result.out for name in names.labels)
    page = out.read_text(encoding="utf-8")
    assert page.count('<details class="label filed"') == 2
    assert page.count('<details class="label"') == 2


def test_review_follows_what_is_said_about_columns_and_thresholds(succeeds, tmp_path):
    out = tmp_path / "review.html"
    options = "--threshold recall=0.9 --nominal stage --seed 3 --quick --out"
    result = succeeds("review pbc", options, out)
    assert (
        "hepatomegaly can be predicted in part: 9 of 10 cases are found" in result.out
    )
    page = unescape(out.read_text(encoding="utf-8"))
    assert "threshold=('recall', 0.9)" in page
    assert "3 nominal columns" in page


def test_review_weighs_costs(succeeds, awkward, tmp_path):
    out = tmp_path / "review.html"
    options = "--labels 5 --threshold cost=1,5 --quick --out"
    succeeds("review", awkward, options, out)
    page = unescape(out.read_text(encoding="utf-8"))
    assert "threshold=('cost', 1.0, 5.0)" in page


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--labels 5 --threshold cost=5", "what a false alarm and what a miss costs"),
        ("--labels nothing", "has no column 'nothing'"),
        ("", "has no labels"),
    ],
)
def test_review_refuses_bad_input_with_one_sentence(
    refused, awkward, tmp_path, options, sentence
):
    out = tmp_path / "review.html"
    assert sentence in refused("review", awkward, options, "--out", out)
    assert not out.exists()


def test_review_refuses_a_place_that_cannot_be_written_before_the_work(
    refused, awkward, tmp_path
):
    out = tmp_path / "no" / "page.html"
    assert "does not exist" in refused("review", awkward, "--labels 5 --out", out)
    out = tmp_path / "page.pdf"
    assert "is no page: end its name" in refused("review", awkward, "--out", out)
    assert not out.exists()


@pytest.fixture
def repeated_visits(csv_file):
    """Sixty visits of twenty patients."""
    rows = [[i // 3, f"{i * 37 % 60 / 7:.3f}", i % 2] for i in range(60)]
    return csv_file("repeated.csv", ["patient", "weight", "gout"], rows)


def test_columns_says_that_rows_of_a_patient_are_kept_together(
    succeeds, repeated_visits
):
    words = "columns", repeated_visits, "--labels gout"
    note = "patient: rows of one patient are kept together (20 groups of up to 3 rows)"
    assert note in succeeds(*words).out
    assert "kept together" not in succeeds(*words, "--number patient").out
    assert "identifier that repeats" in succeeds(*words, "--group none").out


def test_columns_takes_the_group_that_it_is_told(succeeds, refused, repeated_visits):
    told = succeeds("columns", repeated_visits, "--labels gout --group patient").out
    assert "rows of one patient are kept together" in told
    assert "to overrule" not in told
    words = "columns", repeated_visits, "--labels gout --group patent"
    assert "did you mean 'patient'?" in refused(*words)


LABELS_OF_PBC = "ascites,hepatomegaly,spiders,edema"


@pytest.fixture
def halves(tmp_path):
    """The table pbc in two files, the columns of the second in another order."""
    table = mltsk.read_table("pbc")
    frame = pd.concat([table.ids, table.X, table.Y], axis=1)
    frame[:250].to_csv(tmp_path / "first.csv", index=False)
    frame[250:].iloc[:, ::-1].to_csv(tmp_path / "second.csv", index=False)
    return tmp_path / "first.csv", tmp_path / "second.csv"


def test_review_judges_on_another_file(succeeds, refused, halves, tmp_path):
    first, second = halves
    out = tmp_path / "page.html"
    options = f"--labels {LABELS_OF_PBC} --quick --test"
    result = succeeds("review", first, options, second, "--out", out)
    assert "labels can be predicted better than by guessing" in result.out
    page = unescape(out.read_text(encoding="utf-8"))
    assert "168 rows. The model was fitted on other rows, of first." in page
    model = tmp_path / "model.skops"
    succeeds("fit", first, f"--labels {LABELS_OF_PBC} --statements 5 --out", model)
    succeeds("review", model, second, "--by sex --out", out)
    page = unescape(out.read_text(encoding="utf-8"))
    assert "The model is a finished one" in page
    assert "fitted on other rows, of first." in page
    sentence = refused("review", model, "--out", out)
    assert "name the table to judge it on" in sentence
    sentence = refused("review", model, second, "--threshold 0.3 --out", out)
    assert "judged as they are" in sentence
    sentence = refused("review", model, first, "--out", tmp_path / "own.html")
    assert "The model was fitted on the rows of first" in sentence
    assert not (tmp_path / "own.html").exists()
    sentence = refused("review", model, second, "--out", second)
    assert "is read here" in sentence


def test_review_says_a_thing_of_one_label_once(succeeds, awkward, tmp_path):
    out = tmp_path / "page.html"
    said = succeeds("review", awkward, "--labels plain --quick --out", out).out
    verdicts = [line for line in said.splitlines() if line.lstrip().startswith("plain")]
    assert len(verdicts) == 1


def test_doctor_wraps_its_last_line(succeeds, patients):
    lines = succeeds("doctor", patients, "--labels gout").out.splitlines()
    long_words = [line for line in lines if len(line) > 80 and " " in line.strip()]
    assert long_words == []
