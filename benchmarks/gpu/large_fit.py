"""A default fit on 1,000,000 × 500 samples with 50 labels in single precision.

Timed: `MLTSKClassifier().fit` with tensors that lie on the device, and prediction of all rows. Compared: fits on the
first 20,000 rows with NumPy on the host.
"""

import time
import warnings

import numpy as np
import torch

from benchmarks import Options, print_table
from benchmarks.gpu import best_and_median, seconds
from mltsk import MLTSKClassifier

N, D, L = 1_000_000, 500, 50
SMALL = 20_000


def sample(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Samples around 30 centres; labels linear in them, differently on both sides of a plane, with noise."""
    draw = torch.Generator("cuda").manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=draw, device="cuda")

    X = (
        normal(n, D)
        + 0.7 * normal(30, D)[torch.randint(30, (n,), generator=draw, device="cuda")]
    )
    side = (X @ normal(D) > 0)[:, None]
    score = torch.where(side, X @ normal(D, L), X @ normal(D, L)) / D**0.5
    return X, (score + 0.5 * normal(n, L) > 0.8).float()


def fit(X, Y, **options) -> MLTSKClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MLTSKClassifier(**options).fit(X, Y)


def compare(
    X: torch.Tensor, Y: torch.Tensor, n_features: int, dtype: torch.dtype
) -> list[object]:
    """A fit on the device next to one with NumPy: what they choose, scores, labels."""
    X, Y = X[:SMALL, :n_features].to(dtype), Y[:SMALL]
    start = time.perf_counter()
    host = fit(X.cpu().numpy(), Y.cpu().numpy())
    took = time.perf_counter() - start
    device = fit(X, Y)
    ours, theirs = (
        host.decision_function(X.cpu().numpy()),
        device.decision_function(X).cpu().numpy(),
    )
    return [
        f"{n_features} features, {str(dtype).removeprefix('torch.')}",
        f"{took:.1f}",
        f"{host.n_rules_}, {host.ridge_:g} / {device.n_rules_}, {device.ridge_:g}",
        f"{np.abs(ours - theirs).max():.1e}",
        f"{np.mean((ours > 0) != (theirs > 0)):.1e}",
    ]


def run(options: Options) -> None:
    X, Y = sample(N)
    torch.cuda.reset_peak_memory_stats()
    fits = best_and_median(seconds(lambda: fit(X, Y), 3))
    memory = torch.cuda.max_memory_allocated() / 1e9
    clf = fit(X, Y)
    predict = best_and_median(seconds(lambda: clf.predict(X), 3))
    print(
        f"{N:,} × {D} samples, {L} labels, float32: {clf.n_rules_} exceptions of order {clf.order_}"
    )
    print_table(
        ["", "best s", "median s"],
        [["fit, tensors", *fits], ["predict all rows, tensors", *predict]],
    )
    print(f"peak memory of the device {memory:.1f} GB")
    print(f"the first {SMALL:,} rows on the device next to NumPy on the host:")
    rows = [
        compare(X, Y, n, dtype)
        for n in (200, D)
        for dtype in (torch.float32, torch.float64)
    ]
    print_table(
        ["", "host s", "rules, ridge", "scores apart", "labels that differ"], rows
    )
