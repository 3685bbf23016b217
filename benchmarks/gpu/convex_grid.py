"""The default problem of CAL500 for 200 weights × 5 folds in one batch on the GPU, each to its certificate.

Rules and weights are those of a default fit on all rows; the 200 points are multiples of these weights. Timed: moments
of the five folds, ridge starts and FISTA of all 1,000 problems, double precision. Compared: every fortieth problem with
`core.fista` of NumPy from the same start.
"""

from functools import partial
from itertools import product

import numpy as np
import torch

from benchmarks import Options, data_file, print_table
from benchmarks.gpu import best_and_median, seconds
from mltsk import MLTSKClassifier
from mltsk.core.coupling import coupling_matrix, label_correlation
from mltsk.core.fista import fista
from mltsk.core.moments import Moments
from mltsk.core.objective import Problem
from mltsk.scale.batch import Problems
from mltsk.scale.fista_batch import CertifiedRuns, fista_batch

ALPHAS, BETAS, RHOS = (0.1, 0.3, 1, 3, 10), (0, 0.25, 0.5, 1, 1.5, 2, 3, 4), (0.25, 0.5, 1, 2, 4)
N_FOLDS, ROUNDS, COMPARED = 5, 3, 40


def solve(G: torch.Tensor, Y: torch.Tensor, train: torch.Tensor, settings: list, coupling: str) -> list[CertifiedRuns]:
    problems = Problems.of(G[None], Y, train[None], coupling=coupling, centred=True)
    return [runs for _, runs in fista_batch(problems, settings)]


def alone(G: np.ndarray, Y: np.ndarray, coupling: str, alpha: float, beta: float, rho: float):
    """The same problem by `core.fista`, from the same start."""
    centred = Y - Y.mean(axis=0)
    data = Moments(G.T @ G, G.T @ centred, float((centred**2).sum()), float(len(Y)))
    start = np.linalg.solve(data.A + (rho + alpha) * np.eye(len(data.A)), data.B)
    return fista(Problem(data, coupling_matrix(label_correlation(Y), coupling), alpha, beta, rho), start)


def run(options: Options) -> None:
    path = data_file("cal500.npz")
    if path is None:
        print("skipped: set MLTSK_DATA to a folder that holds cal500.npz")
        return
    with np.load(path, allow_pickle=False) as file:
        X, Y = file["X"].astype(float), file["Y"].astype(float)
    clf = MLTSKClassifier().fit(X, Y)
    G = clf.system_.map(X).rows()
    own = clf.correlation_weight_, clf.l1_weight_, clf.ridge_
    settings = [tuple(float(f * w) for f, w in zip(p, own, strict=True)) for p in product(ALPHAS, BETAS, RHOS)]
    fold = np.random.default_rng(0).permutation(np.arange(len(Y)) % N_FOLDS)
    train = fold != np.arange(N_FOLDS)[:, None]
    tensors = [torch.as_tensor(a, device="cuda") for a in (G, Y, train)]
    work = partial(solve, *tensors, settings, clf.coupling)
    best, median = best_and_median(seconds(work, ROUNDS))
    found = work()
    steps, P = (torch.cat([getattr(r, name) for r in found]).cpu().numpy() for name in ("n_iter", "P"))
    print(
        f"convex problem of CAL500: {len(settings)} weights × {N_FOLDS} folds, K(D+1) = {G.shape[1]}, float64, ", end=""
    )
    print(f"{steps.min()} to {steps.max()} steps, {steps.sum()} together")
    print_table(["", "best s", "median s"], [["moments, starts, FISTA", best, median]])
    other, difference = 0, 0.0
    for run_id in range(0, steps.size, COMPARED):
        f, s = divmod(run_id, len(settings))
        host = alone(G[train[f]], Y[train[f]], clf.coupling, *settings[s])
        other += int(host.n_iter != steps[f, s])
        difference = max(difference, float(np.abs(host.P - P[f, s]).max()))
    n = len(range(0, steps.size, COMPARED))
    print(f"{n} problems compared with NumPy: {other} stop at another step, consequents within {difference:.1g}")
