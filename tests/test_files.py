"""Files appear whole or not at all."""

import csv
import io
import os
import subprocess
import sys
from contextlib import suppress

import pytest

from mltsk.exceptions import InputError
from mltsk.files import csv_text
from mltsk.io import check_target, writing


def test_writing_keeps_the_old_file_and_no_half_where_it_fails(tmp_path):
    saved = tmp_path / "file"
    saved.write_bytes(b"before")
    with suppress(KeyboardInterrupt), writing(saved) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert saved.read_bytes() == b"before"
    assert len(list(saved.parent.iterdir())) == 1


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="needs a device")
def test_writing_does_not_replace_a_device():
    with writing(os.devnull) as file:
        file.write(b"gone")
    assert not os.path.isfile(os.devnull)


def test_check_target_refuses_a_place_where_no_file_can_be(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        check_target(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        check_target(tmp_path / "no" / "file")
    check_target(tmp_path / "file")


def test_check_target_refuses_a_name_that_no_file_can_have(tmp_path):
    with pytest.raises(InputError, match=r"a\\x00b is not a valid name of a file"):
        check_target(tmp_path / "a\0b")


def test_writing_removes_what_killed_processes_left_and_nothing_of_living_ones(
    tmp_path,
):
    pytest.importorskip("fcntl")
    code = """
import os, sys
from mltsk.files import writing
with writing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "killed")], check=False)
    assert len(list(tmp_path.iterdir())) == 1
    with writing(tmp_path / "outer") as outer:
        outer.write(b"1")
        outer.flush()
        with writing(tmp_path / "inner") as inner:
            inner.write(b"2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["inner", "outer"]


def test_writing_to_a_full_disk_is_one_sentence_and_changes_nothing(tmp_path):
    resource = pytest.importorskip("resource")
    (tmp_path / "file").write_bytes(b"before")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
    try:
        refused = pytest.raises(
            OSError, match="file cannot be written: File too large; nothing was changed"
        )
        with refused, writing(tmp_path / "file") as file:
            file.write(bytes(10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert (tmp_path / "file").read_bytes() == b"before"
    assert len(list(tmp_path.iterdir())) == 1


FORMULAS = ["=1+1", "+1+1", "-1+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "\r=1", "＝1"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_csv_text_disarms_formulas_in_headers_and_cells(formula):
    text = csv_text([formula, "b"], [["a", formula]])
    header, row = csv.reader(io.StringIO(text, newline=""))
    assert header == [f"'{formula}", "b"]
    assert row == ["a", f"'{formula}"]


def test_csv_text_leaves_numbers_and_words_and_empty_cells_as_they_are():
    text = csv_text(["a", "b c"], [[-0.5, "-0.5"], [None, "+1e5"], [True, "x=1"]])
    assert text == "a,b c\n-0.5,-0.5\n,+1e5\nTrue,x=1\n"


def test_csv_text_puts_a_carriage_return_into_quotes():
    assert csv_text(["a"], [["x\r=1+1"]]) == 'a\n"x\r=1+1"\n'
