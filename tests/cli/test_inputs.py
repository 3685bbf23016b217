"""What is given to commands: missing values."""

import numpy as np
import pytest
from scipy import sparse

from mltsk.cli.inputs import check_complete
from mltsk.exceptions import InputError


def test_missing_values_of_sparse_tables_are_named_too():
    X = sparse.csr_array(np.array([[0.0, 1.0], [0.0, np.nan]]))
    with pytest.raises(InputError, match="Column 'b' of d has no value in row 2"):
        check_complete(X, ["a", "b"], "d")
    with pytest.raises(InputError, match="Column 'a' of d has an infinite value in row 1"):
        check_complete(np.array([[-np.inf]]), ["a"], "d")
