"""A graph keeps what is added to it."""

import numpy as np
import pytest

from mltsk.io.graph import Graph

onnx = pytest.importorskip("onnx")


def test_graph_keeps_shapes_and_types_of_constants_and_chains_nodes_by_name():
    g = Graph(onnx)
    g.constant(2.0)
    g.integers([1, 2])
    g.constant(np.array(["a", "b"]), object)
    assert [onnx.numpy_helper.to_array(c).shape for c in g.constants] == [
        (),
        (2,),
        (2,),
    ]
    types = onnx.TensorProto
    assert [c.data_type for c in g.constants] == [
        types.DOUBLE,
        types.INT64,
        types.STRING,
    ]
    last = g.add("Neg", g.add("Abs", "X"), name="out")
    assert (last, g.nodes[1].input[0]) == ("out", g.nodes[0].output[0])
