"""Shared by rooms: results of experiments that never ran."""

import json
from itertools import product

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
    return {
        "title": name.title(),
        "samples": n,
        "features": d,
        "labels": k,
        "cardinality": 2.0,
        "density": 0.25,
        "empty": 0,
        "full": 1,
    }


def settings(method):
    """Every value of the only parameter of a grid as JSON; one empty without any."""
    for name, values in method["grid"].items():
        return [json.dumps({name: value}) for value in values]
    return ["{}"]


def row(
    protocol, dataset, method, fold, setting, values, *, seed=0, chosen_by="", tied=0.0
):
    return (protocol, dataset, method, seed, fold, chosen_by, setting, *values, tied)


def printed(dataset, method, metric):
    """The paper's Table III; .5 for what it has not."""
    cells = published_table("III")
    place = (dataset, metric, method)
    return cells[place].mean if place in cells else 0.5


def made_results(
    rows=None,
    *,
    cells=(),
    datasets=("emotions", "yeast", "flags"),
    methods=METHODS,
    **changes,
):
    """Results that are made up: finished ones unless rows are given."""
    run = {
        "protocols": ["paper"],
        "seeds": [0],
        "n_folds": 2,
        "grid": "paper",
        "convention": "paper",
        "command": "mltsk reproduce",
        "created": "",
        "versions": {"mltsk": "0"},
        "machine": "",
        "missing": {},
        "datasets": {name: shape(name) for name in datasets},
        "methods": dict(methods),
        **changes,
    }
    rows = finished(run) if rows is None else rows
    cells = [[*cell, "cpu"] for cell in cells]
    return Results(
        run=run,
        scores=pd.DataFrame(rows, columns=list(SCORE_COLUMNS)),
        cells=pd.DataFrame(cells, columns=list(CELL_COLUMNS)),
        studies={},
    )


@pytest.fixture
def make_results():
    return made_results


def finished(run):
    """Every setting on every fold.

    The first is at the paper's value, the second is .1 worse; folds are .01 apart, and
    each protocol is .02 worse than the one before it.
    """
    rows = []
    for p, protocol in enumerate(run["protocols"]):
        for dataset, (method, about) in product(
            run["datasets"], run["methods"].items()
        ):
            for i, setting in enumerate(settings(about)):
                chosen_by = [""]
                if protocol == "nested":
                    chosen_by = METRICS if i == 0 else []
                for fold, by in product(range(run["n_folds"]), chosen_by):
                    values = []
                    for metric in METRICS:
                        value = printed(dataset, about["paper"], metric)
                        worse = -1 if metric == "AP" else 1
                        value += 0.01 * fold - 0.005
                        values.append(value + worse * 0.1 * i + worse * 0.02 * p)
                    place = (protocol, dataset, method, fold)
                    rows.append(row(*place, setting, values, chosen_by=by))
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
