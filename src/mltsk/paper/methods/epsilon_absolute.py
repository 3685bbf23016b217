"""The absolute ε-insensitive criterion, solved exactly: the one for which the published loop is a heuristic.

Symbols as in `mltsk.paper.methods.epsilon_insensitive`; for every output, over rows scaled by √w,

    F(p) = Σ_n √w_n ]y_n - g_n·p[ + (τ/2) ‖p̃‖².

Alternating directions with v = Gp and penalty 1: a ridge solve with weight τ (one factorisation for all outputs and
steps), v by shrinking the distance from the tube, and a running sum of v's errors. After a ridge solve for targets t,
a = u - t solves the dual equations; scaled down until |a| <= √w it is feasible, and its value certifies the gap.
"""

import numpy as np

from .epsilon_insensitive import Solution

_RELAX = 1.6  # over-relaxation, the usual value: about a third fewer steps than 1


def minimise_absolute(factor, Y, epsilon, *, limit=None, tol=1e-3, max_iter=1000) -> Solution:
    """Minimum of F for every column of Y (N, L), τ = factor.half, until gap <= tol · F.

    ``limit`` (L,) says how many further columns of the design each output may use; all by default.
    """
    root = factor.design.root[:, None]
    Y, band, n_outputs = Y * root, epsilon * root, Y.shape[1]
    limit = np.full(n_outputs, factor.design.E.shape[1]) if limit is None else np.asarray(limit)
    T, active, v, errors = Y.copy(), np.arange(n_outputs), Y, np.zeros_like(Y)
    value, gap, n_iter = np.zeros(n_outputs), np.zeros(n_outputs), np.zeros(n_outputs, dtype=np.intp)
    for step in range(1, max_iter + 1):
        y, t = Y[:, active], v - errors
        u = factor.fit(t, limit[active])
        value[active], gap[active] = absolute_value_and_gap(u, t, y, band, root)
        T[:, active], n_iter[active] = t, step
        going = gap[active] > tol * value[active] + 1e-14 * np.abs(y * root).sum(axis=0)
        v, errors = _shrunk(u, v, errors, y, band, root)
        active, v, errors = active[going], v[:, going], errors[:, going]
        if not len(active):
            break
    P, extra = factor.coefficients(T, limit)
    return Solution(P, extra, value, gap, n_iter, not len(active))


def _shrunk(u, v, errors, y, band, root):
    """v, nearer to its tube by √w, and the errors that it leaves."""
    moved = _RELAX * u + (1 - _RELAX) * v
    r = moved + errors - y
    size = np.abs(r)
    v = y + np.sign(r) * np.where(size <= band, size, np.maximum(size - root, band))
    return v, errors + moved - v


def absolute_value_and_gap(u, t, y, band, root):
    """F and its duality gap, (L,) each, at the ridge fits u of targets t."""
    a = u - t
    penalty = np.maximum(-np.einsum("nl,nl->l", a, u) / 2, 0.0)  # (τ/2)‖p̃‖², by the ridge equations
    value = (root * np.maximum(np.abs(u - y) - band, 0.0)).sum(axis=0) + penalty
    largest = np.max(np.abs(a) / np.where(root > 0, root, 1.0), axis=0)
    scale = 1 / np.maximum(largest, 1.0)
    dual = -scale * (a * y + band * np.abs(a)).sum(axis=0) - scale**2 * penalty
    return value, np.maximum(value - dual, 0.0)
