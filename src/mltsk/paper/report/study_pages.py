"""Figures 3 to 8 of a report: what the studies of a run left behind, drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..experiments.results import Results
from ..experiments.studies import STUDIES
from . import study_captions, study_figures
from .pictures import Picture, picture


@dataclass(frozen=True)
class Study:
    """A heading and its pictures."""

    title: str
    pictures: Sequence[Picture]


def study_parts(results: Results) -> list[Study]:
    """One part a study that the run has finished, in the order of the paper, data sets in the order of the run."""
    order = [*results.run.get("datasets", {}), *(dataset for _, dataset in results.studies)]
    parts = []
    for name, study in STUDIES.items():
        found = {d: results.studies[name, d] for d in dict.fromkeys(order) if (name, d) in results.studies}
        if found:
            parts.append(Study(f"{study.paper}: {study.title}", [study_picture(name, found)]))
    return parts


def study_picture(name: str, found: Mapping[str, Mapping[str, Any]]) -> Picture:
    """Figure and caption of one study, ``{data set: result}``; the caption ends with the rows and folds used."""
    function, study = name.replace("-", "_"), STUDIES[name]
    caption = f"{getattr(study_captions, function)(found)} {_used(found)}"
    figure = getattr(study_figures, function)(found)
    return picture(figure, name, f"{study.paper}: {study.title}", caption)


def _used(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The notes of the results, each once, with the data sets that it holds for."""
    by_note: dict[str, list[str]] = {}
    for dataset, result in found.items():
        by_note.setdefault(result["note"], []).append(dataset)
    return " ".join(f"Used for {', '.join(datasets)}: {note}." for note, datasets in by_note.items())
