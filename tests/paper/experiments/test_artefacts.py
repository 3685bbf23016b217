"""The list of printed values that cannot be compared."""

import pytest

from mltsk.paper.experiments.artefacts import artefacts, artefacts_of, degenerate, explanation, zero_model
from mltsk.paper.experiments.paper import METHODS, METRICS, TABLES, published_table, table_i


def test_every_entry_names_cells_that_exist_and_says_how_sure_it_is():
    for artefact in artefacts():
        assert artefact.standing in ("shown", "inferred")
        assert artefact.tables <= set(TABLES)
        assert artefact.datasets <= set(table_i())
        assert artefact.metrics <= set(METRICS)
        assert artefact.methods <= set(METHODS)
        assert artefact.standing in artefact.note
        assert artefact.reason in artefact.note


@pytest.mark.parametrize(
    ("cell", "standing"),
    [
        (("V", "cal500", "OE", "ML-TSK FS"), ["shown"]),
        (("V", "scene", "OE", "ML-TSK FS"), ["inferred"]),
        (("V", "yeast", "OE", "ML-TSK FS"), []),  # close to its Table III: need not be one
        (("III", "image", "OE", "ML-TSK FS"), []),
        (("IV", "yeast", "AP", "MLSF"), ["shown"]),
        (("IV", "yeast", "RL", "MLSF"), ["shown", "inferred"]),
        (("III", "cal500", "HL", "HNOML"), []),
        (("III", "cal500", "RL", "HNOML"), ["inferred"]),
        (("III", "image", "CV", "JBNN"), ["inferred"]),
        (("III", "mirflickr", "AP", "BR"), ["inferred"]),
    ],
)
def test_known_cells(cell, standing):
    assert [artefact.standing for artefact in artefacts_of(*cell)] == standing


@pytest.mark.parametrize("dataset", ["yeast", "image", "cal500"])
def test_the_cells_of_mlsf_are_those_of_zero_scores(dataset):
    printed = published_table("IV")[dataset, "AP", "MLSF"].mean
    assert printed == round(zero_model(dataset)["AP"], 2)


def test_settings_of_our_own_that_are_no_models():
    zero = dict(zero_model("emotions"))
    assert "all-zero scores" in degenerate("emotions", zero, tied=0.0)
    assert "90 %" in degenerate("mine", {}, tied=0.9)
    assert degenerate("emotions", zero | {"AP": 0.8}, tied=0.2) is None
    assert degenerate("mine", zero, tied=0.0) is None  # nothing is known of a user's own data


def test_explanations_are_given_where_known():
    text, page = explanation("HNOML", "yeast")
    assert ".622" in text
    assert page == "methods/hnoml.md"
    assert explanation("BR", "yeast") is None
