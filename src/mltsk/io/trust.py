"""What a model file may hold: types by name, judged before any of them is imported.

skops trusts every estimator of scikit-learn and more. We trust the types in `TRUSTED`,
the methods that the paper compares and those that came after it, in a pipeline
transformers of scikit-learn as well, and nothing else.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TypeAlias

from .system_state import Json

TypesByLoader: TypeAlias = Mapping[str, tuple[str, ...]]

CLASSIFIERS = (
    "mltsk.classifier.MLTSKClassifier",
    "mltsk.incremental.IncrementalMLTSK",
)
# The room whose METHODS and SUCCESSORS are classifiers, too. It is imported when a file
# names it.
METHODS_ROOM = "mltsk.paper.methods"
PIPELINE = "sklearn.pipeline.Pipeline"
# What a stream keeps of its samples.
SPARSE_TYPES = ("scipy.sparse._csr.csr_matrix", "scipy.sparse._csr.csr_array")
NUMBER_TYPES = (
    "numpy.bool",
    "numpy.bool_",
    "numpy.int32",
    "numpy.int64",
    "numpy.float32",
    "numpy.float64",
)

# By skops' name for the way in which something is rebuilt, the types that may be
# rebuilt in this way.
TRUSTED: TypesByLoader = {
    "ObjectNode": CLASSIFIERS,
    "DictNode": ("builtins.dict",),
    "ListNode": ("builtins.list",),
    "TupleNode": ("builtins.tuple",),
    "JsonNode": ("builtins.str",),
    "TypeNode": ("builtins.str", "builtins.int"),
    "NdArrayNode": ("numpy.ndarray", *NUMBER_TYPES),
    "SparseMatrixNode": SPARSE_TYPES,
    "RandomStateNode": ("numpy.random.mtrand.RandomState",),
}


@cache
def trusted_in_pipelines() -> TypesByLoader:
    """`TRUSTED`, transformers of scikit-learn and what they consist of.

    None of it is a function: a FunctionTransformer may be there for columns that it
    passes on, and not with a ``func``.
    """
    # imported late, because it is slow; a CountVectorizer is no TransformerMixin
    from sklearn.base import TransformerMixin
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.utils import all_estimators

    transformers = []
    for _, kind in all_estimators():
        if issubclass(kind, TransformerMixin | CountVectorizer):
            transformers.append(type_name(kind))
    builtins = ("builtins.str", "builtins.int", "builtins.float", "builtins.bool")
    return {
        **TRUSTED,
        "ObjectNode": (*CLASSIFIERS, PIPELINE, *transformers),
        "TypeNode": (*builtins, *NUMBER_TYPES),
        "DTypeNode": ("numpy.dtype",),
        "SliceNode": ("builtins.slice",),
    }


def untrusted(schema: Json) -> str | None:
    """The first type in a skops schema that is not trusted, or None if all are."""
    is_pipeline = isinstance(schema, dict) and _type_of(schema) == PIPELINE
    trusted = trusted_in_pipelines() if is_pipeline else TRUSTED
    for loader, name in _types_in(schema):
        if not isinstance(loader, str):
            return f"a {name}"
        is_method = loader == "ObjectNode" and name in _methods(name)
        if not is_method and name not in trusted.get(loader, ()):
            return f"a {name}"
    return None


def names_for_skops(schema: Json) -> list[str]:
    """Types in a trusted schema that skops does not trust by itself."""
    return [*sorted(object_names(schema)), *SPARSE_TYPES, "numpy.dtype"]


def object_names(schema: Json) -> set[str]:
    """The types of the estimators in a schema."""
    return {name for loader, name in _types_in(schema) if loader == "ObjectNode"}


def _types_in(schema: Json) -> Iterator[tuple[object, str]]:
    """Loader and type of everything in a schema."""
    # a list, not recursion: a hostile file may be nested deeper than Python's stack
    waiting = [schema]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(item)
        if isinstance(item, dict):
            if "__loader__" in item:
                yield item["__loader__"], _type_of(item)
            waiting.extend(item.values())


def _type_of(node: Mapping[str, object]) -> str:
    """The full name of the type of a node."""
    return f"{node.get('__module__')}.{node.get('__class__')}"


def _methods(name: str) -> frozenset[str]:
    """Names of all compared methods, if a type may be one of them."""
    if not name.startswith(f"{METHODS_ROOM}."):
        return frozenset()
    room = import_module(METHODS_ROOM)
    methods = room.METHODS | room.SUCCESSORS
    return frozenset(type_name(method) for method in methods.values())


def type_name(kind: type) -> str:
    """The full name of a type."""
    return f"{kind.__module__}.{kind.__qualname__}"
