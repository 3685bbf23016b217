"""Many problems over one set of moments, each started where its neighbour ended.

All (α, β) share A, B, ‖A‖ and Q; along a path the optimum moves little, so a warm start saves most of the steps. The
answers are those of cold starts, to the certificate asked for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..paper.solvers.fista import Solution, fista
from ..paper.solvers.moments import Quadratic
from ..paper.solvers.objective import Problem
from .arrays import Array


@dataclass(frozen=True)
class PathPoint:
    """One point of a path: its weights and its `Solution`."""

    alpha: float
    beta: float
    solution: Solution


def path(
    data: Quadratic,
    Q: Array,
    alphas: Sequence[float],
    betas: Sequence[float],
    *,
    rho: float = 0.0,
    start: Array | None = None,
    max_iter: int = 1000,
    tol: float = 1e-4,
) -> Iterator[PathPoint]:
    """Solutions for every (α, β), in the order of ``alphas`` then of ``betas`` sorted from small to large.

    Small β first: with a ridge start the first problem is nearly solved, and sparsity then grows step by step.

    Examples
    --------
    >>> import numpy as np
    >>> from mltsk.paper.solvers.moments import Moments
    >>> data = Moments(np.eye(2), np.array([[1.0], [0.2]]), yy=2.0, weight=2.0)
    >>> [int((p.solution.P != 0).sum()) for p in path(data, np.zeros((1, 1)), [0.0], [0.5, 0.1], rho=1.0)]
    [2, 1]
    """
    first = start
    for alpha in alphas:
        warm = first
        for beta in sorted(betas):
            solution = fista(Problem(data, Q, alpha, beta, rho), warm, max_iter=max_iter, tol=tol)
            warm = solution.P
            if beta == min(betas):
                first = solution.P  # the next alpha starts beside this one, not at its sparse end
            yield PathPoint(alpha, beta, solution)
