"""As fine as the rows allow: accuracy, time and memory from 400 to a million rows.

Four tables, all with two threads unless ``--threads`` says otherwise:

* small tables, pbc (with stage) and nhefs (words in order): macro AP over 5 folds × 3
  seeds, next to logistic regression whose weight is chosen on inner folds;
* large tables, stops, visits and crashes: macro AP of the first of five folds (seed 3),
  and time, next to scikit-learn's HistGradientBoosting at its defaults, one per label;
  visits once more as the mean of five folds that keep the rows of a person together;
* sparse sets: AP of the first of five folds (seed 0), time and peak memory, next to
  one-vs-rest liblinear;
* made-up rows, dense × 100 and sparse × 1,000: seconds of a fit in a process of its
  own, and the exponent of time in the number of rows. 16,000 × 400 and 40,000 × 300
  are there because OpenBLAS once ended the process on them.

Without ``--full`` there is one seed for small tables, and made-up rows end at 100,000.
``--only small`` prints the first table alone, ``large``, ``sparse`` and ``made-up`` the
others.
"""

import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import Options, folds, has_data, print_table
from benchmarks.tables import encoding, logistic, macro
from mltsk import MLTSKClassifier, evaluate, load_dataset

SMALL = {"pbc": ["patient"], "nhefs": ["seqn"]}
FIRST_LABEL = {"pbc": "ascites", "nhefs": "asthma"}  # labels go from here to the end
# Words that have an order, which the publishers of nhefs give.
IN_ORDER = {
    "education": [
        "8th grade or less",
        "high school dropout",
        "high school",
        "college dropout",
        "college or more",
    ],
    "alcoholfreq": [
        "none last year",
        "less than 12 times a year",
        "1-4 times a month",
        "2-3 times a week",
        "almost every day",
    ],
    "active": ["inactive", "moderately active", "very active"],
    "exercise": ["little or none", "moderate", "much"],
}
LARGE = {
    "stops": ["person searched", "vehicle searched", "citation"],
    "visits": ["out of work", "self employed", "doctor", "many visits", "hospital"],
    "crashes": ["dead", "belted", "deployed"],
}
IDENTIFIERS = ["stop", "date", "person", "case"]
SPARSE = ("rcv1s1", "bibtex", "corel16k1", "large/corel16k2", "large/20ng")
SEED_OF_SMALL = 21  # and the two after it
SEED_OF_LARGE = 3
MADE_UP_ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
MADE_UP_LIMIT = 100_000  # without --full
ONCE_DEADLY = ((16_000, 400), (40_000, 300))
CODE = """
import json, resource, sys, time, warnings
import numpy as np
from scipy import sparse
from mltsk import MLTSKClassifier

warnings.simplefilter("ignore")
n, n_features, kind = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
rng = np.random.default_rng(0)
weights = rng.standard_normal((n_features, 5))
if kind == "sparse":
    X = sparse.random_array((n, n_features), density=0.01, rng=rng, format="csr")
    scores = X @ weights
else:
    X = rng.standard_normal((n, n_features))
    scores = X @ weights / np.sqrt(n_features)
Y = (scores + 0.3 * rng.standard_normal(scores.shape) > 0.5).astype(np.int8)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
MLTSKClassifier().fit(X, Y)
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([seconds, (peak - before) / 1024]))
"""


def run(options: Options) -> None:
    if not has_data():
        return
    warnings.simplefilter("ignore")
    threads = options.threads or 2
    print(f"{threads} threads; load {os.getloadavg()[0]:.1f}")
    for part, print_part in PARTS.items():
        if options.only in (None, part):
            print_part(options, threads)


def small_tables(options: Options, threads: int) -> None:
    n_seeds = 3 if options.full else 1
    print_table(
        ["small table", "rows", "macro AP", "of logistic regression"],
        [small(name, n_seeds) for name in SMALL],
    )


def large_tables(options: Options, threads: int) -> None:
    print_table(
        ["large table", "rows", "macro AP", "of boosting", "s", "s of boosting"],
        [large(name) for name in LARGE] + [large_by_person("visits")],
    )


def sparse_sets(options: Options, threads: int) -> None:
    print_table(
        ["sparse set", "rows", "AP", "s", "s of liblinear", "times", "peak GB"],
        [of_sparse_set(name, threads) for name in SPARSE],
    )


def tables_folder() -> Path:
    return Path(os.environ["MLTSK_DATA"]) / "tables"


def small(name: str, n_seeds: int) -> list[object]:
    """Macro AP of a small table, ours and that of logistic regression."""
    frame = pd.read_csv(tables_folder() / f"{name}.csv").drop(columns=SMALL[name])
    first = frame.columns.get_loc(FIRST_LABEL[name])
    X = in_order(frame.iloc[:, :first])
    Y = frame.iloc[:, first:].to_numpy(float)
    values = []
    for seed in range(SEED_OF_SMALL, SEED_OF_SMALL + n_seeds):
        for train, test in folds(len(X), seed):
            clf = MLTSKClassifier().fit(X.iloc[train], Y[train])
            numbers = with_codes(X)
            encoder = encoding().fit(numbers.iloc[train])
            encoded = encoder.transform(numbers.iloc[train])
            theirs = logistic(encoded, Y[train], encoder.transform(numbers.iloc[test]))
            ours = clf.predict_proba(X.iloc[test])
            values.append([macro(Y[test], ours)[0], macro(Y[test], theirs)[0]])
    return [name, len(X), *(f"{mean:.4f}" for mean in np.mean(values, axis=0))]


def in_order(X: pd.DataFrame) -> pd.DataFrame:
    """A table whose words have the order that they are known to have."""
    ordered = {
        feature: pd.Categorical(X[feature], words, ordered=True)
        for feature, words in IN_ORDER.items()
        if feature in X
    }
    return X.assign(**ordered)


def with_codes(X: pd.DataFrame) -> pd.DataFrame:
    """Words in order as numbers 0, 1, …, for methods that know numbers alone."""
    codes = {}
    for feature in X.select_dtypes("category"):
        column = X[feature].cat
        codes[feature] = column.codes.astype(float).where(column.codes >= 0)
    return X.assign(**codes)


def read_large(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Features, and labels with NaN where they were not observed."""
    frame = pd.read_csv(tables_folder() / f"{name}.csv.gz")
    labels = frame[LARGE[name]].replace({"yes": 1, "YES": 1, "no": 0, "NO": 0})
    left_out = [column for column in IDENTIFIERS if column in frame]
    return frame.drop(columns=LARGE[name] + left_out), labels.to_numpy(float)


def large(name: str) -> list[object]:
    """Macro AP and time of a large table, ours and those of boosted trees."""
    X, Y = read_large(name)
    train, test = folds(len(X), SEED_OF_LARGE)[0]
    start = time.perf_counter()
    clf = MLTSKClassifier().fit(X.iloc[train], Y[train])
    seconds = time.perf_counter() - start
    ours = macro(Y[test], clf.predict_proba(X.iloc[test]))[0]
    start = time.perf_counter()
    theirs = macro(Y[test], boosted(X, Y, train, test))[0]
    theirs_seconds = time.perf_counter() - start
    return [name, len(X), f"{ours:.4f}", f"{theirs:.4f}", seconds, theirs_seconds]


def large_by_person(name: str) -> list[object]:
    """Macro AP and time over folds of whole persons, ours and boosted trees."""
    from sklearn.model_selection import GroupKFold

    X, Y = read_large(name)
    persons = pd.read_csv(tables_folder() / f"{name}.csv.gz", usecols=["person"])
    splitter = GroupKFold(5, shuffle=True, random_state=SEED_OF_LARGE)
    results = []
    for train, test in splitter.split(X, Y, persons["person"]):
        start = time.perf_counter()
        clf = MLTSKClassifier().fit(X.iloc[train], Y[train])
        seconds = time.perf_counter() - start
        ours = macro(Y[test], clf.predict_proba(X.iloc[test]))[0]
        start = time.perf_counter()
        theirs = macro(Y[test], boosted(X, Y, train, test))[0]
        results.append([ours, theirs, seconds, time.perf_counter() - start])
    ours, theirs, seconds, theirs_seconds = np.mean(results, axis=0)
    row = f"{name}, persons kept together"
    return [row, len(X), f"{ours:.4f}", f"{theirs:.4f}", seconds, theirs_seconds]


def boosted(X, Y, train, test) -> np.ndarray:
    """Probabilities by boosted trees, label by label on observed rows."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    words = X.select_dtypes(exclude="number").columns
    X = X.astype(dict.fromkeys(words, "category"))
    columns = []
    for y in Y.T:
        observed = train[np.isfinite(y[train])]
        model = HistGradientBoostingClassifier(random_state=0)
        model.fit(X.iloc[observed], y[observed])
        columns.append(model.predict_proba(X.iloc[test])[:, 1])
    return np.stack(columns, axis=1)


def of_sparse_set(name: str, threads: int) -> list[object]:
    """AP, time and peak memory of a sparse set, in a process of its own."""
    code = f"from benchmarks.growth import sparse_fit; sparse_fit({name!r})"
    n_rows, score, seconds, peak, liblinear = in_child(["-c", code], threads)
    times = seconds / liblinear
    return [name, n_rows, f"{score:.4f}", seconds, liblinear, times, peak]


def sparse_fit(name: str) -> None:
    """Print what a fit to the first fold of a sparse set reaches, as JSON."""
    import resource

    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.preprocessing import normalize

    warnings.simplefilter("ignore")
    data = load_dataset(Path(os.environ["MLTSK_DATA"]) / f"{name}.npz")
    Y = np.asarray(data.Y)
    train, test = folds(len(Y))[0]
    start = time.perf_counter()
    clf = MLTSKClassifier().fit(data.X[train], Y[train])
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    score = evaluate(Y[test], clf.decision_function(data.X[test]))["AP"]
    start = time.perf_counter()
    linear = LogisticRegression(solver="liblinear")
    OneVsRestClassifier(linear).fit(normalize(data.X[train]), Y[train])
    liblinear = time.perf_counter() - start
    print(json.dumps([len(Y), float(score), seconds, peak, liblinear]))


def made_up_rows(options: Options, threads: int) -> None:
    """Time and memory of fits to made-up rows, and the exponent of time."""
    limit = MADE_UP_ROWS[-1] if options.full else MADE_UP_LIMIT
    rows = []
    for kind, n_features in (("dense", 100), ("sparse", 1_000)):
        sizes = [n for n in MADE_UP_ROWS if n <= limit]
        points = [made_up_fit(n, n_features, kind, threads) for n in sizes]
        for n, (seconds, peak) in zip(sizes, points, strict=True):
            rows.append([f"{kind} {n:,} × {n_features}", seconds, f"{peak:.0f}"])
        slope = np.polyfit(np.log(sizes), np.log([point[0] for point in points]), 1)[0]
        rows.append([f"{kind}: exponent of time", f"{slope:.2f}", ""])
    for n, n_features in ONCE_DEADLY:
        seconds, peak = made_up_fit(n, n_features, "dense", threads)
        rows.append([f"dense {n:,} × {n_features}", seconds, f"{peak:.0f}"])
    print_table(["made-up rows", "s", "peak MB above the data"], rows)


def made_up_fit(n: int, n_features: int, kind: str, threads: int) -> list[float]:
    return in_child(["-c", CODE, str(n), str(n_features), kind], threads)


def in_child(arguments: list[str], threads: int) -> list[float]:
    """What a process of its own prints as JSON, with so many threads."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MLTSK_THREADS")
    done = subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | dict.fromkeys(names, str(threads)),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


PARTS = {
    "small": small_tables,
    "large": large_tables,
    "sparse": sparse_sets,
    "made-up": made_up_rows,
}
