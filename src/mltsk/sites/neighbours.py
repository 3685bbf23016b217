"""Numbers shared by neighbours, so that nobody's own number leaves a site.

A plan from elsewhere can bend a scale until the digits of a sum are counts of people of
single values: somebody who was 58.3 years old was found to be ill in this way, with
parts of curves of 10 people and more. It can tell no more of neighbours who have the
same number. Among the people of each sum, and those by which two sums differ,
neighbours are nobody, or enough people: if a label was observed in one of 10
neighbours alone, the sums of that label would be that person's.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray
from .cells import Mask, People


def medians_of_neighbours(
    x: FloatArray, people: People, parts: Mask | None = None
) -> FloatArray:
    """Numbers (n,) of which each is shared by enough people, who are neighbours.

    They are enough also in each part of the rows, columns of ``parts`` (n, p), in which
    somebody shares the number.

    >>> x = np.array([1.0, 9.0, 2.0, 8.0, 7.0])
    >>> medians_of_neighbours(x, People(groups=None, least=2)).tolist()
    [1.5, 8.0, 1.5, 8.0, 8.0]
    """
    order = np.argsort(x, kind="stable")
    if parts is None:
        parts = np.ones((len(x), 1), dtype=bool)
    persons = np.arange(len(x)) if people.groups is None else people.groups
    _, starts = np.unique(x[order], return_index=True)
    blocks: list[Neighbours] = []
    growing = Neighbours.none(parts.shape[1])
    for rows in np.split(order, starts[1:]):
        growing.add(rows, persons[rows], parts[rows])
        if growing.are_enough(people.least):
            blocks.append(growing)
            growing = Neighbours.none(parts.shape[1])
    while blocks and not growing.are_enough(people.least):  # the last few join others
        before = blocks.pop()
        rows = np.array(growing.rows, dtype=np.intp)
        before.add(rows, persons[rows], parts[rows])
        growing = before
    medians = np.empty(len(x))
    for block in [*blocks, growing]:
        medians[block.rows] = np.median(x[block.rows])
    return medians


@dataclass
class Neighbours:
    """Rows with neighbouring numbers, and how many people of each part they are.

    ``seen`` says in which parts a person was counted, ``counts`` are (p,).
    """

    rows: list[int]
    seen: dict[int, Mask]
    counts: NDArray[np.intp]

    @classmethod
    def none(cls, n_parts: int) -> "Neighbours":
        """No rows yet."""
        return cls([], {}, np.zeros(n_parts, dtype=np.intp))

    def add(self, rows: NDArray[np.intp], persons: NDArray[Any], parts: Mask) -> None:
        """Add rows of persons (m,), who are in some parts (m, p)."""
        nowhere = np.zeros(len(self.counts), dtype=bool)
        for row, person, own in zip(
            rows.tolist(), persons.tolist(), parts, strict=True
        ):
            before = self.seen.get(person, nowhere)
            self.rows.append(row)
            self.counts += own & ~before
            self.seen[person] = own | before

    def are_enough(self, least: int) -> bool:
        """Whether there is somebody, and each part has nobody or enough people."""
        is_few = (self.counts > 0) & (self.counts < least)
        return bool(self.rows) and not is_few.any()
