"""What an experiment consists of: data sets, methods with their grids, protocols. Read from TOML and checked.

`section_iv.toml` in this folder is the paper's; docs/guide/experiments.md shows a file of one's own. An error names the
file, the field and what it should have been.
"""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, Literal

from ...datasets import catalog
from ...exceptions import InputError
from .published import read_toml

try:
    from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
except ImportError as error:  # pragma: no cover
    raise ImportError('pip install "mltsk[data,report]"') from error

Protocol = Literal["paper", "strict", "nested"]
GridName = Literal["paper", "fast", "authors"]
Grid = dict[str, Annotated[list[Any], Field(min_length=1)]]
_CLASSIFIER = (
    "fit",
    "predict",
    "get_params",
    "set_params",
)  # a definition may come from a stranger: nothing else runs


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class DataDefinition(_Part):
    """A data set of the catalog, or a file with its label columns; a large one may have its own grid and protocols."""

    name: str = Field(min_length=1, pattern=r"^[^/\\\s]+$")
    file: str | None = None
    labels: int | str | tuple[str, ...] | None = None
    grid: GridName | None = None
    protocols: tuple[Protocol, ...] | None = None

    @model_validator(mode="after")
    def _labels_belong_to_files(self) -> "DataDefinition":
        if self.file is None and self.labels is not None:
            raise ValueError("labels are for a file of one's own: name it in `file`")
        return self


class MethodDefinition(_Part):
    """A classifier, what is done to its features, and its grids.

    ``scale`` is "minmax" for methods that expect features in [0, 1] or "none" for those that scale for themselves.
    ``split`` names the parameter by whose values a grid is cut into pieces of work. ``device`` is where tensors are
    computed, if the class has a parameter of that name; it is no setting, since numbers depend on it by rounding alone.
    ``gpu`` is false for a method that a GPU does not make faster: ``--device`` then leaves it where it is.
    A grid that is not given is the class's ``PAPER_GRID`` under "paper", and the class's defaults alone without one;
    ``grid_for`` names another one for a data set. ``variant_of`` is the key of the method of which this
    is another reading; ``protocols`` and ``datasets`` are those of the experiment on which it is run, all by default.
    """

    key: str = Field(min_length=1, pattern=r"^[\w.+-]+$")
    title: str = ""
    paper: str | None = None
    path: str = Field(alias="class", pattern=r"^[\w.]+:\w+$")
    params: dict[str, Any] = {}
    params_for: dict[str, dict[str, Any]] = {}
    scale: Literal["minmax", "none"] = "none"
    device: str | None = None
    gpu: bool = True
    split: str | None = None
    grids: dict[GridName, Grid] = {}
    grid_for: dict[str, GridName] = {}
    variant_of: str | None = None
    protocols: list[Protocol] | None = None
    datasets: list[str] | None = None

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, content: Any) -> Any:
        """A method of Section IV needs no more than its key."""
        if not isinstance(content, dict) or "class" in content:
            return content
        known = [
            m.model_dump(by_alias=True)
            for m in known_methods()
            if m.key == content.get("key")
        ]
        return {**known[0], **content} if known else content


class Definition(_Part):
    """A whole experiment."""

    title: str = "Experiment"
    protocols: list[Protocol] = Field(default=["paper"], min_length=1)
    seeds: list[int] = Field(default=[0], min_length=1)
    folds: int = Field(default=5, ge=2)
    inner_folds: int = Field(default=3, ge=2)
    grid: GridName = "paper"
    convention: Literal["paper", "standard"] = "paper"
    studies: bool = True
    datasets: list[DataDefinition] = Field(min_length=1)
    methods: list[MethodDefinition] = Field(min_length=1)

    @model_validator(mode="after")
    def _no_name_twice(self) -> "Definition":
        for what, names in (
            ("data set", [d.name for d in self.datasets]),
            ("method", [m.key for m in self.methods]),
        ):
            if twice := {name for name in names if names.count(name) > 1}:
                raise ValueError(f"the {what} {sorted(twice)[0]!r} is there twice")
        return self


@cache
def section_iv() -> Definition:
    """The paper's experiments: twelve data sets, nine methods, and our default.

    Examples
    --------
    >>> [method.key for method in section_iv().methods][-2:]
    ['ml-tsk-fs', 'mltsk']
    """
    return _checked(read_toml("section_iv.toml"), "section_iv.toml")


@cache
def known_methods() -> list[MethodDefinition]:
    """The methods of Section IV, and other readings of them.

    Examples
    --------
    >>> [method.key for method in known_methods() if method.variant_of == "c2ae"][:1]
    ['c2ae-published']
    """
    originals = {
        method.key: method.model_dump(by_alias=True, exclude={"paper"})
        for method in section_iv().methods
    }
    variants = [
        {**originals[own["variant_of"]], **own}
        for own in read_toml("variants.toml")["methods"]
    ]
    return [*section_iv().methods, *map(MethodDefinition.model_validate, variants)]


def read_definition(path: str | Path) -> Definition:
    """An experiment from a TOML file; files lie relative to it, and what it does not name is Section IV's."""
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except (
        ValueError,
        RecursionError,
    ) as error:  # also of numbers and nesting beyond what Python reads
        raise InputError(f"{path} is no TOML file: {error}.") from None
    known = section_iv()
    definition = _checked(
        {"datasets": known.datasets, "methods": known.methods, **content}, str(path)
    )
    placed = [
        d.model_copy(update={"file": str(path.parent / d.file)}) if d.file else d
        for d in definition.datasets
    ]
    return definition.model_copy(update={"datasets": placed})


def pick_datasets(
    definition: Definition, names: Sequence[str], labels: Any = None
) -> list[DataDefinition]:
    """Data sets of the definition or of the catalog by name, or files of one's own with their labels."""
    known, picked = {data.name: data for data in definition.datasets}, []
    for name in names:
        if name in known:
            picked.append(known[name])
        elif "/" in name or "\\" in name or Path(name).suffix:
            picked.append(
                DataDefinition(
                    name=Path(name).stem.replace(" ", "_"), file=name, labels=labels
                )
            )
        elif name in catalog():
            picked.append(DataDefinition(name=name))
        else:
            ways = f"take {', '.join(known)}, or a file by its path (./{name}.csv)"
            raise InputError(f"There is no data set {name!r}: {ways}.")
    return picked


def pick_methods(
    definition: Definition, names: Sequence[str]
) -> list[MethodDefinition]:
    """Methods by key, by the name of an entry point of the group ``mltsk.methods``, or by import path."""
    known, picked = (
        {method.key: method for method in (*known_methods(), *definition.methods)},
        [],
    )
    for name in names:
        module, _, attribute = name.replace(":", ".").rpartition(".")
        if name in known:
            picked.append(known[name])
        elif entries := tuple(entry_points(group="mltsk.methods", name=name)):
            picked.append(
                MethodDefinition.model_validate(
                    {"key": name, "class": entries[0].value}
                )
            )
        elif module:
            picked.append(
                MethodDefinition.model_validate(
                    {"key": attribute, "class": f"{module}:{attribute}"}
                )
            )
            class_of(picked[-1])
        else:
            ways = f"take {', '.join(known)}, or the import path of a scikit-learn classifier"
            raise InputError(
                f"There is no method {name!r}: {ways}, such as sklearn.ensemble:ExtraTreesClassifier."
            )
    return picked


def class_of(method: MethodDefinition) -> type:
    """The method's class, from its import path."""
    module, name = method.path.split(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        if str(error).startswith("pip install"):
            raise
        raise InputError(
            f"The method {method.key!r} cannot be imported from {method.path!r}: {error}."
        ) from None
    if not isinstance(found, type) or not all(
        callable(getattr(found, name, None)) for name in _CLASSIFIER
    ):
        what = f"{method.path!r}, which is no class with {', '.join(_CLASSIFIER)}"
        raise InputError(
            f"The method {method.key!r} names {what}: classifiers alone may be named."
        )
    return found


def grid_of(method: MethodDefinition, name: GridName) -> Grid:
    """The grid that a method has under a name: its own, the class's ``PAPER_GRID``, or none (its defaults alone).

    A method without an "authors" grid is run with its paper's.
    """
    if name == "authors" and name not in method.grids:
        name = "paper"
    grid = (
        method.grids[name]
        if name in method.grids
        else getattr(class_of(method), "PAPER_GRID", {})
    )
    return {parameter: list(values) for parameter, values in grid.items()}


def _checked(content: Mapping[str, Any], where: str) -> Definition:
    """The definition, or a sentence about the first complaint: which field of which file, and what is wrong with it."""
    try:
        return Definition.model_validate(content)
    except ValidationError as error:
        first, more = error.errors()[0], error.error_count() - 1
    parts = [
        f"[{part}]" if isinstance(part, int) else str(part) for part in first["loc"]
    ]
    what = {"missing": "is missing", "extra_forbidden": "is not known"}.get(
        first["type"]
    )
    message = what or f"is wrong: {first['msg'].removeprefix('Value error, ')}"
    field = f"the field `{'.'.join(parts).replace('.[', '[')}`" if parts else "it"
    raise InputError(
        f"{where}: {field} {message}{f' ({more} more such)' if more else ''}."
    )
