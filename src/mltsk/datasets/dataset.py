"""A multi-label data set in memory: features, labels, and their names.

A *nominal* feature is still a column of numbers: each category is represented by its
own number where every category is a number ("1", "2", "10" become 1.0, 2.0, 10.0), and
by its position in the list of categories otherwise. MULAN's files are read in the same
way, so a category that a rule prints is the one that was published.
"""

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from mltsk.core.arrays import CSR, Matrix, check_plain, dense, is_csr
from mltsk.exceptions import InputError
from mltsk.limits import NUMBER_BYTES, check_size, too_large
from mltsk.text import did_you_mean, plural

if TYPE_CHECKING:
    from pandas import Categorical, DataFrame

Labels = int | str | Path | Sequence[str] | None
YES = frozenset({"1", "yes", "true", "y", "t"})
NO = frozenset({"0", "no", "false", "n", "f"})
NAME_BYTES = 200  # of a name and its place in lists and tables
MAX_QUOTED_CHARACTERS = 40  # of a piece of a file in a message
MAX_REASON_CHARACTERS = 300  # of another library's message in one of ours
MAX_MISSING_NAMES = 5  # that a message lists


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Features, labels and names, checked against each other.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Kept as float64; sparse input becomes CSR and is never made dense. Missing
        values are NaN.
    Y : array of shape (n_samples, n_labels)
        Zeros and ones, kept as int8: unsigned would turn the -1 of some linear models
        into 255. Zero columns mean that the labels are not known.
    feature_names, label_names : sequence of str, optional
        ``x1, x2, …`` and ``label1, label2, …`` unless given.
    name : str
        What to call the data set in reports.
    categories : sequence of sequences of str, optional
        The categories of each feature, ``()`` for one that is not nominal.
    split : array of shape (n_samples,), optional
        The publisher's split, 0 for training and 1 for testing, where there is one.
    source : str
        Where the data came from.

    Examples
    --------
    >>> from mltsk.datasets import Dataset
    >>> data = Dataset([[0.5, 1.0], [0.2, 3.0]], [[1, 0, 1], [0, 0, 1]], name="toy")
    >>> data.shape, data.cardinality
    ((2, 2, 3), 1.5)
    >>> data.feature_names
    ('x1', 'x2')
    """

    X: Matrix
    Y: Matrix
    feature_names: Sequence[str] = ()
    label_names: Sequence[str] = ()
    name: str = "data"
    categories: Sequence[Sequence[str]] = ()
    split: NDArray[np.uint8] | Sequence[int] | None = None
    source: str = ""

    def __post_init__(self) -> None:
        self._check_axes()
        X = _check_features(self.X)
        Y = _check_labels(self.Y)
        n_samples, n_features = X.shape
        if n_samples != Y.shape[0]:
            raise InputError(
                f"X has {n_samples} rows and Y has {Y.shape[0]}: "
                "every sample needs both."
            )
        # The fields of a frozen record cannot be assigned.
        vars(self).update(
            X=X,
            Y=Y,
            categories=_check_categories(self.categories, n_features),
            split=_check_split(self.split, n_samples),
            feature_names=_check_names(self.feature_names, n_features, "feature", "x"),
            label_names=_check_names(self.label_names, Y.shape[1], "label", "label"),
        )

    def _check_axes(self) -> None:
        """Refuse axes so long that their numbers or names would not fit in memory."""
        n_bytes = 0
        for table in (self.X, self.Y):
            shape = getattr(table, "shape", ())
            n_bytes += NUMBER_BYTES * sum(shape[:1]) + NAME_BYTES * sum(shape[1:2])
        check_size(n_bytes, self.source or self.name)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of samples, features and labels."""
        return int(self.X.shape[0]), int(self.X.shape[1]), int(self.Y.shape[1])

    @property
    def cardinality(self) -> float:
        """Mean number of labels of a sample."""
        if not self.Y.size:
            return 0.0
        return float(self.Y.sum(axis=1, dtype=np.int64).mean())

    @property
    def density(self) -> float:
        """Share of ones among the labels: cardinality by the number of labels."""
        return self.cardinality / max(self.shape[2], 1)

    @property
    def is_sparse(self) -> bool:
        """Whether X is a CSR matrix."""
        return sparse.issparse(self.X)

    def __repr__(self) -> str:
        n_samples, n_features, n_labels = self.shape
        filled = ""
        if is_csr(self.X):
            share = self.X.nnz / max(n_samples * n_features, 1)
            filled = f" ({share:.1%} filled)"
        return (
            f"Dataset({self.name!r}: {n_samples} samples, "
            f"{n_features} features{filled}, {n_labels} labels, "
            f"cardinality {self.cardinality:.3f}, density {self.density:.3f})"
        )

    def frames(self) -> tuple["DataFrame", "DataFrame"]:
        """Features and labels as two pandas data frames.

        A nominal feature becomes a column of unordered categories, by the names that
        the file gives them. Sparse features stay sparse columns of numbers.
        """
        import pandas

        names = list(self.feature_names)
        Y = pandas.DataFrame(self.Y, columns=list(self.label_names))
        if self.is_sparse:
            return pandas.DataFrame.sparse.from_spmatrix(self.X, columns=names), Y
        X = pandas.DataFrame(self.X, columns=names)
        for j, categories in enumerate(self.categories):
            if categories:
                X[names[j]] = self._categorical(j)
        return X, Y

    def _categorical(self, j: int) -> "Categorical":
        """The nominal feature j as categories by name."""
        import pandas

        values = self.X[:, j]
        categories = self.categories[j]
        codes = pandas.Index(category_values(categories)).get_indexer(values)
        unknown = values[(codes < 0) & ~np.isnan(values)]
        if unknown.size:
            raise InputError(
                f"Feature {self.feature_names[j]!r} holds {unknown[0]:g}: "
                "that is none of its categories."
            )
        return pandas.Categorical.from_codes(codes, categories)

    def to_frame(self) -> "DataFrame":
        """Features, then labels, in one pandas data frame."""
        import pandas

        return pandas.concat(self.frames(), axis=1)


def _check_features(X: Matrix) -> Matrix:
    """X as a float64 array or CSR array with two axes.

    It shares memory with the caller's where nothing has to change.
    """
    check_plain(X, "X")
    if sparse.issparse(X):
        return _with_short_indices(sparse.csr_array(X, dtype=np.float64))
    try:
        X = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "X holds something that is not a number: "
            "code text columns as numbers first."
        ) from None
    if X.ndim != 2:
        raise InputError(f"X has {X.ndim} axes; it needs two: samples and features.")
    return X


def _with_short_indices(X: CSR) -> CSR:
    """A CSR array with 32-bit indices, unless it is too large for them.

    Much compiled code takes 32-bit indices only, and products are faster with them.
    """
    largest = max(X.nnz, *X.shape)
    if X.indices.dtype == np.int32 or largest >= np.iinfo(np.int32).max:
        return X
    indices = X.indices.astype(np.int32)
    indptr = X.indptr.astype(np.int32)
    return sparse.csr_array((X.data, indices, indptr), shape=X.shape)


def _check_labels(Y: Matrix) -> NDArray[np.int8]:
    """Y as an int8 array of two axes that holds 0 and 1 only."""
    check_plain(Y, "Y")
    Y = np.asarray(dense(Y))
    if Y.ndim != 2:
        raise InputError(f"Y has {Y.ndim} axes; it needs two: samples and labels.")
    if Y.dtype != np.bool_ and not np.isin(Y, (0, 1)).all():
        raise InputError("Y holds something other than 0 and 1.")
    return np.ascontiguousarray(Y, dtype=np.int8)


def _check_categories(
    categories: Sequence[Sequence[str]], n_features: int
) -> tuple[tuple[str, ...], ...]:
    """The categories of each feature as tuples of texts."""
    checked = tuple(tuple(map(str, column)) for column in categories)
    if not checked:
        return ((),) * n_features
    _check_texts(chain(*checked), "A category")
    for column in checked:
        twice = repeated(column)
        if twice is not None:
            raise InputError(f"The category {short(twice)} is listed twice.")
    if len(checked) != n_features:
        raise InputError(
            f"There are {len(checked)} lists of categories for {n_features} features."
        )
    return checked


def _check_split(split: ArrayLike | None, n_samples: int) -> NDArray[np.uint8] | None:
    """The publisher's split as uint8, 0 or 1 for each sample, or None."""
    if split is None:
        return None
    checked = np.asarray(split)
    if checked.shape != (n_samples,) or not np.isin(checked, (0, 1)).all():
        raise InputError(
            "The split must hold 0 (train) or 1 (test) for each of the "
            f"{n_samples} samples."
        )
    return checked.astype(np.uint8)


def _check_names(
    names: Sequence[str], count: int, kind: str, prefix: str
) -> tuple[str, ...]:
    """So many different names, numbered ones if there are none."""
    _check_texts(names, f"A {kind} name")
    checked = tuple(map(str, names))
    if not checked:
        return tuple(f"{prefix}{i + 1}" for i in range(count))
    if len(checked) != count:
        raise InputError(f"There are {len(checked)} {kind} names for {count} {kind}s.")
    twice = repeated(checked)
    if twice is not None:
        raise InputError(
            f"The {kind} name {twice!r} is used twice: rename one of the columns."
        )
    return checked


def _check_texts(texts: Iterable[str], what: str) -> None:
    """Refuse halves of characters, as damaged files hold them."""
    try:
        # And back: NumPy may hold numbers beyond all characters.
        "".join(map(str, texts)).encode().decode()
    except UnicodeError:
        raise InputError(
            f"{what} holds something that is no character: rename it."
        ) from None


def category_values(categories: Sequence[str]) -> NDArray[np.float64]:
    """The number that stands for each category in X.

    Examples
    --------
    >>> from mltsk.datasets import category_values
    >>> category_values(["2", "10", "1"])
    array([ 2., 10.,  1.])
    >>> category_values(["red", "green"])
    array([0., 1.])
    """
    numbers = [as_number(text) for text in categories]
    if all(map(isfinite, numbers)) and len(set(numbers)) == len(numbers):
        return np.array(numbers, dtype=np.float64)
    return np.arange(len(numbers), dtype=np.float64)


def as_number(text: str) -> float:
    """The number that a text is, NaN if it is none."""
    if "_" in text:
        return np.nan  # float() reads 1_0 as 10
    try:
        return float(text)
    except ValueError:
        return np.nan


def repeated(names: Iterable[str]) -> str | None:
    """The first name that is there more than once, if any."""
    return next((name for name, count in Counter(names).items() if count > 1), None)


def short(text: str) -> str:
    """A piece of a file for a message: quoted, printable, and not long."""
    if len(text) > MAX_QUOTED_CHARACTERS:
        text = text[:MAX_QUOTED_CHARACTERS] + "…"
    return repr(text)


def split_names(names: str | Iterable[str]) -> list[str]:
    """Names from a list, or from one string with commas between them.

    In such a string, a name that holds a comma is quoted.
    """
    if not isinstance(names, str):
        return [str(name) for name in names]
    cells = next(csv.reader([names], skipinitialspace=True), [])
    return [cell.strip() for cell in cells if cell.strip()]


def pick_labels(
    labels: int | str | Path | Iterable[str], columns: Sequence[str], where: str
) -> list[str]:
    """Names of label columns: those given, or a number of the last columns.

    A negative number counts the first columns.
    """
    try:
        n = int(str(labels))
    except ValueError:
        if isinstance(labels, int | Path):
            labels = str(labels)
        return split_names(labels)
    if abs(n) >= len(columns) and str(labels) in columns:
        return [str(labels)]  # no number of columns, but the year 2019
    if abs(n) >= len(columns):
        raise InputError(
            f"{where} has {plural(len(columns), 'column')}: "
            f"{abs(n)} labels leave no feature."
        )
    if n < 0:
        return list(columns[:-n])
    return list(columns[len(columns) - n :])


def unique_names(names: Iterable[str], columns: Iterable[str], where: str) -> list[str]:
    """Names of columns, each once.

    An `InputError` lists those that are not there, and what may be meant.
    """
    wanted = list(dict.fromkeys(names))
    present = dict.fromkeys(columns)
    missing = [name for name in wanted if name not in present]
    if not missing:
        return wanted
    shown = ", ".join(map(repr, missing[:MAX_MISSING_NAMES]))
    if len(missing) > MAX_MISSING_NAMES:
        shown += ", …"
    question = did_you_mean(missing[0], present)
    hint = f"; {question}" if question else "."
    raise InputError(
        f"{where} has no column {shown} (it has {plural(len(present), 'column')}){hint}"
    )


def unreadable(path: str | Path, error: Exception, what: str = "") -> InputError:
    """The sentence about a file that cannot be read, or that is no ``what``."""
    if isinstance(error, MemoryError):
        return too_large(path)
    lines = str(error).strip().splitlines()
    reason = getattr(error, "strerror", None) or "".join(lines[:1])
    if what and isinstance(error, FileNotFoundError):
        reason = "there is no such file"
    reason = (reason or type(error).__name__)[:MAX_REASON_CHARACTERS].rstrip(".")
    verdict = f"is not a readable {what}" if what else "cannot be read"
    return InputError(f"{path} {verdict}: {reason}.")
