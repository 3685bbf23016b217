"""A model as an ONNX graph of standard operators: scores, labels, probabilities wherever there is a runtime.

Everything is computed in float64, as in Python. The percentile scale is a table of knots: a feature's place in it is
found by halving, log₂ Q times for all features at once, which needs N·D numbers where comparing with every knot needs
N·D·Q (half a gigabyte for 2,400 rows of yeast). Exponents are taken rule by rule without expanding the square, so that
the narrow widths of constant features in the paper's setting do not cancel. What is missing (NaN) counts as nothing.
"""

import json
from typing import Any, Literal

import numpy as np

from .. import __version__
from ..columns import Columns
from ..core.scaling import REACH
from ..exceptions import InputError, optional
from ..pipelines import without_steps
from ..system import FuzzySystem
from .checks import has_rules
from .plain import check_fitted

OPSET, IR_VERSION = 17, 8  # what runtimes since 2022 read
WORDS, WORDS_OPSET = "ai.onnx.ml", 3  # where the operator that looks words up is from
OUTPUTS = ("scores", "labels", "probabilities")


class Graph:
    """Nodes, constants, inputs, outputs; `add` returns the name of what a node computes, an input for the next."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def add(self, operator: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """The name of the output of a new node."""
        name = name or f"mltsk/{operator.lower()}{len(self.nodes) + 1}"  # no column of a table is called so
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, values: Any, dtype: Any = np.float64) -> str:
        """The name of a constant tensor."""
        name = f"mltsk/c{len(self.constants)}"
        array = np.ascontiguousarray(values, dtype=dtype).reshape(np.shape(values))
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def integers(self, values: Any) -> str:
        """The same of whole numbers."""
        return self.constant(values, np.int64)

    def number(self, x: str) -> str:
        """Something in double precision: of a test, 0 or 1."""
        return self.add("Cast", x, to=self.onnx.TensorProto.DOUBLE)

    def input(self, name: str, kind: int, width: int) -> str:
        """A column, or several, by which samples come in; where the name is taken, with an underscore behind it.

        Returns the name of it in double precision, or of the words.
        """
        while not name or name in (*OUTPUTS, *(known.name for known in self.inputs)):
            name += "_"
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, kind, ["n", width]))
        return self.number(name) if kind == self.onnx.TensorProto.FLOAT else name

    def output(self, name: str, value: str, kind: int, shape: list[Any]) -> None:
        """Give a value a name under which it leaves the graph."""
        self.add("Identity", value, name=name)
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, kind, shape))


def to_onnx(model: Any, *, dtype: Literal["float64", "float32"] = "float64") -> Any:
    """A fitted model as an ONNX model.

    A model of numbers has one input, ``X``, dense, (n, n_features); NaN is a missing cell. A model of a table with
    words has an input (n, 1) per column, by its name (with an underscore behind it where an output is called so):
    numbers as they are, words as strings, "" where missing, True and False as "yes" and "no". A nominal or ordered
    column whose values are all numbers takes numbers, NaN where missing. A word that was never seen counts as nothing.

    Outputs are ``scores`` (n, n_labels), ``labels`` and, where the model is calibrated, ``probabilities`` (n,
    n_labels). Scores are on the scale of the thresholds: ``decision_function`` plus the thresholds. Labels are what
    ``predict`` returns: an int64 indicator, or classes if the model was fitted on those. Names of features and labels,
    the thresholds and, of a table, ``columns`` with their kinds and values are in its metadata, as JSON.

    Parameters
    ----------
    model : MLTSKClassifier, IncrementalMLTSK, PaperMLTSK
    dtype : {"float64", "float32"}, default="float64"
        Type of inputs that are numbers. Rounding one to float32 can move a score by more than 1e-5 where many training
        values lie close together.

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
    ['scores', 'labels', 'probabilities']
    """
    model = without_steps(model, "written as ONNX")
    if not has_rules(model):
        raise InputError(f"A {type(model).__name__} cannot be written as ONNX: pass a fitted MLTSKClassifier.")
    check_fitted(model, "to_onnx")
    if dtype not in ("float64", "float32"):
        raise InputError(f"dtype must be 'float64' or 'float32', got {dtype!r}.")
    onnx = optional("onnx", "onnx")
    g = Graph(onnx)
    x = samples(g, model.system_, onnx.TensorProto.DOUBLE if dtype == "float64" else onnx.TensorProto.FLOAT)
    scores, L = system_scores(g, model.system_, x), len(model.label_names_)
    g.output("scores", scores, g.onnx.TensorProto.DOUBLE, ["n", L])
    _labels(g, model)
    if model.system_.slopes is not None:
        g.output("probabilities", _probabilities(g, model, scores), g.onnx.TensorProto.DOUBLE, ["n", L])
    return _finished(g, model)


def _probabilities(g: Graph, model: Any, scores: str) -> str:
    """Of a calibrated model, (N, L); of two classes, that of the second."""
    system = model.system_
    if model.multilabel_ or len(model.classes_) == 2:
        line = g.add("Add", g.add("Mul", scores, g.constant(system.slopes)), g.constant(system.offsets))
        return g.add("Sigmoid", line)
    margin = g.add("Sub", scores, g.constant(system.thresholds))
    return g.add("Softmax", g.add("Mul", margin, g.constant(system.slopes.mean())), axis=1)


def _labels(g: Graph, model: Any) -> None:
    """What ``predict`` makes of scores: those that reach their threshold, or the class that stands highest above it."""
    types, tau, classes = g.onnx.TensorProto, g.constant(model.thresholds_), np.asarray(model.classes_)
    if not model.multilabel_ and len(classes) > 2:
        where = g.add("ArgMax", g.add("Sub", "scores", tau), axis=1, keepdims=0)
    else:
        where = g.add("Cast", g.add("GreaterOrEqual", "scores", tau), to=types.INT64)
    if model.multilabel_:
        g.output("labels", where, types.INT64, ["n", len(model.thresholds_)])
        return
    if len(classes) == 2:
        where = g.add("Squeeze", where, g.integers([1]))
    kinds = {"i": (np.int64, types.INT64), "u": (np.int64, types.INT64), "b": (np.bool_, types.BOOL)}
    dtype, kind = (kinds | {"f": (np.float64, types.DOUBLE)}).get(classes.dtype.kind, (object, types.STRING))
    g.output("labels", g.add("Gather", g.constant(classes, dtype), where), kind, ["n"])


def samples(g: Graph, system: FuzzySystem, kind: int) -> str:
    """The columns of numbers that a system is about, (N, D), from inputs in the caller's columns."""
    columns = system.columns
    if columns is None:
        return g.input("X", kind, system.shape[1])
    x = _numbers(g, columns, kind)
    return g.add("Concat", x, *(_held(g, x, tests) for tests in columns.tests), axis=1) if columns.rules else x


def _held(g: Graph, x: str, tests: list[tuple[int, float, float]]) -> str:
    """Whether a given rule holds, (N, 1): all of its numbers lie between their ends, none of them missing."""
    at, low, high = (np.array(part) for part in zip(*tests, strict=True))
    own = g.add("Gather", x, g.integers(at), axis=1)
    above, below = g.add("GreaterOrEqual", own, g.constant(low)), g.add("LessOrEqual", own, g.constant(high))
    return g.add("ReduceMin", g.number(g.add("And", above, below)), axes=[1])


def _numbers(g: Graph, columns: Columns, kind: int) -> str:
    """Values and what is missing, as `Columns.expand` has them, without given rules."""
    if set(columns.kinds) == {"number"}:
        x = g.input("X", kind, len(columns.names))
        if not any(columns.gaps):
            return x
        own = g.add("Gather", x, g.integers(np.flatnonzero(columns.gaps)), axis=1)
        return g.add("Concat", x, g.number(g.add("IsNaN", own)), axis=1)
    found = [_column(g, columns, d, kind) for d in range(len(columns.names))]
    gaps = [gap for (_, gap), own in zip(found, columns.gaps, strict=True) if own]
    return g.add("Concat", *(shown for shown, _ in found), *gaps, axis=1)


def _column(g: Graph, columns: Columns, d: int, kind: int) -> tuple[str, str]:
    """(columns of numbers of a feature, whether it is missing), from an input of its own: see `Columns.expand`."""
    values, types = columns.values[d] + columns.rare[d], g.onnx.TensorProto
    if columns.kinds[d] == "number" or _are_numbers(values):
        x = g.input(columns.names[d], kind, 1)
        missing = g.add("IsNaN", x)
        if columns.kinds[d] == "number":
            return x, g.number(missing)
        known = np.array(values, dtype=np.float64)
        rounding = (6e-15 if kind == types.DOUBLE else 6e-8) * np.abs(known)  # of 15 digits, of single precision
        is_value = g.add("LessOrEqual", g.add("Abs", g.add("Sub", x, g.constant(known))), g.constant(rounding))
    else:
        keys = values if "" in values else (*values, "")
        codes: dict[str, Any] = {"keys_strings": keys, "values_int64s": range(len(keys)), "default_int64": -1}
        code = g.add("LabelEncoder", g.input(columns.names[d], types.STRING, 1), domain=WORDS, **codes)
        is_value, missing = (g.add("Equal", code, g.integers(k)) for k in (np.arange(len(values)), len(values)))
    is_value = g.number(is_value)
    shown = g.add("MatMul", is_value, g.constant(_shown(columns, d)))
    is_known = g.add("Greater", g.add("ReduceSum", is_value, g.integers([1])), g.constant(0.0))
    known_gap = g.add("Or", is_known, missing)  # a word that was never seen is neither measured nor not
    shown = g.add("Where", is_known, shown, g.constant(np.nan))
    return shown, g.add("Where", known_gap, g.number(missing), g.constant(np.nan))


def _are_numbers(values: tuple[str, ...]) -> bool:
    """Whether all words are what `Columns` makes of numbers."""
    try:
        return bool(values) and all(f"{float(word):.15g}" == word and np.isfinite(float(word)) for word in values)
    except ValueError:
        return False


def _shown(columns: Columns, d: int) -> Any:
    """What frequent and then rare values of a feature are in its columns of numbers."""
    often, rare = len(columns.values[d]), len(columns.rare[d])
    if columns.kinds[d] == "ordinal":
        return np.arange(often)[:, None]
    table = np.minimum(np.arange(often + rare), often)[:, None] == np.arange(often + bool(rare))
    return table[:, 1:] if table.shape[1] == 2 else table


def system_scores(g: Graph, system: FuzzySystem, x: str) -> str:
    """intercept + Σ_p (t_p - mean_p) · a_p + Σ_k m_k (b_k + a_k·z), (N, L).   (16)"""
    gone, general = g.add("IsNaN", x), np.asarray(system.term_coef, dtype=np.float64)
    usual = system.terms.mean if system.is_linear else 0.0
    z = g.add("Where", gone, g.constant(usual), scaled(g, system, x))
    total = g.add("MatMul", memberships(g, system, z, gone), g.constant(general))
    total = g.add("Add", total, g.constant(system.intercept - system.terms.mean @ general))
    return g.add("Add", total, _exceptions(g, system, z, gone)) if len(system.centers) else total


def memberships(g: Graph, system: FuzzySystem, z: str, gone: str) -> str:
    """Memberships in the terms of the general rule, (N, P); the scaled features themselves where terms are linear."""
    terms, scaling = system.terms, system.scaling
    if terms.low is None or terms.high is None:
        return z
    spread, offset = (scaling.spread, scaling.offset) if scaling is not None else np.empty((2, 0))
    rise = terms.high - terms.low
    own = g.add("Gather", z, g.integers(terms.feature), axis=1)
    line = g.add("Mul", own, g.constant(spread[terms.feature] / rise))
    line = g.add("Add", line, g.constant((offset[terms.feature] - terms.low) / rise))
    ramps = g.add("Min", g.add("Max", line, g.constant(0.0)), g.constant(1.0))
    return g.add("Where", g.add("Gather", gone, g.integers(terms.feature), axis=1), g.constant(terms.mean), ramps)


def _exceptions(g: Graph, system: FuzzySystem, z: str, gone: str) -> str:
    """Σ_k m_k (b_k + a_k·z), (N, L), without slopes for order 0."""
    K, D, L = system.shape
    m, coef = firing(g, system, z, gone), np.asarray(system.coef, dtype=np.float64)
    shifts = g.add("MatMul", m, g.constant(coef[:, 0]))
    if system.order == 0:
        return shifts
    said = g.add("MatMul", z, g.constant(coef[:, 1:].transpose(1, 0, 2).reshape(D, K * L)))
    said = g.add("Reshape", said, g.integers([-1, K, L]))
    shared = g.add("Mul", said, g.add("Unsqueeze", m, g.integers([2])))
    return g.add("Add", g.add("ReduceSum", shared, g.integers([1]), keepdims=0), shifts)


def scaled(g: Graph, system: FuzzySystem, x: str) -> str:
    """Samples on the scale of the rules, (N, D); of what is missing, anything."""
    if system.unit_length:
        norm = g.add("Sqrt", g.add("ReduceSum", g.add("Mul", x, x), g.integers([1])))
        has_length = g.add("Greater", norm, g.constant(0.0))  # a row of zeros has none, nor has one with gaps
        return g.add("Div", x, g.add("Where", has_length, norm, g.constant(1.0)))
    if system.scaling is None:
        return x
    s = system.scaling
    if s.bounded:
        # The knots hold z itself: dividing by the spread at the end would, with one feature, look like a factor of the
        # next product to onnxruntime, which keeps such factors in float32 (an error of 2e-8).
        return _percentile(g, s.values, (s.levels - s.offset[:, None]) / s.spread[:, None], x)
    low, high = s.values[:, 0], s.values[:, -1]
    slope = 1.0 / (np.where(high > low, high - low, 1.0) * s.spread)
    far = REACH * np.where(high > low, high - low, np.maximum(abs(low), 1.0))
    x = g.add("Min", g.add("Max", x, g.constant(low - far)), g.constant(high + far))
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
    at = g.add("Expand", g.integers(np.arange(shape[0]) * shape[1]), g.add("Shape", x))
    for step in reversed(range(steps)):
        further = g.add("Add", at, g.integers(2**step))
        reached = g.add("GreaterOrEqual", x, g.add("Gather", knots, further))
        at = g.add("Where", reached, further, at)
    return at


def firing(g: Graph, system: FuzzySystem, z: str, gone: str) -> str:
    """How far every rule applies to every sample, (N, K).   (5) (6)"""
    exponents, there = [], g.number(g.add("Not", gone))
    for center, width in zip(system.centers, system.widths, strict=True):
        away = g.add("Sub", z, g.constant(center))
        weights = g.constant(1.0 / np.asarray(width, dtype=np.float64)[:, None])  # an infinite width is no condition
        square = g.add("Mul", g.add("Mul", away, away), there)
        if system.underflow == "minimum":
            exponents.append(g.add("ReduceMax", g.add("Mul", square, g.constant(1.0 / np.asarray(width))), axes=[1]))
        else:
            exponents.append(g.add("MatMul", square, weights))
    fired = g.add("Neg", _for_all(g, system, g.add("Concat", *exponents, axis=1), there))
    if system.underflow == "softmax":
        return g.add("Softmax", fired, axis=1)
    m = g.add("Exp", fired)
    if system.underflow in ("plain", "minimum"):
        return m
    total = g.add("ReduceSum", m, g.integers([1]))
    nothing = g.add("Equal", total, g.constant(0.0))
    return g.add("Div", m, g.add("Where", nothing, g.constant(np.finfo(np.float64).eps), total))


def _for_all(g: Graph, system: FuzzySystem, exponents: str, there: str) -> str:
    """Exponents over what is there, times how much of a rule's features that is; 1000 without any."""
    share = 1.0 if system.scaling is None else system.scaling.share
    counted = np.isfinite(system.widths) * share
    seen = g.add("MatMul", there, g.constant(counted.T))
    factor = g.add("Div", g.constant(counted.sum(axis=1)), g.add("Max", seen, g.constant(1e-9)))
    factor = g.constant(1.0) if system.underflow == "minimum" else factor
    some = g.add("Greater", seen, g.constant(1e-9))
    return g.add("Where", some, g.add("Mul", exponents, factor), g.constant(1e3))


def _finished(g: Graph, model: Any) -> Any:
    onnx, system = g.onnx, model.system_
    graph = onnx.helper.make_graph(g.nodes, "mltsk", g.inputs, g.outputs, g.constants)
    opsets = {"": OPSET} | {node.domain: WORDS_OPSET for node in g.nodes if node.domain}
    written_by = {"producer_name": "mltsk", "producer_version": __version__, "ir_version": IR_VERSION}
    imports = [onnx.helper.make_opsetid(*opset) for opset in opsets.items()]
    made = onnx.helper.make_model(graph, opset_imports=imports, **written_by)
    columns = system.columns
    names = system.feature_names if columns is None else columns.names
    facts = {"feature_names": names, "label_names": system.label_names, "thresholds": model.thresholds_.tolist()}
    facts |= {} if columns is None else {"columns": vars(columns)}
    onnx.helper.set_model_props(made, {key: json.dumps(fact) for key, fact in facts.items()})
    onnx.checker.check_model(made)
    return made
