"""Nodes are named, constants keep their shape and type."""

import numpy as np
import pytest

from mltsk.io.operators import Graph

onnx = pytest.importorskip("onnx")


def test_constants_keep_shape_and_type():
    g = Graph(onnx)
    g.constant(2.0)
    g.integers([1, 2])
    g.constant(np.array(["a", "b"]), object)
    shapes = [onnx.numpy_helper.to_array(c).shape for c in g.constants]
    assert shapes == [(), (2,), (2,)]
    assert [c.data_type for c in g.constants] == [
        onnx.TensorProto.DOUBLE,
        onnx.TensorProto.INT64,
        onnx.TensorProto.STRING,
    ]


def test_nodes_are_chained_by_name():
    g = Graph(onnx)
    last = g.add("Neg", g.add("Abs", "X"), name="out")
    assert (last, g.nodes[1].input[0]) == ("out", g.nodes[0].output[0])
