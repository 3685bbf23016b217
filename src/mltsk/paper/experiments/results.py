"""What an experiment left behind, as tables: the one thing that tables, figures and pages are made from.

`Store.results` reads it from a run's folder; nothing here computes. Metrics follow the convention named in the
description of the run, ``run["convention"]``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

SCORES = ("protocol", "dataset", "method", "seed", "fold", "chosen_by", "setting", "AP", "HL", "OE", "RL", "CV", "tied")
CELLS = ("protocol", "dataset", "method", "seed", "fold", "part", "status", "error", "seconds", "cpu_seconds", "when")


@dataclass(frozen=True)
class Results:
    """Everything that a run has finished so far.

    Attributes
    ----------
    run : mapping
        Description of the run, plain data::

            {"command": str, "created": str, "versions": {"mltsk": …, "numpy": …}, "machine": str,
             "grid": "paper" | "fast" | "authors", "convention": "paper" | "standard", "n_folds": 5,
             "protocols": ["paper", …], "seeds": [0, …],
             "datasets": {name: {"title": str, "samples": int, "features": int, "labels": int,
                                 "cardinality": float, "density": float, "empty": int, "full": int}},
             "missing": {name: reason},
             "methods": {key: {"title": str, "paper": name in the paper's tables or None,
                               "class": import path, "params": {…}, "grid": {parameter: [values]}, "settings": int}}}

    scores : data frame with the columns `SCORES`
        One row a setting, fold and seed. ``setting`` is canonical JSON of the parameters; ``tied`` is the share of test
        rows whose scores are all the same, which some metrics reward. ``chosen_by`` is empty where settings are yet to
        be chosen (protocols `paper` and `strict`, and inner folds are not listed at all); under `nested` it names the
        metric by which inner folds chose the row's setting, and the row's metrics are those of the outer test fold.
    cells : data frame with the columns `CELLS`
        One row a piece of work: ``status`` is "done" or "failed", then ``error`` says why.
    studies : mapping
        (name of the study, data set) to plain data, see `mltsk.paper.experiments.studies`.
    """

    run: Mapping[str, Any]
    scores: pd.DataFrame
    cells: pd.DataFrame
    studies: Mapping[tuple[str, str], Mapping[str, Any]]
