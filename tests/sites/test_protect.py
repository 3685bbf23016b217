"""No count of few people leaves a site."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mltsk import read_table
from mltsk.exceptions import InputError
from mltsk.sites import Plan, SiteSums, summary_of
from mltsk.sites.cells import UNKNOWN, People, small_cells, values_of_rows
from mltsk.sites.protect import counted_features, protected
from mltsk.sites.sums import labels_of_table, numbers_of_table

LEAST = 10


@pytest.fixture
def safe(tables, plan):
    """The protected rows of a site."""
    table = tables[1]
    Y, observed = labels_of_table(table, plan)
    return protected(
        numbers_of_table(table, plan),
        Y,
        observed,
        columns=plan.columns,
        scaling=plan.scaling,
        label_names=plan.label_names,
        groups=table.groups,
        least=LEAST,
    )


def test_protected_leaves_no_small_cell_of_two_values_or_a_value_and_a_label(
    safe, tables, plan
):
    numbers = numbers_of_table(tables[1], plan)
    counted = counted_features(numbers, plan.columns, plan.scaling)
    features = [values_of_rows(safe.X[:, own]) for own in counted.values()]
    people = People(groups=None, least=LEAST)
    for one in features:
        for other in features:
            assert small_cells(one, other, people) == []
        for j in range(safe.Y.shape[1]):
            label = np.where(safe.observed[:, j], safe.Y[:, j], UNKNOWN).astype(int)
            small = small_cells(one, label, people)
            assert [cell for cell in small if cell[1] != UNKNOWN] == []


@pytest.mark.parametrize("seed", [0, 3])
def test_sums_of_one_label_less_those_of_another_have_no_small_cell(seed):
    rng = np.random.default_rng(seed)
    n = 800
    ward = rng.choice(list("ABCDE"), n, p=[0.4, 0.3, 0.2, 0.07, 0.03])
    frame = pd.DataFrame({"ward": ward, "sex": rng.choice(["m", "f"], n)})
    for label, share in (("gout", 0.0), ("asthma", 0.1), ("flu", 0.5)):
        y = rng.integers(0, 2, n).astype(float)
        y[rng.random(n) < share * (1 + (ward == "A"))] = np.nan
        frame[label] = y
    safe, plan = shared_rows(frame, ["gout", "asthma", "flu"])
    counted = counted_features(safe.X, plan.columns, plan.scaling)
    ward, sex = (values_of_rows(safe.X[:, own]) for own in counted.values())
    assert len(np.unique(ward)) > 2  # something is left to count
    seen = safe.observed
    parts = [*seen.T, seen[:, 0] & ~seen[:, 1], seen[:, 1] & ~seen[:, 2]]
    for rows in parts:
        cells = pd.crosstab(ward[rows], sex[rows], margins=True).to_numpy()
        assert cells[cells > 0].min() >= LEAST


def test_protected_shares_no_few_people_by_which_two_labels_differ(safe):
    for i in range(2):
        for j in range(2):
            only = safe.observed[:, i] & ~safe.observed[:, j]
            assert only.sum() == 0 or only.sum() >= LEAST


def test_each_measured_number_is_that_of_ten_neighbours(safe, tables, plan):
    age = safe.X[:, 0]
    _, counts = np.unique(age, return_counts=True)
    assert counts.min() >= LEAST
    assert len(counts) > 3
    before = numbers_of_table(tables[1], plan)[:, 0]
    assert (np.diff(age[np.argsort(before)]) >= 0).all()
    assert any("neighbours" in text for text in safe.told)


def assert_no_few(values, seen):
    """No value is that of few people of a label, nor of those by which two differ."""
    parts = [*seen.T, seen[:, 0] & ~seen[:, 1], seen[:, 1] & ~seen[:, 0]]
    for rows in parts:
        counts = pd.Series(values[rows]).value_counts(dropna=False)
        assert counts.empty or counts.min() >= LEAST


@pytest.mark.parametrize("seed", range(4))
def test_neighbours_are_enough_among_the_people_of_each_label(seed):
    """One of ten neighbours in whom a label was observed alone is in its sums."""
    rng = np.random.default_rng(seed)
    n = 300
    age = rng.normal(60, 12, n).round(1)
    crp = np.where(rng.random(n) < 0.3, np.nan, rng.gamma(2, 4, n))
    frame = pd.DataFrame({"age": age, "crp": crp})
    frame["gout"] = np.where(rng.random(n) < 0.3, np.nan, rng.random(n) < 0.4)
    is_seen = rng.random(n) < np.where(age < 45, 0.0, 0.4)
    frame["flu"] = np.where(is_seen, rng.random(n) < 0.5, np.nan)
    safe, _ = shared_rows(frame, ["gout", "flu"])
    assert len(np.unique(safe.X[:, 0])) > 2
    assert_no_few(safe.X[:, 0], safe.observed)
    assert_no_few(safe.X[:, 1], safe.observed)


def counting_those_without(d, share):
    """Makes a plan in which those who lack a number, and no others, are a share."""

    def change(plan):
        scaling, terms = plan.scaling, plan.terms
        values, levels = scaling.values.copy(), scaling.levels.copy()
        values[d] = np.linspace(-1000, 1000, values.shape[1])
        levels[d] = np.where(values[d] < 900, 0.0, 1.0)
        own = terms.feature == d
        return replace(
            plan,
            scaling=replace(scaling, values=values, levels=levels),
            terms=replace(terms, mean=np.where(own, share, terms.mean)),
        )

    return change


@pytest.mark.parametrize("n_missing", [3, 12, 60])
def test_a_plan_cannot_count_few_people_who_were_not_measured(n_missing):
    frame = stages()
    frame["crp"] = np.random.default_rng(0).gamma(2, 4, len(frame))
    order = frame.sort_values("ill", kind="stable").index  # cases come last
    frame.loc[order[-n_missing:], "crp"] = np.nan
    frame.loc[order[:3], "crp"] = np.nan
    table = read_table(frame, labels=["ill"])
    plan = Plan.of([summary_of(table)], curves=True)
    d = [part.feature for part in plan.columns.parts].index(2)
    asked = counting_those_without(d, 0.25)(plan)
    sums = SiteSums.of(table, asked)
    is_ramp = (asked.terms.feature == d) & ~asked.terms.straight
    first = int(np.flatnonzero(is_ramp)[0])
    weights = np.broadcast_to(asked.design.term_weights, asked.design.n_columns)
    share = 0.25 * np.sqrt(weights[first])
    people = round(sums.moments[0].phi[first] / share)
    cases = round(sums.moments[0].B[first, 0] / share)
    for count in (people, cases, people - cases):
        assert count == 0 or count >= LEAST


def shared_rows(frame, labels, plan=None, least=LEAST, change=None):
    """The protected rows of one site under its own plan, or one that was changed."""
    table = read_table(frame, labels=labels)
    plan = plan or Plan.of([summary_of(table)], curves=True)
    plan = plan if change is None else change(plan)
    Y, observed = labels_of_table(table, plan)
    rows = protected(
        numbers_of_table(table, plan),
        Y,
        observed,
        columns=plan.columns,
        scaling=plan.scaling,
        label_names=plan.label_names,
        groups=table.groups,
        least=least,
    )
    return rows, plan


def stages(n=400, seed=1):
    """A stage of four values, of which the first is rare among cases, and an age."""
    rng = np.random.default_rng(seed)
    stage = rng.choice([1.0, 2.0, 3.0, 4.0], n, p=[0.1, 0.3, 0.3, 0.3])
    ill = rng.random(n) < np.select([stage == 1, stage == 2], [0.15, 0.3], 0.5)
    age = rng.normal(60, 12, n).round(1)
    return pd.DataFrame({"stage": stage, "age": age, "ill": ill.astype(float)})


def test_values_of_a_stage_have_no_small_cell_with_a_label():
    frame = stages()
    rare = frame.ill[frame.stage == 1].sum()
    assert 0 < rare < LEAST
    safe, _ = shared_rows(frame, ["ill"])
    stage = safe.X[:, 0]
    assert len(np.unique(stage)) > 1
    for value in np.unique(stage[~np.isnan(stage)]):
        for y in (0, 1):
            count = ((stage == value) & (safe.Y[:, 0] == y)).sum()
            assert count == 0 or count >= LEAST
    assert any("joined with the next one" in text for text in safe.told)


def scale_around_one_person(value):
    """Makes a scale of an age on which one person is a digit of every sum."""

    def change(plan):
        d = 1  # age
        scaling = plan.scaling
        n_below = scaling.values.shape[1] - 4
        values, levels = scaling.values.copy(), scaling.levels.copy()
        around = [value - 0.04, value + 0.04, value + 0.06, 200.0]
        values[d] = np.r_[np.linspace(0, value - 0.06, n_below), around]
        levels[d] = np.r_[np.zeros(n_below), 0.001, 0.001, 1.0, 1.0]
        is_ramp = (plan.terms.feature == d) & ~plan.terms.straight
        low = np.where(is_ramp, 0.0, plan.terms.low)
        high = np.where(is_ramp, 1.0, plan.terms.high)
        return replace(
            plan,
            scaling=replace(scaling, values=values, levels=levels),
            terms=replace(plan.terms, low=low, high=high),
        )

    return change


def test_a_plan_made_around_one_person_tells_nothing_of_that_person():
    frame = stages()
    counts = frame.age.value_counts()
    middle = np.sort(frame.age.unique())[60:]
    alone = float(next(x for x in middle if counts[x] == 1))
    change = scale_around_one_person(alone)

    def people_apart(least):
        """How many people have the digit."""
        rows, plan = shared_rows(frame, ["ill"], least=least, change=change)
        own = np.flatnonzero((plan.terms.feature == 1) & ~plan.terms.straight)[0]
        Phi = plan.design.rows(plan.scale.apply(rows.X))
        weights = np.broadcast_to(plan.design.term_weights, Phi.shape[1])
        digit = Phi[:, own] / np.sqrt(weights[own])
        return int(np.isclose(digit, 0.001).sum())

    assert people_apart(1) == 1
    assert people_apart(LEAST) == 0 or people_apart(LEAST) >= LEAST


def test_what_is_told_of_cells_is_no_count_of_few(tables, plan):
    for table in tables:
        told = " ".join(SiteSums.of(table, plan, least=LEAST).told)
        counts = re.findall(r"(\d+) cells? hidden", told)
        assert all(int(count) >= LEAST for count in counts)


def test_a_site_with_no_label_to_share_is_refused(tables, plan):
    with pytest.raises(InputError, match="nothing can be shared"):
        SiteSums.of(tables[0], plan, least=90)
