"""The model of a skops archive, read by its schema without importing skops.

skops imports every module of scikit-learn, and PyTorch where it is there, to know which
types it may trust: 1.5 to 2 s of processor time before a rule can be printed. Files of
our two classifiers hold nine kinds of nodes, all judged by `mltsk.io.trust` before, and
those are read here. Pipelines and the compared methods are read by skops.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..limits import read_npy
from .requirements import require
from .system_state import Attributes, Json
from .trust import CLASSIFIERS, object_names

KEY_TYPES = {"str": str, "int": int}

Node = Mapping[str, Any]


def is_classifier(schema: Json) -> bool:
    """Whether a trusted schema is that of one of our classifiers, and no other's."""
    names = object_names(schema)
    return len(names) == 1 and names <= set(CLASSIFIERS)


def read_attributes(archive: zipfile.ZipFile, schema: Node) -> Attributes:
    """The plain attributes of the classifier of a trusted schema."""
    attributes = NodeReader(archive).read(schema["content"])
    require(isinstance(attributes, dict), "its attributes are not what they should be")
    return attributes


class NodeReader:
    """Reads nodes of a schema; an object that is named twice is read once.

    Parameters
    ----------
    archive : the file, with an array per member
    """

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self._objects: dict[int, object] = {}
        self._readers = {
            "JsonNode": self._plain_value,
            "DictNode": self._dict,
            "ListNode": self._list,
            "TupleNode": self._tuple,
            "NdArrayNode": self._array,
            "SparseMatrixNode": self._sparse,
            "RandomStateNode": self._random_state,
        }

    def read(self, node: Node) -> Any:
        """The object that a node stands for."""
        number = node.get("__id__")
        if number not in self._objects or not number:
            value = self._readers[node["__loader__"]](node)
            if not number:
                return value
            self._objects[number] = value
        return self._objects[number]

    def _plain_value(self, node: Node) -> Json:
        return json.loads(node["content"])

    def _list(self, node: Node) -> list[Any]:
        return [self.read(item) for item in node["content"]]

    def _tuple(self, node: Node) -> tuple[Any, ...]:
        return tuple(self._list(node))

    def _dict(self, node: Node) -> dict[Any, Any]:
        """A dict, whose keys are text in JSON whatever they were before."""
        names = [key_type["__class__"] for key_type in node["key_types"]["content"]]
        content = {}
        for name, (key, item) in zip(names, node["content"].items(), strict=True):
            content[KEY_TYPES[name](key)] = self.read(item)
        return content

    def _array(self, node: Node) -> NDArray[Any] | np.generic:
        """An array, a number of NumPy, or an array of objects such as names."""
        if node["type"] == "json":
            objects = self._list(node)
            array = np.empty(len(objects), dtype=object)
            array[:] = objects
            return array.reshape(self.read(node["shape"]))
        array = read_npy(self._member(node))
        if node["__class__"] == "ndarray":
            return array
        return array[()]

    def _sparse(self, node: Node) -> object:
        from scipy.sparse import load_npz

        return load_npz(self._member(node))

    def _random_state(self, node: Node) -> np.random.RandomState:
        random_state = np.random.RandomState()
        random_state.set_state(self.read(node["content"]))
        return random_state

    def _member(self, node: Node) -> io.BytesIO:
        return io.BytesIO(self.archive.read(node["file"]))
