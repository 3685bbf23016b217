"""Rows with ties, and with no label or all labels."""

import numpy as np

SCORES = np.array(
    [
        [0.9, 0.5, 0.5, 0.1],
        [0, 0, 0, 0],
        [0.2, 0.8, 0.6, 0.4],
        [0.3, 0.2, 0.1, 0],
        [0.7, 0.7, 0.2, 0.2],
    ]
)
LABELS = np.array(
    [[1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 1, 0]], dtype=bool
)
