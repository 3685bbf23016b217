"""Model files become classifiers and pipelines again."""

import zipfile
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from sklearn.base import BaseEstimator

from .archive import categories_beside, checked_schema, opened
from .nodes import is_classifier, read_attributes
from .rebuild import rebuilt
from .state import from_attributes
from .system_state import Json
from .trust import names_for_skops


def load(path: str | Path) -> Any:
    """Read a model that `save` wrote.

    A file that holds anything else, is damaged, or was written in a format that this
    version does not know is refused with an `InputError`. Nothing in a file is ever
    executed. Parameters that are newer than the file get their defaults. Names of
    categories that the file knows are used where the model's rules are read.
    """
    path = Path(path)
    with opened(path) as (file, archive, manifest):
        return model_in(file, archive, manifest, path)


def model_in(
    file: IO[bytes],
    archive: zipfile.ZipFile,
    manifest: dict[str, Json],
    path: str | Path,
) -> BaseEstimator:
    """The model in an open file, which messages call ``path``."""
    schema = checked_schema(archive, path)
    # the same open file: what was checked is what is read
    if is_classifier(schema):
        kind = getattr(import_module(schema["__module__"]), schema["__class__"])
        model = from_attributes(kind, read_attributes(archive, schema))
    else:
        import skops.io

        model = skops.io.load(file, trusted=names_for_skops(schema))
    return rebuilt(model, categories_beside(manifest))
