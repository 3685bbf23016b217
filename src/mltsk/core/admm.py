"""A second solver of the same problem, by other means: alternating directions with exact quadratic steps.

    min ½‖G P - Y‖² + (ρ/2)‖P‖² + (α/2) Tr(P Q Pᵀ) + β‖Z‖₁   subject to   P = Z

With A = U diag(s) Uᵀ and Q = V diag(λ) Vᵀ the quadratic step (A + (ρ+κ)I) P + α P Q = B + κ(Z - T) is a division by
s_i + ρ + κ + α λ_j in the bases U, V. Its speed does not depend on the conditioning of A, so it serves where FISTA
crawls (tiny ρ, no L1 term to speak of), at the price of one eigendecomposition and four products a step. It also is the
independent check of FISTA in the tests.
"""

import numpy as np

from ..paper.solvers.fista import Solution, certificate, soft_threshold
from ..paper.solvers.moments import Moments
from ..paper.solvers.objective import Problem
from .arrays import Array
from .backend import eigh, namespace


def admm(problem: Problem, start: Array | None = None, *, max_iter: int = 1000, tol: float = 1e-4) -> Solution:
    """Minimise a convex `Problem` over formed `Moments`; same certificate and same result as `fista`.

    Parameters
    ----------
    problem : Problem
        Its data must be `Moments`: the eigendecomposition of A is the method.
    start : array of shape (Md, L), optional
    max_iter, tol : int, float
        As in `fista`.
    """
    if not isinstance(problem.data, Moments):
        raise ValueError("admm needs the Gram matrix: use fista where K(D+1) is too large to form it")
    problem.require_minimum()
    solve, kappa = _quadratic_step(problem)
    B, xp = problem.data.B, namespace(problem.data.B)
    Z = xp.zeros_like(B) if start is None else xp.array(start, dtype=B.dtype)
    T = xp.zeros_like(B)
    certificates, n_iter = [certificate(problem, Z, problem.slope(Z))], 0
    while certificates[-1] > tol and n_iter < max_iter:
        P = solve(B + kappa * (Z - T))
        Z = soft_threshold(P + T, problem.beta / kappa)
        T += P - Z
        certificates.append(certificate(problem, Z, problem.slope(Z)))
        n_iter += 1
    return Solution(Z, problem.value(Z), certificates[-1], n_iter, certificates[-1] <= tol, certificates)


def _quadratic_step(problem: Problem):  # type: ignore[no-untyped-def]
    assert isinstance(problem.data, Moments)
    s, U = eigh(problem.data.A)
    B, xp = problem.data.B, namespace(problem.data.B)
    Q = xp.zeros((B.shape[1],) * 2, dtype=B.dtype, like=B) if problem.Q is None else problem.Q
    lam, V = xp.linalg.eigh(Q)
    own = s[:, None] + problem.rho + problem.alpha * lam[None, :]
    # the geometric middle of the curvatures balances the two residuals
    largest = float(own.max())
    kappa = float(np.sqrt(largest * max(problem.rho, 1e-3 * largest)))

    def solve(C: Array) -> Array:
        return U @ ((U.T @ C @ V) / (own + kappa)) @ V.T

    return solve, kappa
