"""Three sites of one made-up table, with words, gaps and labels not always observed."""

import numpy as np
import pandas as pd
import pytest

from mltsk import read_table
from mltsk.sites import Plan, SiteSums, summary_of

LABELS = ["gout", "flu"]


def made_up(n=360, seed=0):
    """A table of people: age, ward, crp with gaps, and two labels."""
    rng = np.random.default_rng(seed)
    age = rng.normal(60, 12, n).round(1)
    ward = rng.choice(["east", "west", "north", "attic"], n, p=[0.4, 0.3, 0.27, 0.03])
    crp = np.where(rng.random(n) < 0.25, np.nan, rng.gamma(2, 4, n).round(2))
    gout = rng.random(n) < 1 / (1 + np.exp(-(age - 60) / 8))
    flu = rng.random(n) < 0.2 + 0.4 * (ward == "east")
    frame = pd.DataFrame({"age": age, "ward": ward, "crp": crp})
    frame["gout"] = gout.astype(float)
    frame["flu"] = np.where(rng.random(n) < 0.3, np.nan, flu)
    return frame


@pytest.fixture(scope="session")
def frames():
    """The rows of three sites."""
    frame = made_up()
    return [frame[:100], frame[100:220], frame[220:]]


@pytest.fixture(scope="session")
def tables(frames):
    """The tables of three sites, as they are read first."""
    return [read_table(frame, labels=LABELS) for frame in frames]


@pytest.fixture(scope="session")
def plan(tables):
    """A plan with curves."""
    return Plan.of([summary_of(table) for table in tables], curves=True)


@pytest.fixture(scope="session")
def sums(tables, plan):
    """All sums of the three sites, also those of few people."""
    return [SiteSums.of(table, plan, least=1) for table in tables]
