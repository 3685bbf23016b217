"""A solution under wishes of the user, from sums over rows, and its honest scores.

Per label the loss is quadratic, so the numbers that meet the wishes at the least loss
are those of `nearest`. Labels are apart from each other unless an effect is to be the
same for some of them: these are one problem, with all their numbers in a row.

Exceptions, and pairs with a feature that a wish is about, are left out: a feature that
is to rise must rise in the whole model, and pairs and exceptions say what it does
together with others.

Leave-one-out scores hold the demands that hold the solution: the problem is then one
with equations, whose leverages are those of the ridge problem without the directions
that equations forbid.

Symbols: Q columns, L labels, l labels of one problem, k demands, n rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..columns import Columns
from ..core.arrays import Array, FloatArray
from ..core.pairs import Pairs
from ..exceptions import InputError
from ..text import listing
from .demands import Demand, DemandMaker, columns_of_feature, wished_columns
from .design import Coefficients, Design, ExceptionRules
from .least_change import ContradictionError, Nearest, nearest
from .left_out import blocks_of_groups, rate_shifts, residuals_by_factor
from .ridge import MIN_KEPT_SHARE, Factor, Penalty, PrimalSolution
from .rows import ROW_COPIES, Block
from .sums import FitSums
from .wishes import Wish

# What is so small next to the largest number of a label is left of 0 by rounding.
SHARE_OF_ROUNDING = 1e-12


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

    ``basis`` (l · Q, a) are the directions in which it is held, with the halves of all
    labels in a row.
    """

    labels: tuple[int, ...]
    basis: FloatArray


@dataclass(frozen=True, eq=False)
class Corrected:
    """Numbers of all labels under wishes.

    Parameters
    ----------
    sums : FitSums
        Those of the columns that are left.
    B : (Q, L)
    solutions : list of PrimalSolution
        Without wishes, of each part of the sums.
    problems : list of WishedLabels
    """

    sums: FitSums
    B: FloatArray
    solutions: list[PrimalSolution]
    problems: list[WishedLabels]

    @property
    def design(self) -> Design:
        """What the columns are."""
        return self.sums.design

    @cached_property
    def part_of_label(self) -> NDArray[np.intp]:
        """The part of the sums that each label is in, (L,)."""
        parts = np.zeros(self.sums.n_labels, dtype=np.intp)
        for number, part in enumerate(self.sums.parts):
            parts[part.labels] = number
        return parts

    @cached_property
    def rates(self) -> FloatArray:
        """Base rates (L,)."""
        rates = np.zeros(self.sums.n_labels)
        for part, solution in zip(self.sums.parts, self.solutions, strict=True):
            rates[part.labels] = solution.rates
        return rates

    @property
    def means(self) -> FloatArray:
        """Means (Q, L) of the columns over the rows of each label."""
        means = [self.solutions[part].mean for part in self.part_of_label]
        return np.stack(means, axis=1)

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
        return max(self._n_coupled(problem) for problem in self.problems)

    def _n_coupled(self, problem: WishedLabels) -> int:
        return len(problem.basis) // max(self.design.n_columns, 1)

    def _left_out(self, problem: WishedLabels, Phi: Array, block: Block) -> FloatArray:
        """Scores (n, l) of rows of columns (n, Q) that are left out."""
        labels = np.array(problem.labels)
        if self._n_coupled(problem) > 1:
            return self._coupled_left_out(problem, Phi, block)
        free = self.solutions[self.part_of_label[labels[0]]]
        held = HeldFactor(free.factor.tau, lower=free.factor.lower, basis=problem.basis)
        solution = replace(
            free, factor=held, B=self.B[:, labels], rates=self.rates[labels]
        )
        targets = block.of_labels(labels)
        return solution.leave_one_out(Phi, targets.Y, targets.w, targets.groups)

    def _coupled_left_out(
        self, problem: WishedLabels, Phi: Array, block: Block
    ) -> FloatArray:
        """Scores (n, l) of labels that are one problem: a row is left out of all."""
        n_rows = len(Phi)
        n_labels = len(problem.labels)
        halves = np.zeros((n_rows, n_labels, n_labels, Phi.shape[1] + 1))
        residuals = np.zeros((n_rows, n_labels))
        roots = np.zeros((n_rows, n_labels))
        fitted = np.zeros((n_rows, n_labels))
        basis = problem.basis.reshape(n_labels, Phi.shape[1], -1)
        for place, label in enumerate(problem.labels):
            free = self.solutions[self.part_of_label[label]]
            targets = block.of_labels(np.array([label]))
            root = np.sqrt(targets.w)
            centred = Phi - free.mean
            fitted[:, place] = self.rates[label] + centred @ self.B[:, label]
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


def without_exceptions(design: Design) -> Design:
    """A design without its exceptions."""
    rules = design.rules
    none = ExceptionRules(rules.centers[:0], width=rules.width, order=0)
    return replace(design, rules=none)


@dataclass(frozen=True)
class Corrector:
    """Finds numbers under wishes.

    ``features`` and ``labels`` are names for sentences; ``columns`` say what the
    features of a table are, None where they are the columns of X.
    """

    wishes: tuple[Wish, ...]
    features: tuple[str, ...]
    labels: tuple[str, ...]
    columns: Columns | None = field(default=None)

    def kept_pairs(self, pairs: Pairs) -> Pairs:
        """Pairs of features that no wish is about."""
        wished = wished_columns(self.wishes, self.columns)
        is_kept = ~np.isin(pairs.columns, sorted(wished)).any(axis=1)
        return replace(
            pairs,
            first=pairs.first[is_kept],
            second=pairs.second[is_kept],
            share=pairs.share[is_kept],
        )

    def kept_sums(self, sums: FitSums) -> FitSums:
        """The sums of the columns that are left under the wishes."""
        design = sums.design
        pairs = self.kept_pairs(design.pairs)
        sums = sums.with_pairs(pairs)
        columns = np.arange(sums.design.first_rule)
        return sums.of_columns(columns, without_exceptions(sums.design))

    def corrected(self, sums: FitSums, start: FloatArray | None = None) -> Corrected:
        """The numbers that meet the wishes at the least loss.

        With ``start`` (P, L), numbers of terms, it is these and what is found that
        meet the wishes together.
        """
        if sums.curves is None:
            raise ValueError("wishes about log-odds need the curves of the model")
        kept = self.kept_sums(sums)
        penalty = Penalty(kept.ridge)
        solutions = [part.moments.solve(penalty) for part in kept.parts]
        B = np.zeros((kept.design.n_columns, kept.n_labels))
        for part, solution in zip(kept.parts, solutions, strict=True):
            B[:, part.labels] = solution.B
        free = Corrected(kept, B, solutions, [])
        maker = DemandMaker(kept.design, self.columns, sums.curves)
        self._check_flat_ends(maker)
        demands = maker.demands(self.wishes)
        if start is not None:
            demands = [_left_to(demand, start) for demand in demands]
        B = B.copy()
        problems = []
        for labels in _problems(demands, free.part_of_label):
            own = [demand for demand in demands if set(demand.rows) <= set(labels)]
            if not own:
                problems.append(WishedLabels(labels, np.zeros((len(B), 0))))
                continue
            held = self._held(free, labels, own, maker)
            _move(B, free, labels, own, held.multipliers)
            problems.append(WishedLabels(labels, held.basis))
        return replace(free, B=B, problems=problems)

    def _check_flat_ends(self, maker: DemandMaker) -> None:
        """Refuse a flat end that would be the whole of a curve that cannot bend."""
        for wish in self.wishes:
            if maker.would_be_flat_everywhere(wish):
                name = self.features[wish.feature]
                raise InputError(
                    f"{wish.told(repr(name))} would leave it no effect at all, because "
                    "its curve is a straight line here: correct the model where its "
                    "rows are, or ask for no effect."
                )

    def _held(
        self,
        free: Corrected,
        labels: tuple[int, ...],
        demands: Sequence[Demand],
        maker: DemandMaker,
    ) -> Nearest:
        """The shortest move of some labels that meets demands."""
        try:
            return _shortest_move(free, labels, demands)
        except ContradictionError:
            raise self._contradiction(free, labels, maker) from None

    def _contradiction(
        self, free: Corrected, labels: tuple[int, ...], maker: DemandMaker
    ) -> InputError:
        """The sentence about wishes that cannot be met together."""
        for feature in sorted({wish.feature for wish in self.wishes}):
            name = self.features[feature]
            own = [wish for wish in self.wishes if wish.feature == feature]
            own = [wish for wish in own if set(wish.labels) & set(labels)]
            demands = maker.demands(own)
            demands = [demand for demand in demands if set(demand.rows) <= set(labels)]
            try:
                if demands:
                    _shortest_move(free, labels, demands)
            except ContradictionError:
                told = listing(wish.told(repr(name)) for wish in own)
                names = listing(self.labels[label] for label in labels)
                return InputError(
                    f"No curve of this model does all of this for {names}: {told}"
                    f"{self._reason(free.design, own)}; take one of these wishes "
                    "back."
                )
        return InputError("These wishes contradict each other: take one of them back.")

    def _reason(self, design: Design, wishes: Sequence[Wish]) -> str:
        """Why no curve meets wishes about one feature, where that is known."""
        column = wishes[0].feature
        if self.columns is not None:
            column = columns_of_feature(self.columns, column)[0]
        points = {point for wish in wishes for point in wish.values}
        scaling = design.scale.scaling
        if scaling is not None and len(points) >= scaling.n_values[column]:
            return (
                " (its effects average 0 over the rows, so that of its last value "
                "follows from the others)"
            )
        n_terms = int((design.scale.terms.feature == column).sum())
        if len(points) > n_terms > 1:
            return " (its curve has too few bends for so many points)"
        return " (its curve is a straight line here)" if n_terms == 1 else ""


def _left_to(demand: Demand, start: FloatArray) -> Demand:
    """What a demand still asks of numbers that are added to others (P, L)."""
    met = 0.0
    for label, row in demand.rows.items():
        met += float(row @ start[: len(row), label])
    return replace(demand, least=demand.least - met)


def _problems(
    demands: Sequence[Demand], part_of_label: NDArray[np.intp]
) -> list[tuple[int, ...]]:
    """Labels that are one problem, because some demand is about several of them.

    Those without a demand are together where they have the same sums.
    """
    root = {label: label for demand in demands for label in demand.rows}
    for demand in demands:
        joined = {root[label] for label in demand.rows}
        for label, own in root.items():
            if own in joined:
                root[label] = min(joined)
    problems: dict[tuple[str, int], list[int]] = {}
    for label, part in enumerate(part_of_label.tolist()):
        key = ("wished", root[label]) if label in root else ("free", part)
        problems.setdefault(key, []).append(label)
    return [tuple(labels) for labels in problems.values()]


def _padded(demand: Demand, label: int, n_columns: int) -> FloatArray:
    """What a demand multiplies the numbers (Q,) of a label with."""
    row = np.zeros(n_columns)
    if label in demand.rows:
        own = demand.rows[label]
        row[: len(own)] = own
    return row


def _rows_of(demands: Sequence[Demand], label: int, n_columns: int) -> FloatArray:
    """What demands multiply the numbers of a label with, (k, Q)."""
    return np.stack([_padded(demand, label, n_columns) for demand in demands])


def _shortest_move(
    free: Corrected, labels: tuple[int, ...], demands: Sequence[Demand]
) -> Nearest:
    """How numbers of labels move to meet demands at the least loss."""
    n_columns = len(free.B)
    halves = []
    missing = np.array([demand.least for demand in demands])
    for label in labels:
        rows = _rows_of(demands, label, n_columns)
        factor = free.solutions[free.part_of_label[label]].factor
        halves.append(factor.half(rows))
        missing = missing - rows @ free.B[:, label]
    is_equal = np.array([demand.is_equal for demand in demands])
    return nearest(np.hstack(halves), missing, is_equal)


def _move(
    B: FloatArray,
    free: Corrected,
    labels: tuple[int, ...],
    demands: Sequence[Demand],
    multipliers: FloatArray,
) -> None:
    """Move the numbers of labels, in place, as far as demands pull them."""
    for label in labels:
        rows = _rows_of(demands, label, len(B))
        factor = free.solutions[free.part_of_label[label]].factor
        B[:, label] += factor.solve((rows.T @ multipliers)[:, None])[:, 0]
        wished = np.flatnonzero(rows.any(axis=0))
        least = SHARE_OF_ROUNDING * np.abs(B[:, label]).max(initial=0.0)
        # not 1e-17, which rules would tell as an effect
        B[wished[np.abs(B[wished, label]) <= least], label] = 0.0
