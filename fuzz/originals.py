"""The sound files that are mutated, a few of every format: small, so that a change hits something that matters."""

import gzip
import json
import warnings
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.io import savemat
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from mltsk import IncrementalMLTSK, MLTSKClassifier, save, to_dict
from mltsk.datasets import Dataset, make_multilabel_rules, write_npz
from mltsk.io import ModelInfo
from mltsk.paper import METHODS
from mltsk.paper.experiments.store import FILE, Cell, Outcome, Row, Store

DATA = make_multilabel_rules(n_samples=24, n_features=4, n_labels=3, random_state=0)
QUICK = {
    "c2ae": {"hidden": 4, "epochs": 2},
    "bp-mll": {"epochs": 2},
    "jbnn": {"epochs": 2},
}
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


def frame() -> pd.DataFrame:
    """A table with numbers, words, gaps, yes and no, and two labels."""
    rng, n = np.random.default_rng(0), 24
    words, gaps = (
        rng.choice(["never", "daily", "now, and then"], n),
        rng.random(n) < 0.2,
    )
    columns = {
        "age": rng.integers(20, 90, n),
        "smoker": words,
        "crp": np.where(gaps, np.nan, rng.random(n).round(3)),
    }
    return pd.DataFrame(
        columns
        | {
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


def _csv(_: Path):
    text = frame().to_csv(index=False)
    return [
        text.encode(),
        text.replace("now, and then", "then")
        .replace(",", ";")
        .replace(".", ",")
        .encode(),
    ]


def _arff(_: Path):
    head = "@relation 'toy: -C -2'\n@attribute size real\n@attribute 'a kind' {red,'light blue'}\n"
    head += "@attribute 'x' {0,1}\n@attribute y {0,1}\n@data\n"
    rows = [
        f"{i / 7:.3f},{['red', '?'][i % 2]},{i % 2},{i % 3 // 2}" for i in range(12)
    ]
    return [
        (head + "\n".join(rows)).encode(),
        (head + "{0 2.5,2 1}\n{1 'light blue'}\n{}\n{3 1,0 -1e3}\n").encode(),
    ]


def _npz(folder: Path):
    yield write_npz(folder / "a.npz", DATA).read_bytes()
    names = {
        "feature_names": ["p", "q"],
        "label_names": ["a"],
        "categories": [(), ("no", "yes")],
    }
    yield write_npz(
        folder / "b.npz", Dataset([[0.5, 1], [2, 0], [3, 1]], [[1], [0], [1]], **names)
    ).read_bytes()
    yield write_npz(
        folder / "c.npz", Dataset(sparse.csr_array(DATA.X * (DATA.X > 0.5)), DATA.Y)
    ).read_bytes()


def _mat(folder: Path):
    parts = {
        "train_data": DATA.X[:9],
        "train_target": DATA.Y[:9].T,
        "test_data": DATA.X[9:],
        "test_target": DATA.Y[9:].T,
    }
    X, Y = (
        sparse.csc_array(DATA.X * (DATA.X > 0.5)),
        sparse.csc_array(DATA.Y.T.astype(float)),
    )
    for variables in (
        {"data": DATA.X, "target": DATA.Y.T},
        {"data": X, "target": Y},
        parts,
    ):
        for packed in (False, True):
            savemat(folder / "a.mat", variables, do_compression=packed)
            yield (folder / "a.mat").read_bytes()


def _parquet(_: Path):
    for options in (
        {},
        {"compression": None, "write_page_checksum": True},
        {"use_dictionary": False},
    ):
        file = BytesIO()
        frame().to_parquet(file, **options)
        yield file.getvalue()


def _xlsx(_: Path):
    file = BytesIO()
    frame().to_excel(file, index=False)
    return [file.getvalue()]


def models() -> list:
    """A fitted model of every class, with and without words, gaps and sparse rows."""
    return [*_models_with_rules(), *_other_models()]


def _models_with_rules() -> list:
    """Models of systems, which have a plain form."""
    X = frame().drop(columns=["ill", "old"])
    Y = frame()[["ill", "old"]]
    short = MLTSKClassifier(0, max_statements=3, threshold="f1")
    return [
        MLTSKClassifier(2).fit(X, Y),
        MLTSKClassifier(2, order=1, scale="standard").fit(DATA.X, DATA.Y),
        MLTSKClassifier(2).fit(sparse.csr_array(DATA.X), DATA.Y),
        IncrementalMLTSK(2).partial_fit(DATA.X, DATA.Y),
        short.fit(DATA.X, DATA.Y),
        MLTSKClassifier(1).fit(DATA.X, DATA.Y[:, 0]),
    ]


def _other_models() -> list:
    """A pipeline, and all methods of the paper."""
    pipeline = make_pipeline(SimpleImputer(), MLTSKClassifier(1))
    methods = [kind(**QUICK.get(name, {})) for name, kind in METHODS.items()]
    return [model.fit(DATA.X, DATA.Y) for model in (pipeline, *methods)]


def _json(_: Path):
    return [json.dumps(to_dict(model)).encode() for model in _models_with_rules()]


def _skops(folder: Path):
    for model in models():
        yield save(model, folder / "m.skops", info=ModelInfo.of(model)).read_bytes()


def _store(folder: Path):
    with Store.open(folder, create=True) as store:
        store.describe({"protocols": ["paper"], "datasets": {}})
        for seed in range(9):
            rows = tuple(
                Row({"C": c}, (0.5, 0.1, 0.2, 0.3, 0.4, 0.0)) for c in range(5)
            )
            store.add(
                Cell(
                    "grid",
                    "paper",
                    "toy",
                    "br",
                    seed,
                    0,
                    details={"grid": {"C": [1.0]}},
                ),
                Outcome(rows),
                {},
            )
    return [(folder / FILE).read_bytes()]


_MAKERS = {
    "csv": _csv,
    "csv.gz": lambda folder: [gzip.compress(text, mtime=0) for text in _csv(folder)],
    "arff": _arff,
    "xml": lambda _: [
        '<?xml version="1.0" encoding="utf-8"?><labels><label name="ü"><label name="y"/></label></labels>'.encode()
    ],
    "npz": _npz,
    "mat": _mat,
    "parquet": _parquet,
    "xlsx": _xlsx,
    "toml": lambda _: [TOML],
    "skops": _skops,
    "json": _json,
    "sqlite": _store,
}
KINDS = tuple(_MAKERS)
CHECKED = (
    "csv.gz",
    "npz",
    "xlsx",
    "skops",
)  # have checksums: what is read of a changed one is what was written
