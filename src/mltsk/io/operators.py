"""A graph of ONNX operators under construction: nodes get names as they are added, constants are kept once."""

from typing import Any

import numpy as np


class Graph:
    """Nodes and constants; `add` returns the name of what a node computes, for use as the input of the next.

    Examples
    --------
    >>> import pytest; onnx = pytest.importorskip("onnx")
    >>> g = Graph(onnx)
    >>> g.add("Add", "X", g.constant([1.0])), [node.op_type for node in g.nodes]
    ('add1', ['Add'])
    """

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """The name of the output of a new node."""
        name = name or f"{operator.lower()}{len(self.nodes) + 1}"
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, values: Any, dtype: Any = np.float64) -> str:
        """The name of a constant tensor."""
        name = f"c{len(self.constants)}"
        array = np.ascontiguousarray(values, dtype=dtype).reshape(np.shape(values))
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def integers(self, values: Any) -> str:
        """The name of a constant tensor of whole numbers."""
        return self.constant(values, np.int64)

    def finished(self, name: str, inputs: list[Any], outputs: list[Any]) -> Any:
        """The graph."""
        return self.onnx.helper.make_graph(self.nodes, name, inputs, outputs, self.constants)
