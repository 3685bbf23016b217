"""The paper's tables as data: complete, as printed, and consistent with each other."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata

from mltsk import PaperMLTSK
from mltsk.datasets import catalog
from mltsk.exceptions import InputError
from mltsk.paper.experiments import published as paper
from mltsk.paper.experiments.published import (
    artefacts,
    artefacts_of,
    degenerate,
    explanation,
    published_table,
    zero_model,
)


@pytest.mark.parametrize("table", paper.RESULT_TABLES)
def test_published_table_has_every_cell_once(table):
    cells = paper.published_table(table)
    places = product(paper.table_i(), paper.METRICS, paper.PAPER_METHODS)
    assert set(cells) == set(places)


@pytest.mark.parametrize(
    ("table", "dataset", "metric", "method", "cell"),
    [
        ("III", "yeast", "AP", "ML-TSK FS", (0.76, 0.01, True)),
        ("III", "cal500", "AP", "HNOML", (0.43, 0.18, False)),
        ("III", "bibtex", "AP", "ML-kNN", (0.35, 0.01, False)),
        ("IV", "yeast", "AP", "MLSF", (0.41, 0.01, False)),
        ("V", "scene", "OE", "ML-TSK FS", (0.00, 0.00, True)),
        ("V", "rcv1s2", "OE", "ML-TSK FS", (0.07, 0.11, True)),
        ("V", "yeast", "CV", "ML-TSK FS", (0.42, 0.01, True)),
    ],
)
def test_published_table_has_cells_as_printed(table, dataset, metric, method, cell):
    assert paper.published_table(table)[dataset, metric, method] == cell


@pytest.mark.parametrize("table", paper.RESULT_TABLES)
def test_published_table_has_at_most_one_bold_value_in_a_row_and_none_beats_it(table):
    cells = paper.published_table(table)
    bold = sum(cell.bold for cell in cells.values())
    assert bold == (59 if table == "III" else 60)  # Scene, HL in Table III has none
    for dataset in paper.table_i():
        row = [cells[dataset, "AP", method] for method in paper.PAPER_METHODS]
        (best,) = [cell.mean for cell in row if cell.bold]
        assert best == max(cell.mean for cell in row)


@pytest.mark.parametrize("metric", paper.METRICS)
def test_published_table_v_gives_table_vi(metric):
    # F of Iman and Davenport from the printed values: one wrong digit among 108 would
    # show.
    cells = paper.published_table("V")
    rows = []
    for dataset in paper.table_i():
        rows.append([cells[dataset, metric, m].mean for m in paper.PAPER_METHODS])
    scores = np.array(rows)
    ranks = rankdata(-scores if metric == "AP" else scores, axis=1).mean(axis=0)
    n, k = scores.shape
    chi2 = 12 * n / (k * (k + 1)) * (np.sum(ranks**2) - k * (k + 1) ** 2 / 4)
    assert round((n - 1) * chi2 / (n * (k - 1) - chi2), 2) == paper.table_vi().F[metric]


def test_the_critical_difference_of_table_vi_follows_from_its_constants():
    t = paper.table_vi()
    cd = t.q_alpha * np.sqrt(t.n_methods * (t.n_methods + 1) / (6 * t.n_datasets))
    assert round(cd, 4) == t.critical_difference


def test_table_i_agrees_with_the_catalog():
    assert {name: catalog()[name].shape for name in paper.table_i()} == dict(
        paper.table_i()
    )


def test_grid_of_ml_tsk_fs_has_4000_settings_that_the_preset_takes():
    grid = PaperMLTSK.PAPER_GRID
    assert [list(values) for values in grid.values()] == list(paper.grid().values())
    assert np.prod([len(values) for values in grid.values()]) == 4000
    PaperMLTSK(**{name: values[0] for name, values in grid.items()})


def test_grid_covers_all_methods():
    for method in paper.PAPER_METHODS:
        assert paper.grid(method)


def test_published_table_and_grid_refuse_unknown_names_with_a_sentence():
    with pytest.raises(InputError, match="tables of results are III, IV, V"):
        paper.published_table("VII")
    with pytest.raises(InputError, match="Table II has no method"):
        paper.grid("SVM")


def test_artefacts_name_cells_that_exist_and_say_how_sure_they_are():
    for artefact in artefacts():
        assert artefact.standing in ("shown", "inferred")
        assert artefact.tables <= set(paper.RESULT_TABLES)
        assert artefact.datasets <= set(paper.table_i())
        assert artefact.metrics <= set(paper.METRICS)
        assert artefact.methods <= set(paper.PAPER_METHODS)
        assert artefact.standing in artefact.note
        assert artefact.reason in artefact.note


@pytest.mark.parametrize(
    ("cell", "standing"),
    [
        (("V", "cal500", "OE", "ML-TSK FS"), ["shown"]),
        (("V", "scene", "OE", "ML-TSK FS"), ["inferred"]),
        # close to its Table III: need not be one
        (("V", "yeast", "OE", "ML-TSK FS"), []),
        (("III", "image", "OE", "ML-TSK FS"), []),
        (("IV", "yeast", "AP", "MLSF"), ["shown"]),
        (("IV", "yeast", "RL", "MLSF"), ["shown", "inferred"]),
        (("III", "cal500", "HL", "HNOML"), []),
        (("III", "cal500", "RL", "HNOML"), ["inferred"]),
        (("III", "image", "CV", "JBNN"), ["inferred"]),
        (("III", "mirflickr", "AP", "BR"), ["inferred"]),
    ],
)
def test_artefacts_of_known_cells(cell, standing):
    assert [artefact.standing for artefact in artefacts_of(*cell)] == standing


@pytest.mark.parametrize("dataset", ["yeast", "image", "cal500"])
def test_zero_model_has_the_printed_ap_of_mlsf(dataset):
    printed = published_table("IV")[dataset, "AP", "MLSF"].mean
    assert printed == round(zero_model(dataset)["AP"], 2)


def test_degenerate_names_settings_of_our_own_that_are_no_models():
    zero = dict(zero_model("emotions"))
    assert "all-zero scores" in degenerate("emotions", zero, tied=0.0)
    assert "90 %" in degenerate("mine", {}, tied=0.9)
    assert degenerate("emotions", zero | {"AP": 0.8}, tied=0.2) is None
    # nothing is known of a user's own data
    assert degenerate("mine", zero, tied=0.0) is None


def test_explanation_is_given_where_known():
    text, page = explanation("HNOML", "yeast")
    assert ".623" in text
    assert page == "methods/hnoml.md"
    assert explanation("BR", "yeast") is None
