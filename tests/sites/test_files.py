"""Summaries, plans and sums as files, and files that are none."""

import io
import json
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mltsk.exceptions import InputError
from mltsk.sites import (
    SiteSums,
    read_plan,
    read_summary,
    read_sums,
    summary_of,
    write_json,
    write_sums,
)
from mltsk.sites.plan_checks import plain_plan


def test_files_come_back_as_they_were(tables, plan, sums, tmp_path):
    summary = summary_of(tables[0])
    assert read_summary(write_json(summary, tmp_path / "a.summary")) == summary
    again = read_plan(write_json(plain_plan(plan), tmp_path / "plan.json"))
    assert plain_plan(again) == plain_plan(plan)
    back = read_sums(write_sums(sums[0], tmp_path / "a.sums"))
    for one, other in zip(back.moments, sums[0].moments, strict=True):
        assert_array_equal(one.B, other.B)
        np.testing.assert_allclose(one.H, other.H, rtol=1e-12)
    first = (tmp_path / "a.sums").read_bytes()
    assert write_sums(sums[0], tmp_path / "b.sums").read_bytes() == first


def changed_sums(path, name, change):
    """The bytes of a file of sums with one array changed."""
    with zipfile.ZipFile(path) as archive:
        members = {part: archive.read(part) for part in archive.namelist()}
    array = np.load(io.BytesIO(members[name]))
    content = io.BytesIO()
    np.save(content, change(array), allow_pickle=True)
    members[name] = content.getvalue()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for part, text in members.items():
            archive.writestr(part, text)
    return out.getvalue()


def test_what_protection_costs_stays_at_the_site(tables, plan, tmp_path):
    """It is found on rows of which nothing was hidden."""
    sums = SiteSums.of(tables[0], plan)
    assert "instead of" in sums.cost
    back = read_sums(write_sums(sums, tmp_path / "a.sums"))
    assert back.cost == ""
    assert back.told == sums.told
    assert "instead of" not in " ".join(back.told)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("H0.npy", lambda H: H * np.nan),
        ("H0.npy", lambda H: H[:-1]),
        ("H0.npy", lambda H: 1e9 * H),
        ("H0.npy", lambda H: -H),
        ("H0.npy", lambda H: 0.5 * H),
        ("B0.npy", lambda B: B + 1e6),
        ("phi0.npy", lambda phi: phi.astype(np.float32)),
        ("phi0.npy", lambda phi: np.array(phi.tolist(), dtype=object)),
        ("y0.npy", lambda y: 1e6 + y),
    ],
)
def test_sums_that_no_rows_have_are_refused_in_one_sentence(
    sums, tmp_path, name, change
):
    path = write_sums(sums[0], tmp_path / "a.sums")
    path.write_bytes(changed_sums(path, name, change))
    with pytest.raises(InputError, match="damaged or not a file of sums") as refused:
        read_sums(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("version", 99),
        ("labels", ["a", "a"]),
        ("kinds", {"age": "code"}),
        ("knots", [[1e308, "x"]]),
        ("term_column", [10**9]),
        ("term_low", [float("inf")]),
        ("spread", [0.0]),
    ],
)
def test_plans_that_are_none_are_refused_in_one_sentence(plan, tmp_path, part, value):
    content = plain_plan(plan) | {part: value}
    (tmp_path / "plan.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match="damaged or not a plan"):
        read_plan(tmp_path / "plan.json")


def test_other_files_are_refused_in_one_sentence(tables, tmp_path):
    strange = tmp_path / "strange"
    strange.write_bytes(b"\x80pickle")
    for read in (read_summary, read_plan, read_sums):
        with pytest.raises(InputError):
            read(strange)
        with pytest.raises(InputError, match="no file"):
            read(tmp_path / "nothing")
        with pytest.raises(InputError):
            read(tmp_path)
    for read in (read_summary, read_plan):
        with pytest.raises(InputError, match="it is no text"):
            read(strange)
    strange.write_text("age,gout\n61,1\n")
    for read in (read_summary, read_plan):
        with pytest.raises(InputError, match="it is no JSON"):
            read(strange)
    summary = summary_of(tables[0])
    summary["features"][0]["percentiles"][3] = 1e9
    with pytest.raises(InputError, match="must rise"):
        read_summary(write_json(summary, tmp_path / "a.summary"))
