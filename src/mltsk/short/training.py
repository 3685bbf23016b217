"""Rows that a long model was fitted on, as those see them who judge or shorten it.

Symbols: N rows, L labels.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..core.arrays import (
    Array,
    FloatArray,
    Matrix,
    asnumpy,
    is_tensor,
    spread_rows,
    underflow_is_zero,
    weights_per_label,
)
from ..fit import learning
from ..fit.corrector import Corrector
from ..fit.design import Design
from ..fit.left_out import Groups, take_groups
from ..fit.order import places_by_content
from ..fit.ridge import Penalty, centred_kernel
from ..fit.rows import Block, RowIndex, mean_weights
from ..fit.solve import groups_of_labels
from .regions import Index

MAX_CHOICE_ROWS = 2_000  # terms are chosen on at most this many rows, evenly spread
# Share of the labels in what is imitated; 0 lost .001 to .003 more AP at 12 terms
# (docs/decisions.md).
LABEL_SHARE = 0.2
MAX_LEARNING_ROWS = 2_000  # of the kernel of a learning curve
MAX_NOISE_ROWS = 1_000  # of the kernel whose spectrum says how scores follow labels


@dataclass(frozen=True)
class TrainingRows:
    """Training rows as the long model was fitted on them.

    ``X``, ``Y``, ``w`` and ``groups`` as in a `Block`, on the host but for X;
    ``loo_scores`` (N, L) of the long model, and its design and penalty; ``wishes`` are
    those that it was corrected by.
    """

    X: Matrix
    Y: FloatArray
    w: FloatArray
    loo_scores: FloatArray
    design: Design
    penalty: Penalty
    groups: Groups = None
    wishes: Corrector | None = None

    def __len__(self) -> int:
        return len(self.loo_scores)

    def take(self, rows: RowIndex) -> "TrainingRows":
        """Some of the rows, all of it on the host."""
        X = self.X[rows]
        return replace(
            self,
            X=asnumpy(X) if is_tensor(X) else X,
            Y=self.Y[rows],
            w=self.w[rows],
            loo_scores=self.loo_scores[rows],
            groups=take_groups(self.groups, rows),
        )

    @property
    def row_weights(self) -> FloatArray:
        """Weight of each row, (N,): the mean over labels."""
        return np.asarray(mean_weights(self.Y, self.w), dtype=np.float64)

    @property
    def label_weights(self) -> FloatArray:
        """Weight of each label of each row, (N, L)."""
        return weights_per_label(self.w, self.Y.shape)

    @property
    def target(self) -> FloatArray:
        """What a short model imitates, (N, L).

        Leave-one-out scores, and a little of the label where it was observed.
        """
        mixed = (1 - LABEL_SHARE) * self.loo_scores + LABEL_SHARE * self.Y
        return np.where(self.label_weights > 0, mixed, self.loo_scores)

    def places(self) -> Index:
        """The place of each row in an order by what rows hold, (N,).

        As in `places_by_content`. X must be on the host.
        """
        block = Block(self.X, self.Y, self.w, self.groups)
        return places_by_content(block, self.design.scale.scaling)

    def noise(self, scores: Array) -> FloatArray:
        """Standard deviation (L,) of the labels from honest scores (N, L)."""
        weights = self.label_weights
        share = weights / weights.sum(axis=0)
        return np.sqrt(np.einsum("nl,nl->l", share, (self.Y - scores) ** 2))

    @underflow_is_zero()
    def noise_shares(self) -> FloatArray:
        """How much of the spread of honest scores comes from chance, per label (L,).

        A score is a weighted sum of the labels of other rows, and these are partly
        chance: on pure noise all of the spread comes from it (1), where there is much
        to learn little (near 0). The AUC of such scores varies more than that of scores
        that have nothing to do with the rows: `mltsk.metrics.roc_auc_interval` takes
        the share for that. It is that of standard deviations: with that of variances
        95 % intervals of AUC held the truth in 86 to 96 % of tables, with this in 93
        to 98 %.
        """
        sample = self.take(spread_rows(len(self), MAX_NOISE_ROWS))
        n_sampled = len(sample)
        K = sample.design.kernel(sample.design.scale.apply(sample.X))
        centred = centred_kernel(np.array(K, dtype=np.float64), np.ones(n_sampled))
        spectrum = np.linalg.eigvalsh(centred)[:, None] / n_sampled
        labels = observed_labels(self.Y, self.w)
        n_observed = np.maximum((~np.isnan(labels)).sum(axis=0), 1)
        # of the matrix H that turns labels into fitted scores
        scale = np.maximum(spectrum, 0.0) * n_observed
        eigenvalues = scale / (scale + self.penalty.rho)
        squares = (eigenvalues**2).sum(axis=0)
        own = eigenvalues.sum(axis=0) ** 2 / n_observed
        scores = np.where(np.isnan(labels), np.nan, self.loo_scores)
        noise = np.nanmean((labels - scores) ** 2, axis=0)
        variance = np.nansum((scores - np.nanmean(scores, axis=0)) ** 2, axis=0)
        shares = noise * (squares - own) * self._rows_as_one()
        return np.sqrt(np.clip(shares / np.maximum(variance, 1e-300), 0.0, 1.0))

    def _rows_as_one(self) -> float:
        """How many rows say the same on average: those of a group, else 1."""
        groups = self.groups
        if groups is None:
            return 1.0
        return float((np.bincount(groups) ** 2).sum() / len(groups))

    @underflow_is_zero()
    def learning_scores(
        self, shares: tuple[float, ...], n_draws: int, seed: int
    ) -> tuple[FloatArray, FloatArray] | None:
        """What the model learns from shares of the rows, by `mltsk.fit.learning`.

        The labels (m, L) of at most 2,000 rows, NaN if not observed, and their scores
        (shares, draws, m, L); None where labels are coupled.
        """
        if self.penalty.basis is not None:
            return None
        rows = self.take(spread_rows(len(self), MAX_LEARNING_ROWS))
        K = rows.design.kernel(rows.design.scale.apply(rows.X))
        weights = weights_per_label(rows.w, rows.Y.shape)
        scores = np.zeros((len(shares), n_draws, *rows.Y.shape))
        for labels in groups_of_labels(rows.w, rows.Y.shape[1]):
            w = weights[:, labels[0]]
            counted = np.flatnonzero(w > 0)
            cells = np.ix_(counted, labels)
            for draw in range(n_draws):
                of_draw = learning.learning_scores(
                    K[np.ix_(counted, counted)],
                    rows.Y[cells],
                    w[counted],
                    groups=take_groups(rows.groups, counted),
                    ridge=rows.penalty.rho,
                    shares=shares,
                    seed=seed + draw,
                )
                for share, values in enumerate(of_draw):
                    scores[share, draw][cells] = values
        return observed_labels(rows.Y, rows.w), scores


def observed_labels(Y: Array, w: Array) -> FloatArray:
    """Labels (n, L), NaN where their weight, (n,) or (n, L), is 0."""
    return np.where(weights_per_label(w, Y.shape) > 0, Y, np.nan)
