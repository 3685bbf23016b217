"""Shared by the tests of this room: small systems on every scale, built without an estimator."""

import numpy as np
import pytest
from scipy import sparse

from mltsk.core.terms import Terms, fit_scaling
from mltsk.system import FuzzySystem

FEATURES = ("age", "glucose", "smoker", "ward")
LABELS = ("gout", "asthma")
CATEGORIES = {
    "smoker": {0.0: "no", 1.0: "yes"},
    "ward": {1.0: "east", 2.0: "north", 5.0: "west"},
}


def patients(n=60):
    rng = np.random.default_rng(7)
    columns = [
        rng.integers(18, 90, n),
        rng.gamma(4.0, 1.5, n),
        rng.random(n) < 0.3,
        rng.choice([1.0, 2.0, 5.0], n),
    ]
    return np.column_stack(columns).astype(np.float64)


@pytest.fixture
def X():
    return patients()


@pytest.fixture
def texts():
    """Sparse rows of counts."""
    return sparse.csr_array(
        np.random.default_rng(5).poisson(0.6, size=(40, 4)).astype(np.float64)
    )


@pytest.fixture
def make_system():
    """A system of terms and of K rules around K of the samples, with random numbers."""

    def make(
        scale="quantile",
        K=3,
        X=None,
        features=FEATURES,
        labels=LABELS,
        order=0,
        general=True,
        **known,
    ):
        X, rng = patients() if X is None else X, np.random.default_rng(3)
        D, L, dense = len(features), len(labels), not sparse.issparse(X)
        scaling = (
            fit_scaling(X, np.ones(len(X)), scale)
            if scale not in (None, "unit")
            else None
        )
        terms = (
            Terms.none()
            if not general
            else Terms.ramps(scaling)
            if scale == "quantile"
            else Terms.linear(D)
        )
        blank = FuzzySystem(
            feature_names=tuple(features),
            label_names=tuple(labels),
            scaling=scaling,
            scale_name=scale,
            intercept=np.linspace(0.2, 0.4, L),
            terms=terms,
            term_coef=rng.normal(size=(len(terms), L)),
            centers=np.zeros((K, D)),
            widths=np.ones((K, D)),
            coef=rng.normal(size=(K, 1 + order * D, L)),
            prototypes=X[:K].toarray() if not dense else X[:K],
            rule_weights=np.arange(1.0, K + 1) / (K * (K + 1) / 2)
            if K
            else np.zeros(0),
            thresholds=np.full(L, 0.5),
            quantiles=np.quantile(X, np.linspace(0, 1, 21), axis=0).T
            if dense
            else None,
            slopes=np.full(L, 4.0),
            offsets=np.full(L, -2.0),
        )
        Z = blank.scale(X)
        mean = (
            np.asarray(terms.memberships(Z, scaling).mean(axis=0)).ravel()
            if len(terms)
            else np.zeros(0)
        )
        found = {
            "terms": Terms(terms.feature, terms.low, terms.high, mean),
            "centers": np.asarray(Z[:K].toarray() if not dense else Z[:K]),
            "widths": np.full((K, D), 0.5 if dense else 0.1)
            * (Z.var(axis=0) + 0.1 if dense else 1.0),
        }
        return FuzzySystem(**{**vars(blank), **found, **known})

    return make
