"""Sums over the rows of a fit: all that its numbers depend on, without its rows.

Numbers of given terms are a closed form of a few sums over rows. Whoever keeps these
sums can find the numbers again under other wishes, next to sums of another site, or
with another ridge, and needs no row for that.

Symbols: Q columns of the ridge problem, L labels, P terms.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray, asnumpy
from ..core.pairs import Pairs
from ..exceptions import InputError
from ..probabilities import Curves
from ..system import FuzzySystem
from .design import Design, ExceptionRules
from .ridge import Moments
from .rows import Block, Rows
from .scale import Scale

# Cells of all sums that a fit keeps: 64 MB. Beyond, it would be no smaller than its
# rows.
MAX_SUM_CELLS = 8_000_000
# Cells of sums that are made for wishes of a fit, and not kept: 400 MB.
MAX_PASSING_SUM_CELLS = 50_000_000


@dataclass(frozen=True)
class LabelSums:
    """Sums over the rows in which some labels were observed, at the same weights.

    Parameters
    ----------
    labels : (l,)
        Numbers of these labels.
    moments : Moments
        ``H`` = ΦᵀWΦ (Q, Q), ``B`` = ΦᵀWY (Q, l), ``phi`` = Φᵀw (Q,), ``y`` = Yᵀw (l,)
        and ``total`` = Σ w. Labels are 0 and 1, so ``y`` is also the sum of their
        squares.
    """

    labels: NDArray[np.intp]
    moments: Moments

    @classmethod
    def on_host(cls, labels: NDArray[np.intp], moments: Moments) -> "LabelSums":
        """The sums as NumPy arrays."""
        arrays = {
            name: asnumpy(getattr(moments, name)) for name in ("H", "B", "phi", "y")
        }
        return cls(labels, Moments(**arrays, total=moments.total))

    def __add__(self, other: "LabelSums") -> "LabelSums":
        return replace(self, moments=self.moments + other.moments)


@dataclass(frozen=True)
class DesignWeights:
    """What a design has next to the parts that a system has too.

    ``term_weights`` (P,) or one number, ``pair_weight`` and ``rule_weight`` as in
    `Design`, the ``variance`` of its scale, and whether its exceptions have the
    kernel's prior.
    """

    term_weights: FloatArray | float
    rule_weight: float
    pair_weight: float
    variance: float
    has_kernel_prior: bool

    @classmethod
    def of(cls, design: Design) -> "DesignWeights":
        """The weights of a design."""
        return cls(
            term_weights=design.term_weights,
            rule_weight=design.rule_weight,
            pair_weight=design.pair_weight,
            variance=design.scale.variance,
            has_kernel_prior=design.rules.has_kernel_prior,
        )

    def design(self, system: FuzzySystem) -> Design:
        """The design of a long model."""
        width = float(system.widths.flat[0]) if system.widths.size else 1.0
        rules = ExceptionRules(
            system.centers,
            width=width,
            order=system.order,
            firing=system.firing,
            has_kernel_prior=self.has_kernel_prior,
        )
        return Design(
            Scale(system.scale_name, system.scaling, system.terms, self.variance),
            rules,
            term_weights=self.term_weights,
            rule_weight=self.rule_weight,
            pairs=system.pairs,
            pair_weight=self.pair_weight,
        )


@dataclass(frozen=True)
class FitSums:
    """Sums over all rows of a fit, for the columns of its design.

    Parameters
    ----------
    design : Design
        Says what the Q columns are.
    ridge : float
        The ridge ρ that the fit took.
    parts : tuple of LabelSums
        Those of labels that were observed in the same rows; each label is in one.
    curves : Curves or None
        What turned scores of the fit into log-odds; None where that is not known.
    """

    design: Design
    ridge: float
    parts: tuple[LabelSums, ...]
    curves: Curves | None = None

    @classmethod
    def of_rows(
        cls,
        rows: Block | Rows,
        design: Design,
        ridge: float,
        label_groups: Sequence[NDArray[np.intp]],
    ) -> "FitSums":
        """Sums over rows."""
        parts = []
        for labels in label_groups:
            parts.append(LabelSums.on_host(labels, rows.moments(design, labels)))
        return cls(design, ridge, tuple(parts))

    @property
    def n_labels(self) -> int:
        """L."""
        return sum(len(part.labels) for part in self.parts)

    def of_label(self, label: int) -> LabelSums:
        """The sums that a label is in."""
        return next(part for part in self.parts if label in part.labels)

    def with_pairs(self, pairs: Pairs) -> "FitSums":
        """The sums without the columns of pairs that are not among these."""
        columns = columns_of_pairs(self.design, pairs)
        if len(columns) == self.design.n_columns:
            return self
        return self.of_columns(columns, replace(self.design, pairs=pairs))

    def of_columns(self, columns: NDArray[np.intp], design: Design) -> "FitSums":
        """The sums for some of the columns (q,), which are those of another design."""
        parts = []
        for part in self.parts:
            moments = part.moments.weighted(columns, np.ones(len(columns)))
            parts.append(replace(part, moments=moments))
        return replace(self, design=design, parts=tuple(parts))

    def __add__(self, other: "FitSums") -> "FitSums":
        """Sums over the rows of both, whose design and parts are the same."""
        if len(self.parts) != len(other.parts):
            raise ValueError("sums of other labels cannot be added")
        parts = [a + b for a, b in zip(self.parts, other.parts, strict=True)]
        return replace(self, parts=tuple(parts))


def columns_of_pairs(design: Design, pairs: Pairs) -> NDArray[np.intp]:
    """The columns of a design without those of pairs that are not among these."""
    P = design.n_terms
    rules = np.arange(design.first_rule, design.n_columns)
    return np.concatenate([np.arange(P), P + pairs.positions_in(design.pairs), rules])


def on_host(design: Design) -> Design:
    """A design whose exceptions are NumPy arrays."""
    rules = replace(design.rules, centers=asnumpy(design.rules.centers))
    return replace(design, rules=rules)


def n_sum_cells(n_columns: int, n_parts: int) -> int:
    """Cells of the largest sums, for so many columns and parts."""
    return n_columns * n_columns * n_parts


def check_sum_cells(n_columns: int, n_parts: int, at_most: int = MAX_SUM_CELLS) -> None:
    """Refuse sums that are too large, by default to be kept."""
    cells = n_sum_cells(n_columns, n_parts)
    if cells > at_most:
        raise InputError(
            f"The sums of {n_columns:,} columns, once for each of {n_parts:,} sets of "
            f"labels that were observed in other rows, would take {8e-6 * cells:,.0f} "
            f"MB, more than {8e-6 * at_most:.0f} MB: fit with n_rules=0, "
            "n_pairs=0, or to fewer features."
        )
