"""How much memory a fit takes, and that one which takes too much is refused first."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mltsk import MLTSKClassifier
from mltsk.exceptions import InputError
from mltsk.fit.memory import FitSize

GIB = 2**30
SMALL = FitSize(n_rows=1_000, n_columns=20, n_labels=10)


@pytest.fixture
def little_memory(monkeypatch):
    """This process may take a number of bytes."""

    def set_memory(n_bytes):
        for module in ("mltsk.fit.memory", "mltsk.targets"):
            monkeypatch.setattr(f"{module}.total_memory", lambda: n_bytes)

    return set_memory


@pytest.mark.parametrize(
    "more", [{"n_rows": 2_000}, {"n_columns": 40}, {"n_labels": 20}, {"n_patterns": 9}]
)
def test_peak_grows_with_everything_that_decides_it(more):
    larger = FitSize(**{**vars(SMALL), **more})
    assert larger.peak(24 * GIB) > SMALL.peak(24 * GIB)


def test_peak_of_sparse_rows_is_that_of_their_stored_cells():
    wide = FitSize(n_rows=200, n_columns=10**6, n_labels=3, n_cells=20_000)
    assert wide.parts(24 * GIB)["rows"] < 0.1 * GIB


def test_peak_has_no_square_that_does_not_fit():
    wide = FitSize(n_rows=30_000, n_columns=5_000, n_labels=1)
    assert wide.peak(GIB) < wide.peak(100 * GIB)


# Rows of `benchmarks.made_up`, features, labels, rows that choose, and the MiB that a
# default fit took above what its process had before, on one thread.
TAKEN = (
    (5_000, 30, 10, 60_000, 318),
    (10_000, 100, 5, 38_095, 218),
    (20_000, 5, 3, 60_000, 1_240),
    (20_000, 10, 300, 20_000, 1_045),
    (20_000, 200, 5, 20_000, 757),
    (100_000, 20, 5, 60_000, 890),
    (200_000, 5, 3, 60_000, 476),
    (1_000_000, 5, 3, 60_000, 381),
)


@pytest.mark.parametrize(("n_rows", "n_columns", "n_labels", "n_sampled", "MiB"), TAKEN)
def test_peak_is_near_what_fits_of_many_rows_took(
    n_rows, n_columns, n_labels, n_sampled, MiB
):
    size = FitSize(n_rows, n_columns, n_labels, n_sampled=n_sampled)
    assert 0.85 < size.peak(24 * GIB) / (MiB * 2**20) < 1.5


def test_check_lets_a_long_table_pass_where_there_is_room(little_memory):
    """A million rows of five features took 381 MiB, and 1.7 GiB were asked for."""
    little_memory(600 << 20)
    FitSize(10**6, 5, 3, n_sampled=60_000).check()


def test_check_says_that_labels_are_too_many():
    with pytest.raises(InputError, match=r"2,000,000,000 labels.*: fit fewer labels"):
        FitSize(n_rows=500, n_columns=20, n_labels=2 * 10**9).check()


def test_check_says_that_columns_are_too_many():
    with pytest.raises(InputError, match=r"GiB: take fewer columns or fewer rows\.$"):
        FitSize(n_rows=10**7, n_columns=10**6, n_labels=1).check()


def test_fit_is_refused_before_it_begins_and_the_model_stays(little_memory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = X[:, :2] > 0
    clf = MLTSKClassifier(n_rules=0).fit(X, Y)
    before = clf.predict_proba(X)
    little_memory(2**10)
    with pytest.raises(InputError, match="60 rows with 4 columns and 2 labels"):
        clf.fit(X, Y)
    np.testing.assert_array_equal(clf.predict_proba(X), before)


def test_fit_of_many_categories_is_refused_before_they_become_columns(little_memory):
    words = np.repeat([f"word {i}" for i in range(20)], 20)
    X = pd.DataFrame({"word": words, "other": words[::-1]})
    Y = np.tile([[0, 1], [1, 0]], (200, 1))
    n_columns = 2 * 20
    little_memory(8 * 400 * n_columns)  # room for these columns, and for no copy
    with pytest.raises(InputError, match=r"400 rows with \d+ columns takes"):
        MLTSKClassifier().fit(X, Y)


def test_fit_of_a_sparse_y_is_refused_before_it_becomes_dense(little_memory):
    y = sparse.csr_array((60, 10**9))
    little_memory(GIB)
    with pytest.raises(InputError, match=r"^y has .* cells.*fit fewer labels"):
        MLTSKClassifier().fit(np.zeros((60, 2)), y)
