"""Everything that exists because of the paper: Algorithm I, its convex form, nine methods, experiments, their report.

Nothing else of the package imports this room but the command line and the demo.
"""

from importlib import import_module

# Public names and where they live: imported on first use, so that `import mltsk.paper` is instant.
_HOMES = {
    "METHODS": "mltsk.paper.methods",
    "PaperMLTSK": "mltsk.paper.methods",
    "algorithm1": "mltsk.paper.solvers.algorithm1",
    "fuzzy_c_means": "mltsk.core.clustering",
    "fuzzy_features": "mltsk.core.fuzzymap",
}

__all__ = sorted([*_HOMES, "significance"])


def __getattr__(name):
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name == "significance":
        return import_module("mltsk.paper.significance")
    raise AttributeError(f"module 'mltsk.paper' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])
