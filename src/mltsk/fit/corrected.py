"""A solution under wishes of the user, from sums over rows, and its honest scores.

Per label the loss is quadratic, so the numbers that meet the wishes at the least loss
are those of `nearest`. Labels are apart from each other unless an effect is to be the
same for some of them: these are one problem, with all their numbers in a row.

Exceptions are left out, and so are, for a label that a wish is about, pairs with its
feature: a feature that is to rise must rise in the whole model, and pairs and
exceptions say what it does together with others.

Leave-one-out scores hold the demands that hold the solution: the problem is then one
with equations, whose leverages are those of the ridge problem without the directions
that equations forbid.

Symbols: Q columns, L labels, l labels and q columns of one problem, k demands, n rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

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
        """Pairs of features that are left to some label."""
        is_kept = np.zeros(len(pairs), dtype=bool)
        for label in range(len(self.labels)):
            is_kept |= self._is_kept(pairs, label)
        return replace(
            pairs,
            first=pairs.first[is_kept],
            second=pairs.second[is_kept],
            share=pairs.share[is_kept],
        )

    def _is_kept(self, pairs: Pairs, label: int) -> NDArray[np.bool_]:
        """Which rules (R,) of pairs are left to a label: no wish is about them.

        Labels that share an effect are one problem, so they have the same ones.
        """
        together = self._together(label)
        wishes = [wish for wish in self.wishes if together & set(wish.labels)]
        wished = wished_columns(wishes, self.columns)
        is_wished: NDArray[np.bool_] = np.isin(pairs.columns, sorted(wished))
        return np.logical_not(is_wished.any(axis=1))

    def _together(self, label: int) -> set[int]:
        """The labels whose numbers are found together with those of a label."""
        shared = [set(wish.labels) for wish in self.wishes if wish.kind == "same"]
        together = {label}
        for _ in shared:
            for labels in shared:
                if labels & together:
                    together |= labels
        return together

    def kept_sums(self, sums: FitSums) -> FitSums:
        """The sums of the columns that are left to some label under the wishes."""
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
        maker = DemandMaker(kept.design, self.columns, sums.curves)
        self._check_flat_ends(maker)
        demands = maker.demands(self.wishes)
        if start is not None:
            demands = [_left_to(demand, start) for demand in demands]
        B = np.zeros((kept.design.n_columns, kept.n_labels))
        problems = []
        for free in self._free_problems(kept, demands):
            labels = free.labels
            own = [demand for demand in demands if set(demand.rows) <= set(labels)]
            own_B = _free_numbers(kept, free)
            problem = free
            if own:
                held = self._held(free, own_B, own, maker)
                _move(own_B, free, own, held.multipliers)
                problem = replace(free, basis=held.basis)
            B[np.ix_(free.columns, np.array(labels))] = own_B
            problems.append(problem)
        return Corrected(kept, B, problems)

    def _free_problems(
        self, sums: FitSums, demands: Sequence[Demand]
    ) -> list[WishedLabels]:
        """Labels that are one problem, with their columns, before anything holds them.

        Labels of the same sums that have no demand and the same columns are together.
        """
        solved: dict[tuple[int, bytes], PrimalSolution] = {}
        part_of_label = _part_of_label(sums)
        columns_of = [self._columns_of(sums.design, j) for j in range(sums.n_labels)]
        keys = [columns.tobytes() for columns in columns_of]
        problems = []
        for labels in _problems(demands, part_of_label, keys):
            columns = columns_of[labels[0]]
            solutions = []
            for label in labels:
                part = int(part_of_label[label])
                key = (part, keys[label])
                if key not in solved:
                    solved[key] = _solved(sums, part, columns)
                solutions.append(solved[key])
            problems.append(WishedLabels.free(labels, columns, tuple(solutions)))
        return problems

    def _columns_of(self, design: Design, label: int) -> NDArray[np.intp]:
        """The columns of a design without exceptions that are left to a label."""
        is_kept = self._is_kept(design.pairs, label)
        rules = design.n_terms + np.flatnonzero(is_kept)
        return np.concatenate([np.arange(design.n_terms), rules])

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
        free: WishedLabels,
        B: FloatArray,
        demands: Sequence[Demand],
        maker: DemandMaker,
    ) -> Nearest:
        """The shortest move of numbers B (q, l) that meets demands."""
        try:
            return _shortest_move(free, B, demands)
        except ContradictionError:
            raise self._contradiction(free, B, maker) from None

    def _contradiction(
        self, free: WishedLabels, B: FloatArray, maker: DemandMaker
    ) -> InputError:
        """The sentence about wishes that cannot be met together."""
        labels = free.labels
        for feature in sorted({wish.feature for wish in self.wishes}):
            name = self.features[feature]
            own = [wish for wish in self.wishes if wish.feature == feature]
            own = [wish for wish in own if set(wish.labels) & set(labels)]
            demands = maker.demands(own)
            demands = [demand for demand in demands if set(demand.rows) <= set(labels)]
            try:
                if demands:
                    _shortest_move(free, B, demands)
            except ContradictionError:
                told = listing(wish.told(repr(name)) for wish in own)
                names = listing(self.labels[label] for label in labels)
                return InputError(
                    f"No curve of this model does all of this for {names}: {told}"
                    f"{self._reason(maker.design, own)}; take one of these wishes "
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


def _part_of_label(sums: FitSums) -> NDArray[np.intp]:
    """The part of sums that each label is in, (L,)."""
    parts = np.zeros(sums.n_labels, dtype=np.intp)
    for number, part in enumerate(sums.parts):
        parts[part.labels] = number
    return parts


def _solved(sums: FitSums, part: int, columns: NDArray[np.intp]) -> PrimalSolution:
    """The solution of one part of sums for some of the columns, without wishes."""
    moments = sums.parts[part].moments
    if len(columns) < sums.design.n_columns:
        moments = moments.weighted(columns, np.ones(len(columns)))
    return moments.solve(Penalty(sums.ridge))


def _free_numbers(sums: FitSums, problem: WishedLabels) -> FloatArray:
    """Numbers (q, l) of the labels of a problem, without wishes."""
    part_of_label = _part_of_label(sums)
    numbers = []
    for label, solution in zip(problem.labels, problem.solutions, strict=True):
        part = sums.parts[part_of_label[label]]
        place = int(np.flatnonzero(part.labels == label)[0])
        numbers.append(solution.B[:, place])
    return np.stack(numbers, axis=1)


def _problems(
    demands: Sequence[Demand],
    part_of_label: NDArray[np.intp],
    columns: Sequence[bytes],
) -> list[tuple[int, ...]]:
    """Labels that are one problem, because some demand is about several of them.

    Those without a demand are together where they have the same sums and columns.
    """
    root = {label: label for demand in demands for label in demand.rows}
    for demand in demands:
        joined = {root[label] for label in demand.rows}
        for label, own in root.items():
            if own in joined:
                root[label] = min(joined)
    problems: dict[tuple[str, int, bytes], list[int]] = {}
    for label, part in enumerate(part_of_label.tolist()):
        key = ("free", part, columns[label])
        if label in root:
            key = ("wished", root[label], b"")
        problems.setdefault(key, []).append(label)
    return [tuple(labels) for labels in problems.values()]


def _padded(demand: Demand, label: int, n_columns: int) -> FloatArray:
    """What a demand multiplies the numbers (q,) of a label with."""
    row = np.zeros(n_columns)
    if label in demand.rows:
        own = demand.rows[label]
        row[: len(own)] = own
    return row


def _rows_of(demands: Sequence[Demand], label: int, n_columns: int) -> FloatArray:
    """What demands multiply the numbers of a label with, (k, q)."""
    return np.stack([_padded(demand, label, n_columns) for demand in demands])


def _shortest_move(
    free: WishedLabels, B: FloatArray, demands: Sequence[Demand]
) -> Nearest:
    """How numbers B (q, l) of labels move to meet demands at the least loss."""
    halves = []
    missing = np.array([demand.least for demand in demands])
    for place, label in enumerate(free.labels):
        rows = _rows_of(demands, label, len(B))
        halves.append(free.solutions[place].factor.half(rows))
        missing = missing - rows @ B[:, place]
    is_equal = np.array([demand.is_equal for demand in demands])
    return nearest(np.hstack(halves), missing, is_equal)


def _move(
    B: FloatArray,
    free: WishedLabels,
    demands: Sequence[Demand],
    multipliers: FloatArray,
) -> None:
    """Move the numbers B (q, l) of labels, in place, as far as demands pull them."""
    for place, label in enumerate(free.labels):
        rows = _rows_of(demands, label, len(B))
        factor = free.solutions[place].factor
        own = B[:, place]
        own += factor.solve((rows.T @ multipliers)[:, None])[:, 0]
        wished = np.flatnonzero(rows.any(axis=0))
        least = SHARE_OF_ROUNDING * np.abs(own).max(initial=0.0)
        # not 1e-17, which rules would tell as an effect
        own[wished[np.abs(own[wished]) <= least]] = 0.0
