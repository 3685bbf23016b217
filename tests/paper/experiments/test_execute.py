"""A cell's numbers are those of fitting every setting by hand on the same rows; folds and scaling of the protocols."""

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


def cell_of(definition, method, fold=1, part=""):
    cells = plan(definition, {"toy": (60, 4, 3)}, {"toy": "digest"})
    return next(
        c for c in cells if c.method == method and c.fold == fold and c.part == part
    )


def metrics_of(model, X, Y, train, test):
    fitted = model.fit(X[train], Y[train])
    found = evaluate(
        Y[test],
        fitted._scores(X[test]),
        predictions=fitted.predict(X[test]),
        convention="paper",
    )
    return [found[name] for name in METRICS]


def test_a_table_of_ones_own_must_hold_complete_numbers(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("size,red,good\n1.5,yes,0\n2,no,1\n0.5,no,1\n")
    data = dataset(DataDefinition(name="mine", file=str(file), labels="good"))
    assert (data.X.tolist(), data.Y.tolist()) == (
        [[1.5, 1], [2, 0], [0.5, 0]],
        [[0], [1], [1]],
    )
    file.write_text("size,hue,good\n1.5,red,0\n2,blue,1\n0.5,red,1\n")
    with pytest.raises(
        InputError,
        match="Column 'hue' of mine is nominal, and this method needs complete numbers",
    ):
        dataset(DataDefinition(name="mine", file=str(file), labels=1))


@pytest.mark.parametrize("threads", [None, "3"])
def test_threads_are_what_they_were_afterwards(small, monkeypatch, threads):
    monkeypatch.delenv("MLTSK_THREADS", raising=False)
    if threads is not None:
        monkeypatch.setenv("MLTSK_THREADS", threads)
    definition = small(protocols=["strict"])
    execute(
        cell_of(definition, "ml-knn"), definition.datasets[0], definition.methods[0]
    )
    assert os.environ.get("MLTSK_THREADS") == threads


@pytest.mark.parametrize("protocol", ["paper", "strict"])
def test_a_grid_is_what_single_fits_give(small, protocol):
    definition = small(protocols=[protocol])
    data = dataset(definition.datasets[0])
    outcome = execute(
        cell_of(definition, "ml-knn"), definition.datasets[0], definition.methods[0]
    )
    train, test = folds_of(protocol, data.Y, 3, 0)[1]
    X = minmax(data.X, data.X if protocol == "paper" else data.X[train])
    assert outcome.error == ""
    assert len(outcome.rows) == 6
    for row in outcome.rows:
        assert_allclose(
            row.metrics[:5], metrics_of(MLkNN(**row.setting), X, data.Y, train, test)
        )


@pytest.mark.filterwarnings(
    "ignore:Algorithm I stopped", "ignore::mltsk.exceptions.DegenerateScoresWarning"
)
def test_strict_rules_are_found_on_training_rows_alone(small):
    definition = small(protocols=["strict"])
    data = dataset(definition.datasets[0])
    outcome = execute(
        cell_of(definition, "ml-tsk-fs", part="n_rules=2"),
        definition.datasets[0],
        definition.methods[1],
    )
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


def test_the_papers_rules_are_found_on_all_rows_and_folds_change_with_rules_and_width(
    small,
):
    definition = small()
    data = dataset(definition.datasets[0])
    outcome = execute(
        cell_of(definition, "ml-tsk-fs", part="n_rules=2"),
        definition.datasets[0],
        definition.methods[1],
    )
    Z = minmax(data.X, data.X)
    grid = {"n_rules": [2], "width_scale": [10.0], "l1_weight": [0.01]}
    train, test = sliced_folds(60, 3, (0, 2, 10000))[1]
    ((point, rows),) = PaperMLTSK().authors_path(
        Z, data.Y, lambda K, h: (train, test), grid
    )
    expected = evaluate(data.Y[test], point.scores, convention="paper")
    row = next(
        r
        for r in outcome.rows
        if r.setting["width_scale"] == 10 and r.setting["l1_weight"] == 0.01
    )
    assert np.array_equal(rows, test)
    assert_allclose(row.metrics[:5], [expected[name] for name in METRICS])


def test_an_error_is_part_of_the_outcome(small):
    methods = [
        {
            "key": "bad",
            "class": "mltsk.paper.methods:MLkNN",
            "grids": {"paper": {"n_neighbors": [-1]}},
        }
    ]
    definition = small(methods=methods)
    outcome = execute(
        cell_of(definition, "bad"), definition.datasets[0], definition.methods[0]
    )
    assert outcome.rows == ()
    assert "n_neighbors" in outcome.error
    assert "\n" not in outcome.error


def test_any_scikit_learn_classifier_can_run(small):
    method = {"key": "forest", "class": "sklearn.ensemble:RandomForestClassifier"}
    method |= {
        "params": {"n_estimators": 5, "random_state": 0},
        "grids": {"paper": {"max_depth": [2, 3]}},
    }
    definition = small(methods=[method])
    outcome = execute(
        cell_of(definition, "forest"), definition.datasets[0], definition.methods[0]
    )
    assert [row.setting for row in outcome.rows] == [{"max_depth": 2}, {"max_depth": 3}]
    assert all(0 < row.metrics[0] <= 1 for row in outcome.rows)


def test_all_tied_scores_are_counted(small):
    outcome = execute(
        cell_of(small(), "ml-tsk-fs", part="n_rules=2"),
        small().datasets[0],
        small().methods[1],
    )
    tied = {row.setting["l1_weight"]: row.metrics[5] for row in outcome.rows}
    assert tied[100.0] == 1.0
    assert tied[0.01] == 0.0


def test_a_device_is_for_methods_that_have_one_and_for_rows_that_go_there(small):
    pytest.importorskip("torch")
    methods = [m.model_copy(update={"device": "cpu:0"}) for m in small().methods]
    for method, part, device in zip(
        methods, ("", "n_rules=2"), ("cpu", "cpu:0"), strict=True
    ):
        outcome = execute(
            cell_of(small(), method.key, part=part), small().datasets[0], method
        )
        assert (outcome.error, outcome.device) == ("", device)


def test_a_grid_of_one_setting_is_that_setting_under_nested_folds_too(small):
    method = {
        "key": "ml-knn",
        "class": "mltsk.paper.methods:MLkNN",
        "grids": {"paper": {"n_neighbors": [3]}},
    }
    definition = small(methods=[method], protocols=["nested"])
    outcome = execute(
        cell_of(definition, "ml-knn"), definition.datasets[0], definition.methods[0]
    )
    assert [(row.chosen_by, row.setting) for row in outcome.rows] == [
        (m, {"n_neighbors": 3}) for m in METRICS
    ]


def labels(n=40):
    return (np.random.default_rng(0).random((n, 3)) < 0.4).astype(int)


def test_slices_are_the_authors():
    sizes = [len(test) for _, test in sliced_folds(502, 5)]
    assert sizes == [101, 101, 101, 101, 98]
    assert sorted(np.concatenate([test for _, test in sliced_folds(502, 5)])) == list(
        range(502)
    )


def test_too_many_slices_are_refused():
    with pytest.raises(InputError, match="take fewer folds"):
        sliced_folds(6, 5)


@pytest.mark.parametrize("protocol", ["paper", "strict", "nested"])
def test_training_and_test_rows_are_all_rows_once(protocol):
    for train, test in folds_of(protocol, labels(), 4, 0):
        assert sorted([*train, *test]) == list(range(40))


def test_inner_folds_part_the_training_rows(small, tmp_path, monkeypatch):
    (tmp_path / "tests_spy.py").write_text(
        "from sklearn.dummy import DummyClassifier\nfitted, asked = [], []\nclass Spy(DummyClassifier):\n"
        "    def fit(self, X, y):\n        fitted.append(set(X[:, 0]))\n        return super().fit(X, y)\n"
        "    def predict(self, X):\n        asked.append(set(X[:, 0]))\n        return super().predict(X)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    method = {
        "key": "spy",
        "class": "tests_spy:Spy",
        "grids": {"paper": {"constant": [None, 0]}},
    }
    definition = small(methods=[method], protocols=["nested"], inner_folds=3)
    cells = [
        c
        for c in plan(definition, {"toy": (60, 4, 3)}, {"toy": "digest"})
        if (c.kind, c.fold) == ("inner", 1)
    ]
    assert [
        execute(c, definition.datasets[0], definition.methods[0]).error for c in cells
    ] == [""] * 3
    data, spy = dataset(definition.datasets[0]), importlib.import_module("tests_spy")
    train, _ = folds_of("nested", data.Y, 3, 0)[1]
    assert set.union(*spy.asked) == set(data.X[train, 0])
    assert all(
        set(data.X[train, 0]) - fit == check
        for fit, check in zip(spy.fitted, spy.asked, strict=True)
    )


def test_seeds_give_other_folds_and_the_same_seed_the_same():
    first, again, other = (
        folds_of("strict", labels(), 4, seed)[0][1].tolist() for seed in (0, 0, 1)
    )
    assert first == again != other


def test_sparse_and_dense_features_are_scaled_alike():
    X = (
        sparse.random_array(
            (30, 5), density=0.3, rng=np.random.default_rng(0), format="csr"
        )
        * 7
    )
    scaled = minmax(X, X[:20])
    assert sparse.issparse(scaled)
    assert_allclose(scaled.toarray(), minmax(X.toarray(), X.toarray()[:20]))


def test_sparse_features_that_cannot_stay_sparse_are_refused():
    with pytest.raises(InputError, match="stay sparse"):
        minmax(sparse.csr_array([[-1.0], [0.0]]), sparse.csr_array([[-1.0], [0.0]]))
