"""Models that travel: skops files, plain JSON data and ONNX graphs. None of them holds code that runs on reading."""

from .archive import FORMAT, MANIFEST, TRUSTED, ModelInfo, load, read_info, save, untrusted
from .graph import to_onnx
from .plain import from_dict, to_dict

__all__ = ["FORMAT", "MANIFEST", "TRUSTED", "ModelInfo", "from_dict", "load", "read_info", "save", "to_dict", "to_onnx"]
__all__ += ["untrusted"]
