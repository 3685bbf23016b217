"""A default fit on 1,000,000 × 500 samples with 50 labels in single precision.

Timed: `MLTSKClassifier().fit` with tensors that lie on the device, and prediction of
all rows. Compared: fits on the first 20,000 rows with NumPy on the host.
"""

import warnings
from itertools import product

import numpy as np
import torch

from benchmarks import Options, print_table, timed
from benchmarks.gpu import best_and_median, seconds
from mltsk import MLTSKClassifier

N = 1_000_000
D = 500
L = 50
N_COMPARED = 20_000


def sample(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Samples around 30 centres, and labels linear in them, with noise.

    Labels differ on both sides of a plane.
    """
    draw = torch.Generator("cuda").manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=draw, device="cuda")

    noise = normal(n, D)
    centers = normal(30, D)
    which = torch.randint(30, (n,), generator=draw, device="cuda")
    X = noise + 0.7 * centers[which]
    side = (X @ normal(D) > 0)[:, None]
    score = torch.where(side, X @ normal(D, L), X @ normal(D, L)) / D**0.5
    return X, (score + 0.5 * normal(n, L) > 0.8).float()


def fit(X, Y) -> MLTSKClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MLTSKClassifier().fit(X, Y)


def compare(
    X: torch.Tensor, Y: torch.Tensor, n_features: int, dtype: torch.dtype
) -> list[object]:
    """A fit on the device next to one with NumPy: what they choose, scores, labels."""
    X = X[:N_COMPARED, :n_features].to(dtype)
    Y = Y[:N_COMPARED]
    X_host = X.cpu().numpy()
    host, took = timed(fit, X_host, Y.cpu().numpy())
    device = fit(X, Y)
    host_scores = host.decision_function(X_host)
    device_scores = device.decision_function(X).cpu().numpy()
    differ = (host_scores > 0) != (device_scores > 0)
    return [
        f"{n_features} features, {str(dtype).removeprefix('torch.')}",
        f"{took:.1f}",
        f"{host.n_rules_}, {host.ridge_:g} / {device.n_rules_}, {device.ridge_:g}",
        f"{np.abs(host_scores - device_scores).max():.1e}",
        f"{np.mean(differ):.1e}",
    ]


def run(options: Options) -> None:
    X, Y = sample(N)
    torch.cuda.reset_peak_memory_stats()
    fits = best_and_median(seconds(lambda: fit(X, Y), 3))
    memory = torch.cuda.max_memory_allocated() / 1e9
    clf = fit(X, Y)
    predictions = best_and_median(seconds(lambda: clf.predict(X), 3))
    print(
        f"{N:,} × {D} samples, {L} labels, float32: "
        f"{clf.n_rules_} exceptions of order {clf.order_}"
    )
    print_table(
        ["", "best s", "median s"],
        [["fit, tensors", *fits], ["predict all rows, tensors", *predictions]],
    )
    print(f"peak memory of the device {memory:.1f} GB")
    print(f"the first {N_COMPARED:,} rows on the device next to NumPy on the host:")
    rows = []
    for n_features, dtype in product((200, D), (torch.float32, torch.float64)):
        rows.append(compare(X, Y, n_features, dtype))
    print_table(
        ["", "host s", "rules, ridge", "scores apart", "labels that differ"], rows
    )
