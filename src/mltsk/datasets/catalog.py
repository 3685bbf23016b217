"""The catalog: what is known about the data sets of the paper's Table I, as frozen records read from
`catalog.toml`.

`catalog.toml` says what each field means. Every field is checked when the file is read.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any
from urllib.parse import urljoin, urlsplit

from mltsk.exceptions import InputError

FORMATS = (".arff", ".mat", ".xml")


@dataclass(frozen=True)
class Entry:
    """One data set of the catalog.

    ``mirrors`` holds the addresses of the files, mirror by mirror; each mirror carries all of them, in the
    order of ``files``. ``content`` is the content digest of the data set and ``git_blob`` git's name of its
    only file; at least one of them is known.
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
    text = files(__package__).joinpath("catalog.toml").read_text(encoding="utf-8")
    return MappingProxyType(parse_catalog(text))


def find_entry(name: str) -> Entry:
    """The entry of that name, in any mixture of capitals; the error for an unknown one suggests others."""
    entries = catalog()
    key = name.strip().lower()
    if key in entries:
        return entries[key]
    close = get_close_matches(key, entries, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"there are {', '.join(entries)}."
    raise InputError(f"The catalog has no data set {name!r}: {hint}")


def parse_catalog(text: str) -> dict[str, Entry]:
    """Read and check a catalog in the format of `catalog.toml`."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"The catalog is not valid TOML: {error}.") from None
    sources = raw.get("sources", {})
    return {key: _entry(key, fields, sources) for key, fields in raw.get("datasets", {}).items()}


def _entry(key: str, raw: Mapping[str, Any], sources: Mapping[str, Any]) -> Entry:
    take = _Fields(key, dict(raw))
    n_samples, n_features, n_labels = take("shape", _shape)
    source = sources.get(take("from", _text))
    if source is None:
        raise InputError(f"The catalog's entry {key!r} comes from a source that is not listed: {raw['from']!r}.")
    paths = take("files", _files)
    mirrors = tuple(tuple(urljoin(base, path) for path in paths) for base in source["bases"])
    entry = Entry(
        key=key,
        n_samples=n_samples,
        n_features=n_features,
        n_labels=n_labels,
        page=source["page"],
        files=tuple(path.rpartition("/")[2] for path in paths),
        mirrors=mirrors + take("mirrors", _mirrors, ()),
        content=take("content", _hex("sha256:", 64), ""),
        git_blob=take("git_blob", _hex("", 40), ""),
        **{name: take(name, check) for name, check in _NEEDED.items()},
        **{name: take(name, check, _DEFAULTS[name]) for name, check in _OPTIONAL.items()},
    )
    take.nothing_left()
    return _checked(entry)


def _checked(entry: Entry) -> Entry:
    problem = None
    if not (entry.content or entry.git_blob):
        problem = "has neither content digest nor git_blob: a download could not be verified"
    elif any(len(mirror) != len(entry.files) for mirror in entry.mirrors):
        problem = "has a mirror that does not list all of its files"
    elif entry.split and sum(rows for rows, _ in entry.split) != entry.n_samples:
        problem = "has a split that does not add up to its samples"
    elif any(urlsplit(url).scheme not in ("http", "https") for mirror in entry.mirrors for url in mirror):
        problem = "has an address that is neither http nor https"
    if problem:
        raise InputError(f"The catalog's entry {entry.key!r} {problem}.")
    return entry


class _Fields:
    """The raw fields of one entry: each is taken once, checked, and nothing may be left over."""

    def __init__(self, key: str, raw: dict[str, Any]) -> None:
        self.key, self.raw = key, raw

    def __call__(self, name: str, check: Callable[[Any], Any], *default: Any) -> Any:
        if name not in self.raw:
            if default:
                return default[0]
            raise InputError(f"The catalog's entry {self.key!r} lacks {name!r}.")
        value = self.raw.pop(name)
        try:
            return check(value)
        except (AssertionError, TypeError, ValueError):
            raise InputError(f"The catalog's entry {self.key!r} has a bad {name!r}: {value!r}.") from None

    def nothing_left(self) -> None:
        if self.raw:
            raise InputError(f"The catalog's entry {self.key!r} has an unknown field {next(iter(self.raw))!r}.")


def _require(condition: bool) -> None:
    if not condition:
        raise ValueError


def _text(value: Any) -> str:
    _require(isinstance(value, str) and bool(value))
    return value


def _flag(value: Any) -> bool:
    _require(isinstance(value, bool))
    return value


def _whole(value: Any) -> int:
    _require(isinstance(value, int) and not isinstance(value, bool) and value >= 0)
    return value


def _positive(value: Any) -> float:
    _require(isinstance(value, int | float) and value > 0)
    return float(value)


def _texts(value: Any) -> tuple[str, ...]:
    _require(isinstance(value, list) and len(value) > 0)
    return tuple(_text(item) for item in value)


def _shape(value: Any) -> tuple[int, int, int]:
    n, d, n_labels = (_whole(size) for size in value)
    _require(min(n, d, n_labels) > 0)
    return n, d, n_labels


def _files(value: Any) -> tuple[str, ...]:
    paths = _texts(value)
    # The last part becomes the name of a file on disk: nothing in it may lead elsewhere.
    _require(all(re.fullmatch(r"[\w][\w.-]*", path.rpartition("/")[2]) for path in paths))
    _require(all(path.endswith(FORMATS) for path in paths))
    return paths


def _mirrors(value: Any) -> tuple[tuple[str, ...], ...]:
    return tuple(_texts(mirror) for mirror in value)


def _names(value: Any) -> str | tuple[str, ...]:
    return _text(value) if isinstance(value, str) else _texts(value)


def _labels(value: Any) -> int | str | tuple[str, ...]:
    return _whole(value) if isinstance(value, int) else _names(value)


def _runs(value: Any) -> tuple[tuple[int, int], ...]:
    runs = tuple((_whole(rows), _whole(part)) for rows, part in value)
    _require(all(part in (0, 1) for _, part in runs))
    return runs


def _hex(prefix: str, length: int) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        _require(re.fullmatch(rf"{prefix}[0-9a-f]{{{length}}}", value) is not None)
        return value.removeprefix(prefix)

    return check


_NEEDED = {"title": _text, "cardinality": _positive, "sparse": _flag, "licence": _text, "about": _text}
_OPTIONAL = {
    "labels": _labels,
    "feature_names": _text,
    "first_feature": _whole,
    "label_names": _names,
    "binary_features": _flag,
    "split": _runs,
    "openml": _whole,
}
_DEFAULTS = {field.name: field.default for field in fields(Entry)}
