"""What one GPU does: the authors' CAL500 grid in one batch, and a large default fit.

Times are of a warm device: every function runs once before the clock starts, the device
is waited for before it is read, and the best and the median of some rounds are printed.
``python -m benchmarks gpu`` runs all.
"""

import statistics
import time
from collections.abc import Callable

from benchmarks import Options


def seconds(function: Callable[[], object], rounds: int) -> list[float]:
    """Seconds of some rounds of a function on the device.

    One round before them is not counted.
    """
    import torch

    times = []
    for _ in range(rounds + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        function()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return times[1:]


def best_and_median(times: list[float]) -> tuple[float, float]:
    return min(times), statistics.median(times)


def device_name() -> str | None:
    """The first CUDA device and the torch that sees it, or None."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    return f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}"


def run(options: Options) -> None:
    if device_name() is None:
        print("skipped: torch is not here or sees no CUDA device")
        return
    from benchmarks.gpu import cal500_grid, large_fit

    print(device_name())
    cal500_grid.run(options)
    large_fit.run(options)
