"""Accuracy against size: models that a reader can take in, ours and others'.

All are compared on the same folds. The size of a model is how many conditions on a
feature a reader meets for one label; docs/benchmarks.md says how each kind of model is
counted. Ours are ``clf.shorten(k)``. Others are as in ``_small*.py``: at every size the
candidate that does best on training rows left out is fitted on all of them. Two of five
folds, seed 21, all five with ``--full``. ``--cache FILE`` keeps every result as soon as
it is there, ours while the package stays as it is; ``--picture FILE`` draws AP. Tables
are printed as the documentation has them.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import Options, folds, has_data, print_markdown
from benchmarks._small import candidates
from benchmarks.tables import LEFT_OUT, encoding, read
from mltsk import MLTSKClassifier, evaluate, load_dataset

SETS = ("flags", "emotions", "image", "birds", "cal500", "yeast", "scene", *LEFT_OUT)
SIZES = (1, 2, 3, 5, 8, 12, 20, 30)
SEED = 21
MEASURES = {"AP": "AP, the paper's convention", "macro": "AP, mean over labels"}
OURS = "ours"
IN_THIS_PROCESS = ("L1 logistic", "tree per label", "one tree")
ENVIRONMENTS = {"BOOMER": ".venv-boomer", "EBM": ".venv-additive"}
SLOW = ("EBM", "cal500")  # 174 labels × 17 fits each
LEVEL = 0.002
# Cells of Y from which on candidates are chosen on one quarter of the rows: four take
# long.
LARGE_CELLS = 10_000
ROOT = Path(__file__).resolve().parent.parent

Values = dict[str, list[float]]  # measure -> values at every size and of all
MethodValues = dict[str, np.ndarray]  # method -> means of these
DataValues = dict[str, MethodValues]  # data set -> of each method


class Fold(NamedTuple):
    """Training and test rows; X are also there as numbers alone."""

    X: Any
    Y: np.ndarray
    X_test: Any
    Y_test: np.ndarray
    numbers: np.ndarray
    numbers_test: np.ndarray


def run(options: Options) -> None:
    if not has_data():
        return
    warnings.simplefilter("ignore")
    by_measure = measured(options)
    for measure, title in MEASURES.items():
        print(
            f"\n{title}; in bold what is first, "
            f"or level with the first within {LEVEL}\n"
        )
        print_markdown(["data", "model", *SIZES, "all"], table(by_measure[measure]))
    for measure, title in MEASURES.items():
        print(f"\n{title}: on how many data sets a model is first or level\n")
        print_markdown(["model", *SIZES], firsts(by_measure[measure]))
        print_costs(by_measure[measure])
    if options.picture:
        from benchmarks._size_picture import draw

        draw(by_measure["AP"], SIZES, options.picture)


def table(by_data: DataValues) -> Iterator[list[str]]:
    """A row per data set and method, with the name of the set in the first of them."""
    for data, by_method in by_data.items():
        best = best_values(by_method)
        name = data
        for method, values in by_method.items():
            cells = []
            for value, first in zip(values, best, strict=True):
                cell = f"{value:.3f}".lstrip("0")
                cells.append(f"**{cell}**" if first - value <= LEVEL else cell)
            yield [name, method, *cells]
            name = ""


def firsts(by_data: DataValues) -> list[list[str]]:
    """Per method, on how many data sets it is first or level at each size."""
    rows = []
    for method in (OURS, *IN_THIS_PROCESS, *ENVIRONMENTS):
        behind = []
        for by_method in by_data.values():
            if method in by_method:
                behind.append(best_values(by_method) - by_method[method])
        if behind:
            counts = (np.array(behind)[:, :-1] <= LEVEL).sum(axis=0)
            rows.append([method, *(f"{n} of {len(behind)}" for n in counts)])
    return rows


def best_values(by_method: MethodValues) -> np.ndarray:
    return np.max(list(by_method.values()), axis=0)


def print_costs(by_data: DataValues) -> None:
    """What our short models cost against the full one, mean over data sets."""
    costs = []
    for by_method in by_data.values():
        *short, full = by_method[OURS]
        costs.append(full - np.array(short))
    mean = np.mean(costs, axis=0)
    listed = ", ".join(f"{mean[SIZES.index(k)]:.3f} at {k}" for k in (12, 30))
    print(f"ours: mean cost against the full model {listed}")


def measured(options: Options) -> dict[str, DataValues]:
    """Means over folds, by measure."""
    by_measure: dict[str, DataValues] = {measure: {} for measure in MEASURES}
    methods = [OURS, *other_methods()]
    cache = Cache(options.cache)
    n_folds = 5 if options.full else 2
    for name in data_sets():
        values: dict[str, list[Values]] = {}
        for number, fold in enumerate(folds_of(name, n_folds), start=1):
            for method in methods:
                if options.full or (method, name) != SLOW:
                    value = cache.get(method, f"{name}, fold {number}", fold)
                    values.setdefault(method, []).append(value)
        for measure in MEASURES:
            means = {}
            for method, by_fold in values.items():
                means[method] = np.mean([value[measure] for value in by_fold], axis=0)
            by_measure[measure][name] = means
    return by_measure


class Cache:
    """Results by name, kept in a file if there is one.

    Ours count as long as the package is the same.
    """

    def __init__(self, file: str | None) -> None:
        self.file = Path(file) if file else None
        self.values: dict[str, Values] = {}
        if self.file:
            self.file.parent.mkdir(parents=True, exist_ok=True)
        if self.file and self.file.is_file():
            self.values = json.loads(self.file.read_text())
        digest = hashlib.sha256()
        for path in sorted((ROOT / "src").rglob("*.py")):
            digest.update(path.read_bytes())
        self.state = digest.hexdigest()[:12]

    def get(self, method: str, where: str, fold: Fold) -> Values:
        """The result of a method on a fold, measured where it is not there."""
        name = f"{method}, {where}"
        key = f"{name}, {self.state}" if method == OURS else name
        if key not in self.values:
            self.values[key] = values_on(fold, method)
            if self.file:
                self.file.write_text(json.dumps(self.values, indent=0))
        aps = " ".join(f"{ap:.3f}" for ap in self.values[key]["AP"])
        print(f"{name}: {aps}", file=sys.stderr, flush=True)
        return self.values[key]


def other_methods() -> list[str]:
    """Methods at hand; says how to get the others."""
    methods = list(IN_THIS_PROCESS)
    for method, place in ENVIRONMENTS.items():
        if python_of(place).is_file():
            methods.append(method)
        else:
            print(
                f"There is no {place}, so its method is left out: "
                f"`make {place}` makes it."
            )
    if "EBM" in methods:
        print(
            "EBM is left out on cal500, 174 labels × 17 fits per fold, "
            "unless --full is given."
        )
    return methods


def data_sets() -> list[str]:
    """Data sets at hand."""
    if tables_folder().is_dir():
        return list(SETS)
    print(f"There is no folder {tables_folder()}: tables are left out.")
    return [name for name in SETS if name not in LEFT_OUT]


def tables_folder() -> Path:
    return Path(os.environ["MLTSK_DATA"]) / "tables"


def python_of(place: str) -> Path:
    return ROOT / place / "bin" / "python"


def folds_of(name: str, n_folds: int) -> Iterator[Fold]:
    """The first folds of a data set or of a table."""
    if name in LEFT_OUT:
        frame, Y = read(tables_folder(), name)
        for train, test in folds(len(Y), SEED)[:n_folds]:
            X = frame.iloc[train]
            X_test = frame.iloc[test]
            encoder = encoding().fit(X)
            yield Fold(
                X=X,
                Y=Y[train],
                X_test=X_test,
                Y_test=Y[test],
                numbers=encoder.transform(X),
                numbers_test=encoder.transform(X_test),
            )
        return
    data = load_dataset(name)
    A = np.asarray(data.X, dtype=float)
    Y = data.Y.astype(float)
    for train, test in folds(len(Y), SEED)[:n_folds]:
        yield Fold(
            X=A[train],
            Y=Y[train],
            X_test=A[test],
            Y_test=Y[test],
            numbers=A[train],
            numbers_test=A[test],
        )


def values_on(fold: Fold, method: str) -> Values:
    """What a method reaches on a fold."""
    if method == OURS:
        return our_values(fold)
    return other_values(method, fold)


def our_values(fold: Fold) -> Values:
    """Our short models and the full one."""
    whole = MLTSKClassifier().fit(fold.X, fold.Y)
    # the largest first: its choice holds all others
    short = [whole.shorten(k) for k in reversed(SIZES)]
    models = [*reversed(short), whole]
    scores = [model.predict_proba(fold.X_test) for model in models]
    return values_of(fold.Y_test, scores)


def other_values(method: str, fold: Fold) -> Values:
    """The candidate that is best on training rows left out, at each size.

    It is fitted on all of them.
    """
    A = fold.numbers
    Y = fold.Y
    scores = candidate_scores(method, A, Y, fold.numbers_test)
    best = np.zeros(len(SIZES) + 1, dtype=int)
    if len(scores) > 1:
        n_quarters = 4 if Y.size < LARGE_CELLS else 1
        quarter = np.arange(len(Y)) % 4
        sums = [left_out_sums(method, A, Y, quarter == q) for q in range(n_quarters)]
        best = np.mean(sums, axis=0).argmax(axis=0)
    chosen = [scores[candidate, k] for k, candidate in enumerate(best)]
    return {**values_of(fold.Y_test, chosen), "chosen": best.tolist()}


def left_out_sums(method: str, A, Y, left_out) -> np.ndarray:
    """(candidates, sizes + 1): sum of both measures on rows left out."""
    sums = []
    for scores in candidate_scores(method, A[~left_out], Y[~left_out], A[left_out]):
        values = values_of(Y[left_out], scores)
        sums.append(np.add(values["AP"], values["macro"]))
    return np.array(sums)


def candidate_scores(method: str, X, Y, X_test) -> np.ndarray:
    """(candidates, sizes + 1, rows, labels)."""
    if method in IN_THIS_PROCESS:
        return candidates(method, X, Y, X_test, SIZES)
    script = ROOT / "benchmarks" / "_small.py"
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        fold = Path(folder) / "fold.npz"
        out = Path(folder) / "out.npy"
        np.savez(fold, X=X, Y=Y, X_test=X_test, sizes=SIZES)
        command = (python_of(ENVIRONMENTS[method]), script, method, fold, out)
        subprocess.run(
            [str(word) for word in command], env=os.environ | one_thread, check=True
        )
        return np.load(out)


def values_of(Y, all_scores) -> Values:
    """Both measures of each of the scores."""
    values: Values = {"AP": [], "macro": []}
    for scores in all_scores:
        metrics = evaluate(Y, scores, convention="paper")
        by_label = evaluate(Y, scores, per_label=True)
        values["AP"].append(float(metrics["AP"]))
        values["macro"].append(float(by_label["AP"].mean()))
    return values
