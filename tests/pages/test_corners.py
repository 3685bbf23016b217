"""The few points that a drawn line needs."""

import numpy as np
import pytest

from mltsk.pages.corners import farthest_inner, farthest_of_few, simplified


def test_simplified_line_keeps_every_turn_of_a_line_and_of_steps():
    x = np.repeat(np.arange(6.0), 3)
    y = np.repeat([0.0, 0.0, 40.0, 40.0, 10.0, 10.0], 3)
    assert np.array(simplified(x, y)).T.tolist() == [
        [0, 0],
        [1, 0],
        [2, 40],
        [3, 40],
        [4, 10],
        [5, 10],
    ]


@pytest.mark.parametrize("is_loop", [False, True])
def testfarthest_of_few_is_the_farthest_to_the_last_bit(is_loop):
    rng = np.random.default_rng(0)
    for n_points in range(3, 30):
        x, y = rng.normal(size=(2, n_points))
        if is_loop:  # which ends where it begins
            x[-1], y[-1] = x[0], y[0]
        points = list(zip(x.tolist(), y.tolist(), strict=True))
        assert farthest_of_few(points) == farthest_inner(x, y)
