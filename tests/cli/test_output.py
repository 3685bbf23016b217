"""What commands print and write."""

import warnings

from mltsk.cli.output import aligned, noted_warnings, write_rows, write_text


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


def test_rows_are_quoted_where_needed(tmp_path, capsys):
    write_rows(["a, b", 'c"d'], [[1, "x\ny"]], str(tmp_path / "f.csv"))
    expected = '"a, b","c""d"\n1,"x\ny"\n'
    assert (tmp_path / "f.csv").read_bytes().decode() == expected
    write_rows(["a, b", 'c"d'], [[1, "x\ny"]], "-")
    assert capsys.readouterr().out == expected


def test_half_a_table_is_never_left(tmp_path):
    def rows():
        yield [1]
        raise KeyboardInterrupt

    try:
        write_rows(["a"], rows(), str(tmp_path / "f.csv"))
    except KeyboardInterrupt:
        assert not list(tmp_path.iterdir())


def test_text_ends_with_a_line_end_on_standard_output(capsys):
    write_text("ünï", "-")
    assert capsys.readouterr().out == "ünï\n"
