"""What a search over the parameters of `MLTSKClassifier` shares: a fold's scale, a branch's rules, a sweep's products.

A *branch* is all points with the same IF-parts. Its rules are found once a fold and mapped once, its consequents come
from one decomposition (`mltsk.core.sweep`) or, where that does not apply, one fit after the other over the same map.
"""

import time
import warnings
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ..core.additive import ANTECEDENT_ROWS
from ..core.arrays import BLOCK_BYTES, spread_rows
from ..core.coupling import coupling_matrix, label_correlation
from ..core.fit import resolve_weights
from ..core.fuzzymap import FuzzyMap
from ..core.membership import rule_distinctness
from ..core.scaling import column_quantiles
from ..core.sweep import COLUMNS, SINGLE_RHO, SINGLE_TOL, Couplings, Factor, Setting, Sweep
from ..core.threads import blas_threads
from ..exceptions import NoMinimumError
from ..paper.solvers.moments import GRAM_BYTES
from ..paper.solvers.ridge import LooRows
from .antecedents import cluster, fit_rules, fit_scale, prototypes, scaled, scaling_state
from .classifier import MLTSKClassifier
from .consequents import fit_then_parts, given_weights

CONSEQUENT = ("coupling", "correlation_weight", "l1_weight", "ridge")
FACTOR_SIZE = 3000  # the smaller side of G up to which one decomposition is cheaper than single fits


class KnownScores(MLTSKClassifier):
    """A fitted classifier that remembers its scores of one table: a scorer that asks for them costs no pass over it."""

    def _scores(self, X):
        return self.known_scores if X is self.known_rows else super()._scores(X)


@dataclass
class Fold:
    """Training rows on their scale, and test rows, as they are and on that scale."""

    template: Any
    targets: Any
    w: Any
    X: Any
    Z: Any
    scaling: Any
    X_test: Any
    Z_test: Any
    y_test: Any
    score_params: dict
    kinds: list
    couplings: Couplings | None


def read_fold(estimator, train, test, score_params, kinds) -> Fold:
    """Validate and scale (X, y, weights) of a fold's training rows; ``test`` is (X, y), ``kinds`` couplings to come."""
    template = KnownScores(**clone(estimator).get_params(deep=False))
    template._validate_params()
    X, targets, w = template._validate_fit(*train)
    rows = spread_rows(X.shape[0], ANTECEDENT_ROWS)
    template.scale_, scaling, _ = fit_scale(X[rows], w[rows], template.scale)
    Z = scaled(X, template.scale_, scaling)
    template.scaling_ = scaling_state(scaling)
    template.quantiles_ = None if not isinstance(X, np.ndarray) else column_quantiles(X[rows], np.linspace(0, 1, 21))
    X_test = template._validate_rows(test[0])
    Z_test = scaled(X_test, template.scale_, scaling)
    return Fold(
        *(template, targets, w, X, Z, scaling, test[0], Z_test, test[1], score_params, kinds),
        couplings=_couplings(targets.Y, w, kinds),
    )


def _couplings(Y, w, kinds) -> Couplings | None:
    """Couplings with their decompositions; None where one is not convex."""
    C = label_correlation(Y, w)
    return None if "paper" in kinds else Couplings.of([coupling_matrix(C, kind) for kind in kinds])


def score_branches(fold: Fold, branches, scorer) -> list[tuple[int, float, float]]:
    """(number of the point, its score, seconds) for branches that share a clustering: they differ in width alone."""
    found, clustering = [], None
    flops = 2.0 * fold.Z.shape[0] * (fold.Z.shape[1] + 1) ** 2 * fold.template.n_rules**2
    with blas_threads(flops):
        for shared, points in branches:
            start = time.perf_counter()
            base = clone(fold.template).set_params(**shared)
            base._validate_params()
            base.__dict__.update({k: v for k, v in vars(fold.template).items() if k.endswith("_")})
            rows = spread_rows(fold.Z.shape[0], ANTECEDENT_ROWS)
            clustering = clustering or cluster(base, fold.Z[rows], fold.w[rows])
            models = _fit_branch(fold, base, clustering, [params for _, params in points])
            scores = [_score(scorer, fold, model) for model in models]
            seconds = (time.perf_counter() - start) / len(points)
            found += [(i, score, seconds) for (i, _), score in zip(points, scores, strict=True)]
    return found


def _score(scorer, fold, model) -> float:
    if isinstance(model, Exception):
        warnings.warn(f"a point was skipped: {model}", RuntimeWarning, stacklevel=2)
        return float("nan")
    return float(scorer(model, fold.X_test, fold.y_test, **fold.score_params))


def _fit_branch(fold, base, clustering, points) -> list:
    """Classifiers fitted on one map, with their scores of the test rows; an exception in place of one without fit."""
    rows = spread_rows(fold.Z.shape[0], ANTECEDENT_ROWS)
    rules = base._short_rules(fold.Z, fold.w, fit_rules(base, fold.Z[rows], fold.w[rows], clustering))
    G = FuzzyMap.of(fold.Z, rules.centers, rules.widths, underflow=base._underflow)
    base.centers_, base.widths_, base.width_scale_ = rules.centers, rules.widths, rules.width_scale
    fired = fold.w @ G.M
    base.rule_weights_ = fired / max(float(fired.sum()), np.finfo(np.float64).tiny)
    base.prototypes_ = prototypes(fold.X, G.M * fold.w[:, None], rules.centers, fold.scaling)
    base.rule_distinctness_ = rule_distinctness(G.M, fold.w)
    models = [_copy(base, params) for params in points]
    consequents = _sweep(fold, G, models) or [_single(fold, G, model) for model in models]
    if base.max_terms is not None:
        consequents = [_short(fold, G, model, P) for model, P in zip(models, consequents, strict=True)]
    G_test = FuzzyMap.of(fold.Z_test, rules.centers, rules.widths, underflow=base._underflow)
    return _with_scores(fold, G_test, models, consequents)


def _copy(base, params):
    # not `clone`, which reads signatures: 4 ms a point, as much as solving it
    model = copy(base)
    for name, value in params.items():
        setattr(model, name, value)
    return model


def _short(fold, G, model, P):
    return P if isinstance(P, Exception) else model._short_consequents(G, P.astype(G.M.dtype), fold.w)


def _single(fold, G, model):
    try:
        return fit_then_parts(model, G, fold.targets.Y, fold.w)
    except NoMinimumError as error:
        return error


def _sweep(fold, G, models) -> list | None:
    """Consequents of all models by one decomposition, or None where that does not apply."""
    base, (N, width) = models[0], G.shape
    small = min(N, width) <= FACTOR_SIZE and min(N, width) * width * G.M.itemsize <= GRAM_BYTES
    known = all(m.solver in ("auto", "fista", "admm") for m in models) and fold.couplings is not None
    if not (small and known and base.antecedents == "distinct" and isinstance(G.M, np.ndarray)):
        return None
    Y, w = fold.targets.Y, fold.w
    rates = (w @ Y) / w.sum()
    settings = _settings(fold, models, G, Y - rates, w)
    least = min(s.rho for s in settings)
    if least <= 0:
        return None
    factor = _factor(G, Y - rates, w, np.float32 if base.tol >= SINGLE_TOL else Y.dtype)
    largest = float(factor.s.max(initial=0.0))
    if least < 1e-10 * largest:
        return None  # all but no ridge: nothing for a duality gap to stand on
    if factor.R.dtype != Y.dtype and least < SINGLE_RHO * largest:
        factor = _factor(G, Y - rates, w, Y.dtype)
    return _along_lines(Sweep(factor, fold.couplings, max_iter=base.max_iter, tol=base.tol), settings, models, rates)


def _factor(G, Y, w, dtype) -> Factor:
    return Factor.of(G.astype(dtype), Y.astype(dtype), w.astype(dtype))


def _settings(fold, models, G, Y, w) -> list[Setting]:
    """α, β and ρ of every model: given, or by leave-one-out, which is decomposed once."""
    found, loo = [], None
    for model in models:
        which = fold.kinds.index(model.coupling)
        Q = fold.couplings.Q[which].astype(Y.dtype)
        given = given_weights(model)
        if None in given and loo is None:
            loo = LooRows.of(G, Y, w)
        rho, alpha, beta = resolve_weights(loo, Q, *given)
        model.ridge_, model.correlation_weight_, model.l1_weight_ = rho, alpha, beta
        model.coupling_ = Q
        found.append(Setting(which, float(alpha), float(beta), float(rho)))
    return found


def _along_lines(sweep, settings, models, rates) -> list:
    lines: dict[tuple, list[int]] = {}
    for i, s in sorted(enumerate(settings), key=lambda pair: pair[1].beta):
        lines.setdefault((s.coupling, s.alpha, s.rho), []).append(i)
    consequents: list = [None] * len(models)
    ends = sweep.lines([[settings[i] for i in members] for members in lines.values()])
    for members, points in zip(lines.values(), ends, strict=True):
        for i, point in zip(members, points, strict=True):
            P = point.Z.T.copy()
            P.reshape(len(models[i].centers_), -1, len(rates))[:, 0] += rates
            consequents[i] = P
            models[i].n_iter_, models[i].certificate_ = point.n_iter, point.certificate
    worst = max(model.certificate_ for model in models)
    if worst > sweep.tol:
        warnings.warn(
            f"a point of the grid was left at a relative gap of {worst:.2g}, above tol={sweep.tol:g}, after "
            f"{sweep.max_iter} steps: raise max_iter, or leave out the smallest ridges",
            ConvergenceWarning,
            stacklevel=2,
        )
    return consequents


def _with_scores(fold, G_test, models, consequents) -> list:
    done = [i for i, P in enumerate(consequents) if not isinstance(P, Exception)]
    if done:
        dtype = consequents[done[0]].dtype
        mapped = G_test.astype(dtype)
        small = not mapped.is_sparse and mapped.shape[0] * mapped.shape[1] * dtype.itemsize <= BLOCK_BYTES
        # built once it serves all the points: as an operator it would be mapped again for each
        mapped = mapped.rows() if small else mapped
        for i, known in zip(done, _products(mapped, [consequents[i] for i in done]), strict=True):
            models[i].coef_ = consequents[i].reshape(len(models[i].centers_), -1, known.shape[1]).astype(fold.Z.dtype)
            models[i].known_rows, models[i].known_scores = fold.X_test, known.astype(fold.Z.dtype)
    return [consequents[i] if isinstance(consequents[i], Exception) else model for i, model in enumerate(models)]


def _products(mapped, consequents):
    """Scores of the points, as many in a product as makes it wide."""
    together = max(1, COLUMNS // consequents[0].shape[1])
    for part in (consequents[i : i + together] for i in range(0, len(consequents), together)):
        yield from np.split(mapped @ np.hstack(part), len(part), axis=1)
