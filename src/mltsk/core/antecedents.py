"""The IF-parts of the rules: centres and widths, and how much the rules differ.   (2)-(6)

Symbols: X (N, D) scaled samples, C, S (K, D) centres and widths, M (N, K) firing strengths.

`common` widths are ours: k-means-like centres and one width for all, by default the one that shares a sample out among
two fifths of the rules, in any dimension, dense or sparse. `variance` widths are the paper's (4) as its authors compute
them.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .arrays import Array, Matrix, spread_rows
from .backend import cast, namespace
from .clustering import Clustering, Start, fuzzy_c_means, mean_nearest_distance, variances
from .membership import authors_widths, common_width, exponents, rule_distances, rule_distinctness  # noqa: F401

Widths = Literal["common", "variance"]

# Below this a linear model would do as well: the paper's setting gives 0.00 to 0.02 on most data sets with more than a
# few dozen features, ours 0.15 to 0.9 on all.
COLLAPSED = 0.05


# A sample is shared out among 1 + SHARED (K - 1) rules on average: 8.8 of 20. Chosen over all data sets; the
# width_scale that this amounts to lies between 0.04 (corel16k1) and 0.9 (flags), which no constant serves.
SHARED = 0.41
# Centres so close that only a narrower width would tell them apart are one rule, and stay one.
WIDTH_RANGE = (0.01, 10.0)
WIDTH_ROWS = 10_000  # a mean over this many samples, evenly spread, is as good as over all


@dataclass(frozen=True)
class Antecedents:
    """Centres and widths (K, D) on the scale on which the rules were found, and the h that gave the widths."""

    centers: Array
    widths: Array
    width_scale: float
    n_iter: int
    converged: bool


def fit_antecedents(
    X: Matrix,
    w: Array,
    n_rules: int,
    *,
    width_scale: float | None,
    fuzzifier: float,
    widths: Widths = "common",
    init: Start = "spread",
    random_state: "int | np.random.Generator | None" = None,
    rtol: float = 1e-5,
    clustering: Clustering | None = None,
) -> Antecedents:
    """Centres by fuzzy c-means (3) and widths of the chosen kind (4); fewer rules when X has fewer distinct rows.

    A ``width_scale`` of None is 1 for `variance` widths and `shared_width_scale` for `common` ones. A ``clustering`` of
    these rows that is there already is used as it is.
    """
    found = clustering or fuzzy_c_means(
        X, n_rules, fuzzifier=fuzzifier, sample_weight=w, init=init, random_state=random_state, rtol=rtol
    )
    C = found.centers
    if widths == "variance":
        h = 1.0 if width_scale is None else width_scale
        S = authors_widths(variances(X, C, found.memberships, w), h)
    else:
        yardstick = mean_nearest_distance(X, C, w)
        h = shared_width_scale(X, C, w, yardstick) if width_scale is None else width_scale
        S = namespace(C).full_like(C, common_width(X.shape[1], yardstick, h))
    return Antecedents(C, cast(S, C.dtype), h, found.n_iter, found.converged)


def shared_width_scale(X: Matrix, C: Array, w: Array, yardstick: float, *, shared: float = SHARED) -> float:
    """The h at which samples are shared out among 1 + ``shared`` (K - 1) rules on average.

    How many rules share a sample is the exponential of the entropy of its firing strengths: 1 when one fires alone, K
    when all fire alike. It grows with h, so bisection finds it, within WIDTH_RANGE.
    """
    rows = spread_rows(X.shape[0], WIDTH_ROWS)
    E = exponents(X[rows], C, namespace(C).ones_like(C), relative=True)
    return shared_scale(E, w[rows], X.shape[1], yardstick, shared=shared)


def shared_scale(E: Array, w: Array, n_features: int, yardstick: float, *, shared: float = SHARED) -> float:
    """The same from exponents E (N, K) under widths of 1."""
    E = cast(E, np.float64)
    E = E - namespace(E).amin(E, axis=1, keepdims=True)
    weight = cast(w, np.float64)
    low, high = np.log(WIDTH_RANGE)
    for _ in range(40):
        h = float(np.exp((low + high) / 2))
        with np.errstate(over="ignore"):  # all samples on centres: the yardstick is all but 0, and one rule fires alone
            scaled = E / common_width(n_features, yardstick, h)
        enough = rules_per_sample(scaled, weight) > 1 + shared * (E.shape[1] - 1)
        low, high = (low, np.log(h)) if enough else (np.log(h), high)
    return h


def rules_per_sample(E: Array, w: Array) -> float:
    """How many rules share a sample on average; E (N, K) are exponents of which the least of a row is 0."""
    xp = namespace(E)
    M = xp.exp(-E)
    M /= M.sum(axis=1, keepdims=True)
    entropy = -xp.einsum("nk,nk->n", M, xp.log(xp.maximum(M, np.finfo(np.float64).tiny)))
    return float(w @ xp.exp(entropy) / w.sum())
