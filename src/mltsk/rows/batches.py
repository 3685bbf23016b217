"""Later batches of a stream, in the columns of its first batch.

Labels and features are matched by name. Where one of two batches has names and the
other has none, nothing says whether their columns have the same order: such a batch is
refused, because what a stream has learned from it could not be taken back.

Symbols: n rows of a batch, L labels of the stream.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from ..core.arrays import FloatArray, Matrix, check_plain, is_csr
from ..exceptions import InputError
from ..frames import has_columns
from ..targets import Targets, are_label_lists, default_label_names, plain_lists
from ..text import listing
from .read import TableLike, TargetsLike

MAX_NAMES_IN_MESSAGE = 10


# labels -------------------------------------------------------------------------------


def first_targets(y: TargetsLike, classes: TargetsLike) -> Targets:
    """Targets of the first batch; ``classes`` names all labels of the stream, or None.

    Examples
    --------
    >>> first_targets([["b"], ["a"]], classes=["a", "b", "c"]).names
    ('a', 'b', 'c')
    """
    if classes is None:
        return Targets.of(y)
    classes = _class_list(classes)
    if _is_one_class_per_row(y):
        targets = Targets.of(np.asarray(classes))
        return replace(targets, Y=targets.indicator(column_or_1d(y)))
    if _is_lists(y):
        names = tuple(str(label) for label in classes)
        labels = StreamLabels(names, np.arange(len(names)), multilabel=True)
        return Targets(labels.indicator(y), labels.classes, names, multilabel=True)
    targets = Targets.of(y)
    StreamLabels.of(targets).check_classes(classes)
    return targets


@dataclass(frozen=True)
class StreamLabels:
    """The labels of a stream, as its first batch had them.

    ``names`` are L texts, ``classes`` those of one-dimensional targets.
    """

    names: tuple[str, ...]
    classes: NDArray[np.generic]
    multilabel: bool

    @classmethod
    def of(cls, targets: Targets) -> "StreamLabels":
        """The labels of targets."""
        return cls(targets.names, targets.classes, targets.multilabel)

    def check_classes(self, classes: TargetsLike) -> None:
        """Refuse ``classes`` other than those of the first batch; None is fine.

        So is [0, 1] for an indicator: these are the values of its cells, which tools of
        scikit-learn pass.
        """
        if classes is None:
            return
        classes = _class_list(classes)
        if self.multilabel:
            labels: list[object] = list(self.names)
            are_cells = {0, 1}.issuperset(classes)
            are_same = are_cells or {str(label) for label in classes} == set(labels)
        else:
            labels = self.classes.tolist()
            are_same = set(classes) == set(labels)
        if not are_same:
            raise InputError(
                f"classes has {_listed(classes)}, but the first batch has "
                f"{_listed(labels)}: leave classes out, or begin a new stream."
            )

    def indicator(self, y: TargetsLike) -> FloatArray:
        """The targets of a later batch (n, L), in the columns of the first.

        Examples
        --------
        >>> labels = StreamLabels.of(Targets.of([["a"], ["b"]]))
        >>> labels.indicator([["b"], [], ["b", "a"]]).tolist()
        [[0.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
        """
        check_plain(y, "y")
        if not self.multilabel:
            return self._of_classes(y)
        if _is_lists(y):
            return self._of_lists(plain_lists(y))
        if hasattr(y, "columns"):
            return self._of_frame(y)
        return self._of_array(y)

    @property
    def _are_named(self) -> bool:
        """Whether labels have names of their own, not just positions."""
        return self.names != default_label_names(len(self.names))

    @property
    def _form(self) -> str:
        """What a batch may be, in words."""
        if self._are_named:
            return f"label lists, or a data frame with columns {_listed(self.names)}"
        return f"an array of 0 and 1 with {len(self.names)} columns, in the same order"

    def _of_classes(self, y: TargetsLike) -> FloatArray:
        """One class per row."""
        classes = self.classes.tolist()
        if not _is_one_class_per_row(y):
            raise InputError(
                "y has labels in columns or lists, but the first batch had one of the "
                f"classes {_listed(classes)} per row: pass these."
            )
        targets = Targets(np.zeros((0, 1)), self.classes, self.names, multilabel=False)
        return targets.indicator(column_or_1d(y))

    def _of_lists(self, rows: Iterable[Iterable[object]]) -> FloatArray:
        """Lists of the labels of each row."""
        positions = {name: j for j, name in enumerate(self.names)}
        label_lists = [[str(label) for label in labels] for labels in rows]
        Y = np.zeros((len(label_lists), len(self.names)))
        for row, labels in enumerate(label_lists):
            for label in labels:
                if label not in positions:
                    raise InputError(f"Row {row} of y has {self._unknown(label)}")
                Y[row, positions[label]] = 1.0
        return Y

    def _unknown(self, label: str) -> str:
        """Why a label cannot be learned, and what to do."""
        if not self._are_named:
            return (
                f"the label {label!r}, but the first batch did not name its labels: "
                f"pass {self._form}."
            )
        return (
            f"the label {label!r}, which is none of the first batch: "
            f"{_listed(self.names)}. Begin a stream with all labels: in its first "
            "batch, or as classes=[…] in its first call."
        )

    def _of_frame(self, y: TargetsLike) -> FloatArray:
        """A data frame, whose columns may have another order."""
        names = [str(name) for name in y.columns]
        for name in names:
            if name not in self.names:
                raise InputError(f"y has {self._unknown(name)}")
        absent = [name for name in self.names if name not in names]
        if absent:
            raise InputError(
                f"y lacks the label {absent[0]!r} of the first batch: pass "
                f"{self._form}."
            )
        Y = Targets.of(y).Y
        if names == list(self.names):
            return Y
        if len(names) != len(self.names) or len(set(names)) < len(names):
            raise InputError(
                f"y has several columns of one name: {_listed(names)}. They cannot be "
                f"matched with those of the first batch: {_listed(self.names)}."
            )
        return Y[:, [names.index(name) for name in self.names]]

    def _of_array(self, y: TargetsLike) -> FloatArray:
        """An indicator without names, dense or sparse."""
        shape = y.shape if sparse.issparse(y) else np.shape(y)
        if len(shape) != 2:
            raise InputError(
                "y has one class per row, but the first batch had several labels: pass "
                f"{self._form}."
            )
        if self._are_named:
            raise InputError(
                "y does not name its labels, but the first batch did: pass "
                f"{self._form}."
            )
        if shape[1] != len(self.names):
            raise InputError(
                f"y has the shape {tuple(shape)}, but there are {len(self.names)} "
                f"labels: pass {self._form}."
            )
        return Targets.of(y).Y


def _listed(names: Iterable[object]) -> str:
    """Names in a message, the first few."""
    return listing([repr(name) for name in names], at_most=MAX_NAMES_IN_MESSAGE)


def _class_list(classes: TargetsLike) -> list[object]:
    """The argument ``classes`` as a list."""
    if isinstance(classes, str) or np.ndim(classes) != 1 or not len(classes):
        raise InputError(
            "classes must list all labels of the stream, such as ['a', 'b', 'c']; "
            f"it is {classes!r}."
        )
    return np.asarray(classes).tolist()


def _is_lists(y: TargetsLike) -> bool:
    """Whether y lists the labels of each row, perhaps no label for any."""
    y = plain_lists(y)
    is_sequence = getattr(y, "ndim", 1) == 1 and hasattr(y, "__iter__")
    if not is_sequence or hasattr(y, "columns") or sparse.issparse(y):
        return False
    return are_label_lists(y) or all(_is_empty_list(labels) for labels in y)


def _is_empty_list(labels: object) -> bool:
    if isinstance(labels, list | tuple | set | frozenset | np.ndarray):
        return len(labels) == 0
    return False


def _is_one_class_per_row(y: TargetsLike) -> bool:
    """Whether y has one dimension, or is an array of one column."""
    if hasattr(y, "columns") or sparse.issparse(y) or _is_lists(y):
        return False
    shape = np.shape(y)
    return len(shape) == 1 or (len(shape) == 2 and shape[1] == 1)


# features -----------------------------------------------------------------------------


def check_names_of_features(X: TableLike) -> None:
    """Refuse a batch whose columns have numbers for names.

    Such names are not kept, so that columns of later batches could not be matched. The
    numbers 0, 1, 2, … are fine: a frame has them where it was given no names.
    """
    if not has_columns(X):
        return
    numbers = [name for name in X.columns if not isinstance(name, str)]
    if numbers and numbers != list(range(X.shape[1])):
        raise InputError(
            f"X has columns named {_listed(X.columns)}: a stream matches columns by "
            "names that are text. Rename them, as in X.rename(columns=str)."
        )


def check_same_features(names: NDArray[np.object_] | None, X: TableLike) -> None:
    """Refuse a later batch with names where the first had none, or without.

    Other names, and another order, are refused by scikit-learn's checks.
    """
    has_names = has_columns(X) and all(isinstance(name, str) for name in X.columns)
    if has_names and names is None:
        raise InputError(
            "X names its columns, but the first batch did not, so they cannot be "
            "matched: pass an array, such as X.to_numpy(), in the order of the first."
        )
    if names is not None and not has_names:
        raise InputError(
            "X does not name its columns, but the first batch did: pass a data frame "
            f"with columns {_listed(names.tolist())}."
        )


def in_form_of(first: Matrix, X: Matrix) -> Matrix:
    """X dense or CSR, as the rows of the first batch are."""
    if is_csr(first) == is_csr(X):
        return X
    return X.toarray() if is_csr(X) else sparse.csr_array(X)
