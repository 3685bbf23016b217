"""Shared by the tests of this room: small systems on every scale, built without an estimator."""

import numpy as np
import pytest
from scipy import sparse

from mltsk.core.scaling import fit_scaling
from mltsk.core.system import FuzzySystem

FEATURES = ("age", "glucose", "smoker", "ward")
LABELS = ("gout", "asthma")
CATEGORIES = {"smoker": {0.0: "no", 1.0: "yes"}, "ward": {1.0: "east", 2.0: "north", 5.0: "west"}}


def patients(n=60):
    rng = np.random.default_rng(7)
    return np.column_stack(
        [
            rng.integers(18, 90, n),
            rng.gamma(4.0, 1.5, n),
            rng.random(n) < 0.3,
            rng.choice([1.0, 2.0, 5.0], n),
        ]
    ).astype(np.float64)


@pytest.fixture
def X():
    return patients()


@pytest.fixture
def make_system():
    """A system of K rules around K of the samples; every third weight of its THEN-parts is zero."""

    def make(scale, K=3, X=None, features=FEATURES, labels=LABELS, dtype=np.float64):
        X = patients() if X is None else X
        dense = not sparse.issparse(X)
        rng = np.random.default_rng(3)
        scaling = fit_scaling(X, np.ones(len(X)), scale) if scale not in (None, "unit") else None
        coef = rng.normal(size=(K, len(features) + 1, len(labels)))
        coef.reshape(-1)[2::3] = 0.0
        system = FuzzySystem(
            centers=np.zeros((K, len(features))),
            widths=np.ones((K, len(features))),
            coef=coef.astype(dtype),
            scaling=scaling,
            unit_length=scale == "unit",
            underflow="softmax",
            prototypes=np.zeros((K, len(features))),
            rule_weights=np.arange(1.0, K + 1) / (K * (K + 1) / 2),
            thresholds=np.full(len(labels), 0.5),
            feature_names=tuple(features),
            label_names=tuple(labels),
            quantiles=np.quantile(X, np.linspace(0, 1, 21), axis=0).T if dense else None,
        )
        Z = system.scale(X)
        C = np.asarray(Z[:K].toarray() if sparse.issparse(Z) else Z[:K], dtype=dtype)
        raw = X[:K].toarray() if sparse.issparse(X) else X[:K]
        spread = np.full(C.shape, 0.5 if dense else 0.1) * (Z.var(axis=0) + 0.1 if dense else 1.0)
        known = {"centers": C, "widths": spread.astype(dtype), "prototypes": raw}
        return FuzzySystem(**{**vars(system), **known})

    return make


@pytest.fixture
def texts():
    """Sparse rows of counts."""
    rng = np.random.default_rng(5)
    return sparse.csr_array(rng.poisson(0.6, size=(40, 4)).astype(np.float64))
