"""A model as an ONNX graph of standard operators, for wherever there is a runtime.

Its inputs are in `graph_inputs`, the computing of scores in `graph_scores`; its outputs
are here.
"""

import json
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .. import __version__
from ..exceptions import InputError, optional
from ..fitted import FittedAttributes
from ..pipelines import without_steps
from ..system import FuzzySystem
from .graph import Graph, Proto
from .graph_inputs import WORDS_DOMAIN, samples
from .graph_scores import system_scores
from .plain import check_fitted
from .rebuild import rebuilt_classifier
from .requirements import refusing
from .state import plain_attributes

# What runtimes since 2022 read.
OPSET = 17
IR_VERSION = 8
WORDS_OPSET = 3  # of the operator that looks words up


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

    Outputs are ``scores`` (n, n_labels), ``labels`` and, where scores are log-odds,
    ``probabilities`` (n, n_labels). Scores are log-odds of probabilities, of PaperMLTSK
    its own; a label is given where they reach the thresholds, and
    ``decision_function`` is their difference. Labels are what ``predict`` returns: an
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


def _answer(g: Graph, model: BaseEstimator, scores: str) -> None:
    """Let scores, labels and, if scores are log-odds, probabilities leave the graph.

    Labels are given by these probabilities: scores may round otherwise here than in
    Python, and what leaves one graph agrees to the last bit all the same.
    """
    types = g.onnx.TensorProto
    system = model.system_
    n_labels = len(system.label_names)
    g.output("scores", scores, types.DOUBLE, ["n", n_labels])
    is_one_of_many = not model.multilabel_ and len(model.classes_) > 2
    chances = ""
    if is_one_of_many:  # the class that stands highest above its threshold
        distance = g.add("Sub", "scores", g.constant(system.thresholds))
        predicted = g.add("ArgMax", distance, axis=1, keepdims=0)
        if system.has_log_odds:
            shares = g.add("Sigmoid", distance)
            total = g.add("ReduceSum", shares, g.integers([1]), keepdims=1)
            chances = g.add("Div", shares, total)
    else:
        reached = ["scores", g.constant(model.thresholds_)]
        if system.has_log_odds:  # of two classes, those of the second
            chances = g.add("Sigmoid", "scores")
            reached[0] = chances
        predicted = g.add("Cast", g.add("GreaterOrEqual", *reached), to=types.INT64)
    if model.multilabel_:
        g.output("labels", predicted, types.INT64, ["n", n_labels])
    else:
        _answer_classes(g, np.asarray(model.classes_), predicted)
    if chances:
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
