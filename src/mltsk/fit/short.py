"""Short models: a few statements per label, chosen and refitted to say what the long model says.

A short model is a sheet that can be worked out by hand. Its ramps are straight lines in the caller's units between cut
points of few digits, and its numbers are rounded: what is printed is the whole model. An exception counts one statement
for its shift and one for each condition. What is imitated are mostly the leave-one-out scores of the long model, which
are smoother than labels. What rows score without themselves is found in folds: terms are chosen and numbers fitted
without the rows of a fold, to scores of the long model that was fitted without them, too.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import block_diag, eye_array
from scipy.sparse.linalg import inv

from ..core.arrays import Array, asnumpy, is_tensor, spread_rows
from ..core.certainty import Certainty
from ..core.membership import Members
from ..system import FuzzySystem
from .candidates import Candidates, Index
from .design import OVERLAPPING, Design
from .fit import left_out_scores
from .ridge import Penalty
from .selection import Problem

ROWS = 2_000  # terms are chosen on at most this many rows, evenly spread
OF_LABELS = 0.2  # share of the labels in what is imitated; 0 lost .001 to .003 more AP at 12 terms (docs/decisions.md)
FOLDS = 5
LARGEST = 50  # statements per label up to which sizes are compared
MOST_NUMBERS = 5_000  # per label, of a long model whose certainty is worked out


@dataclass(frozen=True)
class Sample:
    """Training rows as the long model was fitted on them, its leave-one-out scores ``loo``, design and penalty."""

    X: Any
    Y: Array
    w: Array
    copies: Array
    loo: Array
    design: Design
    penalty: Penalty

    def rows(self, rows: Any) -> "Sample":
        """Some of the rows."""
        X = asnumpy(self.X[rows]) if is_tensor(self.X) else self.X[rows]
        return replace(
            self,
            X=X,
            Y=self.Y[rows],
            w=self.w[rows],
            copies=self.copies[rows],
            loo=self.loo[rows],
        )

    @property
    def row_weights(self) -> Array:
        """(N,): the mean over labels."""
        return np.asarray(
            self.w if self.w.ndim == 1 else self.w.mean(axis=1), dtype=np.float64
        )

    @property
    def target(self) -> Array:
        """What a short model imitates, (N, L): scores without oneself, and a little of the label where observed."""
        known = np.broadcast_to(
            (self.w if self.w.ndim == 2 else self.w[:, None]) > 0, self.Y.shape
        )
        return np.where(
            known, (1 - OF_LABELS) * self.loo + OF_LABELS * self.Y, self.loo
        )


def certainty_of(sample: Sample) -> Certainty | None:
    """How sure a long model is of its numbers, from at most 2,000 rows; None where those are too many, or coupled."""
    design, penalty = sample.design, sample.penalty
    (P, K, Q), part = design.shape, sample.rows(spread_rows(len(sample.loo), ROWS))
    if Q > MOST_NUMBERS or penalty.basis is not None:
        return None
    w = part.row_weights
    Phi = design.rows(design.scale.apply(part.X))
    centred = (Phi - w @ Phi / w.sum()) * np.sqrt(
        w * (sample.row_weights.sum() / w.sum())
    )[:, None]
    slope = design.scale.variance**-0.5
    rows = [1.0] + [slope] * (0 if not K else (Q - P) // K - 1)
    units = np.concatenate(
        [np.full(P, design.general**0.5), np.tile(rows, K) * design.exceptions**0.5]
    )
    information = (centred.T @ centred + penalty.rho * np.eye(Q)) / np.outer(
        units, units
    )
    if (
        design.scale.name in OVERLAPPING
    ):  # of the numbers of ramps, which are those of its columns times H
        back = block_diag([inv(design.scale.heights.tocsc()), eye_array(Q - P)])
        information = back.T @ information @ back
    return Certainty(information, _noise(part, part.loo))


def _noise(part: Sample, scores: Array) -> Array:
    """Standard deviation of the labels from honest scores, (L,)."""
    known = np.broadcast_to(
        part.w if part.w.ndim == 2 else part.w[:, None], part.Y.shape
    )
    return np.sqrt(
        np.einsum("nl,nl->l", known / known.sum(axis=0), (part.Y - scores) ** 2)
    )


@dataclass(frozen=True, eq=False)
class ShortModels:
    """Short models of every size up to ``most`` statements per label, from one run of the choice."""

    long: FuzzySystem
    sample: Sample
    max_conditions: int | None
    most: int

    @cached_property
    def rows(self) -> Any:
        """Which rows of the sample terms are chosen on."""
        return spread_rows(len(self.sample.loo), ROWS)

    @cached_property
    def _part(self) -> Sample:
        return self.sample.rows(self.rows)

    @cached_property
    def candidates(self) -> Candidates:
        """What is chosen from."""
        if self.long.unit_length or self.long.quantiles is None:
            return Candidates(
                self.long, self.long.terms, *(np.zeros((0, self.long.shape[1])),) * 2
            )
        counted = self._part.X[self._part.row_weights > 0]
        return Candidates.of(
            self.long, np.asarray(counted, dtype=np.float64), self.max_conditions
        )

    @cached_property
    def _columns(self) -> Array:
        return self.candidates.columns(self._part.X)

    def _problem(self, rows: Any, target: Array) -> Problem:
        return Problem.of(
            self._columns[rows], target, self._part.row_weights[rows], self.candidates
        )

    @cached_property
    def _whole(self) -> tuple[Problem, list[list[Index]]]:
        problem = self._problem(slice(None), self._part.target)
        return problem, problem.chosen(self.most)

    @cached_property
    def _folds(self) -> list[tuple[slice, Problem, list[list[Index]]]]:
        """(rows left out, problem, choice) of each fold, but for one that has all observations of some label."""
        part, n, found = self._part, len(self._part.loo), []
        Z = part.design.scale.apply(part.X)
        K = part.design.kernel(Z)
        for k in range(min(FOLDS, n)):
            rest = np.flatnonzero(np.arange(n) % FOLDS != k)
            without = part.rows(rest)
            if not without.w.any(axis=0).all():
                continue
            scores = left_out_scores(
                without.design, without.penalty, without, Z[rest], K[np.ix_(rest, rest)]
            )
            problem = self._problem(rest, replace(without, loo=scores).target)
            found.append((slice(k, None, FOLDS), problem, problem.chosen(self.most)))
        return found

    def scores(self, size: int) -> Array:
        """What `rows` score by models of a size that were chosen and fitted without the rows of their fold, (n, L)."""
        out = self._part.loo.copy()
        for rows, problem, sets in self._folds:
            out[rows] = problem.scores(self._columns[rows], problem.fitted(sets, size))
        return out

    def system(self, size: int) -> FuzzySystem:
        """The model of at most ``size`` statements per label."""
        problem, sets = self._whole
        coef = problem.fitted(sets, size)
        short, kept = self.candidates.system(coef, problem.mean, problem.rates)
        every = self.sample.rows(slice(None))
        columns, words = self.long.columns, dict[str, Any]()
        if columns is not None:
            words = {"indicators": columns.indicators, "n_given": len(columns.rules)}
        members = Members.of(
            every.X,
            short.firing_strengths(every.X),
            every.Y,
            every.w,
            shared=False,
            **words,
        )
        return replace(
            short, members=members, certainty=self._certainty(size, problem, coef, kept)
        )

    def _certainty(
        self, size: int, problem: Problem, coef: Array, kept: Index
    ) -> Certainty:
        """Of the columns ``kept``, from the errors of scores by folds."""
        part, noise = self._part, _noise(self._part, self.scores(size))
        chosen, A = (
            np.zeros((self.long.shape[1], part.Y.shape[1]), dtype=np.int64),
            self._columns - problem.mean,
        )
        for _, other, sets in self._folds:
            chosen += self.candidates.agreement(A, coef, other.fitted(sets, size))
        return Certainty(
            problem.information(A, part.row_weights, kept),
            noise,
            chosen,
            len(self._folds),
        )
