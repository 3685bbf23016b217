"""Short models of every size, their honest scores, and how sure their numbers are.

A short model is a sheet that can be worked out by hand. Its ramps are straight lines in
the caller's units between cut points of few digits, and its numbers are rounded: what
is printed is the whole model. A statement counts one for each of its conditions: a ramp
has one, a cell of a pair of features has two, and an exception has a few.

A short model imitates mostly the leave-one-out scores of the long model, which are
smoother than labels. Its own honest scores are found in folds: for the rows of a fold,
terms are chosen and numbers fitted without these rows, to scores of a long model that
was fitted without them, too.

Symbols: N rows, D columns, L labels, C candidates, Q columns of the long model's
design.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import (
    Array,
    FloatArray,
    Matrix,
    dense,
    spread_rows,
)
from ..core.certainty import Certainty
from ..core.members import Members
from ..fit.left_out import rate_shifts
from ..fit.rows import Block, RowIndex
from ..fit.solve import left_out_scores
from ..probabilities import Curves, fit_curves
from ..system import FuzzySystem
from .candidates import Candidates
from .certainty import noise_of_log_odds
from .regions import Index
from .selection import SelectionProblem, information_of
from .sheets import SheetMaker, linear_system
from .training import MAX_CHOICE_ROWS, TrainingRows
from .wished import wished_scores, wished_signs

N_FOLDS = 5
# Statements that 15 or more of these halves chose reappeared in new data in .96 of
# cases where effects are strong and in .84 where they are weak, and no statement about
# noise got there; "5 of 5" refits without a fold reappeared in .27 on noise.
N_HALVES = 16
HALVES_SEED = 0
MAX_SHRUNK = 1e3  # numbers that are nothing have no share that they lack
MAX_COMPARED_SIZE = 50  # statements per label up to which sizes are compared


@dataclass(frozen=True)
class Fold:
    """A choice that was made without some rows: ``left_out`` among those chosen on."""

    left_out: Index
    problem: SelectionProblem
    choices: list[list[Index]]

    @classmethod
    def of(cls, left_out: Index, problem: SelectionProblem, max_size: int) -> "Fold":
        """The choice up to a size, which keeps nothing of what was not chosen."""
        choices = problem.chosen(max_size)
        return cls(left_out, *problem.restricted(choices))

    @property
    def max_size(self) -> int:
        """Statements per label up to which there are choices."""
        return max(len(by_size) - 1 for by_size in self.choices)

    def coef(self, size: int) -> Array:
        """Numbers (C, L) of the model of a size."""
        return self.problem.fitted(self.choices, size)


@dataclass(frozen=True, eq=False)
class ShortModels:
    """Short models of every size, from one run of the choice.

    Parameters
    ----------
    long : FuzzySystem
    training : TrainingRows
        Rows of the long model.
    max_conditions : int or None
        Of an exception; 0 is for models without exceptions.
    max_size : int
        Statements per label of the largest model.
    """

    long: FuzzySystem
    training: TrainingRows
    max_conditions: int | None
    max_size: int
    _kept_halves: list[Fold] = field(default_factory=list, init=False, repr=False)

    @cached_property
    def rows(self) -> RowIndex:
        """Which training rows terms are chosen on."""
        return spread_rows(len(self.training), MAX_CHOICE_ROWS)

    @cached_property
    def _chosen_on(self) -> TrainingRows:
        """The training rows that terms are chosen on."""
        return self.training.take(self.rows)

    @cached_property
    def candidates(self) -> Candidates:
        """What is chosen from."""
        if self.long.unit_length or self.long.quantiles is None:
            return Candidates.linear(self.long)
        w = self._chosen_on.row_weights
        X = np.asarray(self._chosen_on.X[w > 0], dtype=np.float64)
        return Candidates.of(self.long, X, w[w > 0], self.max_conditions)

    @cached_property
    def _columns(self) -> Matrix:
        """Columns (n, C) of the candidates on the rows that are chosen on."""
        return self.candidates.columns(self._chosen_on.X)

    def _problem(self, rows: RowIndex, target: Array) -> SelectionProblem:
        """The selection problem on some of these rows."""
        w = self._chosen_on.row_weights[rows]
        return SelectionProblem.of(
            self._columns[rows], target, w, self.candidates, self._signs
        )

    @cached_property
    def _signs(self) -> NDArray[np.int8] | None:
        """What wishes of the user leave to the candidates."""
        return wished_signs(self.candidates, self.training.wishes)

    @cached_property
    def _whole(self) -> Fold:
        """The choice on all rows: a fold that leaves nothing out."""
        problem = self._problem(slice(None), self._chosen_on.target)
        return Fold.of(np.arange(0), problem, self.max_size)

    @cached_property
    def _kernel(self) -> tuple[Matrix, Array]:
        """The rows that are chosen on, scaled (n, D), and their kernel (n, n)."""
        rows = self._chosen_on
        Z = rows.design.scale.apply(rows.X)
        return Z, rows.design.kernel(Z)

    def _part(self, kept: Index) -> TrainingRows | None:
        """Some of the rows, with leave-one-out scores of a long model of their own.

        None where they hold no observation of some label.
        """
        rows = self._chosen_on
        part_rows = rows.take(kept)
        if not part_rows.w.any(axis=0).all():
            return None
        block = Block(part_rows.X, part_rows.Y, part_rows.w, part_rows.groups)
        if rows.wishes is not None:
            scores = wished_scores(block, rows.wishes, rows.design, rows.penalty.rho)
            return replace(part_rows, loo_scores=scores)
        Z, K = self._kernel
        scores = left_out_scores(
            rows.design, rows.penalty, block, Z[kept], K[np.ix_(kept, kept)]
        )
        shifts = rate_shifts(part_rows.Y, part_rows.w, part_rows.groups)
        return replace(part_rows, loo_scores=scores + shifts)

    @cached_property
    def _folds(self) -> list[Fold]:
        """The choices of each fold.

        A fold that has all observations of a label has none.
        """
        folds = []
        own_fold = self.fold_of_rows
        for k in range(min(N_FOLDS, len(own_fold))):
            others = np.flatnonzero(own_fold != k)
            fold_rows = self._part(others)
            if fold_rows is None:
                continue
            problem = self._problem(others, fold_rows.target)
            left_out = np.flatnonzero(own_fold == k)
            folds.append(Fold.of(left_out, problem, self.max_size))
        return folds

    def long_scores(self) -> FloatArray:
        """Honest scores (n, L) of the long model for the rows in `rows`.

        They are by the same folds as those of short models, in closed form.
        """
        rows = self._chosen_on
        block = Block(rows.X, rows.Y, rows.w, self.fold_of_rows)
        if rows.wishes is not None:
            return wished_scores(block, rows.wishes, rows.design, rows.penalty.rho)
        Z, K = self._kernel
        scores = left_out_scores(rows.design, rows.penalty, block, Z, K)
        return scores + rate_shifts(rows.Y, rows.w, self.fold_of_rows)

    @cached_property
    def _halves(self) -> list[tuple[Index, FloatArray]]:
        """Random halves of the rows, with what short models of them imitate.

        Two halves after another have all rows. Groups are not cut in two.
        """
        places = self._places
        n_places = int(places.max(initial=-1)) + 1
        rng = np.random.default_rng(HALVES_SEED)
        halves = []
        for _ in range(N_HALVES // 2):
            is_first = rng.permutation(n_places)[places] < n_places // 2
            for half in (np.flatnonzero(is_first), np.flatnonzero(~is_first)):
                half_rows = self._part(half)
                if half_rows is not None:
                    halves.append((half, half_rows.target))
        return halves

    @cached_property
    def fold_of_rows(self) -> Index:
        """The number of the fold that each of these rows is left out in, (n,).

        Groups are not cut in two.
        """
        return self._places % N_FOLDS

    @cached_property
    def _places(self) -> Index:
        """The place of each of these rows in an order by what rows hold, (n,)."""
        return self._chosen_on.places()

    def scores(self, size: int) -> FloatArray:
        """Honest scores (n, L) of a size for the rows in `rows`.

        They are by models that were chosen and fitted without the rows of their fold.
        """
        scores = self._chosen_on.loo_scores.copy()
        for fold in self._folds:
            columns = self._columns[fold.left_out]
            own = fold.problem.scores(columns, fold.coef(size))
            # all folds start from the base rates of all rows
            shift = self._whole.problem.rates - fold.problem.rates
            scores[fold.left_out] = own + shift
        return scores

    @property
    def base_rates(self) -> FloatArray:
        """Mean scores (L,) of the rows in `rows`."""
        return self._whole.problem.rates

    def sheets(self, size: int, curves: Curves) -> Iterator[tuple[Index, FuzzySystem]]:
        """The whole model of a size, and one per fold, with the rows that it left out.

        They are sheets of rounded log-odds alone: nothing says how sure they are.
        """
        for fold in (self._whole, *self._folds):
            kept = np.ones(len(self._chosen_on), dtype=bool)
            kept[fold.left_out] = False
            others = self._chosen_on.take(np.flatnonzero(kept))
            maker = SheetMaker(self.candidates, fold.problem.mean)
            coef = fold.coef(size) * curves.slopes
            # all folds start from the base rates of all rows
            rates = curves.log_odds(self.base_rates)
            yield fold.left_out, maker.system(coef, rates, others.X, others.row_weights)

    def system(self, size: int, curves: Curves) -> FuzzySystem:
        """The model of at most ``size`` statements per label, in log-odds.

        Curves turn its scores into log-odds; what is rounded are the numbers of these.
        """
        short = self.bare_system(size, curves)
        rows = self.training.take(slice(None))
        columns = self.long.columns
        members = Members.of(
            rows.X,
            short.firing_strengths(rows.X),
            rows.Y,
            rows.w,
            shared=False,
            groups=rows.groups,
            indicators=None if columns is None else columns.indicators,
            n_given=0 if columns is None else len(columns.rules),
        )
        certainty = self._certainty(short, size, curves)
        return replace(short, members=members, certainty=certainty)

    def bare_system(self, size: int, curves: Curves) -> FuzzySystem:
        """`system` for predictions alone: nothing says how sure its numbers are.

        That takes most of the time, as it needs choices on halves of the rows.
        """
        problem = self._whole.problem
        coef = self._whole.coef(size) * curves.slopes
        rates = curves.log_odds(problem.rates)
        if self._is_linear:
            short = linear_system(self.candidates, coef, problem.mean, rates)
        else:
            rows = self._chosen_on
            maker = SheetMaker(self.candidates, problem.mean)
            short = maker.system(coef, rates, rows.X, rows.row_weights)
        return replace(short, thresholds=np.zeros(len(rates)), has_log_odds=True)

    @property
    def _is_linear(self) -> bool:
        """Whether all candidates are straight lines of sparse features."""
        return self.candidates.terms.low is None

    def _certainty(self, short: FuzzySystem, size: int, curves: Curves) -> Certainty:
        """How sure the numbers of a short model are."""
        rows = self._chosen_on
        w = rows.row_weights
        coef = self._whole.coef(size)
        numbers = None
        if self._is_linear:
            numbers = np.flatnonzero(short.term_coef.any(axis=1))
            columns = dense(self._columns[:, numbers])
        else:
            columns = _numbered_columns(short, rows.X, w)
        chosen, n_halves = self._times_chosen(size, coef)
        return Certainty(
            information=information_of(columns, w),
            noise=noise_of_log_odds(rows, self.scores(size), curves),
            chosen=chosen,
            folds=n_halves,
            numbers=numbers,
            shrunk=self._shrunk(coef, curves),
        )

    def _shrunk(self, coef: Array, curves: Curves) -> FloatArray:
        """By which share numbers (C, L) would be larger with curves of their own rows.

        Curves (of honest scores) are flatter than those, the more so the less there is
        to find: they draw numbers towards 0.
        """
        rows = self._chosen_on
        scores = self._whole.problem.scores(self._columns, coef)
        own = fit_curves(scores, np.nan_to_num(rows.Y), rows.w, rows.groups)
        return np.clip(own.slopes / curves.slopes - 1, 0.0, MAX_SHRUNK)

    def _times_chosen(self, size: int, coef: Array) -> tuple[NDArray[np.int64], int]:
        """In how many halves of the rows each column was chosen, (D, L), of how many.

        It counts where the feature has the same effect as by the numbers (C, L).
        """
        A = self._columns
        mean = self._whole.problem.mean
        w = self._chosen_on.row_weights
        n_columns = len(self.long.feature_names)
        times_chosen = np.zeros((n_columns, coef.shape[1]), dtype=np.int64)
        folds = self._folds_of_halves(size)
        for fold in folds:
            times_chosen += self.candidates.agreement(
                A, mean, w, coef=coef, other=fold.coef(size)
            )
        return times_chosen, len(folds)

    def _folds_of_halves(self, size: int) -> list[Fold]:
        """The choices on each half of the rows, up to a size at least.

        They are kept: whoever needs models of several sizes asks for the largest first.
        """
        kept = self._kept_halves
        if not kept or kept[0].max_size < size:
            every = np.arange(len(self._chosen_on))
            kept.clear()
            for half, target in self._halves:
                left_out = np.setdiff1d(every, half)
                kept.append(Fold.of(left_out, self._problem(half, target), size))
        return kept


def _numbered_columns(system: FuzzySystem, X: Matrix, w: Array) -> FloatArray:
    """Columns (n, V) that the numbers of a short model are multiplied with.

    X (n, D) are rows, w (n,) their weights. Missing values count as the average, so
    that they say nothing about a number.
    """
    Z = system.scale(X)
    terms = system.terms.averaged(Z, system.scaling, w)
    T = terms.memberships(Z, system.scaling)
    return np.hstack([np.asarray(T), np.asarray(system.firing_strengths(X))])
