"""What a fit knew of its rows, for those who judge, shorten or explain a model.

A `FitRecord` stays with the classifier in memory. It does not travel: a model that is
saved, pickled or copied to another process holds no rows.

Symbols: n rows of the record, L labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .core.arrays import (
    Array,
    FloatArray,
    asnumpy,
    blas_threads,
    spread_rows,
    underflow_is_zero,
    weights_per_label,
)
from .core.certainty import Certainty
from .fit import FitResult
from .fit.fit import SAMPLE_ROWS
from .fit.left_out import Groups, take_groups
from .fit.pair_out import hat_matrix, leave_pair_out_auc
from .fit.ridge import centred_kernel
from .fit.rows import ArrayRows, RowIndex, Rows
from .fit.solve import groups_of_labels
from .probabilities import Curves, find_thresholds, fit_curves
from .short import MAX_COMPARED_SIZE, ShortModels, TrainingRows, certainty_of
from .system import FuzzySystem

if TYPE_CHECKING:
    import pandas as pd

THRESHOLD_FOLDS = 5
MAX_PAIR_OUT_ROWS = 2_000  # of the square matrix that pairs of rows are left out by
MAX_NOISE_ROWS = 1_000  # of the kernel whose spectrum says how scores follow labels


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
    """

    training: TrainingRows
    index: RowIndex
    long: FuzzySystem
    judged: RowIndex
    scores: FloatArray
    _short_models: ShortModels | None = field(default=None, repr=False)

    @classmethod
    def of(cls, result: FitResult, rows: Rows) -> "FitRecord":
        """The record of a fit to rows."""
        limit = SAMPLE_ROWS
        if result.loo_rows is not None:
            limit = len(result.loo_rows)
        if isinstance(rows, ArrayRows) and result.loo_rows is not None:
            sample = rows.block(result.loo_rows)
        else:
            sample = rows.sample(limit)
        loo_scores = result.loo_scores
        if result.loo_rows is None and sample.index is not None:
            loo_scores = loo_scores[sample.index]
        rules = result.design.rules
        on_host = replace(rules, centers=asnumpy(rules.centers))
        training = TrainingRows(
            X=sample.X,
            Y=asnumpy(sample.Y),
            w=asnumpy(sample.w),
            groups=sample.groups,
            loo_scores=loo_scores,
            design=replace(result.design, rules=on_host),
            penalty=result.penalty,
        )
        index = slice(None) if sample.index is None else sample.index
        return cls.of_training(training, index, result.system)

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
        Y = self.training.Y[self.judged]
        return fit_curves(self.scores, np.nan_to_num(Y), self.weights)

    @property
    def loo_scores(self) -> FloatArray:
        """Honest log-odds (n, L) of the model that keeps this record."""
        return self.curves.log_odds(self.scores)

    @underflow_is_zero()
    def noise_shares(self) -> FloatArray:
        """How much of the variance of honest scores comes from chance, per label (L,).

        A score is a weighted sum of the labels of other rows, and these are partly
        chance: on pure noise all of the variance comes from it (1), where there is much
        to learn nearly none (0). The AUC of such scores varies more than that of scores
        that have nothing to do with the rows: `mltsk.metrics.roc_auc_interval` takes
        the share for that. It is that of the long model, for short ones too.
        """
        training = self.training
        sample = training.take(spread_rows(len(training), MAX_NOISE_ROWS))
        n_sampled = len(sample)
        K = sample.design.kernel(sample.design.scale.apply(sample.X))
        centred = centred_kernel(np.array(K, dtype=np.float64), np.ones(n_sampled))
        spectrum = np.linalg.eigvalsh(centred)[:, None] / n_sampled
        labels = observed_labels(training.Y, training.w)
        n_observed = np.maximum((~np.isnan(labels)).sum(axis=0), 1)
        # of the matrix H that turns labels into fitted scores
        scale = np.maximum(spectrum, 0.0) * n_observed
        eigenvalues = scale / (scale + training.penalty.rho)
        squares = (eigenvalues**2).sum(axis=0)
        own = eigenvalues.sum(axis=0) ** 2 / n_observed
        scores = np.where(np.isnan(labels), np.nan, training.loo_scores)
        noise = np.nanmean((labels - scores) ** 2, axis=0)
        variance = np.nansum((scores - np.nanmean(scores, axis=0)) ** 2, axis=0)
        shares = noise * (squares - own) * self._rows_as_one()
        return np.clip(shares / np.maximum(variance, 1e-300), 0.0, 1.0)

    def _rows_as_one(self) -> float:
        """How many rows say the same on average: those of a group, else 1."""
        groups = self.training.groups
        if groups is None:
            return 1.0
        return float((np.bincount(groups) ** 2).sum() / len(groups))

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

        For counts that can be trusted: thresholds found on the same rows would find
        more cases than they do elsewhere (5 % of 400 rows are cases: .52 instead of
        .43).
        """
        log_odds = self.loo_scores
        Y = np.nan_to_num(self.training.Y[self.judged])
        given = np.zeros(Y.shape, dtype=bool)
        # groups are not cut in two, and the order of rows changes nothing
        fold_of_rows = self.training.take(self.judged).places() % THRESHOLD_FOLDS
        for fold in range(THRESHOLD_FOLDS):
            left_out = fold_of_rows == fold
            others = ~left_out
            if not others.any():  # a single group
                others = left_out
            thresholds, _ = find_thresholds(
                wish, log_odds[others], Y[others], self.weights[others]
            )
            given[left_out] = log_odds[left_out] >= thresholds
        return given

    @underflow_is_zero()
    def pair_out_auc(self) -> FloatArray:
        """AUC (L,) of the long model, from pairs of rows that are left out together.

        Scores of single rows that were left out cannot quite be compared with each
        other. NaN where this is not known in closed form: of groups, of coupled labels,
        of pairs of features (which were found with these rows), of short models, and of
        more than 2,000 rows.
        """
        aucs = np.full(self.scores.shape[1], np.nan)
        if not self._leaves_pairs_out():
            return aucs
        rows = self.training.take(slice(None))
        K = rows.design.kernel(rows.design.scale.apply(rows.X))
        weights = weights_per_label(rows.w, rows.Y.shape)
        for labels in groups_of_labels(rows.w, rows.Y.shape[1]):
            w = weights[:, labels[0]]
            counted = np.flatnonzero(w > 0)
            H = hat_matrix(K[np.ix_(counted, counted)], w[counted], rows.penalty.rho)
            Y = rows.Y[np.ix_(counted, labels)]
            aucs[labels] = leave_pair_out_auc(H, Y, H @ Y)
        return aucs

    def _leaves_pairs_out(self) -> bool:
        """Whether scores of pairs of rows that are left out are known."""
        rows = self.training
        is_long = self.scores is rows.loo_scores
        is_plain = rows.groups is None and rows.penalty.basis is None
        is_small = len(rows) <= MAX_PAIR_OUT_ROWS and self.loo_rows is None
        return is_long and is_plain and is_small and not len(rows.design.pairs)

    def with_feature_names(self, names: Sequence[str]) -> "FitRecord":
        """The same record for a model whose features have other names."""
        return replace(
            self, long=self.long.with_feature_names(names), _short_models=None
        )

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
        models = self.short_models(size, max_conditions)
        with blas_threads(0.0):  # many small products
            scores = models.scores(size)
            record = FitRecord(
                training=self.training,
                index=self.index,
                long=self.long,
                judged=models.rows,
                scores=scores,
                _short_models=models,
            )
            return models.system(size, record.curves), record

    @underflow_is_zero()
    def size_path(self, max_conditions: int | None) -> "pd.DataFrame":
        """Honest AP of models with 1 to 50 statements per label.

        The attribute ``attrs["long"]`` of the frame has those of the long model, by the
        same folds.
        """
        import pandas as pd

        models = self.short_models(MAX_COMPARED_SIZE, max_conditions)
        sizes = range(1, MAX_COMPARED_SIZE + 1)
        with blas_threads(0.0):  # many small products
            judged = [self._judged(models, models.scores(size)) for size in sizes]
            long = self._judged(models, models.long_scores())
        path = pd.DataFrame(judged)
        path.insert(0, "statements", list(sizes))
        path.attrs["long"] = long
        return path

    def _judged(self, models: ShortModels, scores: FloatArray) -> dict[str, float]:
        """AP and macro AP of honest scores (n, L) of the rows that models judge."""
        from .metrics import evaluate

        Y = self.training.Y[models.rows]
        w = self.training.w[models.rows]
        curves = fit_curves(scores, np.nan_to_num(Y), w)
        evaluation = evaluate(observed_labels(Y, w), curves.log_odds(scores))
        macro = float(evaluation.per_label["AP"].mean())
        return {"AP": evaluation["AP"], "macro_AP": macro}


def observed_labels(Y: Array, w: Array) -> FloatArray:
    """Labels (n, L), NaN where their weight, (n,) or (n, L), is 0."""
    return np.where(weights_per_label(w, Y.shape) > 0, Y, np.nan)
