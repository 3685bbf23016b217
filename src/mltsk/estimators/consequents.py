"""The THEN-parts of a classifier's rules, as its parameters say: the default problem, or what the authors run."""

import warnings

from sklearn.exceptions import ConvergenceWarning

from ..core.backend import asnumpy
from ..core.fit import fit_consequents
from .early_stopped import fit_algorithm1


def fit_then_parts(estimator, G, Y, w):
    """Consequents as the estimator's parameters say; what was used and reached is noted on the estimator."""
    if estimator.solver == "algorithm1":
        return fit_algorithm1(estimator, G, Y, w)
    rho, alpha, beta = given_weights(estimator)
    found = fit_consequents(
        G,
        Y,
        w,
        coupling=estimator.coupling,
        rho=rho,
        alpha=alpha,
        beta=beta,
        gamma=estimator.init_ridge,
        solver=estimator.solver,
        max_iter=estimator.max_iter,
        tol=estimator.tol,
    )
    note_solution(estimator, found)
    return found.P


def note_solution(estimator, found):
    """Store the weights used and what the solver reached; warns when that is not enough."""
    estimator.ridge_, estimator.correlation_weight_, estimator.l1_weight_ = found.rho, found.alpha, found.beta
    estimator.coupling_, estimator.n_iter_ = asnumpy(found.coupling), found.solution.n_iter
    estimator.certificate_ = found.solution.certificate
    if not found.solution.converged:
        warnings.warn(
            f"the solver stopped after {estimator.max_iter} steps at a relative gap of {estimator.certificate_:.2g}, "
            f"above tol={estimator.tol:g}: raise max_iter, or the ridge weight ({estimator.ridge_:.3g})",
            ConvergenceWarning,
            stacklevel=6,
        )


def given_weights(estimator):
    """ρ, α, β, with None for what the data are to say; without a coupling there is no α."""
    alpha = None if estimator.correlation_weight == "loo" else float(estimator.correlation_weight)
    return (
        None if estimator.ridge == "loo" else float(estimator.ridge),
        0.0 if estimator.coupling is None else alpha,
        None if estimator.l1_weight == "auto" else float(estimator.l1_weight),
    )
