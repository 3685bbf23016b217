"""The IF-parts of rules: as the paper's authors find them, and ones that stay apart, to compare with.   (2)-(6)

Symbols: X (N, D) scaled samples, C, S (K, D) centres and widths, E (N, K) exponents, M (N, K) firing strengths.
"""

import warnings
from typing import Any

import numpy as np

from ..core.arrays import Array, Matrix, spread_rows
from ..core.clustering import fuzzy_c_means, mean_nearest_distance, variances
from ..core.membership import authors_widths, common_width, exponents
from ..exceptions import RuleCollapseWarning

# Below this a linear model would do as well: the paper's setting gives 0.00 to 0.02 on most data sets with more than a
# few dozen features, `distinct_rules` 0.15 to 0.9 on all.
COLLAPSED = 0.05
# A sample is shared out among 1 + SHARED (K - 1) rules on average: 8.8 of 20. Chosen over all data sets; the width that
# this amounts to lies between 0.04 (corel16k1) and 0.9 (flags) of `common_width`, which no constant serves.
SHARED = 0.41
# Centres so close that only a narrower width would tell them apart are one rule, and stay one.
WIDTH_RANGE = (0.01, 10.0)
WIDTH_ROWS = (
    10_000  # a mean over this many samples, evenly spread, is as good as over all
)


def find_rules(
    X: Matrix,
    w: Array,
    n_rules: int,
    fuzzifier: float = 2.0,
    formulas: str = "program",
    start: Array | None = None,
) -> tuple[Array, Array]:
    """Centres by fuzzy c-means and the variances of their members, (K, D) each, as the paper's authors find them.

    Their program takes the centres of the clustering, in which memberships are squared; (3) as printed has the means
    under the memberships themselves, ``formulas="text"``. ``start`` (K, D) are centres to start from.
    """
    init = "spread" if start is None else start
    found = fuzzy_c_means(
        X, min(n_rules, X.shape[0]), fuzzifier=fuzzifier, sample_weight=w, init=init
    )
    C, U = found.centers, found.memberships * w[:, None]
    if formulas == "text":
        C = (
            np.asarray(X.T @ U).T
            / np.maximum(U.sum(axis=0), np.finfo(np.float64).tiny)[:, None]
        )
    return C, variances(X, C, found.memberships, w)


def rule_widths(spread: Array, width_scale: float, formulas: str = "program") -> Array:
    """s of exp(-(x - c)² / s): h · variance in the program, 2 (h · variance)² by (2) and (4) as printed."""
    widths = authors_widths(spread, width_scale)
    return widths if formulas == "program" else 2 * widths**2


def distinct_rules(X: Matrix, w: Array, n_rules: int) -> tuple[Array, Array]:
    """Centres by k-means, and one width for all at which 1 + SHARED (K - 1) rules share a sample on average.

    How many share it is the exponential of the entropy of its firing strengths: 1 when one fires alone, K when all
    fire alike. It grows with the h of `common_width`, so bisection finds it, within WIDTH_RANGE.
    """
    C = fuzzy_c_means(
        X, min(n_rules, X.shape[0]), fuzzifier=1.0, sample_weight=w, rtol=1e-5
    ).centers
    yardstick, rows = (
        mean_nearest_distance(X, C, w),
        spread_rows(X.shape[0], WIDTH_ROWS),
    )
    E = exponents(X[rows], C, np.ones_like(C), relative=True).astype(np.float64)
    E -= E.min(axis=1, keepdims=True)
    low, high = np.log(WIDTH_RANGE)
    for _ in range(40):
        h = float(np.exp((low + high) / 2))
        with np.errstate(
            over="ignore"
        ):  # all samples on centres: the yardstick is all but 0, and one rule fires alone
            scaled = E / common_width(X.shape[1], yardstick, h)
        M = np.exp(-scaled)
        M /= M.sum(axis=1, keepdims=True)
        entropy = -np.einsum(
            "nk,nk->n", M, np.log(np.maximum(M, np.finfo(np.float64).tiny))
        )
        enough = w[rows] @ np.exp(entropy) / w[rows].sum() > 1 + SHARED * (
            E.shape[1] - 1
        )
        low, high = (low, np.log(h)) if enough else (np.log(h), high)
    return C, np.full_like(C, common_width(X.shape[1], yardstick, h))


def warn_if_fewer(found: int, asked: int) -> None:
    """Say so when X has too few distinct rows for the rules asked for."""
    if found < asked:
        message = f"n_rules={asked} was reduced to {found}: X has no more distinct rows than that"
        warnings.warn(message, RuleCollapseWarning, stacklevel=4)


def warn_if_collapsed(estimator: Any) -> None:
    """Say so, with advice, when the rules of a fitted estimator do not differ."""
    if estimator.rule_distinctness_ < COLLAPSED:
        rules = f"{len(estimator.centers_)} rules hardly differ (distinctness {estimator.rule_distinctness_:.3f} of 1)"
        ways = "use a smaller width_scale or fewer rules; MLTSKClassifier keeps rules apart."
        message = f"the {rules}, so the model is close to a linear one: {ways}"
        warnings.warn(message, RuleCollapseWarning, stacklevel=5)
