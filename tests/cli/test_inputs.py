"""What is given to commands: names, paths, missing values."""

import numpy as np
import pytest
from mltsk.estimators import FuzzyRuleFeatures
from scipy import sparse

from mltsk.cli.inputs import check_complete, open_model
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.io import save


def test_missing_values_of_sparse_tables_are_named_too():
    X = sparse.csr_array(np.array([[0.0, 1.0], [0.0, np.nan]]))
    with pytest.raises(InputError, match="Column 'b' of d has no value in row 2"):
        check_complete(X, ["a", "b"], "d")
    with pytest.raises(InputError, match="Column 'a' of d has an infinite value in row 1"):
        check_complete(np.array([[-np.inf]]), ["a"], "d")


def test_a_transformer_predicts_no_labels(tmp_path):
    path = save(FuzzyRuleFeatures(n_rules=2).fit(make_multilabel_rules(50).X), tmp_path / "map.skops")
    with pytest.raises(InputError, match="predicts no labels"):
        open_model(str(path))
