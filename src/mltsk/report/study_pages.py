"""Figures 3 to 8 of a report: what the studies of a run left behind, drawn."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..experiments.results import Results
from .pictures import Picture


@dataclass(frozen=True)
class Study:
    """A heading and its pictures."""

    title: str
    pictures: Sequence[Picture]


def study_parts(results: Results) -> list[Study]:
    """One part a study that the run has finished."""
    return []
