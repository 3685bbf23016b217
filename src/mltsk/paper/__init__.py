"""Everything that exists because of the paper.

Algorithm I, its convex form, nine methods, experiments, and their report. Of the rest
of the package only the command line and the demo import this room.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what editors and type checkers see
    from ..core.clustering import fuzzy_c_means as fuzzy_c_means
    from ..core.fuzzymap import fuzzy_features as fuzzy_features
    from . import significance as significance
    from .methods import METHODS as METHODS
    from .methods import PaperMLTSK as PaperMLTSK
    from .solvers.algorithm1 import algorithm1 as algorithm1

# Public names and the modules that hold them: imported on first use, so that
# `import mltsk.paper` is instant.
_HOMES = {
    "METHODS": "paper.methods",
    "PaperMLTSK": "paper.methods",
    "algorithm1": "paper.solvers.algorithm1",
    "fuzzy_c_means": "core.clustering",
    "fuzzy_features": "core.fuzzymap",
    "significance": "paper.significance",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'mltsk.paper' has no attribute {name!r}")
    module = import_module(f"mltsk.{_HOMES[name]}")
    if name == "significance":
        return module
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
