"""Pieces of work: keys that say what numbers depend on, and how grids are cut up."""

import pytest

from mltsk.exceptions import InputError
from mltsk.paper.experiments.cells import Cell, canonical, plan
from mltsk.paper.experiments.definition import MethodDefinition, class_of


def cells_of(definition):
    return plan(definition, {"toy": (60, 4, 3)}, {"toy": "digest"})


def test_a_split_grid_is_cut_by_its_parameter(small):
    cells = [cell for cell in cells_of(small()) if cell.method == "ml-tsk-fs"]
    assert {cell.part for cell in cells} == {"n_rules=1", "n_rules=2"}
    assert len(cells) == 2 * 3
    assert all(len(cell.details["grid"]["n_rules"]) == 1 for cell in cells)


def test_keys_are_unique_and_stable(small):
    keys = [cell.key for cell in cells_of(small(protocols=["paper", "strict", "nested"], seeds=[0, 1]))]
    assert len(set(keys)) == len(keys)
    assert keys == [cell.key for cell in cells_of(small(protocols=["paper", "strict", "nested"], seeds=[0, 1]))]


@pytest.mark.parametrize(
    "change", [{"folds": 4}, {"convention": "standard"}, {"seeds": [5]}, {"protocols": ["strict"]}]
)
def test_what_changes_numbers_changes_keys(small, change):
    before = {cell.key for cell in cells_of(small())}
    assert before.isdisjoint(cell.key for cell in cells_of(small(**change)))


def test_other_data_have_other_keys(small):
    first = {cell.key for cell in cells_of(small())}
    assert first.isdisjoint(cell.key for cell in plan(small(), {"toy": (60, 4, 3)}, {"toy": "other"}))


def test_a_final_cell_needs_its_inner_folds(small):
    cells = cells_of(small(protocols=["nested"]))
    finals = [cell for cell in cells if cell.kind == "final"]
    inner = {cell.key: cell for cell in cells if cell.kind == "inner"}
    assert len(finals) == 2 * 3
    for cell in finals:
        assert {inner[key].fold for key in cell.needs} == {cell.fold}
        assert {inner[key].inner for key in cell.needs} == {0, 1}


def test_data_that_are_not_at_hand_have_no_cells(small):
    assert plan(small(), {}, {}) == []


def test_an_import_path_that_leads_nowhere_is_one_sentence():
    method = MethodDefinition.model_validate({"key": "x", "class": "sklearn.nowhere:Thing"})
    with pytest.raises(InputError, match=r"'x' cannot be imported from 'sklearn.nowhere:Thing'"):
        class_of(method)


def test_canonical_text_does_not_depend_on_order():
    assert canonical({"a": (1, 2), "b": {"d": 1.5, "c": None}}) == canonical({"b": {"c": None, "d": 1.5}, "a": [1, 2]})


def test_a_cell_reads_well():
    cell = Cell("inner", "nested", "flags", "br", 0, 1, inner=2, part="n_rules=3")
    assert str(cell) == "br on flags, nested fold 2.3 (n_rules=3)"


def test_methods_and_data_may_have_protocols_and_grids_of_their_own(small):
    def planned(**changes):
        definition = small(protocols=["paper", "strict"])
        method = definition.methods[0].model_copy(update=changes)
        return plan(definition.model_copy(update={"methods": [method]}), {"toy": (60, 4, 3)}, {"toy": ""})

    assert {cell.protocol for cell in planned()} == {"paper", "strict"}
    assert {cell.protocol for cell in planned(protocols=["strict"])} == {"strict"}
    assert planned(datasets=["other"]) == []
    fast = {"grids": {"paper": {"n_neighbors": [3, 5]}, "fast": {"n_neighbors": [3]}}}
    for grid_for, size in (({}, 2), ({"toy": "fast"}, 1)):
        assert {len(cell.details["grid"]["n_neighbors"]) for cell in planned(**fast, grid_for=grid_for)} == {size}
