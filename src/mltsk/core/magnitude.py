"""Numbers that are very large or very small, brought to an ordinary size.

Symbols: N samples, D features; X (N, D) samples, dense or CSR.

Squares and quotients of ordinary numbers are finite and above 0. Other numbers are
multiplied by powers of two, which keeps all their digits, or clipped where they are
beyond all use. Ordinary numbers always stay as they are.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import (
    CSR,
    Array,
    FloatArray,
    Matrix,
    asnumpy,
    cast,
    is_csr,
    namespace,
    put_double,
    row_square_norms,
    underflow_is_zero,
)

MAX_RAW = 1e100  # number of a sample that is on no scale
# Clustering needs sixth powers of samples: those of larger numbers, and of smaller ones
# than the inverse, are in double precision.
MAX_SINGLE = 1e4
DOUBLE_BITS = 64
MAX_ROUND_DIGITS = 300  # after the point, up to which NumPy rounds
MAX_FACTOR_EXPONENT = 1000  # of a power of two that numbers are multiplied with


def within_reach(X: Matrix) -> Matrix:
    """X (N, D), clipped at MAX_RAW, such that squares and quotients are finite.

    Numbers of lower precision become double ones if they are very large or small.
    """
    xp = namespace(X)
    values = X.data if is_csr(X) else X
    if not values.shape[0]:
        return X
    sizes = abs(values)
    if xp.finfo(X.dtype).bits < DOUBLE_BITS:
        largest = float(xp.nan_to_num(sizes).max())
        is_ordinary = largest == 0 or 1 / MAX_SINGLE < largest < MAX_SINGLE
        return X if is_ordinary else cast(X, np.float64)
    if bool((sizes <= MAX_RAW).all()):
        return X
    values = xp.clip(values, -MAX_RAW, MAX_RAW)
    return _with_entries(X, values) if is_csr(X) else values


def unit_rows(X: Matrix) -> Matrix:
    """Scale each row of X (N, D) to unit length; rows of zeros stay. CSR stays CSR."""
    X = in_ordinary_size(X)
    xp = namespace(X)
    with underflow_is_zero():
        norms = cast(xp.sqrt(row_square_norms(X)), X.dtype)
        scale = 1.0 / xp.where(norms > 0, norms, 1.0)
        if is_csr(X):
            return _with_entries(X, X.data * np.repeat(scale, np.diff(X.indptr)))
        return X * scale[:, None]


def in_ordinary_size(X: Matrix) -> Matrix:
    """X (N, D), with rows of very large or small numbers times a power of two."""
    xp = namespace(X)
    if X.shape[0] == 0 or X.shape[1] == 0:
        return X
    if is_csr(X):
        largest = abs(X).max(axis=1).toarray().ravel()
    else:
        largest = xp.amax(abs(X), axis=1)
    factors = unit_factors(largest)
    if (factors == 1).all():
        return X
    with underflow_is_zero():
        if is_csr(X):
            of_entries = np.repeat(factors, np.diff(X.indptr))
            return _with_entries(X, (X.data * of_entries).astype(X.dtype))
        scaled = cast(X, np.float64) * put_double(factors, X)[:, None]
        return cast(scaled, X.dtype)


def unit_factors(largest: Array) -> FloatArray:
    """Powers of two that bring numbers of this size near 1, of the same shape.

    They are 1 for ordinary sizes and for 0, so ordinary numbers stay as they are;
    other numbers keep all their digits. What is ordinary depends on the precision:
    squares of ordinary numbers are finite and above 0.
    """
    sizes = asnumpy(largest)
    top = float(np.finfo(sizes.dtype).max) ** 0.3
    with np.errstate(all="ignore"):
        exponents = -np.frexp(sizes.astype(np.float64))[1]
        is_ordinary = (sizes == 0) | ((sizes > 1 / top) & (sizes < top))
    # a factor itself has to be an ordinary number
    exponents = np.clip(exponents, -MAX_FACTOR_EXPONENT, MAX_FACTOR_EXPONENT)
    return np.where(is_ordinary, 1.0, np.ldexp(1.0, exponents))


def rounded(x: ArrayLike, digits: int) -> NDArray[np.float64]:
    """Round numbers to digits after the point; digits below 0 are zeros before it.

    NumPy multiplies by a power of ten first, which may be no finite number.

    >>> float(rounded(1.2345e-310, 312)), float(rounded(1e305, 9))
    (1.23e-310, 1e+305)
    """
    numbers = np.asarray(x, dtype=np.float64)
    if digits > MAX_ROUND_DIGITS:
        each = [round(number, digits) for number in numbers.ravel().tolist()]
        return np.array(each).reshape(numbers.shape)
    with np.errstate(over="ignore", under="ignore"):
        result = np.round(numbers, digits)
    # a number that is so large has no digits after the point
    return np.where(np.isfinite(result), result, numbers)


def _with_entries(X: CSR, entries: FloatArray) -> CSR:
    """A CSR array that stores other numbers in the cells that X stores."""
    from scipy.sparse import csr_array

    return csr_array((entries, X.indices, X.indptr), shape=X.shape)
