"""Models become files, in one step; what could not be read again is refused."""

import io
import json
import zipfile
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from ..classifier import MLTSKClassifier
from ..exceptions import InputError
from ..files import writing
from ..pipelines import taken_apart
from .archive import FORMAT, MANIFEST, MAX_MEMBERS, SCHEMA, json_member
from .info import ModelInfo
from .loading import model_in
from .requirements import refusing, require
from .state import from_attributes, with_plain_attributes
from .system_state import Json
from .trust import CLASSIFIERS, type_name, untrusted
from .written_nodes import add_member, written_classifier


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
    >>> from mltsk import MLTSKClassifier, load
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
        manifest = json_member(archive, MANIFEST, "it")
        ModelInfo.read(manifest["info"], manifest["mltsk"])
        buffer.seek(0)
        model_in(buffer, archive, manifest, "it")


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
