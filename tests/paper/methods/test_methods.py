"""What holds for every compared method, each on a small case of its own.

The paper's grid in one pass, rows of any form, degenerate labels, state.
"""

import pickle
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.model_selection import ParameterGrid

from mltsk.paper import METHODS
from mltsk.paper.methods import (
    BPMLL,
    C2AE,
    HNOML,
    JBNN,
    MLHDTSK,
    MLSF,
    SUCCESSORS,
    MLkNN,
    PaperMLTSK,
)
from mltsk.paper.methods import BinaryRelevanceTSK as BR
from mltsk.paper.methods import ClassifierChainTSK as CC

GRID_SIZES = {
    "ml-knn": 35,
    "mlsf": 81,
    "hnoml": 125,
    "c2ae": 11,
    "bp-mll": 10,
    "jbnn": 10,
    "br": 48,
    "cc": 48,
    "ml-tsk-fs": 4000,
    "ml-hdtsk-fs": 256,  # ours: its paper's was not at hand
}
ALL_METHODS = METHODS | SUCCESSORS
# A score on the cut has the smallest positive number as its decision function.
ON_THE_CUT = np.finfo(np.float64).tiny


@dataclass
class Case:
    """A small model, a grid for it, and what else is known of the method.

    ``near`` is how near a grid comes to single fits, ``sparse`` how near sparse rows
    come to dense ones, or None where they are refused. ``learner`` are parameters with
    which the method learns classes. Labels are given from the score ``cut`` on.
    """

    model: object
    grid: dict
    near: float = 1e-9
    sparse: float | None = 1e-6
    learner: dict = field(default_factory=dict)
    needs_torch: bool = False
    cut: float = 0.5


CASES = {
    "ml-knn": Case(
        MLkNN(4),
        {"n_neighbors": [2, 5], "smoothing": [0.05, 1.0]},
        near=0,
        sparse=0,
    ),
    "hnoml": Case(
        HNOML(0.2, 0.2, 0.2, tol=1e-11, max_iter=5000),
        {
            "alpha": [0.1, 2],
            "beta": [0.1, 1],
            "gamma": [5],
            "reading": ["features", "samples"],
        },
        near=1e-4,
        sparse=1e-5,
        learner={"alpha": 0.01},
    ),
    "mlsf": Case(
        MLSF(size=3),
        {"alpha": [0.1, 0.9], "epsilon": [0.1, 1], "size": [1, 3], "gamma": [0.1, 10]},
        near=0,
        sparse=1e-3,
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
        near=1e-15,
        learner={"hidden": 64, "batch_size": 50, "learning_rate": 1e-3, "epochs": None},
    ),
    "bp-mll": Case(
        BPMLL(epochs=4, hidden=4, center=False),
        {"epochs": [2, 5], "learning_rate": [0.05, 0.01], "batch_size": [1, 8]},
        near=0,
        learner={"epochs": 100, "center": True},
        needs_torch=True,
        cut=0.0,
    ),
    "jbnn": Case(
        JBNN(epochs=4),
        {"epochs": [1, 4], "hidden": [3, 0.5], "prior_weight": [0.0, 0.1]},
        near=0,
        learner={"epochs": 100, "hidden": 8, "learning_rate": 0.01},
        needs_torch=True,
        cut=0.0,
    ),
    "ml-tsk-fs": Case(
        PaperMLTSK(2, width_scale=10.0, correlation_weight=0.01),
        {
            "n_rules": [1, 3],
            "width_scale": [1.0, 100.0],
            "l1_weight": [0.1, 1.0],
            "formulas": ["program", "text"],
        },
        near=1e-8,
        sparse=None,
    ),
    "ml-hdtsk-fs": Case(
        MLHDTSK(2, group_weight=0.1),
        {
            "n_rules": [1, 3],
            "correlation_weight": [0.0, 1.0],
            "group_weight": [0.0, 1.0],
        },
        sparse=None,
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


def small_data(n=90, n_features=7, n_labels=4, seed=0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, n_features)) < 0.3, 0.0, rng.random((n, n_features)))
    scores = X @ rng.normal(size=(n_features, n_labels))
    scores += 0.1 * rng.normal(size=(n, n_labels))
    return X, (scores > 0.2).astype(int)


def test_methods_have_a_case_and_a_grid_each():
    assert set(ALL_METHODS) == set(GRID_SIZES) == set(CASES)


@pytest.mark.parametrize("key", GRID_SIZES)
def test_paper_grid_of_a_method_has_the_size_of_the_papers(key):
    method = ALL_METHODS[key]
    assert is_classifier(method())
    assert len(ParameterGrid(dict(method.PAPER_GRID))) == GRID_SIZES[key]
    assert set(method.PAPER_GRID) <= set(method().get_params())


def test_grid_path_gives_the_scores_and_labels_of_single_fits(case):
    X, Y = small_data()
    points = list(case.model.grid_path(X[:70], Y[:70], X[70:], case.grid))
    assert len(points) == len(ParameterGrid(case.grid))
    for point in points:
        alone = clone(case.model).set_params(**point.params).fit(X[:70], Y[:70])
        assert_allclose(
            point.scores - case.cut,
            alone.decision_function(X[70:]),
            rtol=0,
            atol=case.near + ON_THE_CUT,
        )
        assert_array_equal(point.labels, alone.predict(X[70:]))


@pytest.mark.parametrize("shape", [(80, 7), (20, 40)])
def test_fit_on_sparse_rows_gives_the_same_model(case, shape):
    X, Y = small_data(*shape)
    rows = sparse.csr_array(X)
    if case.sparse is None:
        with pytest.raises(TypeError, match="dense"):
            clone(case.model).fit(rows, Y)
        return
    dense = clone(case.model).fit(X, Y).decision_function(X)
    thin = clone(case.model).fit(rows, Y).decision_function(rows)
    assert_allclose(thin, dense, rtol=0, atol=case.sparse)


def test_fit_takes_a_weight_of_zero_for_no_row(case):
    X, Y = small_data()
    w = np.where(np.arange(90) % 4 == 0, 0.0, 1.0)
    if isinstance(case.model, MLkNN):
        with pytest.raises(ValueError, match="no meaning for sample_weight"):
            clone(case.model).fit(X, Y, sample_weight=w)
        return
    weighted = clone(case.model).fit(X, Y, sample_weight=w)
    left_out = clone(case.model).fit(X[w > 0], Y[w > 0])
    assert_array_equal(weighted.decision_function(X), left_out.decision_function(X))
    with pytest.raises(ValueError, match="zero"):
        clone(case.model).fit(X, Y, sample_weight=0 * w)


def test_fit_learns_constant_labels_and_rows_with_no_or_all_labels(case):
    X, Y = small_data(n_labels=6)
    Y[0] = 0
    Y[1] = 1
    Y[:, 4] = 0
    Y[:, 5] = 1
    model = clone(case.model).set_params(**case.learner).fit(X, Y)
    scores = model.decision_function(X)
    assert np.isfinite(scores).all()
    assert (scores[:, 5] > scores[:, 4]).mean() > 0.95


def test_fit_learns_two_classes_and_many(case):
    X, _ = small_data(200)
    kinds = np.digitize(X[:, 0], [0.2, 0.6])
    model = clone(case.model).set_params(**case.learner).fit(X, kinds)
    assert model.score(X, kinds) > 0.65
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    names = np.where(kinds > 0, "yes", "no")
    binary = clone(case.model).set_params(**case.learner).fit(X, names)
    assert binary.decision_function(X).shape == (200,)
    assert binary.score(X, names) > 0.8


def test_fit_gives_the_same_model_again_also_from_a_pickle(case):
    X, Y = small_data()
    model = clone(case.model).fit(X, Y)
    again = clone(case.model).fit(X, Y)
    assert clone(model).get_params() == model.get_params()
    unpickled = pickle.loads(pickle.dumps(model))
    assert_array_equal(unpickled.predict_proba(X), again.predict_proba(X))
    assert_array_equal(model.predict(X), model.decision_function(X) > 0)


@pytest.mark.parametrize("key", ["mlsf", "cc", "c2ae", "bp-mll", "jbnn"])
def test_fit_depends_on_the_seed(key):
    if CASES[key].needs_torch:
        pytest.importorskip("torch")
    X, Y = small_data()
    model = CASES[key].model
    four = clone(model).set_params(random_state=4).fit(X, Y).decision_function(X)
    six = clone(model).set_params(random_state=6).fit(X, Y).decision_function(X)
    assert np.abs(four - six).max() > 1e-6
