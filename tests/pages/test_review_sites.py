"""The review of a joined model shows each site by a fit without it."""

import json

import pytest

from mltsk import from_dict, load, read_table, save, to_dict
from mltsk.exceptions import InputError
from mltsk.pages.review import validation_page
from mltsk.sites import Plan, SiteSums, joined, summary_of


@pytest.fixture(scope="module")
def pbc():
    return read_table("pbc")


@pytest.fixture(scope="module")
def model(pbc):
    frame = pbc.X.join(pbc.Y)
    labels = list(pbc.label_names)
    tables = [read_table(frame[s::3], labels=labels) for s in range(3)]
    plan = Plan.of([summary_of(table) for table in tables], curves=False)
    kinds = plan.kinds
    tables = [read_table(frame[s::3], labels=labels, kinds=kinds) for s in range(3)]
    return joined([SiteSums.of(table, plan) for table in tables])


def test_the_review_has_a_row_per_site_and_label(model, pbc, tmp_path):
    path = save(model, tmp_path / "joined.skops")
    page = validation_page(load(path), pbc).page
    section = page[page.index('id="sites"') :]
    assert "Each site by a fit without it" in page
    for row in model.sites_:
        assert f"<td>{row['cases']}</td>" in section
        if row["AUC"] is not None:  # one site alone may share a label
            assert f"<td>{row['AUC']:.2f}</td>" in section


def test_sites_that_were_tampered_with_are_refused(model):
    plain = json.dumps(to_dict(model))
    cases = f'"cases": {model.sites_[0]["cases"]}'
    assert cases in plain
    with pytest.raises(InputError, match="'sites_' must hold names, counts"):
        from_dict(json.loads(plain.replace(cases, '"cases": "many"')))
