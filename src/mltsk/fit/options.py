"""What a user asks of a fit, and what cannot be had together."""

from dataclasses import dataclass
from typing import Literal

from scipy.sparse import issparse as is_sparse

from ..columns import Columns
from ..core.arrays import Matrix
from ..core.used import UsedFeatures
from ..exceptions import InputError
from .grow import MAX_GROWN_TERMS
from .scale import Scale


@dataclass(frozen=True)
class Options:
    """What the user asks for.

    None leaves a value to leave-one-out; for ``coupling`` and ``scale`` it means none.

    Parameters
    ----------
    n_rules, n_pairs, order, width_scale, tnorm, ridge, coupling, coupling_weight, scale
        As in `mltsk.MLTSKClassifier`.
    sample_rows : int or None
        Scale, rules and weights are found on at most this many rows. None is
        SAMPLE_ROWS, or more, up to MAX_SAMPLE_ROWS, where they have few columns.
    max_bytes : float or None
        Bytes that a square matrix may take; None is a share of what is here.
    form : str or None
        "primal", "dual", "products", or None for the cheapest.
    """

    n_rules: int | Literal["xie-beni"] | None = None
    n_pairs: int | None = None
    order: int | None = None
    width_scale: float | None = None
    tnorm: str = "product"
    ridge: float | None = None
    coupling: str | None = None
    coupling_weight: float | None = None
    scale: str | None = "auto"
    sample_rows: int | None = None
    max_bytes: float | None = None
    form: str | None = None


@dataclass(frozen=True)
class Names:
    """What columns and labels are called, and how columns came from features."""

    features: tuple[str, ...]
    labels: tuple[str, ...]
    columns: Columns | None = None
    used: UsedFeatures | None = None


def checked_order(options: Options, scale: Scale, X: Matrix) -> int | None:
    """The order of exceptions, which the minimum and pairs need to be 0."""
    order = options.order
    if options.tnorm == "minimum":
        _check_minimum(order, X)
        order = 0
    if options.n_pairs:
        _check_pairs(options, scale, X)
        order = 0
    return order


def _check_minimum(order: int | None, X: Matrix) -> None:
    """Refuse the minimum where it cannot join conditions."""
    if order == 1 or is_sparse(X):
        reason = "order is 1" if order == 1 else "X is sparse"
        raise InputError(
            f"tnorm='minimum' needs exceptions of order 0 and dense X, but {reason}."
        )


def _check_pairs(options: Options, scale: Scale, X: Matrix) -> None:
    """Refuse pairs where they cannot be found, instead of leaving them out."""
    wish = f"n_pairs={options.n_pairs}"
    if scale.name != "quantile":
        reason = f"the scale is {scale.name!r}"
        if is_sparse(X):
            reason = "X is sparse"
        raise InputError(
            f"{wish} needs dense X and scale='quantile', on which features have "
            f'conditions such as "is low", but {reason}: '
            "change that, or set n_pairs=0."
        )
    if options.order == 1 and options.n_rules != 0:
        raise InputError(
            f"{wish} needs exceptions of order 0, the only ones that are chosen "
            "together with pairs, but order is 1: set order=0, n_rules=0 or n_pairs=0."
        )
    if len(scale.terms) > MAX_GROWN_TERMS:
        raise InputError(
            f"{wish} needs a general rule of at most {MAX_GROWN_TERMS:,} terms, "
            f"because pairs are found by sums over all of them, but it has "
            f"{len(scale.terms):,}: take fewer features, or set n_pairs=0."
        )
