"""Finds the numbers that meet the wishes of a user at the least loss, from sums.

Per label the loss is quadratic, so the numbers that meet the wishes at the least loss
are those of `nearest`. Labels are apart from each other unless an effect is to be the
same for some of them: these are one problem, with all their numbers in a row.

A feature that is to rise must rise in the whole model, whatever others are that it acts
together with in pairs. So slopes are asked for where the others make them least: such a
demand is added wherever one is missed, until none is. Exceptions are left out, and so
are, for the labels of a wish other than a direction, pairs with its feature.

Symbols: Q columns, L labels, l labels and q columns of one problem, k demands.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..columns import Columns
from ..core.arrays import FloatArray
from ..core.pairs import Pairs
from ..exceptions import InputError
from ..text import listing
from .corrected import Corrected, WishedLabels
from .demands import (
    DIRECTED,
    Demand,
    DemandMaker,
    columns_of_feature,
    wished_columns,
)
from .design import Design, ExceptionRules
from .least_change import ContradictionError, Nearest, nearest
from .pair_slopes import PairSlopes
from .ridge import Penalty, PrimalSolution
from .sums import FitSums, columns_of_pairs
from .wishes import Wish

MAX_ROUNDS_OF_PAIRS = 200  # of adding slopes that are missed
# A slope is missed if it is below 0 by this share of what the largest number would add.
MISSED_SHARE = 1e-12
LEAST_PROGRESS = 1e-9  # of a distance from round to round, as a share
# What is so small next to the largest number of a label is left of 0 by rounding.
SHARE_OF_ROUNDING = 1e-12


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
        """Which rules (R,) of pairs are left to a label.

        No wish other than a direction is about them. Labels that share an effect are
        one problem, so they have the same ones.
        """
        together = self._together(label)
        wishes = [
            wish
            for wish in self.wishes
            if together & set(wish.labels) and wish.kind not in DIRECTED
        ]
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

        With ``start`` (P + R, L), numbers of terms and pairs, it is these and what is
        found that meet the wishes together.
        """
        if sums.curves is None:
            raise ValueError("wishes about log-odds need the curves of the model")
        kept = self.kept_sums(sums)
        maker = DemandMaker(kept.design, self.columns, sums.curves)
        self._check_flat_ends(maker)
        demands = maker.demands(self.wishes)
        if start is not None:
            columns = columns_of_pairs(sums.design, kept.design.pairs)
            start = start[columns[: kept.design.n_columns]]
            demands = [_left_to(demand, start) for demand in demands]
        steep = self._steep_labels(maker, start)
        B = np.zeros((kept.design.n_columns, kept.n_labels))
        problems = []
        for free in self._free_problems(kept, demands, steep):
            labels = free.labels
            own = [demand for demand in demands if set(demand.rows) <= set(labels)]
            own_steep = [one for one in steep if one.label in labels]
            own_steep = [one.of_columns(free.columns) for one in own_steep]
            problem, own_B = self._met(kept, free, own, own_steep, maker)
            B[np.ix_(free.columns, np.array(labels))] = own_B
            problems.append(problem)
        return Corrected(kept, B, problems)

    def _steep_labels(
        self, maker: DemandMaker, start: FloatArray | None
    ) -> list["SteepLabel"]:
        """The directions of features that act together with others, by label."""
        steep = []
        for wish in self.wishes:
            slopes = maker.pair_slopes(wish)
            if slopes is None:
                continue
            for label in wish.labels:
                before: FloatArray = np.zeros(maker.design.n_columns)
                if start is not None:
                    before = start[:, label]
                steep.append(SteepLabel(label, slopes, before))
        return steep

    def _met(
        self,
        sums: FitSums,
        free: WishedLabels,
        demands: Sequence[Demand],
        steep: Sequence["SteepLabel"],
        maker: DemandMaker,
    ) -> tuple[WishedLabels, FloatArray]:
        """Labels of one problem under demands and directions, and their numbers."""
        start = _free_numbers(sums, free)
        cuts = _Cuts(demands)
        halves = _halves(free, demands)
        for _ in range(MAX_ROUNDS_OF_PAIRS):
            problem = free
            B = start.copy()
            if cuts.asked:
                held = self._held(free, B, cuts.asked, halves, maker)
                _move(B, free, cuts.asked, held.multipliers)
                problem = replace(free, basis=held.basis)
                halves = halves[cuts.forget(held)]
            missed: list[Demand] = []
            for one in steep:
                missed += one.missed(B[:, free.labels.index(one.label)])
            new = cuts.added(missed)
            if not new:
                return problem, B
            halves = np.vstack([halves, _halves(free, new)])
        raise InputError(
            "No numbers were found that meet these directions in pairs of features: "
            "fit without pairs (n_pairs=0)."
        )

    def _free_problems(
        self,
        sums: FitSums,
        demands: Sequence[Demand],
        steep: Sequence["SteepLabel"],
    ) -> list[WishedLabels]:
        """Labels that are one problem, with their columns, before anything holds them.

        Labels of the same sums that have no demand and the same columns are together.
        """
        solved: dict[tuple[int, bytes], PrimalSolution] = {}
        part_of_label = _part_of_label(sums)
        columns_of = [self._columns_of(sums.design, j) for j in range(sums.n_labels)]
        keys = [columns.tobytes() for columns in columns_of]
        problems = []
        wished = {one.label for one in steep}
        for labels in _problems(demands, wished, part_of_label, keys):
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
        halves: FloatArray,
        maker: DemandMaker,
    ) -> Nearest:
        """The shortest move of numbers B (q, l) that meets demands."""
        try:
            return _shortest_move(free, B, demands, halves)
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
                    _shortest_move(free, B, demands, _halves(free, demands))
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


@dataclass(frozen=True)
class SteepLabel:
    """A label for which a feature that acts together with others has a direction.

    ``slopes`` are to be at least 0 with the numbers ``before`` (Q,) and those found.
    """

    label: int
    slopes: PairSlopes
    before: FloatArray

    def of_columns(self, columns: NDArray[np.intp]) -> "SteepLabel":
        """The same where only some columns are left."""
        slopes = self.slopes.of_columns(columns)
        return replace(self, slopes=slopes, before=self.before[columns])

    def missed(self, b: FloatArray) -> list[Demand]:
        """Demands for the slopes that are below 0 with numbers b (Q,)."""
        if not self.slopes.partners:
            return []
        whole = self.before + b
        rows = self.slopes.least(whole)
        largest = np.abs(rows).sum(axis=1) * np.abs(whole).max(initial=0.0)
        missed = rows @ whole < -MISSED_SHARE * largest
        return [
            Demand({self.label: row}, least=-float(row @ self.before))
            for row in rows[missed]
        ]


class _Cuts:
    """Demands of wishes, and those of slopes that were missed, which come after them.

    Slopes that hold nothing are forgotten, so that each round is short, as long as
    numbers move farther from round to round. One that is missed while it is asked for
    is missed by rounding.
    """

    def __init__(self, demands: Sequence[Demand]) -> None:
        self.asked = list(demands)
        self._n_wished = len(demands)
        self._distance = 0.0

    def added(self, missed: Sequence[Demand]) -> list[Demand]:
        """Those of some missed demands that are not asked for yet, and now are."""
        known = {_key(demand) for demand in self.asked[self._n_wished :]}
        new = [demand for demand in missed if _key(demand) not in known]
        self.asked += new
        return new

    def forget(self, held: Nearest) -> list[int]:
        """Forget slopes that do not hold a solution; the places of all others."""
        distance = float(held.u @ held.u)
        is_kept = np.ones(len(self.asked), dtype=bool)
        if distance > self._distance * (1 + LEAST_PROGRESS):
            is_kept[self._n_wished :] = held.multipliers[self._n_wished :] != 0
        self._distance = distance
        kept = np.flatnonzero(is_kept).tolist()
        self.asked = [self.asked[place] for place in kept]
        return kept


def _key(demand: Demand) -> bytes:
    """What tells a demand on one label from others."""
    ((label, row),) = demand.rows.items()
    return label.to_bytes(4, "little") + row.tobytes()


def _left_to(demand: Demand, start: FloatArray) -> Demand:
    """What a demand still asks of numbers that are added to others (Q, L)."""
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
    wished: set[int],
    part_of_label: NDArray[np.intp],
    columns: Sequence[bytes],
) -> list[tuple[int, ...]]:
    """Labels that are one problem, because some demand is about several of them.

    Those without a demand, and that are not ``wished`` otherwise, are together where
    they have the same sums and columns.
    """
    root = {label: label for demand in demands for label in demand.rows}
    root |= {label: label for label in wished}
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


def _halves(free: WishedLabels, demands: Sequence[Demand]) -> FloatArray:
    """Halves (k, l · q) of the rows of demands."""
    n_columns = len(free.columns)
    if not demands:
        return np.zeros((0, n_columns * len(free.labels)))
    halves = []
    for place, label in enumerate(free.labels):
        rows = _rows_of(demands, label, n_columns)
        halves.append(free.solutions[place].factor.half(rows))
    return np.hstack(halves)


def _shortest_move(
    free: WishedLabels, B: FloatArray, demands: Sequence[Demand], halves: FloatArray
) -> Nearest:
    """How numbers B (q, l) of labels move to meet demands at the least loss."""
    missing = np.array([demand.least for demand in demands])
    for place, label in enumerate(free.labels):
        missing = missing - _rows_of(demands, label, len(B)) @ B[:, place]
    is_equal = np.array([demand.is_equal for demand in demands])
    return nearest(halves, missing, is_equal)


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
