"""A small slice of `make fuzz`, with the same cases every time, and files that somebody once stumbled over."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOUND = sorted((ROOT / "fuzz" / "found").iterdir())


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="limits of memory are those of Linux"
)
def test_a_slice_of_hostile_files_is_read_or_refused(tmp_path):
    command = [
        sys.executable,
        "-m",
        "fuzz",
        "--cases",
        "40",
        "--jobs",
        "1",
        "--crafted",
        "150",
        "--out",
        str(tmp_path),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "630 files, 0 failures" in done.stdout


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_files_that_were_stumbled_over_are_read_or_refused(path, tmp_path):
    sys.path.insert(0, str(ROOT))
    try:
        from fuzz.worker import verdict
    finally:
        sys.path.remove(str(ROOT))
    assert verdict(path.name.partition(".")[2], path.read_bytes(), "", tmp_path) in (
        "read",
        "refused",
    )
