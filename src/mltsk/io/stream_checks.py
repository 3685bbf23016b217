"""Whether the plain form of a stream can go on learning.

Symbols: Q columns of the ridge problem, P terms, K rules, L labels, n samples that are
kept, D columns of numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields

import numpy as np

from ..core.arrays import FloatArray, Matrix, is_csr, is_sound
from ..fit.design import Design
from ..fit.ridge import Factor, Moments, SingularError
from ..fit.solve import with_pairs_of_folds
from ..incremental import Stream
from ..limits import check_size
from .pair_checks import check_positions, check_rules_of_pairs
from .requirements import (
    check_table,
    has_no_infinity,
    is_bounded,
    is_count,
    is_finite,
    is_finite_number,
    require,
)
from .state import (
    FOLD_FIELDS,
    KEPT_FIELDS,
    Attributes,
    Json,
    restored_stream,
    restored_system,
)

MOMENT_SHAPES = {"H": "QQ", "B": "QL", "phi": "Q", "y": "L"}
ROUNDING = 1e-9  # of sums, relative to the largest
PRIOR_COPIES = 5  # of the sums, while a prior is computed
KEPT_SHAPES = {"Y": "nL", "w": "n"}


def check_stream(
    stream: Attributes, attributes: Attributes, sizes: dict[str, int]
) -> None:
    """Refuse a stream whose parts do not fit each other and its classifier.

    ``attributes`` of the classifier, together with the fields of their records, were
    checked before; ``sizes`` are those of the classifier, by symbol.
    """
    for name in ("ridge_", "coupling_weight_"):
        require(
            is_finite_number(attributes.get(name)),
            f"{name!r} of a stream must be a number",
        )
    require("coupling_" in attributes, "a stream must have a 'coupling_', or None")
    _check_fields(stream, "stream_", [field.name for field in fields(Stream)])
    for name in ("seen", "stride"):
        require(is_count(stream[name]), f"{name!r} of 'stream_' must be a count")
    for name in ("unit", "variance"):
        is_positive = is_finite_number(stream[name], above=0.0)
        require(is_positive, f"{name!r} of 'stream_' must be a number above 0")
    _check_weights(stream, sizes["P"])
    _check_prior(stream["has_kernel_prior"], attributes, sizes)
    n_kept = -(-stream["seen"] // stream["stride"])  # the first of each stride
    sizes = {**sizes, "n": n_kept}
    _check_kept(stream["kept"], sizes)
    _check_folds(stream["folds"], attributes, sizes)
    _check_fields(stream["moments"], "moments", [item.name for item in fields(Moments)])
    whole = restored_stream(stream)
    design = with_pairs_of_folds(whole.design(restored_system(attributes)), whole.folds)
    _check_moments(stream["moments"], {**sizes, "Q": design.n_columns})
    _check_sums(whole.moments, design, attributes)


def _check_weights(stream: Attributes, n_terms: int) -> None:
    """Weights of columns are at least 0; terms may have one each."""
    weights = {name: stream[name] for name in ("rule_weight", "pair_weight")}
    of_terms = stream["term_weights"]
    if isinstance(of_terms, np.ndarray):
        check_table(of_terms, "'term_weights' of 'stream_'", (n_terms,), is_bounded)
        of_terms = of_terms.min(initial=0.0)
    weights["term_weights"] = of_terms
    for name, weight in weights.items():
        is_weight = is_finite_number(weight) and weight >= 0
        require(is_weight, f"{name!r} of 'stream_' must be a number of at least 0")


def _check_prior(
    has_prior: object, attributes: Attributes, sizes: dict[str, int]
) -> None:
    """The kernel's prior is for rules without slopes, and labels without coupling."""
    require(
        isinstance(has_prior, bool),
        "'has_kernel_prior' of 'stream_' must be true or false",
    )
    may_be = sizes["E"] == 1 and attributes["coupling_"] is None
    require(
        may_be or not has_prior,
        "'has_kernel_prior' needs rules without slopes and labels without coupling",
    )


def _check_folds(folds: Json, attributes: Attributes, sizes: dict[str, int]) -> None:
    """Folds are some of the samples kept, and pairs that were found without them."""
    require(isinstance(folds, list | tuple), "'folds' of 'stream_' must be a list")
    for fold in folds:
        _check_fields(fold, "folds", FOLD_FIELDS)
        rows = fold["rows"]
        check_positions(rows, "'rows' of 'folds'", size=np.size(rows), below=sizes["n"])
        check_rules_of_pairs(fold["pairs"], attributes, sizes["D"])


def _check_fields(plain: Attributes, name: str, expected: Sequence[str]) -> None:
    """A dict has exactly the expected keys."""
    require(
        isinstance(plain, Mapping) and plain.keys() == set(expected),
        f"{name!r} must hold {', '.join(expected)}",
    )


def _check_moments(moments: Attributes, sizes: dict[str, int]) -> None:
    """Sums over the samples seen have the shapes of the ridge problem."""
    _check_tables(moments, "moments", MOMENT_SHAPES, sizes)
    is_positive = is_finite_number(moments["total"], above=0.0)
    require(is_positive, "'total' of 'moments' must be a number above 0")


def _check_sums(sums: Moments, design: Design, attributes: Attributes) -> None:
    """Sums over samples that there may have been, so that a stream can go on.

    Whatever the samples are, the sums of their squares bound all others.
    """
    squares = np.diag(sums.H)
    margin = ROUNDING * max(1.0, float(squares.max(initial=0.0)))
    require((squares >= 0).all(), "'H' of 'moments' must be at least 0 on its diagonal")
    require(
        np.allclose(sums.H, sums.H.T, rtol=ROUNDING, atol=margin),
        "'H' of 'moments' must be the same above and below its diagonal",
    )
    require(
        (sums.y >= 0).all() and (sums.y <= sums.total * (1 + ROUNDING)).all(),
        "'y' of 'moments' must lie between 0 and 'total'",
    )
    is_possible = np.abs(sums.B) <= np.sqrt(np.outer(squares, sums.y)) + margin
    require(
        is_possible.all(),
        "'B' of 'moments' is more than 'H' and 'y' allow",
    )
    lowest_ridge = _lowest_ridge(attributes)
    require(lowest_ridge > 0, "'ridge_' and 'coupling_' must shrink all numbers")
    ridge = lowest_ridge
    if attributes["coupling_"] is not None:  # then rounding below 0 is set to 0
        ridge = max(ridge, margin)
    centred = sums.H - np.outer(sums.phi, sums.phi / sums.total)
    if design.rules.has_kernel_prior:
        check_size(PRIOR_COPIES * sums.H.nbytes, "The prior of this stream")
    if design.prior is not None:
        first = design.first_rule
        centred[first:, first:] += lowest_ridge * design.prior
        rules = np.arange(first, len(centred))
        centred[rules, rules] -= lowest_ridge  # the factor adds it
    require(_has_factor(centred, ridge), "'phi' of 'moments' is more than 'H' allows")


def _lowest_ridge(attributes: Attributes) -> float:
    """The least of the ridges of all labels."""
    coupling = attributes["coupling_"]
    ridge = float(attributes["ridge_"])
    if coupling is None:
        return ridge
    weight = float(attributes["coupling_weight_"])
    return ridge + float((weight * np.linalg.eigvalsh(coupling)).min())


def _has_factor(A: FloatArray, ridge: float) -> bool:
    """Whether a matrix plus a ridge is positive definite."""
    try:
        Factor.of(A, np.array([ridge]))
    except SingularError:
        return False
    return True


def _check_kept(kept: Attributes, sizes: dict[str, int]) -> None:
    """The samples that are kept have labels of 0 and 1 and weights of at least 0."""
    _check_fields(kept, "kept", KEPT_FIELDS)
    _check_tables(kept, "kept", KEPT_SHAPES, sizes)
    for name in KEPT_SHAPES:
        require((kept[name] >= 0).all(), f"{name!r} of 'kept' must be at least 0")
    require(np.isin(kept["Y"], (0, 1)).all(), "'Y' of 'kept' must hold 0 and 1")
    _check_samples(kept["X"], (sizes["n"], sizes["D"]))


def _check_samples(X: Matrix, shape: tuple[int, int]) -> None:
    """Samples are numbers, dense or sparse; missing cells are NaN."""
    is_table = is_csr(X) or isinstance(X, np.ndarray)
    require(
        is_table and X.shape == shape and X.dtype.kind == "f",
        f"'X' of 'kept' must be a table of {shape[0]} x {shape[1]} numbers",
    )
    if is_csr(X):
        require(is_sound(X), "the parts of 'X' of 'kept' do not fit each other")
        X = X.data
    require(has_no_infinity(X), "'X' of 'kept' must hold finite numbers")


def _check_tables(
    tables: Attributes, name: str, shapes: dict[str, str], sizes: dict[str, int]
) -> None:
    """Tables have the shapes that symbols give, and hold finite numbers."""
    for field, symbols in shapes.items():
        shape = tuple(sizes[symbol] for symbol in symbols)
        check_table(tables[field], f"{field!r} of {name!r}", shape, is_finite)
