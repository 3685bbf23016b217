"""Dask: passes over blocks of rows that lie on the workers of a cluster, each a tree of small tasks.

A pass is one task a block (``mltsk-moments``, ``mltsk-clustering``, … on Dask's dashboard) and a tree that adds their
statistics; parameters travel in the graph, so that a worker that is lost takes nothing along that cannot be made again.
Dask is imported when one of its arrays or frames comes in, not before.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any
from uuid import uuid4

import numpy as np

from ..core.passes.rows import Block
from ..exceptions import InputError

SPLIT_EVERY = 8  # statistics added by one task of the tree
KEPT_SHARE = 0.2  # of the memory of all workers, which rows that are passed over often may take


def is_dask(x: Any) -> bool:
    """Whether x is a Dask collection; Dask is not imported to find out.

    >>> is_dask(np.ones(3))
    False
    """
    return "dask" in sys.modules and type(x).__module__.partition(".")[0] == "dask"


@dataclass(frozen=True)
class Work:
    """What is done with a block: changes one after another, then a statistic of what they leave."""

    changes: tuple[tuple[Callable[..., Block], tuple[Any, ...]], ...]
    statistic: Callable[..., Any] | None = None
    arguments: tuple[Any, ...] = ()


class DaskPasses:
    """`mltsk.core.passes.rows.Passes` over the ``inputs`` of blocks, tuples of `dask.delayed` objects.

    The first of ``changes`` makes a `Block` of them; ``delayed`` objects that are blocks already need none.
    """

    def __init__(self, inputs: Sequence[tuple[Any, ...]], changes: tuple[Any, ...] = ()) -> None:
        self.inputs, self.changes = list(inputs), changes

    def map(self, change: Callable[..., Block], *arguments: Any) -> "DaskPasses":
        """See `Passes`."""
        return DaskPasses(self.inputs, (*self.changes, (change, arguments)))

    def reduce(self, name: str, statistic: Callable[..., Any], *arguments: Any) -> Any:
        """See `Passes`; runs where Dask's scheduler says: a cluster if there is a client, else threads here."""
        found = _sum(self._tasks(name, Work(self.changes, statistic, arguments)), name).compute()
        if found is None:
            raise InputError("No rows are left: X is empty, or sample_weight is 0 for every row.")
        return found

    def kept(self, n_bytes: int) -> "DaskPasses":
        """The same rows, held by the workers as they are now where they take a small part of a cluster's memory."""
        return self._persisted(self._tasks("rows", Work(self.changes))) if n_bytes < _room() else self

    def condensed(self, n_blocks: int) -> "DaskPasses":
        """The same few rows in at most ``n_blocks`` blocks, held by the workers (here, where there is no cluster)."""
        tasks = self._tasks("rows", Work(self.changes))
        each = -(-len(tasks) // n_blocks)
        groups = [tasks[i : i + each] for i in range(0, len(tasks), each)]
        return self._persisted([_task("rows", i, _joined, *group) for i, group in enumerate(groups)])

    def _tasks(self, name: str, work: Work) -> list[Any]:
        from dask import delayed

        token = uuid4().hex
        shared = delayed(work, name=f"mltsk-parameters-{token}", traverse=False)
        return [_task(name, (token, i), _run, shared, i, *parts) for i, parts in enumerate(self.inputs)]

    def _persisted(self, tasks: list[Any]) -> "DaskPasses":
        import dask

        return DaskPasses([(block,) for block in dask.persist(*tasks)])


def _task(name: str, place: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    from dask import delayed

    token, i = place if isinstance(place, tuple) else (uuid4().hex, place)
    return delayed(function, pure=False)(*arguments, dask_key_name=(f"mltsk-{name}-{token}", i))


def _run(work: Work, number: int, *parts: Any) -> Any:
    block = parts if work.changes and not isinstance(parts[0], Block) else parts[0]
    for change, arguments in work.changes:
        block = change(block, *arguments) if isinstance(block, Block) else change(number, *block, *arguments)
    if work.statistic is None:
        return block
    return work.statistic(block, *work.arguments) if len(block.w) else None


def _sum(tasks: list[Any], name: str) -> Any:
    """A tree of additions; empty blocks (None) count for nothing."""
    while True:
        token = uuid4().hex
        groups = [tasks[i : i + SPLIT_EVERY] for i in range(0, len(tasks), SPLIT_EVERY)]
        tasks = [_task(f"{name}-sum", (token, i), _added, *group) for i, group in enumerate(groups)]
        if len(tasks) == 1:
            return tasks[0]


def _added(*parts: Any) -> Any:
    found = [part for part in parts if part is not None]
    return reduce(add, found) if found else None


def _joined(*blocks: Block) -> Block:
    first, full = blocks[0], [block for block in blocks if len(block.w)]
    if not full:
        return first
    X, Y, w = (np.concatenate([getattr(block, part) for block in full]) for part in ("X", "Y", "w"))
    return replace(first, X=X, Y=Y, w=w, start=full[0].start)


def _room() -> float:
    """Bytes that rows may take on the workers of the current client; 0 without one."""
    distributed = sys.modules.get("distributed")
    try:
        client = distributed.default_client() if distributed else None
    except ValueError:
        client = None
    if client is None:
        return 0.0
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return KEPT_SHARE * sum(worker["memory_limit"] or 0 for worker in workers)
