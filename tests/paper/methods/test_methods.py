"""What holds for every compared method: the paper's grid in one pass, rows of any form, degenerate labels, state."""

import pickle
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.model_selection import ParameterGrid

from mltsk.paper import METHODS
from mltsk.paper.methods import BPMLL, C2AE, HNOML, JBNN, MLSF, MLkNN, PaperMLTSK
from mltsk.paper.methods import BinaryRelevanceTSK as BR
from mltsk.paper.methods import ClassifierChainTSK as CC

GRID_SIZES = {
    "ml-knn": 35, "mlsf": 81, "hnoml": 125, "c2ae": 11, "bp-mll": 10, "jbnn": 10, "br": 48, "cc": 48, "ml-tsk-fs": 4000,
}  # fmt: skip


@dataclass
class Case:
    """A small model, a grid for it, how near a grid comes to single fits, and what else is known of the method."""

    model: object
    grid: dict
    near: float = 1e-9
    sparse: float | None = (
        1e-6  # how near sparse rows come to dense ones; None: they are refused
    )
    learner: dict = field(
        default_factory=dict
    )  # parameters with which it learns classes
    needs_torch: bool = False


CASES = {
    "ml-knn": Case(MLkNN(4), {"n_neighbors": [2, 5], "smoothing": [0.05, 1.0]}, 0, 0),
    "hnoml": Case(
        HNOML(0.2, 0.2, 0.2, tol=1e-11, max_iter=5000),
        {
            "alpha": [0.1, 2],
            "beta": [0.1, 1],
            "gamma": [5],
            "reading": ["features", "samples"],
        },
        1e-4,
        1e-5,
        {"alpha": 0.01},
    ),
    "mlsf": Case(
        MLSF(size=3),
        {"alpha": [0.1, 0.9], "epsilon": [0.1, 1], "size": [1, 3], "gamma": [0.1, 10]},
        0,
        1e-3,
    ),
    "br": Case(
        BR(3),
        {
            "C": [0.1, 8.0],
            "n_rules": [2, 3],
            "epsilon": [0.0, 0.1],
            "n_components": [2, None],
        },
        learner={"C": 8},
    ),
    "cc": Case(
        CC(3, order="random", random_state=1),
        {
            "C": [0.1, 8.0],
            "order": ["index", "random", [1, 0, 3, 2]],
            "fuzzifier": [1.0, 2.0],
            "antecedents": ["features", "labels"],
        },
        learner={"C": 8, "n_rules": 6},
    ),
    "c2ae": Case(
        C2AE(hidden=16, batch_size=20, epochs=4),
        {"alpha": [0.1, 10.0], "epochs": [1, 3]},
        1e-15,
        learner={"hidden": 64, "batch_size": 50, "learning_rate": 1e-3, "epochs": None},
    ),
    "bp-mll": Case(
        BPMLL(epochs=4, hidden=4, center=False),
        {"epochs": [2, 5], "learning_rate": [0.05, 0.01], "batch_size": [1, 8]},
        0,
        learner={"epochs": 100, "center": True},
        needs_torch=True,
    ),
    "jbnn": Case(
        JBNN(epochs=4),
        {"epochs": [1, 4], "hidden": [3, 0.5], "prior_weight": [0.0, 0.1]},
        0,
        learner={"epochs": 100, "hidden": 8, "learning_rate": 0.01},
        needs_torch=True,
    ),
    "ml-tsk-fs": Case(
        PaperMLTSK(2, width_scale=10.0, correlation_weight=0.01),
        {
            "n_rules": [1, 3],
            "width_scale": [1.0, 100.0],
            "l1_weight": [0.1, 1.0],
            "formulas": ["program", "text"],
        },
        1e-8,
        None,
    ),
}

pytestmark = pytest.mark.filterwarnings(
    "ignore::mltsk.exceptions.RuleCollapseWarning",
    "ignore::mltsk.exceptions.NonConvexWarning",
)


@pytest.fixture(params=CASES)
def case(request):
    if CASES[request.param].needs_torch:
        pytest.importorskip("torch")
    return CASES[request.param]


def some_data(n=90, n_features=7, n_labels=4, seed=0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, n_features)) < 0.3, 0.0, rng.random((n, n_features)))
    return X, (
        X @ rng.normal(size=(n_features, n_labels))
        + 0.1 * rng.normal(size=(n, n_labels))
        > 0.2
    ).astype(int)


def scores(model, X):
    return model._scores(model._check_input(X))


def test_each_method_has_a_case_and_a_grid():
    assert set(METHODS) == set(GRID_SIZES) == set(CASES)


@pytest.mark.parametrize("key", GRID_SIZES)
def test_each_has_the_papers_grid(key):
    method = METHODS[key]
    assert is_classifier(method())
    assert len(ParameterGrid(dict(method.PAPER_GRID))) == GRID_SIZES[key]
    assert set(method.PAPER_GRID) <= set(method().get_params())


def test_a_grid_in_one_pass_equals_single_fits(case):
    X, Y = some_data()
    points = list(case.model.grid_path(X[:70], Y[:70], X[70:], case.grid))
    assert len(points) == len(ParameterGrid(case.grid))
    for point in points:
        alone = clone(case.model).set_params(**point.params).fit(X[:70], Y[:70])
        assert_allclose(point.scores, scores(alone, X[70:]), rtol=0, atol=case.near)
        assert_array_equal(point.labels, alone.predict(X[70:]))


@pytest.mark.parametrize("shape", [(80, 7), (20, 40)])
def test_sparse_rows_give_the_same_model(case, shape):
    X, Y = some_data(*shape)
    rows = sparse.csr_array(X)
    if case.sparse is None:
        with pytest.raises(TypeError, match="dense"):
            clone(case.model).fit(rows, Y)
        return
    dense, thin = clone(case.model).fit(X, Y), clone(case.model).fit(rows, Y)
    assert_allclose(scores(thin, rows), scores(dense, X), rtol=0, atol=case.sparse)


def test_a_weight_of_zero_is_no_row(case):
    X, Y = some_data()
    w = np.where(np.arange(90) % 4 == 0, 0.0, 1.0)
    if not case.model._takes_weights:
        with pytest.raises(ValueError, match="no meaning for sample_weight"):
            clone(case.model).fit(X, Y, sample_weight=w)
        return
    weighted, left_out = (
        clone(case.model).fit(X, Y, sample_weight=w),
        clone(case.model).fit(X[w > 0], Y[w > 0]),
    )
    assert_array_equal(scores(weighted, X), scores(left_out, X))
    with pytest.raises(ValueError, match="zero"):
        clone(case.model).fit(X, Y, sample_weight=0 * w)


def test_constant_labels_and_rows_with_no_or_all_labels(case):
    X, Y = some_data(n_labels=6)
    Y[0], Y[1] = 0, 1
    Y[:, 4], Y[:, 5] = 0, 1
    found = scores(clone(case.model).set_params(**case.learner).fit(X, Y), X)
    assert np.isfinite(found).all()
    assert (found[:, 5] > found[:, 4]).mean() > 0.95


def test_one_label_and_many_classes(case):
    X, _ = some_data(200)
    kinds = np.digitize(X[:, 0], [0.2, 0.6])
    model = clone(case.model).set_params(**case.learner).fit(X, kinds)
    assert model.score(X, kinds) > 0.65
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    names = np.where(kinds > 0, "yes", "no")
    binary = clone(case.model).set_params(**case.learner).fit(X, names)
    assert binary.decision_function(X).shape == (200,)
    assert binary.score(X, names) > 0.8


def test_the_same_model_again_also_from_a_pickle(case):
    X, Y = some_data()
    model, again = clone(case.model).fit(X, Y), clone(case.model).fit(X, Y)
    assert clone(model).get_params() == model.get_params()
    assert_array_equal(
        pickle.loads(pickle.dumps(model)).predict_proba(X), again.predict_proba(X)
    )
    assert_array_equal(model.predict(X), model.decision_function(X) > 0)


@pytest.mark.parametrize("key", ["mlsf", "cc", "c2ae", "bp-mll", "jbnn"])
def test_a_seed_decides(key):
    if CASES[key].needs_torch:
        pytest.importorskip("torch")
    X, Y = some_data()
    one, other = (
        scores(clone(CASES[key].model).set_params(random_state=s).fit(X, Y), X)
        for s in (4, 6)
    )
    assert np.abs(one - other).max() > 1e-6
