"""A fold as a file of plain arrays, which every environment can read.

Tables come twice: as numbers alone (median and indicator for what is missing, a column
per category) and as their own cells, with a code where there is a word.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Fold:
    """Rows to learn from and rows to predict.

    ``numbers`` are arrays or sparse matrices without a missing cell; ``cells`` are the
    same rows of a table as they are, or None. ``Y`` is NaN where a label was not
    observed; ``groups`` says which rows to learn from belong together, or is None.
    """

    numbers: Any
    numbers_test: Any
    Y: np.ndarray
    groups: np.ndarray | None
    cells: Any = None
    cells_test: Any = None

    @property
    def is_sparse(self) -> bool:
        return not isinstance(self.numbers, np.ndarray)

    @property
    def has_all_labels(self) -> bool:
        return not np.isnan(self.Y).any()

    @property
    def dense(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of both kinds of rows as arrays."""
        if self.is_sparse:
            return self.numbers.toarray(), self.numbers_test.toarray()
        return self.numbers, self.numbers_test

    @property
    def own_form(self) -> tuple[Any, Any]:
        """Both kinds of rows as a frame where there is one, else as numbers."""
        if self.cells is None:
            return self.numbers, self.numbers_test
        return self.cells, self.cells_test


def write_fold(path: Path, fold: Fold) -> None:
    """Write a fold; frames become codes and words."""
    arrays = {"Y": fold.Y}
    if fold.groups is not None:
        arrays["groups"] = fold.groups
    for name in ("numbers", "numbers_test"):
        matrix = getattr(fold, name)
        if not fold.is_sparse:
            arrays[name] = matrix
            continue
        for part in ("data", "indices", "indptr", "shape"):
            arrays[f"{name}_{part}"] = np.asarray(getattr(matrix, part))
    if fold.cells is not None:
        arrays |= _codes_of(fold.cells, fold.cells_test)
    np.savez(path, **arrays)


def read_fold(path: Path) -> Fold:
    """Read a fold; pandas is needed where it is a table's, SciPy where it is sparse."""
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    cells = None
    cells_test = None
    if "cells" in arrays:
        cells = _frame_of(arrays, "cells")
        cells_test = _frame_of(arrays, "cells_test")
    return Fold(
        numbers=_matrix_of(arrays, "numbers"),
        numbers_test=_matrix_of(arrays, "numbers_test"),
        Y=arrays["Y"],
        groups=arrays.get("groups"),
        cells=cells,
        cells_test=cells_test,
    )


def _codes_of(frame: Any, frame_test: Any) -> dict[str, np.ndarray]:
    """Cells of both frames as numbers, and the words that codes stand for."""
    import pandas as pd

    arrays: dict[str, np.ndarray] = {"names": np.array(frame.columns, dtype=str)}
    parts: dict[str, list[np.ndarray]] = {"cells": [], "cells_test": []}
    for place, name in enumerate(frame.columns):
        columns = {"cells": frame[name], "cells_test": frame_test[name]}
        if not pd.api.types.is_numeric_dtype(frame[name]):
            words = sorted(set(frame[name].dropna()) | set(frame_test[name].dropna()))
            arrays[f"words_{place}"] = np.array(words, dtype=str)
            codes = {word: code for code, word in enumerate(words)}
            columns = {key: column.map(codes) for key, column in columns.items()}
        for key, column in columns.items():
            parts[key].append(column.to_numpy(dtype=float, na_value=np.nan))
    for key, numbers in parts.items():
        arrays[key] = np.column_stack(numbers)
    return arrays


def _frame_of(arrays: dict[str, np.ndarray], key: str) -> Any:
    """A frame in which words are words again, None where there is none."""
    import pandas as pd

    columns = {}
    for place, name in enumerate(arrays["names"].tolist()):
        numbers = arrays[key][:, place]
        columns[name] = numbers
        if f"words_{place}" in arrays:
            words = arrays[f"words_{place}"].tolist()
            columns[name] = pd.Categorical.from_codes(
                np.nan_to_num(numbers, nan=-1).astype(int), categories=words
            )
    return pd.DataFrame(columns)


def _matrix_of(arrays: dict[str, np.ndarray], name: str) -> Any:
    if name in arrays:
        return arrays[name]
    from scipy.sparse import csr_matrix

    parts = (arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    return csr_matrix(tuple(parts), shape=tuple(arrays[f"{name}_shape"]))
