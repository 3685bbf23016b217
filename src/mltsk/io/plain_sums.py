"""Sums over the rows of a fit as plain arrays for a file, and back."""

from dataclasses import fields
from typing import Any

import numpy as np

from ..fit.ridge import Moments
from ..fit.sums import DesignWeights, FitSums, LabelSums
from ..probabilities import Curves
from ..system import FuzzySystem

# What sums over rows have next to their parts, and what a part has. Of H, which is
# symmetric, a file has the cells from the diagonal on.
SUMS_FORMAT = 1
SUMS_FIELDS = (
    "format",
    "ridge",
    "term_weights",
    "rule_weight",
    "pair_weight",
    "variance",
    "has_kernel_prior",
    "slopes",
    "offsets",
    "parts",
)
PART_FIELDS = ("labels", "H", "B", "phi", "y", "total")


def plain_sums(sums: FitSums) -> dict[str, Any]:
    """Sums over rows as a dict of numbers and arrays."""
    if sums.curves is None:
        raise ValueError("sums without the curves of their model are not written")
    return {
        "format": SUMS_FORMAT,
        "ridge": sums.ridge,
        **vars(DesignWeights.of(sums.design)),
        "slopes": sums.curves.slopes,
        "offsets": sums.curves.offsets,
        "parts": [_plain_part(part) for part in sums.parts],
    }


def _plain_part(part: LabelSums) -> dict[str, Any]:
    """Sums for some labels as a dict of numbers and arrays."""
    plain = dict(vars(part.moments))
    plain["H"] = part.moments.H[np.triu_indices(len(part.moments.H))]
    return {"labels": part.labels, **plain}


def restored_sums(plain: dict[str, Any], system: FuzzySystem) -> FitSums:
    """The sums of such a dict, which was checked, for a long model."""
    names = [field.name for field in fields(DesignWeights)]
    weights = DesignWeights(**{name: plain[name] for name in names})
    return FitSums(
        design=weights.design(system),
        ridge=plain["ridge"],
        parts=tuple(_restored_part(part) for part in plain["parts"]),
        curves=Curves(plain["slopes"], plain["offsets"]),
    )


def _restored_part(plain: dict[str, Any]) -> LabelSums:
    """Sums for some labels, with both halves of H."""
    n_columns = len(plain["phi"])
    upper = np.zeros((n_columns, n_columns))
    upper[np.triu_indices(n_columns)] = plain["H"]
    H = upper + np.triu(upper, 1).T
    moments = Moments(
        H=H, B=plain["B"], phi=plain["phi"], y=plain["y"], total=plain["total"]
    )
    return LabelSums(plain["labels"], moments)
