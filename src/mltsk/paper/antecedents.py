"""The IF-parts of rules, as the paper's authors find them, and others that stay apart.

The second kind is there to compare with.   (2)-(6)

Symbols: X (N, D) scaled samples, w (N,) their weights, C, S (K, D) centres and widths
of rules, E (N, K) exponents, M (N, K) firing strengths.
"""

import warnings
from typing import Protocol

import numpy as np

from ..core.arrays import Array, Matrix, spread_rows
from ..core.clustering import fuzzy_c_means, mean_nearest_distance, variances
from ..core.membership import authors_widths, common_width, exponents
from ..exceptions import InputError, RuleCollapseWarning, UnfiredRowsWarning

# Rules less distinct than this do no better than a linear model. The paper's setting
# gives 0.00 to 0.02 on most data sets with more than a few dozen features;
# `distinct_rules` gives 0.15 to 0.9 on all.
COLLAPSED_DISTINCTNESS = 0.05
# A sample is shared by 1 + SHARED_RULES (K - 1) rules on average: 8.8 of 20. It was
# chosen over all data sets. The width that follows lies between 0.04 (corel16k1) and
# 0.9 (flags) of `common_width`, so no constant width would serve.
SHARED_RULES = 0.41
# The h of `common_width` between which the width is sought. Centres so close that only
# a narrower width would tell them apart are one rule, and stay one.
WIDTH_SCALE_RANGE = (0.01, 10.0)
# A mean over this many samples, evenly spread, is as good as one over all.
MAX_WIDTH_ROWS = 10_000
BISECTIONS = 40
# Beyond this share of rows on which no rule fires, a fit says so.
MAX_UNFIRED_SHARE = 0.01
# exp(-700) is still a number of full precision; exp(-746) is 0.
MAX_FIRING_EXPONENT = 700.0
# The largest δ whose square, twice, is a number.
MAX_DELTA = 1e150
SMALLEST = np.finfo(np.float64).tiny


def find_rules(
    X: Matrix,
    w: Array,
    n_rules: int,
    fuzzifier: float = 2.0,
    formulas: str = "program",
    start: Array | None = None,
) -> tuple[Array, Array]:
    """Centres by fuzzy c-means, and variances of their members, as the authors do.

    Parameters
    ----------
    X : array or CSR of shape (N, D)
    w : array of shape (N,)
    n_rules : int
        Fewer come back where X has fewer distinct rows.
    fuzzifier : float, default=2.0
    formulas : {"program", "text"}, default="program"
        The authors' program takes the centres of the clustering, in which memberships
        are squared. (3) as printed has means under the memberships themselves: "text".
    start : array of shape (K, D), optional
        Centres to start from.

    Returns
    -------
    centres, variances : arrays of shape (K, D)
    """
    clusters = fuzzy_c_means(
        X,
        min(n_rules, X.shape[0]),
        fuzzifier=fuzzifier,
        sample_weight=w,
        init="spread" if start is None else start,
    )
    C = clusters.centers
    if formulas == "text":
        U = clusters.memberships * w[:, None]
        C = np.asarray(X.T @ U).T / np.maximum(U.sum(axis=0), SMALLEST)[:, None]
    return C, variances(X, C, clusters.memberships, w)


def rule_widths(spread: Array, width_scale: float, formulas: str = "program") -> Array:
    """Widths s (K, D) of exp(-(x - c)² / s), from the variances (K, D) of the members.

    They are h · variance in the program, and 2 (h · variance)² by (2) and (4) as
    printed.
    """
    widths = authors_widths(spread, width_scale)
    if formulas == "program":
        return widths
    if widths.max() > MAX_DELTA:
        raise InputError(
            f"width_scale={width_scale:g} makes widths whose squares are beyond the "
            "numbers of the computer: choose a smaller one."
        )
    return 2 * widths**2


def distinct_rules(X: Matrix, w: Array, n_rules: int) -> tuple[Array, Array]:
    """Centres by k-means, and one width at which a set number of rules share a sample.

    That number is 1 + SHARED_RULES (K - 1), on average over samples; see
    `_sharing_rules`. It grows with the h of `common_width`, so bisection finds h.

    Parameters
    ----------
    X : array or CSR of shape (N, D)
    w : array of shape (N,)
    n_rules : int

    Returns
    -------
    centres, widths : arrays of shape (K, D)
    """
    n_features = X.shape[1]
    C = fuzzy_c_means(
        X, min(n_rules, X.shape[0]), fuzzifier=1.0, sample_weight=w, rtol=1e-5
    ).centers
    yardstick = mean_nearest_distance(X, C, w)
    rows = spread_rows(X.shape[0], MAX_WIDTH_ROWS)
    E = exponents(X[rows], C, np.ones_like(C), relative=True).astype(np.float64)
    E -= E.min(axis=1, keepdims=True)
    aim = 1 + SHARED_RULES * (len(C) - 1)
    low, high = np.log(WIDTH_SCALE_RANGE)
    for _ in range(BISECTIONS):
        h = float(np.exp((low + high) / 2))
        width = common_width(n_features, yardstick, h)
        if _sharing_rules(E, w[rows], width) > aim:
            high = np.log(h)
        else:
            low = np.log(h)
    return C, np.full_like(C, width)


def _sharing_rules(E: Array, w: Array, width: float) -> float:
    """How many rules share a sample, on average, at a width; E (N, K) are for width 1.

    It is the exponential of the entropy of a sample's firing strengths: 1 where one
    rule fires alone, K where all fire alike.
    """
    # Where all samples lie on centres the width is all but 0, and one rule fires alone.
    with np.errstate(over="ignore"):
        M = np.exp(-(E / width))
    M /= M.sum(axis=1, keepdims=True)
    entropy = -np.einsum("nk,nk->n", M, np.log(np.maximum(M, SMALLEST)))
    return float(w @ np.exp(entropy) / w.sum())


class HasRules(Protocol):
    """A fitted estimator whose rules may have collapsed into one."""

    centers_: Array
    rule_distinctness_: float


class HasFiring(Protocol):
    """A fitted estimator on some of whose rows no rule may fire."""

    unfired_share_: float
    width_scale: float


def warn_if_fewer(n_found: int, n_asked: int) -> None:
    """Warn where X has too few distinct rows for the rules that were asked for."""
    if n_found < n_asked:
        message = (
            f"n_rules={n_asked} was reduced to {n_found}: "
            "X has no more distinct rows than that"
        )
        warnings.warn(message, RuleCollapseWarning, stacklevel=4)


def unfired_share(M: Array, w: Array) -> float:
    """Share of the weight w (N,) of rows whose firing strengths M (N, K) are all 0."""
    is_unfired = (M == 0).all(axis=1)
    return float(w[is_unfired].sum() / w.sum())


def width_that_fires(E: Array, w: Array, formulas: str) -> float:
    """A width_scale, rounded up to one digit, at which rules fire on nearly all rows.

    Exponents E (N, K) are those of a width_scale of 1, where the eps in a width is
    nothing next to it. They fall with h in the program, and with its square in the
    text.
    """
    nearest = E.min(axis=1)
    order = np.argsort(nearest)
    enough = (1 - MAX_UNFIRED_SHARE / 2) * w.sum()
    reached = np.searchsorted(np.cumsum(w[order]), enough)
    factor = nearest[order[min(reached, len(order) - 1)]] / MAX_FIRING_EXPONENT
    wider = factor if formulas == "program" else np.sqrt(factor)
    digit = 10.0 ** np.floor(np.log10(wider))
    return float(np.ceil(wider / digit) * digit)


def warn_if_unfired(estimator: HasFiring, wider: float) -> None:
    """Warn, with what helps, where no rule fires on many of the rows of the fit."""
    message = (
        f"no rule fires on {estimator.unfired_share_:.0%} of the rows: their "
        "memberships are smaller than any number of the computer, and their scores are "
        f"all 0. A larger width_scale helps ({wider:g} instead of "
        f"{estimator.width_scale:g}), or underflow='softmax', which computes in "
        "logarithms."
    )
    warnings.warn(message, UnfiredRowsWarning, stacklevel=5)


def warn_if_collapsed(estimator: HasRules) -> None:
    """Warn, with advice, where the rules of a fitted estimator hardly differ."""
    distinctness = estimator.rule_distinctness_
    if distinctness < COLLAPSED_DISTINCTNESS:
        message = (
            f"the {len(estimator.centers_)} rules hardly differ (distinctness "
            f"{distinctness:.3f} of 1), so the model is close to a linear one: use a "
            "smaller width_scale together with underflow='softmax', or fewer rules; "
            "MLTSKClassifier keeps rules apart."
        )
        warnings.warn(message, RuleCollapseWarning, stacklevel=5)
