"""A model for another site: how it is made, and what doing less or more would give.

The old model as it is, recalibrated, adapted, and refitted from nothing are judged on
the same new rows, each without the row that is judged.

Symbols: n rows, L labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .columns import Columns
from .core.arrays import FloatArray, underflow_is_zero
from .explain.changes import ChangedRate, SiteChanges, changed_effects
from .fit.adapt import (
    Correction,
    corrected_system,
    correction,
    design_of,
    for_labels_elsewhere,
    rarer_cases,
    slopes_of,
    squared_errors,
    strongest_choice,
    under_wishes,
)
from .fit.corrector import Corrector
from .fit.design import Coefficients, Design
from .fit.left_out import group_codes, take_groups
from .fit.order import order_by_content
from .fit.ridge import Penalty
from .fit.rows import Block
from .fit.wishes import ABOUT_LOG_ODDS, restored_wishes
from .metrics.curves import weighted_ranking
from .probabilities import Curves, drawn_curves, fit_curves, probabilities_of
from .rows.elsewhere import RowsElsewhere
from .short import TrainingRows, certainty_of
from .system import FuzzySystem
from .text import listing
from .thresholds import find_thresholds

# The line from old log-odds to new ones is drawn towards these, as if so many rows had
# followed them; five folds choose.
LINE_STRENGTHS = (20.0, 100.0, 500.0, np.inf)
LINE_FOLDS = 5
# Cases that a threshold is found by; with fewer it stays where it was.
MIN_CASES_OF_THRESHOLD = 20
FROM_NOTHING = 0.0
# Cases, on average over labels, below which a fit from nothing is not considered: with
# 1,000 rows of visits and stops, 80 cases and more, it was still behind by .01.
MIN_CASES_TO_START_OVER = 50
LEAST_PROBABILITY = 1e-6  # in a logarithm

AS_IT_IS = "as it is"
RECALIBRATED = "recalibrated"
ADAPTED = "adapted"
REFITTED = "refitted"

Metrics = dict[str, float]
PlainWish = dict[str, Any]


class RefitScores(NamedTuple):
    """Leave-one-out scores (n, L) of a fit to the new rows alone.

    ``raw`` are on the scale of labels, ``log_odds`` are what they say.
    """

    raw: FloatArray
    log_odds: FloatArray


@dataclass(frozen=True)
class CarriedWishes:
    """Wishes that a model meets, and what becomes of them at another site.

    ``kept`` are those that no line from scores to log-odds changes, about labels of the
    new rows by name; ``lost`` are sentences on the others.
    """

    kept: tuple[PlainWish, ...] = ()
    lost: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    columns: Columns | None = None

    @classmethod
    def of(
        cls,
        plain: Sequence[PlainWish],
        features: tuple[str, ...],
        columns: Columns | None,
        labels: Sequence[str],
    ) -> "CarriedWishes":
        """What becomes of wishes where there are some labels."""
        kept = []
        lost = []
        for item in plain:
            own = tuple(label for label in item["labels"] if label in labels)
            if item["kind"] not in ABOUT_LOG_ODDS:
                kept += [{**item, "labels": own}] if own else []
                continue
            names = tuple(item["labels"])
            (wish,) = restored_wishes([item], features, names)
            lost.append(f"{wish.told(repr(item['feature']))} ({listing(names)})")
        return cls(tuple(kept), tuple(lost), features, columns)

    def corrector(self, names: Sequence[str], chosen: NDArray[np.intp]) -> Corrector:
        """What meets the wishes about some of the labels of these names."""
        labels = tuple(str(names[j]) for j in chosen)
        wishes = []
        for item in self.kept:
            own = tuple(label for label in item["labels"] if label in labels)
            if own:
                wishes.append({**item, "labels": own})
        restored = restored_wishes(wishes, self.features, labels)
        return Corrector(restored, self.features, labels, self.columns)


@dataclass(frozen=True)
class Adaptation:
    """A system with the terms of an old one, for rows of another site.

    ``refit`` are the scores of a fit from nothing, None where there is none;
    ``threshold`` is the wish of the user, and ``wishes`` are those that effects of the
    old system meet, about labels of the new rows.
    """

    old: FuzzySystem
    rows: RowsElsewhere
    refit: RefitScores | None
    threshold: Any
    wishes: CarriedWishes = field(default_factory=CarriedWishes)

    # what is there --------------------------------------------------------------------

    @cached_property
    def base(self) -> FuzzySystem:
        """The old system for the labels of the new rows."""
        return for_labels_elsewhere(self.old, self.rows.label_names)

    @cached_property
    def is_known(self) -> NDArray[np.bool_]:
        """Which labels (L,) the old system knows."""
        return np.isin(self.rows.label_names, self.old.label_names)

    @property
    def judged(self) -> NDArray[np.intp]:
        """Labels that the old system knows and the new rows tell about."""
        return np.flatnonzero(self.is_known & self.rows.is_told)

    @property
    def begun(self) -> NDArray[np.intp]:
        """Labels that are new, and that the new rows tell about."""
        return np.flatnonzero(~self.is_known & self.rows.is_told)

    @cached_property
    @underflow_is_zero()
    def before(self) -> FloatArray:
        """Log-odds (n, L) of the old system."""
        return np.asarray(self.base.scores(self.rows.X), dtype=np.float64)

    @cached_property
    def _rates(self) -> FloatArray:
        """Base rates (L,) of the new rows."""
        w = self.rows.w
        return (w * self.rows.Y).sum(axis=0) / np.maximum(w.sum(axis=0), 1e-300)

    @cached_property
    def slopes(self) -> FloatArray:
        """What turns scores on the scale of labels into log-odds, (L,)."""
        return slopes_of(self.base, self._rates)

    @cached_property
    @underflow_is_zero()
    def design(self) -> Design:
        """The columns of the old system."""
        rows = self.rows
        return design_of(self.base, rows.X, rows.w.mean(axis=1))

    @property
    def n_cases(self) -> float:
        """Rows of the rarer kind, on average over labels that are judged."""
        labels = self.judged
        if not len(labels):
            return 0.0
        return rarer_cases(self.rows.Y[:, labels], self.rows.w[:, labels])

    # what is found --------------------------------------------------------------------

    def _block(self, labels: NDArray[np.intp]) -> Block:
        """What the old system misses on the new rows, for some labels."""
        rows = self.rows
        missed = rows.Y - self.before / self.slopes
        w = rows.w[:, labels]
        if (w == w[:, :1]).all():
            w = w[:, 0]
        return Block(rows.X, missed[:, labels], w, rows.groups)

    @cached_property
    def moved(self) -> Correction | None:
        """What is added to the numbers of labels that the old system knows."""
        correction = self._correction(self.judged, may_stay=True)
        if correction is None or not np.isfinite(correction.strength):
            return correction
        corrector = self.wishes.corrector(self.rows.label_names, self.judged)
        if not corrector.wishes:
            return correction
        return self._under_wishes(correction, corrector)

    @underflow_is_zero()
    def _under_wishes(self, found: Correction, corrector: Corrector) -> Correction:
        """What is added, so that the wishes are met."""
        labels = self.judged
        return under_wishes(
            found,
            self._block(labels),
            self.design,
            1.0 / self.slopes[labels],
            corrector=corrector,
            old=self._old_numbers(labels),
        )

    def _old_numbers(self, labels: NDArray[np.intp]) -> Coefficients:
        """Numbers of the old system for some labels, on the scale of these."""
        own = self.base.for_labels(labels)
        slopes = self.slopes[labels]
        pairs = np.zeros((len(own.pairs), len(labels)))
        if own.pair_coef is not None:
            pairs = own.pair_coef / slopes
        return Coefficients(
            intercept=own.intercept / slopes,
            terms=own.term_coef / slopes,
            pairs=pairs,
            rules=own.coef / slopes,
        )

    @cached_property
    def added(self) -> Correction | None:
        """The numbers of labels that are new."""
        return self._correction(self.begun, may_stay=False)

    @underflow_is_zero()
    def _correction(
        self, labels: NDArray[np.intp], *, may_stay: bool
    ) -> Correction | None:
        """What is added to the numbers of some labels, which may be nothing."""
        if not len(labels):
            return None
        return correction(
            self._block(labels),
            self.design,
            1.0 / self.slopes[labels],
            n_cases=self.n_cases,
            may_stay=may_stay,
        )

    def _all_labels(self, field: str) -> FloatArray:
        """A part of both corrections for all labels, 0 where there is none."""
        corrections = [(self.judged, self.moved), (self.begun, self.added)]
        whole: FloatArray | None = None
        for labels, made in corrections:
            if made is None:
                continue
            own = getattr(made, field, None)
            if own is None:
                own = getattr(made.numbers, field)
            if whole is None:
                whole = np.zeros((*own.shape[:-1], len(self.is_known)))
            whole[..., labels] = own
        return np.zeros(0) if whole is None else whole

    @property
    def numbers(self) -> Coefficients:
        """What is added to the numbers of all labels, on the scale of labels."""
        return Coefficients(*(self._all_labels(name) for name in Coefficients._fields))

    @cached_property
    def raw_log_odds(self) -> FloatArray:
        """Leave-one-out log-odds (n, L) before the last line."""
        return self.before + self.slopes * self._all_labels("loo_scores")

    @cached_property
    def curves(self) -> Curves:
        """The last line of each label."""
        strength = self._chosen_line_strength(self.raw_log_odds)
        return self._lines(self.raw_log_odds, slice(None), strength)

    @property
    def recalibration(self) -> Curves:
        """The lines that would recalibrate the old model, with all its numbers."""
        strength = self._chosen_line_strength(self.before)
        return self._lines(self.before, slice(None), strength)

    def _chosen_line_strength(self, log_odds: FloatArray) -> float:
        """The strongest of some strengths that is not clearly worse than another."""
        labels = self.judged
        if not len(labels):
            return np.inf
        losses = []
        for strength in LINE_STRENGTHS:
            after = self._left_out_lines(log_odds, strength)
            losses.append((self.rows.w * self._losses(after))[:, labels].sum(axis=1))
        best = strongest_choice(np.stack(losses), self.n_cases, self.rows.groups)
        return LINE_STRENGTHS[best]

    def _losses(self, log_odds: FloatArray) -> FloatArray:
        """Log losses (n, L) of log-odds."""
        p = probabilities_of(log_odds)
        of_case = np.where(self.rows.Y > 0, p, 1 - p)
        return -np.log(np.clip(of_case, LEAST_PROBABILITY, 1.0))

    def _lines(self, log_odds: FloatArray, chosen: Any, strength: float) -> Curves:
        """Lines of all labels, fitted to some rows; new labels have their own."""
        Y = self.rows.Y[chosen]
        w = self.rows.w[chosen]
        slopes = np.ones(Y.shape[1])
        offsets = np.zeros(Y.shape[1])
        for labels, is_old in ((self.judged, True), (self.begun, False)):
            if not len(labels) or (is_old and np.isinf(strength)):
                continue
            own = log_odds[chosen][:, labels], Y[:, labels], w[:, labels]
            if is_old:
                fitted = drawn_curves(*own, strength)
            else:
                fitted = fit_curves(*own, take_groups(self.rows.groups, chosen))
            slopes[labels] = fitted.slopes
            offsets[labels] = fitted.offsets
        return Curves(slopes, offsets)

    @cached_property
    def honest(self) -> FloatArray:
        """Leave-one-out log-odds (n, L) of the adapted system."""
        return self.curves.log_odds(self.raw_log_odds)

    @cached_property
    def starts_over(self) -> bool:
        """Whether a fit from nothing is clearly better than numbers that were moved."""
        labels = self.judged
        if self.refit is None or self.moved is None:
            return False
        if self.n_cases < MIN_CASES_TO_START_OVER:
            return False
        block = self._block(labels)
        own = replace(block, Y=self.rows.Y[:, labels])
        variances = 1.0 / self.slopes[labels]
        errors = squared_errors(own, self.refit.raw[:, labels], variances)
        both = np.stack([errors, self.moved.errors])
        best = strongest_choice(both, self.n_cases, self.rows.groups, doubt=0.0)
        return best == 0

    @property
    def strength(self) -> float:
        """λ: infinity where the old numbers stay, 0 where nothing of them is left."""
        if self.starts_over:
            return FROM_NOTHING
        return np.inf if self.moved is None else self.moved.strength

    @underflow_is_zero()
    def system(self) -> FuzzySystem:
        """The adapted system."""
        corrected = corrected_system(self.base, self.numbers, self.slopes)
        system = corrected.on_log_odds(self.curves)
        return replace(system, thresholds=self._thresholds())

    def _thresholds(self) -> FloatArray:
        """Thresholds (L,) by the wish of the user; those of few cases stay."""
        rows = self.rows
        thresholds, _ = find_thresholds(self.threshold, self.honest, rows.Y, rows.w)
        if np.ndim(self.threshold) == 0 and not isinstance(self.threshold, str):
            return thresholds
        cases = ((rows.w > 0) & (rows.Y > 0)).sum(axis=0)
        stays = self.is_known & (cases < MIN_CASES_OF_THRESHOLD)
        return np.where(stays, self.base.thresholds, thresholds)

    # what is said ---------------------------------------------------------------------

    def compared(self) -> dict[str, Metrics]:
        """Metrics of each way on the new rows, over labels that the old model knows."""
        moved = self.raw_log_odds
        # a line changes no ranking of rows, but one line per fold would
        compared = {
            AS_IT_IS: self._metrics(self.before, self.before),
            RECALIBRATED: self._metrics(self.before, self._left_out_lines(self.before)),
            ADAPTED: self._metrics(moved, self._left_out_lines(moved)),
        }
        if self.refit is not None:
            refit = self.refit.log_odds
            compared[REFITTED] = self._metrics(refit, refit)
            if self.starts_over:
                compared[ADAPTED] = compared[REFITTED]
        return compared

    def _left_out_lines(
        self, log_odds: FloatArray, strength: float | None = None
    ) -> FloatArray:
        """Log-odds (n, L) after lines that were fitted without the rows of a fold.

        Without a strength, that of all rows is chosen.
        """
        if strength is None:
            strength = self._chosen_line_strength(log_odds)
        after = log_odds.copy()
        for fold in range(LINE_FOLDS):
            left_out = self._fold_of_rows == fold
            if left_out.all() or not left_out.any():
                continue
            lines = self._lines(log_odds, ~left_out, strength)
            after[left_out] = lines.log_odds(log_odds[left_out])
        return after

    @cached_property
    def _fold_of_rows(self) -> NDArray[np.intp]:
        """The fold (n,) of each row, by what rows hold: their order changes nothing."""
        rows = self.rows
        block = Block(rows.X, rows.Y, rows.w, rows.groups)
        order = order_by_content(block, self.base.scaling)
        places = np.empty(len(order), dtype=np.intp)
        places[order] = np.arange(len(order))
        if rows.groups is not None:
            places[order] = group_codes(rows.groups[order])
        return places % LINE_FOLDS

    def _metrics(self, scores: FloatArray, log_odds: FloatArray) -> Metrics:
        """Means over labels of AP and AUC of scores, and of the loss of log-odds."""
        sums: dict[str, list[float]] = {"AP": [], "AUC": [], "log loss": []}
        for j in self.judged:
            w = self.rows.w[:, j]
            seen = w > 0
            y = self.rows.Y[seen, j]
            p = probabilities_of(log_odds[seen, j])
            ap, auc = weighted_ranking(y > 0, scores[seen, j], w[seen])
            of_case = np.clip(np.where(y > 0, p, 1 - p), LEAST_PROBABILITY, 1.0)
            sums["AP"].append(ap)
            sums["AUC"].append(auc)
            sums["log loss"].append(
                float(-np.average(np.log(of_case), weights=w[seen]))
            )
        return {name: _mean_of_known(values) for name, values in sums.items()}

    def changes(self) -> list[str]:
        """What is different from the old model, in sentences."""
        rows = self.rows
        changes = SiteChanges(
            strength=self.strength,
            effects=[] if self.starts_over else self._effects(),
            rates=[self._changed_rate(j) for j in self.judged.tolist()],
            new_labels=[rows.label_names[j] for j in self.begun],
            silent_labels=[
                name
                for name, is_told in zip(rows.label_names, rows.is_told, strict=True)
                if not is_told
            ],
            gone_labels=list(rows.gone_labels),
            gone_features=list(rows.gone_features),
            unused_features=list(rows.unused_features),
            lost_wishes=list(self.wishes.lost),
        )
        return changes.sentences()

    def _changed_rate(self, j: int) -> ChangedRate:
        """How frequent label j is here, and by the old model."""
        rows = self.rows
        return ChangedRate.of(
            rows.label_names[j],
            rows.Y[:, j],
            probabilities_of(self.before[:, j]),
            w=rows.w[:, j],
            groups=rows.groups,
        )

    @underflow_is_zero()
    def _effects(self) -> list[Any]:
        """Effects that moved beyond their interval, the largest change first."""
        if self.moved is None or not np.isfinite(self.moved.strength):
            return []
        labels = self.judged
        rows = self.rows
        training = TrainingRows(
            X=rows.X,
            Y=rows.Y[:, labels],
            w=rows.w[:, labels],
            loo_scores=(self.before / self.slopes)[:, labels] + self.moved.loo_scores,
            design=self.design,
            penalty=Penalty(self.moved.strength),
            groups=rows.groups,
        )
        certainty = certainty_of(training)
        slopes = (self.slopes * self.curves.slopes)[labels]
        base = self.base.for_labels(labels)
        nothing = replace(
            base,
            intercept=0 * base.intercept,
            term_coef=0 * base.term_coef,
            pair_coef=None if base.pair_coef is None else 0 * base.pair_coef,
            coef=0 * base.coef,
        )
        change = corrected_system(nothing, self.moved.numbers, slopes)
        if certainty is not None:
            certainty = replace(certainty, noise=certainty.noise * slopes)
        return changed_effects(base, replace(change, certainty=certainty))


def _mean_of_known(values: list[float]) -> float:
    """The mean of numbers that are not NaN; NaN where there is none."""
    defined = [value for value in values if value == value]
    return float(np.mean(defined)) if defined else float("nan")
