"""The terms that all sites use."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import read_table
from mltsk.exceptions import InputError
from mltsk.sites import Plan, SiteSums, summary_of


def test_a_plan_is_the_same_in_any_order_of_sites(tables, plan):
    summaries = [summary_of(table) for table in tables]
    other = Plan.of(summaries[::-1], curves=True)
    assert other.columns == plan.columns
    assert_allclose(other.scaling.values, plan.scaling.values, rtol=0)
    assert_allclose(other.terms.mean, plan.terms.mean, rtol=0)


def test_a_plan_has_the_percentiles_of_all_sites_together(frames, plan):
    import pandas as pd

    age = pd.concat(frames)["age"].to_numpy()
    expected = np.quantile(age, [0.1, 0.5, 0.9])
    assert_allclose(plan.quantiles[0][[2, 10, 18]], expected, atol=1.0)


def test_a_plan_has_no_curves_where_a_site_has_fewer_people_than_columns(tables):
    summaries = [summary_of(table) for table in tables]
    summaries[0]["people"] = 12
    lines = Plan.of(summaries)
    assert not lines.has_curves
    assert "straight lines only" in lines.notes[-1]


def test_sites_that_read_a_column_differently_are_told(tables):
    summaries = [summary_of(table) for table in tables]
    feature = summaries[1]["features"][0]
    feature["kind"] = "nominal"
    feature["values"] = [["a", 50]]
    with pytest.raises(InputError, match="'age' is"):
        Plan.of(summaries)


def test_a_feature_that_one_site_lacks_is_left_out_and_named(tables):
    summaries = [summary_of(table) for table in tables]
    del summaries[1]["features"][2]
    plan = Plan.of(summaries)
    assert plan.columns.names == ("age", "ward")
    assert "'crp'" in plan.notes[0]


def test_a_plan_of_too_many_columns_is_refused_before_anything_is_summed(
    tables, plan, monkeypatch
):
    monkeypatch.setenv("MLTSK_MEMORY", "10K")
    with pytest.raises(InputError, match="make a plan of fewer features"):
        SiteSums.of(tables[0], plan)


def test_a_feature_that_is_the_same_at_one_site_stays_a_feature(frames):
    """Such as the sex of the patients of a women's hospital."""
    first, *others = [
        frame.assign(stage=np.arange(len(frame)) % 4.0, country="here")
        for frame in frames
    ]
    first = first.assign(ward="south", stage=2.0)
    sites = [first, *others]
    tables = [read_table(frame, labels=["gout", "flu"]) for frame in sites]
    assert "ward" not in tables[0].X
    plan = Plan.of([summary_of(table) for table in tables], curves=False)
    assert list(plan.kinds) == ["age", "crp", "ward", "stage"]
    assert {"south", "east", "west"} <= set(plan.columns.values[2])
    assert any("'country'" in note for note in plan.notes)
    alone = read_table(first, labels=["gout", "flu"], kinds=plan.kinds)
    south = plan.columns.part_names.index("ward = south")
    assert (plan.columns.expand(alone.X)[:, south] == 1).all()
    totals = [moments.total for moments in SiteSums.of(alone, plan).moments]
    assert sorted(totals) == sorted(first[["gout", "flu"]].notna().sum())


def test_a_column_that_is_empty_at_one_site_counts_as_missing_there(frames):
    sites = [frames[0].assign(crp=np.nan), *frames[1:]]
    tables = [read_table(frame, labels=["gout", "flu"]) for frame in sites]
    summary = summary_of(tables[0])
    empty = next(one for one in summary["features"] if one["name"] == "crp")
    assert (empty["rows"], empty["missing"], empty["values"]) == (0, 100, [])
    plan = Plan.of([summary_of(table) for table in tables])
    assert "crp" in plan.kinds
