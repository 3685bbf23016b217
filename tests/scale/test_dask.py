"""Passes as graphs of tasks: trees, blocks without rows, rows that are held."""

import numpy as np
import pytest

from mltsk.core.passes.rows import Block, Gathered, Sums
from mltsk.exceptions import InputError
from mltsk.scale import dask as passes

dask = pytest.importorskip("dask", reason='Dask is missing: pip install "mltsk[dask]"')


@pytest.fixture(autouse=True)
def here():
    with dask.config.set(scheduler="synchronous"):
        yield


def rows_of(lengths):
    starts = np.concatenate([[0], np.cumsum(lengths)])
    made = [Block(np.arange(s, s + n)[:, None] * 1.0, np.zeros((n, 1)), np.ones(n), i, int(s))
            for i, (s, n) in enumerate(zip(starts, lengths, strict=False))]  # fmt: skip
    return passes.DaskPasses([(dask.delayed(block),) for block in made])


def total(block):
    return Sums(block.X.sum(), len(block.w))


def first(block):
    return Gathered(((block.start, (block.X[:1],)),))


@pytest.mark.parametrize("n_blocks", [1, 8, 9, 70])
def test_a_tree_adds_all_blocks_once(n_blocks):
    assert rows_of([3] * n_blocks).reduce("total", total).parts[1] == 3 * n_blocks


def test_blocks_without_rows_count_for_nothing_unless_all_are():
    assert rows_of([0, 2, 0]).reduce("total", total).parts == (1.0, 2)
    with pytest.raises(InputError, match="No rows are left"):
        rows_of([0, 0]).reduce("total", total)


def test_few_blocks_hold_the_rows_of_many_in_their_order():
    many = rows_of([2, 0, 3, 1, 4, 5])
    few = many.condensed(2)
    assert len(few.inputs) == 2
    assert few.reduce("total", total).parts == many.reduce("total", total).parts
    assert few.reduce("first", first).arrays()[0].ravel().tolist() == [0.0, 5.0]


def test_rows_are_not_held_where_there_is_no_cluster():
    rows = rows_of([2, 2])
    assert rows.kept(1) is rows


def test_tasks_are_named_for_the_dashboard():
    from dask.utils import key_split

    tasks = rows_of([2, 2])._tasks("moments", passes.Work((), total))
    assert {key_split(task.key) for task in tasks} == {"mltsk-moments"}
