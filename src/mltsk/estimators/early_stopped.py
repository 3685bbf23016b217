"""The authors' early-stopped solver for a classifier: which weights it takes, and a warning where it has no minimum."""

import warnings

from ..core.backend import asnumpy
from ..core.coupling import coupling_matrix, label_correlation
from ..exceptions import NonConvexWarning
from ..paper.solvers.algorithm1 import algorithm1


def fit_algorithm1(estimator, G, Y, w):
    """Consequents as Algorithm I leaves them; weights and steps are stored on the estimator."""
    if estimator.coupling not in ("paper", None):
        raise ValueError(f"solver='algorithm1' knows coupling='paper' or None, got {estimator.coupling!r}")
    alpha, beta = estimator.correlation_weight, estimator.l1_weight
    alpha = 1.0 if alpha == "loo" else float(alpha)
    beta = 0.1 if beta == "auto" else float(beta)
    gamma = 1.0 if estimator.init_ridge is None else float(estimator.init_ridge)
    alpha = alpha if estimator.coupling == "paper" else 0.0
    R = coupling_matrix(label_correlation(Y, w), estimator.coupling)
    found = algorithm1(G, Y, alpha, beta, gamma, max_iter=estimator.max_iter, margin=estimator.tol, sample_weight=w)
    estimator.ridge_, estimator.correlation_weight_, estimator.l1_weight_ = 0.0, alpha, beta
    estimator.coupling_ = asnumpy(R)
    estimator.n_iter_, estimator.certificate_ = found.n_iter, float("nan")
    if found.stopped_by == "negative loss":
        warnings.warn(
            f"Algorithm I stopped at step {found.n_iter} because its loss fell below 0, which a convex problem "
            f"cannot do: with correlation_weight={alpha:g} the paper's coupling has no minimum. The result is "
            f"where the authors' program stops; coupling='laplacian' with another solver has an optimum.",
            NonConvexWarning,
            stacklevel=5,
        )
    return found.P
