"""A classifier as a skops archive, written without importing skops.

`mltsk.io.nodes` reads these files and says why skops is not imported: that alone takes
1.8 s of processor time, and all of ``mltsk fit`` of pbc takes 1.3 s without it
(``python -m benchmarks start``). The nodes are those that skops writes, so that skops
can read the file. Members are numbered as they come, and none has a date: the same
model gives the same bytes.
"""

import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

PROTOCOL = 2  # of skops: what its nodes look like
SCHEMA = "schema.json"

Node = dict[str, Any]


def written_classifier(model: BaseEstimator) -> bytes:
    """The archive of a classifier whose attributes are plain."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        schema = _node(type(model), "ObjectNode")
        schema["content"] = NodeWriter(archive).node(vars(model))
        schema["protocol"] = PROTOCOL
        schema["_skops_version"] = version("skops")
        add_member(archive, SCHEMA, json.dumps(schema, indent=1).encode())
    return buffer.getvalue()


def add_member(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Add a compressed member without a date."""
    member = zipfile.ZipInfo(name)
    member.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(member, content)


class NodeWriter:
    """Makes nodes of objects; an array that comes twice is written once.

    What no file may hold becomes a node with its type alone, which
    `mltsk.io.trust.untrusted` finds.

    Parameters
    ----------
    archive : the file, with an array per member
    """

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        # by id; the object is kept so that no other gets its id
        self._numbers: dict[int, tuple[int, object]] = {}
        self._writers: Sequence[tuple[Any, Callable[[Any], Node]]] = (
            (np.str_, lambda text: self._plain_value(str(text))),
            (np.ndarray | np.generic, self._array),
            (str | int | float | None, self._plain_value),
            (Mapping, self._dict),
            (list, self._list),
            (tuple, self._tuple),
            (sparse.csr_array | sparse.csr_matrix, self._sparse),
            (np.random.RandomState, self._random_state),
        )

    def node(self, value: object) -> Node:
        """The node that stands for an object."""
        for kinds, write in self._writers:
            if isinstance(value, kinds):
                return write(value)
        return _node(type(value), "ObjectNode")

    def _plain_value(self, value: str | float | None) -> Node:
        return {**_node(str, "JsonNode"), "content": json.dumps(value), "is_json": True}

    def _list(self, values: Sequence[object]) -> Node:
        content = [self.node(value) for value in values]
        return {**_node(list, "ListNode"), "content": content}

    def _tuple(self, values: tuple[object, ...]) -> Node:
        return {**self._list(values), **_node(tuple, "TupleNode")}

    def _dict(self, values: Mapping[Any, object]) -> Node:
        """A dict, and the types of its keys, which are text in JSON."""
        plain = {_plain_key(key): value for key, value in values.items()}
        types = [_node(type(key), "TypeNode") for key in plain]
        content = {key: self.node(value) for key, value in plain.items()}
        return {
            **_node(type(values), "DictNode"),
            "content": content,
            "key_types": {**_node(list, "ListNode"), "content": types},
        }

    def _array(self, array: NDArray[Any] | np.generic) -> Node:
        """An array, a number of NumPy, or an array of objects such as names."""
        node = _node(type(array), "NdArrayNode")
        if array.dtype == object:
            node["content"] = self._list(array.tolist())["content"]
            node["shape"] = self.node(array.shape)
            return {**node, "type": "json"}
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        return {**node, "type": "numpy", **self._member(array, ".npy", buffer)}

    def _sparse(self, array: object) -> Node:
        buffer = io.BytesIO()
        sparse.save_npz(buffer, array)
        node = _node(type(array), "SparseMatrixNode")
        return {**node, "type": "scipy", **self._member(array, ".npz", buffer)}

    def _random_state(self, random_state: np.random.RandomState) -> Node:
        content = self.node(random_state.get_state(legacy=False))
        return {**_node(type(random_state), "RandomStateNode"), "content": content}

    def _member(self, value: object, suffix: str, content: io.BytesIO) -> Node:
        """The number and the member of an object, added when it comes first."""
        is_new = id(value) not in self._numbers
        if is_new:
            self._numbers[id(value)] = (len(self._numbers) + 1, value)
        number, _ = self._numbers[id(value)]
        name = f"{number}{suffix}"
        if is_new:
            add_member(self.archive, name, content.getvalue())
        return {"file": name, "__id__": number}


def _plain_key(key: object) -> object:
    """A key of a dict, whose text is no text of NumPy: names often come from arrays."""
    return str(key) if isinstance(key, np.str_) else key


def _node(kind: type, loader: str) -> Node:
    """A node with its type and the way in which it is read."""
    return {
        "__class__": kind.__name__,
        "__module__": kind.__module__,
        "__loader__": loader,
    }
