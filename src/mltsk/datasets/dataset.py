"""A multi-label data set in memory: features, labels, and their names.

A *nominal* feature is still a column of numbers: each category is represented by its own number where every category is
a number ("1", "2", "10" become 1.0, 2.0, 10.0), and by its position in the list of categories otherwise. MULAN's files
are read in the same way, so a category that a rule prints is the one that was published.
"""

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mltsk.core.arrays import check_plain, dense
from mltsk.exceptions import InputError
from mltsk.limits import check_size, too_large

Labels = int | str | Path | Sequence[str] | None
YES = frozenset({"1", "yes", "true", "y", "t"})
NO = frozenset({"0", "no", "false", "n", "f"})
NAME = 200  # bytes of a name and its place in lists and tables


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Features, labels and names, checked against each other.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Kept as float64; sparse input becomes CSR and is never made dense. Missing values are NaN.
    Y : array of shape (n_samples, n_labels)
        Zeros and ones, kept as int8: unsigned would turn the -1 of some linear models into 255. Zero columns mean
        that the labels are not known.
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
    >>> data
    Dataset('toy': 2 samples, 2 features, 3 labels, cardinality 1.500, density 0.500)
    >>> data.feature_names
    ('x1', 'x2')
    """

    X: Any
    Y: Any
    feature_names: Sequence[str] = ()
    label_names: Sequence[str] = ()
    name: str = "data"
    categories: Sequence[Sequence[str]] = ()
    split: Any = None
    source: str = ""

    def __post_init__(self) -> None:
        shapes = [getattr(part, "shape", ()) for part in (self.X, self.Y)]
        check_size(
            sum(8 * sum(shape[:1]) + NAME * sum(shape[1:2]) for shape in shapes),
            self.source or self.name,
        )
        X, Y = _features(self.X), _labels(self.Y)
        if X.shape[0] != Y.shape[0]:
            raise InputError(
                f"X has {X.shape[0]} rows and Y has {Y.shape[0]}: every sample needs both."
            )
        categories = (
            tuple(tuple(map(str, column)) for column in self.categories)
            or ((),) * X.shape[1]
        )
        _check_texts(chain(*categories), "A category")
        if len(categories) != X.shape[1]:
            raise InputError(
                f"There are {len(categories)} lists of categories for {X.shape[1]} features."
            )
        checked = {"X": X, "Y": Y, "categories": categories}
        if self.split is not None:
            checked["split"] = split = np.asarray(self.split).astype(
                np.uint8, casting="unsafe"
            )
            if split.shape != X.shape[:1] or not np.isin(self.split, (0, 1)).all():
                raise InputError(
                    f"The split must hold 0 (train) or 1 (test) for each of the {X.shape[0]} samples."
                )
        checked["feature_names"] = _names(
            self.feature_names, X.shape[1], "feature", "x"
        )
        checked["label_names"] = _names(self.label_names, Y.shape[1], "label", "label")
        vars(self).update(checked)  # the fields of a frozen record cannot be assigned

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of samples, features and labels."""
        return int(self.X.shape[0]), int(self.X.shape[1]), int(self.Y.shape[1])

    @property
    def cardinality(self) -> float:
        """Mean number of labels of a sample."""
        return float(self.Y.sum(axis=1, dtype=np.int64).mean()) if self.Y.size else 0.0

    @property
    def density(self) -> float:
        """Share of ones among the labels: cardinality divided by the number of labels."""
        return self.cardinality / max(self.shape[2], 1)

    @property
    def is_sparse(self) -> bool:
        """Whether X is a CSR matrix."""
        return sparse.issparse(self.X)

    def __repr__(self) -> str:
        n, d, n_labels = self.shape
        filled = f" ({self.X.nnz / max(n * d, 1):.1%} filled)" if self.is_sparse else ""
        shares = f"cardinality {self.cardinality:.3f}, density {self.density:.3f}"
        return f"Dataset({self.name!r}: {n} samples, {d} features{filled}, {n_labels} labels, {shares})"

    def frames(self) -> tuple[Any, Any]:
        """Features and labels as two pandas data frames.

        A nominal feature becomes a column of unordered categories, by the names that the file gives them. Sparse
        features stay sparse columns of numbers.
        """
        import pandas

        make = (
            pandas.DataFrame.sparse.from_spmatrix
            if self.is_sparse
            else pandas.DataFrame
        )
        X = make(self.X, columns=list(self.feature_names))
        columns = (
            ()
            if self.is_sparse
            else zip(self.feature_names, self.X.T, self.categories, strict=True)
        )
        for feature, values, categories in [column for column in columns if column[2]]:
            codes = pandas.Index(category_values(categories)).get_indexer(values)
            if (strange := values[(codes < 0) & ~np.isnan(values)]).size:
                raise InputError(
                    f"Feature {feature!r} holds {strange[0]:g}: that is none of its categories."
                )
            X[feature] = pandas.Categorical.from_codes(codes, categories)
        return X, pandas.DataFrame(self.Y, columns=list(self.label_names))

    def to_frame(self) -> Any:
        """Features, then labels, in one pandas data frame."""
        import pandas

        return pandas.concat(self.frames(), axis=1)


def _features(X: Any) -> Any:
    """X as a float64 array or CSR array with two axes, sharing memory where nothing has to change."""
    check_plain(X, "X")
    if sparse.issparse(X):
        X = sparse.csr_array(X, dtype=np.float64)
        if (
            X.indices.dtype != np.int32
            and max(X.nnz, *X.shape) < np.iinfo(np.int32).max
        ):
            # Much compiled code takes 32-bit indices only, and the products are faster with them.
            X = sparse.csr_array(
                (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)),
                shape=X.shape,
            )
        return X
    try:
        X = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "X holds something that is not a number: code text columns as numbers first."
        ) from None
    if X.ndim != 2:
        raise InputError(f"X has {X.ndim} axes; it needs two: samples and features.")
    return X


def _labels(Y: Any) -> NDArray[np.int8]:
    check_plain(Y, "Y")
    Y = np.asarray(dense(Y))
    if Y.ndim != 2:
        raise InputError(f"Y has {Y.ndim} axes; it needs two: samples and labels.")
    if Y.dtype != np.bool_ and not np.isin(Y, (0, 1)).all():
        raise InputError("Y holds something other than 0 and 1.")
    return np.ascontiguousarray(Y, dtype=np.int8)


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
    try:
        return float(text) if "_" not in text else np.nan  # float() reads 1_0 as 10
    except ValueError:
        return np.nan


def repeated(names: Iterable[str]) -> str | None:
    """The first name that is there more than once, if any."""
    return next((name for name, count in Counter(names).items() if count > 1), None)


def short(text: str) -> str:
    """A piece of a file for a message: quoted, printable, and not long."""
    return repr(text if len(text) <= 40 else text[:40] + "…")


def split_names(names: str | Iterable[str]) -> list[str]:
    """Names from a list, or from one string with commas between them; a name that holds a comma is quoted."""
    if not isinstance(names, str):
        return [str(name) for name in names]
    return [
        name.strip()
        for name in next(csv.reader([names], skipinitialspace=True), [])
        if name.strip()
    ]


def pick_labels(
    labels: int | str | Path | Iterable[str], columns: Sequence[str], where: str
) -> list[str]:
    """Names as they were given, or so many of the last columns; of the first ones if the number is negative."""
    try:
        n = int(str(labels))
    except ValueError:
        return split_names(str(labels) if isinstance(labels, int | Path) else labels)
    if abs(n) >= len(columns):
        plural = "s" if len(columns) > 1 else ""
        raise InputError(
            f"{where} has {len(columns):,} column{plural}: {abs(n)} labels leave no feature."
        )
    return list(columns[:-n] if n < 0 else columns[len(columns) - n :])


def unique_names(names: Iterable[str], columns: Iterable[str], where: str) -> list[str]:
    """Names of columns, each once; an `InputError` names those that are not there, and what may be meant."""
    names, columns = list(dict.fromkeys(names)), dict.fromkeys(columns)
    if missing := [name for name in names if name not in columns]:
        close = get_close_matches(missing[0], columns, n=1)
        shown = ", ".join(map(repr, missing[:5])) + (", …" if len(missing) > 5 else "")
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise InputError(
            f"{where} has no column {shown} (it has {len(columns)} columns){hint}"
        )
    return names


def unreadable(path: Any, error: Exception, what: str = "") -> InputError:
    """The sentence about a file that cannot be read, or that is none of the kind ``what``."""
    if isinstance(error, MemoryError):
        return too_large(path)
    reason = getattr(error, "strerror", None) or next(
        iter(str(error).strip().splitlines()), ""
    )
    if what and isinstance(error, FileNotFoundError):
        reason = "there is no such file"
    verdict = f"is not a readable {what}" if what else "cannot be read"
    return InputError(
        f"{path} {verdict}: {(reason or type(error).__name__)[:300].rstrip('.')}."
    )


def _check_texts(texts: Iterable[str], what: str) -> None:
    """Refuse what cannot be written: halves of characters, as damaged files hold them."""
    try:
        "".join(
            map(str, texts)
        ).encode().decode()  # and back: NumPy may hold numbers beyond all characters
    except UnicodeError:
        raise InputError(
            f"{what} holds something that is no character: rename it."
        ) from None


def _names(names: Sequence[str], count: int, kind: str, prefix: str) -> tuple[str, ...]:
    _check_texts(names, f"A {kind} name")
    names = tuple(map(str, names)) or tuple(f"{prefix}{i + 1}" for i in range(count))
    if len(names) != count:
        raise InputError(f"There are {len(names)} {kind} names for {count} {kind}s.")
    if (twice := repeated(names)) is not None:
        raise InputError(
            f"The {kind} name {twice!r} is used twice: rename one of the columns."
        )
    return names
