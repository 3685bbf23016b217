"""Checksums: of a file as git stores it, and of the content of a data set whatever file it came from.

The content digest of (X, Y) is SHA-256 over these bytes, one after the other, all little-endian:

    b"mltsk-content-1\\n"
    n, D, L                       three int64
    row starts of X               n + 1 int64: where the non-zero entries of each row begin, as in CSR
    column of each entry          int64, ascending within a row
    value of each entry           float64; every NaN is written as the same NaN, zeros are not entries
    Y                             n · L bytes of 0 or 1, row by row

So it does not depend on the file format, on the mirror, on names, or on whether X is held dense or sparse. It
is what the catalog knows about its data sets: two files with equal digests hold the same numbers in the same
order.
"""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .dataset import Dataset

CHUNK = 1 << 20


def content_digest(data: Dataset) -> str:
    """SHA-256 of the features and labels of ``data``, independent of file format and of dense or sparse
    storage.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from mltsk.datasets import Dataset, content_digest
    >>> X, Y = np.eye(3), np.ones((3, 2))
    >>> content_digest(Dataset(X, Y)) == content_digest(Dataset(sparse.csc_array(X), Y))
    True
    """
    X = _canonical(data.X)
    digest = hashlib.sha256(b"mltsk-content-1\n")
    for array, dtype in ((data.shape, "<i8"), (X.indptr, "<i8"), (X.indices, "<i8"), (X.data, "<f8")):
        digest.update(np.ascontiguousarray(array, dtype=dtype))
    digest.update(np.ascontiguousarray(data.Y, dtype=np.uint8))
    return digest.hexdigest()


def _canonical(X: Any) -> sparse.csr_array:
    X = sparse.csr_array(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    X.data[np.isnan(X.data)] = np.nan  # one bit pattern for all
    return X


def git_blob_id(path: str | Path) -> str:
    """The name that git gives to the content of a file: SHA-1 of ``blob <length>``, a zero byte, and the
    bytes.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "empty"
    >>> _ = file.write_bytes(b"")
    >>> git_blob_id(file)
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    path = Path(path)
    # SHA-1 is what git uses; here it tells a damaged download from a sound one, it is no defence against
    # forgery.
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(CHUNK):
            digest.update(block)
    return digest.hexdigest()
