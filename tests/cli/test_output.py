"""What commands print and write, and progress: bars on a terminal, lines elsewhere."""

import sys
import warnings

from mltsk.cli import output
from mltsk.cli.output import aligned, noted_warnings, write_text


def test_numbers_stand_right_and_text_left():
    assert aligned([["a", "n"], ["long name", 5], ["b", 1000]]).splitlines() == [
        "a             n",
        "long name     5",
        "b          1000",
    ]


def test_a_warning_is_one_line_and_comes_once(capsys):
    with noted_warnings():
        for _ in range(2):
            warnings.warn("two\nlines", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "note: two lines\n"


def test_text_goes_to_a_file_as_it_is(tmp_path):
    write_text("ünï\nx", str(tmp_path / "f.txt"))
    assert (tmp_path / "f.txt").read_bytes() == "ünï\nx".encode()


def test_text_ends_with_a_line_end_on_standard_output(capsys):
    write_text("ünï", "-")
    assert capsys.readouterr().out == "ünï\n"


def test_lines_elsewhere(capsys):
    with output.working("folds", "steps") as report:
        for done in range(3):
            report(done, 2)
    with output.working("birds", "bytes") as report:
        for done in range(100):
            report(done, None)
    with output.working("thinking"):
        pass
    assert (
        capsys.readouterr().err
        == "folds: 1 of 2 steps\nfolds: 2 of 2 steps\nbirds: downloading\nthinking …\n"
    )


def test_bars_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with output.working("folds", "steps") as report:
        report(1, 2)
    with output.working("birds", "bytes") as report:
        report(1000, 2000)
        report(5, None)
    with output.working("thinking"):
        pass
    err = capsys.readouterr().err
    assert "1/2" in err
    assert "birds" in err
    assert "thinking" in err
