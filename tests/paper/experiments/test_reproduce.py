"""Pieces of work: keys that say what numbers depend on, how grids are cut up, and how long they take."""

import pytest

from mltsk.paper.experiments.reproduce import (
    known_seconds,
    measured,
    plan,
    reproduce,
    seconds_of,
)
from mltsk.paper.experiments.store import Cell, Store

GRID = {"grid": {"n_neighbors": [3, 5, 7]}}


def piece(method, dataset, kind="grid"):
    return Cell(kind, "paper", dataset, method, 0, 0, details=GRID)


def test_known_work_takes_what_it_took_and_other_data_in_proportion():
    yeast = known_seconds()["ml-knn", "yeast"]
    assert seconds_of([piece("ml-knn", "yeast")], {"yeast": (2417, 103, 14)}) == (
        pytest.approx(3 * yeast),
        [],
    )
    (seconds, _) = seconds_of(
        [piece("ml-knn", "mine")], {"mine": (2417, 103, 15)}
    )  # nearest to yeast in size
    assert seconds == pytest.approx(3 * yeast * 15 / 14)
    assert (
        seconds_of([piece("ml-knn-unscaled", "yeast")], {"yeast": (2417, 103, 14)})[1]
        == []
    )


def test_a_method_of_which_nothing_is_known_is_named():
    assert seconds_of([piece("mine", "yeast")], {"yeast": (2417, 103, 14)}) == (
        0,
        ["mine"],
    )


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


def cells_of(definition):
    return list(plan(definition, {"toy": (60, 4, 3)}, {"toy": "digest"}))


def test_a_split_grid_is_cut_by_its_parameter(small):
    cells = [cell for cell in cells_of(small()) if cell.method == "ml-tsk-fs"]
    assert {cell.part for cell in cells} == {"n_rules=1", "n_rules=2"}
    assert len(cells) == 2 * 3
    assert all(len(cell.details["grid"]["n_rules"]) == 1 for cell in cells)


def test_keys_are_unique_and_stable(small):
    keys = [
        cell.key
        for cell in cells_of(
            small(protocols=["paper", "strict", "nested"], seeds=[0, 1])
        )
    ]
    assert len(set(keys)) == len(keys)
    assert keys == [
        cell.key
        for cell in cells_of(
            small(protocols=["paper", "strict", "nested"], seeds=[0, 1])
        )
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"folds": 4},
        {"convention": "standard"},
        {"seeds": [5]},
        {"protocols": ["strict"]},
    ],
)
def test_what_changes_numbers_changes_keys(small, change):
    before = {cell.key for cell in cells_of(small())}
    assert before.isdisjoint(cell.key for cell in cells_of(small(**change)))


def test_other_data_have_other_keys(small):
    first = {cell.key for cell in cells_of(small())}
    assert first.isdisjoint(
        cell.key for cell in plan(small(), {"toy": (60, 4, 3)}, {"toy": "other"})
    )


def test_a_final_cell_needs_its_inner_folds(small):
    cells = cells_of(small(protocols=["nested"]))
    finals = [cell for cell in cells if cell.kind == "final"]
    inner = {cell.key: cell for cell in cells if cell.kind == "inner"}
    assert len(finals) == 2 * 3
    for cell in finals:
        assert {inner[key].fold for key in cell.needs} == {cell.fold}
        assert {inner[key].inner for key in cell.needs} == {0, 1}


def test_data_that_are_not_at_hand_have_no_cells(small):
    assert not list(plan(small(), {}, {}))


def test_methods_and_data_may_have_protocols_and_grids_of_their_own(small):
    def planned(**changes):
        definition = small(protocols=["paper", "strict"])
        method = definition.methods[0].model_copy(update=changes)
        return list(
            plan(
                definition.model_copy(update={"methods": [method]}),
                {"toy": (60, 4, 3)},
                {"toy": ""},
            )
        )

    assert {cell.protocol for cell in planned()} == {"paper", "strict"}
    assert {cell.protocol for cell in planned(protocols=["strict"])} == {"strict"}
    assert planned(datasets=["other"]) == []
    fast = {"grids": {"paper": {"n_neighbors": [3, 5]}, "fast": {"n_neighbors": [3]}}}
    for grid_for, size in (({}, 2), ({"toy": "fast"}, 1)):
        assert {
            len(cell.details["grid"]["n_neighbors"])
            for cell in planned(**fast, grid_for=grid_for)
        } == {size}
