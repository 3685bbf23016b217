"""Models under wishes of the user, with or without rows of the fit, and their price.

With rows, leave-one-out scores of the corrected model are found again, and with them
probabilities and thresholds. Without, all numbers come from sums over rows; the curves
that turn scores into log-odds and the thresholds stay those of the model before.

Symbols: Q columns, L labels.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .core.arrays import FloatArray, underflow_is_zero
from .exceptions import InputError
from .fit.bends import BENT, unbending_columns, with_ramps
from .fit.corrected import Corrected, WishedLabels
from .fit.corrector import Corrector, without_exceptions
from .fit.demands import wished_columns
from .fit.ridge import Moments, Penalty
from .fit.rows import Rows
from .fit.solve import with_pairs_of_folds
from .fit.sums import MAX_SUM_CELLS, FitSums, n_sum_cells
from .fit.wishes import ABOUT_LOG_ODDS
from .record import FitRecord
from .system import FuzzySystem
from .text import listing, plural

if TYPE_CHECKING:
    from pandas import DataFrame

MIN_FREE_SHARE = 1e-3  # of the rows, beside what the numbers of a model use


def plain_wishes(corrector: Corrector) -> tuple[dict[str, Any], ...]:
    """The wishes of a corrector as names and numbers."""
    plain = []
    for wish in corrector.wishes:
        plain.append(
            {
                "feature": corrector.features[wish.feature],
                "labels": tuple(corrector.labels[label] for label in wish.labels),
                "kind": wish.kind,
                "values": wish.values,
            }
        )
    return tuple(plain)


@underflow_is_zero()
def corrected_record(
    record: FitRecord, corrector: Corrector, all_rows: Rows | None = None
) -> FitRecord:
    """The record of a long model under wishes.

    ``all_rows`` are those of the data, where they are still there.
    """
    record = _bendable(record, corrector)
    wide = _wide_sums(record, corrector, all_rows)
    design = record.training.design
    main = corrector.corrected(wide.with_pairs(corrector.kept_pairs(design.pairs)))
    block = record.training_block()
    n_rows = record.n_rows or len(block.Y)
    scores = main.left_out(block, n_rows)
    folds = []
    for rows, pairs in record.folds:
        own_pairs = corrector.kept_pairs(pairs)
        own = corrector.corrected(wide.with_pairs(own_pairs))
        of_fold = own.left_out(block.take(rows), n_rows)
        scores[rows] = of_fold
        folds.append((rows, own_pairs))
    if record.choice_shifts is not None:
        # what was chosen by these rows is as honest as it was before the wishes
        scores = scores + record.choice_shifts
    is_kept = n_sum_cells(wide.design.n_columns, len(wide.parts)) <= MAX_SUM_CELLS
    training = replace(
        record.training, loo_scores=scores, design=main.design, wishes=corrector
    )
    return FitRecord(
        training=training,
        index=record.index,
        long=corrected_system(record.long, main),
        judged=slice(None),
        scores=scores,
        kept_sums=wide if is_kept else None,
        folds=tuple(folds),
        n_rows=record.n_rows,
        choice_shifts=record.choice_shifts,
        held_slopes=_held_slopes(record, corrector),
    )


def _bendable(record: FitRecord, corrector: Corrector) -> FitRecord:
    """The record, with ramps where a line or a single ramp is wished to bend.

    That takes all rows: where they are not there, a line stays a line.
    """
    training = record.training
    has_all_rows = record.n_rows is None or record.n_rows == len(training)
    bent = [wish for wish in corrector.wishes if wish.kind in BENT]
    columns = wished_columns(bent, corrector.columns)
    unbending = unbending_columns(training.design, columns)
    if not unbending or not has_all_rows:
        return record
    rows = training.take(slice(None))
    design = with_ramps(training.design, unbending, rows.X, rows.row_weights)
    return replace(
        record,
        training=replace(training, design=design),
        kept_sums=None,
        _short_models=None,
    )


def _wide_sums(
    record: FitRecord, corrector: Corrector, all_rows: Rows | None
) -> FitSums:
    """Sums for the pairs of all folds, of the columns that are left under wishes.

    Those of thousands of exceptions may be too large to be kept, and are not needed.
    """
    sums = record.kept_sums
    if sums is None:
        design = without_exceptions(record.training.design)
        wide = with_pairs_of_folds(design, record.folds)
        own_pairs = corrector.kept_pairs(wide.pairs)
        sums = record.sums_of_rows(replace(wide, pairs=own_pairs), all_rows)
    return corrector.kept_sums(replace(sums, curves=record.long_curves))


def _held_slopes(record: FitRecord, corrector: Corrector) -> FloatArray | None:
    """Slopes (L,) that labels keep, because a wish is about their log-odds."""
    slopes = np.full(len(corrector.labels), np.nan)
    for wish in corrector.wishes:
        if wish.kind in ABOUT_LOG_ODDS:
            labels = list(wish.labels)
            slopes[labels] = record.long_curves.slopes[labels]
    return None if np.isnan(slopes).all() else slopes


def corrected_system(system: FuzzySystem, corrected: Corrected) -> FuzzySystem:
    """A system with corrected numbers, whose scores are no log-odds yet."""
    numbers = corrected.coefficients()
    design = corrected.design
    n_features = len(system.feature_names)
    none = np.zeros((0, n_features))
    n_labels = len(system.label_names)
    members = system.members
    if members is not None:
        regions = members.regions
        members = replace(
            members,
            count=members.count[-1:],
            observed=members.observed[-1:],
            positives=members.positives[-1:],
            regions=None if regions is None else regions[-1:],
        )
    return replace(
        system,
        intercept=numbers.intercept,
        terms=design.scale.terms,
        term_coef=np.ascontiguousarray(numbers.terms),
        pairs=design.pairs,
        pair_coef=np.ascontiguousarray(numbers.pairs),
        centers=none,
        widths=none,
        coef=np.zeros((0, 1, n_labels)),
        prototypes=none,
        rule_weights=np.zeros(0),
        firing="plain",
        members=members,
        certainty=None,
        has_log_odds=False,
    )


def system_from_sums(
    system: FuzzySystem, sums: FitSums, corrector: Corrector
) -> tuple[FuzzySystem, FitSums, Corrected]:
    """A system under wishes without any row, and the sums that it is found by."""
    if sums.curves is None:
        raise InputError("These sums do not say how scores become log-odds.")
    corrected = corrector.corrected(sums)
    long = corrected_system(system, corrected).on_log_odds(sums.curves)
    # How well labels can be predicted was found on rows, for the model before.
    long = replace(long, thresholds=system.thresholds, worth=None)
    return long, corrected.sums, corrected


# price --------------------------------------------------------------------------------


def price_frame(price: Mapping[str, Any]) -> "DataFrame":
    """A price as a frame with a row per label."""
    import pandas as pd

    frame = pd.DataFrame(dict(price["columns"]), index=list(price["labels"]))
    frame.attrs["judged_by"] = price["judged_by"]
    frame.attrs["left_out"] = price["left_out"]
    return frame


def price_by_rows(before: FitRecord, after: FitRecord) -> dict[str, Any]:
    """What each label loses, by honest scores of the same rows."""
    precision_before, loss_before = _judged(before)
    precision, loss = _judged(after)
    return {
        "labels": before.long.label_names,
        "judged_by": "rows",
        "left_out": left_out_words(before.long, after.long),
        "columns": {
            "AP_before": precision_before,
            "AP": precision,
            "AP_lost": precision_before - precision,
            "log_loss_before": loss_before,
            "log_loss": loss,
            "log_loss_added": loss - loss_before,
        },
    }


def _judged(record: FitRecord) -> tuple[FloatArray, FloatArray]:
    """Average precision and log loss (L,) of honest scores."""
    from .metrics import evaluate
    from .probabilities import probabilities_of

    Y = record.labels
    log_odds = record.loo_scores
    precision = evaluate(Y, log_odds).per_label["AP"].to_numpy(dtype=np.float64)
    p = np.clip(probabilities_of(log_odds), 1e-12, 1 - 1e-12)
    losses = np.where(np.nan_to_num(Y) > 0, -np.log(p), -np.log1p(-p))
    w = np.where(np.isnan(Y), 0.0, 1.0)
    if record.weights.ndim == 1:
        w = w * record.weights[:, None]
    else:
        w = w * record.weights
    return precision, (w * losses).sum(axis=0) / w.sum(axis=0)


def price_by_sums(
    system: FuzzySystem, sums: FitSums, corrected: Corrected, after: FuzzySystem
) -> dict[str, Any]:
    """What each label loses in squared loss, as far as sums over rows can tell.

    It is the loss of generalised cross-validation, which needs no rows: that of the
    rows of the fit, divided by the square of the share that the numbers leave free.
    """
    before = free_losses(sums)
    now = _generalised_losses(corrected)
    return {
        "labels": system.label_names,
        "judged_by": "sums",
        "left_out": left_out_words(system, after),
        "columns": {
            "squared_loss_before": before,
            "squared_loss": now,
            "squared_loss_added": now - before,
        },
    }


def free_losses(sums: FitSums) -> FloatArray:
    """Squared loss per row (L,) of the model without wishes, as its price has it."""
    return _generalised_losses(_free(sums))


def _free(sums: FitSums) -> Corrected:
    """The solution of sums without wishes."""
    penalty = Penalty(sums.ridge)
    columns = np.arange(sums.design.n_columns)
    B = np.zeros((len(columns), sums.n_labels))
    problems = []
    for part in sums.parts:
        solution = part.moments.solve(penalty, sums.design.prior)
        B[:, part.labels] = solution.B
        labels = tuple(part.labels.tolist())
        solutions = (solution,) * len(labels)
        problems.append(WishedLabels.free(labels, columns, solutions))
    return Corrected(sums, B, problems)


def _generalised_losses(corrected: Corrected) -> FloatArray:
    """Squared loss per row (L,) by generalised cross-validation."""
    losses = np.zeros(corrected.sums.n_labels)
    for part in corrected.sums.parts:
        moments = part.moments
        errors = _squared_errors(corrected.B[:, part.labels], moments)
        losses[part.labels] = errors / moments.total
    for problem in corrected.problems:
        for place, label in enumerate(problem.labels):
            moments = corrected.sums.of_label(label).moments
            used = _used_numbers(problem, place, moments)
            share = max(1.0 - used / moments.total, MIN_FREE_SHARE)
            losses[label] /= share**2
    return losses


def _squared_errors(B: FloatArray, moments: Moments) -> FloatArray:
    """Squared errors (l,) of numbers B (Q, l) on the rows of sums."""
    mean = moments.phi / moments.total
    H = moments.H - np.outer(mean, moments.phi)
    right = moments.B - np.outer(mean, moments.y)
    squares = moments.y * (1 - moments.y / moments.total)
    explained = (2 * right * B).sum(axis=0) - (B * (H @ B)).sum(axis=0)
    return np.maximum(squares - explained, 0.0)


def _used_numbers(problem: WishedLabels, place: int, moments: Moments) -> float:
    """How many free numbers a label has: the trace of what makes scores of labels."""
    columns = problem.columns
    factor = problem.solutions[place].factor
    mean = moments.phi[columns] / moments.total
    H = moments.H[np.ix_(columns, columns)] - np.outer(mean, moments.phi[columns])
    half = factor.half(H)
    inner = factor.half(half.T)  # L⁻¹ H L⁻ᵀ
    basis = problem.basis_of(place)
    used = float(np.trace(inner)) + 1.0
    return used - float(np.einsum("qa,qr,ra->", basis, inner, basis))


def left_out_words(before: FuzzySystem, after: FuzzySystem) -> str:
    """What of a model is not in its corrected form, or nothing."""
    lost = []
    if len(before.centers):
        lost.append(plural(len(before.centers), "exception"))
    for labels, n_pairs in _lost_pairs(before, after).items():
        words = plural(n_pairs, "pair of features", "pairs of features")
        if len(labels) < len(before.label_names):
            names = [before.label_names[j] for j in labels]
            words += f" for {listing(names, at_most=5)}"
        lost.append(words)
    return "; ".join(lost)


def _lost_pairs(before: FuzzySystem, after: FuzzySystem) -> dict[tuple[int, ...], int]:
    """How many pairs of features were lost, by the labels that had them."""
    if before.pair_coef is None:
        return {}
    left = after.pairs.blocks
    counts: Counter[tuple[int, ...]] = Counter()
    for pair, rules in before.pairs.blocks.items():
        lost = before.pair_coef[rules].any(axis=0)
        if pair in left and after.pair_coef is not None:
            lost &= ~after.pair_coef[left[pair]].any(axis=0)
        if lost.any():
            counts[tuple(np.flatnonzero(lost).tolist())] += 1
    return dict(counts)
