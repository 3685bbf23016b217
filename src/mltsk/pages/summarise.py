"""What a page says about a fitted model, as plain data: numbers, text, lists.

Symbols: M (N, K) firing strengths, P (n, L) the numbers of the labels in a model, C label correlation (L, L).
"""

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..core.coupling import label_correlation
from ..core.membership import rule_distinctness
from ..system import FuzzySystem

FloatArray = NDArray[np.float64]
MAP_ROWS = 24  # rules in a firing map, those that govern most
MAP_COLUMNS = 240  # groups of samples in a firing map: more than a page has room to show


def summarise_model(model: Any, X: Any) -> dict[str, Any]:
    """The rules of a fitted classifier: how many, how distinct, how they fire, and how many numbers it has.

    Parameters
    ----------
    model : MLTSKClassifier or PaperMLTSK
        Fitted.
    X : (N, D)
        The rows whose firing is shown, in the caller's units.

    Examples
    --------
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=100, random_state=0)
    >>> found = summarise_model(MLTSKClassifier(n_rules=3).fit(data.X, data.Y), data.X)
    >>> found["n_rules"], len(found["shares"])
    (3, 3)
    """
    system = model.system_
    M = np.asarray(system.firing(X), dtype=np.float64)
    shown = np.sort(np.argsort(-system.rule_weights, kind="stable")[:MAP_ROWS])
    return {
        "n_rules": system.shape[0],
        "order": system.order,
        "n_terms": len(system.terms),
        "n_numbers": int(np.count_nonzero(system.term_coef) + np.count_nonzero(system.coef)),
        "distinctness": rule_distinctness(M) if len(system.centers) else 1.0,
        "shares": system.rule_weights.tolist(),
        "largest_spread": float(np.ptp(M, axis=0).max(initial=0.0)),
        "firing_map": firing_map(M[:, shown]).tolist() if system.shape[0] else None,
        "firing_names": [f"{'exception' if len(system.terms) else 'rule'} {k + 1}" for k in shown],
        "ridge": float(model.ridge_),
        "parameters": {name: str(value) for name, value in sorted(model.get_params().items())},
    }


def firing_map(M: FloatArray, columns: int = MAP_COLUMNS) -> FloatArray:
    """Firing strengths for a picture, (K, columns): samples sorted by their strongest rule, neighbours averaged.

    Examples
    --------
    >>> firing_map(np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]]), columns=3)
    array([[0.8, 0.1, 0.3],
           [0.2, 0.9, 0.7]])
    """
    strongest = M.argmax(axis=1)
    order = np.lexsort([-M.max(axis=1), strongest])
    groups = np.array_split(M[order], min(columns, len(M)))
    return np.array([group.mean(axis=0) for group in groups]).T


def summarise_agreement(Y: Any, label_names: Sequence[str], model: Any) -> dict[str, Any]:
    """Correlation of labels next to the correlation of their numbers in the model, and how far the two agree.

    ``agreement`` is Pearson's correlation of the two over all pairs of labels: 1 when labels that occur together also
    have alike numbers, 0 when one says nothing about the other.
    """
    C, numbers = label_correlation(np.asarray(Y, dtype=np.float64)), model_correlation(model.system_)
    return {
        "labels": list(label_names),
        "label_correlation": C.tolist(),
        "consequent_correlation": numbers.tolist(),
        "agreement": _agreement(C, numbers),
    }


def model_correlation(system: FuzzySystem) -> FloatArray:
    """Correlation of labels by their numbers in all terms and rules, (L, L).

    Intercepts of rules with slopes are left out: they say how frequent a label is and not what it depends on.
    """
    said = np.asarray(system.coef)[:, system.order :].reshape(-1, system.shape[2])
    return column_correlation(np.vstack([system.term_coef, said], dtype=np.float64))


def _agreement(A: FloatArray, B: FloatArray) -> float:
    pairs = np.triu_indices(len(A), 1)
    return float(column_correlation(np.stack([A[pairs], B[pairs]], axis=1))[0, 1])


def column_correlation(P: FloatArray) -> FloatArray:
    """Pearson correlation of the columns of P; a constant column correlates with nothing but itself.

    Examples
    --------
    >>> column_correlation(np.array([[1.0, 2.0, 5.0], [2.0, 4.0, 5.0], [3.0, 6.0, 5.0]]))
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    Z = P - (P.mean(axis=0) if len(P) else 0.0)
    norm = np.sqrt((Z**2).sum(axis=0))
    Z = Z / np.where(norm > 0, norm, 1.0)
    B = np.clip(Z.T @ Z, -1.0, 1.0)
    np.fill_diagonal(B, 1.0)
    return np.round(B, 12) + 0.0


def versions() -> dict[str, str]:
    """Versions of what a number may depend on."""
    found = {"mltsk": __version__, "Python": platform.python_version()}
    for package in ("numpy", "scipy", "scikit-learn"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # a copy without metadata
            continue
    return found
