"""What leave-one-out chooses: shares of lines and ramps, exceptions, and the ridge.

The error is the squared leave-one-out error summed over labels, in closed form, on all
rows up to some hundreds and beyond on rows that have every label as often as the data.
It is a good judge of a handful of numbers and a bad one of many, so there are few
candidates. First come the shares of lines and ramps in the general rule. Then
structures (order, number of rules), at one width, from few numbers to many: one with
more numbers must lower the error by its share in MIN_GAINS, and by MIN_SURE_GAIN times
the standard error of what it gains. Then width and weight are refined. Each candidate's
ridge is found by steps of a factor 2 from the last one's. What was chosen must gain
MIN_SURE_GAIN_OF_ALL over the base rates, else the ridge is the largest one.
The same choice is made without the errors of each fold of the rows, from the same
candidates: its rows are scored by that.

Where there are thousands of rows, `mltsk.fit.grow` chooses.

Symbols: n rows, D features, L labels, Z (n, D) scaled rows, w (n,) weights.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, Matrix
from .choice import MAX_CENTERS, MAX_KERNEL_ROWS, Choice, Structure, Wishes
from .clusters import Clusters
from .judge import KernelJudge
from .kernel_search import N_ZERO_ORDER, KernelSearch
from .scale import Scale

# Rows that judge; linear terms (text) need more to notice what first-order rules add.
JUDGING_ROWS = 1000
JUDGING_ROWS_LINEAR = 1200
# How many standard errors (of the differences between errors, row by row) the gain of
# exceptions must have. On noise (300 rows in groups of 3) exceptions that gained 1 to
# 2 % by chance put mean probabilities off by up to .04. With 1.2 or more, flags had
# exceptions less often (AP .826 instead of .829).
MIN_SURE_GAIN = 1.0
# On rows of unit length (text) exceptions of order 0 are not tried if slopes lower the
# error by this share: on the text sets slopes gave 2.8 to 5.3 %, and shifts a third to
# a half of that.
CLEAR_GAIN = 0.02
# Rows that choose are no judges of what they chose: each is scored by what the other
# folds choose. On noise of 100 rows the AUC was .524 without this, and is .50 with it.
CHOICE_FOLDS = 5


def choose(
    scale: Scale,
    Z: Matrix,
    w: Array,
    judge: KernelJudge,
    clusters: Clusters,
    wishes: Wishes,
    *,
    n_groups: int,
    fold_of_rows: NDArray[np.intp] | None = None,
) -> Choice:
    """Choose a structure for scaled rows Z (n, D) of weights w (n,), and refine it.

    ``clusters`` say where exceptions sit, ``n_groups`` how many rows or groups of rows
    there are, more than judge. ``fold_of_rows`` (n,) are the folds without
    which the choice is made once more; None where that is not asked for.
    """
    search = KernelSearch(
        scale=scale,
        Z=Z,
        w=w,
        judge=judge,
        clusters=clusters,
        wishes=wishes,
        n_groups=n_groups,
    )
    best = _best(search)
    others: list[tuple[NDArray[np.intp], Choice]] = []
    if fold_of_rows is not None:
        others = _chosen_without(search, fold_of_rows, best)

    def finished(choice: Choice) -> Choice:
        design = choice.design
        if design.rules.has_kernel_prior:
            n_centers = _n_centers(len(clusters.w), design.first_rule)
            rules = replace(design.rules, centers=clusters.rows(n_centers))
            design = replace(design, rules=rules)
        return replace(choice, design=design, error=choice.error / judge.total_weight)

    return replace(
        finished(best),
        others=tuple((rows, finished(choice)) for rows, choice in others),
    )


def _best(search: "KernelSearch") -> Choice:
    """The structure that is best by the rows that count, refined."""
    tried = _tried(search)
    best = tried[0]
    for candidate in tried[1:]:
        gain = search.min_gain(candidate.design.rules.order)
        is_better = candidate.error < (1 - gain) * best.error
        if is_better and search.sureness(best, candidate) > MIN_SURE_GAIN:
            best = candidate
    if len(best.design.rules):
        best = search.refined(best)
    if search.may_learn_nothing and not search.is_sure_of(best):
        return search.with_largest_ridge()
    return best


def _chosen_without(
    search: "KernelSearch", fold_of_rows: NDArray[np.intp], best: Choice
) -> list[tuple[NDArray[np.intp], Choice]]:
    """Rows that the best choice is not made without, with what is chosen instead."""
    others: list[tuple[NDArray[np.intp], Choice]] = []
    for fold in range(CHOICE_FOLDS):
        is_own = fold_of_rows == fold
        if not is_own.any() or is_own.all():
            continue
        other = _best(replace(search, counted=~is_own))
        if other.design is not best.design or other.ridge != best.ridge:
            others.append((np.flatnonzero(is_own), other))
    return others


def _n_centers(n_rows: int, n_other_columns: int) -> int:
    """How many rows are centres: all, or so many that all columns can be solved for."""
    if n_rows <= MAX_KERNEL_ROWS:
        return n_rows
    affordable = min(MAX_CENTERS, MAX_KERNEL_ROWS - n_other_columns)
    return max(affordable, N_ZERO_ORDER)


def _tried(search: "KernelSearch") -> list[Choice]:
    """The best choice of each structure, fewest numbers first."""
    structures = list(search.structures())
    if search.is_text:  # slopes first: they often settle it
        structures.sort(key=lambda structure: structure.n_rules)
    choices: dict[Structure, Choice] = {}
    for structure in structures:
        if search.is_text and _slopes_settled_it(choices):
            break
        choices[structure] = search.best(structure)
    return [choices[s] for s in search.structures() if s in choices]


def _slopes_settled_it(choices: dict[Structure, Choice]) -> bool:
    """Whether slopes lower the error so clearly that shifts need not be tried."""
    if len(choices) != 2:
        return False
    none = choices[Structure(0, 0)]
    least = min(choice.error for choice in choices.values())
    return least < (1 - CLEAR_GAIN) * none.error
