"""How near a large fit comes to what the machine can do: the flops of its products, at the rate of one large product.

Products and factorisations of a fit are counted by formula as they are called, in single and in double precision apart;
the time that they would take at the rate of a square product of 2,000 rows and columns, measured before and after in
the same run, is divided by the time that the fit took. Processor time, on one thread, so that a busy machine counts
little. ``--full``: 20,000 × 500 with 20 rules and 50 labels; otherwise 8,000 × 200 with 20 rules and 20 labels.
"""

import time
import warnings
from collections import Counter
from functools import wraps

import numpy as np
from scipy import linalg
from threadpoolctl import threadpool_limits

from benchmarks import Options, print_table
from mltsk import MLTSKClassifier
from mltsk.core.fuzzymap import FuzzyMap
from mltsk.fit import ridge


def run(options: Options) -> None:
    warnings.simplefilter("ignore")
    N, D, L = (20_000, 500, 50) if options.full else (8_000, 200, 20)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D))
    Y = (X @ rng.standard_normal((D, L)) / np.sqrt(D) + 0.5 * rng.standard_normal((N, L)) > 0.5).astype(np.int8)
    with threadpool_limits(1):
        rates = gemm_rates()
        with counted() as (flops, calls):
            start = time.process_time()
            MLTSKClassifier().fit(X, Y)
            seconds = time.process_time() - start
        rates = {kind: max(rates[kind], again) for kind, again in gemm_rates().items()}
    ideal = sum(flops[kind] / rates[kind] for kind in rates)
    print(f"{N} × {D}, 20 rules, {L} labels, one thread; {dict(calls)}")
    rows = [[kind, f"{rates[kind] / 1e9:.0f}", f"{flops[kind] / 1e9:.0f}", f"{flops[kind] / rates[kind]:.2f}"] for kind in rates]  # fmt: skip  # noqa: E501
    print_table(["precision", "product GFlop/s", "GFlop of the fit", "s at that rate"], rows)
    print(f"fit: {seconds:.2f} s of processor time, {100 * ideal / seconds:.0f} % of the limit")


def gemm_rates() -> dict[str, float]:
    """Flops a second of a square product, the best of three, in both precisions."""
    found = {}
    for kind in ("float32", "float64"):
        A, best = np.ones((2000, 2000), kind), np.inf
        for _ in range(3):
            start = time.process_time()
            A @ A
            best = min(best, time.process_time() - start)
        found[kind] = 2 * 2000**3 / best
    return found


class counted:
    """While entered, products and factorisations add their flops to a counter by precision: (flops, calls)."""

    def __enter__(self):
        self.flops, self.calls, self.kept = Counter(), Counter(), []
        size = lambda G, A: 2.0 * G.X.shape[0] * G.X.shape[1] * G.n_rules * A.shape[1]  # noqa: E731
        square = lambda G, other=None: 2.0 * G.X.shape[0] ** 2 * (G.X.shape[1] + G.n_rules)  # noqa: E731
        self._wrap(FuzzyMap, "__matmul__", size)
        self._wrap(FuzzyMap, "transpose_matmul", size)
        self._wrap(FuzzyMap, "gram", lambda G: 1.0 * G.shape[0] * G.shape[1] ** 2)
        self._wrap(FuzzyMap, "dual_gram", square)
        # tridiagonal reduction 4/3, divide and conquer 4/3 (at most), back-transformation 2
        self._wrap(ridge, "eigh", lambda A, **_: 14 / 3 * len(A) ** 3)
        self._wrap(linalg, "cho_factor", lambda A, **_: len(A) ** 3 / 3)
        return self.flops, self.calls

    def __exit__(self, *_):
        for owner, name, function in self.kept:
            setattr(owner, name, function)

    def _wrap(self, owner, name, flops):
        function = getattr(owner, name)
        self.kept.append((owner, name, function))

        @wraps(function)
        def counting(*arguments, **options):
            result = function(*arguments, **options)
            kind = str(np.asarray(result[0] if isinstance(result, tuple) else result).dtype)
            self.flops[kind] += flops(*arguments, **options)
            self.calls[name] += 1
            return result

        setattr(owner, name, counting)
