"""Accelerated proximal gradient with restart, to a certified optimum of the convex problem.   (29)-(33)

Each step is (31)-(33): V = P_t + momentum (P_t - P_{t-1}), then P_{t+1} = soft(V - slope(V)/L_f, β/L_f), with a step
size of its own for every row of P where that is better than one for all (`dominating_diagonal`). Momentum restarts when
it points uphill. One product with A is made per step: the slope is affine, so slope(V) is the same
combination of the slopes at P_t and P_{t-1} that V is of those, and the slope at P_t also gives the certificate.

It stops on a certificate, not on little change: the duality gap as a share of ½Σy² (the objective of P = 0), or,
without a ridge, the smallest subgradient as a share of the largest |Gᵀy|.
"""

from dataclasses import dataclass, field

import numpy as np

from ...core.arrays import Array
from .objective import Problem

CHECK_EVERY = 4  # steps between certificates: one costs as much as the prox of two steps


@dataclass(frozen=True)
class Solution:
    """Consequents ``P`` (Md, L), the objective there, the certificate reached, the steps taken, whether it sufficed.

    ``certificates`` are those seen on the way, the first at the start.
    """

    P: Array
    value: float
    certificate: float
    n_iter: int
    converged: bool
    certificates: list[float] = field(default_factory=list, repr=False)


def soft_threshold(Z: Array, t: float | Array) -> Array:
    """S_t[Z] = sign(Z) max(|Z| - t, 0).   (33)"""
    return Z - np.clip(Z, -t, t)


def fista(problem: Problem, start: Array | None = None, *, max_iter: int = 1000, tol: float = 1e-4) -> Solution:
    """Minimise a convex `Problem` from ``start`` (zeros by default); `NoMinimumError` where it is not convex.

    ``tol`` is on the certificate described above; ``Solution.converged`` says whether it was met.
    """
    problem.require_minimum()
    B = problem.data.B
    steps = problem.steps.astype(B.dtype)
    P = np.zeros_like(B) if start is None else np.array(start, dtype=B.dtype)
    slope = problem.slope(P)
    P_old, slope_old, b, n_iter = P, slope, 1.0, 0
    certificates = [certificate(problem, P, slope)]
    while certificates[-1] > tol and n_iter < max_iter:
        b_new = (1 + np.sqrt(4 * b * b + 1)) / 2
        V, slope_V = _extrapolate(P, P_old, (b - 1) / b_new), _extrapolate(slope, slope_old, (b - 1) / b_new)
        new = soft_threshold(V - steps * slope_V, steps * problem.beta)
        V -= new
        V /= steps
        if np.vdot(V, new - P) > 0:  # the step went against the momentum: forget it
            b_new = 1.0
        P_old, slope_old, P, b = P, slope, new, b_new
        slope = problem.slope(P)
        n_iter += 1
        if n_iter % CHECK_EVERY == 0 or n_iter == max_iter:
            certificates.append(certificate(problem, P, slope))
    return Solution(P, problem.value(P, slope), certificates[-1], n_iter, certificates[-1] <= tol, certificates)


def _extrapolate(new: Array, old: Array, momentum: float) -> Array:
    V = new - old
    V *= momentum
    V += new
    return V


def certificate(problem: Problem, P: Array, slope: Array) -> float:
    """How far P may be from the optimum, as a share: relative duality gap, or relative subgradient where ρ is 0."""
    tiny = np.finfo(np.float64).tiny
    if problem.rho > 0 and problem.ridge > 0:
        return problem.gap(P, slope) / max(0.5 * problem.data.yy, tiny)
    return problem.stationarity(P, slope) / max(float(abs(problem.data.B).max()), tiny)
