"""Some of many: parts of a model that are made when they are looked at, and labels and features by name.

A model of 500 features and 160 labels has 80,000 shapes, of which a reader looks at a few.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

from ..exceptions import InputError, optional
from .tables import Index, Tables
from .wording import Page

T = TypeVar("T")


class Items(Sequence[T]):
    """A read-only sequence of ``length`` items, each made on access; slices are tuples."""

    def __init__(self, length: int, make: Callable[[int], T]) -> None:
        self.length, self.make = length, make

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, i: Any) -> Any:
        where = range(self.length)[i]
        return self.make(where) if isinstance(where, int) else tuple(map(self.make, where))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __repr__(self) -> str:
        return f"<{self.length} items>"


@dataclass(frozen=True, eq=False, repr=False)
class Narrowed(Page):
    """What is told of some labels of a system."""

    tables: Tables
    kept_labels: Index

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels."""
        return tuple(self.tables.system.label_names[j] for j in self.kept_labels)

    def for_label(self, *names: str) -> Self:
        """The same for some labels only."""
        return replace(self, kept_labels=positions(self.label_names, names, self.kept_labels, "label"))


def positions(names: Sequence[str], wanted: Iterable[str], kept: Index, kind: str) -> Index:
    """Those of ``kept`` whose names are wanted; of a name that is not there, an error says what comes close."""
    found = []
    for name in wanted:
        if name not in names:
            close = difflib.get_close_matches(str(name), names, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"the first of {len(names)} is {names[0]!r}."
            raise InputError(f"There is no {kind} called {name!r}: {hint}")
        found += [i for i, known in enumerate(names) if known == name]
    if not found:
        raise InputError(f"Name at least one {kind} to keep.")
    return kept[found]


def frame(rows: Iterable[Mapping[str, Any]], library: str = "pandas") -> Any:
    """Rows as a data frame of "pandas" or "polars", whose types are found on all of them."""
    options = {"infer_schema_length": None} if library == "polars" else {}
    return optional(library, "data").DataFrame(list(rows), **options)
