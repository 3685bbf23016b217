"""A classifier on Dask collections: the steps of a fit as passes over blocks, and results that wait to be computed.

What the passes compute is in `mltsk.core.passes`, how they run in `mltsk.scale.dask`; here the estimator's parameters
say what to do, and its attributes are set as a fit in memory sets them.
"""

import warnings
from copy import copy
from functools import wraps

import numpy as np
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from ..core.additive import ANTECEDENT_ROWS
from ..core.passes import antecedents, consequents, scaling
from ..core.passes.rows import gather, thinned
from ..core.single import fits_together
from ..core.threads import blas_threads
from ..exceptions import InputError, RuleCollapseWarning
from ..scale.dask import is_dask
from ..scale.dask_rows import Survey, counted, dask_rows, lazily, whole
from ..targets import Targets
from .antecedents import scaling_state, warn_if_collapsed
from .consequents import given_weights, note_solution

FEW_BLOCKS = 8  # of the evenly spread rows on which rules are found: passes over more would be all waiting


def waits_on_dask(method):
    """Let a method of rows return a Dask array, not computed yet, where X is a Dask collection."""

    @wraps(method)
    def on_either(self, X):
        return _later(self, X, method.__name__) if is_dask(X) else method(self, X)

    return on_either


def fit_on_dask(estimator, X, y, sample_weight=None):
    """Fit an `MLTSKClassifier` without bringing many rows together: the numbers of a fit in memory.

    Rows that are not worth distributing (`fits_together`) are fitted here, by the very fit in memory.
    """
    _refuse(estimator)
    rows, dtype = dask_rows(X, y, sample_weight)
    survey = rows.reduce("survey", Survey.of)
    _set_features(estimator, X)
    rows, targets = _set_targets(estimator, rows, survey, y)
    shape = (survey.n_rows, estimator.n_features_in_)
    if fits_together(shape[0], shape[0] * shape[1] * dtype.itemsize):
        return _fit_together(estimator, rows, shape[0], targets)
    with blas_threads(2.0 * shape[0] * (shape[1] + 1) ** 2 * min(estimator.n_rules, shape[0]) ** 2):
        _fit_rows(estimator, rows, shape, dtype)
    return estimator


def _fit_together(estimator, rows, n_rows, targets):
    X, Y, w = gather(rows, n_rows, n_rows, "rows", whole)
    return estimator._fit_rows(X, targets.take(Y), w)


def _refuse(estimator):
    limits = {"max_conditions": estimator.max_conditions, "max_terms": estimator.max_terms, "device": estimator.device}
    for name, value in limits.items():
        if value is not None:
            raise InputError(f"{name}={value!r} is not for Dask collections: leave it None, or pass arrays in memory.")
    if estimator.solver == "algorithm1":
        raise InputError("solver='algorithm1' is not for Dask collections: pass arrays in memory, or use 'fista'.")


def _set_features(estimator, X):
    meta = X._meta if hasattr(X, "columns") else np.empty((0, X.shape[1]))
    _check_feature_names(estimator, meta, reset=True)
    estimator.n_features_in_ = len(X.columns) if hasattr(X, "columns") else X.shape[1]


def _set_targets(estimator, rows, survey, y):
    """Note labels or classes; returns the rows with y as an indicator, and `Targets` without rows."""
    if survey.n_rows == 0:
        raise InputError("sample_weight is 0 for every row: nothing is left to fit.")
    if survey.n_rows == 1:
        raise InputError("X has 1 row (sample), while a minimum of 2 is required.")
    if survey.classes is None:
        names = list(y.columns) if hasattr(y, "columns") else [f"label {j}" for j in range(survey.n_labels)]
        columns, classes = None, np.arange(survey.n_labels)
    else:
        classes = survey.classes
        if len(classes) < 2:
            raise InputError(f"Classifier can't train when only one class is present: y holds only {classes[0]!r}.")
        columns = names = classes[1:] if len(classes) == 2 else classes
    names = tuple(str(name) for name in names)
    targets = Targets(np.empty((0, len(names))), classes, names, columns is None)
    estimator._set_targets(targets)
    return rows.map(counted, survey.starts(), columns), targets


def _fit_rows(estimator, rows, shape, dtype):
    labels = rows.reduce("labels", consequents.label_spread)
    n_bytes = shape[0] * shape[1] * dtype.itemsize
    limit = shape[0] if estimator.antecedents == "paper" else min(ANTECEDENT_ROWS, shape[0])
    few = limit <= ANTECEDENT_ROWS
    basis = rows.map(thinned, shape[0], limit).condensed(FEW_BLOCKS) if few else rows.kept(n_bytes)
    estimator.scale_, fitted, change, quantiles = _fit_scale(estimator, basis)
    all_rows, near = rows.map(*change).kept(n_bytes), basis.map(*change)
    near = near.condensed(FEW_BLOCKS) if few else all_rows
    rules = _fit_rules(estimator, near, (limit, shape[1]), dtype)
    firing = consequents.Firing(rules.centers, rules.widths, estimator._underflow)
    P, mass = _fit_consequents(estimator, all_rows, shape, labels, firing)
    estimator.centers_, estimator.widths_, estimator.width_scale_ = rules.centers, rules.widths, rules.width_scale
    estimator.coef_ = np.ascontiguousarray(P.astype(dtype).reshape(len(rules.centers), -1, len(labels.mean)))
    estimator.scaling_ = scaling_state(fitted)
    estimator.rule_weights_ = mass / max(float(mass.sum()), np.finfo(np.float64).tiny)
    estimator.prototypes_ = (
        consequents.prototypes(rows, firing, change[0])
        if fitted is None
        else fitted.invert(np.asarray(rules.centers, dtype=np.float64))
    )
    estimator.quantiles_ = quantiles if few else scaling.fit_scaling(rows.map(thinned, limit, ANTECEDENT_ROWS), None)[1]
    estimator.rule_distinctness_ = consequents.distinctness(near.map(thinned, limit, ANTECEDENT_ROWS), firing)
    estimator.simplification_ = None
    warn_if_collapsed(estimator)


def _fit_scale(estimator, rows):
    """(name, `Scaling` or None, change of blocks, quantiles); "auto" is "quantile", as for any dense X."""
    name = "quantile" if estimator.scale == "auto" else estimator.scale
    if name in (None, "unit"):
        quantiles = scaling.fit_scaling(rows, None)[1]
        return name, None, (scaling.unit_length if name else scaling.unscaled,), quantiles
    fitted, quantiles = scaling.fit_scaling(rows, name)
    return name, fitted, (scaling.scaled, fitted), quantiles


def _fit_rules(estimator, rows, shape, dtype):
    paper, state, init = estimator.antecedents == "paper", estimator.random_state, estimator.init
    found = antecedents.fuzzy_c_means(
        rows,
        shape,
        min(estimator.n_rules, shape[0]),
        fuzzifier=estimator.fuzzifier,
        init=init if isinstance(init, str) else _given_centers(init, shape[1]),
        random_state=int(state.randint(2**31)) if hasattr(state, "randint") else state,
        rtol=0.0 if paper else 1e-5,
    )
    if len(found.centers) < estimator.n_rules:
        warnings.warn(
            f"n_rules={estimator.n_rules} was reduced to {len(found.centers)}: X has no more distinct rows than that",
            RuleCollapseWarning,
            stacklevel=5,
        )
    return antecedents.fit_antecedents(
        rows,
        shape,
        found.astype(dtype),
        width_scale=None if estimator.width_scale == "auto" else estimator.width_scale,
        widths="variance" if paper else "common",
    )


def _given_centers(init, n_features):
    centers = np.asarray(init, dtype=np.float64)
    if centers.ndim != 2 or centers.shape[1] != n_features:
        raise InputError(f"init must be centres of shape (n_rules, {n_features}), got shape {centers.shape}.")
    return centers


def _fit_consequents(estimator, rows, shape, labels, firing):
    rho, alpha, beta = given_weights(estimator)
    found, mass = consequents.fit_consequents(
        rows,
        shape,
        labels,
        firing,
        coupling=estimator.coupling,
        rho=rho,
        alpha=alpha,
        beta=beta,
        gamma=estimator.init_ridge,
        solver="admm" if estimator.solver == "admm" else "fista",
        max_iter=estimator.max_iter,
        tol=estimator.tol,
    )
    note_solution(estimator, found)
    return found.P, mass


def _later(estimator, X, method):
    check_is_fitted(estimator)
    if hasattr(X, "columns"):
        _check_feature_names(estimator, X._meta, reset=False)
    width = len(X.columns) if hasattr(X, "columns") else X.shape[1]
    if width != estimator.n_features_in_:
        raise InputError(f"X has {width} features, but this model was fitted on {estimator.n_features_in_}.")
    model = copy(estimator)
    model.__dict__.pop("feature_names_in_", None)  # checked above, and blocks are arrays
    example = getattr(model, method)(np.zeros((1, width)))
    columns = example.shape[1] if example.ndim == 2 else None
    return lazily(_of_block, X, columns, example.dtype, model, method)


def _of_block(X, model, method):
    X = np.asarray(X)
    if len(X):
        return getattr(model, method)(X)
    return getattr(model, method)(np.zeros((1, X.shape[1])))[:0]
