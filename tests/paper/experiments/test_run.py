"""Runs: same numbers with one process or two, going on where one stopped, failures that do not stop the rest."""

import json
import subprocess
import sys

import pytest

from mltsk.exceptions import InputError
from mltsk.paper.experiments import run
from mltsk.paper.experiments.definition import pick_datasets, pick_methods
from mltsk.paper.experiments.reproduce import reproduce
from mltsk.paper.experiments.run import Cluster, Progress
from mltsk.paper.experiments.store import VALUES, Cell, Outcome, Store

EVERY = ["paper", "strict", "nested"]
DEADLY = {"key": "deadly", "class": "tests_deadly:Deadly"}


def scores_of(folder):
    with Store.open(folder) as store:
        found = store.results().scores.astype(
            {"setting": str, "method": str, "protocol": str, "chosen_by": str}
        )
    order = ["protocol", "method", "fold", "chosen_by", "setting"]
    return found.sort_values(order)[[*order, *VALUES]].values.tolist()


def test_one_process_and_two_give_the_same_numbers(small, tmp_path):
    for jobs in (1, 2):
        reproduce(small(protocols=EVERY), tmp_path / str(jobs), jobs=jobs)
    assert scores_of(tmp_path / "1") == scores_of(tmp_path / "2")


def test_a_run_goes_on_where_it_stopped_and_repeats_nothing(small, tmp_path):
    def stop(progress, cell, outcome):
        if progress.done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(small(), tmp_path / "a", report=stop)
    begun = []
    second = reproduce(
        small(),
        tmp_path / "a",
        report=lambda p, cell, o: begun.append(cell) if cell else None,
    )
    reproduce(small(), tmp_path / "b")
    assert len(begun) == second.total - 4
    assert scores_of(tmp_path / "a") == scores_of(tmp_path / "b")
    assert reproduce(small(), tmp_path / "a").done == second.total


def test_a_failing_method_does_not_stop_the_others(small, tmp_path):
    broken = {
        "key": "broken",
        "class": "mltsk.paper.methods:MLkNN",
        "grids": {"paper": {"n_neighbors": [-1]}},
    }
    definition = small()
    methods = [broken, *(m.model_dump(by_alias=True) for m in definition.methods)]
    progress = reproduce(small(methods=methods), tmp_path / "out")
    with Store.open(tmp_path / "out") as store:
        cells = store.results().cells
    assert progress.failed == 3
    assert cells.groupby("method")["status"].agg(set).to_dict() == {
        "broken": {"failed"}, "ml-knn": {"done"}, "ml-tsk-fs": {"done"},
    }  # fmt: skip


def test_a_nested_choice_looks_at_inner_folds_alone(small, tmp_path):
    reproduce(small(protocols=["nested"]), tmp_path / "out")
    with Store.open(tmp_path / "out") as store:
        scores = store.results().scores
        inner = store._connection.execute(
            "SELECT text, avg(AP) FROM score JOIN cell ON key = cell JOIN setting ON id = score.setting "
            "WHERE kind = 'inner' AND method = 'ml-knn' AND fold = 0 GROUP BY text ORDER BY 2 DESC, 1"
        ).fetchone()
    row = scores[
        (scores["method"] == "ml-knn")
        & (scores["fold"] == 0)
        & (scores["chosen_by"] == "AP")
    ]
    assert json.loads(row["setting"].iloc[0]) == json.loads(inner[0])
    assert sorted(scores["chosen_by"].unique()) == ["AP", "CV", "HL", "OE", "RL"]


def test_a_folder_grows_but_never_mixes(small, tmp_path):
    first, second = ([m] for m in small().methods)
    reproduce(
        small(methods=[m.model_dump(by_alias=True) for m in first]), tmp_path / "out"
    )
    reproduce(
        small(methods=[m.model_dump(by_alias=True) for m in second], seeds=[1]),
        tmp_path / "out",
    )
    with Store.open(tmp_path / "out") as store:
        run = store.description()
    assert (list(run["methods"]), run["seeds"]) == (["ml-knn", "ml-tsk-fs"], [0, 1])
    with pytest.raises(InputError, match="holds results with folds = 3"):
        reproduce(small(folds=4), tmp_path / "out")
    with pytest.raises(InputError, match="holds toy with the grid 'paper'"):
        reproduce(small(grid="fast"), tmp_path / "out")


def test_a_process_that_dies_is_the_failure_of_its_cell(small, tmp_path, monkeypatch):
    (tmp_path / "tests_deadly.py").write_text(
        "import os\nfrom mltsk.paper.methods import MLkNN\n"
        "class Deadly(MLkNN):\n    def grid_path(self, *args):\n        os._exit(9)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    methods = [DEADLY, small().methods[0].model_dump(by_alias=True)]
    progress = reproduce(small(methods=methods), tmp_path / "out", jobs=2)
    with Store.open(tmp_path / "out") as store:
        status = store.results().cells.groupby("method")["status"].agg(list).to_dict()
    assert progress.failed == 3
    assert status == {"deadly": ["failed"] * 3, "ml-knn": ["done"] * 3}


def test_missing_data_are_named_with_the_reason(small, tmp_path, monkeypatch):
    monkeypatch.setenv("MLTSK_DATA", str(tmp_path))
    toy = small().datasets[0].model_dump()
    reproduce(small(datasets=[toy, {"name": "mirflickr"}]), tmp_path / "out")
    with Store.open(tmp_path / "out") as store:
        missing = store.description()["missing"]
    assert "mltsk datasets fetch mirflickr" in missing["mirflickr"]


def test_names_that_are_not_known_are_refused_with_those_that_are(small):
    with pytest.raises(
        InputError,
        match=r"no data set 'yaest': take toy, or a file by its path \(\./yaest\.csv\)",
    ):
        pick_datasets(small(), ["yaest"])
    with pytest.raises(
        InputError, match=r"no method 'knn': take ml-knn, .*import path"
    ):
        pick_methods(small(), ["knn"])
    assert (
        pick_methods(small(), ["sklearn.dummy.DummyClassifier"])[0].path
        == "sklearn.dummy:DummyClassifier"
    )


def test_the_time_left_is_guessed_method_by_method():
    cells = {
        key: Cell("grid", "paper", key[1], key[0], 0, 0, size=10.0)
        for key in (("a", "x"), ("a", "y"), ("b", "x"))
    }
    progress = Progress(total=6)
    for cell in [*cells.values()] * 2:
        progress.expect([cell])
    assert progress.seconds_left(1) is None
    progress.count(cells["a", "x"], Outcome(seconds=1.0))
    assert progress.seconds_left(1) == (3.0, False)  # nothing is known of b
    progress.count(cells["b", "x"], Outcome(seconds=100.0))
    progress.count(cells["a", "y"], Outcome(seconds=2.0))
    assert progress.seconds_left(2) == ((1.0 + 2.0 + 100.0) / 2, True)


@pytest.mark.parametrize(
    ("params", "message"),
    [({"precision": "half"}, "precision"), ({"colour": 1}, "colour")],
)
def test_parameters_that_do_not_suit_a_method_are_refused_before_the_work(
    small, tmp_path, params, message
):
    methods = [
        {
            "key": "ml-tsk-fs",
            "class": "mltsk.paper.methods:PaperMLTSK",
            "params": params,
        }
    ]
    with pytest.raises(InputError, match=f"'ml-tsk-fs' do not suit it.*{message}"):
        reproduce(small(methods=methods), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.fixture
def cluster():
    distributed = pytest.importorskip(
        "distributed", reason='Dask is missing: pip install "mltsk[dask]"'
    )
    options = {
        "n_workers": 1,
        "threads_per_worker": 1,
        "processes": False,
        "dashboard_address": ":0",
    }
    with distributed.LocalCluster(**options, silence_logs=60) as cluster:
        yield cluster


def test_a_cluster_gives_the_numbers_of_this_process(small, tmp_path, cluster):
    definition = small(protocols=["strict", "nested"])
    reproduce(definition, tmp_path / "here")
    progress = reproduce(
        definition, tmp_path / "there", runner=Cluster(cluster.scheduler_address)
    )
    assert progress.done == progress.total
    assert scores_of(tmp_path / "here") == scores_of(tmp_path / "there")


def test_a_cell_that_raises_on_a_worker_is_a_failure_of_that_cell(
    small, tmp_path, cluster, monkeypatch
):
    monkeypatch.setattr(run, "execute", _broken)
    progress = reproduce(
        small(), tmp_path / "out", runner=Cluster(cluster.scheduler_address)
    )
    assert progress.failed == progress.total
    with Store.open(tmp_path / "out") as store:
        assert set(store.results().cells["error"]) == {
            "ModuleNotFoundError: No module named 'mltsk'"
        }


def _broken(*task):
    raise ModuleNotFoundError("No module named 'mltsk'")


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://here:1"])
def test_no_scheduler_is_one_sentence(address):
    pytest.importorskip("distributed")
    with pytest.raises(InputError, match=f"No Dask scheduler answers at {address}"):
        Cluster(address, seconds=0.2)


def test_a_missing_part_is_named_by_its_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r'pip install "mltsk\[dask\]"'):
        Cluster("tcp://127.0.0.1:9")


def test_a_script_that_starts_processes_while_it_is_imported_is_told_so(tmp_path):
    script = tmp_path / "mine.py"
    script.write_text(
        "from mltsk.paper.experiments.run import Processes\nProcesses(2)\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode
    assert "Processes cannot be started" in done.stderr.splitlines()[-1]
