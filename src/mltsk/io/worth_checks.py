"""What a file says of how well labels can be told is checked before it is printed."""

from dataclasses import fields

import numpy as np

from ..core.worth import Worth
from .requirements import require
from .state import Attributes


def check_worth(attributes: Attributes, n_labels: int) -> None:
    """Refuse figures of labels that are none."""
    worth = attributes["worth_"]
    names = [field.name for field in fields(Worth)]
    require(
        isinstance(worth, dict) and set(worth) == set(names),
        f"'worth_' must hold {', '.join(names)}",
    )
    shapes = {"AP": (n_labels, 3), "AUC": (n_labels, 3)}
    for name in names:
        figures = worth[name]
        is_count = name in ("n_observed", "n_cases")
        is_array = isinstance(figures, np.ndarray)
        kinds = "iu" if is_count else "f"
        require(
            is_array
            and figures.dtype.kind in kinds
            and figures.shape == shapes.get(name, (n_labels,)),
            f"{name!r} of 'worth_' must have an entry per label",
        )
        most = np.inf if is_count else 1.0
        require(
            bool(((figures >= 0) & (figures <= most)).all()),
            f"{name!r} of 'worth_' must hold counts, or figures from 0 to 1",
        )
    is_sense = worth["n_cases"] <= worth["n_observed"]
    require(bool(is_sense.all()), "'worth_' must have no more cases than rows")
    is_judged = (worth["n_cases"] > 0) & (worth["n_cases"] < worth["n_observed"])
    require(
        bool((worth["guessed_AP"][is_judged] > 0).all()),
        "'guessed_AP' of 'worth_' must be above 0",
    )
