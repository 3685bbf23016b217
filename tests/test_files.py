"""Files appear whole or not at all."""

import csv
import io
import os
import subprocess
import sys
from contextlib import suppress

import pytest

from mltsk.exceptions import InputError
from mltsk.files import check_inputs_outside, check_outputs, csv_text
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


def mode_of(path):
    return path.stat().st_mode & 0o7777


needs_modes = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX modes")


@needs_modes
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_writing_keeps_the_mode_of_a_file(tmp_path, mode):
    path = tmp_path / "file"
    path.write_bytes(b"before")
    path.chmod(mode)
    with writing(path) as file:
        file.write(b"secret")
        file.flush()
        (temporary,) = tmp_path.glob(".mltsk-*.tmp")
        assert mode_of(temporary) == mode
    assert (path.read_bytes(), mode_of(path)) == (b"secret", mode)


@needs_modes
@pytest.mark.parametrize(("mask", "mode"), [(0o077, 0o600), (0o002, 0o664)])
def test_writing_a_new_file_respects_the_umask(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        with writing(tmp_path / "file") as file:
            file.write(b"new")
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "file") == mode


@pytest.mark.parametrize("exists", [True, False])
def test_writing_goes_through_a_link_and_leaves_it_a_link(tmp_path, exists):
    target = tmp_path / "elsewhere" / "target"
    target.parent.mkdir()
    if exists:
        target.write_bytes(b"before")
    link = tmp_path / "link"
    link.symlink_to(target)
    (tmp_path / "second").symlink_to("link")
    with writing(tmp_path / "second") as file:
        file.write(b"after")
        file.flush()
        assert target.exists() == exists
    assert target.read_bytes() == b"after"
    assert link.is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert len(list(tmp_path.iterdir())) == 3


def test_writing_without_follow_link_replaces_the_link(tmp_path):
    (tmp_path / "target").write_bytes(b"before")
    (tmp_path / "link").symlink_to("target")
    with writing(tmp_path / "link", follow_link=False) as file:
        file.write(b"after")
    assert (tmp_path / "target").read_bytes() == b"before"
    assert (tmp_path / "link").read_bytes() == b"after"
    assert not (tmp_path / "link").is_symlink()


def test_check_target_refuses_links_that_lead_nowhere(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match="leads to itself"):
        check_target(tmp_path / "loop")
    (tmp_path / "away").symlink_to("no/file")
    with pytest.raises(InputError, match="no does not exist"):
        check_target(tmp_path / "away")


@pytest.mark.skipif(getattr(os, "getuid", int)() == 0, reason="root may write all")
def test_check_target_refuses_a_file_that_is_protected(tmp_path):
    (tmp_path / "file").write_bytes(b"mine")
    (tmp_path / "file").chmod(0o444)
    with pytest.raises(InputError, match="protected against writing"):
        check_target(tmp_path / "file")


def test_check_outputs_takes_files_that_are_not_the_same(tmp_path):
    for name in ("in", "old"):
        (tmp_path / name).write_bytes(b"")
    outputs = [tmp_path / "new", tmp_path / "old"]
    check_outputs(outputs, [tmp_path / "in", tmp_path / "none", "a\0b"])
    check_outputs([os.devnull, os.devnull], [os.devnull])


def test_check_outputs_names_both_where_their_names_differ(tmp_path):
    (tmp_path / "in").write_bytes(b"")
    (tmp_path / "link").symlink_to("in")
    with pytest.raises(InputError, match=r"link is the same file as .*in, which is"):
        check_outputs([tmp_path / "link"], [tmp_path / "in"])
    with pytest.raises(InputError, match="in is a file that is read here"):
        check_outputs([tmp_path / "in"], [tmp_path / "in"])


def test_check_inputs_outside_finds_an_input_behind_links(tmp_path):
    folder = tmp_path / "tables"
    check_inputs_outside(folder, [tmp_path / "file"])  # it does not exist yet
    folder.mkdir()
    (folder / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to(folder / "file")
    check_inputs_outside(folder, [tmp_path / "other"])
    with pytest.raises(InputError, match="lies in"):
        check_inputs_outside(folder, [tmp_path / "link"])


def test_check_outputs_refuses_a_way_through_a_folder_that_is_not_there(tmp_path):
    (tmp_path / "in").write_text("mine")
    out = os.path.join(tmp_path, "no", "..", "in")  # which `Path` keeps as it is
    with pytest.raises(InputError, match="does not exist"):
        check_outputs([out], [tmp_path / "in"])
    with pytest.raises(InputError, match="does not exist"), writing(out) as file:
        file.write(b"lost")
    assert (tmp_path / "in").read_text() == "mine"
