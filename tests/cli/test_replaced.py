"""Outputs replace earlier outputs of their kind, and no other file of the user."""

import shutil

import pytest

TABLE = "patient,age,probability of rain\n1,50,0.5\n"
NOT_SUCH = "does not look like"


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("fit {data} --labels 5", "other.csv"),
        ("fit {data} --labels 5", "other.CSV.gz"),
        ("correct {model} --without n", "other.xlsx"),
        ("adapt {model} {data}", "other.tsv"),
        ("predict {model} {data}", "other.xlsx"),
        ("rules {model}", "other.csv"),
        ("explore {model}", "other.ods"),
        ("review {data} --labels 5", "other.parquet"),
        ("person {model} {data} --row 1", "other.csv"),
        ("methods {model} {data}", "other.csv"),
        ("second-look {model} {data}", "other.arff"),
        ("share {data} --labels 5 --summary", "other.sav"),
        ("plan {data}", "other.csv"),
        ("join {data}", "other.dta"),
    ],
)
def test_commands_write_nothing_to_the_name_of_a_table(
    words, name, refused, model, awkward, tmp_path
):
    out = tmp_path / name
    line = refused(words.format(model=model, data=awkward), "--out", out)
    assert str(out) in line
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "name", "content"),
    [
        ("fit {data} --labels 5", "notes", "what I did on Monday"),
        ("fit {data} --labels 5", "model.skops", "PK\x03\x04 another archive"),
        ("predict {model} {data}", "other.csv", TABLE),
        ("points {model} {data}", "other.csv", TABLE),
        ("second-look {model} {data}", "other.csv", TABLE),
        ("rules {model}", "rules.txt", TABLE.replace(",", "\t")),
        ("rules {model} --format json", "settings.json", '{"theme": "dark"}'),
        ("explore {model}", "page.html", "not a page"),
        ("methods {model} {data}", "paper.docx", "PK\x03\x04 my manuscript"),
        ("share {data} --labels 5 --summary", "site.summary", "my summary"),
    ],
)
def test_commands_replace_no_file_of_another_kind(
    words, name, content, refused, model, awkward, tmp_path
):
    out = tmp_path / name
    out.write_bytes(content.encode())
    line = refused(words.format(model=model, data=awkward), "--out", out)
    assert f"{out} is there and {NOT_SUCH}" in line
    assert out.read_bytes() == content.encode()


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("fit {data} --labels 5 --rules 0", "model.skops"),
        ("predict {model} {data}", "predictions.csv"),
        ("rules {model}", "rules.txt"),
        ("rules {model} --format md", "rules.md"),
        ("rules {model} --format json", "rules.json"),
        ("rules {model} --format html", "rules.html"),
        ("second-look {model} {data}", "look.csv"),
        ("points {model} {data}", "points.csv"),
        ("points {model} {data}", "points.md"),
        ("methods {model} {data}", "methods.docx"),
        ("share {data} --labels 5 --summary", "site.summary"),
    ],
)
def test_commands_replace_an_earlier_output_of_theirs(
    words, name, succeeds, model, awkward, tmp_path
):
    out = tmp_path / name
    out.touch()  # as mktemp does
    for _ in range(2):
        succeeds(words.format(model=model, data=awkward), "--out", out)
    assert out.stat().st_size


def test_export_replaces_its_own_files_alone(
    succeeds, refused, model, awkward, tmp_path
):
    graph = tmp_path / "model.onnx"
    plain = tmp_path / "model.json"
    for _ in range(2):
        succeeds("export", model, "--onnx", graph, "--json", plain)
    shutil.copy(awkward, graph)
    assert NOT_SUCH in refused("export", model, "--onnx", graph)
    table = tmp_path / "table.csv"
    assert "is the name of a table" in refused("export", model, "--json", table)
