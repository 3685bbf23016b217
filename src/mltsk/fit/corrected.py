"""A solution under wishes of the user, from sums over rows, and its honest scores.

Leave-one-out scores hold the demands that hold the solution: the problem is then one
with equations, whose leverages are those of the ridge problem without the directions
that equations forbid.

Symbols: Q columns, L labels, l labels and q columns of one problem, n rows.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, FloatArray
from .design import Coefficients, Design
from .factor import Factor
from .left_out import blocks_of_groups, rate_shifts, residuals_by_factor
from .ridge import MIN_KEPT_SHARE, PrimalSolution
from .rows import ROW_COPIES, Block
from .sums import FitSums


@dataclass(frozen=True)
class HeldFactor(Factor):
    """A factor of a problem whose solution is held in some directions.

    ``basis`` (Q, a) are these directions, orthonormal among the halves of rows.
    """

    basis: Array = None

    def half(self, rows: Array) -> Array:
        """Halves of rows without the directions that are held."""
        half = super().half(rows)
        return half - (half @ self.basis) @ self.basis.T


@dataclass(frozen=True)
class WishedLabels:
    """Labels that are one problem, and what holds its solution.

    Parameters
    ----------
    labels : tuple of int
    columns : (q,)
        The columns that these labels have.
    solutions : tuple of PrimalSolution
        Of these columns without wishes, for each of the labels.
    basis : (l · q, a)
        The directions in which the solution is held, with the halves of all labels in
        a row; (q, 0) where nothing holds it.
    """

    labels: tuple[int, ...]
    columns: NDArray[np.intp]
    solutions: tuple[PrimalSolution, ...]
    basis: FloatArray

    @classmethod
    def free(
        cls,
        labels: tuple[int, ...],
        columns: NDArray[np.intp],
        solutions: tuple[PrimalSolution, ...],
    ) -> "WishedLabels":
        """Labels that nothing holds."""
        return cls(labels, columns, solutions, np.zeros((len(columns), 0)))

    @property
    def n_coupled(self) -> int:
        """How many labels have their numbers found together."""
        return len(self.basis) // max(len(self.columns), 1)

    def basis_of(self, place: int) -> FloatArray:
        """The part (q, a) of the basis that is about the label at a place."""
        n_columns = len(self.columns)
        first = place * n_columns if self.n_coupled > 1 else 0
        return self.basis[first : first + n_columns]


@dataclass(frozen=True, eq=False)
class Corrected:
    """Numbers of all labels under wishes.

    Parameters
    ----------
    sums : FitSums
        Those of the columns that are left to some label.
    B : (Q, L)
        0 where a column is not left to a label.
    problems : list of WishedLabels
    """

    sums: FitSums
    B: FloatArray
    problems: list[WishedLabels]

    @property
    def design(self) -> Design:
        """What the columns are."""
        return self.sums.design

    @property
    def rates(self) -> FloatArray:
        """Base rates (L,)."""
        rates = np.zeros(self.sums.n_labels)
        for part in self.sums.parts:
            rates[part.labels] = part.moments.y / part.moments.total
        return rates

    @property
    def means(self) -> FloatArray:
        """Means (Q, L) of the columns over the rows of each label."""
        means = np.zeros(self.B.shape)
        for part in self.sums.parts:
            means[:, part.labels] = (part.moments.phi / part.moments.total)[:, None]
        return means

    def coefficients(self) -> Coefficients:
        """The numbers of a system."""
        return self.design.coefficients(self.B, self.means, self.rates)

    def left_out(self, block: Block, n_rows: int) -> FloatArray:
        """Honest scores (n, L) of rows, of ``n_rows`` in all.

        Rows of weight 0 are scored as new ones are.
        """
        scores = np.empty(block.Y.shape)
        bytes_per_row = 8 * ROW_COPIES * self.design.n_columns * self._widest**2
        for rows in blocks_of_groups(block.groups, len(block.Y), bytes_per_row):
            own = block.take(rows)
            Phi = self.design.rows(self.design.scale.apply(own.X))
            for problem in self.problems:
                cells = np.ix_(_positions(rows), np.array(problem.labels))
                scores[cells] = self._left_out(problem, Phi, own)
        shifts = rate_shifts(
            block.Y, block.w, block.groups, rates=self.rates, n_rows=n_rows
        )
        return scores + shifts

    @property
    def _widest(self) -> int:
        """How many labels the largest problem has."""
        return max(problem.n_coupled for problem in self.problems)

    def _left_out(self, problem: WishedLabels, Phi: Array, block: Block) -> FloatArray:
        """Scores (n, l) of rows of columns (n, Q) that are left out."""
        if len(problem.columns) < self.design.n_columns:
            Phi = Phi[:, problem.columns]
        if problem.n_coupled > 1:
            return self._coupled_left_out(problem, Phi, block)
        labels = np.array(problem.labels)
        free = problem.solutions[0]
        held = HeldFactor(free.factor.tau, lower=free.factor.lower, basis=problem.basis)
        solution = replace(
            free,
            factor=held,
            B=self.B[np.ix_(problem.columns, labels)],
            rates=self.rates[labels],
        )
        targets = block.of_labels(labels)
        return solution.leave_one_out(Phi, targets.Y, targets.w, targets.groups)

    def _coupled_left_out(
        self, problem: WishedLabels, Phi: Array, block: Block
    ) -> FloatArray:
        """Scores (n, l) of labels that are one problem: a row is left out of all."""
        n_rows, n_columns = Phi.shape
        n_labels = len(problem.labels)
        halves = np.zeros((n_rows, n_labels, n_labels, n_columns + 1))
        residuals = np.zeros((n_rows, n_labels))
        roots = np.zeros((n_rows, n_labels))
        fitted = np.zeros((n_rows, n_labels))
        basis = problem.basis.reshape(n_labels, n_columns, -1)
        for place, label in enumerate(problem.labels):
            free = problem.solutions[place]
            targets = block.of_labels(np.array([label]))
            root = np.sqrt(targets.w)
            centred = Phi - free.mean
            own = self.B[problem.columns, label]
            fitted[:, place] = self.rates[label] + centred @ own
            residuals[:, place] = root * (targets.Y[:, 0] - fitted[:, place])
            half = root[:, None] * free.factor.half(centred)
            halves[:, place, place, :-1] = half
            held = half @ basis[place]
            halves[:, place, :, :-1] -= np.einsum("na,lqa->nlq", held, basis)
            halves[:, place, place, -1] = root / free.total**0.5
            roots[:, place] = root
        groups = np.arange(n_rows) if block.groups is None else block.groups
        left_out = residuals_by_factor(
            halves.reshape(n_rows * n_labels, -1),
            residuals.reshape(-1, 1),
            np.repeat(groups, n_labels),
            MIN_KEPT_SHARE,
        ).reshape(n_rows, n_labels)
        Y = block.Y[:, list(problem.labels)]
        safe = np.where(roots > 0, roots, 1.0)
        return np.where(roots > 0, Y - left_out / safe, fitted)


def _positions(rows: slice | NDArray[np.intp]) -> NDArray[np.intp]:
    """Rows as positions."""
    if isinstance(rows, slice):
        return np.arange(rows.start, rows.stop)
    return rows
