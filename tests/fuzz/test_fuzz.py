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
        from fuzz import faults, load, originals, worker
    finally:
        sys.path.remove(str(ROOT))
    return {
        "kinds": originals.KINDS,
        "verdict": worker.verdict,
        "load": load,
        "faults": faults,
    }


linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="limits of memory are those of Linux"
)


@linux
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


def test_load_repeat_counts_what_came_out_of_every_worker(fuzz):
    counts = fuzz["load"].repeat(lambda number: f"{number % 2}", workers=4, seconds=0)
    assert counts == {"0": 2, "1": 2}


@linux
def test_load_watch_tells_a_process_that_grows(fuzz, monkeypatch):
    sizes = iter(range(10**6))
    monkeypatch.setattr(fuzz["load"], "resident_mb", lambda: float(next(sizes)))
    monkeypatch.setattr(fuzz["load"], "SECONDS_BETWEEN_LOOKS", 0.001)
    watch = fuzz["load"].Watch()
    watch.start()
    while len(watch.looks) < 50:
        watch.join(0.01)
    memory, memory_later, files, files_later = watch.growth()
    assert memory_later > memory + 20
    assert files_later == files


@linux
@pytest.mark.parametrize("way", ["told_to_end", "killed", "out_of_disk"])
def test_a_fit_that_is_stopped_says_how_and_leaves_the_old_model(fuzz, tmp_path, way):
    faults = fuzz["faults"]
    data = faults.make_multilabel_rules(60, 4, 2)
    faults.write_npz(tmp_path / "data.npz", data)
    model = tmp_path / "model.skops"
    fit = faults.StoppedFit(tmp_path / "data.npz", model)
    model.write_bytes(bytes(3000))
    status, errors = getattr(fit, way)(seconds=1e-9, rng=AlmostNothing())
    assert status in (faults.WAYS[way][0], -15), errors
    assert model.read_bytes() == bytes(3000)


class AlmostNothing:
    """Chance that always takes the least."""

    def uniform(self, least, most):
        return least

    randint = uniform
