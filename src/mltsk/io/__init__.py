"""Models that travel: skops files, plain JSON data and ONNX graphs.

None of them holds code that runs when they are read.
"""

from ..files import check_target, writing
from .archive import FORMAT, MANIFEST, load, read_info, save
from .edited_model import edited
from .info import ModelInfo
from .onnx_model import to_onnx
from .plain import from_dict, to_dict
from .trust import TRUSTED, untrusted

__all__ = [
    "FORMAT",
    "MANIFEST",
    "TRUSTED",
    "ModelInfo",
    "check_target",
    "edited",
    "from_dict",
    "load",
    "read_info",
    "save",
    "to_dict",
    "to_onnx",
    "untrusted",
    "writing",
]
