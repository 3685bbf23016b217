"""Numbers that sites have in different units, by what their summaries say."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ..core.arrays import FloatArray
from ..exceptions import InputError
from ..tables.far import are_far
from ..tables.numerals import same_unit

Json = Any
Feature = Mapping[str, Json]


def common_units(
    features: Mapping[str, Sequence[Feature]],
) -> tuple[dict[str, str], list[str]]:
    """The unit of each feature that has one, and notes on sites that name none.

    ``features`` are what each site tells, by name. Two units are refused.
    """
    units = {}
    notes = []
    for name, of_sites in features.items():
        named = [feature["unit"] for feature in of_sites if feature.get("unit")]
        if not named:
            continue
        for other in named[1:]:
            if not same_unit(named[0], other):
                raise InputError(
                    f"Column {name!r:.80} is in {named[0]} at one site and in {other} "
                    "at another: convert it."
                )
        units[name] = named[0]
        if len(named) < len(of_sites):
            notes.append(
                f"{name!r:.80} is in {named[0]} at one site and without a unit at "
                "another: the numbers are taken as they are."
            )
    return units, notes


def notes_on_far_numbers(features: Mapping[str, Sequence[Feature]]) -> list[str]:
    """Notes on features whose numbers at one site are far from those at another."""
    notes = []
    for name, of_sites in features.items():
        ends = [_ends(feature) for feature in of_sites]
        measured = [own for own in ends if own is not None]
        if any(_far_from(one, other) for one, other in combinations(measured, 2)):
            notes.append(
                f"All numbers of {name!r:.80} at one site are far from those at "
                "another: are they in the same unit?"
            )
    return notes


def _ends(feature: Feature) -> FloatArray | None:
    """The least and the largest number that a site tells of a feature, if any."""
    numbers = feature.get("percentiles")
    if numbers is None:
        numbers = [number for number, _ in feature.get("numbers", [])]
    if not numbers:
        return None
    return np.array([min(numbers), max(numbers)], dtype=np.float64)


def _far_from(one: FloatArray, other: FloatArray) -> bool:
    """Whether either of two ranges is far from the other."""
    return are_far(one, *other.tolist()) or are_far(other, *one.tolist())
