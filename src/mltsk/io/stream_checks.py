"""Whether the plain form of a stream can go on learning.

Symbols: Q columns of the ridge problem, P terms, K rules, L labels, n samples that are
kept, D columns of numbers.
"""

from dataclasses import fields

import numpy as np

from ..core.arrays import Matrix, is_csr, is_sound
from ..fit.ridge import Moments
from ..fit.solve import with_pairs_of_folds
from ..stream import Stream
from .pair_checks import check_positions, check_rules_of_pairs
from .requirements import (
    MAX_NUMBER,
    check_fields,
    has_no_infinity,
    is_count,
    is_finite_number,
    require,
)
from .state import FOLD_FIELDS, KEPT_FIELDS, restored_stream
from .sums_checks import check_sums, check_tables, check_weights
from .system_state import Attributes, Json, restored_system

MOMENT_SHAPES = {"H": "QQ", "B": "QL", "phi": "Q", "y": "L"}
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
    check_fields(stream, "stream_", [field.name for field in fields(Stream)])
    for name in ("seen", "stride"):
        require(is_count(stream[name]), f"{name!r} of 'stream_' must be a count")
    for name in ("unit", "variance"):
        is_positive = is_finite_number(stream[name], above=0.0)
        require(is_positive, f"{name!r} of 'stream_' must be a number above 0")
    check_weights(stream, "stream_", sizes["P"])
    _check_prior(stream["has_kernel_prior"], attributes, sizes)
    _check_positions_kept(stream)
    sizes = {**sizes, "n": len(stream["positions"])}
    _check_kept(stream["kept"], sizes)
    _check_folds(stream["folds"], attributes, sizes)
    check_fields(stream["moments"], "moments", [item.name for item in fields(Moments)])
    whole = restored_stream(stream)
    design = with_pairs_of_folds(whole.design(restored_system(attributes)), whole.folds)
    check_tables(
        stream["moments"],
        "moments",
        MOMENT_SHAPES,
        {**sizes, "Q": design.n_columns},
    )
    lowest_ridge = _lowest_ridge(attributes)
    require(lowest_ridge > 0, "'ridge_' and 'coupling_' must shrink all numbers")
    check_sums(
        whole.moments,
        design,
        lowest_ridge,
        may_round=attributes["coupling_"] is not None,
    )


def _check_positions_kept(stream: Attributes) -> None:
    """Samples that are kept are evenly spread, or those of some groups."""
    seen = stream["seen"]
    stride = stream["stride"]
    positions = stream["positions"]
    name = "'positions' of 'stream_'"
    check_positions(positions, name, size=np.size(positions), below=seen)
    keys = stream["group_keys"]
    if keys is None:
        is_spread = np.array_equal(positions, np.arange(0, seen, stride))
        require(is_spread, f"{name} must be every {stride}th of {seen}")
        return
    require((np.diff(positions) > 0).all(), f"{name} must rise")
    name = "'group_keys' of 'stream_'"
    check_positions(keys, name, size=len(positions), below=2**63 - 1)
    require((keys % stride == 0).all(), f"{name} must be multiples of {stride}")


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
        check_fields(fold, "folds", FOLD_FIELDS)
        rows = fold["rows"]
        check_positions(rows, "'rows' of 'folds'", size=np.size(rows), below=sizes["n"])
        check_rules_of_pairs(fold["pairs"], attributes, sizes["D"])


def _lowest_ridge(attributes: Attributes) -> float:
    """The least of the ridges of all labels."""
    coupling = attributes["coupling_"]
    ridge = float(attributes["ridge_"])
    if coupling is None:
        return ridge
    weight = float(attributes["coupling_weight_"])
    return ridge + float((weight * np.linalg.eigvalsh(coupling)).min())


def _check_kept(kept: Attributes, sizes: dict[str, int]) -> None:
    """The samples that are kept have labels of 0 and 1 and weights of at least 0."""
    check_fields(kept, "kept", KEPT_FIELDS)
    check_tables(kept, "kept", KEPT_SHAPES, sizes)
    for name in KEPT_SHAPES:
        require((kept[name] >= 0).all(), f"{name!r} of 'kept' must be at least 0")
    require((kept["w"] <= MAX_NUMBER).all(), "'w' of 'kept' must be at most 1e100")
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
