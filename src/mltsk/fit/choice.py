"""What a user asks for, and what leave-one-out chooses."""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import FloatArray
from ..core.pairs import Pairs
from .design import Design

# Beyond MAX_KERNEL_ROWS nothing has the size rows × rows, and at most MAX_CENTERS rows
# are centres.
MAX_KERNEL_ROWS = 8_000
MAX_CENTERS = 4_000
# Rows, and the pairs of features that were found without them.
Folds: TypeAlias = tuple[tuple[NDArray[np.intp], Pairs], ...]


class Structure(NamedTuple):
    """What leave-one-out chooses among: order, number and prior of exceptions."""

    order: int
    n_rules: int
    has_kernel_prior: bool = False


@dataclass(frozen=True)
class Wishes:
    """What the user asks for; None leaves it to leave-one-out.

    ``max_rules`` is the largest number of exceptions that may be tried, ``ridge`` None
    where it is searched. ``may_have_prior`` says whether exceptions may have the
    kernel's own prior, which is for one ridge: a coupling has several.
    """

    n_rules: int | None
    n_pairs: int | None
    ridge: float | None
    order: int | None
    width_scale: float | None
    tnorm: str
    max_rules: int
    may_have_prior: bool = True


@dataclass(frozen=True)
class Choice:
    """What leave-one-out took.

    ``ridge`` is that of the design, ``error`` the mean squared error per row and label,
    ``by_row`` (n,) the squared errors of the rows that judged, where they are known,
    ``share`` the weight of the exceptions where the general rule has 1. ``folds`` are
    rows of the sample, and the pairs of features that were found without them.
    ``others`` are rows of the sample, and what was chosen without them where that is
    something else.
    """

    design: Design
    ridge: float
    error: float
    width_scale: float = 0.0
    share: float = 0.0
    folds: Folds = ()
    others: "tuple[tuple[NDArray[np.intp], Choice], ...]" = ()
    by_row: FloatArray | None = None
