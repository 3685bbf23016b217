"""Models that travel: skops files, plain JSON data and ONNX graphs.

None of them holds code that runs when they are read.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what editors and type checkers see
    from ..files import check_target as check_target
    from ..files import writing as writing
    from .archive import FORMAT as FORMAT
    from .archive import MANIFEST as MANIFEST
    from .archive import read_info as read_info
    from .edited_model import edited as edited
    from .info import ModelInfo as ModelInfo
    from .loading import load as load
    from .onnx_model import to_onnx as to_onnx
    from .plain import from_dict as from_dict
    from .plain import to_dict as to_dict
    from .saving import save as save
    from .trust import TRUSTED as TRUSTED
    from .trust import untrusted as untrusted

# Public names and where they live: imported on first use, because classifiers need
# scikit-learn, and what a file says of them does not.
_HOMES = {
    "FORMAT": "io.archive",
    "MANIFEST": "io.archive",
    "TRUSTED": "io.trust",
    "ModelInfo": "io.info",
    "check_target": "files",
    "edited": "io.edited_model",
    "from_dict": "io.plain",
    "load": "io.loading",
    "read_info": "io.archive",
    "save": "io.saving",
    "to_dict": "io.plain",
    "to_onnx": "io.onnx_model",
    "untrusted": "io.trust",
    "writing": "files",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"mltsk.{_HOMES[name]}"), name)
