"""How long work takes, from what it took."""

import pytest

from mltsk.paper.experiments.cells import Cell
from mltsk.paper.experiments.reproduce import known_seconds, measured, reproduce, seconds_of
from mltsk.paper.experiments.store import Store

GRID = {"grid": {"n_neighbors": [3, 5, 7]}}


def piece(method, dataset, kind="grid"):
    return Cell(kind, "paper", dataset, method, 0, 0, details=GRID)


def test_known_work_takes_what_it_took_and_other_data_in_proportion():
    yeast = known_seconds()["ml-knn", "yeast"]
    assert seconds_of([piece("ml-knn", "yeast")], {"yeast": (2417, 103, 14)}) == (pytest.approx(3 * yeast), [])
    (seconds, _) = seconds_of([piece("ml-knn", "mine")], {"mine": (2417, 103, 15)})  # nearest to yeast in size
    assert seconds == pytest.approx(3 * yeast * 15 / 14)
    assert seconds_of([piece("ml-knn-unscaled", "yeast")], {"yeast": (2417, 103, 14)})[1] == []


def test_a_method_of_which_nothing_is_known_is_named():
    assert seconds_of([piece("mine", "yeast")], {"yeast": (2417, 103, 14)}) == (0, ["mine"])


def test_a_run_says_what_its_pieces_took(small, tmp_path):
    reproduce(small(protocols=["paper"]), tmp_path)
    with Store.open(tmp_path) as store:
        results = store.results()
    head, *lines = measured(results).splitlines()
    assert head == "method,dataset,seconds"
    took = {tuple(line.split(",")[:2]): float(line.split(",")[2]) for line in lines}
    spent = results.cells.groupby("method")["cpu_seconds"].sum()
    assert took["ml-knn", "toy"] == pytest.approx(spent["ml-knn"] / 18, rel=1e-3)
    assert took["ml-tsk-fs", "toy"] == pytest.approx(spent["ml-tsk-fs"] / 24, rel=1e-3)
