"""The same numbers on a cluster as here, and what happens when there is none."""

import subprocess
import sys

import pytest

from mltsk.exceptions import InputError
from mltsk.paper.experiments import runners
from mltsk.paper.experiments.reproduce import reproduce
from mltsk.paper.experiments.store import METRICS, Store

distributed = pytest.importorskip("distributed", reason='Dask is missing: pip install "mltsk[dask]"')


@pytest.fixture
def cluster():
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**options, silence_logs=60) as cluster:
        yield cluster


def scores_of(folder):
    with Store.open(folder) as store:
        found = store.results().scores.astype({"setting": str, "method": str, "protocol": str, "chosen_by": str})
    order = ["protocol", "method", "fold", "chosen_by", "setting"]
    return found.sort_values(order)[[*order, *METRICS]].values.tolist()


def test_a_cluster_gives_the_numbers_of_this_process(small, tmp_path, cluster):
    definition = small(protocols=["strict", "nested"])
    reproduce(definition, tmp_path / "here")
    progress = reproduce(definition, tmp_path / "there", runner=runners.Cluster(cluster.scheduler_address))
    assert progress.done == progress.total
    assert scores_of(tmp_path / "here") == scores_of(tmp_path / "there")


def test_a_cell_that_raises_on_a_worker_is_a_failure_of_that_cell(small, tmp_path, cluster, monkeypatch):
    monkeypatch.setattr(runners, "execute", _broken)
    progress = reproduce(small(), tmp_path / "out", runner=runners.Cluster(cluster.scheduler_address))
    assert progress.failed == progress.total
    with Store.open(tmp_path / "out") as store:
        assert set(store.results().cells["error"]) == {"ModuleNotFoundError: No module named 'mltsk'"}


def _broken(*task):
    raise ModuleNotFoundError("No module named 'mltsk'")


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://here:1"])
def test_no_scheduler_is_one_sentence(monkeypatch, address):
    monkeypatch.setattr(runners, "ANSWER_SECONDS", 0.2)
    with pytest.raises(InputError, match=f"No Dask scheduler answers at {address}"):
        runners.Cluster(address)


def test_a_missing_part_is_named_by_its_install_command(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(ImportError, match=r'pip install "mltsk\[dask\]"'):
        runners.Cluster("tcp://127.0.0.1:9")


def test_a_script_that_starts_processes_while_it_is_imported_is_told_so(tmp_path):
    script = tmp_path / "mine.py"
    script.write_text("from mltsk.paper.experiments.runners import Processes\nProcesses(2)\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode
    assert "Processes cannot be started" in done.stderr.splitlines()[-1]
