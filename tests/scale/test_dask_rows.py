"""Parts of Dask collections that belong together, and one sentence where they do not."""

import numpy as np
import pytest

from mltsk.exceptions import InputError
from mltsk.scale.dask_rows import Survey, dask_rows, read

da = pytest.importorskip("dask.array", reason='Dask is missing: pip install "mltsk[dask]"')


def array(n, chunks, width=2):
    return da.from_array(np.ones((n, width)), chunks=chunks)


def test_arrays_are_cut_as_x_is():
    rows, dtype = dask_rows(array(10, (4, 1)), array(10, (10, 2)), array(10, 3, 1)[:, 0])
    assert len(rows.inputs) == 3
    assert dtype == np.float64
    assert rows.reduce("survey", Survey.of).counts == {0: 4, 1: 4, 2: 2}


def test_blocks_of_unknown_length_must_be_as_many():
    X = array(10, 5)
    unknown = X[X[:, 0] > 0]
    with pytest.raises(InputError, match="X in 2, y in 1"):
        dask_rows(unknown, array(10, 10), None)


def test_blocks_of_unknown_length_are_compared_when_they_are_read():
    with pytest.raises(InputError, match="Block 3 has 4 rows of X, 5 of y, 4 weights"):
        read(3, np.ones((4, 2)), np.ones((5, 1)), np.float64)


def test_sparse_blocks_are_refused():
    from scipy import sparse

    X = array(10, 5).map_blocks(sparse.csr_matrix, meta=sparse.csr_matrix((0, 2)))
    with pytest.raises(InputError, match="sparse blocks"):
        dask_rows(X, array(10, 5), None)


def test_single_precision_is_that_of_all_columns():
    assert dask_rows(array(4, 4).astype(np.float32), array(4, 4), None)[1] == np.float32
    assert dask_rows(array(4, 4).astype(np.int32), array(4, 4), None)[1] == np.float64
