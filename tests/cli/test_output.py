"""What commands print and write, and progress: bars on a terminal, lines elsewhere."""

import sys
import warnings

import pandas as pd

from mltsk.cli.output import (
    aligned,
    label_table,
    metric_table,
    noted_warnings,
    working,
    write_text,
)


def test_aligned_puts_numbers_right_and_text_left():
    lines = aligned([["a", "n"], ["long name", 5], ["b", 1000]]).splitlines()
    assert lines == [
        "a             n",
        "long name     5",
        "b          1000",
    ]


def test_metric_table_says_what_is_better():
    metrics = {"model": {"AP": 0.5, "HL": float("nan"), "tied_rows": 12.0}}
    assert metric_table(metrics, metrics["model"]).splitlines() == [
        "metric      model  better",
        "AP         0.5000  higher",
        "HL              -  lower",
        "tied_rows      12",
    ]


def test_label_table_shows_the_first_twenty_labels():
    names = [f"label {i}" for i in range(21)]
    lines = label_table(pd.DataFrame({"AP": 0.5}, index=names), ["AP"]).splitlines()
    assert len(lines) == 22
    assert lines[-2:] == ["label 19  0.5000", "… and 1 more label"]


def test_noted_warnings_are_one_line_each_and_come_once(capsys):
    with noted_warnings():
        for _ in range(2):
            warnings.warn("two\nlines", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "note: two lines\n"


def test_write_text_leaves_the_text_of_a_file_as_it_is(tmp_path):
    write_text("ünï\nx", str(tmp_path / "f.txt"))
    assert (tmp_path / "f.txt").read_bytes() == "ünï\nx".encode()


def test_write_text_ends_standard_output_with_a_line_end(capsys):
    write_text("ünï", "-")
    assert capsys.readouterr().out == "ünï\n"


def test_working_prints_lines_where_there_is_no_terminal(capsys):
    with working("folds", "steps") as show:
        for done in range(3):
            show(done, 2)
    with working("birds", "bytes") as show:
        for done in range(100):
            show(done, None)
    with working("thinking"):
        pass
    assert capsys.readouterr().err.splitlines() == [
        "folds: 1 of 2 steps",
        "folds: 2 of 2 steps",
        "birds: downloading",
        "thinking …",
    ]


def test_working_shows_bars_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with working("folds", "steps") as show:
        show(1, 2)
    with working("birds", "bytes") as show:
        show(1000, 2000)
        show(5, None)
    with working("thinking"):
        pass
    err = capsys.readouterr().err
    assert "1/2" in err
    assert "birds" in err
    assert "thinking" in err
