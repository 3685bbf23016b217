"""A model as an ONNX graph of standard operators: scores and labels wherever there is a runtime, without Python.

Symbols: X (N, D) samples in the caller's units, Z the same on the scale of the rules, C, S (K, D) centres and widths,
E (N, K) exponents, M (N, K) firing strengths; Q knots of each feature.

Everything is computed in float64, as in Python. The percentile scale is a table of knots: a feature's place in it is
found by halving, log₂ Q times for all features at once, which needs N·D numbers where comparing with every knot needs
N·D·Q (half a gigabyte for 2,400 rows of yeast). Exponents are taken rule by rule without expanding the square, so that
the narrow widths of constant features in the paper's setting do not cancel.
"""

import json
from typing import Any, Literal

import numpy as np

from .. import __version__
from ..core.system import FuzzySystem
from ..exceptions import InputError
from ..thresholds import MultilabelThreshold
from .operators import Graph
from .reading import has_rules, is_fitted

INSTALL = 'pip install "mltsk[onnx]"'
OPSET, IR_VERSION = 17, 8  # what runtimes since 2022 read


def to_onnx(model: Any, *, dtype: Literal["float64", "float32"] = "float64") -> Any:
    """A fitted model as an ONNX model.

    Its input is ``X``, dense, (n, n_features); its outputs are ``scores`` (n, n_labels) and ``labels``. Scores are on
    the scale of the thresholds: ``decision_function`` of the model plus its thresholds, as `mltsk predict` writes them.
    Labels are what ``predict`` returns: an int64 indicator, or classes if the model was fitted on those. Names of
    features and labels and the thresholds are in the model's metadata, as JSON.

    Parameters
    ----------
    model : MLTSKClassifier or MultilabelThreshold around one
    dtype : {"float64", "float32"}, default="float64"
        Type of the input. Rounding an input to float32 can move a score by more than 1e-5 where many training values
        lie close together.

    Returns
    -------
    onnx.ModelProto
        ``onnx.save(to_onnx(clf), "model.onnx")`` or ``to_onnx(clf).SerializeToString()``.

    Examples
    --------
    >>> import pytest; _ = pytest.importorskip("onnx")
    >>> from mltsk import MLTSKClassifier
    >>> from mltsk.datasets import make_multilabel_rules
    >>> data = make_multilabel_rules(n_samples=60, random_state=0)
    >>> graph = to_onnx(MLTSKClassifier(n_rules=2).fit(data.X, data.Y)).graph
    >>> [output.name for output in graph.output]
    ['scores', 'labels']
    """
    if not has_rules(getattr(model, "estimator_", model)) and not isinstance(model, MultilabelThreshold):
        raise InputError(f"A {type(model).__name__} cannot be written as ONNX: pass a fitted MLTSKClassifier.")
    if not is_fitted(model):
        raise InputError(f"This {type(model).__name__} is not fitted: call fit before to_onnx.")
    if dtype not in ("float64", "float32"):
        raise InputError(f"dtype must be 'float64' or 'float32', got {dtype!r}.")
    onnx = _onnx()
    g = Graph(onnx)
    x = "X" if dtype == "float64" else g.add("Cast", "X", to=onnx.TensorProto.DOUBLE)
    _outputs(g, model, x)
    return _finished(onnx, g, model, dtype)


def _onnx() -> Any:
    try:
        import onnx
    except ImportError:
        raise ImportError(INSTALL) from None
    return onnx


def _outputs(g: Graph, model: Any, x: str) -> None:
    """The nodes ``scores`` and ``labels``."""
    if not isinstance(model, MultilabelThreshold):
        g.add("Identity", system_scores(g, model.system_, x), name="scores")
        _labels(g, model, model.thresholds_.astype(model.coef_.dtype), model.multilabel_)
        return
    inner = model.estimator_
    if not has_rules(inner):
        raise InputError(f"A {type(inner).__name__} cannot be written as ONNX: wrap an MLTSKClassifier.")
    own = system_scores(g, inner.system_, x)
    margin = g.add("Sub", own, g.constant(inner.thresholds_.astype(inner.coef_.dtype)))
    g.add("Identity", probabilities(g, margin) if model._asks_probabilities() else margin, name="scores")
    _labels(g, model, model.thresholds_, not model._binary)


def _labels(g: Graph, model: Any, thresholds: Any, multilabel: bool) -> None:
    """What ``predict`` makes of scores: those that reach their threshold, or the class that stands highest above it."""
    tau = g.constant(thresholds)
    if not multilabel and len(model.classes_) > 2:
        where = g.add("ArgMax", g.add("Sub", "scores", tau), axis=1, keepdims=0)
    else:
        where = g.add("Cast", g.add("GreaterOrEqual", "scores", tau), to=g.onnx.TensorProto.INT64)
    if multilabel:
        g.add("Identity", where, name="labels")
        return
    if len(model.classes_) == 2:
        where = g.add("Squeeze", where, g.integers([1]))
    g.add("Gather", g.constant(model.classes_, _class_type(model.classes_)), where, name="labels")


def _class_type(classes: Any) -> Any:
    kind = np.asarray(classes).dtype
    return {"i": np.int64, "u": np.int64, "b": np.bool_, "f": np.float64}.get(kind.kind, object)


def system_scores(g: Graph, system: FuzzySystem, x: str) -> str:
    """Σ_k M_k (b_k + a_k·z), (N, L).   (16)"""
    K, D, L = system.shape
    z = scaled(g, system, x)
    m = firing(g, system, z)
    coef = np.asarray(system.coef, dtype=np.float64)
    said = g.add("MatMul", z, g.constant(coef[:, 1:].transpose(1, 0, 2).reshape(D, K * L)))
    said = g.add("Reshape", said, g.integers([-1, K, L]))
    shared = g.add("Mul", said, g.add("Unsqueeze", m, g.integers([2])))
    linear = g.add("ReduceSum", shared, g.integers([1]), keepdims=0)
    return g.add("Add", linear, g.add("MatMul", m, g.constant(coef[:, 0])))


def scaled(g: Graph, system: FuzzySystem, x: str) -> str:
    """Samples on the scale of the rules, (N, D)."""
    if system.unit_length:
        norm = g.add("Sqrt", g.add("ReduceSum", g.add("Mul", x, x), g.integers([1])))
        empty = g.add("Equal", norm, g.constant(0.0))
        return g.add("Div", x, g.add("Where", empty, g.constant(1.0), norm))
    if system.scaling is None:
        return x
    s = system.scaling
    if s.bounded:
        # The knots hold z itself: dividing by the spread at the end would, with one feature, look like a factor of the
        # next product to onnxruntime, which keeps such factors in float32 (an error of 2e-8).
        return _percentile(g, s.values, (s.levels - s.offset[:, None]) / s.spread[:, None], x)
    low, high = s.values[:, 0], s.values[:, -1]
    slope = 1.0 / (np.where(high > low, high - low, 1.0) * s.spread)
    rise = g.add("Mul", g.add("Sub", x, g.constant(low)), g.constant(slope))
    return g.add("Sub", rise, g.constant(s.offset / s.spread))


def _percentile(g: Graph, values: Any, levels: Any, x: str) -> str:
    """Linear between knots and constant beyond them, as `numpy.interp`."""
    steps = max(values.shape[1] - 1, 1).bit_length()
    Q = 2**steps  # halving needs no bounds check then; padding repeats the last knot, where the slope is 0
    values, levels = (np.pad(a, ((0, 0), (0, Q - a.shape[1])), mode="edge") for a in (values, levels))
    width = np.diff(values, axis=1, append=values[:, -1:])
    slopes = np.divide(np.diff(levels, axis=1, append=levels[:, -1:]), width, out=np.zeros_like(width), where=width > 0)
    x = g.add("Min", g.add("Max", x, g.constant(values[:, 0])), g.constant(values[:, -1]))
    knots = g.constant(values.ravel())
    at = _place(g, knots, values.shape, x, steps)
    rise = g.add("Mul", g.add("Sub", x, g.add("Gather", knots, at)), g.add("Gather", g.constant(slopes.ravel()), at))
    return g.add("Add", g.add("Gather", g.constant(levels.ravel()), at), rise)


def _place(g: Graph, knots: str, shape: tuple[int, int], x: str, steps: int) -> str:
    """Index of the last knot that is not above x in the table, feature after feature, (N, D)."""
    zeros = g.add(
        "ConstantOfShape", g.add("Shape", x), value=g.onnx.numpy_helper.from_array(np.zeros(1, dtype=np.int64))
    )
    at = g.add("Add", zeros, g.integers(np.arange(shape[0]) * shape[1]))
    for step in reversed(range(steps)):
        further = g.add("Add", at, g.integers(2**step))
        reached = g.add("GreaterOrEqual", x, g.add("Gather", knots, further))
        at = g.add("Where", reached, further, at)
    return at


def firing(g: Graph, system: FuzzySystem, z: str) -> str:
    """Share of every rule in every sample, (N, K).   (5) (6)"""
    terms = [_exponent(g, c, s, z) for c, s in zip(system.centers, system.widths, strict=True)]
    fired = g.add("Neg", g.add("Concat", *terms, axis=1))
    if system.underflow == "softmax":
        return g.add("Softmax", fired, axis=1)
    m = g.add("Exp", fired)
    total = g.add("ReduceSum", m, g.integers([1]))
    nothing = g.add("Equal", total, g.constant(0.0))
    return g.add("Div", m, g.add("Where", nothing, g.constant(np.finfo(np.float64).eps), total))


def _exponent(g: Graph, center: Any, width: Any, z: str) -> str:
    """Σ_i (z_i - c_i)² / s_i of one rule, (N, 1); an infinite width is no condition."""
    away = g.add("Sub", z, g.constant(center))
    return g.add("MatMul", g.add("Mul", away, away), g.constant(1.0 / np.asarray(width, dtype=np.float64)[:, None]))


def probabilities(g: Graph, margin: str) -> str:
    """A logistic curve of the margin, strictly in (0, 1): ``MLTSKClassifier.predict_proba``."""
    tiny = np.finfo(np.float64).eps
    p = g.add("Sigmoid", g.add("Mul", margin, g.constant(4.0)))
    return g.add("Min", g.add("Max", p, g.constant(tiny)), g.constant(1.0 - tiny))


def _finished(onnx: Any, g: Graph, model: Any, dtype: str) -> Any:
    types, value = onnx.TensorProto, onnx.helper.make_tensor_value_info
    inner = getattr(model, "estimator_", model)
    multilabel = not model._binary if model is not inner else model.multilabel_
    D, L = int(inner.n_features_in_), len(inner.label_names_)
    kinds = {np.int64: types.INT64, np.bool_: types.BOOL, np.float64: types.DOUBLE, object: types.STRING}
    kind = types.INT64 if multilabel else kinds[_class_type(model.classes_)]
    graph = g.finished(
        "mltsk",
        [value("X", types.DOUBLE if dtype == "float64" else types.FLOAT, ["n", D])],
        [value("scores", types.DOUBLE, ["n", L]), value("labels", kind, ["n", L] if multilabel else ["n"])],
    )
    made = onnx.helper.make_model(
        graph,
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="mltsk",
        producer_version=__version__,
    )
    onnx.helper.set_model_props(made, _metadata(model, inner))
    onnx.checker.check_model(made)
    return made


def _metadata(model: Any, inner: Any) -> dict[str, str]:
    system = inner.system_
    return {
        "feature_names": json.dumps(list(map(str, system.feature_names))),
        "label_names": json.dumps(list(map(str, system.label_names))),
        "thresholds": json.dumps(model.thresholds_.tolist()),
    }
