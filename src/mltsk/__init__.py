"""Multi-label classification with fuzzy rules that people can read."""

from importlib import import_module

__version__ = "0.1.0"

# Public names and where they live: imported on first use, so that `import mltsk` is instant.
_HOMES = {
    "IncrementalMLTSK": "mltsk.incremental",
    "MLTSKClassifier": "mltsk.classifier",
    "PaperMLTSK": "mltsk.paper",
    "load_dataset": "mltsk.datasets",
    "read_table": "mltsk.tables",
    "evaluate": "mltsk.metrics",
    "save": "mltsk.io",
    "load": "mltsk.io",
    "to_dict": "mltsk.io",
    "from_dict": "mltsk.io",
    "to_onnx": "mltsk.io",
    "explore": "mltsk.pages.explorer",
    "review": "mltsk.pages.review",
    "named": "mltsk.pipelines",
    "transformed": "mltsk.pipelines",
}

__all__ = sorted(_HOMES)


def __getattr__(name):
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'mltsk' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_HOMES])
