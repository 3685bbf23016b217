"""Features that act together, as the review shows them: a map and a sentence each."""

from collections.abc import Sequence

import numpy as np

from ..explain.pairs import FeaturePair
from ..explain.plot_pairs import HARDLY_ANY_DATA
from . import svg_maps
from .packing import PageData

MAX_MAPS_PER_LABEL = 3
# In log-odds; a pair whose largest height is less hardly moves a label: .05 are 1 %.
MIN_PAIR_HEIGHT = 0.05


def pair_facts(pairs: Sequence[FeaturePair], j: int) -> list[PageData]:
    """The pairs that matter for label j, the largest first.

    Each has a ``title``, a ``sentence`` and a ``picture``. The colours of all pictures
    have the same scale.
    """
    moving = [pair for pair in pairs if _largest_height(pair, j) >= MIN_PAIR_HEIGHT]
    moving.sort(key=lambda pair: -pair.sizes[j])
    shown = moving[:MAX_MAPS_PER_LABEL]
    reach = max((_largest_height(pair, j) for pair in shown), default=1.0)
    return [
        {
            "title": pair.title,
            "sentence": pair_sentence(pair, j),
            "picture": svg_maps.heat_map(pair, j, reach),
        }
        for pair in shown
    ]


def _largest_height(pair: FeaturePair, j: int) -> float:
    """How much the pair adds to label j or takes away at most, where there are data."""
    heights = np.abs(pair.surface[:, :, j])
    has_data = pair.shares >= HARDLY_ANY_DATA
    return float(heights[has_data].max(initial=0.0))


def pair_sentence(pair: FeaturePair, j: int) -> str:
    """Where a pair raises label j most, and where it lowers it most."""
    heights = pair.surface[:, :, j]
    has_data = pair.shares >= HARDLY_ANY_DATA
    highest = np.where(has_data, heights, -np.inf)
    lowest = np.where(has_data, heights, np.inf)
    sentences = []
    if 0 < highest.max():
        words = _cell_words(pair, j, int(highest.argmax()))
        sentences.append(f"Raised most by {words}.")
    if lowest.min() < 0:
        words = _cell_words(pair, j, int(lowest.argmin()))
        sentences.append(f"Lowered most by {words}.")
    return " ".join(sentences)


def _cell_words(pair: FeaturePair, j: int, cell: int) -> str:
    """Both conditions of a cell, counted row by row, and its height for label j."""
    first, second = pair.axes
    a, b = divmod(cell, len(second))
    return f"{first.words(a)} and {second.words(b)}: {_height(pair, j, a, b)}"


def _height(pair: FeaturePair, j: int, a: int, b: int) -> str:
    """The height of a cell for label j."""
    return pair.written(j)[a][b].replace("-", svg_maps.MINUS)
