"""Sheets to print, made from a model file and the table it was fitted on."""

import pytest

from mltsk.cli import main


@pytest.fixture(scope="module")
def files(tmp_path_factory, table):
    """A table and a model of it, as files."""
    folder = tmp_path_factory.mktemp("sheets")
    X, Y = table
    X.join(Y).to_csv(folder / "people.csv", index=False)
    arguments = [str(folder / "people.csv"), "--labels", "copd,gout"]
    assert main(["fit", *arguments, "--out", str(folder / "people.skops")]) == 0
    return folder


def test_points_writes_the_sheet_and_says_what_it_costs(files, capsys):
    out = files / "points.html"
    model_and_data = [str(files / "people.skops"), str(files / "people.csv")]
    assert main(["points", *model_and_data, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "whole model" in said
    assert "copd" in said
    assert "Points for gout" in out.read_text(encoding="utf-8")


def test_points_refuses_bad_input_in_one_sentence(files, capsys):
    model = str(files / "people.skops")
    for data, out, words in [
        (str(files / "people.csv"), "points.pdf", "end its name with .html"),
        (str(files / "nothing.csv"), "points.html", "there is no such file"),
        (str(files / "people.csv"), "people.csv", "people.csv"),
    ]:
        before = sorted(files.iterdir())
        assert main(["points", model, data, "--out", str(files / out)]) == 2
        sentence = capsys.readouterr().err.strip().splitlines()[-1]
        assert words in sentence
        assert sorted(files.iterdir()) == before


def test_person_leaves_the_person_out_of_the_fit_and_says_how_sure(files, capsys):
    out = files / "person.html"
    model_and_data = [str(files / "people.skops"), str(files / "people.csv")]
    arguments = ["--row", "12", "--neighbours", "2", "--out", str(out)]
    assert main(["person", *model_and_data, *arguments]) == 0
    page = out.read_text(encoding="utf-8")
    assert "95 % interval" in page
    assert "239 rows without this person" in page
    assert "most alike" in page


def test_person_from_another_table_needs_the_table_of_the_fit_for_an_interval(
    files, capsys, table
):
    X, _ = table
    new = files / "new.csv"
    X[:3].to_csv(new, index=False)
    out = files / "new.html"
    command = ["person", str(files / "people.skops"), str(new), "--row", "3"]
    assert main([*command, "--out", str(out)]) == 0
    assert "name that table with --fitted-on" in capsys.readouterr().err
    assert "There is no interval" in out.read_text(encoding="utf-8")
    fitted_on = ["--fitted-on", str(files / "people.csv")]
    assert main([*command, *fitted_on, "--out", str(out)]) == 0
    assert "240 rows without this person" in out.read_text(encoding="utf-8")


def test_person_refuses_a_row_that_is_not_there(files, capsys):
    model_and_data = [str(files / "people.skops"), str(files / "people.csv")]
    out = str(files / "nobody.html")
    assert main(["person", *model_and_data, "--row", "900", "--out", out]) == 2
    assert "has 240 rows: there is no row 900" in capsys.readouterr().err


def test_second_look_lists_labels_to_check(files, capsys):
    model_and_data = [str(files / "people.skops"), str(files / "people.csv")]
    assert main(["second-look", *model_and_data, "--rows", "4"]) == 0
    said = capsys.readouterr()
    assert len(said.out.strip().splitlines()) == 5
    assert said.out.startswith("row,label,recorded,probability,by_chance")
    assert "480 recorded labels were looked at" in said.err


def test_methods_writes_a_document(files, capsys):
    out = files / "methods.docx"
    model_and_data = [str(files / "people.skops"), str(files / "people.csv")]
    assert main(["methods", *model_and_data, "--out", str(out)]) == 0
    assert out.read_bytes().startswith(b"PK")
    bad = str(files / "methods.txt")
    assert main(["methods", *model_and_data, "--out", bad]) == 2
    assert "end its name with" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["points", "second-look", "methods"])
def test_sheets_refuse_another_table_than_that_of_the_fit(files, capsys, command):
    lines = (files / "people.csv").read_text().splitlines(keepends=True)
    (files / "others.csv").write_text("".join(lines[:101]))
    model_and_data = [str(files / "people.skops"), str(files / "others.csv")]
    before = sorted(files.iterdir())
    assert main([command, *model_and_data, "--out", str(files / "new.md")]) == 2
    sentence = capsys.readouterr().err.strip().splitlines()[-1]
    assert sentence.endswith(
        "others has 100 rows, but the model was fitted on 240 rows: give the table of "
        "the fit."
    )
    assert sorted(files.iterdir()) == before
