"""Outputs replace what is there, but no table, model or document of the user."""

import shutil

import pytest

TABLE = "patient,age,probability of rain\n1,50,0.5\n"
POINTS = "label,part,feature\nill,1,age\n"
OTHER_TABLE = "is a table that mltsk did not write"


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
    ("words", "name", "content", "what"),
    [
        ("fit {data} --labels 5", "model.skops", "PK\x03\x04 letters", "an archive"),
        ("fit {data} --labels 5", "other", TABLE, OTHER_TABLE),
        ("fit {data} --labels 5", "other.old", "\ufeff" + TABLE, OTHER_TABLE),
        ("fit {data} --labels 5", "site", '{"format": "mltsk plan"}', "is a plan"),
        ("predict {model} {data}", "other.csv", TABLE, OTHER_TABLE),
        ("predict {model} {data}", "one.csv", "patient\n1\n2\n", OTHER_TABLE),
        ("predict {model} {data}", "other.csv", POINTS, "is a sheet of points"),
        ("predict {model} {data}", "model", "\x80\x04\x95", "is a pickle"),
        ("points {model} {data}", "other.csv", TABLE, OTHER_TABLE),
        ("second-look {model} {data}", "other.csv", TABLE, OTHER_TABLE),
        ("rules {model}", "rules.txt", TABLE.replace(",", "\t"), OTHER_TABLE),
        ("explore {model}", "page.html", "%PDF-1.7", "is a PDF"),
        ("methods {model} {data}", "paper.docx", "PK\x03\x04 mine", "an archive"),
    ],
)
def test_commands_replace_no_file_of_value_of_another_kind(
    words, name, content, what, refused, model, awkward, tmp_path
):
    out = tmp_path / name
    out.write_bytes(content.encode("latin-1" if "\x80" in content else "utf-8"))
    before = out.read_bytes()
    line = refused(words.format(model=model, data=awkward), "--out", out)
    assert str(out) in line
    assert what in line
    assert "would replace it: write to another file" in line
    assert out.read_bytes() == before


def test_commands_replace_no_model_and_no_wide_table(refused, model, awkward, tmp_path):
    out = tmp_path / "out"
    shutil.copy(model, out)
    assert "is a model" in refused("rules", model, "--out", out)
    names = ",".join(f"name of column {number}" for number in range(10_000))
    out.write_text(f"{names}\n{',' * 9999}\n", encoding="utf-16")
    assert OTHER_TABLE in refused("predict", model, awkward, "--out", out)


@pytest.mark.parametrize(
    ("words", "name", "content"),
    [
        ("fit {data} --labels 5 --rules 0", "notes", "what I did\non Monday, at 9"),
        ("fit {data} --labels 5 --rules 0", "model.skops", "\0" * 3000),
        ("predict {model} {data}", "predictions.csv", "to be done\n"),
        ("rules {model}", "rules.txt", "one, two\nthree"),
        ("rules {model} --format json", "settings.json", '{"theme": "dark"}'),
        ("explore {model}", "page.html", "<!doctype html>\n<p>of another program"),
    ],
)
def test_commands_replace_unknown_text(
    words, name, content, succeeds, model, awkward, tmp_path
):
    out = tmp_path / name
    out.write_text(content)
    succeeds(words.format(model=model, data=awkward), "--out", out)
    assert out.read_bytes() != content.encode()


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
    assert OTHER_TABLE in refused("export", model, "--onnx", graph)
    table = tmp_path / "table.csv"
    assert "is the name of a table" in refused("export", model, "--json", table)
