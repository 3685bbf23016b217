"""The sound files that are mutated, a few of every format.

They are small, so that a change hits something that matters.
"""

import gzip
import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.io import savemat
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from mltsk import (
    IncrementalMLTSK,
    MLTSKClassifier,
    edited,
    read_table,
    save,
    to_dict,
)
from mltsk.datasets import Dataset, make_multilabel_rules, write_npz
from mltsk.edits import fingerprint
from mltsk.io import ModelInfo
from mltsk.paper import METHODS
from mltsk.paper.experiments.store import FILE, Cell, Outcome, Row, Store
from mltsk.sites import Plan, SiteSums, joined, summary_of, write_json, write_sums
from mltsk.sites.plan_checks import plain_plan

LABELS = ["ill", "old"]  # of the table
DATA = make_multilabel_rules(n_samples=24, n_features=4, n_labels=3, random_state=0)
QUICK_SETTINGS = {
    "c2ae": {"hidden": 4, "epochs": 2},
    "bp-mll": {"epochs": 2},
    "jbnn": {"epochs": 2},
}
ARFF_HEAD = """@relation 'toy: -C -2'
@attribute size real
@attribute 'a kind' {red,'light blue'}
@attribute 'x' {0,1}
@attribute y {0,1}
@data
"""
XML = (
    '<?xml version="1.0" encoding="utf-8"?>'
    '<labels><label name="ü"><label name="y"/></label></labels>'
)
TOML = b"""title = "Mine"
folds = 3
seeds = [0, 1]
grid = "fast"
[[datasets]]
name = "flags"
[[datasets]]
name = "own"
file = "own.csv"
labels = ["a", "b"]
[[methods]]
key = "br"
[[methods]]
key = "tree"
class = "sklearn.tree:DecisionTreeClassifier"
params = { max_depth = 3 }
grids = { fast = { max_depth = [1, 2.5] } }
"""
# Titles, two rows of names, units, thousands, limits, ticks, dates, lists, totals.
MESSY = (
    """Übersicht 2024
who;;money;;;;seen
patient;day;salary;crp;smoker;weight;sick
"""
    + "".join(
        f'{i // 2};{i + 1}.3.2024;"{1000 + 97 * i:,}";{"<" * (i % 5 == 0)}{i / 8};'
        f"{'x' * (i % 2)};{60 + i} kg;{'gout|flu' if i % 3 else 'unknown'}\n"
        for i in range(24)
    )
    + "Total;;99;;;;\n"
)
LONG = "patient,age,diagnosis\n" + "".join(
    f"P{i // 2},{40 + i // 2},{'E11.9' if i % 2 else 'I10'}\n" for i in range(24)
)
# What a store of results says about its run.
DESCRIPTION: dict[str, Any] = {
    "protocols": ["paper"],
    "seeds": list(range(9)),
    "folds": 5,
    "n_folds": 5,
    "inner_folds": 3,
    "convention": "paper",
    "grid": "paper",
    "datasets": {"toy": {"title": "Toy", "samples": 24, "grid": "paper"}},
    "methods": {"br": {"title": "BR", "grid": {"C": [1.0]}, "settings": 1}},
    "missing": {},
    "planned": [["paper", "toy", "br"]],
    "versions": {"numpy": "2"},
    "command": "mltsk reproduce",
    "created": "",
    "machine": "",
}
RULES = [
    {"age": [60, None], "smoker": "daily"},
    {"crp": [None, 0.5], "male": ["yes"]},
    {"smoker": ["never", "daily"], "age": 41},
]
# What people wish of the curves of a model.
CURVES: dict[str, Any] = {
    "age": {"flat_above": 80, "flat_below": 30.5, "labels": ["ill"]},
    "crp": {"points": [[0.1, -0.5], [0.75, 0.25]], "labels": "old"},
    "smoker": {"same": True, "labels": ["ill", "old"]},
}
SHAPES: dict[str, Any] = {
    "crp": [[0.1, -0.5], [0.75, 0.25]],
    "age": {"shape": "convex"},
}
# Formats with checksums: what is read of a changed file is what was written.
CHECKED = ("csv.gz", "npz", "xlsx", "skops", "sums")


def frame() -> pd.DataFrame:
    """A table with numbers, words, gaps, yes and no, and two labels."""
    rng = np.random.default_rng(0)
    n = 24
    smoker = rng.choice(["never", "daily", "now, and then"], n)
    is_missing = rng.random(n) < 0.2
    return pd.DataFrame(
        {
            "age": rng.integers(20, 90, n),
            "smoker": smoker,
            "crp": np.where(is_missing, np.nan, rng.random(n).round(3)),
            "male": rng.choice(["yes", "no"], n),
            "ill": rng.integers(0, 2, n),
            "old": [0, 1] * 12,
        }
    )


@cache
def originals(kind: str) -> tuple[bytes, ...]:
    """The sound files of a kind, as bytes."""
    with warnings.catch_warnings(), TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        return tuple(_MAKERS[kind](Path(folder)))


# What hospitals export: a delimiter that is named, names in three rows and again on
# every page, dates of birth, remarks, units, brackets, times, and lists.
EXPORT = """sep=;
Patient;;Labor;;;Befund;
patient;born;visit;crp;saldo;smoker;sick
;;;mg/l;EUR;J/N;
P1;20.11.1934;08.06.2022;< 5,0;(12,50);Yes (2019);['gout', 'asthma']
P2;07.06.1964;19.12.2021;12,7;CHF 3;No;{gout}
;;;;;;
patient;born;visit;crp;saldo;smoker;sick
P3;19.02.1975;07.08.2022;k.A.;7-;Unknown;none
P4;01.01.1950;13:45;-99 mg/l;120/80;no;asthma
P5;01.01.1950;07.08.2022;-99;1'250,00;Yes, often;gout
"""


def _csv(_: Path) -> list[bytes]:
    text = frame().to_csv(index=False)
    with_semicolons = text.replace("now, and then", "then").replace(",", ";")
    with_commas = with_semicolons.replace(".", ",")
    return [
        text.encode(),
        with_commas.encode(),
        MESSY.encode("utf-16"),
        MESSY.encode("cp1252"),
        LONG.encode(),
        EXPORT.encode("cp1252"),
    ]


def _csv_gz(folder: Path) -> list[bytes]:
    return [gzip.compress(text, mtime=0) for text in _csv(folder)]


def _arff(_: Path) -> list[bytes]:
    rows = []
    for i in range(12):
        kind = ["red", "?"][i % 2]
        rows.append(f"{i / 7:.3f},{kind},{i % 2},{i % 3 // 2}")
    dense = ARFF_HEAD + "\n".join(rows)
    thin = ARFF_HEAD + "{0 2.5,2 1}\n{1 'light blue'}\n{}\n{3 1,0 -1e3}\n"
    return [dense.encode(), thin.encode()]


def _xml(_: Path) -> list[bytes]:
    return [XML.encode()]


def _npz(folder: Path) -> Iterator[bytes]:
    named = Dataset(
        [[0.5, 1], [2, 0], [3, 1]],
        [[1], [0], [1]],
        feature_names=["p", "q"],
        label_names=["a"],
        categories=[(), ("no", "yes")],
    )
    thin = Dataset(sparse.csr_array(DATA.X * (DATA.X > 0.5)), DATA.Y)
    for name, data in (("a", DATA), ("b", named), ("c", thin)):
        yield write_npz(folder / f"{name}.npz", data).read_bytes()


def _mat(folder: Path) -> Iterator[bytes]:
    thin_X = sparse.csc_array(DATA.X * (DATA.X > 0.5))
    thin_Y = sparse.csc_array(DATA.Y.T.astype(float))
    split = {
        "train_data": DATA.X[:9],
        "train_target": DATA.Y[:9].T,
        "test_data": DATA.X[9:],
        "test_target": DATA.Y[9:].T,
    }
    dense = {"data": DATA.X, "target": DATA.Y.T}
    thin = {"data": thin_X, "target": thin_Y}
    path = folder / "a.mat"
    for variables in (dense, thin, split):
        for packed in (False, True):
            savemat(path, variables, do_compression=packed)
            yield path.read_bytes()


def _parquet(_: Path) -> Iterator[bytes]:
    for options in (
        {},
        {"compression": None, "write_page_checksum": True},
        {"use_dictionary": False},
    ):
        file = BytesIO()
        frame().to_parquet(file, **options)
        yield file.getvalue()


def _xlsx(_: Path) -> list[bytes]:
    file = BytesIO()
    frame().to_excel(file, index=False)
    return [file.getvalue()]


def _toml(_: Path) -> list[bytes]:
    return [TOML]


def models() -> list[Any]:
    """A fitted model of every class, with and without words, gaps and sparse rows."""
    features = frame().drop(columns=LABELS)
    labels = frame()[LABELS]
    X = DATA.X
    Y = DATA.Y
    fitted = [
        MLTSKClassifier(2).fit(features, labels),
        MLTSKClassifier(2, order=1, scale="standard").fit(X, Y),
        MLTSKClassifier(2, n_pairs=2).fit(X, Y),
        MLTSKClassifier(2, n_pairs=4).fit(features, labels),
        IncrementalMLTSK(2, n_pairs=1).partial_fit(X, Y),
        MLTSKClassifier(2).fit(sparse.csr_array(X), Y),
        IncrementalMLTSK(2).partial_fit(X, Y),
        IncrementalMLTSK(2, forgetting=0.1).partial_fit(X, Y).partial_fit(X, Y),
        IncrementalMLTSK(1).partial_fit(sparse.csr_array(X), Y),
        IncrementalMLTSK(1, order=1, scale="standard").partial_fit(X, Y),
        MLTSKClassifier(0, max_statements=3, threshold="f1").fit(X, Y),
        MLTSKClassifier(1).fit(X, Y[:, 0]),
        make_pipeline(SimpleImputer(), MLTSKClassifier(1)).fit(X, Y),
    ]
    edits = json.loads(next(_edits(Path())))
    fitted.append(edited(edited_model(), edits))
    fitted.append(edited_model().constrained({"age": 1}, "male", CURVES))
    fitted.append(edited_model().adapted(features, labels))
    fitted.append(joined(_sites()[2]))
    for name, method in METHODS.items():
        settings = QUICK_SETTINGS.get(name, {})
        fitted.append(method(**settings).fit(X, Y))
    return fitted


@cache
def edited_model() -> MLTSKClassifier:
    """The model that files of edits are about."""
    table = frame()
    model = MLTSKClassifier(0)
    return model.fit(table.drop(columns=LABELS), table[LABELS])


def _edits(_: Path) -> Iterator[bytes]:
    """Edits of every kind, and with the numbers that a page had."""
    model = edited_model()
    who = {"author": "A. Person", "reason": "ß?", "time": "2026-01-31T12:00:00Z"}
    edits: list[dict[str, Any]] = [
        {"feature": "age", "labels": LABELS, "action": "rises", **who},
        {"feature": "smoker", "labels": ["old"], "action": "off", **who},
        {"feature": "crp", "labels": ["ill"], "action": "falls", **who},
        {"feature": "crp", "labels": ["ill"], "action": "free", **who},
        {
            "feature": "crp",
            "labels": LABELS,
            "action": "point",
            "value": 0.5,
            "effect": -0.25,
            **who,
        },
    ]
    content: dict[str, Any] = {
        "format": "mltsk-edits",
        "version": 1,
        "model": fingerprint(model.system_),
        "edits": edits,
    }
    yield json.dumps(content).encode()
    system = edited(model, content).system_
    pairs = [] if system.pair_coef is None else system.pair_coef.ravel().tolist()
    content["numbers"] = {
        "intercept": system.intercept.tolist(),
        "terms": system.term_coef.ravel().tolist(),
        "pairs": pairs,
    }
    yield json.dumps(content).encode()


def _skops(folder: Path) -> Iterator[bytes]:
    for model in models():
        path = save(model, folder / "m.skops", info=ModelInfo.of(model))
        yield path.read_bytes()


def _json(_: Path) -> Iterator[bytes]:
    for model in models():
        if type(model) in (MLTSKClassifier, IncrementalMLTSK):
            yield json.dumps(to_dict(model)).encode()


def _rules(_: Path) -> list[bytes]:
    return [json.dumps(RULES).encode()]


def _curves(_: Path) -> list[bytes]:
    return [json.dumps(wishes).encode() for wishes in (CURVES, SHAPES)]


def _sites() -> tuple[list[dict[str, Any]], Plan, list[SiteSums]]:
    """Summaries of two sites, their plan, and their sums."""
    table = pd.concat([frame()] * 2, ignore_index=True)
    halves = [read_table(table[half::2], labels=LABELS) for half in (0, 1)]
    summaries = [summary_of(half, least=2) for half in halves]
    plan = Plan.of(summaries, curves=True)
    return summaries, plan, [SiteSums.of(half, plan, least=2) for half in halves]


def _summary(folder: Path) -> Iterator[bytes]:
    for summary in _sites()[0]:
        yield write_json(summary, folder / "a.summary").read_bytes()


def _plan(folder: Path) -> list[bytes]:
    return [write_json(plain_plan(_sites()[1]), folder / "plan.json").read_bytes()]


def _sums(folder: Path) -> Iterator[bytes]:
    for sums in _sites()[2]:
        yield write_sums(sums, folder / "a.sums").read_bytes()


def _sqlite(folder: Path) -> list[bytes]:
    rows = tuple(Row({"C": C}, (0.5, 0.1, 0.2, 0.3, 0.4, 0.0)) for C in range(5))
    with Store.open(folder, create=True) as store:
        store.describe(DESCRIPTION)
        for seed in range(9):
            cell = Cell(
                "grid", "paper", "toy", "br", seed, 0, details={"grid": {"C": [1.0]}}
            )
            store.add(cell, Outcome(rows), {})
    return [(folder / FILE).read_bytes()]


_MAKERS: dict[str, Callable[[Path], Iterable[bytes]]] = {
    "csv": _csv,
    "csv.gz": _csv_gz,
    "arff": _arff,
    "xml": _xml,
    "npz": _npz,
    "mat": _mat,
    "parquet": _parquet,
    "xlsx": _xlsx,
    "toml": _toml,
    "skops": _skops,
    "json": _json,
    "rules": _rules,
    "sqlite": _sqlite,
    "summary": _summary,
    "plan": _plan,
    "sums": _sums,
    "edits": _edits,
    "curves": _curves,
}
KINDS = tuple(_MAKERS)
