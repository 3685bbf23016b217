"""What the classifier and the transformer share: the scale of the rules and the fit of their IF-parts."""

import warnings

import numpy as np
from scipy import sparse

from ..core.arrays import unit_rows
from ..core.backend import asnumpy, is_tensor, put
from ..core.clustering import Clustering, fuzzy_c_means
from ..core.scaling import Scaling, fit_scaling
from ..exceptions import RuleCollapseWarning
from ..paper.antecedents import COLLAPSED, Antecedents, fit_antecedents


def fit_scale(X, w, scale):
    """(name of the scale, its `Scaling` or None, X on it); "auto" is "quantile" for dense and "unit" for sparse X."""
    if scale == "auto":
        scale = "unit" if sparse.issparse(X) else "quantile"
    if scale is None:
        return scale, None, X
    if scale == "unit":
        return scale, None, unit_rows(X)
    if sparse.issparse(X):
        raise ValueError(f"scale={scale!r} would make sparse X dense: use scale='unit' or None, or pass X.toarray()")
    scaling = fit_scaling(X, w, scale)
    return scale, scaling, scaling.apply(X)


def scaled(X, scale, scaling):
    """Samples on a scale that was fitted before."""
    if scaling is not None:
        return scaling.apply(X.toarray() if sparse.issparse(X) else X)
    return unit_rows(X) if scale == "unit" else X


def cluster(estimator, Z, w) -> Clustering:
    """Where the rules sit, as the estimator's parameters say."""
    state = estimator.random_state
    return fuzzy_c_means(
        Z,
        min(estimator.n_rules, Z.shape[0]),
        fuzzifier=estimator.fuzzifier,
        sample_weight=w,
        init=estimator.init if isinstance(estimator.init, str) else _given_centers(estimator.init, Z),
        random_state=int(state.randint(2**31)) if hasattr(state, "randint") else state,
        rtol=0.0 if estimator.antecedents == "paper" else 1e-5,
    )


def fit_rules(estimator, Z, w, clustering=None) -> Antecedents:
    """IF-parts as the estimator's parameters say, on scaled samples; warns when there are fewer than asked for."""
    rules = fit_antecedents(
        Z,
        w,
        estimator.n_rules,
        width_scale=None if estimator.width_scale == "auto" else estimator.width_scale,
        fuzzifier=estimator.fuzzifier,
        widths="variance" if estimator.antecedents == "paper" else "common",
        clustering=clustering or cluster(estimator, Z, w),
    )
    if len(rules.centers) < estimator.n_rules:
        warnings.warn(
            f"n_rules={estimator.n_rules} was reduced to {len(rules.centers)}: X has no more distinct rows than that",
            RuleCollapseWarning,
            stacklevel=3,
        )
    return rules


def warn_if_collapsed(estimator) -> None:
    """Say so, with advice, when the rules of a fitted estimator do not differ."""
    if estimator.rule_distinctness_ < COLLAPSED:
        distinctness = f"{estimator.rule_distinctness_:.3f}"
        warnings.warn(
            f"the {len(estimator.centers_)} rules hardly differ (distinctness {distinctness} of 1), so the model is "
            f"close to a linear one. Use a smaller width_scale, a fuzzifier near 1 (it is {estimator.fuzzifier:g}), "
            f"scale='quantile', or fewer rules.",
            RuleCollapseWarning,
            stacklevel=5,
        )


def _given_centers(init, Z):
    centers = put(np.asarray(init, dtype=np.float64), Z) if is_tensor(Z) else np.asarray(init, dtype=Z.dtype)
    if centers.ndim != 2 or centers.shape[1] != Z.shape[1]:
        raise ValueError(f"init must be centres of shape (n_rules, {Z.shape[1]}), got shape {centers.shape}")
    return centers


def scaling_state(scaling: Scaling | None):
    """A `Scaling` as a dict of plain arrays, which pickle and skops store without code."""
    if scaling is None:
        return None
    return {name: getattr(scaling, name) for name in ("values", "levels", "offset", "spread", "bounded")}


def prototypes(X, V, centers, scaling):
    """Centres in the caller's units: mapped back where there is a scale, else the mean of what each rule fires on."""
    if scaling is not None:
        return scaling.invert(np.asarray(centers, dtype=np.float64))
    mass = V.sum(axis=0)
    return asnumpy(X.T @ V).T / np.where(asnumpy(mass) > 0, asnumpy(mass), 1.0)[:, None]
