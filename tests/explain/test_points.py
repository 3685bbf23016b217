"""From the lines of a short model to whole points."""

import numpy as np

from mltsk import MLTSKClassifier
from mltsk.explain.points import MAX_RANGES, PointsItem, label_points


def test_points_follow_the_line_of_a_short_model():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, size=(400, 2))
    y = (rng.random(400) < 1 / (1 + np.exp(5 - X[:, 0]))).astype(int)
    short = MLTSKClassifier(n_rules=0).fit(X, y).shorten(1)
    (points,) = label_points(short.system_, max_points=4)
    (item,) = points.items
    assert item.name == "x0"
    assert item.most == 4
    assert len(item.points) <= MAX_RANGES
    log_odds = short.system_.scores(X)[:, 0]
    rounded = item.points_of(X[:, 0]) * points.unit
    # a point stands for a share of the line, up to rounding of points and of cuts
    assert np.ptp(log_odds - rounded) < 1.3 * points.unit


def test_ranges_include_their_lower_end():
    item = PointsItem(
        feature=0,
        name="bilirubin",
        cuts=(2.0, 5.5),
        values=(),
        points=(0, 1, 4),
        other=2,
        missing=2,
    )
    x = np.array([1.99, 2.0, 5.4, 5.5, np.nan])
    assert item.points_of(x).tolist() == [0, 1, 1, 4, 2]
    texts = [text for text, _ in item.choices()]
    assert texts == ["below 2", "2 to below 5.5", "5.5 or more", "not measured"]
