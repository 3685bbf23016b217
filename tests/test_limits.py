"""How much memory a file may take, and readers in a process of their own."""

import io
import os
import tempfile
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

from mltsk.exceptions import InputError
from mltsk.limits import (
    OBJECT_CELL_BYTES,
    array_bytes,
    check_size,
    isolated,
    memory_limit,
    read_bounded,
    read_json,
    read_npy,
    too_large,
)
from mltsk.machine import total_memory

READERS = '''
"""Readers that behave in every way that readers do."""
import os, sys, time
from mltsk.exceptions import InputError

def copy(path, out, *words):
    print("what a library prints is no part of the result")
    out.write(path.read_bytes() + " ".join(words).encode())

def crash(path, out):
    os.abort()

def hang(path, out):
    time.sleep(60)

def fail(path, out):
    raise KeyError("no such entry\\nand more lines")

def fail_without_a_word(path, out):
    raise RuntimeError

def refuse(path, out):
    raise InputError("This file has no rows.")

def take_memory(path, out):
    bytes(1 << 33)

def raise_memory_error(path, out):
    raise MemoryError

def die_of_memory_as_c_plus_plus_does(path, out):
    print("  what():  std::bad_alloc", file=sys.stderr, flush=True)
    os.abort()

def write_to_a_full_disk(path, out):
    os.dup2(os.open("/dev/full", os.O_WRONLY), out.fileno())
    out.write(bytes(100))

def write_a_large_file(path, out):
    out.write(bytes(80 << 20))
    out.write(bytes(80 << 20))
'''


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A file, next to a module of readers that can be imported."""
    (tmp_path / "readers_of_all_kinds.py").write_text(READERS)
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "file.toy"
    path.write_bytes(b"content ")
    return path


def refusal(name, path, **options):
    """The sentence with which `isolated` refuses a file."""
    job = isolated(f"readers_of_all_kinds:{name}", path, what="toy file", **options)
    with pytest.raises(InputError) as refused, job:
        pass
    return str(refused.value)


def test_memory_limit_is_a_quarter_of_the_machine_unless_it_is_set(monkeypatch):
    monkeypatch.delenv("MLTSK_MEMORY", raising=False)
    assert memory_limit() == total_memory() // 4


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("12", 12),
        ("3k", 3 << 10),
        ("500M", 500 << 20),
        (" 8G ", 8 << 30),
        ("2T", 2 << 40),
    ],
)
def test_memory_limit_reads_sizes(monkeypatch, text, size):
    monkeypatch.setenv("MLTSK_MEMORY", text)
    assert memory_limit() == size


@pytest.mark.parametrize("text", ["much", "0", "-1", "1.5G", "G", "5X", "1 G", "１G"])
def test_memory_limit_refuses_what_is_no_size(monkeypatch, text):
    monkeypatch.setenv("MLTSK_MEMORY", text)
    with pytest.raises(InputError, match="give a size such as 500M or 8G"):
        memory_limit()


def test_check_size_refuses_what_is_larger_than_the_limit(monkeypatch):
    monkeypatch.setenv("MLTSK_MEMORY", "1000")
    check_size(1000, "toy.csv")
    with pytest.raises(InputError, match=r"toy\.csv would take more than 1 MiB"):
        check_size(1001, "toy.csv")


def test_too_large_says_where_the_limit_comes_from_and_how_to_raise_it(monkeypatch):
    monkeypatch.setenv("MLTSK_MEMORY", "4G")
    assert str(too_large("toy.csv")) == (
        "toy.csv would take more than 4,096 MiB of memory: "
        "save it in parts, or set MLTSK_MEMORY=8G."
    )
    monkeypatch.delenv("MLTSK_MEMORY")
    assert "MiB of memory, a quarter of this machine's memory: " in str(too_large("x"))


def test_isolated_gives_what_the_reader_writes(file):
    job = isolated("readers_of_all_kinds:copy", file, "and", "more", what="toy file")
    with job as out:
        assert out.read() == b"content and more"


@pytest.mark.parametrize(
    ("reader", "reason"),
    [
        ("crash", "it is damaged, so that its reader crashed"),
        ("fail", r"'no such entry\nand more lines'"),
        ("fail_without_a_word", "RuntimeError"),
    ],
)
def test_isolated_says_why_a_file_is_not_readable(file, reader, reason):
    sentence = f"{file} is not a readable toy file: {reason}."
    assert refusal(reader, file) == sentence


def test_isolated_repeats_the_sentence_of_a_reader_that_refuses_a_file(file):
    assert refusal("refuse", file) == "This file has no rows."


def test_isolated_ends_a_reader_that_hangs(file):
    sentence = refusal("hang", file, seconds=1)
    assert sentence.endswith("was not read in 1 seconds: it is damaged, or too large.")


@pytest.mark.parametrize(
    "reader", ["raise_memory_error", "die_of_memory_as_c_plus_plus_does"]
)
def test_isolated_refuses_a_file_for_which_memory_does_not_suffice(file, reader):
    assert "file.toy would take more than" in refusal(reader, file)


def test_isolated_refuses_a_file_whose_content_is_larger_than_the_limit(
    file, monkeypatch
):
    pytest.importorskip("resource")
    monkeypatch.setenv("MLTSK_MEMORY", "100M")
    assert "more than 100 MiB of memory" in refusal("write_a_large_file", file)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is full")
def test_isolated_says_that_the_temporary_folder_is_full(file):
    job = isolated(
        "readers_of_all_kinds:write_to_a_full_disk", file, what="Parquet file"
    )
    with pytest.raises(OSError, match="is full: make space there") as failed, job:
        pass
    assert tempfile.gettempdir() in str(failed.value)
    assert "Parquet" not in str(failed.value)


def test_isolated_says_that_no_temporary_file_can_be_made(file, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(file.parent / "no such folder"))
    job = isolated("readers_of_all_kinds:copy", file, what="toy file")
    with pytest.raises(OSError, match="set TMPDIR to a folder"), job:
        pass


def test_read_bounded_reads_a_file_that_becomes_as_large_as_it_may(file, monkeypatch):
    monkeypatch.setenv("MLTSK_MEMORY", "80")
    assert read_bounded(file, 10) == b"content "
    with pytest.raises(InputError, match=r"file\.toy would take more than"):
        read_bounded(file, 11)


def test_read_bounded_reads_a_pipe(tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"content",))
    writer.start()
    assert read_bounded(pipe, 10) == b"content"
    writer.join()


def test_read_json_refuses_what_is_nested_too_deeply(file):
    file.write_text('[{"a": [1, null]}]', encoding="utf-8")
    assert read_json(file) == [{"a": [1, None]}]
    file.write_text("[" * 100_000)
    with pytest.raises(ValueError, match="nested too deeply"):
        read_json(file)


@pytest.mark.parametrize(
    ("array", "n_bytes"),
    [
        (np.zeros((3, 5)), 8 * 15),
        (np.zeros(10, bool), 8 * 10),
        (np.zeros(10, complex), 16 * 10),
        (np.array(["abc", "d"]), 2 * (12 + OBJECT_CELL_BYTES)),
        (np.zeros((0, 5)), 0),
    ],
)
def test_array_bytes_are_those_of_numbers_of_64_bits_and_of_objects(
    array, n_bytes, tmp_path
):
    np.savez_compressed(tmp_path / "a.npz", a=array)
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert array_bytes(archive, "a.npy") == n_bytes


def test_array_bytes_refuse_a_header_that_says_more_than_there_is(tmp_path):
    path = tmp_path / "a.zip"
    file = io.BytesIO()
    np.save(file, np.zeros(100))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", file.getvalue()[:-8])
        archive.writestr("b.npy", file.getvalue().replace(b"NUMPY\x01", b"NUMPY\x09"))
    with zipfile.ZipFile(path) as archive:
        with pytest.raises(ValueError, match=r"'a\.npy' is shorter than it says"):
            array_bytes(archive, "a.npy")
        with pytest.raises(ValueError):
            array_bytes(archive, "b.npy")


def test_isolated_limits_the_memory_of_a_reader(file, monkeypatch):
    pytest.importorskip("resource")
    monkeypatch.setenv("MLTSK_MEMORY", "100M")
    assert "more than 100 MiB of memory" in refusal("take_memory", file)


@pytest.mark.parametrize("order", ["<", ">"])
def test_read_npy_refuses_a_text_of_characters_that_do_not_exist(order):
    names = np.array(["age", "näme"], dtype=f"{order}U4")
    stream = io.BytesIO()
    np.save(stream, names)
    stream.seek(0)
    np.testing.assert_array_equal(read_npy(stream), names)
    damaged = stream.getvalue()[:-4] + np.array(0x110000, f"{order}u4").tobytes()
    with pytest.raises(ValueError, match="there are no such characters"):
        read_npy(io.BytesIO(damaged))


@pytest.mark.parametrize("array", [np.zeros(3), np.array("", "U0"), np.zeros((0, 2))])
def test_read_npy_returns_other_arrays_as_they_are(array):
    stream = io.BytesIO()
    np.save(stream, array)
    stream.seek(0)
    np.testing.assert_array_equal(read_npy(stream), array)
