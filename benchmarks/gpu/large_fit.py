"""A default fit on 1,000,000 × 500 samples with 20 rules and 50 labels in single precision, and where its time goes.

Timed: `MLTSKClassifier(n_rules=20).fit` with tensors that lie on the device, the same with NumPy arrays and
``device="cuda"`` (checks on the host and the way to the device included), and prediction of all rows. Compared: fits
on the first 20,000 rows with NumPy on the host. With 200 features both sides take the same way and differ by rounding;
with 500 the host has no room for the Gram matrix and solves without it, so the two agree to the solver's tolerance.
"""

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import torch

from benchmarks import Options, print_table
from benchmarks.gpu import best_and_median, seconds
from mltsk import MLTSKClassifier

N, D, L, K = 1_000_000, 500, 50, 20
SMALL = 20_000
PHASES = {
    "checks": "mltsk.estimators.classifier.MLTSKClassifier._validate_fit",
    "percentile scale": "mltsk.estimators.classifier.fit_scale",
    "rules": "mltsk.estimators.classifier.fit_rules",
    "leave-one-out": "mltsk.core.fit.resolve_weights",
    "moments": "mltsk.core.fit.quadratic",
    "ridge start": "mltsk.core.fit.ridge_start",
    "solver": "mltsk.core.fit.fista",
    "what is stored": "mltsk.estimators.classifier.MLTSKClassifier._store",
}


def sample(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Samples around 30 centres; labels linear in them, differently on both sides of a plane, with noise."""
    draw = torch.Generator("cuda").manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=draw, device="cuda")

    X = normal(n, D) + 0.7 * normal(30, D)[torch.randint(30, (n,), generator=draw, device="cuda")]
    side = (X @ normal(D) > 0)[:, None]
    score = torch.where(side, X @ normal(D, L), X @ normal(D, L)) / D**0.5
    return X, (score + 0.5 * normal(n, L) > 0.8).float()


@contextmanager
def phases(spent: dict[str, float]) -> Iterator[None]:
    """Adds up the seconds inside each of the functions in PHASES, waiting for the device around it."""

    def timed(name, function):
        def call(*arguments, **options):
            torch.cuda.synchronize()
            start = time.perf_counter()
            result = function(*arguments, **options)
            torch.cuda.synchronize()
            spent[name] = spent.get(name, 0.0) + time.perf_counter() - start
            return result

        return call

    from contextlib import ExitStack
    from importlib import import_module

    with ExitStack() as stack:
        for name, path in PHASES.items():
            module, _, function = path.rpartition(".")
            owner = MLTSKClassifier if module.endswith("MLTSKClassifier") else import_module(module)
            stack.enter_context(patch.object(owner, function, timed(name, getattr(owner, function))))
        yield


def fit(X, Y, **options) -> MLTSKClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MLTSKClassifier(n_rules=K, **options).fit(X, Y)


def compare(X: torch.Tensor, Y: torch.Tensor, n_features: int, dtype: torch.dtype) -> list[object]:
    """A fit on the device beside one with NumPy: coefficients, scores, labels."""
    X, Y = X[:SMALL, :n_features].to(dtype), Y[:SMALL]
    start = time.perf_counter()
    host = fit(X.cpu().numpy(), Y.cpu().numpy())
    took = time.perf_counter() - start
    device = fit(X, Y)
    ours, theirs = host.decision_function(X.cpu().numpy()), device.decision_function(X).cpu().numpy()
    return [
        f"{n_features} features, {str(dtype).removeprefix('torch.')}",
        f"{took:.1f}",
        f"{host.n_iter_} / {device.n_iter_}",
        f"{np.abs(host.coef_ - device.coef_).max() / np.abs(host.coef_).max():.1e}",
        f"{np.abs(ours - theirs).max():.1e}",
        f"{np.mean((ours > 0) != (theirs > 0)):.1e}",
    ]


def run(options: Options) -> None:
    X, Y = sample(N)
    torch.cuda.reset_peak_memory_stats()
    spent: dict[str, float] = {}
    tensors = best_and_median(seconds(lambda: fit(X, Y), 3))
    memory = torch.cuda.max_memory_allocated() / 1e9
    with phases(spent):
        clf = fit(X, Y)
    predict = best_and_median(seconds(lambda: clf.predict(X), 3))
    Xn, Yn = X.cpu().numpy(), Y.cpu().numpy()
    arrays = best_and_median(seconds(lambda: fit(Xn, Yn, device="cuda"), 1))
    print(f"fit of {N:,} × {D} samples, {K} rules, {L} labels, K(D+1) = {K * (D + 1):,}, float32; {clf.n_iter_} steps")
    rows = [["fit, tensors", *tensors], ["fit, NumPy arrays", *arrays], ["predict all rows, tensors", *predict]]
    print_table(["", "best s", "median s"], rows)
    print(f"peak memory of the device {memory:.1f} GB; by part: ", end="")
    print(", ".join(f"{name} {t:.2f} s" for name, t in spent.items()))
    accuracy = float(((clf.decision_function(X) > 0) == (Y > 0)).float().mean())
    print(f"labels right on the training rows {accuracy:.4f}, base rate {float(Y.mean()):.4f}")
    print(f"the first {SMALL:,} rows on the device beside NumPy on the host:")
    print_table(
        ["largest difference of", "host s", "steps", "coefficients", "scores", "labels"],
        [compare(X, Y, n, dtype) for n in (200, D) for dtype in (torch.float32, torch.float64)],
    )
