"""Best thresholds for given scores: one for all labels, or one per label, found exactly from sorted scores.

Y is (N, L), scores (N, L); a label is predicted where score >= threshold. A column of n scores in falling
order can be cut in n + 1 places: cut k predicts the k highest, and any threshold in (s_k+1, s_k] makes it. So
every threshold there is can be tried by one sort and running sums. Of equally good cuts the one nearest to a
reference threshold is taken, and the threshold stays at the reference if that lies inside the cut; otherwise
it is put half-way between the two scores.

===================  ==================================  ====================================================
metric               one threshold (`best_threshold`)    one per label (`best_thresholds`)
===================  ==================================  ====================================================
``hamming``          exact: running sum                  exact: labels do not interact
``macro_f1``         exact: running sum of F1 changes    exact: labels do not interact
``micro_f1``         exact: ratio of running sums        exact: Dinkelbach's method. F1 = 2 TP / (PP + P) is
                                                         at most f iff max of 2 TP - f (PP + P) is at most 0,
                                                         and that splits into labels; f rises to its maximum
``example_f1``,      exact: running sum of row changes   coordinate ascent from the best single threshold:
``subset_accuracy``                                      exact for one label at a time, so a local optimum
a function           best of 200 cuts                    coordinate ascent over 32 cuts a label
===================  ==================================  ====================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mltsk.exceptions import InputError
from mltsk.metrics.bipartition import (
    example_f1_score,
    hamming_loss,
    macro_f1_score,
    micro_f1_score,
    subset_accuracy_score,
)
from mltsk.metrics.inputs import BoolArray, FloatArray

SetMetric = Callable[..., float]

#: What can be maximised; the Hamming loss counts as 1 - loss.
METRICS: dict[str, SetMetric] = {
    "micro_f1": micro_f1_score,
    "macro_f1": macro_f1_score,
    "example_f1": example_f1_score,
    "subset_accuracy": subset_accuracy_score,
    "hamming": lambda Y, predictions, sample_weight=None: (
        1.0 - hamming_loss(Y, predictions, sample_weight=sample_weight)
    ),
}
_TOLERANCE = 1e-10  # running sums of different lengths differ by rounding: such cuts are equally good
_MAX_SWEEPS = 20
_POOLED_CUTS, _LABEL_CUTS = 200, 32


class Cuts(NamedTuple):
    """Columns (n, C) in falling order, and the thresholds (low, high] of their n + 1 cuts."""

    order: np.ndarray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, columns: FloatArray) -> Cuts:
        """Sort columns (n, C)."""
        order = np.argsort(-columns, axis=0, kind="stable")
        falling = np.take_along_axis(columns, order, axis=0)
        border = np.full((1, columns.shape[1]), np.inf)
        return cls(order, np.vstack([falling, -border]), np.vstack([border, falling]))

    def sums(self, gains: FloatArray) -> FloatArray:
        """Sum of gains (n, C) over what each cut predicts, (n + 1, C)."""
        sums = np.zeros((len(gains) + 1, gains.shape[1]))
        np.cumsum(np.take_along_axis(gains, self.order, axis=0), axis=0, out=sums[1:])
        return sums

    def choose(self, values: FloatArray, reference: FloatArray) -> np.ndarray:
        """Cut with the highest value in each column, nearest to the reference (C,) among equals."""
        values = np.where(self.low < self.high, values, -np.inf)  # a tie cannot be cut
        best = values.max(axis=0)
        good = values >= best - _TOLERANCE * np.maximum(np.abs(best), 1.0)
        with np.errstate(invalid="ignore"):  # equal infinities are 0 apart
            distance = np.fmax(reference - self.high, 0) + np.fmax(self.low - reference, 0)
        return np.argmin(np.where(good, distance, np.inf), axis=0)

    def thresholds(self, cut: np.ndarray, reference: FloatArray) -> FloatArray:
        """Threshold (C,) that makes the given cut of each column."""
        low, high = (np.take_along_axis(b, cut[None], axis=0)[0] for b in (self.low, self.high))
        with np.errstate(invalid="ignore"):
            middle = low + (high - low) / 2
        middle = np.where((middle > low) & np.isfinite(middle), middle, high)
        # predicting nothing moves the threshold as little as it must
        middle = np.where(high == np.inf, np.nextafter(low, np.inf), middle)
        return np.where((low < reference) & (reference <= high), reference, middle)


def get_metric(metric: str | SetMetric) -> SetMetric:
    """Function ``f(Y, predictions, sample_weight=None)``, higher is better, for a name or a function."""
    if callable(metric):
        return metric
    if metric not in METRICS:
        raise InputError(f"metric must be a function or one of {', '.join(METRICS)}, got {metric!r}.")
    return METRICS[metric]


def best_threshold(
    Y: BoolArray, scores: FloatArray, metric: str | SetMetric, reference: float, weight: FloatArray
) -> float:
    """Best threshold for all labels together.

    Examples
    --------
    >>> Y, scores = np.array([[True, False], [True, True]]), np.array([[0.4, 0.2], [0.6, 0.3]])
    >>> best_threshold(Y, scores, "micro_f1", reference=0.5, weight=np.ones(2))
    0.25
    """
    get_metric(metric)
    cuts, start = Cuts.of(scores.reshape(-1, 1)), np.array([reference])
    if callable(metric):
        candidates = _spread(cuts, start, _POOLED_CUTS)
        return float(_best_of(candidates, lambda t: metric(Y, scores >= t, sample_weight=weight)))
    values = cuts.sums(_pooled_gains(Y, scores, metric, weight).reshape(-1, 1))
    if metric == "micro_f1":
        predicted = cuts.sums(np.broadcast_to(weight[:, None], Y.shape).reshape(-1, 1))
        values = _divide(values, predicted + (weight @ Y).sum())
    return float(cuts.thresholds(cuts.choose(values, start), start)[0])


def best_thresholds(
    Y: BoolArray,
    scores: FloatArray,
    metric: str | SetMetric,
    reference: float,
    weight: FloatArray,
    tunable: BoolArray | None = None,
) -> FloatArray:
    """Best threshold of each label (L,); labels that are not `tunable` stay at the reference.

    Examples
    --------
    >>> Y, scores = np.array([[1, 0], [1, 1]]) == 1, np.array([[0.4, 0.2], [0.6, 0.3]])
    >>> best_thresholds(Y, scores, "hamming", reference=0.5, weight=np.ones(2))
    array([0.4 , 0.25])
    """
    get_metric(metric)
    tunable = np.ones(Y.shape[1], dtype=bool) if tunable is None else tunable
    start = np.full(Y.shape[1], float(reference))
    if not tunable.any():
        return start
    if callable(metric):
        return _climb(_function_step(Y, scores, metric, weight), start, tunable)
    if metric in ("example_f1", "subset_accuracy"):
        return _climb(_row_step(Y, scores, metric, weight), start, tunable)
    return _separate(Y, scores, metric, start, weight, tunable)


def _separate(
    Y: BoolArray, scores: FloatArray, metric: str, start: FloatArray, weight: FloatArray, tunable: BoolArray
) -> FloatArray:
    """Exact thresholds where labels do not interact, or only through one number (micro F1)."""
    cuts, column = Cuts.of(scores), weight[:, None]
    hits, predicted = cuts.sums(Y * column), cuts.sums(np.broadcast_to(column, Y.shape))
    if metric == "hamming":
        values = 2.0 * hits - predicted
    elif metric == "macro_f1":
        values = _divide(2.0 * hits, predicted + weight @ Y)
    else:
        values = _dinkelbach(cuts, hits, predicted, (weight @ Y).sum(), start, tunable)
    found = cuts.thresholds(cuts.choose(values, start), start)
    return np.where(tunable, found, start)


def _dinkelbach(cuts, hits, predicted, n_true, start, tunable) -> FloatArray:
    """Values 2 TP - f PP of every cut at the highest micro F1, f, that thresholds per label can reach."""
    labels = np.arange(hits.shape[1])
    fixed = np.count_nonzero(cuts.low >= start, axis=0)  # the cut that the start makes
    f, rising = -1.0, 0.0
    while rising > f:  # f takes values from a finite set and rises: this ends, after 3 to 6 rounds in practice
        f = rising
        values = 2.0 * hits - f * predicted
        cut = np.where(tunable, cuts.choose(values, start), fixed)
        rising = float(_divide(2.0 * hits[cut, labels].sum(), predicted[cut, labels].sum() + n_true))
    return values


def _pooled_gains(Y: BoolArray, scores: FloatArray, metric: str, weight: FloatArray) -> FloatArray:
    """What each entry (N, L) adds to the metric when the falling threshold reaches it."""
    column = weight[:, None]
    if metric == "micro_f1":
        return 2.0 * Y * column
    if metric == "hamming":
        return (2.0 * Y - 1.0) * column
    if metric == "macro_f1":
        cuts, total = Cuts.of(scores), weight @ Y
        predicted = cuts.sums(np.broadcast_to(column, Y.shape))
        return _changes(cuts, _divide(2.0 * cuts.sums(Y * column), predicted + total))
    cuts, rows = Cuts.of(scores.T), Y.T.astype(np.float64)
    values = _row_values(metric, cuts.sums(rows), cuts.sums(np.ones_like(rows)), rows.sum(axis=0))
    return _changes(cuts, values).T * column


def _changes(cuts: Cuts, values: FloatArray) -> FloatArray:
    """Differences of the values (n + 1, C) of successive cuts, at the entries (n, C) that they add."""
    changes = np.empty(cuts.order.shape)
    np.put_along_axis(changes, cuts.order, np.diff(values, axis=0), axis=0)
    return changes


def _row_values(metric: str, hits: FloatArray, predicted: FloatArray, true: FloatArray) -> FloatArray:
    """F1, or whether all is right, of rows with these counts."""
    if metric == "example_f1":
        return _divide(2.0 * hits, predicted + true)
    return ((hits == predicted) & (hits == true)).astype(np.float64)


def _climb(step, start: FloatArray, tunable: BoolArray) -> FloatArray:
    """Coordinate ascent: `step(thresholds, label)` returns a better threshold, or the same one."""
    thresholds = start.copy()
    for _ in range(_MAX_SWEEPS):
        before = thresholds.copy()
        for label in np.flatnonzero(tunable):
            thresholds[label] = step(thresholds, label)
        if np.array_equal(before, thresholds):
            break
    return thresholds


def _row_step(Y: BoolArray, scores: FloatArray, metric: str, weight: FloatArray):
    """Exact step in one label for a metric that is a mean over rows."""
    true = Y.sum(axis=1).astype(np.float64)

    def step(thresholds: FloatArray, label: int) -> float:
        others = scores >= thresholds
        others[:, label] = False
        hits, predicted, y = (others & Y).sum(axis=1), others.sum(axis=1), Y[:, label]
        gains = _row_values(metric, hits + y, predicted + 1, true) - _row_values(metric, hits, predicted, true)
        cuts, now = Cuts.of(scores[:, [label]]), thresholds[[label]]
        values = cuts.sums((weight * gains)[:, None])
        return cuts.thresholds(cuts.choose(values, now), now)[0]

    return step


def _function_step(Y: BoolArray, scores: FloatArray, metric: SetMetric, weight: FloatArray):
    """Step in one label for any function of the predictions."""

    def step(thresholds: FloatArray, label: int) -> float:
        predictions = scores >= thresholds
        column = scores[:, label]

        def value(threshold: float) -> float:
            predictions[:, label] = column >= threshold
            return metric(Y, predictions, sample_weight=weight)

        return _best_of(_spread(Cuts.of(column[:, None]), thresholds[[label]], _LABEL_CUTS), value)

    return step


def _spread(cuts: Cuts, reference: FloatArray, n: int) -> FloatArray:
    """The reference, then at most n thresholds spread evenly over the cuts of one column."""
    possible = np.flatnonzero(cuts.low[:, 0] < cuts.high[:, 0])
    picked = possible[np.unique(np.linspace(0, len(possible) - 1, n).round().astype(int))]
    return np.r_[reference, [cuts.thresholds(np.array([cut]), reference)[0] for cut in picked]]


def _best_of(candidates: FloatArray, value: Callable[[float], float]) -> float:
    """First of the candidates with the highest value: the reference is the first."""
    values = np.array([value(candidate) for candidate in candidates])
    return candidates[np.argmax(values)]


def _divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Ratio, 0 where the denominator is."""
    out = np.zeros(np.broadcast_shapes(np.shape(numerator), np.shape(denominator)))
    return np.divide(numerator, denominator, out=out, where=np.asarray(denominator) > 0)
