"""What an experiment consists of: data sets, methods with their grids, and protocols.

It is read from TOML and checked. `section_iv.toml` in this folder is the paper's;
docs/guide/experiments.md shows a file of one's own. An error names the file, the field
and what it should have been.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, Literal

from ...datasets import catalog
from ...exceptions import InputError
from ...limits import read_bounded
from .names import MAX_TITLE_LENGTH, DatasetName, MethodKey, dataset_name
from .published import PlainData, read_toml

try:
    from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
except ImportError as error:  # pragma: no cover
    raise ImportError('pip install "mltsk[data,report]"') from error

Protocol = Literal["paper", "strict", "nested"]
GridName = Literal["paper", "fast", "authors"]
Grid = dict[str, Annotated[list[Any], Field(min_length=1)]]
Labels = int | str | tuple[str, ...] | None  # label columns of a file, or how many
IMPORT_PATH = r"^\w+(\.\w+)*:\w+$"
# Bytes in memory per byte of a file of short fields, each with a complaint about it; at
# most twice as many were seen.
TOML_EXPANSION = 80
# A definition may come from a stranger: only classes with these methods are called.
_CLASSIFIER_METHODS = ("fit", "predict", "get_params", "set_params")


class _CheckedModel(BaseModel):
    """A table of the file: unknown fields are refused, and nothing changes later."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class DataDefinition(_CheckedModel):
    """A data set of the catalog, or a file with its label columns.

    A large one may have its own grid and protocols.
    """

    name: DatasetName
    file: str | None = None
    labels: Labels = None
    grid: GridName | None = None
    protocols: tuple[Protocol, ...] | None = None

    @model_validator(mode="after")
    def _labels_belong_to_files(self) -> "DataDefinition":
        if self.file is None and self.labels is not None:
            raise ValueError("labels are for a file of one's own: name it in `file`")
        return self


class MethodDefinition(_CheckedModel):
    """A classifier, what is done to its features, and its grids.

    ``scale`` is "minmax" for methods that expect features in [0, 1] or "none" for those
    that scale for themselves. ``split`` names the parameter by whose values a grid is
    cut into pieces of work. ``device`` is where tensors are computed, if the class has
    a parameter of that name; it is no setting, since numbers depend on it by rounding
    alone. ``gpu`` is false for a method that a GPU does not make faster: ``--device``
    then leaves it where it is. A grid that is not given is the class's ``PAPER_GRID``
    under "paper", and the class's defaults alone without one; ``grid_for`` names
    another one for a data set. ``variant_of`` is the key of the method of which this is
    another reading. ``protocols`` and ``datasets`` are those of the experiment on which
    the method is run, all by default.
    """

    key: MethodKey
    title: str = Field(default="", max_length=MAX_TITLE_LENGTH)
    paper: str | None = Field(default=None, max_length=MAX_TITLE_LENGTH)
    path: str = Field(alias="class", pattern=IMPORT_PATH)
    params: PlainData = {}
    params_for: dict[str, PlainData] = {}
    scale: Literal["minmax", "none"] = "none"
    device: str | None = None
    gpu: bool = True
    split: str | None = None
    grids: dict[GridName, Grid] = {}
    grid_for: dict[str, GridName] = {}
    variant_of: str | None = Field(default=None, max_length=MAX_TITLE_LENGTH)
    protocols: list[Protocol] | None = None
    datasets: list[str] | None = None

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, content: object) -> object:
        """A method of Section IV needs no more than its key."""
        if not isinstance(content, dict) or "class" in content:
            return content
        for method in known_methods():
            if method.key == content.get("key"):
                return {**method.model_dump(by_alias=True), **content}
        return content


class Definition(_CheckedModel):
    """A whole experiment."""

    title: str = Field(default="Experiment", max_length=MAX_TITLE_LENGTH)
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
        _refuse_repeated("data set", [data.name for data in self.datasets])
        _refuse_repeated("method", [method.key for method in self.methods])
        return self


def _refuse_repeated(kind: str, names: Sequence[str]) -> None:
    repeated = sorted(name for name in names if names.count(name) > 1)
    if repeated:
        raise ValueError(f"the {kind} {repeated[0]!r} is there twice")


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
    """The methods of Section IV, other readings of them, and what came after them.

    Examples
    --------
    >>> [method.key for method in known_methods() if method.variant_of == "c2ae"][:1]
    ['c2ae-published']
    """
    originals = {method.key: method for method in section_iv().methods}
    methods = list(originals.values())
    for changes in read_toml("variants.toml")["methods"]:
        original = originals[changes["variant_of"]]
        content = original.model_dump(by_alias=True, exclude={"paper"})
        methods.append(MethodDefinition.model_validate({**content, **changes}))
    for content in read_toml("successors.toml")["methods"]:
        methods.append(MethodDefinition.model_validate(content))
    return methods


def read_definition(path: str | Path) -> Definition:
    """An experiment from a TOML file; what it does not name is Section IV's.

    Its data files lie relative to it.
    """
    path = Path(path)
    try:
        text = read_bounded(path, TOML_EXPANSION).decode()
        content = tomllib.loads(text)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        # Also of numbers and nesting beyond what Python reads.
        raise InputError(f"{path} is no TOML file: {error}.") from None
    defaults = {"datasets": section_iv().datasets, "methods": section_iv().methods}
    definition = _checked({**defaults, **content}, str(path))
    datasets = []
    for data in definition.datasets:
        if data.file:
            data = data.model_copy(update={"file": str(path.parent / data.file)})
        datasets.append(data)
    return definition.model_copy(update={"datasets": datasets})


def pick_datasets(
    definition: Definition, names: Sequence[str], labels: Labels = None
) -> list[DataDefinition]:
    """Data sets of the definition or of the catalog by name, or files with labels."""
    by_name = {data.name: data for data in definition.datasets}
    picked = []
    for name in names:
        if name in by_name:
            data = by_name[name]
        elif "/" in name or "\\" in name or Path(name).suffix:
            own_name = dataset_name(Path(name).stem)
            data = DataDefinition(name=own_name, file=name, labels=labels)
        elif name in catalog():
            data = DataDefinition(name=name)
        else:
            ways = f"take {', '.join(by_name)}, or a file by its path (./{name}.csv)"
            raise InputError(f"There is no data set {name!r}: {ways}.")
        picked.append(data)
    return picked


def pick_methods(
    definition: Definition, names: Sequence[str]
) -> list[MethodDefinition]:
    """Methods by key, by entry point of the group ``mltsk.methods``, or import path."""
    by_key = {method.key: method for method in known_methods()}
    by_key |= {method.key: method for method in definition.methods}
    return [_pick_method(name, by_key) for name in names]


def _pick_method(name: str, by_key: Mapping[str, MethodDefinition]) -> MethodDefinition:
    if name in by_key:
        return by_key[name]
    entries = tuple(entry_points(group="mltsk.methods", name=name))
    if entries:
        content = {"key": name, "class": entries[0].value}
        return MethodDefinition.model_validate(content)
    module, _, attribute = name.replace(":", ".").rpartition(".")
    if not re.match(IMPORT_PATH, f"{module}:{attribute}"):
        ways = (
            f"take {', '.join(by_key)}, or the import path of a scikit-learn "
            "classifier, such as sklearn.ensemble:ExtraTreesClassifier"
        )
        raise InputError(f"There is no method {name!r}: {ways}.")
    content = {"key": attribute, "class": f"{module}:{attribute}"}
    method = MethodDefinition.model_validate(content)
    class_of(method)
    return method


def class_of(method: MethodDefinition) -> type:
    """The method's class, from its import path."""
    module, class_name = method.path.split(":")
    try:
        candidate = getattr(import_module(module), class_name)
    except (ImportError, AttributeError) as error:
        if str(error).startswith("pip install"):
            raise
        problem = f"cannot be imported from {method.path!r}: {error}."
        raise InputError(f"The method {method.key!r} {problem}") from None
    if isinstance(candidate, type) and _is_classifier(candidate):
        return candidate
    names = ", ".join(_CLASSIFIER_METHODS)
    problem = f"names {method.path!r}, which is no class with {names}"
    raise InputError(
        f"The method {method.key!r} {problem}: classifiers alone may be named."
    )


def _is_classifier(candidate: type) -> bool:
    return all(callable(getattr(candidate, name, None)) for name in _CLASSIFIER_METHODS)


def grid_of(method: MethodDefinition, name: GridName) -> Grid:
    """The grid that a method has under a name: its own, the class's, or an empty one.

    The class's is ``PAPER_GRID``; an empty grid stands for the defaults alone. A method
    without an "authors" grid is run with its paper's.
    """
    if name == "authors" and name not in method.grids:
        name = "paper"
    if name in method.grids:
        grid = method.grids[name]
    else:
        grid = getattr(class_of(method), "PAPER_GRID", {})
    return {parameter: list(values) for parameter, values in grid.items()}


def _checked(content: PlainData, source: str) -> Definition:
    """The definition, or an error that names its source and the first wrong field."""
    try:
        return Definition.model_validate(content)
    except ValidationError as error:
        raise InputError(f"{source}: {_first_complaint(error)}.") from None


def _first_complaint(error: ValidationError) -> str:
    """Which field is wrong, in which way, and how many more are."""
    first = error.errors()[0]
    path = ""
    for step in first["loc"]:
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    field = f"the field `{path.removeprefix('.')}`" if path else "it"
    problems = {"missing": "is missing", "extra_forbidden": "is not known"}
    reason = first["msg"].removeprefix("Value error, ")
    problem = problems.get(first["type"], f"is wrong: {reason}")
    others = error.error_count() - 1
    more = f" ({others} more such)" if others else ""
    return f"{field} {problem}{more}"
