"""Words and missing cells are refused with a sentence that names their column."""

import numpy as np
import pandas as pd
import pytest

from mltsk import PaperMLTSK
from mltsk.exceptions import InputError

Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])


def frame(**columns):
    return pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], **columns})


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (frame(sex=["f", "m", "f", "m"]), "'sex' of X holds words, 'f' for one.*dumm"),
        (
            frame(sex=pd.Categorical(["f", "m", "f", "m"])),
            "'sex' of X holds words, 'f' for one",
        ),
        (frame(bmi=[1.0, np.nan, np.nan, 2.0]), "'bmi' of X has 2 missing cells"),
        (frame(bmi=[1.0, np.inf, 3.0, -np.inf]), "'bmi' of X holds infinity in 2 ce"),
        (frame(bmi=pd.array([1, None, 3, 2], dtype="Int64")), "'bmi' of X has 1 miss"),
        (np.array([[1, "f"], [2, "m"], [3, "f"], [4, "m"]]), "Column 1 of X holds wo"),
        (np.array([[1, np.nan], [2, 1], [3, 1], [4, 1]]), "Column 1 of X has 1 miss"),
    ],
)
def test_check_numbers_names_the_column_and_what_to_do(X, sentence):
    with pytest.raises(InputError, match=sentence):
        PaperMLTSK(1).fit(X, Y)


@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
def test_check_numbers_takes_booleans_and_numbers_and_refuses_them_in_predict():
    X = frame(smokes=[True, False, True, True])
    model = PaperMLTSK(1, correlation_weight=0.0).fit(X, Y)
    assert model.predict(X).shape == (4, 2)
    with pytest.raises(InputError, match="'age' of X has 4 missing"):
        model.predict(X.assign(age=np.nan))
