"""What wishes of the user leave to the numbers of a short model.

Ramps of a feature that rises have numbers of at least 0, so their sum rises. A feature
that is flat beyond a value has no ramps there, and one that bends to one side only has
a line. These are fewer curves than the wishes allow, and all of them meet the wishes.

Symbols: C candidates: P terms, then K exceptions; L labels.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray
from ..exceptions import InputError
from ..fit.corrector import Corrector
from ..fit.demands import (
    columns_of_feature,
    direction_of_condition,
    wished_columns,
)
from ..fit.design import Design
from ..fit.rows import Block
from ..fit.solve import groups_of_labels
from ..fit.sums import FitSums
from ..fit.wishes import Wish
from ..probabilities import Curves
from .candidates import Candidates
from .selection import FORBIDDEN

DIRECTIONS = {"rises": 1, "falls": -1}
NOT_SHORT = ("points", "same")  # kinds of wishes that a short model cannot meet


def check_shortened(corrector: Corrector | None) -> None:
    """Refuse wishes that a short model cannot meet."""
    if corrector is None:
        return
    for wish in corrector.wishes:
        if wish.kind in NOT_SHORT:
            name = repr(corrector.features[wish.feature])
            raise InputError(
                f"A short model cannot meet the wish that {wish.told(name)}, because "
                "its statements are chosen label by label and have few digits: take "
                "the long model, or take the wish back."
            )


def wished_signs(
    candidates: Candidates, corrector: Corrector | None
) -> NDArray[np.int8] | None:
    """What wishes leave to each candidate, (C, L), as `SelectionProblem` has it."""
    if corrector is None:
        return None
    P = len(candidates.terms)
    n_candidates = P + len(candidates.centers)
    signs = np.zeros((n_candidates, len(corrector.labels)), dtype=np.int8)
    for wish in corrector.wishes:
        for column, direction in _columns(wish, corrector):
            terms = np.flatnonzero(candidates.terms.feature == column)
            for term in terms.tolist():
                wanted = _sign(wish, candidates, term, direction)
                _demand(signs[term], wish.labels, wanted)
        wished = sorted(wished_columns([wish], corrector.columns))
        has_condition = np.isfinite(candidates.widths[:, wished]).any(axis=1)
        exceptions = P + np.flatnonzero(has_condition)
        signs[np.ix_(exceptions, np.array(wish.labels))] = FORBIDDEN
    return signs


def wished_scores(
    block: Block, corrector: Corrector, design: Design, ridge: float
) -> FloatArray:
    """Honest scores (n, L) of some rows by a long model of them under wishes."""
    block = replace(block, Y=np.nan_to_num(block.Y))
    n_labels = block.Y.shape[1]
    label_groups = groups_of_labels(block.w, n_labels)
    sums = FitSums.of_rows(block, design, ridge, label_groups)
    # wishes about log-odds, which curves are for, are not met by short models
    curves = Curves(np.ones(n_labels), np.zeros(n_labels))
    corrected = corrector.corrected(replace(sums, curves=curves))
    return corrected.left_out(block, len(block.Y))


def _demand(signs: NDArray[np.int8], labels: tuple[int, ...], wanted: int) -> None:
    """Note a sign for some labels, in place; two that differ leave nothing."""
    for label in labels:
        if signs[label] in (0, wanted):
            signs[label] = wanted
        elif wanted:
            signs[label] = FORBIDDEN


def _columns(wish: Wish, corrector: Corrector) -> list[tuple[int, int]]:
    """Columns that a wish is about; with each, 1 if high values are high there.

    Rules of the user that ask for the feature are among them: -1 where they hold for
    low values, 0 where for those of a range.
    """
    columns = corrector.columns
    if columns is None:
        return [(wish.feature, 1)]
    direction = columns.direction_of(wish.feature)
    own = [(column, direction) for column in columns_of_feature(columns, wish.feature)]
    if wish.kind == "nothing":
        gaps = columns_of_feature(columns, wish.feature, gaps=True)
        own += [(column, 1) for column in gaps]
    first = len(columns.parts) - len(columns.rules)
    for number, rule in enumerate(columns.rules):
        for asked in rule:
            if asked[0] == wish.feature:
                own.append((first + number, direction_of_condition(asked)))
    return own


def _sign(wish: Wish, candidates: Candidates, term: int, direction: int) -> int:
    """What a wish leaves to the number of a term."""
    if wish.kind in DIRECTIONS:
        return DIRECTIONS[wish.kind] * direction if direction else FORBIDDEN
    low, high = _ends(candidates, term)
    start, stop = _range(candidates, term)
    if wish.kind == "above":
        return 0 if stop <= wish.values[0][0] else FORBIDDEN
    if wish.kind == "below":
        return 0 if start >= wish.values[0][0] else FORBIDDEN
    is_line = low <= 0 and high >= 1
    is_bent = wish.kind in ("convex", "concave") and is_line
    return 0 if is_bent else FORBIDDEN


def _ends(candidates: Candidates, term: int) -> tuple[float, float]:
    """Where a ramp begins and ends, as shares of the range of its column."""
    terms = candidates.terms
    if terms.low is None or terms.high is None:
        return 0.0, 1.0
    return float(terms.low[term]), float(terms.high[term])


def _range(candidates: Candidates, term: int) -> tuple[float, float]:
    """Where a ramp begins and ends, in the user's units."""
    low, high = _ends(candidates, term)
    scaling = candidates.base.scaling
    if scaling is None:
        return -np.inf, np.inf
    least, largest = scaling.values[candidates.terms.feature[term], [0, -1]].tolist()
    span = largest - least
    return least + low * span, least + high * span
