"""Accuracy against size: models that a reader can take in, ours and others', on the same folds.

The size of a model is how many conditions on a feature a reader meets for one label; docs/benchmarks.md says how each
kind of model is counted. Ours are ``clf.shorten(k)``. Others are as in ``_small*.py``: at every size the candidate that
does best on training rows left out is fitted on all of them. Two of five folds, seed 21, all five with ``--full``.
``--cache FILE`` keeps every result as soon as it is there, ours while the package stays as it is; ``--picture FILE``
draws AP. Tables are printed as the documentation has them.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import Options, folds, has_data, print_markdown
from benchmarks._small import candidates
from benchmarks.tables import LEFT_OUT, encoding, read
from mltsk import MLTSKClassifier, evaluate, load_dataset

SETS = ("flags", "emotions", "image", "birds", "cal500", "yeast", "scene", *LEFT_OUT)
SIZES = (1, 2, 3, 5, 8, 12, 20, 30)
MEASURES = {"AP": "AP, the paper's convention", "macro": "AP, mean over labels"}
OURS = "ours"
HERE, ELSEWHERE = (
    ("L1 logistic", "tree per label", "one tree"),
    {"BOOMER": ".venv-boomer", "EBM": ".venv-ebm"},
)
SLOW = ("EBM", "cal500")  # 174 labels × 17 fits each
LEVEL = 0.002
ROOT = Path(__file__).resolve().parent.parent
Found = dict[
    str, dict[str, dict[str, np.ndarray]]
]  # measure -> data -> method -> values at every size and of all


def run(options: Options) -> None:
    if not has_data():
        return
    warnings.simplefilter("ignore")
    found = measured(options)
    for measure, title in MEASURES.items():
        print(
            f"\n{title}; in bold what is first, or level with the first within {LEVEL}\n"
        )
        print_markdown(["data", "model", *SIZES, "all"], _rows(found[measure]))
    for measure, title in MEASURES.items():
        print(f"\n{title}: on how many data sets a model is first or level\n")
        print_markdown(["model", *SIZES], firsts(found[measure]))
        _print_costs(found[measure])
    if options.picture:
        from benchmarks._size_picture import draw

        draw(found["AP"], SIZES, options.picture)


def _rows(found: dict[str, dict[str, np.ndarray]]) -> Iterator[list[str]]:
    for data, each in found.items():
        best, name = _best(each), data
        for method, values in each.items():
            cells = [f"{v:.3f}".lstrip("0") for v in values]
            first = best - values <= LEVEL
            yield [
                name,
                method,
                *(f"**{c}**" if f else c for c, f in zip(cells, first, strict=True)),
            ]
            name = ""


def firsts(found: dict[str, dict[str, np.ndarray]]) -> list[list[str]]:
    """Per method, on how many data sets it is first or level at each size, of how many."""
    rows = []
    for method in (OURS, *HERE, *ELSEWHERE):
        behind = [
            _best(each) - each[method] for each in found.values() if method in each
        ]
        if behind:
            counts = (np.array(behind)[:, :-1] <= LEVEL).sum(axis=0)
            rows.append([method, *(f"{n} of {len(behind)}" for n in counts)])
    return rows


def _best(each: dict[str, np.ndarray]) -> np.ndarray:
    return np.max(list(each.values()), axis=0)


def _print_costs(found: dict[str, dict[str, np.ndarray]]) -> None:
    cost = np.mean(
        [each[OURS][-1] - each[OURS][:-1] for each in found.values()], axis=0
    )
    at = ", ".join(f"{cost[SIZES.index(k)]:.3f} at {k}" for k in (12, 30))
    print(f"ours: mean cost against the full model {at}")


def measured(options: Options) -> Found:
    """Means over folds."""
    found: Found = {measure: {} for measure in MEASURES}
    methods, known = [OURS, *_others()], _Known(options.cache)
    for name in _sets():
        some = [m for m in methods if options.full or (m, name) != SLOW]
        values: dict[str, list[dict[str, list[float]]]] = {
            method: [] for method in some
        }
        for number, fold in enumerate(_folds(name, 5 if options.full else 2)):
            for method in some:
                value = known.get(
                    f"{method}, {name}, fold {number + 1}",
                    partial(_measured, method, *fold),
                )
                values[method].append(value)
        for measure in MEASURES:
            found[measure][name] = {
                m: np.mean([v[measure] for v in each], axis=0)
                for m, each in values.items()
            }
    return found


class _Known:
    """Results by name, kept in a file if there is one; ours count as long as the package is the same."""

    def __init__(self, file: str | None):
        self.file = Path(file) if file else None
        if self.file:
            self.file.parent.mkdir(parents=True, exist_ok=True)
        self.values = (
            json.loads(self.file.read_text())
            if self.file and self.file.is_file()
            else {}
        )
        sources = sorted((ROOT / "src").rglob("*.py"))
        self.state = hashlib.sha256(
            b"".join(path.read_bytes() for path in sources)
        ).hexdigest()[:12]

    def get(
        self, name: str, measure: Callable[[], dict[str, list[float]]]
    ) -> dict[str, list[float]]:
        key = f"{name}, {self.state}" if name.startswith("ours") else name
        if key not in self.values:
            self.values[key] = measure()
            if self.file:
                self.file.write_text(json.dumps(self.values, indent=0))
        print(
            f"{name}: {' '.join(f'{v:.3f}' for v in self.values[key]['AP'])}",
            file=sys.stderr,
            flush=True,
        )
        return self.values[key]


def _others() -> list[str]:
    """Methods at hand; says how to get the others."""
    missing = [place for place in ELSEWHERE.values() if not _python(place).is_file()]
    for place in missing:
        print(
            f"There is no {place}, so its method is left out: `make {place}` makes it."
        )
    if ".venv-ebm" not in missing:
        print(
            "EBM is left out on cal500, 174 labels × 17 fits per fold, unless --full is given."
        )
    return [
        *HERE,
        *(method for method, place in ELSEWHERE.items() if place not in missing),
    ]


def _sets() -> list[str]:
    if _tables().is_dir():
        return list(SETS)
    print(f"There is no folder {_tables()}: tables are left out.")
    return [name for name in SETS if name not in LEFT_OUT]


def _tables() -> Path:
    return Path(os.environ["MLTSK_DATA"]) / "tables"


def _python(place: str) -> Path:
    return ROOT / place / "bin" / "python"


def _folds(
    name: str, how_many: int
) -> Iterator[tuple[Any, np.ndarray, Any, np.ndarray, np.ndarray, np.ndarray]]:
    """(X, Y, X of test rows, their Y, both X as numbers alone) per fold."""
    if name in LEFT_OUT:
        frame, Y = read(_tables(), name)
        for train, test in folds(len(Y), 21)[:how_many]:
            X, X_test = frame.iloc[train], frame.iloc[test]
            encoder = encoding().fit(X)
            yield (
                X,
                Y[train],
                X_test,
                Y[test],
                encoder.transform(X),
                encoder.transform(X_test),
            )
        return
    data = load_dataset(name)
    A, Y = np.asarray(data.X, dtype=float), data.Y.astype(float)
    for train, test in folds(len(Y), 21)[:how_many]:
        yield A[train], Y[train], A[test], Y[test], A[train], A[test]


def _measured(method: str, X, Y, X_test, Y_test, A, A_test) -> dict[str, list[float]]:
    if method != OURS:
        return _other(method, Y, Y_test, A, A_test)
    whole = MLTSKClassifier().fit(X, Y)
    short = [
        whole.shorten(k) for k in reversed(SIZES)
    ]  # the largest first: its choice holds all others
    return _values(
        Y_test, [model.predict_proba(X_test) for model in (*reversed(short), whole)]
    )


def _other(method: str, Y, Y_test, A, A_test) -> dict[str, list[float]]:
    """The candidate that is best on training rows left out, at each size, fitted on all of them."""
    scores, quarters = (
        _scores(method, A, Y, A_test),
        range(4 if Y.size < 10_000 else 1),
    )  # one where four take long
    best = np.zeros(len(SIZES) + 1, dtype=int)
    if len(scores) > 1:
        best = np.mean(
            [_tried(method, A, Y, np.arange(len(Y)) % 4 == q) for q in quarters], axis=0
        ).argmax(axis=0)
    return {
        **_values(Y_test, [scores[c, k] for k, c in enumerate(best)]),
        "chosen": best.tolist(),
    }


def _tried(method: str, A, Y, out) -> np.ndarray:
    """(candidates, sizes + 1): sum of both measures on rows left out."""
    tried = [_values(Y[out], c) for c in _scores(method, A[~out], Y[~out], A[out])]
    return np.array([np.add(values["AP"], values["macro"]) for values in tried])


def _scores(method: str, X, Y, X_test) -> np.ndarray:
    """(candidates, sizes + 1, rows, labels)."""
    if method in HERE:
        return candidates(method, X, Y, X_test, SIZES)
    with tempfile.TemporaryDirectory() as folder:
        fold, out = Path(folder) / "fold.npz", Path(folder) / "out.npy"
        np.savez(fold, X=X, Y=Y, X_test=X_test, sizes=SIZES)
        script, one = (
            ROOT / "benchmarks" / "_small.py",
            {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        command = [
            str(_python(ELSEWHERE[method])),
            str(script),
            method,
            str(fold),
            str(out),
        ]
        subprocess.run(command, env={**os.environ, **one}, check=True)
        return np.load(out)


def _values(Y, scores) -> dict[str, list[float]]:
    """Both measures of each of the scores."""
    return {
        "AP": [float(evaluate(Y, S, convention="paper")["AP"]) for S in scores],
        "macro": [float(evaluate(Y, S, per_label=True)["AP"].mean()) for S in scores],
    }
