"""A sample of rows, of which some judge designs that are fitted to the others.

Designs are fitted by sums over rows, and judged by rows of the second half. What is
found on the first half, such as pairs of features, is judged by rows that had no part
in finding it. Nothing here is of the size rows × rows.

Symbols: n rows, D features, L labels, Q columns, Z (n, D) scaled rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, Matrix, asnumpy, cast, namespace
from .choice import Wishes
from .judge import BlockColumns, RidgeSearch, SumsJudge
from .left_out import whole_groups
from .order import stratified_rows
from .rows import Block
from .scale import Scale

JUDGING_ROWS_OF_MANY = 3_000


@dataclass(frozen=True, eq=False)
class JudgedSample:
    """A sample of rows that are sorted by content and all count.

    Parameters
    ----------
    scale : Scale
    block : Block
        The rows.
    Z : (n, D) scaled rows of the block
    w : (n,) weights
    label_groups : labels that have the same weights
    wishes : Wishes
    """

    scale: Scale
    block: Block
    Z: Matrix
    w: Array
    label_groups: Sequence[NDArray[np.intp]]
    wishes: Wishes

    @cached_property
    def _search(self) -> RidgeSearch:
        return RidgeSearch.of(self.block)

    @cached_property
    def halves(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Every other row or group of rows, and those between them."""
        rows = np.arange(len(self.w))
        if self.block.groups is None:
            return rows[::2], rows[1::2]
        is_second = self.block.groups % 2 == 1
        return rows[~is_second], rows[is_second]

    @cached_property
    def judging(self) -> NDArray[np.intp]:
        """The rows that judge, from the second half."""
        second = self.halves[1]
        Y = asnumpy(self.block.Y[second])
        limit = min(JUDGING_ROWS_OF_MANY, len(second) // 2)
        groups = self.block.groups
        if groups is None:
            return second[stratified_rows(Y, limit)]
        rows_per_group = len(groups) / (groups.max() + 1)
        first_judges = second[stratified_rows(Y, int(limit / rows_per_group) + 1)]
        return whole_groups(groups, first_judges)

    @cached_property
    def Z_single(self) -> Matrix:
        """The scaled rows in single precision."""
        return cast(self.Z, np.float32)

    def judge(
        self, columns: BlockColumns, before: SumsJudge | None = None
    ) -> SumsJudge:
        """The judge of some columns, or of those of another judge and then these."""
        return SumsJudge.of(
            columns,
            self.block,
            judging=self.judging,
            label_groups=self.label_groups,
            ridge=self.wishes.ridge,
            search=self._search,
            before=before,
        )

    @cached_property
    def null_error(self) -> float:
        """Error of the base rates alone."""
        nothing = BlockColumns(self._nothing, self.Z, n_columns=1)
        judge = self.judge(nothing)
        return judge.error(np.ones(1))[0] / judge.total_weight

    def _nothing(self, Z: Matrix) -> Array:
        """A column of zeros (m, 1)."""
        return namespace(self.block.Y).zeros((Z.shape[0], 1), like=self.block.Y)

    def first_rows(self, n_rows: int) -> "JudgedSample":
        """The same for fewer rows."""
        rows = slice(0, n_rows)
        return replace(
            self, block=self.block.take(rows), Z=self.Z[rows], w=self.w[rows]
        )
