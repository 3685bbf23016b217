"""What is given to commands: complete numbers, where a model needs them."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mltsk.cli.inputs import check_complete, plain_numbers
from mltsk.exceptions import InputError


def test_missing_values_of_sparse_tables_are_named_too():
    X = sparse.csr_array(np.array([[0.0, 1.0], [0.0, np.nan]]))
    with pytest.raises(InputError, match="Column 'b' of d has no value in row 2"):
        check_complete(X, ["a", "b"], "d")
    with pytest.raises(
        InputError, match="Column 'a' of d has an infinite value in row 1"
    ):
        check_complete(np.array([[-np.inf]]), ["a"], "d")


def test_categories_become_the_numbers_of_the_model():
    frame = pd.DataFrame(
        {
            "zone": pd.Categorical(["SE", "NE"]),
            "n": [2.5, 1],
            "yes": pd.array([True, False]),
        }
    )
    assert plain_numbers(frame, {"zone": ("NE", "SE", "W")}, "d").tolist() == [
        [1, 2.5, 1],
        [0, 1, 0],
    ]
    with pytest.raises(
        InputError, match="Column 'zone' of d holds 'SE'; the model knows 'NE', 'W'"
    ):
        plain_numbers(frame, {"zone": ("NE", "W")}, "d")
    with pytest.raises(InputError, match="Column 'n' of d has no value in row 2"):
        plain_numbers(frame.assign(n=[1, None]), {"zone": ("NE", "SE")}, "d")
