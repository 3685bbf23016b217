"""Sheets to print, made from a model file and the table it was fitted on."""

import pandas as pd
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


@pytest.mark.parametrize("command", ["points", "second-look", "methods"])
def test_sheets_refuse_another_table_of_the_same_length(
    files, capsys, table, tmp_path, command
):
    X, Y = table
    other = tmp_path / "people.csv"
    X.assign(age=X["age"].where(X.index != 7, 99.0)).join(Y).to_csv(other, index=False)
    name = {"points": "sheet.md", "methods": "text.md"}.get(command, "look.csv")
    out = ["--out", str(tmp_path / name)]
    assert main([command, str(files / "people.skops"), str(other), *out]) == 2
    assert "another table of 240 rows than" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [other]


def test_person_has_no_interval_from_another_table_of_the_same_name_and_length(
    files, capsys, table, tmp_path
):
    X, Y = table
    other = tmp_path / "people.csv"
    X[::-1].join(Y).to_csv(other, index=False)
    out = ["--row", "1", "--out", str(tmp_path / "person.html")]
    assert main(["person", str(files / "people.skops"), str(other), *out]) == 0
    assert "is not the table that the model was fitted on" in capsys.readouterr().err


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


@pytest.fixture
def halves(files, tmp_path, succeeds):
    """A model of the first rows of a table, and these rows and the others as files."""
    people = pd.read_csv(files / "people.csv")
    people[:120].to_csv(tmp_path / "here.csv", index=False)
    people[120:].to_csv(tmp_path / "there.csv", index=False)
    labels = "--labels copd,gout --keep-sums --out"
    succeeds("fit", tmp_path / "here.csv", labels, tmp_path / "here.skops")
    return tmp_path


@pytest.mark.parametrize("command", ["points", "methods", "second-look"])
def test_sheets_refuse_a_table_that_the_model_was_not_fitted_on(
    files, halves, refused, command
):
    out = halves / "sheet.md"
    data = files / "people.csv"
    sentence = refused(command, halves / "here.skops", data, "--out", out)
    assert "was fitted on 120 rows of here, and" in sentence
    assert not out.exists()


@pytest.mark.parametrize("command", ["points", "methods", "second-look"])
def test_sheets_refuse_a_model_that_no_fit_to_a_table_gives(
    halves, succeeds, refused, command
):
    old, new = halves / "here.skops", halves / "adapted.skops"
    succeeds("adapt", old, halves / "there.csv", "--out", new)
    sentence = refused(command, new, halves / "there.csv", "--out", halves / "s.md")
    assert "adapted.skops was adapted to there" in sentence


def test_rules_are_shortened_on_the_table_of_the_fit_alone(files, halves, refused):
    rules = ["rules", halves / "here.skops"]
    sentence = refused(*rules, "--statements 3 --data", files / "people.csv")
    assert "was fitted on 120 rows of here, and" in sentence
    assert "say how short" in refused(*rules, "--data", halves / "here.csv")


def test_explore_refuses_edits_of_a_model_without_sums(files, refused):
    out = files / "page.html"
    sentence = refused("explore", files / "people.skops", "--edits --out", out)
    assert "people.skops cannot be edited: This model holds neither" in sentence
    assert not out.exists()


def test_person_has_no_interval_of_a_model_that_was_adapted(halves, succeeds):
    old, new = halves / "here.skops", halves / "adapted.skops"
    succeeds("adapt", old, halves / "there.csv", "--out", new)
    out = halves / "person.html"
    said = succeeds("person", new, halves / "here.csv", "--row 3 --out", out).err
    assert "There is no interval, because" in said
    assert "was adapted to there: a fit to a table would be another model." in said


def test_person_refuses_neighbours_where_there_are_no_rows_of_the_fit(halves, refused):
    out = halves / "person.html"
    there = ["person", halves / "here.skops", halves / "there.csv", "--row 1"]
    sentence = refused(*there, "--neighbours 2 --out", out)
    assert "no --neighbours to list" in sentence
    assert "--fitted-on" in sentence
    assert not out.exists()


def test_sheets_are_about_the_model_as_it_was_corrected(halves, succeeds):
    corrected = halves / "corrected.skops"
    succeeds("correct", halves / "here.skops", "--without stage --out", corrected)
    points, person = halves / "points.csv", halves / "person.html"
    for model, has_stage in [(halves / "here.skops", True), (corrected, False)]:
        model_and_data = [model, halves / "here.csv"]
        succeeds("points", *model_and_data, "--out", points)
        assert ("stage" in points.read_text()) == has_stage
        succeeds("person", *model_and_data, "--row 3 --out", person)
        assert ("stage = " in person.read_text(encoding="utf-8")) == has_stage
        rules = succeeds("rules", model, "--statements 5 --data", halves / "here.csv")
        assert ("stage" in rules.out.partition("In general")[2]) == has_stage
