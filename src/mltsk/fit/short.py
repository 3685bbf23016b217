"""Short models: a few terms per label, chosen and refitted to say what the long model says.

Symbols: T (N, C) candidate terms: ramps and exceptions of few conditions; t (N, L) = (labels + leave-one-out scores
of the long model) / 2, which are smoother than labels; G = TᵀT and TᵀT t, from which everything is chosen.

Terms of a label are added one by one, each time the one that explains most of what is left (orthogonal matching
pursuit on columns of length 1), and refitted together with a light ridge.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ..core.arrays import Array, dense, spread_rows
from ..core.membership import firing_strengths
from ..core.terms import Terms
from ..system import FuzzySystem

ROWS = 5_000  # terms are chosen on at most this many rows
RIDGE = 1e-3  # of the refit, where columns have length 1
FOLDS = 5  # of the honest scores: choosing terms looks at labels, so rows must be left out of the choice as well


def shorten(
    system: FuzzySystem,
    X: Any,
    Y: Array,
    w: Array,
    loo: Array,
    max_terms: int,
    max_conditions: int | None,
) -> tuple[FuzzySystem, Array]:
    """(short system, scores of rows by terms chosen without them) of a system with its training rows and scores."""
    Z = system.scale(_host(X))
    rules = _short_rules(system, max_conditions)
    columns = np.hstack([_dense(system.terms.memberships(Z, system.scaling)), _firing(system, Z, *rules)])
    observed = (w if w.ndim == 2 else w[:, None]) > 0
    target = np.where(observed, (Y + loo) / 2, loo)
    weight = np.asarray(w if w.ndim == 1 else w.mean(axis=1), dtype=np.float64)
    mean, rates = (weight @ columns) / weight.sum(), (weight @ target) / weight.sum()
    root = np.sqrt(weight)[:, None]
    scaled, norms = _unit_columns((columns - mean) * root)
    pull = (target - rates) * root
    held_out = np.empty_like(target)
    everything = np.arange(len(scaled))
    for k in range(FOLDS):
        rest = everything[everything % FOLDS != k]
        found = _fitted(scaled[rest], pull[rest], max_terms)
        held_out[k::FOLDS] = rates + ((columns[k::FOLDS] - mean) / norms) @ found
    coef = _fitted(scaled, pull, max_terms) / norms[:, None]
    return _system(system, coef, mean, rates, rules), held_out


def _fitted(A: Array, t: Array, max_terms: int) -> Array:
    """Numbers (C, L) of columns A (n, C) of length 1 at most: those of the terms that are chosen, refitted together."""
    some = spread_rows(len(A), ROWS)
    coef = np.zeros((A.shape[1], t.shape[1]))
    for label, kept in enumerate(_choose(A[some], t[some], max_terms)):
        part = A[:, kept]
        coef[kept, label] = linalg.solve(
            part.T @ part + RIDGE * np.eye(len(kept)), part.T @ t[:, label], assume_a="pos"
        )
    return coef


def _choose(A: Array, t: Array, max_terms: int) -> list[NDArray[np.intp]]:
    """Per label the columns of A (n, C), of length 1, that are taken."""
    G, c = A.T @ A, A.T @ t
    alive = np.diag(G) > 1e-3 * np.diag(G).max(initial=0.0)
    out = []
    for label in range(t.shape[1]):
        kept: list[int] = []
        left = c[:, label].copy()
        for _ in range(min(max_terms, int(alive.sum()))):
            left[~alive] = 0.0
            left[kept] = 0.0
            best = int(np.argmax(np.abs(left)))
            if left[best] == 0.0:
                break
            kept.append(best)
            part = G[np.ix_(kept, kept)] + RIDGE * np.eye(len(kept))
            left = c[:, label] - G[:, kept] @ np.linalg.solve(part, c[kept, label])
        out.append(np.array(sorted(kept), dtype=np.intp))
    return out


def _short_rules(system: FuzzySystem, max_conditions: int | None) -> tuple[Array, Array]:
    """Centres and widths of the exceptions with their most distinct conditions alone; other widths are infinite."""
    K, D, _ = system.shape
    count = D if max_conditions is None else min(max_conditions, D)
    if K == 0 or count == D:
        return system.centers, system.widths
    distinct = np.abs(system.centers - system.centers.mean(axis=0))
    widths = np.full((K, D), np.inf)
    kept = np.argsort(-distinct, axis=1, kind="stable")[:, :count]
    np.put_along_axis(widths, kept, np.take_along_axis(system.widths, kept, axis=1) * count / D, axis=1)
    return system.centers, widths


def _firing(system: FuzzySystem, Z: Any, centers: Array, widths: Array) -> Array:
    share = None if system.scaling is None else system.scaling.share
    return firing_strengths(Z, centers, widths, underflow="plain", share=share)


def _system(system: FuzzySystem, coef: Array, mean: Array, rates: Array, rules: tuple[Array, Array]) -> FuzzySystem:
    """The system of the chosen terms alone."""
    P = len(system.terms)
    used = np.flatnonzero(coef[:P].any(axis=1))
    old = system.terms
    if old.low is None or old.high is None:
        terms, general = replace(old, mean=mean[:P]), coef[:P]
    else:
        terms, general = Terms(old.feature[used], old.low[used], old.high[used], mean[used]), coef[used]
    kept = np.flatnonzero(coef[P:].any(axis=1))
    return replace(
        system,
        terms=terms,
        term_coef=general,
        intercept=rates - mean[P:] @ coef[P:],
        centers=rules[0][kept],
        widths=rules[1][kept],
        coef=coef[P:][kept][:, None, :],
        prototypes=system.prototypes[kept],
        rule_weights=mean[P:][kept],
        underflow="plain",
    )


def _unit_columns(A: Array) -> tuple[Array, Array]:
    norms = np.sqrt(np.einsum("nc,nc->c", A, A))
    norms = np.where(norms > 1e-9 * max(float(norms.max(initial=0.0)), 1e-300), norms, np.inf)
    return A / norms, norms


def _dense(T: Any) -> Array:
    return np.asarray(dense(T), dtype=np.float64)


def _host(X: Any) -> Any:
    return X.detach().cpu().numpy() if hasattr(X, "detach") else X
