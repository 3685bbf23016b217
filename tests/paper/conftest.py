"""Shared by rooms: results of experiments that never ran."""

import json

import pandas as pd
import pytest

from mltsk.paper.experiments.published import METRICS, published_table, table_i
from mltsk.paper.experiments.results import CELL_COLUMNS, SCORE_COLUMNS, Results

METHODS = {
    "br": {
        "title": "BR",
        "paper": "BR",
        "params": {},
        "grid": {"C": [0.5, 2.0]},
        "settings": 2,
    },
    "mlsf": {
        "title": "MLSF",
        "paper": "MLSF",
        "params": {},
        "grid": {"size": [1, 5]},
        "settings": 2,
    },
    "ml-tsk-fs": {
        "title": "ML-TSK FS",
        "paper": "ML-TSK FS",
        "params": {},
        "grid": {"K": [1, 2]},
        "settings": 2,
    },
    "mltsk": {
        "title": "our default",
        "paper": None,
        "params": {"n_rules": 15},
        "grid": {},
        "settings": 1,
    },
}


def shape(name):
    n, d, k = table_i().get(name, (20, 3, 2))
    return {"title": name.title(), "samples": n, "features": d, "labels": k, "cardinality": 2.0, "density": 0.25,
            "empty": 0, "full": 1}  # fmt: skip


def settings(about):
    (name, values), *_ = [*about["grid"].items(), ("", [None])]
    return [json.dumps({name: value} if name else {}) for value in values]


def row(
    protocol, dataset, method, fold, setting, values, *, seed=0, chosen_by="", tied=0.0
):
    return (protocol, dataset, method, seed, fold, chosen_by, setting, *values, tied)


def printed(dataset, paper, shift=0.0):
    """The paper's Table III, moved a little; .5 for what it has not."""
    cells = published_table("III")
    return [
        cells[dataset, m, paper].mean + shift
        if (dataset, m, paper) in cells
        else 0.5 + shift
        for m in METRICS
    ]


@pytest.fixture
def make_results():
    """A function that makes up results: finished ones unless rows are given."""

    def make(
        rows=None,
        *,
        cells=(),
        datasets=("emotions", "yeast", "flags"),
        methods=METHODS,
        **run,
    ):
        about = {
            "protocols": ["paper"],
            "seeds": [0],
            "n_folds": 2,
            "grid": "paper",
            "convention": "paper",
        }
        about |= {
            "command": "mltsk reproduce",
            "created": "",
            "versions": {"mltsk": "0"},
            "machine": "",
            "missing": {},
        }
        about |= {
            "datasets": {name: shape(name) for name in datasets},
            "methods": dict(methods),
            **run,
        }
        rows = finished(about) if rows is None else rows
        return Results(
            about,
            pd.DataFrame(rows, columns=list(SCORE_COLUMNS)),
            pd.DataFrame(
                [[*cell, "cpu"] for cell in cells], columns=list(CELL_COLUMNS)
            ),
            {},
        )

    return make


def finished(run):
    """Every setting on every fold: the first is at the paper's value, the second is worse; folds are .01 apart."""
    rows = []
    for p, protocol in enumerate(run["protocols"]):
        for dataset in run["datasets"]:
            for method, about in run["methods"].items():
                for i, setting in enumerate(settings(about)):
                    for fold in range(run["n_folds"]):
                        values = printed(dataset, about["paper"], 0.01 * fold - 0.005)
                        values = [
                            values[0] - 0.1 * i - 0.02 * p,
                            *(v + 0.1 * i + 0.02 * p for v in values[1:]),
                        ]
                        chosen = (
                            METRICS
                            if protocol == "nested" and i == 0
                            else [""] * (protocol != "nested")
                        )
                        rows += [
                            row(
                                protocol,
                                dataset,
                                method,
                                fold,
                                setting,
                                values,
                                chosen_by=m,
                            )
                            for m in chosen
                        ]
    return rows


@pytest.fixture
def make_row():
    return row


@pytest.fixture
def failed_cell():
    """A piece of work that ended with an error."""

    def cell(dataset, method, fold, error="ValueError: no", protocol="paper"):
        return (protocol, dataset, method, 0, fold, "", "failed", error, 1.0, 1.0, "")

    return cell
