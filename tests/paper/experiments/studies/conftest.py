"""Every study of a small data set."""

import json

import pytest

from mltsk.datasets import make_multilabel_rules
from mltsk.paper.experiments.studies import STUDIES


@pytest.fixture(scope="session")
def toy():
    return make_multilabel_rules(n_samples=90, n_features=6, random_state=0)


@pytest.fixture(scope="session")
def found(toy):
    """Every study of the toy data, run once; through JSON, as a store would keep it."""
    return {
        name: json.loads(json.dumps(study.function(toy, grid="fast"), allow_nan=False))
        for name, study in STUDIES.items()
    }
