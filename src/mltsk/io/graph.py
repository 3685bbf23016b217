"""A model as an ONNX graph of standard operators, for wherever there is a runtime.

Everything is computed in float64, as in Python. The percentile scale is a table of
knots: the place of a feature in it is found by halving, log₂ Q times for all features
at once, which needs N·D numbers where comparing with every knot needs N·D·Q (half a
gigabyte for 2,400 rows of yeast). Exponents are taken rule by rule without expanding
the square, so that the narrow widths of constant features in the paper's setting do not
cancel. What is missing (NaN) counts as nothing.

Symbols: N samples, D columns of numbers, L labels, P terms, K exceptions, Q knots.
"""

import json
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.base import BaseEstimator

from .. import __version__
from ..columns import Columns, ColumnTest
from ..core.arrays import MAX_RAW, FloatArray
from ..core.membership import NOT_MEASURED_EXPONENT, Firing
from ..core.terms import (
    MAX_SAFE_SUM,
    REACH,
    Scaling,
    constant_reach,
    ordinary_ends,
)
from ..core.used import UsedFeatures
from ..exceptions import InputError, optional
from ..fitted import FittedAttributes
from ..pipelines import without_steps
from ..system import FuzzySystem
from .plain import check_fitted
from .rebuild import rebuilt_classifier
from .requirements import refusing
from .state import plain_attributes

# What runtimes since 2022 read.
OPSET = 17
IR_VERSION = 8
# Where the operator that looks words up is from.
WORDS_DOMAIN = "ai.onnx.ml"
WORDS_OPSET = 3
OWN_NAMES = "mltsk/"  # how names of nodes and constants begin
OUTPUTS = ("scores", "labels", "probabilities")
# Rounding of numbers that are values of a column, relative to them.
ROUNDING_OF_15_DIGITS = 6e-15
ROUNDING_OF_SINGLE_PRECISION = 6e-8
MIN_SEEN_SHARE = 1e-9  # of the features of a rule; below, nothing of it was measured
MIN_WIDTH_FOR_SLOPE = 1e-290  # between knots: slopes above are finite

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


def to_onnx(
    model: BaseEstimator, *, dtype: Literal["float64", "float32"] = "float64"
) -> Proto:
    """A fitted model as an ONNX model.

    A model of numbers has one input, ``X``, dense, (n, n_features); NaN is a missing
    cell. A model of a table with words has an input (n, 1) per column, by its name
    (with an underscore behind it where an output is called so): numbers as they are,
    words as strings, "" where missing, True and False as "yes" and "no". A nominal or
    ordered column whose values are all numbers takes numbers, NaN where missing. A word
    that was never seen counts as nothing.

    Outputs are ``scores`` (n, n_labels), ``labels`` and, where the model is calibrated,
    ``probabilities`` (n, n_labels). Scores are on the scale of the thresholds:
    ``decision_function`` plus the thresholds. Labels are what ``predict`` returns: an
    int64 indicator, or classes if the model was fitted on those. Names of features and
    labels, the thresholds and, of a table, ``columns`` with their kinds and values are
    in its metadata, as JSON.

    Parameters
    ----------
    model : MLTSKClassifier, IncrementalMLTSK, PaperMLTSK
    dtype : {"float64", "float32"}, default="float64"
        Type of inputs that are numbers. Rounding one to float32 can move a score by
        more than 1e-5 where many training values lie close together.

    Returns
    -------
    onnx.ModelProto
        ``onnx.save(to_onnx(clf), "model.onnx")`` or
        ``to_onnx(clf).SerializeToString()``.

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
            f"A {type(model).__name__} cannot be written as ONNX: "
            "pass a fitted MLTSKClassifier."
        )
    check_fitted(model, "to_onnx")
    with refusing(f"This {type(model).__name__} cannot be written as ONNX"):
        rebuilt_classifier(type(model), plain_attributes(model))
    if dtype not in ("float64", "float32"):
        raise InputError(f"dtype must be 'float64' or 'float32', got {dtype!r}.")
    onnx = optional("onnx", "onnx")
    kinds = {"float64": onnx.TensorProto.DOUBLE, "float32": onnx.TensorProto.FLOAT}
    system = model.system_
    g = Graph(onnx, () if system.columns is None else system.columns.names)
    x = samples(g, system, kinds[dtype])
    _answer(g, model, system_scores(g, system, x))
    made = _model_of(g)
    facts = {key: json.dumps(fact) for key, fact in _facts(system).items()}
    onnx.helper.set_model_props(made, facts)
    onnx.checker.check_model(made)
    return made


def _model_of(g: Graph) -> Proto:
    """The ONNX model of a graph."""
    helper = g.onnx.helper
    graph = helper.make_graph(g.nodes, "mltsk", g.inputs, g.outputs, g.constants)
    imports = [helper.make_opsetid("", OPSET)]
    if any(node.domain == WORDS_DOMAIN for node in g.nodes):
        imports.append(helper.make_opsetid(WORDS_DOMAIN, WORDS_OPSET))
    return helper.make_model(
        graph,
        opset_imports=imports,
        producer_name="mltsk",
        producer_version=__version__,
        ir_version=IR_VERSION,
    )


def _facts(system: FuzzySystem) -> dict[str, object]:
    """What the metadata of the ONNX model say."""
    thresholds = system.thresholds.tolist()
    facts = {
        "feature_names": system.feature_names,
        "label_names": system.label_names,
        "thresholds": thresholds,
    }
    if system.columns is not None:
        facts["feature_names"] = system.columns.names
        facts["columns"] = vars(system.columns)
    if system.used is not None:
        facts["used_features"] = system.used.positions.tolist()
    return facts


# outputs ------------------------------------------------------------------------------


def _answer(g: Graph, model: BaseEstimator, scores: str) -> None:
    """Let scores, labels and, of a calibrated model, probabilities leave the graph."""
    types = g.onnx.TensorProto
    system = model.system_
    n_labels = len(system.label_names)
    g.output("scores", scores, types.DOUBLE, ["n", n_labels])
    thresholds = g.constant(system.thresholds)
    is_one_of_many = not model.multilabel_ and len(model.classes_) > 2
    if is_one_of_many:  # the class that stands highest above its threshold
        distance = g.add("Sub", "scores", thresholds)
        predicted = g.add("ArgMax", distance, axis=1, keepdims=0)
    else:
        is_above = g.add("GreaterOrEqual", "scores", thresholds)
        predicted = g.add("Cast", is_above, to=types.INT64)
    if model.multilabel_:
        g.output("labels", predicted, types.INT64, ["n", n_labels])
    else:
        _answer_classes(g, np.asarray(model.classes_), predicted)
    if system.slopes is None:
        return
    if is_one_of_many:
        distance = g.add("Sub", scores, thresholds)
        line = g.add("Mul", distance, system.slopes.mean())
        chances = g.add("Softmax", line, axis=1)
    else:  # of two classes, that of the second
        line = g.add("Add", g.add("Mul", scores, system.slopes), system.offsets)
        chances = g.add("Sigmoid", line)
    g.output("probabilities", chances, types.DOUBLE, ["n", n_labels])


def _answer_classes(g: Graph, classes: NDArray[np.generic], predicted: str) -> None:
    """Let classes, predicted by their places, leave the graph."""
    if len(classes) == 2:
        predicted = g.add("Squeeze", predicted, g.integers([1]))
    kinds = {"i": np.int64, "u": np.int64, "b": np.bool_, "f": np.float64}
    dtype = kinds.get(classes.dtype.kind, object)
    if dtype is np.int64 and classes.max() > np.iinfo(np.int64).max:
        dtype = np.uint64
    names = g.constant(classes, dtype)
    kind = g.constants[-1].data_type
    g.output("labels", g.add("Gather", names, predicted), kind, ["n"])


# inputs -------------------------------------------------------------------------------


def samples(g: Graph, system: FuzzySystem, kind: int) -> str:
    """The columns of numbers (N, D) that a system is about, from those of the caller.

    They are as `Columns.expand` has them.
    """
    columns = system.columns
    if system.used is not None:
        return _used_columns(g, system.used, kind)
    if columns is None:
        return g.input("X", kind, len(system.feature_names))
    if set(columns.kinds) == {"number"}:
        blocks = _number_columns(g, columns, kind)
    else:
        blocks = _mixed_columns(g, columns, kind)
    x = g.add("Concat", *blocks, axis=1) if len(blocks) > 1 else blocks[0]
    rules = [_given_rule(g, x, tests) for tests in columns.tests]
    return g.add("Concat", x, *rules, axis=1) if rules else x


def _used_columns(g: Graph, used: UsedFeatures, kind: int) -> str:
    """Features that have a column, and the length of a sample in all others."""
    x = g.input("X", kind, used.n_features)
    others = np.delete(np.arange(used.n_features), used.positions)
    own = g.add("Gather", x, g.integers(used.positions), axis=1)
    rest = g.add("Gather", x, g.integers(others), axis=1)
    # a sum of squares may be larger than all numbers where the length is not
    shares = g.add("Mul", rest, _unit_rows(g, rest))
    length = g.add("ReduceSum", shares, g.integers([1]))
    return g.add("Concat", own, length, axis=1)


def _number_columns(g: Graph, columns: Columns, kind: int) -> list[str]:
    """A table of numbers: its columns, then which of them are missing."""
    x = g.input("X", kind, len(columns.names))
    if not any(columns.gaps):
        return [x]
    with_gaps = g.integers(np.flatnonzero(columns.gaps))
    missing = g.add("IsNaN", g.add("Gather", x, with_gaps, axis=1))
    return [x, g.number(missing)]


def _mixed_columns(g: Graph, columns: Columns, kind: int) -> list[str]:
    """A table with words: the numbers of every column, then which are missing."""
    shown = []
    missing = []
    for d, has_gap in enumerate(columns.gaps):
        numbers, is_missing = _column(g, columns, d, kind)
        shown.append(numbers)
        if has_gap:
            missing.append(is_missing)
    return shown + missing


def _given_rule(g: Graph, x: str, tests: Sequence[ColumnTest]) -> str:
    """Whether a rule of the user holds: 0 or 1, (N, 1).

    All numbers that it asks for must lie between their ends; a missing one does not.
    """
    asked = g.integers([test.column for test in tests])
    numbers = g.add("Gather", x, asked, axis=1)
    is_above = g.add("GreaterOrEqual", numbers, [test.low for test in tests])
    is_below = g.add("LessOrEqual", numbers, [test.high for test in tests])
    is_within = g.add("And", is_above, is_below)
    return g.add("ReduceMin", g.number(is_within), axes=[1])


def _column(g: Graph, columns: Columns, d: int, kind: int) -> tuple[str, str]:
    """The columns of numbers of a feature from an input of its own.

    Also whether the feature is missing, (N, 1).
    """
    values = columns.values[d] + columns.rare[d]
    if columns.kinds[d] == "number":
        x = g.input(columns.names[d], kind, 1)
        return x, g.number(g.add("IsNaN", x))
    if _are_numbers(values):
        is_value, missing = _coded_column(g, columns.names[d], values, kind)
    else:
        is_value, missing = _word_column(g, columns.names[d], values)
    is_value = g.number(is_value)
    shown = g.add("MatMul", is_value, _numbers_of_values(columns, d))
    n_values = g.add("ReduceSum", is_value, g.integers([1]))
    is_known = g.add("Greater", n_values, 0.0)
    # a word that was never seen is neither measured nor missing
    is_known_or_missing = g.add("Or", is_known, missing)
    numbers = g.add("Where", is_known, shown, np.nan)
    gap = g.add("Where", is_known_or_missing, g.number(missing), np.nan)
    return numbers, gap


def _coded_column(
    g: Graph, name: str, values: tuple[str, ...], kind: int
) -> tuple[str, str]:
    """Which value a number is, (N, values), and whether it is missing, (N, 1)."""
    x = g.input(name, kind, 1)
    missing = g.add("IsNaN", x)
    codes = np.array(values, dtype=np.float64)
    rounding = ROUNDING_OF_SINGLE_PRECISION
    if kind == g.onnx.TensorProto.DOUBLE:
        rounding = ROUNDING_OF_15_DIGITS
    distance = g.add("Abs", g.add("Sub", x, codes))
    return g.add("LessOrEqual", distance, rounding * np.abs(codes)), missing


def _word_column(g: Graph, name: str, values: tuple[str, ...]) -> tuple[str, str]:
    """Which value a word is, (N, values), and whether it is missing, (N, 1)."""
    words = values if "" in values else (*values, "")
    place = g.add(
        "LabelEncoder",
        g.input(name, g.onnx.TensorProto.STRING, 1),
        domain=WORDS_DOMAIN,
        keys_strings=words,
        values_int64s=range(len(words)),
        default_int64=-1,
    )
    is_value = g.add("Equal", place, g.integers(np.arange(len(values))))
    missing = g.add("Equal", place, g.integers(len(values)))
    return is_value, missing


def _numbers_of_values(columns: Columns, d: int) -> NDArray[np.generic]:
    """The columns of numbers that each value of words has, (values, columns)."""
    n_frequent = len(columns.values[d])
    n_rare = len(columns.rare[d])
    if columns.kinds[d] == "ordinal":  # the place of each value in its order
        return np.arange(n_frequent)[:, None]
    # a column per frequent value, and one for the rare ones
    own_column = np.minimum(np.arange(n_frequent + n_rare), n_frequent)
    n_columns = n_frequent + (n_rare > 0)
    numbers = own_column[:, None] == np.arange(n_columns)
    return numbers[:, 1:] if n_columns == 2 else numbers


def _are_numbers(values: tuple[str, ...]) -> bool:
    """Whether all words are what `Columns` makes of numbers."""
    return bool(values) and all(_is_number(word) for word in values)


def _is_number(word: str) -> bool:
    """Whether a word is a finite number as `Columns` writes it."""
    try:
        number = float(word)
    except ValueError:
        return False
    return f"{number:.15g}" == word and bool(np.isfinite(number))


# scores -------------------------------------------------------------------------------


def system_scores(g: Graph, system: FuzzySystem, x: str) -> str:
    """Scores (N, L) of samples (N, D), missing cells included.                    (16)

    intercept + Σ_p (t_p - mean_p) · a_p + Σ_k m_k (b_k + a_k·z), without slopes a_k for
    order 0.
    """
    missing = g.add("IsNaN", x)
    general = np.asarray(system.term_coef, dtype=np.float64)
    filled = system.terms.mean if system.is_linear else 0.0
    z = g.add("Where", missing, filled, scaled(g, system, x))
    total = g.add("MatMul", memberships(g, system, z, missing), general)
    total = g.add("Add", total, system.intercept - system.terms.mean @ general)
    if not len(system.centers):
        return total
    return g.add("Add", total, _shifts(g, system, z, missing))


def _shifts(g: Graph, system: FuzzySystem, z: str, missing: str) -> str:
    """What the exceptions add to the scores, (N, L)."""
    K, D, L = system.shape
    coef = np.asarray(system.coef, dtype=np.float64)
    m = firing(g, system, z, missing)
    shifts = g.add("MatMul", m, coef[:, 0])
    if not system.order:
        return shifts
    slopes = coef[:, 1:].transpose(1, 0, 2).reshape(D, K * L)
    lines = g.add("Reshape", g.add("MatMul", z, slopes), g.integers([-1, K, L]))
    shares = g.add("Mul", lines, g.add("Unsqueeze", m, g.integers([2])))
    total = g.add("ReduceSum", shares, g.integers([1]), keepdims=0)
    return g.add("Add", total, shifts)


def memberships(g: Graph, system: FuzzySystem, z: str, missing: str) -> str:
    """Memberships in the terms of the general rule, (N, P).

    They are the scaled features themselves where terms are linear.
    """
    terms = system.terms
    if terms.low is None or terms.high is None:
        return z
    spread: FloatArray = np.empty(0)
    offset: FloatArray = np.empty(0)
    if system.scaling is not None:
        spread = system.scaling.spread
        offset = system.scaling.offset
    rise = terms.high - terms.low
    feature = g.integers(terms.feature)
    z_of_terms = g.add("Gather", z, feature, axis=1)
    line = g.add("Mul", z_of_terms, spread[terms.feature] / rise)
    line = g.add("Add", line, (offset[terms.feature] - terms.low) / rise)
    ramps = g.add("Min", g.add("Max", line, 0.0), 1.0)
    is_missing = g.add("Gather", missing, feature, axis=1)
    return g.add("Where", is_missing, terms.mean, ramps)


def scaled(g: Graph, system: FuzzySystem, x: str) -> str:
    """Samples on the scale of the rules, (N, D); anything where a cell is missing."""
    if system.unit_length:
        return _unit_rows(g, x)
    scaling = system.scaling
    if scaling is None:
        return g.add("Min", g.add("Max", x, -MAX_RAW), MAX_RAW)
    if not scaling.bounded:
        return _straight(g, scaling, x)
    # The knots hold z itself: dividing by the spread at the end would, with one
    # feature, look like a factor of the next product to onnxruntime, which keeps such
    # factors in float32 (an error of 2e-8).
    levels = (scaling.levels - scaling.offset[:, None]) / scaling.spread[:, None]
    return _percentile(g, scaling.values, levels, x)


def _unit_rows(g: Graph, x: str) -> str:
    """Rows of unit length; a row of zeros has none, nor has one with gaps."""
    largest = g.add("ReduceMax", g.add("Abs", x), axes=[1])
    has_size = g.add("Greater", largest, 0.0)
    # squares of very large and very small numbers are no numbers
    x = g.add("Div", x, g.add("Where", has_size, largest, 1.0))
    norm = g.add("Sqrt", g.add("ReduceSum", g.add("Mul", x, x), g.integers([1])))
    return g.add("Div", x, g.add("Where", has_size, norm, 1.0))


def _straight(g: Graph, scaling: Scaling, x: str) -> str:
    """A line through the first and the last knot, which stops far beyond them.

    It is that of `Scaling.apply`.
    """
    low, high, factor = ordinary_ends(scaling.values)
    if factor is not None:
        x = g.add("Mul", x, factor[:, 0])
    low = low[:, 0]
    high = high[:, 0]
    run = np.where(high > low, high - low, 1.0)
    slope = 1.0 / (run * scaling.spread)
    is_line = high > low
    reach = np.where(is_line, REACH * run, REACH * constant_reach(low))
    x = g.add("Min", g.add("Max", x, low - reach), high + reach)
    line = g.add("Mul", g.add("Sub", x, low), slope)
    return g.add("Sub", line, scaling.offset / scaling.spread)


def _percentile(g: Graph, values: FloatArray, levels: FloatArray, x: str) -> str:
    """Linear between knots and constant beyond them, as `numpy.interp`.

    ``values`` and ``levels`` of the knots are (D, Q).
    """
    n_steps = max(values.shape[1] - 1, 1).bit_length()
    # Halving needs no check of bounds if the number of knots is a power of two. Padding
    # repeats the last knot, where the slope is 0.
    n_knots = 2**n_steps
    values = _padded(values, n_knots)
    levels = _padded(levels, n_knots)
    x = g.add("Min", g.add("Max", x, values[:, 0]), values[:, -1])
    factors = np.where(abs(values).max(axis=1) > MAX_SAFE_SUM, 0.25, 1.0)
    if (factors < 1).any():  # else distances might not be finite
        x = g.add("Mul", x, factors)
        values = values * factors[:, None]
    width = np.diff(values, axis=1, append=values[:, -1:])
    rise = np.diff(levels, axis=1, append=levels[:, -1:])
    knots = g.constant(values.ravel())
    # the last knot that is not above x in the table, feature after feature, (N, D)
    first = g.integers(np.arange(len(values)) * n_knots)
    place = g.add("Expand", first, g.add("Shape", x))
    for step in reversed(range(n_steps)):
        further = g.add("Add", place, g.integers(2**step))
        is_reached = g.add("GreaterOrEqual", x, g.add("Gather", knots, further))
        place = g.add("Where", is_reached, further, place)
    beyond = g.add("Sub", x, g.add("Gather", knots, place))
    is_normal = (width == 0) | (width > MIN_WIDTH_FOR_SLOPE)
    if is_normal.all():
        slopes = np.divide(rise, width, out=np.zeros_like(width), where=width > 0)
        climb = g.add("Mul", beyond, g.add("Gather", slopes.ravel(), place))
    else:  # slopes might not be finite
        length = np.where(width > 0, width, 1.0)
        share = g.add("Div", beyond, g.add("Gather", length.ravel(), place))
        climb = g.add("Mul", share, g.add("Gather", rise.ravel(), place))
    return g.add("Add", g.add("Gather", levels.ravel(), place), climb)


def _padded(knots: FloatArray, n_knots: int) -> FloatArray:
    """Knots (D, n_knots), the last one repeated."""
    return np.pad(knots, ((0, 0), (0, n_knots - knots.shape[1])), mode="edge")


def firing(g: Graph, system: FuzzySystem, z: str, missing: str) -> str:
    """How far every rule applies to every sample, (N, K).                    (5) (6)"""
    measured = g.number(g.add("Not", missing))
    exponents = _exponents(g, system, z, measured)
    share = 1.0 if system.scaling is None else system.scaling.share
    counted = np.isfinite(system.widths) * share
    seen = g.add("MatMul", measured, counted.T)
    # over what was measured, times how much of the rule's features that is
    factor: float | str = 1.0
    if system.firing != "minimum":
        at_least = g.add("Max", seen, MIN_SEEN_SHARE)
        factor = g.add("Div", counted.sum(axis=1), at_least)
    total = g.add("Mul", exponents, factor)
    is_seen = g.add("Greater", seen, MIN_SEEN_SHARE)
    exponent = g.add("Where", is_seen, total, NOT_MEASURED_EXPONENT)
    return _strengths(g, system.firing, g.add("Neg", exponent))


def _exponents(g: Graph, system: FuzzySystem, z: str, measured: str) -> str:
    """How far samples lie from the centre of each rule, (N, K)."""
    if system.firing == "softmax" and (system.widths == system.widths[0]).all():
        return _relative_exponents(g, system, z, measured)
    exponents = []
    widths = np.asarray(system.widths, dtype=np.float64)
    for center, width in zip(system.centers, widths, strict=True):
        away = g.add("Sub", z, center)
        square = g.add("Mul", g.add("Mul", away, away), measured)
        # an infinite width is no condition
        if system.firing == "minimum":
            ratios = g.add("Mul", square, 1.0 / width)
            exponents.append(g.add("ReduceMax", ratios, axes=[1]))
        else:
            exponents.append(g.add("MatMul", square, 1.0 / width[:, None]))
    return g.add("Concat", *exponents, axis=1)


def _relative_exponents(g: Graph, system: FuzzySystem, z: str, measured: str) -> str:
    """Exponents (N, K) without the square of samples, which is the same for all rules.

    Far from all rules that square would hide which of them is the nearest.
    """
    origin = system.centers.mean(axis=0)
    centers = np.asarray(system.centers - origin, dtype=np.float64)
    away = g.add("Mul", g.add("Sub", z, origin), measured)
    towards = g.add("MatMul", away, (-2 * centers / system.widths).T)
    squares = g.add("MatMul", measured, (centers * centers / system.widths).T)
    return g.add("Add", towards, squares)


def _strengths(g: Graph, how: Firing, exponents: str) -> str:
    """Firing strengths (N, K) of exponents (N, K), which are at most 0."""
    if how == "softmax":
        return g.add("Softmax", exponents, axis=1)
    m = g.add("Exp", exponents)
    if how in ("plain", "minimum"):
        return m
    total = g.add("ReduceSum", m, g.integers([1]))
    is_zero = g.add("Equal", total, 0.0)
    tiny = np.finfo(np.float64).eps
    return g.add("Div", m, g.add("Where", is_zero, tiny, total))
