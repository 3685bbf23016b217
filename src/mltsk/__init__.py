"""Multi-label classification with fuzzy rules that people can read."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:  # what editors and type checkers see
    from .classifier import MLTSKClassifier as MLTSKClassifier
    from .datasets import load_dataset as load_dataset
    from .incremental import IncrementalMLTSK as IncrementalMLTSK
    from .io import edited as edited
    from .io import from_dict as from_dict
    from .io import load as load
    from .io import save as save
    from .io import to_dict as to_dict
    from .io import to_onnx as to_onnx
    from .metrics import evaluate as evaluate
    from .pages.explorer import explore as explore
    from .pages.methods_section import methods_section as methods_section
    from .pages.person import person_sheet as person_sheet
    from .pages.points import points_sheet as points_sheet
    from .pages.review import review as review
    from .paper import PaperMLTSK as PaperMLTSK
    from .pipelines import pipeline_classifier as pipeline_classifier
    from .pipelines import pipeline_features as pipeline_features
    from .points import PointsClassifier as PointsClassifier
    from .surprises import second_look as second_look
    from .tables import read_table as read_table

# Public names and where they live: imported on first use, so that `import mltsk` is
# instant.
_HOMES = {
    "IncrementalMLTSK": "mltsk.incremental",
    "MLTSKClassifier": "mltsk.classifier",
    "PaperMLTSK": "mltsk.paper",
    "PointsClassifier": "mltsk.points",
    "load_dataset": "mltsk.datasets",
    "read_table": "mltsk.tables",
    "evaluate": "mltsk.metrics",
    "save": "mltsk.io",
    "load": "mltsk.io",
    "edited": "mltsk.io",
    "to_dict": "mltsk.io",
    "from_dict": "mltsk.io",
    "to_onnx": "mltsk.io",
    "explore": "mltsk.pages.explorer",
    "methods_section": "mltsk.pages.methods_section",
    "person_sheet": "mltsk.pages.person",
    "points_sheet": "mltsk.pages.points",
    "second_look": "mltsk.surprises",
    "review": "mltsk.pages.review",
    "pipeline_classifier": "mltsk.pipelines",
    "pipeline_features": "mltsk.pipelines",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mltsk' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
