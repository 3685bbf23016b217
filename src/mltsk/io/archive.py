"""Models as files: written in one step, read without running anything that a file brings along.

A model file is a skops archive (a zip file: ``schema.json`` and arrays in NumPy's format) with one more member,
``mltsk.json``, which says what wrote it and what the model was fitted on. skops trusts every estimator of
scikit-learn and more; we trust the types in `TRUSTED`, in a pipeline transformers of scikit-learn as well, and nothing
else, and check that before skops sees the file.
"""

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from ..exceptions import InputError
from ..files import writing
from ..limits import check_size
from ..pipelines import taken_apart
from ..rows.read import feature_names
from ..tables.kinds import NUMBER, ORDINAL, YES_NO
from .checks import check_model
from .state import with_plain_state

FORMAT = 4  # raise it when files of the version before, or of this one in that, can no longer be read
MANIFEST = "mltsk.json"
MAX_JSON, MAX_MEMBERS = 64 << 20, 10_000

_METHODS = (
    *(
        "binary_relevance.BinaryRelevanceTSK",
        "bp_mll.BPMLL",
        "c2ae.C2AE",
        "classifier_chain.ClassifierChainTSK",
    ),
    *("hnoml.HNOML", "jbnn.JBNN", "ml_knn.MLkNN", "ml_tsk_fs.PaperMLTSK", "mlsf.MLSF"),
)
_OURS = (
    *("mltsk.classifier.MLTSKClassifier", "mltsk.incremental.IncrementalMLTSK"),
    *(f"mltsk.paper.methods.{name}" for name in _METHODS),
)
_ROWS = (
    "scipy.sparse._csr.csr_matrix",
    "scipy.sparse._csr.csr_array",
)  # what a stream keeps of its samples
_NUMBERS = ("bool", "bool_", "int32", "int64", "float32", "float64")

# What a file may hold: by skops' name for the way in which a thing is rebuilt, the types that may be rebuilt so.
TRUSTED: Mapping[str, tuple[str, ...]] = {
    "ObjectNode": _OURS,
    "DictNode": ("builtins.dict",),
    "ListNode": ("builtins.list",),
    "TupleNode": ("builtins.tuple",),
    "JsonNode": ("builtins.str",),
    "TypeNode": ("builtins.str", "builtins.int"),
    "NdArrayNode": ("numpy.ndarray", *(f"numpy.{name}" for name in _NUMBERS)),
    "SparseMatrixNode": _ROWS,
    "RandomStateNode": ("numpy.random.mtrand.RandomState",),
}
PIPELINE = "sklearn.pipeline.Pipeline"


@cache
def trusted_in_pipelines() -> Mapping[str, tuple[str, ...]]:
    """What a file may hold whose model is a pipeline: `TRUSTED`, transformers of scikit-learn and what they consist of.

    None of it is a function: a FunctionTransformer may be there for columns that it passes on, and not with a ``func``.
    """
    from sklearn.base import TransformerMixin
    from sklearn.feature_extraction.text import (
        CountVectorizer,
    )  # which is no TransformerMixin
    from sklearn.utils import all_estimators

    found = [
        kind
        for _, kind in all_estimators()
        if issubclass(kind, TransformerMixin | CountVectorizer)
    ]
    types = (
        *(f"builtins.{name}" for name in ("str", "int", "float", "bool")),
        *(f"numpy.{name}" for name in _NUMBERS),
    )
    objects = (
        *_OURS,
        PIPELINE,
        *(f"{kind.__module__}.{kind.__qualname__}" for kind in found),
    )
    more = {
        "ObjectNode": objects,
        "TypeNode": types,
        "DTypeNode": ("numpy.dtype",),
        "SliceNode": ("builtins.slice",),
    }
    return {**TRUSTED, **more}


@dataclass(frozen=True)
class ModelInfo:
    """What a model file says next to the model.

    The name of the ``data`` set, names of features and labels, how the model was ``fitted`` (numbers and text), the
    ``kinds`` of its features as `mltsk.read_table` takes them, the columns that identify a row (``ids``), other options
    that its labels and missing cells were read with (``reading``), and the ``version`` of this package that wrote the
    file. A model that takes numbers alone has ``categories`` of nominal features, and sees
    `mltsk.datasets.category_values` of them.
    """

    data: str = ""
    feature_names: tuple[str, ...] = ()
    label_names: tuple[str, ...] = ()
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    fitted: dict[str, Any] = field(default_factory=dict)
    kinds: dict[str, str | tuple[str, ...]] = field(default_factory=dict)
    ids: tuple[str, ...] = ()
    reading: dict[str, str] = field(default_factory=dict)
    version: str = __version__

    @classmethod
    def of(cls, model: Any) -> "ModelInfo":
        """What a fitted model itself knows."""
        names = tuple(feature_names(model)) if hasattr(model, "n_features_in_") else ()
        _, model = taken_apart(model)
        kinds: dict[str, Any] = dict.fromkeys(names, NUMBER)
        if (known := getattr(model, "columns_", None)) is not None:
            for name, kind, values, rare in zip(
                known.names, known.kinds, known.values, known.rare, strict=True
            ):
                is_yes_no = values and {*values, *rare} <= {"yes", "no"}
                kinds[name] = (
                    values if kind == ORDINAL else YES_NO if is_yes_no else kind
                )
        return cls(
            feature_names=names,
            label_names=tuple(map(str, getattr(model, "label_names_", ()))),
            kinds=kinds,
        )


def save(model: Any, path: str | Path, *, info: ModelInfo | None = None) -> Path:
    """Write a fitted model to a file.

    Parameters
    ----------
    model : MLTSKClassifier, IncrementalMLTSK, or a method of `mltsk.paper.methods`
        Or a pipeline of transformers of scikit-learn that ends in one.
    path : str or Path
        Conventionally ends in ``.skops``. The file appears, or is replaced, only when it is complete.
    info : ModelInfo, optional
        What else the file says about the model; by default its own names.

    Examples
    --------
    >>> import tempfile
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=60, random_state=0)
    >>> file = save(MLTSKClassifier(n_rules=2).fit(data.X, data.Y), tempfile.mkdtemp() + "/model.skops")
    >>> load(file).predict(data.X).shape
    (60, 5)
    """
    import skops
    import skops.io

    (_, last), kind = taken_apart(model), type(model).__name__
    if last is not model and not type(last).__module__.startswith("mltsk."):
        raise InputError(
            f"This pipeline ends in a {type(last).__name__}, which is no classifier of mltsk."
        )
    try:
        check_is_fitted(model)
        buffer = io.BytesIO(
            skops.io.dumps(_plain(model), compression=zipfile.ZIP_DEFLATED)
        )
    except (NotFittedError, TypeError) as error:
        raise InputError(
            f"{kind} is not a fitted model: call fit before saving ({error})."
        ) from None
    except skops.io.exceptions.UnsupportedTypeException as error:
        raise InputError(f"This {kind} cannot be saved: {error}") from None
    facts = asdict(ModelInfo.of(model) if info is None else info)
    manifest = {
        "format": FORMAT,
        "mltsk": __version__,
        "skops": skops.__version__,
        "info": facts,
    }
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        if found := untrusted(json.loads(archive.read("schema.json"))):
            allowed = "estimators of this package, in a pipeline transformers of scikit-learn, arrays, numbers and text"
            raise InputError(
                f"This {kind} cannot be saved: it holds {found}, and a file may hold only {allowed}."
            )
        plain = json.dumps(
            manifest,
            indent=1,
            default=lambda v: v.tolist() if hasattr(v, "tolist") else str(v),
        )
        archive.writestr(MANIFEST, plain)
    with writing(path) as file:
        file.write(buffer.getvalue())
    return Path(path)


def load(path: str | Path) -> Any:
    """Read a model that `save` wrote.

    A file that holds anything else, is damaged, or was written in a format that this version does not know is refused
    with an `InputError`. Nothing in a file is ever executed. Parameters that are newer than the file get their
    defaults, and categories that the file names are the model's ``categories_``.
    """
    import skops.io

    with _opened(Path(path)) as (file, archive, manifest):
        schema = (
            _json(archive, "schema.json", path)
            if "schema.json" in archive.namelist()
            else {}
        )
        if found := untrusted(schema):
            raise InputError(
                f"{path} holds {found[:200]}, which no model of mltsk contains: it was not loaded."
            )
        if schema.get("__loader__") != "ObjectNode":
            raise ValueError("it holds no model")
        # the same open file: what was checked is what is read
        model = skops.io.load(file, trusted=[*_OURS, *_ROWS, "numpy.dtype"])
        check_model(model)  # a damaged one fails here and not in a prediction
        _, inner = taken_apart(model)
        categories = manifest.get("info", {}).get("categories")
        system = getattr(inner, "system_", None)
        if categories and system is not None and not system.categories:
            inner.system_ = replace(system, categories=_value_names(categories))
    return model


def _value_names(categories: Mapping[str, Any]) -> dict[str, dict[float, str]]:
    """Names of the values of features, which a model sees as numbers."""
    from ..datasets.dataset import category_values  # imports what is rarely needed

    named = {}
    for feature, names in categories.items():
        texts = [str(name) for name in names]
        values = category_values(tuple(texts)).tolist()
        named[str(feature)] = dict(zip(values, texts, strict=True))
    return named


def _plain(model: Any) -> Any:
    """A model as it is written: its classifier with plain attributes alone."""
    if not isinstance(model, Pipeline):
        return with_plain_state(model)
    plain = copy(model)
    name, last = model.steps[-1]
    plain.steps = [*model.steps[:-1], (name, _plain(last))]
    return plain


def read_info(path: str | Path) -> ModelInfo:
    """What a model file says next to the model, without reading the model."""
    with _opened(Path(path)) as (_, _, manifest):
        info = manifest["info"]
        features, labels = (
            tuple(map(str, info[key])) for key in ("feature_names", "label_names")
        )
        kinds = {
            str(n): kind if isinstance(kind, str) else tuple(map(str, kind))
            for n, kind in info["kinds"].items()
        }
        categories = {
            str(name): tuple(map(str, values))
            for name, values in info["categories"].items()
        }
        told = categories, dict(info["fitted"]), kinds, tuple(map(str, info["ids"]))
        reading = {str(key): str(value) for key, value in info["reading"].items()}
        return ModelInfo(
            str(info["data"]), features, labels, *told, reading, manifest["mltsk"]
        )


@contextmanager
def _opened(
    path: Path,
) -> Iterator[tuple[io.BufferedIOBase, zipfile.ZipFile, dict[str, Any]]]:
    """The file at ``path``, its archive and its manifest; whatever goes wrong with it becomes one sentence."""
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a model file.")
    try:
        with path.open("rb") as file:
            start = file.read(4)
            if not start.startswith(b"PK"):
                what = "not a model file: `mltsk fit` and mltsk.save write those"
                if start.startswith(b"\x80"):
                    what = "a pickle, which can run code when it is read, so it was not: save the model with mltsk.save"
                raise InputError(
                    f"{path} is {what if start else 'empty, not a model file'}."
                )
            with zipfile.ZipFile(file) as archive:
                yield file, archive, _manifest(archive, path)
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"There is no model file {path}.") from None
    except PermissionError:
        raise InputError(f"{path} cannot be read: permission denied.") from None
    except (
        Exception
    ) as error:  # damaged archives meet the reader with errors of every kind
        lines = str(error).strip().splitlines()
        why = lines[0].rstrip(".")[:200] if lines else type(error).__name__
        raise InputError(f"{path} is damaged or no model of mltsk: {why}.") from None


def _manifest(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise InputError(f"{path} has {len(members):,} parts, too many for a model.")
    check_size(sum(member.file_size for member in members), path)
    if MANIFEST not in archive.namelist():
        raise InputError(
            f"{path} is an archive but not a model of mltsk: it has no {MANIFEST}."
        )
    manifest = _json(archive, MANIFEST, path)
    version, number = manifest.get("mltsk"), manifest.get("format")
    if (
        not isinstance(number, int)
        or isinstance(number, bool)
        or not isinstance(version, str)
    ):
        raise ValueError("it does not say which format it has")
    if number != FORMAT:
        what = (
            "upgrade with `pip install --upgrade mltsk`"
            if number > FORMAT
            else "fit the model again"
        )
        written = f"{path} was written by mltsk {version} in format {number}"
        raise InputError(f"{written}, and mltsk {__version__} reads {FORMAT}: {what}.")
    return manifest


def _json(archive: zipfile.ZipFile, name: str, path: Any) -> dict[str, Any]:
    if archive.getinfo(name).file_size > MAX_JSON:
        raise InputError(
            f"{path} has a {name} of more than {MAX_JSON >> 20} MiB, too much for a model."
        )
    content = json.loads(archive.read(name))
    if not isinstance(content, dict):
        raise ValueError(f"{name} is not what it should be")
    return content


def untrusted(schema: Any) -> str | None:
    """The first thing in a skops schema that is not trusted, `TRUSTED` or `trusted_in_pipelines`, or None."""
    trusted = TRUSTED
    waiting = [
        schema
    ]  # a list, not recursion: a hostile file may be nested deeper than Python's stack
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            kind, loader = (
                f"{item.get('__module__')}.{item.get('__class__')}",
                item.get("__loader__"),
            )
            if item is schema and kind == PIPELINE:
                trusted = trusted_in_pipelines()
            if "__loader__" in item and (
                not isinstance(loader, str) or kind not in trusted.get(loader, ())
            ):
                return f"a {kind}"
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return None
