"""What commands print and write."""

import warnings

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
