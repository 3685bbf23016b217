"""A small slice of `make fuzz`, and files that somebody once stumbled over."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STUMBLED_OVER = sorted((ROOT / "fuzz" / "found").iterdir())
GOOD_VERDICTS = {"read", "refused", "contained"}
CASES_PER_KIND = 40
N_CRAFTED = 150


@pytest.fixture(scope="module")
def fuzz():
    """The package of hostile files, which lies beside the tests."""
    sys.path.insert(0, str(ROOT))
    try:
        from fuzz import originals, worker
    finally:
        sys.path.remove(str(ROOT))
    return {"kinds": originals.KINDS, "verdict": worker.verdict}


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="limits of memory are those of Linux"
)
def test_fuzz_main_reads_or_refuses_a_slice_of_hostile_files_of_every_kind(
    fuzz, tmp_path
):
    options = [
        f"--cases={CASES_PER_KIND}",
        f"--crafted={N_CRAFTED}",
        "--jobs=1",
        f"--out={tmp_path}",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "fuzz", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    state = json.loads((tmp_path / "state.json").read_text())
    assert state["failures"] == []
    assert set(state["counts"]) == {"crafted", *fuzz["kinds"]}
    assert sum(state["counts"].pop("crafted").values()) == N_CRAFTED
    for counts in state["counts"].values():
        assert sum(counts.values()) == CASES_PER_KIND
        assert set(counts) <= GOOD_VERDICTS
        assert counts["refused"] > 0


@pytest.mark.parametrize("path", STUMBLED_OVER, ids=lambda path: path.name)
def test_verdict_reads_or_refuses_files_that_were_stumbled_over(fuzz, path, tmp_path):
    kind = path.name.partition(".")[2]
    verdict = fuzz["verdict"](kind, path.read_bytes(), "", tmp_path)
    assert verdict in ("read", "refused")
