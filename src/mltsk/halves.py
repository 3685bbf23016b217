"""How sure the answers about people are: in closed form, and by refits of halves.

The terms, exceptions and the ridge of a model stay as they are. The ridge problem is a
Bayesian one, with the ridge as its prior: its posterior variance at a person covers
both what another table would have changed and how far the ridge draws answers towards
the average (Wahba, 1983). It knows nothing of rows that belong together. Refits do: the
numbers, and the curves that make probabilities of scores, are found again on random
halves of the rows that keep groups whole. Half of n rows leave out as many as they
keep, so that their answers spread about as much as those of other tables of n rows
(Shao and Wu, 1989).

Symbols: n rows of the record, P people, L labels, H halves.
"""

from dataclasses import replace

import numpy as np

from .core.arrays import (
    FloatArray,
    spread_rows,
    underflow_is_zero,
)
from .core.threads import blas_threads
from .fit.left_out import rate_shifts
from .fit.rows import Block
from .fit.solve import groups_of_labels, left_out_scores
from .probabilities import fit_curves
from .record import FitRecord
from .short import TrainingRows, noise_of_log_odds

MAX_HALVED_ROWS = 1_000  # of these, two halves take less than 0.1 s
N_PAIRS_OF_HALVES = 20
HALVED_SEED = 0


@underflow_is_zero()
def half_answers(record: FitRecord, X: FloatArray) -> FloatArray:
    """Log-odds (H, P, L) of people by the long model of each half of the rows.

    Parameters
    ----------
    record : FitRecord
        Of a fit that did not see these people.
    X : array of shape (P, D)
        People, in columns of numbers.
    """
    training = record.training
    rows = training.take(spread_rows(len(training), MAX_HALVED_ROWS))
    design = rows.design
    Z = design.scale.apply(np.vstack([np.asarray(rows.X), X]))
    places = rows.places()
    n_places = int(places.max(initial=-1)) + 1
    rng = np.random.default_rng(HALVED_SEED)
    answers = []
    with blas_threads(0.0):  # many small products
        K = design.kernel(Z)
        for _ in range(N_PAIRS_OF_HALVES):
            is_first = rng.permutation(n_places)[places] < n_places // 2
            for kept in (np.flatnonzero(is_first), np.flatnonzero(~is_first)):
                half_rows = rows.take(kept)
                if _has_both(half_rows):
                    people = np.arange(len(rows), len(Z))
                    used = np.concatenate([kept, people])
                    answers.append(
                        _answers(half_rows, Z[used], K[np.ix_(used, used)], len(X))
                    )
    if not answers:
        return np.zeros((0, len(X), training.Y.shape[1]))
    spread = np.stack(answers)
    middle = spread.mean(axis=0)
    # of a sample, halves spread more than those of all rows would
    return middle + (spread - middle) * (len(rows) / len(training)) ** 0.5


@underflow_is_zero()
def posterior_errors(record: FitRecord, X: FloatArray) -> FloatArray:
    """Standard errors (P, L) of log-odds of people, in closed form.

    Parameters
    ----------
    record : FitRecord
    X : array of shape (P, D)
        People, in columns of numbers.
    """
    training = record.training
    rows = training.take(spread_rows(len(training), MAX_HALVED_ROWS))
    Z = rows.design.scale.apply(np.vstack([np.asarray(rows.X), X]))
    K = np.asarray(rows.design.kernel(Z), dtype=np.float64)
    stands_for = len(training) / len(rows)
    weights = rows.label_weights * stands_for
    variances = np.empty((len(X), rows.Y.shape[1]))
    for labels in groups_of_labels(rows.w, rows.Y.shape[1]):
        of_group = _posterior_variances(K, weights[:, labels[0]], rows.penalty.rho)
        variances[:, labels] = of_group[:, None]
    long = FitRecord.of_training(training, record.index, record.long)
    return np.sqrt(variances) * noise_of_log_odds(rows, rows.loo_scores, long.curves)


def _posterior_variances(K: FloatArray, w: FloatArray, rho: float) -> FloatArray:
    """Variances (P,) of scores of people, where labels have a variance of 1.

    ``K`` (n + P, n + P) is the kernel of rows and, after them, of people; ``w`` (n,)
    are the weights of the rows.
    """
    n = len(w)
    counted = np.flatnonzero(w > 0)
    w = w[counted]
    mean = K[:, counted] @ w / w.sum()
    centred = K - mean[:, None] - mean + mean[counted] @ w / w.sum()
    between = centred[np.ix_(counted, np.arange(n, len(K)))]
    information = centred[np.ix_(counted, counted)] + np.diag(rho / w)
    explained = (between * np.linalg.solve(information, between)).sum(axis=0)
    of_scores = (np.diag(centred)[n:] - explained) / rho
    return np.maximum(of_scores, 0.0) + 1 / w.sum()


def _has_both(part: TrainingRows) -> bool:
    """Whether all labels have cases, and others, in some rows."""
    weights = part.label_weights
    cases = (weights * np.nan_to_num(part.Y)).sum(axis=0)
    return bool(((cases > 0) & (cases < weights.sum(axis=0))).all())


def _answers(
    part: TrainingRows, Z: FloatArray, K: FloatArray, n_people: int
) -> FloatArray:
    """Log-odds (P, L) of people by a model of some rows; they stand last in Z and K.

    People have no weight: what a row scores when it is left out is then what it scores.
    """
    n_labels = part.Y.shape[1]
    nobody = np.zeros((n_people, n_labels))
    w = part.label_weights
    groups = part.groups
    if groups is not None:
        others = groups.max() + 1 + np.arange(n_people)
        groups = np.concatenate([groups, others])
    block = Block(
        X=Z,
        Y=np.vstack([np.nan_to_num(part.Y), nobody]),
        w=np.vstack([w, nobody]),
        groups=groups,
    )
    if part.w.ndim == 1:
        block = replace(block, w=np.concatenate([part.w, np.zeros(n_people)]))
    scores = left_out_scores(part.design, part.penalty, block, Z, K)
    own = scores[: len(part)] + rate_shifts(part.Y, part.w, part.groups)
    curves = fit_curves(own, np.nan_to_num(part.Y), part.w, part.groups)
    return curves.log_odds(scores[len(part) :])
