import numpy as np
import pytest

from mltsk.explain.effects import Effects
from mltsk.explain.regions import Regions

from .conftest import DENSE_SCALES, SCALES


@pytest.mark.parametrize("scale", DENSE_SCALES)
def test_value_range_without_members_begins_between_the_average_and_the_centre(
    make_system, scale
):
    effects = Effects(make_system(scale))
    regions = Regions(effects)
    for k in range(3):
        for t in range(4):
            (limit,) = regions.value_range(k, t).ends
            ends = sorted([effects.centers[k, t], effects.averages[t]])
            assert ends[0] - 1e-9 <= limit <= ends[1] + 1e-9


@pytest.mark.parametrize("scale", SCALES)
def test_order_leaves_out_sets_of_infinite_width(make_system, scale):
    system = make_system(scale)
    system.widths[0, 1:] = system.widths[1] = np.inf
    regions = Regions(Effects(system))
    subjects = np.arange(4)
    assert regions.order(0, subjects)[0].tolist() == [0]
    assert regions.order(1, subjects)[0].tolist() == []
    assert np.isnan(regions.distinct[1]).all()


def test_order_begins_with_the_most_distinct_subjects(make_system):
    regions = Regions(Effects(make_system()))
    order, n_apart = regions.order(0, np.arange(4))
    sizes = np.abs(regions.distinct[0, order]).tolist()
    assert sizes == sorted(sizes, reverse=True)
    assert n_apart == 4
