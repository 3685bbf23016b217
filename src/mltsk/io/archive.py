"""The archive that a model file is: opened, and judged before anything is made of it.

A model file is a skops archive (a zip file: ``schema.json`` and arrays in NumPy's
format) with one more member, ``mltsk.json``, which says what wrote it and what the
model was fitted on. Types in the file are judged by `mltsk.io.trust` before anything
reads them, and nothing that a file brings is run.
"""

import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from .. import __version__
from ..exceptions import InputError
from ..limits import JSON_EXPANSION, check_size, too_large
from .info import ModelInfo
from .requirements import MAX_COMPLAINT, require
from .sizes import check_array_sizes
from .system_state import Attributes, Json, named_values
from .trust import untrusted

# Raise it when files of the version before can no longer be read, or when that version
# cannot read files of this one.
FORMAT = 7
MANIFEST = "mltsk.json"
SCHEMA = "schema.json"
MAX_JSON_BYTES = 64 << 20
MAX_MEMBERS = 10_000


def read_info(path: str | Path) -> ModelInfo:
    """What a model file says next to the model, without reading the model."""
    with opened(Path(path)) as (_, _, manifest):
        return ModelInfo.read(manifest["info"], manifest["mltsk"])


def checked_schema(archive: zipfile.ZipFile, path: str | Path) -> dict[str, Json]:
    """The schema of an archive, all of whose types and sizes are allowed."""
    schema = {}
    if SCHEMA in archive.namelist():
        schema = json_member(archive, SCHEMA, path)
    foreign = untrusted(schema)
    if foreign is not None:
        raise InputError(
            f"{path} holds {foreign[:MAX_COMPLAINT]}, "
            "which no model of mltsk contains: it was not loaded."
        )
    require(schema.get("__loader__") == "ObjectNode", "it holds no model")
    check_array_sizes(archive, schema, path)
    return schema


def categories_beside(manifest: dict[str, Json]) -> Attributes:
    """Names of the values of features, of a model that sees them as numbers."""
    names_by_feature = manifest.get("info", {}).get("categories")
    if not names_by_feature:
        return {}
    from ..datasets.dataset import category_values  # imports what is rarely needed

    categories = {}
    for feature, names in names_by_feature.items():
        texts = [str(name) for name in names]
        values = category_values(texts).tolist()
        categories[str(feature)] = dict(zip(values, texts, strict=True))
    return {"categories_": named_values(categories)}


class OpenModel(NamedTuple):
    """An open model file: the file itself, its archive and its manifest."""

    file: IO[bytes]
    archive: zipfile.ZipFile
    manifest: dict[str, Json]


@contextmanager
def opened(path: Path) -> Iterator[OpenModel]:
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
    manifest = json_member(archive, MANIFEST, path)
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


def json_member(
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
