"""Runs the benchmarks that are named, or all of them."""

import argparse
import importlib
import pkgutil
import sys
import time
from pathlib import Path

import benchmarks
from benchmarks import Options

ON_REQUEST = (
    "cluster",
    "defaults",
    "fresh_folds",
    "fuzzy",
    "rivals",
    "section_iv_grid",
    "size",
    "sparse_fit",
    "stratification",
    "tables",
    "tuned_baselines",
)  # tables of the docs: accuracy, and what needs a quiet machine
RESULTS = Path(__file__).resolve().parents[1] / "docs" / "results"


def names() -> list[str]:
    return [
        module.name
        for module in pkgutil.iter_modules(benchmarks.__path__)
        if not module.name.startswith("_")
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=benchmarks.__doc__
    )
    told = f"what to run: {', '.join(names())}; by default all but {', '.join(ON_REQUEST)}, which take ten minutes"
    parser.add_argument("names", nargs="*", metavar="name", help=told)
    parser.add_argument(
        "--full", action="store_true", help="whole jobs instead of samples of them"
    )
    parser.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="cores to use; by default chosen by measurement",
    )
    parser.add_argument(
        "--cache",
        metavar="FILE",
        help="size: keeps what other methods reach, to be read next time",
    )
    parser.add_argument(
        "--picture", metavar="FILE", help="size: draws its figures, as SVG"
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="writes the tables to docs/results, for pages to show",
    )
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(names()))
    if unknown:
        parser.error(
            f"no benchmark is called {', '.join(unknown)}; there are {', '.join(names())}"
        )
    if arguments.threads is not None and arguments.threads < 1:
        parser.error("--threads must be at least 1")
    options = Options(
        arguments.full, arguments.threads, arguments.cache, arguments.picture
    )
    for name in arguments.names or [name for name in names() if name not in ON_REQUEST]:
        print(f"\n== {name}", flush=True)
        start = time.perf_counter()
        benchmarks.TABLES.clear()
        importlib.import_module(f"benchmarks.{name}").run(options)
        print(f"({time.perf_counter() - start:.0f} s)", flush=True)
        if arguments.keep and benchmarks.TABLES:
            RESULTS.mkdir(exist_ok=True)
            (RESULTS / f"{name}.md").write_text(
                "\n\n".join(benchmarks.TABLES) + "\n", encoding="utf-8"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
