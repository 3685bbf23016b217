"""What leave-one-out chooses where there are thousands of rows: pairs and exceptions.

Designs are fitted to all rows of a sample by sums over them, and judged by some of its
rows (`mltsk.fit.judged_sample`). They grow as long as that pays: the general rule
(`mltsk.fit.curves`), pairs of features that act together (`mltsk.fit.pair_search`),
exceptions (`mltsk.fit.rules_search`). Nothing here is of the size rows × rows.

Symbols: n rows, D features, L labels, Z (n, D) scaled rows.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Array, Matrix
from .choice import Choice, Wishes
from .curves import Curves
from .judged_sample import JudgedSample
from .pair_search import PAIR_NUMBERS, PairSearch
from .rows import Block
from .rules_search import RulesSearch
from .scale import Scale

# From this many rows on designs grow by sums, if the general rule has at most
# MAX_GROWN_TERMS columns. On text slopes are better up to some 8,000 rows.
GROWING_SCALES = ("quantile", "unit")
MIN_GROWN_ROWS = 3_000
MIN_GROWN_LINEAR_ROWS = 8_000
MAX_GROWN_TERMS = 2_000


def may_grow(scale: Scale, wishes: Wishes, n_rows: int) -> bool:
    """Whether there are rows enough, and columns few enough, to choose by sums."""
    if wishes.order == 1 or scale.name not in GROWING_SCALES:
        return False
    if len(scale.terms) > MAX_GROWN_TERMS:
        return False
    least = MIN_GROWN_ROWS if scale.name == "quantile" else MIN_GROWN_LINEAR_ROWS
    return n_rows >= least or bool(wishes.n_pairs)


def grow(
    scale: Scale,
    block: Block,
    Z: Matrix,
    w: Array,
    label_groups: Sequence[NDArray[np.intp]],
    wishes: Wishes,
    n_rows: int,
) -> Choice:
    """Choose a design for rows that are sorted by content and all count.

    Parameters
    ----------
    scale : Scale
    block : Block
        A sample of the rows.
    Z : (n, D) scaled rows of the block
    w : (n,) weights
    label_groups : labels that have the same weights
    wishes : Wishes
    n_rows : int
        Rows of the data.
    """
    sample = JudgedSample(
        scale, block, Z=Z, w=w, label_groups=label_groups, wishes=wishes
    )
    curves = Curves(sample)
    general = curves.general()
    choice = general.choice
    if scale.name == "quantile":
        residuals = curves.residuals(general)
        finer = curves.finer(general, residuals)
        if finer is not None:
            curves = finer
            general = curves.general()
            residuals = curves.residuals(general)
        choice = PairSearch(curves, general, residuals).choice()
    if wishes.n_rules == 0:
        return choice
    rules = RulesSearch(curves.sample, choice)
    if wishes.n_rules is not None:
        return rules.with_rules(wishes.n_rules)
    if len(choice.design.pairs.blocks) > PAIR_NUMBERS[0]:
        return choice  # of twelve such tables none took exceptions, a fifth of time
    return rules.with_kernel(n_rows)
