"""``mltsk columns`` and ``mltsk review``."""

from html import unescape

import pytest


@pytest.fixture
def visits(csv_file):
    rows = [
        [
            i + 1,
            60 + i / 4,
            "NA" if i % 5 else "<4.0",
            i % 3 + 1,
            i % 2,
            "gout,fever" if i % 2 else "none",
        ]
        for i in range(20)
    ]
    return csv_file(
        "visits.csv", ["patient", "weight", "crp", "stage", "asthma", "sick"], rows
    )


def test_the_report_is_printed(mltsk, visits):
    result = mltsk("columns", visits, "--labels", "asthma", "--drop", "sick,crp")
    assert result.status == 0
    assert result.out.startswith(
        "visits: 20 rows, 2 features, 1 label, 3 columns left out\n"
    )
    assert "label: 10 of 20 yes" in result.out


def test_every_option_arrives(mltsk, visits):
    said = [
        "--id",
        "weight",
        "--nominal",
        "patient",
        "--ordinal",
        "stage: 1 < 2 < 3",
        "--missing",
        "<4.0",
    ]
    result = mltsk(
        "columns",
        visits,
        "--label-column",
        "sick",
        "--separator",
        ",",
        "--number",
        "asthma",
        *said,
    )
    assert result.status == 0
    kinds = {line.split()[0]: line.split()[1] for line in result.out.splitlines()[3:9]}
    wanted = ["nominal", "identifier", "constant", "ordinal", "number", "label"]
    assert kinds == dict(
        zip(
            ["patient", "weight", "crp", "stage", "asthma", "sick"], wanted, strict=True
        )
    )


def test_cells_that_cannot_be_read_are_reported_and_refused(mltsk, visits):
    result = mltsk("columns", visits, "--number", "crp")
    assert result.status == 2
    assert "crp      number" in result.out
    assert result.err.startswith(
        "mltsk: Column 'crp', row 1: '<4.0' is not a number (4 such cells): "
    )


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--drop", "wieght"], "did you mean 'weight'?"),
        (["--labels", "asthma", "--label-column", "sick"], "not both"),
        (["--labels", "stage"], "Label 'stage' holds '1', '2', '3'"),
        (["--ordinal", "stage"], "is not written as"),
    ],
)
def test_a_report_refused_is_one_sentence(refused, visits, args, says):
    assert says in refused("columns", visits, *args)


def test_a_file_that_is_not_there(refused, tmp_path):
    assert "there is no such file" in refused("columns", tmp_path / "none.csv")


def test_a_page_and_a_line_per_label(mltsk, awkward, names, tmp_path):
    out = tmp_path / "review.html"
    result = mltsk("review", awkward, "--labels", 5, "--quick", "--out", out)
    assert result.status == 0
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".html"] == [
        "review.html"
    ]
    lines = [line for line in result.out.splitlines() if line.startswith("  ")]
    assert len(lines) == 5
    assert all(
        line.strip().startswith(name)
        for line, name in zip(lines, names.labels, strict=True)
    )
    assert result.out.splitlines()[-1] == f"review: {out}"
    page = out.read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "ключ" in page
    assert "review of awkward: 3 of 3 steps" in result.err


def test_what_is_said_about_columns_and_thresholds_counts(mltsk, tmp_path):
    out = tmp_path / "review.html"
    wishes = (
        "--threshold",
        "recall=0.9",
        "--nominal",
        "stage",
        "--seed",
        3,
        "--quick",
        "--out",
        out,
    )
    result = mltsk("review", "pbc", *wishes)
    assert result.status == 0
    assert "hepatomegaly can be found: 9 of 10 cases are found" in result.out
    page = unescape(out.read_text(encoding="utf-8"))
    assert "threshold=('recall', 0.9)" in page
    assert "3 nominal columns" in page


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--labels", 5, "--cost", "1,5"), "No such option"),
        (("--labels", "nothing"), "has no column 'nothing'"),
        ((), "has no labels"),
    ],
)
def test_bad_input_of_a_review_is_one_sentence(
    refused, awkward, tmp_path, options, says
):
    assert says in refused(
        "review", awkward, *options, "--out", tmp_path / "review.html"
    )
    assert not (tmp_path / "review.html").exists()


def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    refused, awkward, tmp_path
):
    assert "does not exist" in refused(
        "review", awkward, "--labels", 5, "--out", tmp_path / "no" / "page.html"
    )
