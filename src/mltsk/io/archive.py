"""Models as files: written in one step, read without running anything that they bring.

A model file is a skops archive (a zip file: ``schema.json`` and arrays in NumPy's
format) with one more member, ``mltsk.json``, which says what wrote it and what the
model was fitted on. Types in the file are judged by `mltsk.io.trust` before skops sees
the file.
"""

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, NamedTuple

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from ..classifier import MLTSKClassifier
from ..exceptions import InputError
from ..files import writing
from ..limits import JSON_EXPANSION, check_size, too_large
from ..pipelines import taken_apart
from .info import ModelInfo
from .nodes import is_classifier, read_classifier
from .rebuild import rebuilt
from .requirements import MAX_COMPLAINT, refusing, require
from .sizes import check_array_sizes
from .state import (
    Attributes,
    Json,
    from_attributes,
    named_values,
    with_plain_attributes,
)
from .trust import CLASSIFIERS, names_for_skops, type_name, untrusted
from .written_nodes import SCHEMA, add_member, written_classifier

# Raise it when files of the version before can no longer be read, or when that version
# cannot read files of this one.
FORMAT = 7
MANIFEST = "mltsk.json"
MAX_JSON_BYTES = 64 << 20
MAX_MEMBERS = 10_000


def save(
    model: BaseEstimator,
    path: str | Path,
    *,
    info: ModelInfo | None = None,
    keep_sums: bool = False,
) -> Path:
    """Write a fitted model to a file.

    Parameters
    ----------
    model : MLTSKClassifier, IncrementalMLTSK, or a method of `mltsk.paper.methods`
        Or a pipeline of transformers of scikit-learn that ends in one.
    path : str or Path
        Conventionally ends in ``.skops``. The file appears, or is replaced, only when
        it is complete.
    info : ModelInfo, optional
        What else the file says about the model; by default its own names.
    keep_sums : bool, default=False
        Whether the file holds the sums over rows from which all numbers can be found
        again (``model.sums_``), so that the model can be corrected without its rows.
        Sums over few rows tell something of these rows.

    Examples
    --------
    >>> import tempfile
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=60, random_state=0)
    >>> clf = MLTSKClassifier(n_rules=2).fit(data.X, data.Y)
    >>> file = save(clf, tempfile.mkdtemp() + "/model.skops")
    >>> load(file).predict(data.X).shape
    (60, 5)
    """
    kind = type(model).__name__
    if keep_sums:
        model = _with_sums(model)
    buffer = io.BytesIO(_dumped(model))
    with zipfile.ZipFile(buffer, "a") as archive:
        foreign = untrusted(json.loads(archive.read(SCHEMA)))
        if foreign is not None:
            raise InputError(
                f"This {kind} cannot be saved: it holds {foreign}, "
                "and a file may hold only estimators of this package, in a pipeline "
                "transformers of scikit-learn, arrays, numbers and text."
            )
        manifest = _manifest_text(info or ModelInfo.of(model))
        add_member(archive, MANIFEST, manifest.encode())
    # what `load` would refuse is refused now, while the model is still there
    with refusing(f"This {kind} cannot be saved"):
        _check_readable(buffer)
    with writing(path) as file:
        file.write(buffer.getvalue())
    return Path(path)


def _with_sums(model: BaseEstimator) -> BaseEstimator:
    """A copy of a model that holds the sums over the rows of its fit."""
    _, last = taken_apart(model)
    kind = type(last).__name__
    if not isinstance(last, MLTSKClassifier):
        raise InputError(f"A {kind} has no sums to keep: save it without keep_sums.")
    check_is_fitted(last)
    if last.system_.is_chosen:
        raise InputError(
            "A short model keeps no sums: keep those of the long model, correct that "
            "and shorten it then."
        )
    attributes = {**vars(last), "kept_sums_": last.sums_}
    whole = from_attributes(type(last), attributes)
    if not isinstance(model, Pipeline):
        return whole
    steps = [*model.steps[:-1], (model.steps[-1][0], whole)]
    return from_attributes(type(model), {**vars(model), "steps": steps})


def _dumped(model: BaseEstimator) -> bytes:
    """A fitted model as a skops archive."""
    kind = type(model).__name__
    _, last = taken_apart(model)
    if last is not model and not type(last).__module__.startswith("mltsk."):
        raise InputError(
            f"This pipeline ends in a {type(last).__name__}, "
            "which is no classifier of mltsk."
        )
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError) as error:
        raise InputError(
            f"{kind} is not a fitted model: call fit before saving ({error})."
        ) from None
    plain = _plain_model(model)
    if type_name(type(plain)) in CLASSIFIERS:
        return written_classifier(plain)
    import skops.io

    try:
        return skops.io.dumps(plain, compression=zipfile.ZIP_DEFLATED)
    except (TypeError, skops.io.exceptions.UnsupportedTypeException) as error:
        raise InputError(f"This {kind} cannot be saved: {error}") from None


def _check_readable(buffer: io.BytesIO) -> None:
    """Read a file that is still in memory, as `load` and `read_info` do."""
    with zipfile.ZipFile(buffer) as archive:
        n_members = len(archive.infolist())
        require(
            n_members <= MAX_MEMBERS,
            f"it has {n_members:,} arrays, and a file at most {MAX_MEMBERS:,}",
            "save the estimators of single labels one by one",
        )
        manifest = _json_member(archive, MANIFEST, "it")
        ModelInfo.read(manifest["info"], manifest["mltsk"])
        buffer.seek(0)
        _model_in(buffer, archive, manifest, "it")


def _plain_model(model: BaseEstimator) -> BaseEstimator:
    """A model as it is written: its classifier with plain attributes alone."""
    if not isinstance(model, Pipeline):
        return with_plain_attributes(model)
    name, last = model.steps[-1]
    steps = [*model.steps[:-1], (name, _plain_model(last))]
    return from_attributes(type(model), {**vars(model), "steps": steps})


def _manifest_text(info: ModelInfo) -> str:
    """What a file says about itself and its model, as JSON."""
    manifest = {
        "format": FORMAT,
        "mltsk": __version__,
        "skops": version("skops"),
        "info": asdict(info),
    }
    return json.dumps(manifest, indent=1, default=_plain_fact)


def _plain_fact(value: Json) -> Json:
    """A NumPy number or array as plain ones, anything else as text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def load(path: str | Path) -> Any:
    """Read a model that `save` wrote.

    A file that holds anything else, is damaged, or was written in a format that this
    version does not know is refused with an `InputError`. Nothing in a file is ever
    executed. Parameters that are newer than the file get their defaults. Names of
    categories that the file knows are used where the model's rules are read.
    """
    path = Path(path)
    with _opened(path) as (file, archive, manifest):
        return _model_in(file, archive, manifest, path)


def _model_in(
    file: IO[bytes],
    archive: zipfile.ZipFile,
    manifest: dict[str, Json],
    path: str | Path,
) -> BaseEstimator:
    """The model in an open file, which messages call ``path``."""
    schema = {}
    if SCHEMA in archive.namelist():
        schema = _json_member(archive, SCHEMA, path)
    foreign = untrusted(schema)
    if foreign is not None:
        raise InputError(
            f"{path} holds {foreign[:MAX_COMPLAINT]}, "
            "which no model of mltsk contains: it was not loaded."
        )
    require(schema.get("__loader__") == "ObjectNode", "it holds no model")
    check_array_sizes(archive, schema, path)
    # the same open file: what was checked is what is read
    if is_classifier(schema):
        model = read_classifier(archive, schema)
    else:
        import skops.io

        model = skops.io.load(file, trusted=names_for_skops(schema))
    categories = manifest.get("info", {}).get("categories")
    return rebuilt(model, _categories(categories or {}))


def _categories(names_by_feature: Json) -> Attributes:
    """Names of the values of features, which a model sees as numbers."""
    from ..datasets.dataset import category_values  # imports what is rarely needed

    categories = {}
    for feature, names in names_by_feature.items():
        texts = [str(name) for name in names]
        values = category_values(texts).tolist()
        categories[str(feature)] = dict(zip(values, texts, strict=True))
    return {"categories_": named_values(categories)} if categories else {}


def read_info(path: str | Path) -> ModelInfo:
    """What a model file says next to the model, without reading the model."""
    with _opened(Path(path)) as (_, _, manifest):
        return ModelInfo.read(manifest["info"], manifest["mltsk"])


class OpenModel(NamedTuple):
    """An open model file: the file itself, its archive and its manifest."""

    file: IO[bytes]
    archive: zipfile.ZipFile
    manifest: dict[str, Json]


@contextmanager
def _opened(path: Path) -> Iterator[OpenModel]:
    """The file at ``path``; whatever goes wrong with it becomes one sentence."""
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a model file.")
    try:
        with path.open("rb") as file:
            _check_start(file.read(4), path)
            with zipfile.ZipFile(file) as archive:
                yield OpenModel(file, archive, _manifest(archive, path))
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"There is no model file {path}.") from None
    except MemoryError:
        raise too_large(path) from None
    except PermissionError:
        raise InputError(f"{path} cannot be read: permission denied.") from None
    # damaged archives meet the reader with errors of every kind
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        complaint = lines[0].rstrip(".")[:MAX_COMPLAINT]
        raise InputError(
            f"{path} is damaged or no model of mltsk: {complaint}."
        ) from None


def _check_start(start: bytes, path: Path) -> None:
    """Refuse a file that does not begin as an archive does."""
    if start.startswith(b"PK"):
        return
    if not start:
        raise InputError(f"{path} is empty, not a model file.")
    if start.startswith(b"\x80"):
        raise InputError(
            f"{path} is a pickle, which can run code when it is read, so it was not: "
            "save the model with mltsk.save."
        )
    raise InputError(
        f"{path} is not a model file: `mltsk fit` and mltsk.save write those."
    )


def _manifest(archive: zipfile.ZipFile, path: Path) -> dict[str, Json]:
    """What an archive says about itself, once its size and format are checked."""
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise InputError(f"{path} has {len(members):,} parts, too many for a model.")
    check_size(sum(member.file_size for member in members), path)
    if MANIFEST not in archive.namelist():
        raise InputError(
            f"{path} is an archive but not a model of mltsk: it has no {MANIFEST}."
        )
    manifest = _json_member(archive, MANIFEST, path)
    version = manifest.get("mltsk")
    number = manifest.get("format")
    is_number = isinstance(number, int) and not isinstance(number, bool)
    require(
        is_number and isinstance(version, str), "it does not say which format it has"
    )
    if number != FORMAT:
        is_newer = manifest["format"] > FORMAT
        raise InputError(
            f"{path} was written by mltsk {version} in format {number}, "
            f"and mltsk {__version__} reads {FORMAT}: {advice(is_newer)}."
        )
    return manifest


def advice(is_newer: bool) -> str:
    """What to do about a model that another version wrote."""
    if is_newer:
        return "upgrade with `pip install --upgrade mltsk`"
    return "fit the model again"


def _json_member(
    archive: zipfile.ZipFile, name: str, path: str | Path
) -> dict[str, Json]:
    """A member of an archive that is a JSON object."""
    if archive.getinfo(name).file_size > MAX_JSON_BYTES:
        raise InputError(
            f"{path} has a {name} of more than {MAX_JSON_BYTES >> 20} MiB, "
            "too much for a model."
        )
    check_size(JSON_EXPANSION * archive.getinfo(name).file_size, path)
    content = json.loads(archive.read(name))
    require(isinstance(content, dict), f"{name} is not what it should be")
    return content
