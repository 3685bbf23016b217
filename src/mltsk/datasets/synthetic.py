"""Synthetic multi-label data drawn from a known fuzzy system.

For tests, and for teaching what a fit should find.

    μ_k(x)   normalised firing strength of rule k at x                          (5) (6)
    f_l(x)   Σ_k μ_k(x) (p_k0l + Σ_i p_kil x_i), the consequents p intercept first (8)
    y_l      1 when f_l(x) + noise · sd(f_l) · ε > 0, ε standard normal

Samples lie around the centres. Each consequent uses few features. Labels are correlated
because the consequents of every label are a mixture of those that all labels share and
those of its own.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mltsk.core.arrays import Matrix
from mltsk.core.membership import firing_strengths
from mltsk.exceptions import InputError

from .dataset import Dataset

ACTIVE_SHARE = 0.3  # of the features, in a consequent
DENSE_SPREAD = 0.15  # standard deviation of samples around their centre, in a unit cube
# How probable a word is in the share of the topics that it belongs to, and in others.
FREQUENT_WORD = 0.6
SELDOM_WORD = 0.04
TOPIC_SHARE = 0.2


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

    def scores(self, X: Matrix) -> NDArray[np.float64]:
        """Noise-free scores, (n_samples, n_labels).

        A label is present where its score is positive.
        """
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
    random_state: int | np.random.Generator | None = 0,
    return_rules: bool = False,
) -> Any:
    """Draw multi-label data from a random fuzzy system.

    Parameters
    ----------
    n_samples, n_features, n_labels, n_rules : int
    noise : float
        Noise on the scores before they are cut at 0, in units of their standard
        deviation; 0 makes the labels an exact function of the features.
    correlation : float in [0, 1]
        Share of each label's consequents that all have in common; at 0 they share
        nothing but the rules.
    sparse : bool
        Binary features in a CSR matrix, like words in documents whose topics are the
        rules, instead of dense numbers.
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
    _check_sizes(
        n_samples=n_samples, n_features=n_features, n_labels=n_labels, n_rules=n_rules
    )
    if not noise >= 0:
        raise InputError(f"noise is {noise}; it must be 0 or more.")
    if not 0 <= correlation <= 1:
        raise InputError(f"correlation is {correlation}; it must be between 0 and 1.")
    rng = np.random.default_rng(random_state)
    draw_samples = _draw_words if sparse else _draw_numbers
    X, centers, separation = draw_samples(rng, n_samples, (n_rules, n_features))
    # Widths grow with D, so that firing depends on the mean squared distance over
    # features and stays soft: at one centre, the exponent of another rule is about 4.
    widths = separation / 4 * n_features * rng.uniform(0.8, 1.25, centers.shape)
    shared = _draw_consequents(rng, (n_rules, n_features + 1, 1))
    own = _draw_consequents(rng, (n_rules, n_features + 1, n_labels))
    coef = np.zeros((n_rules, n_features + 1, n_labels))
    coef += np.sqrt(correlation) * shared
    coef += np.sqrt(1 - correlation) * own
    rules = SyntheticRules(centers, widths, coef)
    frequencies = np.linspace(0.5, 0.2, n_labels)  # a half down to a fifth
    for j, f in enumerate(rules.scores(X).T):
        coef[:, 0, j] -= np.quantile(f, 1 - frequencies[j], method="midpoint")
    F = rules.scores(X)
    Y = F + noise * F.std(axis=0) * rng.standard_normal(F.shape) > 0
    data = Dataset(X, Y, name="synthetic", source="make_multilabel_rules")
    return (data, rules) if return_rules else data


def _check_sizes(**sizes: int) -> None:
    """Refuse sizes below 1."""
    for name, size in sizes.items():
        if size < 1:
            raise InputError(f"{name} is {size}; it must be at least 1.")


def _draw_consequents(
    rng: np.random.Generator, shape: tuple[int, int, int]
) -> NDArray[np.float64]:
    """Consequents (n_rules, n_features + 1, n_labels), most slopes of which are 0."""
    P = rng.standard_normal(shape)
    n_rules, n_coefficients, n_labels = shape
    P[:, 1:] *= rng.random((n_rules, n_coefficients - 1, n_labels)) < ACTIVE_SHARE
    return P


def _draw_numbers(
    rng: np.random.Generator, n_samples: int, shape: tuple[int, int]
) -> tuple[Matrix, NDArray[np.float64], float]:
    """Dense samples, centres (n_rules, n_features), and how far apart centres are.

    That is the mean squared distance of two centres in a feature.
    """
    centers = rng.uniform(0, 1, shape)
    rule = rng.integers(shape[0], size=n_samples)
    noise = DENSE_SPREAD * rng.standard_normal((n_samples, shape[1]))
    return centers[rule] + noise, centers, 1 / 6


def _draw_words(
    rng: np.random.Generator, n_samples: int, shape: tuple[int, int]
) -> tuple[Matrix, NDArray[np.float64], float]:
    """Sparse samples of 0 and 1, centres, and how far apart centres are."""
    is_frequent = rng.random(shape) < TOPIC_SHARE
    centers = np.where(is_frequent, FREQUENT_WORD, SELDOM_WORD)
    cells = rng.random((n_samples, shape[1]))
    rule = rng.integers(shape[0], size=n_samples)
    X = sp.csr_array((cells < centers[rule]).astype(np.float64))
    difference = FREQUENT_WORD - SELDOM_WORD
    return X, centers, 2 * TOPIC_SHARE * (1 - TOPIC_SHARE) * difference**2
