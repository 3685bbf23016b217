"""What a stream goes on with: sums over all of its samples, and a few kept rows."""

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .core.arrays import (
    FloatArray,
)
from .fit.choice import Folds
from .fit.design import Design
from .fit.fit import FitResult
from .fit.left_out import Groups, group_codes, take_groups
from .fit.ridge import Moments, Penalty
from .fit.rows import Block
from .fit.solve import (
    Consequents,
    HeldRows,
    solve_sums,
    with_pairs_of_folds,
)
from .fit.sums import MAX_SUM_CELLS, DesignWeights, FitSums, LabelSums, n_sum_cells
from .rows.read import (
    GroupsLike,
    group_names,
)
from .system import FuzzySystem

# Rows that are kept for leave-one-out scores, evenly spread over the stream; there are
# twice as many at most, or those of one group.
KEPT_ROWS = 1_000
KEY_BYTES = 7  # two of a million groups have the same with a chance of 1 in 100,000
GroupKeys: TypeAlias = NDArray[np.int64] | None


@dataclass(frozen=True)
class Stream:
    """What a stream goes on with.

    Parameters
    ----------
    seen : int
        Samples seen so far.
    stride : int
        Every stride-th of them is kept; of samples in groups, those of groups whose key
        the stride divides. So a group is kept as a whole, whichever calls it comes in,
        and no other names need to be remembered.
    unit : float
        What weights are divided by: that of the first call.
    term_weights : (P,) or float
    rule_weight, pair_weight, variance : float
    has_kernel_prior : bool
        Of the design, see `mltsk.fit.design`.
    moments : Moments
        Sums over all samples seen, for the design with the pairs of all folds.
    kept : Block
        The samples that are kept.
    folds : Folds
        Some of the samples that are kept, and the pairs of features that were found
        without them. All samples of later calls are scored by the pairs of the model:
        these were found without them, too.
    positions : (n,)
        Positions in the stream of the samples that are kept.
    group_keys : (n,) or None
        Keys of the groups of these samples; None where each is alone.
    """

    seen: int
    stride: int
    unit: float
    term_weights: FloatArray | float
    rule_weight: float
    pair_weight: float
    variance: float
    has_kernel_prior: bool
    moments: Moments
    kept: Block
    folds: Folds
    positions: NDArray[np.intp]
    group_keys: GroupKeys = None

    @classmethod
    def begun(
        cls, result: FitResult, block: Block, unit: float, group_keys: GroupKeys
    ) -> "Stream":
        """A stream that has seen one block, which a system was fitted to."""
        design = result.design
        folds = _folds_of_data(result)
        begun = cls(
            seen=len(block.w),
            stride=1,
            unit=unit,
            term_weights=design.term_weights,
            rule_weight=design.rule_weight,
            pair_weight=design.pair_weight,
            variance=design.scale.variance,
            has_kernel_prior=design.rules.has_kernel_prior,
            moments=_sums(block, design, folds),
            kept=block,
            folds=folds,
            positions=np.arange(len(block.w)),
            group_keys=group_keys,
        )
        return begun._thinned()

    def design(self, system: FuzzySystem) -> Design:
        """The design of a system that this stream is fitted with."""
        weights = DesignWeights(
            term_weights=self.term_weights,
            rule_weight=self.rule_weight,
            pair_weight=self.pair_weight,
            variance=self.variance,
            has_kernel_prior=self.has_kernel_prior,
        )
        return weights.design(system)

    def after(
        self, block: Block, design: Design, forgetting: float, group_keys: GroupKeys
    ) -> "Stream":
        """The stream after one more block; what came before loses a share of weight."""
        sums = _sums(block, design, self.folds)
        positions = self.seen + np.arange(len(block.w))
        is_kept = _is_kept(positions, group_keys, self.stride)
        longer = replace(
            self,
            seen=self.seen + len(block.w),
            moments=sums + self.moments.scaled(1.0 - forgetting),
            kept=_joined(
                self.kept, block.take(np.flatnonzero(is_kept)), 1.0 - forgetting
            ),
            positions=np.concatenate([self.positions, positions[is_kept]]),
        )
        if group_keys is not None:
            keys = np.concatenate([self.group_keys, group_keys[is_kept]])
            longer = replace(longer, group_keys=keys)
        return longer._thinned()

    def _thinned(self) -> "Stream":
        """The stream with no more rows kept than may be."""
        thinned = self
        while len(thinned.kept.w) > 2 * KEPT_ROWS:
            stride = 2 * thinned.stride
            is_kept = _is_kept(thinned.positions, thinned.group_keys, stride)
            if not is_kept.any():
                break  # a single group is left
            thinned = thinned._keeping(is_kept, stride)
        codes = codes_of_keys(thinned.group_keys)
        return replace(thinned, kept=replace(thinned.kept, groups=codes))

    def _keeping(self, is_kept: NDArray[np.bool_], stride: int) -> "Stream":
        """The stream with some of the rows that it keeps, at another stride."""
        rows = np.flatnonzero(is_kept)
        place = np.cumsum(is_kept) - 1
        keys = self.group_keys
        return replace(
            self,
            stride=stride,
            kept=self.kept.take(rows),
            positions=self.positions[rows],
            group_keys=None if keys is None else keys[rows],
            folds=tuple((place[own[is_kept[own]]], pairs) for own, pairs in self.folds),
        )

    def solved(self, design: Design, penalty: Penalty) -> Consequents:
        """Consequents by the sums, with leave-one-out scores of the samples kept."""
        held = HeldRows(self.kept, None, len(self.kept.w))
        labels = np.arange(self.kept.Y.shape[1])
        solution = solve_sums(
            self.moments, design, penalty, held, labels, folds=self.folds
        )
        return solution.at_base_rates(self.kept, self.seen)

    def sums(self, design: Design, penalty: Penalty) -> FitSums | None:
        """Sums over all samples seen; None where labels are coupled, or too large."""
        if penalty.basis is not None:
            return None
        widest = with_pairs_of_folds(design, self.folds)
        if n_sum_cells(widest.n_columns, 1) > MAX_SUM_CELLS:
            return None
        labels = np.arange(self.kept.Y.shape[1])
        return FitSums(widest, penalty.rho, (LabelSums(labels, self.moments),))


def _is_kept(
    positions: NDArray[np.intp], group_keys: GroupKeys, stride: int
) -> NDArray[np.bool_]:
    """Which samples are kept at a stride: evenly spread ones, or whole groups."""
    return (positions if group_keys is None else group_keys) % stride == 0


def keys_of_groups(groups: GroupsLike, n_rows: int) -> GroupKeys:
    """Keys (n,) of the groups of samples, which depend on their names alone.

    >>> keys = keys_of_groups(["eve", "bob", "eve"], 3)
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    if groups is None:
        return None
    names = group_names(groups, n_rows)
    key_of_name = {
        name: int.from_bytes(blake2b(name.encode(), digest_size=KEY_BYTES).digest())
        for name in set(names)
    }
    return np.array([key_of_name[name] for name in names], dtype=np.int64)


def codes_of_keys(group_keys: GroupKeys) -> Groups:
    """Codes (n,) of groups by their keys; None where every sample is alone."""
    if group_keys is None:
        return None
    return take_groups(group_codes(group_keys), slice(None))


def _folds_of_data(result: FitResult) -> Folds:
    """The folds of a fit, whose rows are those of the data."""
    positions = result.loo_rows
    if positions is None:
        return result.folds
    return tuple((positions[rows], pairs) for rows, pairs in result.folds)


def _sums(block: Block, design: Design, folds: Folds) -> Moments:
    """Sums over a block, for the pairs of a design and of all folds."""
    labels = np.arange(block.Y.shape[1])
    return block.moments(with_pairs_of_folds(design, folds), labels)


def _joined(before: Block, block: Block, share: float) -> Block:
    """Two blocks as one; weights of the first are multiplied by a share."""
    if sparse.issparse(block.X):
        X = sparse.vstack([before.X, block.X], format="csr")
    else:
        X = np.concatenate([before.X, block.X])
    return Block(
        X=X,
        Y=np.concatenate([before.Y, block.Y]),
        w=np.concatenate([before.w * share, block.w]),
    )
