"""Synthetic multi-label data drawn from a known fuzzy system: for tests, and for teaching what a fit should find.

    μ_k(x)   normalised firing strength of rule k at x                                    (5) (6)
    f_l(x)   Σ_k μ_k(x) (p_k0l + Σ_i p_kil x_i), the consequents p intercept first        (8)
    y_l      1 when f_l(x) + noise · sd(f_l) · ε > 0, ε standard normal

Samples lie around the centres. Each consequent uses few features. Labels are correlated because the consequents of
every label are a mixture of a shared part and a part of its own.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mltsk.core.membership import firing_strengths
from mltsk.exceptions import InputError

from .dataset import Dataset

ACTIVE = 0.3  # share of the features that a consequent uses
SPREAD = 0.15  # standard deviation of dense samples around their centre, in a unit cube


@dataclass(frozen=True, eq=False)
class SyntheticRules:
    """The fuzzy system that synthetic data came from.

    Attributes
    ----------
    centers, widths : array of shape (n_rules, n_features)
        Membership is exp(-(x - centre)² / width).
    coef : array of shape (n_rules, n_features + 1, n_labels)
        Consequents, intercept first; mostly zeros.
    """

    centers: NDArray[np.float64]
    widths: NDArray[np.float64]
    coef: NDArray[np.float64]

    def scores(self, X: Any) -> NDArray[np.float64]:
        """Noise-free scores, (n_samples, n_labels): a label is present where its score is positive."""
        M = firing_strengths(X, self.centers, self.widths)
        return sum(M[:, [k]] * (P[0] + X @ P[1:]) for k, P in enumerate(self.coef))


def make_multilabel_rules(
    n_samples: int = 500,
    n_features: int = 10,
    n_labels: int = 5,
    n_rules: int = 3,
    *,
    noise: float = 0.1,
    correlation: float = 0.5,
    sparse: bool = False,
    random_state: Any = 0,
    return_rules: bool = False,
) -> Any:
    """Draw multi-label data from a random fuzzy system.

    Parameters
    ----------
    n_samples, n_features, n_labels, n_rules : int
    noise : float
        Noise on the scores before they are cut at 0, in units of their standard deviation; 0 makes the labels an exact
        function of the features.
    correlation : float in [0, 1]
        Share of each label's consequents that all have in common; at 0 they share nothing but the rules.
    sparse : bool
        Binary features in a CSR matrix, like words in documents whose topics are the rules, instead of dense numbers.
    random_state : int, numpy Generator or None
    return_rules : bool
        Also return the `SyntheticRules`.

    Returns
    -------
    Dataset, or (Dataset, SyntheticRules)

    Examples
    --------
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data, rules = make_multilabel_rules(200, 6, 4, noise=0, return_rules=True)
    >>> data.shape, rules.coef.shape
    ((200, 6, 4), (3, 7, 4))
    >>> bool(((rules.scores(data.X) > 0) == data.Y).all())
    True
    """
    sizes = {
        "n_samples": n_samples,
        "n_features": n_features,
        "n_labels": n_labels,
        "n_rules": n_rules,
    }
    if small := [
        f"{name} is {size}; it must be at least 1."
        for name, size in sizes.items()
        if size < 1
    ]:
        raise InputError(small[0])
    if not noise >= 0:
        raise InputError(f"noise is {noise}; it must be 0 or more.")
    if not 0 <= correlation <= 1:
        raise InputError(f"correlation is {correlation}; it must be between 0 and 1.")
    rng = np.random.default_rng(random_state)
    X, centers, separation = _samples(rng, n_samples, n_features, n_rules, sparse)
    # Widths grow with D, so that firing depends on the mean squared distance over features and stays soft:
    # at one centre, the exponent of another rule is about 4.
    widths = separation / 4 * n_features * rng.uniform(0.8, 1.25, centers.shape)
    coef = np.zeros((n_rules, n_features + 1, n_labels))
    for share, n_drawn in (
        (correlation, 1),
        (1 - correlation, n_labels),
    ):  # one part for all labels, one for each
        P = rng.standard_normal((n_rules, n_features + 1, n_drawn))
        P[:, 1:] *= rng.random((n_rules, n_features, n_drawn)) < ACTIVE
        coef += np.sqrt(share) * P
    rules = SyntheticRules(centers, widths, coef)
    # labels have frequencies from one half down to one fifth
    shares = zip(rules.scores(X).T, np.linspace(0.5, 0.2, n_labels), strict=True)
    coef[:, 0] -= [np.quantile(f, 1 - q, method="midpoint") for f, q in shares]
    F = rules.scores(X)
    Y = F + noise * F.std(axis=0) * rng.standard_normal(F.shape) > 0
    data = Dataset(X, Y, name="synthetic", source="make_multilabel_rules")
    return (data, rules) if return_rules else data


def _samples(
    rng: np.random.Generator, n: int, d: int, k: int, sparse: bool
) -> tuple[Any, NDArray[np.float64], float]:
    """Samples, centres, and the mean squared distance of two centres in a feature."""
    if not sparse:
        centers = rng.uniform(0, 1, (k, d))
        return (
            centers[rng.integers(k, size=n)] + SPREAD * rng.standard_normal((n, d)),
            centers,
            1 / 6,
        )
    often, seldom, share = (
        0.6,
        0.04,
        0.2,
    )  # how probable a word is in a fifth of the topics, and in the others
    centers = np.where(rng.random((k, d)) < share, often, seldom)
    X = sp.csr_array(
        (rng.random((n, d)) < centers[rng.integers(k, size=n)]).astype(np.float64)
    )
    return X, centers, 2 * share * (1 - share) * (often - seldom) ** 2
