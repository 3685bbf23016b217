"""A cell's numbers are those of fitting every setting by hand on the same rows.

Also folds and scaling of the protocols.
"""

import importlib
import os

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mltsk.exceptions import InputError
from mltsk.metrics import evaluate
from mltsk.paper.experiments.definition import DataDefinition
from mltsk.paper.experiments.execute import (
    dataset,
    execute,
    folds_of,
    minmax,
    sliced_folds,
)
from mltsk.paper.experiments.reproduce import plan
from mltsk.paper.methods import MLkNN, PaperMLTSK

METRICS = ("AP", "HL", "OE", "RL", "CV")
# A classifier that remembers the rows that it was fitted to and asked about.
SPY = """
from sklearn.dummy import DummyClassifier

fitted = []
asked = []


class Spy(DummyClassifier):
    def fit(self, X, y):
        fitted.append(set(X[:, 0]))
        return super().fit(X, y)

    def predict(self, X):
        asked.append(set(X[:, 0]))
        return super().predict(X)
"""


def cell_of(definition, method, fold=1, part=""):
    for cell in plan(definition, {"toy": (60, 4, 3)}, {"toy": "digest"}):
        if (cell.method, cell.fold, cell.part) == (method, fold, part):
            return cell
    raise LookupError(method)


def executed(definition, method, fold=1, part=""):
    """The outcome of a cell of a definition."""
    cell = cell_of(definition, method, fold, part)
    (about,) = [one for one in definition.methods if one.key == method]
    return execute(cell, definition.datasets[0], about)


def metrics_of(model, X, Y, train, test):
    fitted = model.fit(X[train], Y[train])
    found = evaluate(
        Y[test],
        fitted._scores(X[test]),
        predictions=fitted.predict(X[test]),
        convention="paper",
    )
    return [found[name] for name in METRICS]


def test_dataset_of_a_table_must_hold_complete_numbers(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("size,red,good\n1.5,yes,0\n2,no,1\n0.5,no,1\n")
    data = dataset(DataDefinition(name="mine", file=str(file), labels="good"))
    assert data.X.tolist() == [[1.5, 1], [2, 0], [0.5, 0]]
    assert data.Y.tolist() == [[0], [1], [1]]
    file.write_text("size,hue,good\n1.5,red,0\n2,blue,1\n0.5,red,1\n")
    complaint = "'hue' of mine is nominal, .* has no --drop: leave such columns out of"
    with pytest.raises(InputError, match=complaint):
        dataset(DataDefinition(name="mine", file=str(file), labels=1))


@pytest.mark.parametrize("threads", [None, "3"])
def test_execute_leaves_threads_as_they_were(small, monkeypatch, threads):
    monkeypatch.delenv("MLTSK_THREADS", raising=False)
    if threads is not None:
        monkeypatch.setenv("MLTSK_THREADS", threads)
    executed(small(protocols=["strict"]), "ml-knn")
    assert os.environ.get("MLTSK_THREADS") == threads


@pytest.mark.parametrize("protocol", ["paper", "strict"])
def test_execute_of_a_grid_gives_what_single_fits_give(small, protocol):
    definition = small(protocols=[protocol])
    data = dataset(definition.datasets[0])
    outcome = executed(definition, "ml-knn")
    train, test = folds_of(protocol, data.Y, 3, 0)[1]
    X = minmax(data.X, data.X if protocol == "paper" else data.X[train])
    assert outcome.error == ""
    assert len(outcome.rows) == 6
    for row in outcome.rows:
        expected = metrics_of(MLkNN(**row.setting), X, data.Y, train, test)
        assert_allclose(row.metrics[:5], expected)


@pytest.mark.filterwarnings(
    "ignore:Algorithm I stopped", "ignore::mltsk.exceptions.DegenerateScoresWarning"
)
def test_execute_under_strict_finds_rules_on_training_rows_alone(small):
    definition = small(protocols=["strict"])
    data = dataset(definition.datasets[0])
    outcome = executed(definition, "ml-tsk-fs", part="n_rules=2")
    train, test = folds_of("strict", data.Y, 3, 0)[1]
    for row in outcome.rows:
        model = PaperMLTSK(**row.setting).fit(data.X[train], data.Y[train])
        found = evaluate(
            data.Y[test],
            model.decision_function(data.X[test]),
            threshold=0,
            convention="paper",
        )
        assert_allclose(row.metrics[:5], [found[name] for name in METRICS], atol=1e-12)


def test_execute_under_paper_finds_rules_on_all_rows_and_folds_by_rules_and_width(
    small,
):
    definition = small()
    data = dataset(definition.datasets[0])
    outcome = executed(definition, "ml-tsk-fs", part="n_rules=2")
    Z = minmax(data.X, data.X)
    grid = {"n_rules": [2], "width_scale": [10.0], "l1_weight": [0.01]}
    train, test = sliced_folds(60, 3, (0, 2, 10000))[1]
    path = PaperMLTSK().authors_path(Z, data.Y, lambda K, h: (train, test), grid)
    ((point, rows),) = path
    expected = evaluate(data.Y[test], point.scores, convention="paper")
    by_setting = {}
    for row in outcome.rows:
        place = (row.setting["width_scale"], row.setting["l1_weight"])
        by_setting[place] = row.metrics
    assert np.array_equal(rows, test)
    metrics = by_setting[10.0, 0.01]
    assert_allclose(metrics[:5], [expected[name] for name in METRICS])


def test_execute_makes_an_error_part_of_the_outcome(small):
    method = {
        "key": "bad",
        "class": "mltsk.paper.methods:MLkNN",
        "grids": {"paper": {"n_neighbors": [-1]}},
    }
    outcome = executed(small(methods=[method]), "bad")
    assert outcome.rows == ()
    assert "n_neighbors" in outcome.error
    assert "\n" not in outcome.error


def test_execute_runs_any_classifier_of_scikit_learn(small):
    method = {
        "key": "forest",
        "class": "sklearn.ensemble:RandomForestClassifier",
        "params": {"n_estimators": 5, "random_state": 0},
        "grids": {"paper": {"max_depth": [2, 3]}},
    }
    outcome = executed(small(methods=[method]), "forest")
    assert [row.setting for row in outcome.rows] == [{"max_depth": 2}, {"max_depth": 3}]
    assert all(0 < row.metrics[0] <= 1 for row in outcome.rows)


def test_execute_counts_rows_whose_scores_are_all_tied(small):
    outcome = executed(small(), "ml-tsk-fs", part="n_rules=2")
    tied = {row.setting["l1_weight"]: row.metrics[5] for row in outcome.rows}
    assert tied[100.0] == 1.0
    assert tied[0.01] == 0.0


def test_execute_gives_a_device_to_methods_that_have_one(small):
    pytest.importorskip("torch")
    methods = [m.model_copy(update={"device": "cpu:0"}) for m in small().methods]
    definition = small().model_copy(update={"methods": methods})
    without = executed(definition, "ml-knn")
    assert (without.error, without.device) == ("", "cpu")
    with_one = executed(definition, "ml-tsk-fs", part="n_rules=2")
    assert (with_one.error, with_one.device) == ("", "cpu:0")


def test_execute_under_nested_takes_the_setting_of_a_grid_of_one(small):
    method = {
        "key": "ml-knn",
        "class": "mltsk.paper.methods:MLkNN",
        "grids": {"paper": {"n_neighbors": [3]}},
    }
    outcome = executed(small(methods=[method], protocols=["nested"]), "ml-knn")
    assert [row.chosen_by for row in outcome.rows] == list(METRICS)
    for row in outcome.rows:
        assert row.setting == {"n_neighbors": 3}


def labels(n=40):
    return (np.random.default_rng(0).random((n, 3)) < 0.4).astype(int)


def test_sliced_folds_have_the_authors_sizes():
    tests = [test for _, test in sliced_folds(502, 5)]
    assert [len(test) for test in tests] == [101, 101, 101, 101, 98]
    assert sorted(np.concatenate(tests)) == list(range(502))


def test_sliced_folds_refuse_too_many_slices():
    with pytest.raises(InputError, match="take fewer folds"):
        sliced_folds(6, 5)


@pytest.mark.parametrize("protocol", ["paper", "strict", "nested"])
def test_folds_of_every_protocol_have_all_rows_once(protocol):
    for train, test in folds_of(protocol, labels(), 4, 0):
        assert sorted([*train, *test]) == list(range(40))


def test_execute_parts_the_training_rows_into_inner_folds(small, tmp_path, monkeypatch):
    (tmp_path / "tests_spy.py").write_text(SPY)
    monkeypatch.syspath_prepend(tmp_path)
    method = {
        "key": "spy",
        "class": "tests_spy:Spy",
        "grids": {"paper": {"constant": [None, 0]}},
    }
    definition = small(methods=[method], protocols=["nested"], inner_folds=3)
    cells = plan(definition, {"toy": (60, 4, 3)}, {"toy": "digest"})
    inner = [cell for cell in cells if cell.kind == "inner" and cell.fold == 1]
    assert len(inner) == 3
    for cell in inner:
        outcome = execute(cell, definition.datasets[0], definition.methods[0])
        assert outcome.error == ""
    spy = importlib.import_module("tests_spy")
    data = dataset(definition.datasets[0])
    train, _ = folds_of("nested", data.Y, 3, 0)[1]
    training_rows = set(data.X[train, 0])
    assert set.union(*spy.asked) == training_rows
    for fitted, asked in zip(spy.fitted, spy.asked, strict=True):
        assert training_rows - fitted == asked


def test_folds_of_a_seed_are_always_the_same():
    first, again, other = (
        folds_of("strict", labels(), 4, seed)[0][1].tolist() for seed in (0, 0, 1)
    )
    assert first == again != other


def test_minmax_scales_sparse_and_dense_features_alike():
    rng = np.random.default_rng(0)
    X = 7 * sparse.random_array((30, 5), density=0.3, rng=rng, format="csr")
    scaled = minmax(X, X[:20])
    assert sparse.issparse(scaled)
    assert_allclose(scaled.toarray(), minmax(X.toarray(), X.toarray()[:20]))


def test_minmax_refuses_sparse_features_that_cannot_stay_sparse():
    with pytest.raises(InputError, match="stay sparse"):
        minmax(sparse.csr_array([[-1.0], [0.0]]), sparse.csr_array([[-1.0], [0.0]]))
