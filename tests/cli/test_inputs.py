"""What is given to commands: complete numbers, where a model needs them."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mltsk.cli.inputs import check_complete, plain_numbers
from mltsk.exceptions import InputError


def test_check_complete_names_the_first_missing_or_infinite_value():
    X = sparse.csr_array(np.array([[0.0, 1.0], [0.0, np.nan]]))
    with pytest.raises(InputError, match="Column 'b' of d has no value in row 2"):
        check_complete(X, ["a", "b"], "d")
    infinite = "Column 'a' of d has an infinite value in row 1"
    with pytest.raises(InputError, match=infinite):
        check_complete(np.array([[-np.inf]]), ["a"], "d")


def test_plain_numbers_have_the_values_of_the_model_for_categories():
    frame = pd.DataFrame(
        {
            "zone": pd.Categorical(["SE", "NE"]),
            "n": [2.5, 1],
            "yes": pd.array([True, False]),
        }
    )
    numbers = plain_numbers(frame, {"zone": ("NE", "SE", "W")}, "d")
    assert numbers.tolist() == [[1, 2.5, 1], [0, 1, 0]]
    unknown = "Column 'zone' of d holds 'SE'; the model knows 'NE', 'W'"
    with pytest.raises(InputError, match=unknown):
        plain_numbers(frame, {"zone": ("NE", "W")}, "d")
    with pytest.raises(InputError, match="Column 'n' of d has no value in row 2"):
        plain_numbers(frame.assign(n=[1, None]), {"zone": ("NE", "SE")}, "d")
