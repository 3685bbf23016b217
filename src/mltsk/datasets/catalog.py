"""The catalog: what is known about the data sets of the paper's Table I, as frozen records read from `catalog.toml`,
which says what each field means.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any
from urllib.parse import urljoin

from mltsk.exceptions import InputError


@dataclass(frozen=True)
class Entry:
    """One data set of the catalog.

    ``mirrors`` holds the addresses of the files, mirror by mirror; each mirror carries all of them, in the order of
    ``files``. ``content`` is the content digest of the data set and ``git_blob`` git's name of its only file; at least
    one of them is known.
    """

    key: str
    title: str
    n_samples: int
    n_features: int
    n_labels: int
    cardinality: float
    sparse: bool
    page: str
    files: tuple[str, ...]
    mirrors: tuple[tuple[str, ...], ...]
    licence: str
    about: str
    labels: int | str | tuple[str, ...] | None = None
    feature_names: str = ""
    first_feature: int = 1
    label_names: str | tuple[str, ...] = ()
    binary_features: bool = False
    split: tuple[tuple[int, int], ...] = ()
    content: str = ""
    git_blob: str = ""
    openml: int | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of samples, features and labels."""
        return self.n_samples, self.n_features, self.n_labels

    @property
    def names_file(self) -> str | None:
        """The file that names the labels, where there is one."""
        return next((name for name in self.files if name.endswith(".xml")), None)


@cache
def catalog() -> Mapping[str, Entry]:
    """The data sets of the catalog, by key.

    Examples
    --------
    >>> from mltsk.datasets import catalog
    >>> catalog()["yeast"].shape
    (2417, 103, 14)
    """
    raw = tomllib.loads(files(__package__).joinpath("catalog.toml").read_text(encoding="utf-8"))
    return MappingProxyType({key: _entry(key, fields, raw["sources"]) for key, fields in raw["datasets"].items()})


def find_entry(name: str) -> Entry:
    """The entry of that name, in any mixture of capitals; the error for an unknown one suggests others."""
    entries = catalog()
    key = name.strip().lower()
    if key in entries:
        return entries[key]
    close = get_close_matches(key, entries, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"there are {', '.join(entries)}."
    raise InputError(f"The catalog has no data set {name!r}: {hint}")


def _entry(key: str, fields: dict[str, Any], sources: Mapping[str, Any]) -> Entry:
    source = sources[fields.pop("from")]
    paths = fields.pop("files")
    mirrors = [[urljoin(base, path) for path in paths] for base in source["bases"]] + fields.pop("mirrors", [])
    return Entry(
        key,
        fields.pop("title"),
        *fields.pop("shape"),
        page=source["page"],
        files=tuple(path.rpartition("/")[2] for path in paths),
        mirrors=_frozen(mirrors),
        content=fields.pop("content", "").removeprefix("sha256:"),
        **{name: _frozen(value) for name, value in fields.items()},
    )


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
