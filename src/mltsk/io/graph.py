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
from ..core.terms import REACH
from ..exceptions import InputError, optional
from ..fitted import FittedAttributes
from ..pipelines import without_steps
from ..system import FuzzySystem
from .plain import check_fitted

OPSET, IR_VERSION = 17, 8  # what runtimes since 2022 read
WORDS, WORDS_OPSET = "ai.onnx.ml", 3  # where the operator that looks words up is from
OUTPUTS = ("scores", "labels", "probabilities")


class Graph:
    """Nodes, constants, inputs, outputs; `add` returns the name of what a node computes, an input for the next."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes, self.constants, self.inputs, self.outputs = (
            list[Any]() for _ in range(4)
        )

    def add(
        self, operator: str, *inputs: Any, name: str = "", **attributes: Any
    ) -> str:
        """The name of the output of a new node; of its inputs, what is no name is a constant in double precision."""
        name = (
            name or f"mltsk/{operator.lower()}{len(self.nodes) + 1}"
        )  # no column of a table is called so
        known = [
            part if isinstance(part, str) else self.constant(part) for part in inputs
        ]
        self.nodes.append(
            self.onnx.helper.make_node(operator, known, [name], name=name, **attributes)
        )
        return name

    def constant(self, values: Any, dtype: Any = np.float64) -> str:
        """The name of a constant tensor."""
        name = f"mltsk/c{len(self.constants)}"
        self.constants.append(
            self.onnx.numpy_helper.from_array(
                np.array(values, dtype=dtype, order="C"), name
            )
        )
        return name

    def integers(self, values: Any) -> str:
        """The same of whole numbers."""
        return self.constant(values, np.int64)

    def number(self, x: str) -> str:
        """Something in double precision: of a test, 0 or 1."""
        return self.add("Cast", x, to=self.onnx.TensorProto.DOUBLE)

    def input(self, name: str, kind: int, width: int) -> str:
        """Columns by which samples come in, under a name that is free; returns that of words, or of doubles."""
        while not name or name in (*OUTPUTS, *(known.name for known in self.inputs)):
            name += "_"
        self.inputs.append(
            self.onnx.helper.make_tensor_value_info(name, kind, ["n", width])
        )
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
    if not isinstance(model, FittedAttributes):
        raise InputError(
            f"A {type(model).__name__} cannot be written as ONNX: pass a fitted MLTSKClassifier."
        )
    check_fitted(model, "to_onnx")
    if dtype not in ("float64", "float32"):
        raise InputError(f"dtype must be 'float64' or 'float32', got {dtype!r}.")
    onnx, system = optional("onnx", "onnx"), model.system_
    g = Graph(onnx)
    x = samples(
        g,
        system,
        onnx.TensorProto.DOUBLE if dtype == "float64" else onnx.TensorProto.FLOAT,
    )
    _answer(g, model, system_scores(g, system, x))
    graph = onnx.helper.make_graph(g.nodes, "mltsk", g.inputs, g.outputs, g.constants)
    opsets = {"": OPSET} | {node.domain: WORDS_OPSET for node in g.nodes if node.domain}
    written_by = {
        "producer_name": "mltsk",
        "producer_version": __version__,
        "ir_version": IR_VERSION,
    }
    imports = [onnx.helper.make_opsetid(*opset) for opset in opsets.items()]
    made = onnx.helper.make_model(graph, opset_imports=imports, **written_by)
    names = system.feature_names if system.columns is None else system.columns.names
    facts = {
        "feature_names": names,
        "label_names": system.label_names,
        "thresholds": model.thresholds_.tolist(),
    }
    facts |= {} if system.columns is None else {"columns": vars(system.columns)}
    onnx.helper.set_model_props(
        made, {key: json.dumps(fact) for key, fact in facts.items()}
    )
    onnx.checker.check_model(made)
    return made


def _answer(g: Graph, model: Any, scores: str) -> None:
    """Let scores, what ``predict`` makes of them and, of a calibrated model, probabilities leave the graph."""
    types, system, classes, L = (
        g.onnx.TensorProto,
        model.system_,
        np.asarray(model.classes_),
        len(model.label_names_),
    )
    g.output("scores", scores, types.DOUBLE, ["n", L])
    tau, one_of_many = (
        g.constant(model.thresholds_),
        not model.multilabel_ and len(classes) > 2,
    )
    if one_of_many:  # the class that stands highest above its threshold
        found = g.add("ArgMax", g.add("Sub", "scores", tau), axis=1, keepdims=0)
    else:
        found = g.add("Cast", g.add("GreaterOrEqual", "scores", tau), to=types.INT64)
    if model.multilabel_:
        g.output("labels", found, types.INT64, ["n", L])
    else:
        found = g.add("Squeeze", found, g.integers([1])) if len(classes) == 2 else found
        kinds = {"i": np.int64, "u": np.int64, "b": np.bool_, "f": np.float64}
        named = g.constant(classes, kinds.get(classes.dtype.kind, object))
        g.output(
            "labels", g.add("Gather", named, found), g.constants[-1].data_type, ["n"]
        )
    if system.slopes is None:
        return
    if one_of_many:
        chances = g.add(
            "Softmax",
            g.add("Mul", g.add("Sub", scores, tau), system.slopes.mean()),
            axis=1,
        )
    else:  # of two classes, that of the second
        chances = g.add(
            "Sigmoid", g.add("Add", g.add("Mul", scores, system.slopes), system.offsets)
        )
    g.output("probabilities", chances, types.DOUBLE, ["n", L])


def samples(g: Graph, system: FuzzySystem, kind: int) -> str:
    """The columns of numbers that a system is about, (N, D), as `Columns.expand` has them, from those of the caller."""
    columns = system.columns
    if columns is None:
        return g.input("X", kind, system.shape[1])
    if set(columns.kinds) == {"number"}:
        found = [g.input("X", kind, len(columns.names))]
        if any(columns.gaps):
            own = g.add(
                "Gather", found[0], g.integers(np.flatnonzero(columns.gaps)), axis=1
            )
            found.append(g.number(g.add("IsNaN", own)))
    else:
        pairs = [_column(g, columns, d, kind) for d in range(len(columns.names))]
        found = [shown for shown, _ in pairs] + [
            gap for (_, gap), own in zip(pairs, columns.gaps, strict=True) if own
        ]
    x = g.add("Concat", *found, axis=1) if len(found) > 1 else found[0]
    held = []
    for tests in (
        columns.tests
    ):  # all numbers that a rule asks for lie between their ends, none of them missing
        at, low, high = (np.array(part) for part in zip(*tests, strict=True))
        own = g.add("Gather", x, g.integers(at), axis=1)
        within = g.add(
            "And", g.add("GreaterOrEqual", own, low), g.add("LessOrEqual", own, high)
        )
        held.append(g.add("ReduceMin", g.number(within), axes=[1]))
    return g.add("Concat", x, *held, axis=1) if held else x


def _column(g: Graph, columns: Columns, d: int, kind: int) -> tuple[str, str]:
    """(columns of numbers of a feature, whether it is missing), from an input of its own."""
    often, values, types = (
        len(columns.values[d]),
        columns.values[d] + columns.rare[d],
        g.onnx.TensorProto,
    )
    if columns.kinds[d] == "number" or _are_numbers(values):
        x = g.input(columns.names[d], kind, 1)
        missing = g.add("IsNaN", x)
        if columns.kinds[d] == "number":
            return x, g.number(missing)
        known = np.array(values, dtype=np.float64)
        rounding = (6e-15 if kind == types.DOUBLE else 6e-8) * np.abs(
            known
        )  # of 15 digits, of single precision
        is_value = g.add("LessOrEqual", g.add("Abs", g.add("Sub", x, known)), rounding)
    else:
        keys = values if "" in values else (*values, "")
        codes: dict[str, Any] = {
            "keys_strings": keys,
            "values_int64s": range(len(keys)),
            "default_int64": -1,
        }
        code = g.add(
            "LabelEncoder",
            g.input(columns.names[d], types.STRING, 1),
            domain=WORDS,
            **codes,
        )
        is_value, missing = (
            g.add("Equal", code, g.integers(k))
            for k in (np.arange(len(values)), len(values))
        )
    shows, is_value = (
        np.arange(often)[:, None],
        g.number(is_value),
    )  # the place of each value in its order
    if (
        columns.kinds[d] == "nominal"
    ):  # a column per frequent value, and one for the rare ones
        shows = np.minimum(np.arange(len(values)), often)[:, None] == np.arange(
            often + bool(columns.rare[d])
        )
        shows = shows[:, 1:] if shows.shape[1] == 2 else shows
    shown = g.add("MatMul", is_value, shows)
    is_known = g.add("Greater", g.add("ReduceSum", is_value, g.integers([1])), 0.0)
    known_gap = g.add(
        "Or", is_known, missing
    )  # a word that was never seen is neither measured nor not
    return g.add("Where", is_known, shown, np.nan), g.add(
        "Where", known_gap, g.number(missing), np.nan
    )


def _are_numbers(values: tuple[str, ...]) -> bool:
    """Whether all words are what `Columns` makes of numbers."""
    try:
        return bool(values) and all(
            f"{float(word):.15g}" == word and np.isfinite(float(word))
            for word in values
        )
    except ValueError:
        return False


def system_scores(g: Graph, system: FuzzySystem, x: str) -> str:
    """intercept + Σ_p (t_p - mean_p) · a_p + Σ_k m_k (b_k + a_k·z), (N, L), without slopes a_k for order 0.   (16)"""
    (K, D, L), coef = system.shape, np.asarray(system.coef, dtype=np.float64)
    gone, general = g.add("IsNaN", x), np.asarray(system.term_coef, dtype=np.float64)
    z = g.add(
        "Where",
        gone,
        system.terms.mean if system.is_linear else 0.0,
        scaled(g, system, x),
    )
    total = g.add("MatMul", memberships(g, system, z, gone), general)
    total = g.add("Add", total, system.intercept - system.terms.mean @ general)
    if not K:
        return total
    m = firing(g, system, z, gone)
    shifts = g.add("MatMul", m, coef[:, 0])
    if system.order:
        said = g.add("MatMul", z, coef[:, 1:].transpose(1, 0, 2).reshape(D, K * L))
        said = g.add("Reshape", said, g.integers([-1, K, L]))
        shared = g.add("Mul", said, g.add("Unsqueeze", m, g.integers([2])))
        shifts = g.add(
            "Add", g.add("ReduceSum", shared, g.integers([1]), keepdims=0), shifts
        )
    return g.add("Add", total, shifts)


def memberships(g: Graph, system: FuzzySystem, z: str, gone: str) -> str:
    """Memberships in the terms of the general rule, (N, P); the scaled features themselves where terms are linear."""
    terms, scaling = system.terms, system.scaling
    if terms.low is None or terms.high is None:
        return z
    spread, offset = (
        (scaling.spread, scaling.offset) if scaling is not None else np.empty((2, 0))
    )
    rise, feature = terms.high - terms.low, g.integers(terms.feature)
    line = g.add(
        "Mul", g.add("Gather", z, feature, axis=1), spread[terms.feature] / rise
    )
    line = g.add("Add", line, (offset[terms.feature] - terms.low) / rise)
    ramps = g.add("Min", g.add("Max", line, 0.0), 1.0)
    return g.add("Where", g.add("Gather", gone, feature, axis=1), terms.mean, ramps)


def scaled(g: Graph, system: FuzzySystem, x: str) -> str:
    """Samples on the scale of the rules, (N, D); of what is missing, anything."""
    if system.unit_length:
        norm = g.add("Sqrt", g.add("ReduceSum", g.add("Mul", x, x), g.integers([1])))
        has_length = g.add(
            "Greater", norm, 0.0
        )  # a row of zeros has none, nor has one with gaps
        return g.add("Div", x, g.add("Where", has_length, norm, 1.0))
    if system.scaling is None:
        return x
    s = system.scaling
    if s.bounded:
        # The knots hold z itself: dividing by the spread at the end would, with one feature, look like a factor of the
        # next product to onnxruntime, which keeps such factors in float32 (an error of 2e-8).
        return _percentile(
            g, s.values, (s.levels - s.offset[:, None]) / s.spread[:, None], x
        )
    low, high = s.values[:, 0], s.values[:, -1]
    slope = 1.0 / (np.where(high > low, high - low, 1.0) * s.spread)
    far = REACH * np.where(high > low, high - low, np.maximum(abs(low), 1.0))
    x = g.add("Min", g.add("Max", x, low - far), high + far)
    return g.add("Sub", g.add("Mul", g.add("Sub", x, low), slope), s.offset / s.spread)


def _percentile(g: Graph, values: Any, levels: Any, x: str) -> str:
    """Linear between knots and constant beyond them, as `numpy.interp`."""
    steps = max(values.shape[1] - 1, 1).bit_length()
    Q = (
        2**steps
    )  # halving needs no bounds check then; padding repeats the last knot, where the slope is 0
    values, levels = (
        np.pad(a, ((0, 0), (0, Q - a.shape[1])), mode="edge") for a in (values, levels)
    )
    width = np.diff(values, axis=1, append=values[:, -1:])
    slopes = np.divide(
        np.diff(levels, axis=1, append=levels[:, -1:]),
        width,
        out=np.zeros_like(width),
        where=width > 0,
    )
    x, knots = (
        g.add("Min", g.add("Max", x, values[:, 0]), values[:, -1]),
        g.constant(values.ravel()),
    )
    # the last knot that is not above x in the table, feature after feature, (N, D)
    at = g.add("Expand", g.integers(np.arange(len(values)) * Q), g.add("Shape", x))
    for step in reversed(range(steps)):
        further = g.add("Add", at, g.integers(2**step))
        at = g.add(
            "Where",
            g.add("GreaterOrEqual", x, g.add("Gather", knots, further)),
            further,
            at,
        )
    rise = g.add(
        "Mul",
        g.add("Sub", x, g.add("Gather", knots, at)),
        g.add("Gather", slopes.ravel(), at),
    )
    return g.add("Add", g.add("Gather", levels.ravel(), at), rise)


def firing(g: Graph, system: FuzzySystem, z: str, gone: str) -> str:
    """How far every rule applies to every sample, (N, K).   (5) (6)"""
    exponents, there, is_minimum = (
        list[str](),
        g.number(g.add("Not", gone)),
        system.firing == "minimum",
    )
    for center, width in zip(
        system.centers, np.asarray(system.widths, dtype=np.float64), strict=True
    ):
        away = g.add("Sub", z, center)
        square = g.add("Mul", g.add("Mul", away, away), there)
        if is_minimum:
            exponents.append(
                g.add("ReduceMax", g.add("Mul", square, 1.0 / width), axes=[1])
            )
        else:
            exponents.append(
                g.add("MatMul", square, 1.0 / width[:, None])
            )  # an infinite width is no condition
    # over what is there, times how much of a rule's features that is; 1000 without any
    counted = np.isfinite(system.widths) * (
        1.0 if system.scaling is None else system.scaling.share
    )
    seen = g.add("MatMul", there, counted.T)
    factor = (
        1.0
        if is_minimum
        else g.add("Div", counted.sum(axis=1), g.add("Max", seen, 1e-9))
    )
    total = g.add("Mul", g.add("Concat", *exponents, axis=1), factor)
    fired = g.add("Neg", g.add("Where", g.add("Greater", seen, 1e-9), total, 1e3))
    if system.firing == "softmax":
        return g.add("Softmax", fired, axis=1)
    m = g.add("Exp", fired)
    if system.firing in ("plain", "minimum"):
        return m
    total = g.add("ReduceSum", m, g.integers([1]))
    return g.add(
        "Div",
        m,
        g.add("Where", g.add("Equal", total, 0.0), np.finfo(np.float64).eps, total),
    )
