"""`mltsk columns`: the report of a file, and refusals."""

import pytest


@pytest.fixture
def visits(csv_file):
    rows = [
        [i + 1, 60 + i / 4, "NA" if i % 5 else "<4.0", i % 3 + 1, i % 2, "gout,fever" if i % 2 else "none"]
        for i in range(20)
    ]
    return csv_file("visits.csv", ["patient", "weight", "crp", "stage", "asthma", "sick"], rows)


def test_the_report_is_printed(mltsk, visits):
    result = mltsk("columns", visits, "--labels", "asthma", "--drop", "sick,crp")
    assert result.status == 0
    assert result.out.startswith("visits: 20 rows, 2 features, 1 label, 3 columns left out\n")
    assert "label: 10 of 20 yes" in result.out


def test_every_option_arrives(mltsk, visits):
    said = ["--id", "weight", "--nominal", "patient", "--ordinal", "stage: 1 < 2 < 3", "--missing", "<4.0"]
    result = mltsk("columns", visits, "--label-column", "sick", "--separator", ",", "--number", "asthma", *said)
    assert result.status == 0
    kinds = {line.split()[0]: line.split()[1] for line in result.out.splitlines()[3:9]}
    wanted = ["nominal", "identifier", "constant", "ordinal", "number", "label"]
    assert kinds == dict(zip(["patient", "weight", "crp", "stage", "asthma", "sick"], wanted, strict=True))


def test_cells_that_cannot_be_read_are_reported_and_refused(mltsk, visits):
    result = mltsk("columns", visits, "--number", "crp")
    assert result.status == 2
    assert "crp      number" in result.out
    assert result.err.startswith("mltsk: Column 'crp', row 1: '<4.0' is not a number (4 such cells): ")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--drop", "wieght"], "did you mean 'weight'?"),
        (["--labels", "asthma", "--label-column", "sick"], "not both"),
        (["--labels", "stage"], "Label 'stage' holds '1', '2', '3'"),
        (["--ordinal", "stage"], "is not written as"),
    ],
)
def test_bad_input_is_one_sentence(refused, visits, args, says):
    assert says in refused("columns", visits, *args)


def test_a_file_that_is_not_there(refused, tmp_path):
    assert "there is no such file" in refused("columns", tmp_path / "none.csv")
