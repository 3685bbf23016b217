"""Models that travel: skops files, plain JSON data and ONNX graphs. None of them holds code that runs on reading."""

from ..files import check_target, writing
from .archive import (
    FORMAT,
    MANIFEST,
    TRUSTED,
    ModelInfo,
    load,
    read_info,
    save,
    untrusted,
)
from .graph import to_onnx
from .plain import from_dict, to_dict

__all__ = [
    "FORMAT",
    "MANIFEST",
    "TRUSTED",
    "ModelInfo",
    "check_target",
    "from_dict",
    "load",
    "read_info",
    "save",
]
__all__ += ["to_dict", "to_onnx", "untrusted", "writing"]
