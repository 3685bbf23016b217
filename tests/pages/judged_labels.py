"""Made-up labels of a review, for its tests."""

import numpy as np

from mltsk.pages.judged import JudgedLabel


def judged_label(**changes):
    """A label of 80 cases, 60 of which are found, with 20 false alarms."""
    figures = {
        "name": "gout",
        "observed": 400,
        "cases": 80,
        "AP": (0.5, 0.4, 0.6),
        "AUC": (0.8, 0.75, 0.85),
        "found": 60,
        "alarms": 20,
        "threshold": 0.3,
        "y": np.zeros(0, dtype=bool),
        "is_given": np.zeros(0, dtype=bool),
        "chances": np.zeros(0),
        "scores": np.zeros(0),
        "rows": np.zeros(0, dtype=int),
        "groups": None,
    }
    figures |= changes
    figures.setdefault("guessed_AP", max(figures["cases"], 1) / figures["observed"])
    return JudgedLabel(**figures)


def label_of(p, forecast, seed=1):
    """A label of rows with true probabilities and the forecast ones."""
    y = np.random.default_rng(seed).random(len(p)) < p
    return judged_label(
        observed=len(y),
        cases=int(y.sum()),
        y=y,
        chances=np.broadcast_to(forecast, y.shape),
    )
