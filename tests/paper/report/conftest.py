"""Shared by figures and captions: studies of two small data sets."""

import json

import pytest

from mltsk.datasets import make_multilabel_rules
from mltsk.paper.experiments.studies import STUDIES

ODD_NAME = "cost $x_1$ <b>"


@pytest.fixture(scope="session")
def studies():
    """Every study of two small data sets, through JSON, as a store keeps it."""
    datasets = {
        "toy": make_multilabel_rules(n_samples=60, n_features=5, random_state=0),
        ODD_NAME: make_multilabel_rules(
            n_samples=60, n_features=5, n_labels=3, random_state=1
        ),
    }
    results = {}
    for name, study in STUDIES.items():
        results[name] = {}
        for key, data in datasets.items():
            result = study.function(data, grid="fast")
            results[name][key] = json.loads(json.dumps(result))
    return results
