"""The first screen of a review: what was asked, how well it can be predicted.

Whoever reads nothing else should leave with the right answer. Shares are told as counts
out of 100 rows, as people understand these best; of a rare label out of more, and of
fewer rows than 100 as they are.
"""

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray
from ..core.worth import MIN_CLEAR_CASES
from ..explain.wording import name
from ..metrics import calibration_line
from ..tables.advice import leaks
from ..text import listing, plural
from . import svg, worth
from .baselines import FOREST, LINEAR
from .judged import JudgedLabel
from .packing import PageData
from .review_elsewhere import lines_on_drift
from .review_overlap import shared_rows
from .sections import Review, how_many_rows

MAX_ANSWERED_LABELS = 6  # with a sentence each; of more labels, the best told
MAX_NAMED_LABELS = 8
# With fewer cases, figures of a validation are rough (Vergouwe and others, 2005).
FEW_CASES = 100
# Of labels that are told so well, features are looked at one by one.
SUSPICIOUS_AUC = 0.9
MAX_NAMED_LEAKS = 3
BASES = (100, 1_000, 10_000)  # rows that a label is told of, until one has it


def first_screen(review: Review) -> PageData:
    """What was asked of which table, and the answers: words, counts, a picture."""
    labels = review.labels
    answered = _answered(review)
    lines = []
    if len(labels) > len(answered):
        lines = worth.headline(labels, None)
    return {
        "question": _question(review),
        "given": _given(review),
        "lines": lines,
        "answers": [_answer(label) for label in answered],
        "n_others": len(labels) - len(answered),
        "taken": _taken(review),
        "trust": _trust(review),
    }


def _answered(review: Review) -> list[JudgedLabel]:
    """The labels of the first screen: all, or of many those that are predicted best."""
    if len(review.labels) <= MAX_ANSWERED_LABELS:
        return review.labels
    known = [label for label in review.labels if label.is_better_than_guessing]
    known.sort(key=lambda label: -label.AUC[0])
    return known[:MAX_ANSWERED_LABELS]


def _question(review: Review) -> str:
    """What was asked of which table."""
    names = [label.name for label in review.labels]
    what = listing(names)
    if len(names) > MAX_NAMED_LABELS:
        what = f"each of {len(names):,} labels"
    columns = plural(len(review.table.feature_names), "column")
    return f"Can {what} be predicted from {columns} of {name(review.table.name)}?"


def _given(review: Review) -> str:
    """How many rows there are, and in which of them labels are judged."""
    return f"{_judged_rows(review)} {_observed_rows(review)}".rstrip()


def _observed_rows(review: Review) -> str:
    """In how many rows labels were observed, if not in all."""
    n_rows = len(review.table)
    if not review.is_external:
        n_rows = len(review.taken.fit_record_.labels)
    fewer = [label for label in review.labels if label.observed < n_rows]
    if not fewer:
        return ""
    counts = sorted({label.observed for label in fewer})
    if len(counts) > 1:
        return (
            "Labels are judged in the rows in which they were observed, "
            f"{counts[0]:,} to {counts[-1]:,} of them."
        )
    names = listing([label.name for label in fewer], at_most=4)
    verb = "was" if len(fewer) == 1 else "were"
    return f"{names} {verb} observed in {counts[0]:,} of them."


def _judged_rows(review: Review) -> str:
    """How many rows there are, and what the model that judges them has seen."""
    table = review.table
    rows = f"{plural(len(table), 'row')}."
    if table.groups is not None:
        n_groups = len(np.unique(table.groups))
        rows = f"{plural(len(table), 'row')} in {plural(n_groups, 'group')}."
    if review.is_external:
        where = f", of {name(_fitted_on(review))}" if _fitted_on(review) else ""
        return f"{rows} The model was fitted on other rows{where}."
    some = how_many_rows(len(review.taken.fit_record_.labels), len(table))
    if some:
        rows = f"{rows} Figures are about {some}."
    if not table.group_name:
        return f"{rows} Each row is judged by a model that has not seen it."
    group = name(table.group_name)
    return (
        f"{rows} Rows of one {group} are kept together: each row is judged by a model "
        f"that has seen no row of its {group}."
    )


def _fitted_on(review: Review) -> str:
    """What the table of the fit is called."""
    return review.fitted_on if review.training is None else review.training.name


# label by label -----------------------------------------------------------------------


def _answer(label: JudgedLabel) -> PageData:
    """A sentence on a label, counts out of 100 rows, and these as a picture."""
    sentence = worth.sentence(label)
    answer = {"name": label.name, "rest": sentence.removeprefix(label.name)}
    if not label.is_known:
        return {**answer, "counts": "", "picture": ""}
    shares = shares_of(label)
    base = base_of(label)
    counts = whole_counts(shares, base)
    return {
        **answer,
        "counts": _counts_in_words(counts, base),
        "picture": svg.stacked_shares(
            f"{label.name}: cases found and missed, false alarms, others", shares
        ),
    }


def shares_of(label: JudgedLabel) -> FloatArray:
    """Shares of rows: cases found, cases missed, false alarms, all others."""
    missed = label.cases - label.found
    others = label.observed - label.cases - label.alarms
    counts = np.array([label.found, missed, label.alarms, others], dtype=np.float64)
    return counts / max(label.observed, 1)


def base_of(label: JudgedLabel) -> int:
    """Out of how many rows a label is told: 100, or more if it is rare, or all."""
    if label.observed < BASES[0]:
        return label.observed
    rarer = min(label.rate, 1 - label.rate)
    return next((base for base in BASES if base * rarer >= 1), BASES[-1])


def whole_counts(shares: FloatArray, base: int) -> list[int]:
    """Shares as whole numbers that add up to a base (largest remainders).

    >>> whole_counts(np.array([0.333, 0.333, 0.334]), 100)
    [33, 33, 34]
    """
    exact = shares * base
    counts = np.floor(exact).astype(int)
    n_left = base - int(counts.sum())
    largest = np.argsort(counts - exact, kind="stable")[: max(n_left, 0)]
    counts[largest] += 1
    return [int(count) for count in counts]


def _counts_in_words(counts: list[int], base: int) -> str:
    """Counts out of 100 rows as two sentences."""
    found, missed, alarms, others = counts
    n_cases = found + missed
    verb = "has" if n_cases == 1 else "have"
    n_others = alarms + others
    noun = "false alarm" if alarms == 1 else "false alarms"
    return (
        f"Of {base:,} rows, {n_cases:,} {verb} it: {found:,} found, {missed:,} missed. "
        f"Of the other {n_others:,}, {alarms:,} {noun}."
    )


# the model, and whether to trust it ---------------------------------------------------


def _taken(review: Review) -> str:
    """Which model was taken, and why."""
    comparison = review.comparison
    means = {} if comparison is None else comparison.mean_AP()
    if review.is_finished:
        return "The model is a finished one: nothing was fitted or chosen here."
    if comparison is None or not means:
        return (
            "Taken: the whole model. Shorter models and other methods were not "
            "compared."
        )
    long, short = comparison.ours
    others = (
        f"logistic regression {means[LINEAR]:.2f}, a {FOREST} {means[FOREST]:.2f}, "
        f"guessing {_guessed_precision(review, comparison.labels):.2f}"
    )
    where = "1 is perfect"
    table = review.training or review.table
    some = how_many_rows(comparison.rows, len(table))
    if some:
        where = f"in {some}, {where}"
    if review.is_external:
        where = f"in the table of the fit, {where}"
    most = max(review.own_labels[j].rarer for j in comparison.labels)
    if most < MIN_CLEAR_CASES:
        return (
            f"Taken: {short if review.takes_short else long}. So few cases do not say "
            f"which model is better (average precision, {where}: {long} "
            f"{means[long]:.2f}, {short} {means[short]:.2f}, {others})."
        )
    if review.takes_short:
        return (
            f"Taken: a model of {short}, because it can be read and ranks rows as well "
            f"as the whole model (average precision, {where}: {means[short]:.2f}; "
            f"whole model {means[long]:.2f}, {others})."
        )
    return (
        f"Taken: {long}, because it ranks rows better than {short} (average precision, "
        f"{where}: {means[long]:.2f} against {means[short]:.2f}; {others})."
    )


def _guessed_precision(review: Review, labels: NDArray[np.intp]) -> float:
    """Average precision of guessing, mean over those of ``labels`` that are known."""
    compared = [review.own_labels[j] for j in labels]
    return float(np.mean([label.guessed_AP for label in compared if label.is_known]))


def _trust(review: Review) -> list[str]:
    """What speaks for trusting the figures, and what against it."""
    known = [label for label in review.labels if label.is_better_than_guessing]
    lines = _lines_on_shared_rows(review)
    lines += [*lines_on_drift(review), *_lines_on_leaks(review)]
    if known:
        lines.append(_line_on_probabilities(review))
    lines += _line_on_few_cases([label for label in review.labels if label.is_known])
    if review.comparison is not None:
        lines += worth.lines_on_better_methods(review.labels, review.comparison)
    lines.append(_line_on_origin(review))
    return lines


def _lines_on_shared_rows(review: Review) -> list[str]:
    """Say how many rows of another table the model has seen, if there are any."""
    if review.training is None:
        return []
    line = shared_rows(review.table, review.training).line
    return [line] if line else []


def _lines_on_leaks(review: Review) -> list[str]:
    """Name features that may be the answer itself: they tell a label almost alone."""
    told = [
        label
        for label, judged in zip(review.table.label_names, review.labels, strict=True)
        if judged.is_known and judged.AUC[0] >= SUSPICIOUS_AUC
    ]
    lines = []
    for leak in leaks(review.table, told[:MAX_ANSWERED_LABELS])[:MAX_NAMED_LEAKS]:
        feature = name(leak.feature)
        lines.append(
            f"{feature} tells {name(leak.label)} almost alone (AUC {leak.AUC:.2f}). If "
            f"it is known only when the answer is, leave it out (--drop {feature})."
        )
    return lines


def _line_on_origin(review: Review) -> str:
    """Whether the figures come from the table of the fit or from another one."""
    if not review.is_external:
        return (
            "All figures come from this one table. Before the model is used elsewhere, "
            "try it on rows from there (--test other.csv)."
        )
    too_few: list[str] = []
    too_many: list[str] = []
    for label in review.labels:
        if not label.is_known:
            continue
        line = calibration_line(label.y, label.chances, groups=label.groups)
        if line.intercept.low > 0:
            too_few.append(label.name)
        elif line.intercept.high < 0:
            too_many.append(label.name)
    start = "Figures come from another table than that of the fit"
    told = []
    if too_many:
        told.append(f"too many cases of {worth.first_names(too_many)}")
    if too_few:
        told.append(f"too few cases of {worth.first_names(too_few)}")
    if not told:
        return (
            f"{start}. No label is more or less common there than the model says, "
            "beyond chance."
        )
    return f"{start}: there the model expects {' and '.join(told)}."


def _line_on_probabilities(review: Review) -> str:
    """Whether predicted probabilities can be trusted, where they say something."""
    labels = review.labels
    off = []
    for label, is_off in zip(labels, review.is_off, strict=True):
        if is_off and label.is_better_than_guessing:
            off.append(label)
    if not off:
        known = [label for label in labels if label.is_better_than_guessing]
        return _line_on_right_probabilities(known)
    names = worth.first_names([label.name for label in off])
    misfit = worth.largest_misfit(off[0].calibration, off[0].name)
    return f"Be careful with the probabilities of {names}: {misfit}."


def _line_on_right_probabilities(labels: list[JudgedLabel]) -> str:
    """Say which probabilities can be trusted, where none is seen to be off."""
    sure = [label.name for label in labels if label.rarer >= worth.MANY_CASES]
    most = max(label.rarer for label in labels)
    if not sure or len(sure) == len(labels):
        return worth.sentence_on_right_chances(most)
    which = listing(sure)
    if len(sure) > worth.MAX_NAMES_OF_LINE:
        which = f"{len(sure):,} labels"
    return (
        f"Probabilities of {which} can be trusted: of 100 rows with "
        "a predicted probability of 30 %, about 30 have the label. The other labels "
        f"have fewer than {worth.MANY_CASES} cases, or rows without them: only large "
        "errors would be seen."
    )


def _line_on_few_cases(labels: list[JudgedLabel]) -> list[str]:
    """Name labels with so few cases, or so few others, that figures are rough."""
    few: list[str] = []
    few_others: list[str] = []
    n_few = sum(label.rarer < FEW_CASES for label in labels)
    if n_few > MAX_NAMED_LABELS:
        return [
            f"The figures of {n_few:,} of {len(labels):,} labels are rough: fewer than "
            f"{FEW_CASES} rows have or lack them."
        ]
    for label in labels:
        if label.rarer >= FEW_CASES:
            continue
        named = f"{label.name} ({label.rarer:,})"
        (few if label.cases == label.rarer else few_others).append(named)
    kinds = []
    if few:
        kinds.append(f"have a label: {worth.first_names(few)}")
    if few_others:
        kinds.append(f"lack a label: {worth.first_names(few_others)}")
    if not kinds:
        return []
    return [
        f"Figures are rough where fewer than {FEW_CASES} rows {'; or '.join(kinds)}."
    ]
