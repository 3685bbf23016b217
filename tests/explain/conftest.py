"""Shared by the tests of this room: small systems on every scale, no estimators."""

from dataclasses import replace

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
SCALES = ["quantile", "standard", "minmax", None, "unit"]
DENSE_SCALES = SCALES[:-1]


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
    counts = np.random.default_rng(5).poisson(0.6, size=(40, 4))
    return sparse.csr_array(counts.astype(np.float64))


def blank_terms(scale, scaling, n_features, general):
    if not general:
        return Terms.none()
    return Terms.ramps(scaling) if scale == "quantile" else Terms.linear(n_features)


def dense(A):
    return A.toarray() if sparse.issparse(A) else np.asarray(A)


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
        **changes,
    ):
        X = patients() if X is None else X
        rng = np.random.default_rng(3)
        D = len(features)
        L = len(labels)
        scaling = None
        if scale not in (None, "unit"):
            scaling = fit_scaling(X, np.ones(len(X)), scale)
        terms = blank_terms(scale, scaling, D, general)
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
            prototypes=dense(X[:K]),
            rule_weights=np.arange(1.0, K + 1) / max(K * (K + 1) / 2, 1),
            thresholds=np.full(L, 0.5),
        )
        Z = blank.scale(X)
        widths = np.full((K, D), 0.1)
        if not sparse.issparse(X):
            quantiles = np.quantile(X, np.linspace(0, 1, 21), axis=0).T
            blank = replace(blank, quantiles=quantiles)
            widths = np.full((K, D), 0.5) * (Z.var(axis=0) + 0.1)
        if len(terms):
            means = dense(terms.memberships(Z, scaling)).mean(axis=0)
            terms = replace(terms, mean=means)
        system = replace(blank, terms=terms, centers=dense(Z[:K]), widths=widths)
        return replace(system, **changes)

    return make


def drawn(figure, tmp_path):
    """Everything written in a figure that has been rendered."""
    from matplotlib.text import Text

    figure.savefig(tmp_path / "figure.png", dpi=30)
    return " ".join(text.get_text() for text in figure.findobj(Text))
