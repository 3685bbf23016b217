"""Frames and arrays, column by column: whose they are, and what their cells are."""

import numpy as np
import pandas as pd
import pytest

from mltsk.exceptions import InputError
from mltsk.frames import (
    MISSING,
    check_column_names,
    columns_of,
    has_columns,
    is_absent,
    is_polars,
    word,
)


def test_has_columns_knows_frames_from_arrays():
    frame = pd.DataFrame({"a": [1.0]})
    assert has_columns(frame)
    assert not has_columns(frame["a"])
    assert not has_columns(frame.to_numpy())
    assert not is_polars(frame)


def test_has_columns_knows_frames_of_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1.0]})
    assert has_columns(frame)
    assert is_polars(frame)


def test_check_column_names_refuses_two_columns_of_one_name_and_none_at_all():
    check_column_names(np.ones((2, 2)))
    with pytest.raises(InputError, match="columns of X"):
        check_column_names(pd.DataFrame(np.ones((2, 2)), columns=["a", "a"]))
    with pytest.raises(InputError, match="X has no columns"):
        check_column_names(pd.DataFrame(index=range(3)))


@pytest.mark.parametrize("cell", [None, np.nan, pd.NA, pd.NaT])
def test_is_absent_knows_every_sign_of_a_missing_cell(cell):
    assert is_absent(cell)


def test_word_writes_values_as_people_do():
    assert [word(cell) for cell in (True, np.False_, 2.0, 0.1 + 0.2, "a")] == [
        "yes",
        "no",
        "2",
        "0.3",
        "a",
    ]


def test_columns_of_a_frame_are_numbers_words_or_levels():
    stages = pd.Categorical(["I", "II", None], ["I", "II"], ordered=True)
    X = pd.DataFrame({"age": [1, 2, 3], "sex": ["f", None, MISSING], "stage": stages})
    age, sex, stage = columns_of(X)
    assert age.numbers.tolist() == [1.0, 2.0, 3.0]
    assert (sex.is_nominal, sex.words.by_row().tolist()) == (True, ["f", None, None])
    assert sex.is_missing().tolist() == [False, True, True]
    assert stage.levels == ("I", "II")
    with pytest.raises(InputError, match="'sex' holds 'f'; it held numbers"):
        sex.as_numbers()


def test_columns_of_an_array_have_names_of_their_own():
    first, second = columns_of(np.array([[1, "a"], [2, "b"]], dtype=object))
    assert (first.name, first.numbers.tolist()) == ("x0", [1.0, 2.0])
    assert (second.name, second.words.different) == ("x1", ("a", "b"))


def test_words_of_a_column_tell_numbers_from_booleans():
    cells = np.array([[1, True, 1.0, "1", np.nan, MISSING, "True"]], dtype=object).T
    (column,) = columns_of(cells)
    assert column.words.different == ("1", "yes", None, "True")
    assert column.words.codes.tolist() == [0, 1, 0, 0, 2, 2, 3]
