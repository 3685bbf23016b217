"""Other methods on the same folds."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import average_precision_score

from mltsk import MLTSKClassifier
from mltsk.pages.baselines import FOREST, LINEAR, OURS, compare


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=120), "b": rng.normal(size=120), "word": rng.choice(["x", "y"], 120)})
    Y = np.column_stack([X.a > 0, X.word == "x", rng.random(120) < 0.5]).astype(float)
    X.loc[:20, "b"] = np.nan
    X["word"] = pd.Categorical(X["word"].where(rng.random(120) < 0.9), ordered=False)
    X["rank"] = pd.Categorical(rng.choice(["low", "high"], 120), ["low", "high"], ordered=True)
    Y[100:, 1] = np.nan
    return X, Y


def test_all_learn_what_is_there_and_nothing_else(table):
    folds = []
    found = compare(MLTSKClassifier(n_rules=0), *table, done=lambda: folds.append(1))
    assert (found.rows, found.labels.tolist(), len(folds)) == (120, [0, 1, 2], 10)
    for method in (OURS, LINEAR, FOREST):
        assert found.AUC[method][0] > 0.95
        assert found.AUC[method][1] > 0.8
        assert 0.3 < found.AUC[method][2] < 0.7
    assert {part.shape for part in found.ahead.values()} == {(1000, 3)}


def test_labels_that_nobody_has_and_sparse_rows(table):
    X, Y = sparse.csr_array(np.random.default_rng(0).random((60, 5)) > 0.5).astype(float), np.zeros((60, 2))
    Y[:, 1] = X.toarray()[:, 0]
    found = compare(MLTSKClassifier(n_rules=0), X, Y)
    assert np.isnan(found.AP[FOREST][0])
    assert min(part[1] for part in found.AP.values()) > average_precision_score(Y[:, 1], np.zeros(60))
