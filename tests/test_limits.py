"""How much memory a file may take, and readers in a process of their own."""

import pytest

from mltsk.exceptions import InputError
from mltsk.limits import check_size, isolated, memory_limit, too_large
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


def test_isolated_refuses_a_file_for_which_memory_does_not_suffice(file):
    assert "file.toy would take more than" in refusal("raise_memory_error", file)


def test_isolated_limits_the_memory_of_a_reader(file, monkeypatch):
    pytest.importorskip("resource")
    monkeypatch.setenv("MLTSK_MEMORY", "100M")
    assert "more than 100 MiB of memory" in refusal("take_memory", file)
