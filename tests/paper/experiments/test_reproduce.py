"""Pieces of work: their keys, how grids are cut up, how long they take; and folders."""

import pytest

from mltsk.exceptions import InputError
from mltsk.paper.experiments.reproduce import (
    known_seconds,
    measured,
    plan,
    reproduce,
    seconds_of,
)
from mltsk.paper.experiments.store import Cell, Store

GRID = {"grid": {"n_neighbors": [3, 5, 7]}}
YEAST = {"yeast": (2417, 103, 14)}
TOY = {"toy": (60, 4, 3)}
EVERY = ["paper", "strict", "nested"]


def piece(method, dataset):
    return Cell("grid", "paper", dataset, method, seed=0, fold=0, details=GRID)


def test_seconds_of_known_work_are_what_it_took():
    yeast = known_seconds()["ml-knn", "yeast"]
    seconds, unknown = seconds_of([piece("ml-knn", "yeast")], YEAST)
    assert seconds == pytest.approx(3 * yeast)
    assert unknown == []


def test_seconds_of_other_data_are_in_proportion_to_the_set_nearest_in_size():
    yeast = known_seconds()["ml-knn", "yeast"]
    seconds, _ = seconds_of([piece("ml-knn", "mine")], {"mine": (2417, 103, 15)})
    assert seconds == pytest.approx(3 * yeast * 15 / 14)


def test_seconds_of_a_variant_are_known_from_its_original():
    _, unknown = seconds_of([piece("ml-knn-unscaled", "yeast")], YEAST)
    assert unknown == []


def test_seconds_of_name_a_method_of_which_nothing_is_known():
    assert seconds_of([piece("mine", "yeast")], YEAST) == (0, ["mine"])


def test_measured_says_what_the_pieces_of_a_run_took(small, tmp_path):
    reproduce(small(protocols=["paper"]), tmp_path)
    with Store.open(tmp_path) as store:
        results = store.results()
    head, *lines = measured(results).splitlines()
    assert head == "method,dataset,seconds"
    took = {}
    for line in lines:
        method, dataset, seconds = line.split(",")
        took[method, dataset] = float(seconds)
    spent = results.cells.groupby("method")["cpu_seconds"].sum()
    assert took["ml-knn", "toy"] == pytest.approx(spent["ml-knn"] / 18, rel=1e-3)
    assert took["ml-tsk-fs", "toy"] == pytest.approx(spent["ml-tsk-fs"] / 24, rel=1e-3)


def cells_of(definition, digest="digest"):
    return list(plan(definition, TOY, {"toy": digest}))


def keys_of(definition, digest="digest"):
    return [cell.key for cell in cells_of(definition, digest)]


def test_plan_cuts_a_grid_by_its_split_parameter(small):
    cells = [cell for cell in cells_of(small()) if cell.method == "ml-tsk-fs"]
    assert {cell.part for cell in cells} == {"n_rules=1", "n_rules=2"}
    assert len(cells) == 2 * 3
    for cell in cells:
        assert len(cell.details["grid"]["n_rules"]) == 1


def test_keys_of_plan_are_unique_and_stable(small):
    keys = keys_of(small(protocols=EVERY, seeds=[0, 1]))
    assert len(set(keys)) == len(keys)
    assert keys == keys_of(small(protocols=EVERY, seeds=[0, 1]))


@pytest.mark.parametrize(
    "change",
    [
        {"folds": 4},
        {"convention": "standard"},
        {"seeds": [5]},
        {"protocols": ["strict"]},
    ],
)
def test_keys_of_plan_change_with_what_changes_numbers(small, change):
    assert set(keys_of(small())).isdisjoint(keys_of(small(**change)))


def test_keys_of_plan_change_with_the_data(small):
    assert set(keys_of(small())).isdisjoint(keys_of(small(), digest="other"))


def test_a_final_cell_of_plan_needs_its_inner_folds(small):
    cells = cells_of(small(protocols=["nested"]))
    finals = [cell for cell in cells if cell.kind == "final"]
    inner = {cell.key: cell for cell in cells if cell.kind == "inner"}
    assert len(finals) == 2 * 3
    for cell in finals:
        assert {inner[key].fold for key in cell.needs} == {cell.fold}
        assert {inner[key].inner for key in cell.needs} == {0, 1}


def test_plan_has_no_cells_of_data_that_are_not_at_hand(small):
    assert not list(plan(small(), {}, {}))


@pytest.fixture
def planned(small):
    """A function that plans the first method with some fields replaced."""

    def cells(**changes):
        definition = small(protocols=["paper", "strict"])
        method = definition.methods[0].model_copy(update=changes)
        return cells_of(definition.model_copy(update={"methods": [method]}))

    return cells


def test_plan_knows_protocols_and_data_sets_of_a_method(planned):
    assert {cell.protocol for cell in planned()} == {"paper", "strict"}
    assert {cell.protocol for cell in planned(protocols=["strict"])} == {"strict"}
    assert planned(datasets=["other"]) == []


@pytest.mark.parametrize(("grid_for", "size"), [({}, 2), ({"toy": "fast"}, 1)])
def test_plan_knows_the_grid_of_a_method_for_a_data_set(planned, grid_for, size):
    grids = {"paper": {"n_neighbors": [3, 5]}, "fast": {"n_neighbors": [3]}}
    for cell in planned(grids=grids, grid_for=grid_for):
        assert len(cell.details["grid"]["n_neighbors"]) == size


def test_reproduce_lets_a_folder_grow_but_never_mixes(small, tmp_path):
    first, second = (method.model_dump(by_alias=True) for method in small().methods)
    reproduce(small(methods=[first]), tmp_path / "out")
    reproduce(small(methods=[second], seeds=[1]), tmp_path / "out")
    with Store.open(tmp_path / "out") as store:
        description = store.description()
    assert list(description["methods"]) == ["ml-knn", "ml-tsk-fs"]
    assert description["seeds"] == [0, 1]
    with pytest.raises(InputError, match="holds results with folds = 3"):
        reproduce(small(folds=4), tmp_path / "out")
    with pytest.raises(InputError, match="holds toy with the grid 'paper'"):
        reproduce(small(grid="fast"), tmp_path / "out")


def test_reproduce_names_missing_data_with_the_reason(small, tmp_path, monkeypatch):
    monkeypatch.setenv("MLTSK_DATA", str(tmp_path))
    toy = small().datasets[0].model_dump()
    reproduce(small(datasets=[toy, {"name": "mirflickr"}]), tmp_path / "out")
    with Store.open(tmp_path / "out") as store:
        missing = store.description()["missing"]
    assert "mltsk datasets fetch mirflickr" in missing["mirflickr"]


@pytest.mark.parametrize(
    ("datasets", "required"),
    [(["toy", "mirflickr"], ["mirflickr"]), (["mirflickr"], [])],
)
def test_reproduce_begins_nothing_without_required_data_or_without_any(
    small, tmp_path, monkeypatch, datasets, required
):
    monkeypatch.setenv("MLTSK_DATA", str(tmp_path))
    known = {
        "toy": small().datasets[0].model_dump(),
        "mirflickr": {"name": "mirflickr"},
    }
    definition = small(datasets=[known[name] for name in datasets])
    with pytest.raises(InputError, match="mltsk datasets fetch mirflickr"):
        reproduce(definition, tmp_path / "out", required=required)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("params", "message"),
    [({"precision": "half"}, "precision"), ({"colour": 1}, "colour")],
)
def test_reproduce_refuses_parameters_that_do_not_suit_a_method_before_the_work(
    small, tmp_path, params, message
):
    method = {"key": "ml-tsk-fs", "class": "mltsk.paper.methods:PaperMLTSK"}
    definition = small(methods=[{**method, "params": params}])
    with pytest.raises(InputError, match=f"'ml-tsk-fs' do not suit it.*{message}"):
        reproduce(definition, tmp_path / "out")
    assert not (tmp_path / "out").exists()
