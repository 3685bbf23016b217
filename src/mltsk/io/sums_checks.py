"""Whether sums over rows are such as rows may have, and fit their model.

Symbols: Q columns of the ridge problem, P terms, L labels.
"""

import numpy as np

from ..core.arrays import FloatArray
from ..fit.design import Design
from ..fit.factor import Factor, SingularError
from ..fit.ridge import Moments
from ..limits import check_size
from .plain_sums import PART_FIELDS, SUMS_FIELDS, SUMS_FORMAT, restored_sums
from .requirements import (
    MAX_NUMBER,
    check_fields,
    check_table,
    is_bounded,
    is_finite,
    is_finite_number,
    require,
)
from .system_state import Attributes, Json, restored_system

ROUNDING = 1e-9  # of sums, relative to the largest
MIN_DIVISOR = 1e-300  # of a weight that kernels are divided by
PRIOR_COPIES = 5  # of the sums, while a prior is computed
PART_SHAPES = {"H": "T", "B": "Ql", "phi": "Q", "y": "l"}
CURVE_SHAPES = {"slopes": "L", "offsets": "L"}


def check_kept_sums(
    plain: Attributes, attributes: Attributes, sizes: dict[str, int]
) -> None:
    """Refuse sums that a model could not have been fitted by.

    ``attributes`` of the classifier were checked before; ``sizes`` are those of the
    classifier, by symbol.
    """
    check_fields(plain, "kept_sums_", SUMS_FIELDS)
    require(
        plain["format"] == SUMS_FORMAT,
        f"'kept_sums_' must have the format {SUMS_FORMAT}",
    )
    for name in ("ridge", "variance"):
        is_positive = is_finite_number(plain[name], above=0.0)
        require(is_positive, f"{name!r} of 'kept_sums_' must be a number above 0")
    check_weights(plain, "kept_sums_", sizes["P"])
    has_prior = plain["has_kernel_prior"]
    require(
        isinstance(has_prior, bool) and (sizes["E"] == 1 or not has_prior),
        "'has_kernel_prior' of 'kept_sums_' must be true or false, and needs rules "
        "without slopes",
    )
    check_tables(plain, "kept_sums_", CURVE_SHAPES, sizes)
    require(
        (plain["slopes"] >= 0).all(), "'slopes' of 'kept_sums_' must not be below 0"
    )
    _check_parts(plain["parts"], sizes)
    sums = restored_sums(plain, restored_system(attributes))
    for part in sums.parts:
        check_sums(part.moments, sums.design, sums.ridge)


def _check_parts(parts: Json, sizes: dict[str, int]) -> None:
    """Every label is in one part, whose sums have the shapes of the ridge problem."""
    require(isinstance(parts, list), "'parts' of 'kept_sums_' must be a list")
    n_columns = sizes["P"] + sizes["F"] + sizes["K"] * sizes["E"]
    of_labels: list[int] = []
    for part in parts:
        check_fields(part, "parts", PART_FIELDS)
        labels = part["labels"]
        is_array = isinstance(labels, np.ndarray) and labels.ndim == 1
        require(
            is_array and labels.dtype.kind == "i",
            "'labels' of 'kept_sums_' must be whole numbers",
        )
        of_labels += labels.tolist()
        own_sizes = {
            "Q": n_columns,
            "T": n_columns * (n_columns + 1) // 2,
            "l": len(labels),
        }
        check_tables(part, "kept_sums_", PART_SHAPES, own_sizes)
        is_positive = is_finite_number(part["total"], above=0.0)
        require(is_positive, "'total' of 'kept_sums_' must be a number above 0")
    require(
        sorted(of_labels) == list(range(sizes["L"])),
        "'labels' of 'kept_sums_' must name every label once",
    )


def check_weights(plain: Attributes, name: str, n_terms: int) -> None:
    """Weights of columns are from 0 to 1e100; terms may have one each.

    One weight for all terms is above 0: kernels are divided by it.
    """
    weights = {field: plain[field] for field in ("rule_weight", "pair_weight")}
    of_terms = plain["term_weights"]
    if isinstance(of_terms, np.ndarray) and of_terms.ndim:
        check_table(of_terms, f"'term_weights' of {name!r}", (n_terms,), is_bounded)
        of_terms = of_terms.min(initial=0.0)
    else:
        is_divisor = is_finite_number(of_terms, above=MIN_DIVISOR)
        require(is_divisor, f"'term_weights' of {name!r} must be a number above 0")
    weights["term_weights"] = of_terms
    for field, weight in weights.items():
        is_weight = is_finite_number(weight) and 0 <= weight <= MAX_NUMBER
        require(
            is_weight,
            f"{field!r} of {name!r} must be a number of at least 0, up to 1e100",
        )


def check_sums(
    sums: Moments, design: Design, ridge: float, *, may_round: bool = False
) -> None:
    """Refuse sums over samples that cannot have been, so that they can be solved.

    Whatever the samples are, the sums of their squares bound all others. ``may_round``
    where rounding below 0 is set to 0 by the solution.
    """
    squares = np.diag(sums.H)
    margin = ROUNDING * max(1.0, float(squares.max(initial=0.0)))
    require(
        is_finite_number(sums.total, above=0.0),
        "'total' of 'moments' must be a number above 0",
    )
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
    centred = sums.H - np.outer(sums.phi, sums.phi / sums.total)
    if design.rules.has_kernel_prior:
        check_size(PRIOR_COPIES * sums.H.nbytes, "The prior of these sums")
    if design.prior is not None:
        first = design.first_rule
        centred[first:, first:] += ridge * design.prior
        rules = np.arange(first, len(centred))
        centred[rules, rules] -= ridge  # the factor adds it
    least = max(ridge, margin) if may_round else ridge
    require(_has_factor(centred, least), "'phi' of 'moments' is more than 'H' allows")


def _has_factor(A: FloatArray, ridge: float) -> bool:
    """Whether a matrix plus a ridge is positive definite."""
    try:
        Factor.of(A, np.array([ridge]))
    except SingularError:
        return False
    return True


def check_tables(
    tables: Attributes, name: str, shapes: dict[str, str], sizes: dict[str, int]
) -> None:
    """Tables have the shapes that symbols give, and hold finite numbers."""
    for field, symbols in shapes.items():
        shape = tuple(sizes[symbol] for symbol in symbols)
        check_table(tables[field], f"{field!r} of {name!r}", shape, is_finite)
