"""Runs the benchmarks that are named, or all of them."""

import argparse
import importlib
import pkgutil
import sys
import time
from pathlib import Path

import benchmarks
from benchmarks import Options

# Tables of the docs: accuracy, and what needs a quiet machine.
ON_REQUEST = (
    "cluster",
    "constraints",
    "defaults",
    "flipped_labels",
    "fresh_folds",
    "fuzzy",
    "growth",
    "honesty",
    "rivals",
    "section_iv_grid",
    "sites",
    "size",
    "sizes",
    "sparse_fit",
    "stratification",
    "tables",
    "tuned_baselines",
)
PARTS = ("small", "large", "sparse", "made-up", "noise", "weak", "strong")
RESULTS = Path(__file__).resolve().parents[1] / "docs" / "results"


def benchmark_names() -> list[str]:
    modules = pkgutil.iter_modules(benchmarks.__path__)
    return [module.name for module in modules if not module.name.startswith("_")]


def read_arguments() -> argparse.Namespace:
    known = benchmark_names()
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=benchmarks.__doc__
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="name",
        help=f"what to run: {', '.join(known)}; by default all but "
        f"{', '.join(ON_REQUEST)}, which take ten minutes",
    )
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
        "--only",
        choices=PARTS,
        help="growth: one of its tables alone; honesty: the cells of one signal",
    )
    add_arguments_of_rivals(parser)
    parser.add_argument(
        "--keep",
        action="store_true",
        help="writes the tables to docs/results, for pages to show",
    )
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(known))
    if unknown:
        parser.error(
            f"no benchmark is called {', '.join(unknown)}; there are {', '.join(known)}"
        )
    if arguments.threads is not None and arguments.threads < 1:
        parser.error("--threads must be at least 1")
    return arguments


def add_arguments_of_rivals(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--store",
        metavar="FOLDER",
        default=Options.store,
        help="rivals: where results and predictions are kept, to go on with",
    )
    parser.add_argument(
        "--methods", metavar="NAMES", help='rivals: these methods, separated by ";"'
    )
    parser.add_argument(
        "--sets", metavar="NAMES", help="rivals: these data sets, separated by commas"
    )
    parser.add_argument(
        "--limit",
        type=float,
        metavar="S",
        default=Options.limit,
        help="rivals: processor seconds that a method has for a fold",
    )
    parser.add_argument(
        "--show",
        action="store_true",
        help="rivals: measures nothing, prints what the store has",
    )


def main() -> int:
    arguments = read_arguments()
    options = Options(
        full=arguments.full,
        threads=arguments.threads,
        cache=arguments.cache,
        picture=arguments.picture,
        only=arguments.only,
        store=arguments.store,
        methods=arguments.methods,
        sets=arguments.sets,
        limit=arguments.limit,
        show=arguments.show,
    )
    by_default = [name for name in benchmark_names() if name not in ON_REQUEST]
    for name in arguments.names or by_default:
        print(f"\n== {name}", flush=True)
        start = time.perf_counter()
        benchmarks.TABLES.clear()
        importlib.import_module(f"benchmarks.{name}").run(options)
        print(f"({time.perf_counter() - start:.0f} s)", flush=True)
        if arguments.keep and benchmarks.TABLES:
            RESULTS.mkdir(exist_ok=True)
            text = "\n\n".join(benchmarks.TABLES) + "\n"
            (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
