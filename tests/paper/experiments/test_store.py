"""The store: whole cells or none, one writer, sentences about other files."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from mltsk.exceptions import InputError
from mltsk.paper.experiments.store import FILE, Cell, Outcome, Row, Store, canonical

DESCRIPTION = {
    "protocols": ["paper"],
    "seeds": [0],
    "folds": 5,
    "n_folds": 5,
    "inner_folds": 3,
    "convention": "paper",
    "datasets": {"toy": {"title": "Toy", "samples": 20}},
    "methods": {"br": {"title": "BR", "grid": {"C": [1.0, 2.0]}, "settings": 2}},
    "missing": {},
    "versions": {"numpy": "2"},
    "grid": "paper",
    "command": "mltsk reproduce",
    "created": "",
    "machine": "",
}


def cell_of(seed=0, **changes):
    return Cell("grid", "paper", "toy", "br", seed=seed, fold=0, **changes)


CELL = cell_of(details={"grid": {"C": [1.0, 2.0]}})
ROWS = (
    Row({"C": 1.0}, (0.5, 0.1, 0.2, 0.3, 0.4, 0.0)),
    Row({"C": 2.0}, (0.6, 0.1, 0.2, 0.3, float("nan"), 0.0)),
)


def test_results_have_what_add_was_given(tmp_path):
    with Store.open(tmp_path, create=True) as store:
        store.describe(DESCRIPTION)
        store.add(CELL, Outcome(ROWS, seconds=1.5), {"numpy": "2"})
    with Store.open(tmp_path) as store:
        results = store.results()
        assert store.done() == {CELL.key}
    assert results.scores[["setting", "AP"]].values.tolist() == [
        ['{"C":1.0}', 0.5],
        ['{"C":2.0}', 0.6],
    ]
    assert results.scores["CV"].isna().tolist() == [False, True]
    assert results.cells[["status", "seconds"]].values.tolist() == [["done", 1.5]]
    assert results.run == DESCRIPTION


def test_add_puts_a_success_in_the_place_of_a_failure(tmp_path):
    with Store.open(tmp_path, create=True) as store:
        store.add(CELL, Outcome(error="out of luck"), {})
        assert store.done() == set()
        store.add(CELL, Outcome(ROWS), {})
        assert store.done() == {CELL.key}
        assert len(store.results().cells) == 1


def test_add_keeps_a_cell_whole_or_not_at_all(tmp_path):
    twice = Outcome((ROWS[0], ROWS[0]))
    with Store.open(tmp_path, create=True) as store:
        with pytest.raises(sqlite3.IntegrityError):
            store.add(CELL, twice, {})
        assert store.results().cells.empty


def test_open_lets_in_one_writer_at_a_time_and_any_reader(tmp_path):
    with Store.open(tmp_path, create=True) as store:
        store.add(CELL, Outcome(ROWS), {})
        with (
            pytest.raises(InputError, match="Another run is writing"),
            Store.open(tmp_path, create=True),
        ):
            pass
        with Store.open(tmp_path) as reader:
            assert len(reader.results().scores) == 2


def test_add_of_a_killed_writer_leaves_whole_cells_and_no_lock(tmp_path):
    code = (
        "import sys; from mltsk.paper.experiments.store import *\n"
        "rows = tuple(Row({'C': i}, (0.5, 0, 0, 0, 0, 0)) for i in range(2000))\n"
        "with Store.open(sys.argv[1], create=True) as store:\n"
        "    for i in range(10**6):\n"
        "        cell = Cell('grid', 'paper', 'toy', 'br', i, 0)\n"
        "        store.add(cell, Outcome(rows), {})\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
    while not (tmp_path / FILE).exists() or _n_cells(tmp_path) < 3:
        time.sleep(0.05)
        assert writer.poll() is None
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    with Store.open(tmp_path, create=True) as store:
        results = store.results()
    assert len(results.scores) == 2000 * len(results.cells)


def _n_cells(folder):
    try:
        with Store.open(folder) as store:
            return len(store.done())
    except InputError:  # its tables are being made
        return 0


def test_open_refuses_other_files_and_newer_ones(tmp_path):
    with (
        pytest.raises(InputError, match="holds no results: run `mltsk reproduce"),
        Store.open(tmp_path),
    ):
        pass
    text = b"no database at all, but long enough to look like one"
    (tmp_path / FILE).write_bytes(text * 20)
    with (
        pytest.raises(InputError, match="is no store of results"),
        Store.open(tmp_path),
    ):
        pass
    (tmp_path / FILE).unlink()
    with Store.open(tmp_path, create=True):
        pass
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(InputError, match="newer mltsk"), Store.open(tmp_path):
        pass


def filled(folder):
    with Store.open(folder, create=True) as store:
        store.describe(DESCRIPTION)
        for seed in range(1, 31):
            store.add(cell_of(seed), Outcome(ROWS), {})
    return folder / FILE


def test_open_reads_a_copy_that_can_only_be_read(tmp_path, monkeypatch):
    filled(tmp_path)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    before = sorted(tmp_path.iterdir())
    with Store.open(tmp_path) as store:
        assert len(store.results().cells) == 30
    with (
        Store.open(tmp_path / "other", create=True) as store,
        Store.open(tmp_path) as source,
    ):
        assert store.absorb(source) == 30
    assert sorted(set(tmp_path.iterdir()) - {tmp_path / "other"}) == before


@pytest.mark.parametrize("seed", range(8))
def test_results_of_damaged_pages_are_a_sentence(tmp_path, seed):
    path = filled(tmp_path)
    rng = random.Random(seed)
    content = bytearray(path.read_bytes())
    for at in rng.sample(range(100, len(content)), len(content) // 20):
        content[at] = rng.randrange(256)
    path.write_bytes(content)
    with pytest.raises(InputError, match="is damaged"), Store.open(tmp_path) as store:
        store.results()


def test_add_on_a_full_disk_keeps_what_was_finished(tmp_path):
    resource = pytest.importorskip("resource")
    path = filled(tmp_path)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, limit[1]))
    many = tuple(Row({"C": i}, (0.5, 0, 0, 0, 0, 0)) for i in range(2000))
    try:
        with (
            pytest.raises(OSError, match="the disk may be full"),
            Store.open(tmp_path, create=True) as store,
        ):
            store.add(CELL, Outcome(many), {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    with Store.open(tmp_path, create=True) as store:
        assert len(store.results().scores) == 60


def test_absorb_brings_folders_together_without_doubles(tmp_path):
    other = cell_of(seed=1)
    for name, cells in {"a": [CELL], "b": [CELL, other]}.items():
        with Store.open(tmp_path / name, create=True) as store:
            for cell in cells:
                store.add(cell, Outcome(ROWS), {})
    with (
        Store.open(tmp_path / "a", create=True) as store,
        Store.open(tmp_path / "b") as source,
    ):
        assert store.absorb(source) == 1
        assert store.absorb(source) == 0
        assert store.done() == {CELL.key, other.key}
        assert len(store.results().scores) == 4


def test_best_settings_are_those_of_the_best_mean_and_the_first_of_equals(tmp_path):
    nan = float("nan")
    rows_of_folds = [
        (
            Row({"C": 1}, (0.4, 0, 0, 0, nan, 0)),
            Row({"C": 2}, (0.9, 0.2, 0, 0, 0.5, 0)),
        ),
        (
            Row({"C": 1}, (0.6, 0.2, 0, 0, nan, 0)),
            Row({"C": 2}, (0, 0.1, 0, 0, 0.5, 0)),
        ),
    ]
    keys = []
    with Store.open(tmp_path, create=True) as store:
        for i, rows in enumerate(rows_of_folds):
            cell = Cell("inner", "nested", "toy", "br", seed=0, fold=0, inner=i)
            store.add(cell, Outcome(rows), {})
            keys.append(cell.key)
        best = store.best_settings(keys)
        chosen = {metric: setting["C"] for metric, setting in best.items()}
        assert chosen == {"AP": 1, "HL": 1, "OE": 1, "RL": 1, "CV": 2}
        assert store.results().scores.empty


def test_canonical_text_does_not_depend_on_order():
    first = {"a": (1, 2), "b": {"d": 1.5, "c": None}}
    second = {"b": {"c": None, "d": 1.5}, "a": [1, 2]}
    assert canonical(first) == canonical(second)


def test_str_of_a_cell_reads_well():
    cell = Cell(
        kind="inner",
        protocol="nested",
        dataset="flags",
        method="br",
        seed=0,
        fold=1,
        inner=2,
        part="n_rules=3",
    )
    assert str(cell) == "br on flags, nested fold 2.3 (n_rules=3)"
