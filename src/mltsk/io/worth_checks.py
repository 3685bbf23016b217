"""Checks of what a file says about how well labels can be predicted."""

from dataclasses import fields

import numpy as np

from ..core.worth import Worth
from .requirements import is_count, is_finite_number, require
from .system_state import Attributes

SITE_FIELDS = ("site", "label", "observed", "cases", "expected", "AUC")


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


def check_sites(attributes: Attributes) -> None:
    """Refuse figures of sites that are none."""
    rows = attributes.get("sites_", [])
    require(isinstance(rows, list | tuple), "'sites_' must be a list")
    for row in rows:
        require(
            isinstance(row, dict) and set(row) == set(SITE_FIELDS),
            f"'sites_' must hold {', '.join(SITE_FIELDS)}",
        )
        are_names = isinstance(row["site"], str) and isinstance(row["label"], str)
        has_cases = row["cases"] == 0 or is_count(row["cases"])
        are_counts = is_count(row["observed"]) and has_cases
        is_expected = is_finite_number(row["expected"], above=-1e-9)
        is_judged = row["AUC"] is None or is_finite_number(row["AUC"], above=-1e-9)
        require(
            are_names and are_counts and is_expected and is_judged,
            "'sites_' must hold names, counts and figures from 0 on",
        )
