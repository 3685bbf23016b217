"""Runs: the same numbers with one process or two, and failures that stop no others."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from mltsk.exceptions import InputError
from mltsk.paper.experiments import run
from mltsk.paper.experiments.reproduce import reproduce
from mltsk.paper.experiments.run import Cluster, Progress
from mltsk.paper.experiments.store import FILE, VALUES, Cell, Outcome, Store

EVERY = ["paper", "strict", "nested"]


def scores_of(folder):
    with Store.open(folder) as store:
        scores = store.results().scores
    texts = ["protocol", "method", "chosen_by", "setting"]
    order = ["protocol", "method", "fold", "chosen_by", "setting"]
    scores = scores.astype(dict.fromkeys(texts, str)).sort_values(order)
    return scores[[*order, *VALUES]].values.tolist()


def cells_in(folder):
    with Store.open(folder) as store:
        return store.results().cells


def test_run_gives_the_same_numbers_with_one_process_and_two(small, tmp_path):
    for jobs in (1, 2):
        reproduce(small(protocols=EVERY), tmp_path / str(jobs), jobs=jobs)
    assert scores_of(tmp_path / "1") == scores_of(tmp_path / "2")


def test_run_goes_on_where_it_stopped_and_repeats_nothing(small, tmp_path):
    def stop(progress, cell, outcome):
        if progress.done == 4:
            raise KeyboardInterrupt

    finished = []

    def note(progress, cell, outcome):
        if cell is not None:
            finished.append(cell)

    with pytest.raises(KeyboardInterrupt):
        reproduce(small(), tmp_path / "a", report=stop)
    second = reproduce(small(), tmp_path / "a", report=note)
    reproduce(small(), tmp_path / "b")
    assert len(finished) == second.total - 4
    assert scores_of(tmp_path / "a") == scores_of(tmp_path / "b")
    assert reproduce(small(), tmp_path / "a").done == second.total


def test_run_goes_on_after_a_failing_method(small, tmp_path):
    broken = {
        "key": "broken",
        "class": "mltsk.paper.methods:MLkNN",
        "grids": {"paper": {"n_neighbors": [-1]}},
    }
    sound = [method.model_dump(by_alias=True) for method in small().methods]
    progress = reproduce(small(methods=[broken, *sound]), tmp_path / "out")
    cells = cells_in(tmp_path / "out")
    assert progress.failed == 3
    assert cells.groupby("method")["status"].agg(set).to_dict() == {
        "broken": {"failed"},
        "ml-knn": {"done"},
        "ml-tsk-fs": {"done"},
    }


def test_run_chooses_under_nested_by_inner_folds_alone(small, tmp_path):
    reproduce(small(protocols=["nested"]), tmp_path / "out")
    query = (
        "SELECT text, avg(AP) FROM score JOIN cell ON key = cell "
        "JOIN setting ON id = score.setting "
        "WHERE kind = 'inner' AND method = 'ml-knn' AND fold = 0 "
        "GROUP BY text ORDER BY 2 DESC, 1"
    )
    with Store.open(tmp_path / "out") as store:
        scores = store.results().scores
    with closing(sqlite3.connect(tmp_path / "out" / FILE)) as database:
        best, _ = database.execute(query).fetchone()
    is_first_fold = (scores["method"] == "ml-knn") & (scores["fold"] == 0)
    row = scores[is_first_fold & (scores["chosen_by"] == "AP")]
    assert json.loads(row["setting"].iloc[0]) == json.loads(best)
    assert sorted(scores["chosen_by"].unique()) == ["AP", "CV", "HL", "OE", "RL"]


def test_run_takes_a_process_that_dies_for_the_failure_of_its_cell(
    small, tmp_path, monkeypatch
):
    (tmp_path / "tests_deadly.py").write_text(
        "import os\nfrom mltsk.paper.methods import MLkNN\n"
        "class Deadly(MLkNN):\n    def grid_path(self, *args):\n        os._exit(9)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    deadly = {"key": "deadly", "class": "tests_deadly:Deadly"}
    methods = [deadly, small().methods[0].model_dump(by_alias=True)]
    progress = reproduce(small(methods=methods), tmp_path / "out", jobs=2)
    status = cells_in(tmp_path / "out").groupby("method")["status"].agg(list)
    assert progress.failed == 3
    assert status.to_dict() == {"deadly": ["failed"] * 3, "ml-knn": ["done"] * 3}


def test_seconds_left_are_guessed_method_by_method():
    cells = {}
    for method, dataset in (("a", "x"), ("a", "y"), ("b", "x")):
        cells[method, dataset] = Cell(
            "grid", "paper", dataset, method, seed=0, fold=0, size=10.0
        )
    progress = Progress(total=6)
    progress.expect([*cells.values(), *cells.values()])
    assert progress.seconds_left(1) is None
    progress.count(cells["a", "x"], Outcome(seconds=1.0))
    assert progress.seconds_left(1) == (3.0, False)  # nothing is known of b
    progress.count(cells["b", "x"], Outcome(seconds=100.0))
    progress.count(cells["a", "y"], Outcome(seconds=2.0))
    assert progress.seconds_left(2) == ((1.0 + 2.0 + 100.0) / 2, True)


@pytest.fixture
def scheduler():
    """The address of a cluster of one thread."""
    distributed = pytest.importorskip(
        "distributed", reason='Dask is missing: pip install "mltsk[dask]"'
    )
    cluster = distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        dashboard_address=":0",
        silence_logs=60,
    )
    with cluster:
        yield cluster.scheduler_address


def test_a_cluster_gives_the_numbers_of_this_process(small, tmp_path, scheduler):
    definition = small(protocols=["strict", "nested"])
    reproduce(definition, tmp_path / "here")
    progress = reproduce(definition, tmp_path / "there", runner=Cluster(scheduler))
    assert progress.done == progress.total
    assert scores_of(tmp_path / "here") == scores_of(tmp_path / "there")


def test_a_cluster_takes_an_error_of_a_worker_for_the_failure_of_its_cell(
    small, tmp_path, scheduler, monkeypatch
):
    monkeypatch.setattr(run, "execute", _broken)
    progress = reproduce(small(), tmp_path / "out", runner=Cluster(scheduler))
    assert progress.failed == progress.total
    errors = set(cells_in(tmp_path / "out")["error"])
    assert errors == {"ModuleNotFoundError: No module named 'mltsk'"}


def _broken(*task):
    raise ModuleNotFoundError("No module named 'mltsk'")


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://here:1"])
def test_a_cluster_without_a_scheduler_is_one_sentence(address):
    pytest.importorskip("distributed")
    with pytest.raises(InputError, match=f"No Dask scheduler answers at {address}"):
        Cluster(address, seconds=0.2)


def test_a_cluster_without_dask_names_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r'pip install "mltsk\[dask\]"'):
        Cluster("tcp://127.0.0.1:9")


def test_processes_that_a_script_starts_while_it_is_imported_are_refused(tmp_path):
    script = tmp_path / "mine.py"
    script.write_text(
        "from mltsk.paper.experiments.run import Processes\nProcesses(2)\n"
    )
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode
    assert "Processes cannot be started" in done.stderr.splitlines()[-1]
