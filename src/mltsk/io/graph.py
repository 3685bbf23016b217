"""A graph of ONNX operators that is being built, node by node."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ..exceptions import InputError

OWN_NAMES = "mltsk/"  # how names of nodes and constants begin
OUTPUTS = ("scores", "labels", "probabilities")

Proto: TypeAlias = Any  # a message of ONNX, which publishes no types


class Graph:
    """Nodes, constants, inputs and outputs of a graph that is being built.

    Whatever a node or constant computes has a name, which is an input for the next
    node. ``columns`` are the names of all columns of the caller's table.
    """

    def __init__(self, onnx: ModuleType, columns: Sequence[str] = ()) -> None:
        self.onnx = onnx
        self.columns = columns
        self.nodes: list[Proto] = []
        self.constants: list[Proto] = []
        self.inputs: list[Proto] = []
        self.outputs: list[Proto] = []

    def add(
        self,
        operator: str,
        *inputs: str | ArrayLike,
        name: str = "",
        **attributes: object,
    ) -> str:
        """The name of the output of a new node.

        An input that is no name is a constant in double precision.
        """
        if not name:
            name = f"{OWN_NAMES}{operator.lower()}{len(self.nodes) + 1}"
        names = []
        for value in inputs:
            names.append(value if isinstance(value, str) else self.constant(value))
        node = self.onnx.helper.make_node(
            operator, names, [name], name=name, **attributes
        )
        self.nodes.append(node)
        return name

    def constant(self, values: ArrayLike, dtype: DTypeLike = np.float64) -> str:
        """The name of a constant tensor."""
        name = f"{OWN_NAMES}c{len(self.constants)}"
        array = np.array(values, dtype=dtype, order="C")
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def integers(self, values: ArrayLike) -> str:
        """The name of a constant tensor of whole numbers."""
        return self.constant(values, np.int64)

    def number(self, x: str) -> str:
        """A value in double precision: for a test, 0 or 1."""
        return self.add("Cast", x, to=self.onnx.TensorProto.DOUBLE)

    def input(self, name: str, kind: int, width: int) -> str:
        """Columns by which samples come in, under a name that is free.

        Returns the name of the words, or of the numbers in double precision.
        """
        if not name or name in OUTPUTS:
            name += "_"
            while name in self.columns:
                name += "_"
        if name.startswith(OWN_NAMES):
            raise InputError(
                f"A column is called {name!r:.80}, and names in a graph that begin "
                f"with {OWN_NAMES!r} are taken: rename it before the fit."
            )
        info = self.onnx.helper.make_tensor_value_info(name, kind, ["n", width])
        self.inputs.append(info)
        return self.number(name) if kind == self.onnx.TensorProto.FLOAT else name

    def output(self, name: str, value: str, kind: int, shape: list[int | str]) -> None:
        """Give a value a name under which it leaves the graph."""
        self.add("Identity", value, name=name)
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, kind, shape))
