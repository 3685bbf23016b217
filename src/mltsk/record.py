"""What a fit knew of its rows, for those who judge, shorten or explain a model.

A `FitRecord` stays with the classifier in memory. It does not travel: a model that is
saved, pickled or copied to another process holds no rows.

Symbols: n rows of the record, L labels.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .core.arrays import (
    FloatArray,
    asnumpy,
    underflow_is_zero,
)
from .core.certainty import Certainty
from .core.threads import blas_threads
from .core.worth import Worth
from .exceptions import InputError
from .fit.choice import Folds
from .fit.design import Design
from .fit.fit import SAMPLE_ROWS, FitResult
from .fit.left_out import Groups, take_groups
from .fit.rows import Block, RowIndex, Rows
from .fit.solve import folds_among, groups_of_labels, with_pairs_of_folds
from .fit.sums import MAX_PASSING_SUM_CELLS, FitSums, check_sum_cells, on_host
from .metrics.intervals import (
    average_precision_interval,
    guessed_precision,
    roc_auc_interval,
)
from .probabilities import Curves, curves_of_slopes, fit_curves
from .short import MAX_COMPARED_SIZE, ShortModels, TrainingRows, certainty_of
from .short.training import observed_labels
from .short.wished import check_shortened
from .system import FuzzySystem
from .thresholds import find_thresholds

if TYPE_CHECKING:
    import pandas as pd

CURVE_FOLDS = 5
# Folds without which thresholds are found. With five, .03 fewer cases of noise were
# said to be found than are found in fresh rows (100 to 1,000 of them, means of 100
# tables), with 20 it is .01: thresholds of nearly all rows are nearer to that of all.
# How far a table is off fell from .12 to .09 (300 rows). Of many rows five will do.
THRESHOLD_FOLDS = 20
MAX_CELLS_OF_MANY_FOLDS = 500_000
COMPARED_SIZES = range(1, MAX_COMPARED_SIZE + 1)
INTERVALS = (average_precision_interval, roc_auc_interval)
MAX_JUDGED_LABELS = 200  # beyond, nobody reads how well each is predicted


@dataclass(eq=False)
class FitRecord:
    """Rows of a fit, their honest scores, and the short models chosen on them.

    Parameters
    ----------
    training : TrainingRows
        Rows that the long model was fitted on, at most 20,000.
    index : slice or array
        Positions of these rows in the data.
    long : FuzzySystem
        The long model, which short ones imitate.
    judged : slice or array
        Which training rows have honest scores.
    scores : (n, L)
        Honest scores of the model that keeps this record, before they are log-odds.
    kept_sums : FitSums or None
        Sums over all rows of the data, for the pairs of all folds, if the fit kept
        them.
    folds : Folds
        Some training rows, and the pairs of features that were found without them.
    n_rows : int or None
        How many rows the data have; None where the training rows are all.
    choice_shifts : (n, L) or None
        How far honest scores of the training rows are from those by the choice of all
        rows, because it was made again without them; None where it was not.
    held_slopes : (L,) or None
        Slopes of the curves of labels that have to keep theirs; NaN for others.
    """

    training: TrainingRows
    index: RowIndex
    long: FuzzySystem
    judged: RowIndex
    scores: FloatArray
    kept_sums: FitSums | None = field(default=None, repr=False)
    folds: Folds = ()
    n_rows: int | None = None
    choice_shifts: FloatArray | None = field(default=None, repr=False)
    held_slopes: FloatArray | None = None
    _short_models: ShortModels | None = field(default=None, repr=False)

    @classmethod
    def of(cls, result: FitResult, rows: Rows) -> "FitRecord":
        """The record of a fit to rows."""
        if result.loo_rows is None:
            sample = rows.sample(SAMPLE_ROWS)
        else:
            sample = rows.block(result.loo_rows)
        loo_scores = result.loo_scores
        shifts = result.choice_shifts
        if result.loo_rows is None and sample.index is not None:
            loo_scores = loo_scores[sample.index]
            shifts = None if shifts is None else shifts[sample.index]
        training = TrainingRows(
            X=sample.X,
            Y=asnumpy(sample.Y),
            w=asnumpy(sample.w),
            groups=sample.groups,
            loo_scores=loo_scores,
            design=on_host(result.design),
            penalty=result.penalty,
        )
        index = slice(None) if sample.index is None else sample.index
        record = cls.of_training(training, index, result.system)
        folds = result.folds
        if result.loo_rows is None and sample.index is not None:
            in_sample = np.arange(rows.shape[0])[sample.index]
            folds = folds_among(in_sample, folds)
        return replace(
            record,
            kept_sums=result.sums,
            folds=folds,
            n_rows=rows.shape[0],
            choice_shifts=shifts,
        )

    @classmethod
    def of_training(
        cls, training: TrainingRows, index: RowIndex, long: FuzzySystem
    ) -> "FitRecord":
        """The record of a long model and its rows."""
        return cls(
            training=training,
            index=index,
            long=long,
            judged=slice(None),
            scores=training.loo_scores,
        )

    @cached_property
    def wide_sums(self) -> FitSums:
        """Sums over all rows of the data, for the pairs of all folds.

        Those of a fit that did not need them are made of its rows.
        """
        sums = self.kept_sums
        if sums is None:
            design = with_pairs_of_folds(self.training.design, self.folds)
            label_groups = groups_of_labels(self.training.w, self.scores.shape[1])
            check_sum_cells(design.n_columns, len(label_groups))
            sums = self.sums_of_rows(design)
        return replace(sums, curves=self.long_curves)

    @cached_property
    def long_curves(self) -> Curves:
        """What turns the honest scores of the long model into log-odds."""
        return self._fitted_curves(self.training.loo_scores, slice(None))

    @property
    def sums(self) -> FitSums:
        """Sums over all rows of the data, for the columns of the long model."""
        return self.wide_sums.with_pairs(self.training.design.pairs)

    def sums_of_rows(self, design: Design, rows: Rows | None = None) -> FitSums:
        """Sums over all rows of the data: ``rows``, or the training rows if all are.

        Those of ``rows`` may be larger than what is kept.
        """
        training = self.training
        if training.penalty.basis is not None:
            raise InputError(
                "A model of coupled labels has no sums label by label: set "
                "coupling=None."
            )
        if self.n_rows is not None and len(training) < self.n_rows:
            if rows is not None:
                groups = groups_of_labels(rows.w, rows.shape[1])
                check_sum_cells(design.n_columns, len(groups), MAX_PASSING_SUM_CELLS)
                return FitSums.of_rows(rows, design, training.penalty.rho, groups)
            raise InputError(
                "The sums of this fit were not kept, and it keeps too few of its rows "
                "to make them: fit with n_rules=0, n_pairs=0, or to fewer features."
            )
        label_groups = groups_of_labels(training.w, training.Y.shape[1])
        return FitSums.of_rows(
            self.training_block(), design, training.penalty.rho, label_groups
        )

    def training_block(self) -> Block:
        """The training rows on the host, 0 for labels that were not observed."""
        rows = self.training.take(slice(None))
        return Block(rows.X, np.nan_to_num(rows.Y), rows.w, rows.groups)

    @property
    def weights(self) -> FloatArray:
        """Weights of the rows that have honest scores, (n,) or (n, L)."""
        return self.training.w[self.judged]

    @property
    def labels(self) -> FloatArray:
        """Labels of the rows that have honest scores, (n, L); NaN if not observed."""
        return observed_labels(self.training.Y[self.judged], self.weights)

    @property
    def groups(self) -> Groups:
        """Codes (n,) of rows that were left out together; None if each was alone."""
        return take_groups(self.training.groups, self.judged)

    @property
    def is_one_group(self) -> bool:
        """Whether all rows belong together, so that none can be left out."""
        groups = self.training.groups
        return groups is not None and len(groups) > 1 and bool((groups == 0).all())

    @property
    def loo_rows(self) -> NDArray[np.intp] | None:
        """Positions in the data of the rows that have honest scores; None for all."""
        if isinstance(self.index, slice) and isinstance(self.judged, slice):
            return None
        positions = np.arange(len(self.training))
        if not isinstance(self.index, slice):
            positions = np.asarray(self.index)
        return positions[self.judged]

    @cached_property
    def curves(self) -> Curves:
        """What turns the honest scores into log-odds."""
        return self._fitted_curves(self.scores, self.judged)

    def _fitted_curves(self, scores: FloatArray, judged: RowIndex) -> Curves:
        """Curves of honest scores (n, L) of some training rows."""
        Y = np.nan_to_num(self.training.Y[judged])
        w = self.training.w[judged]
        groups = take_groups(self.training.groups, judged)
        free = fit_curves(scores, Y, w, groups)
        if self.held_slopes is None:
            return free
        is_held = ~np.isnan(self.held_slopes)
        slopes = np.where(is_held, self.held_slopes, free.slopes)
        held = curves_of_slopes(slopes, scores, Y, w)
        offsets = np.where(is_held, held.offsets, free.offsets)
        return Curves(slopes, offsets)

    @property
    def loo_scores(self) -> FloatArray:
        """Honest log-odds (n, L) of the model that keeps this record."""
        return self.curves.log_odds(self.scores)

    def noise_shares(self) -> FloatArray:
        """How much of the spread of honest scores comes from chance, per label (L,).

        As in `TrainingRows.noise_shares`: that of the long model, for short ones too.
        """
        return self.training.noise_shares()

    def certainty(self) -> Certainty | None:
        """How sure the long model is of its numbers."""
        certainty = certainty_of(self.training)
        if certainty is None:
            return None
        return replace(certainty, noise=certainty.noise * self.curves.slopes)

    @underflow_is_zero()
    def system(self) -> FuzzySystem:
        """The long model on the scale of log-odds."""
        return self.long.on_log_odds(self.curves)

    @underflow_is_zero()
    def with_thresholds(
        self, system: FuzzySystem, wish: Any
    ) -> tuple[FuzzySystem, list[str]]:
        """A system with the thresholds that the user wishes, by the honest scores.

        Also the names of labels whose threshold misses its goal.
        """
        Y = np.nan_to_num(self.training.Y[self.judged])
        thresholds, is_missed = find_thresholds(wish, self.loo_scores, Y, self.weights)
        names = np.array(system.label_names, dtype=object)
        return replace(system, thresholds=thresholds), names[is_missed].tolist()

    @underflow_is_zero()
    def given_by_folds(self, wish: Any) -> NDArray[np.bool_]:
        """Which labels (n, L) rows get at thresholds that were found without them.

        None where all rows are one group, which no threshold was found without.

        For counts that can be trusted: thresholds found on the same rows would find
        more cases than they do elsewhere (5 % of 400 rows are cases: .52 instead of
        .43).
        """
        log_odds = self.loo_scores
        Y = np.nan_to_num(self.training.Y[self.judged])
        given = np.zeros(Y.shape, dtype=bool)
        n_folds = THRESHOLD_FOLDS if Y.size <= MAX_CELLS_OF_MANY_FOLDS else CURVE_FOLDS
        for left_out, others in self._folds(n_folds):
            thresholds, _ = find_thresholds(
                wish, log_odds[others], Y[others], self.weights[others]
            )
            given[left_out] = log_odds[left_out] >= thresholds
        return given

    @underflow_is_zero()
    def log_odds_by_folds(self) -> FloatArray:
        """Honest log-odds (n, L) by curves that were fitted without the row.

        For judging probabilities: curves that were fitted to the same rows look better
        calibrated than they are elsewhere.
        """
        Y = np.nan_to_num(self.training.Y[self.judged])
        log_odds = np.zeros(Y.shape)
        for left_out, others in self._folds():
            curves = fit_curves(
                self.scores[others],
                Y[others],
                self.weights[others],
                take_groups(self.groups, np.flatnonzero(others)),
            )
            log_odds[left_out] = curves.log_odds(self.scores[left_out])
        return log_odds

    def _folds(
        self, n_folds: int = CURVE_FOLDS
    ) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        """The rows of each of some folds, and all others.

        Groups are not cut in two, and the order of rows changes nothing. Rows that are
        all of one group are in no fold: nothing is known without them.
        """
        fold_of_rows = self.training.take(self.judged).places() % n_folds
        for fold in range(n_folds):
            left_out = fold_of_rows == fold
            others = ~left_out
            if left_out.any() and others.any():
                yield left_out, others

    @property
    def worth(self) -> Worth | None:
        """`judged_labels`, or None where there are so many that it takes long."""
        if self.scores.shape[1] > MAX_JUDGED_LABELS:
            return None
        return self.judged_labels

    @cached_property
    @underflow_is_zero()
    def judged_labels(self) -> Worth:
        """How well all labels are predicted in rows that were left out."""
        labels = self.labels
        n_labels = labels.shape[1]
        noise_shares = self.noise_shares()
        log_odds = self.loo_scores
        figures = np.zeros((2, n_labels, 3))
        guessed = np.zeros(n_labels)
        for j in range(n_labels):
            rows = ~np.isnan(labels[:, j])
            groups = take_groups(self.groups, np.flatnonzero(rows))
            for each, interval in enumerate(INTERVALS):
                estimate = interval(
                    labels[rows, j],
                    log_odds[rows, j],
                    groups=groups,
                    noise_share=float(noise_shares[j]),
                )
                figures[each, j] = np.nan_to_num(estimate)
            guessed[j] = guessed_precision(labels[rows, j] > 0, groups)
        return Worth(
            n_observed=(~np.isnan(labels)).sum(axis=0),
            n_cases=np.nansum(labels, axis=0).astype(np.intp),
            AP=figures[0],
            AUC=figures[1],
            guessed_AP=guessed,
        )

    def learning_scores(
        self, shares: tuple[float, ...], n_draws: int, seed: int
    ) -> tuple[FloatArray, FloatArray] | None:
        """What the long model learns from shares of the rows, by `fit.learning`.

        As in `TrainingRows.learning_scores`.
        """
        return self.training.learning_scores(shares, n_draws, seed)

    def with_feature_names(self, names: Sequence[str]) -> "FitRecord":
        """The same record for a model whose features have other names."""
        renamed = replace(
            self, long=self.long.with_feature_names(names), _short_models=None
        )
        renamed.curves = self.curves  # of a thousand labels they take a second
        return renamed

    def short_models(self, max_size: int, max_conditions: int | None) -> ShortModels:
        """Short models of all sizes up to one, chosen once."""
        models = self._short_models
        is_enough = (
            models is not None
            and models.max_size >= max_size
            and models.max_conditions == max_conditions
        )
        if models is None or not is_enough:
            models = ShortModels(self.long, self.training, max_conditions, max_size)
            self._short_models = models
        return models

    @underflow_is_zero()
    def shortened(
        self, size: int, max_conditions: int | None
    ) -> "tuple[FuzzySystem, FitRecord]":
        """The short model of a size, and the record that it keeps."""
        check_shortened(self.training.wishes)
        models = self.short_models(size, max_conditions)
        with blas_threads(0.0):  # many small products
            record = self._record_of(models, size)
            return models.system(size, record.curves), record

    @underflow_is_zero()
    def bare_system(self, size: int, max_conditions: int | None) -> FuzzySystem:
        """The short model of a size for predictions alone, in a fraction of the time.

        Nothing says how sure its numbers are, nor whom its statements are about.
        """
        check_shortened(self.training.wishes)
        models = self.short_models(size, max_conditions)
        with blas_threads(0.0):  # many small products
            return models.bare_system(size, self._record_of(models, size).curves)

    def _record_of(self, models: ShortModels, size: int) -> "FitRecord":
        """The record that the short model of a size keeps."""
        return FitRecord(
            training=self.training,
            index=self.index,
            long=self.long,
            judged=models.rows,
            scores=models.scores(size),
            kept_sums=self.kept_sums,
            folds=self.folds,
            n_rows=self.n_rows,
            choice_shifts=self.choice_shifts,
            held_slopes=self.held_slopes,
            _short_models=models,
        )

    @underflow_is_zero()
    def size_path(
        self, max_conditions: int | None, sizes: Sequence[int] = COMPARED_SIZES
    ) -> "pd.DataFrame":
        """Honest AP of models of some sizes, by default 1 to 50 statements per label.

        The attribute ``attrs["long"]`` of the frame has those of the long model, by the
        same folds.
        """
        import pandas as pd

        check_shortened(self.training.wishes)
        models = self.short_models(max(sizes), max_conditions)
        with blas_threads(0.0):  # many small products
            judged = [self._judged(models, models.scores(size)) for size in sizes]
            long = self._judged(models, models.long_scores())
        path = pd.DataFrame(judged)
        path.insert(0, "statements", list(sizes))
        path.attrs["long"] = long
        return path

    @underflow_is_zero()
    def with_size_chosen_in_folds(
        self,
        choose: "Callable[[pd.DataFrame], int]",
        sizes: Sequence[int],
        max_conditions: int | None,
    ) -> "FitRecord":
        """The record of a short model, with the scores of sizes chosen without the row.

        ``choose`` takes one of some sizes by a frame as in `size_path`, which is here
        of the rows of the other folds.
        """
        import pandas as pd

        models = self.short_models(max(sizes), max_conditions)
        scores = self.scores.copy()
        with blas_threads(0.0):  # many small products
            by_size = {size: models.scores(size) for size in sizes}
            for left_out, others in self._folds():
                among = np.flatnonzero(others)
                judged = [self._judged(models, by_size[s], among) for s in sizes]
                path = pd.DataFrame(judged)
                path.insert(0, "statements", list(sizes))
                scores[left_out] = by_size[choose(path)][left_out]
        return replace(self, scores=scores)

    def _judged(
        self, models: ShortModels, scores: FloatArray, among: RowIndex = slice(None)
    ) -> dict[str, float]:
        """AP and macro AP of honest scores (n, L) of the rows that models judge.

        ``among`` are those of these rows that count.
        """
        from .metrics import evaluate

        Y = self.training.Y[models.rows][among]
        w = self.training.w[models.rows][among]
        scores = scores[among]
        groups = take_groups(take_groups(self.training.groups, models.rows), among)
        curves = fit_curves(scores, np.nan_to_num(Y), w, groups)
        evaluation = evaluate(observed_labels(Y, w), curves.log_odds(scores))
        macro = float(evaluation.per_label["AP"].mean())
        return {"AP": evaluation["AP"], "macro_AP": macro}
