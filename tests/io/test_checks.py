"""Parts that do not fit together are refused, wherever they come from."""

import copy

import numpy as np
import pytest
from scipy import sparse

from mltsk import MLTSKClassifier, PaperMLTSK
from mltsk.datasets import make_multilabel_rules
from mltsk.io.checks import check_model
from mltsk.paper import METHODS

DATA = make_multilabel_rules(n_samples=60, random_state=0)


@pytest.fixture(scope="module")
def fitted():
    return MLTSKClassifier(n_rules=2).fit(*DATA.frames())


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("coef_", np.zeros((2, 3, 5)), "3 rows per rule for 10 features"),
        ("coef_", np.zeros((2, 1, 4)), "'coef_' must be a table of 2 x 1 x 5"),
        (
            "centers_",
            np.full((2, 10), np.nan),
            "'centers_' must be a table of 2 x 10 finite",
        ),
        ("centers_", np.zeros((2, 10), dtype=object), "'centers_' must be"),
        ("widths_", np.zeros((2, 10)), "'widths_' must be above 0"),
        ("widths_", np.full((2, 10), -np.inf), "'widths_' must be"),
        ("general_coef_", np.zeros((3, 5)), "'general_coef_' must be"),
        ("intercept_", None, "'intercept_' must be a table of 5"),
        ("thresholds_", np.array([0.5] * 4 + [np.inf]), "'thresholds_' must be"),
        ("quantiles_", np.zeros((10, 20)), "10 x 21"),
        (
            "label_names_",
            ("a", "a", "b", "c", "d"),
            "'label_names_' must be 5 different names",
        ),
        ("label_names_", (1, 2, 3, 4, 5), "5 different names"),
        ("feature_names_in_", np.array(["a"], dtype=object), "10 different names"),
        ("classes_", np.arange(3), "3 classes for 5 labels"),
        ("classes_", np.zeros(5), "'classes_' must be different values"),
        ("slopes_", None, "'slopes_' must be a table of 5"),
        ("centers_", np.full((2, 10), 1e308), "'centers_' must be"),
        ("intercept_", np.full(5, np.inf, dtype=np.float32), "'intercept_' must be"),
        ("scale_", "cubic", "no scale 'cubic'"),
        ("scale_", "unit", "does not belong to the scale 'unit'"),
        ("scale_", "standard", "ramps must rise on a percentile scale"),
        ("scaling_", None, "does not belong to the scale 'quantile'"),
        ("predict", 1, "in the place of predict"),
    ],
)
def test_each_part_is_checked(fitted, name, value, says):
    model = copy.copy(fitted)
    vars(model)[name] = value
    with pytest.raises(ValueError, match=says):
        check_model(model)


@pytest.mark.parametrize(
    ("table", "name", "change", "says"),
    [
        (
            "scaling_",
            "values",
            lambda v: v[:, ::-1].copy(),
            "knots of the scale must rise",
        ),
        (
            "scaling_",
            "levels",
            lambda v: v * 1e300,
            "'levels' must lie between 0 and 1",
        ),
        ("scaling_", "spread", lambda v: 0 * v, "'spread' must be above 0"),
        ("scaling_", "share", lambda v: 0 * v, "'share' must be above 0"),
        (
            "scaling_",
            "share",
            lambda v: v * np.inf,
            "'share' must be a table of 10 finite",
        ),
        ("scaling_", "shares", lambda v: v, "'scaling_' must hold values, levels"),
        ("scaling_", "offset", lambda v: v[1:], "'offset' must be a table of 10"),
        (
            "terms_",
            "feature",
            lambda v: v[::-1].copy(),
            "the features of the terms, in order",
        ),
        ("terms_", "feature", lambda v: v + 1, "the features of the terms, in order"),
        ("terms_", "low", lambda v: None, "ramps must rise"),
        ("terms_", "high", lambda v: v - 2, "ramps must rise"),
        ("terms_", "mean", lambda v: v * np.nan, "'mean' must be a table"),
        ("members_", "count", lambda v: v[1:], "'count' must be a table of 3 finite"),
        (
            "members_",
            "positives",
            lambda v: v + 60,
            "'positives' must be some of 'observed'",
        ),
        (
            "members_",
            "observed",
            lambda v: v * np.nan,
            "'observed' must be a table of 3 x 5 finite",
        ),
        (
            "members_",
            "regions",
            lambda v: v[..., ::-1].copy(),
            "'regions' must end above",
        ),
        ("members_", "regions", lambda v: None, "'regions' must be there"),
        (
            "members_",
            "regions",
            lambda v: v * np.inf,
            "'regions' must be a table of 3 x 10 x 2",
        ),
    ],
)
def test_scales_and_terms_are_checked(fitted, table, name, change, says):
    model = copy.copy(fitted)
    setattr(
        model,
        table,
        {**getattr(model, table), name: change(getattr(model, table).get(name))},
    )
    with pytest.raises(ValueError, match=says):
        check_model(model)


def without(part, value):
    return tuple(tuple(word for word in words if word != value) for words in part)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        (
            "names",
            lambda v: v[:-1],
            "'names' of 'columns_' must be 8, one for each feature",
        ),
        (
            "names",
            lambda v: ("age", *v[:-1]),
            "'names' of 'columns_' must be different words, those of the features",
        ),
        (
            "kinds",
            lambda v: ("date", *v[1:]),
            "'kinds' of 'columns_' must be number, ordinal, nominal",
        ),
        ("kinds", lambda v: (["number"], *v[1:]), "'kinds' of 'columns_' must be"),
        (
            "kinds",
            lambda v: (v[0], "number", *v[2:]),
            "'smoker' must be empty: it is of kind number",
        ),
        ("values", lambda v: without(v, "daily"), "'centers_' must be a table of"),
        (
            "values",
            lambda v: (v[0], (*v[1], "never"), *v[2:]),
            "'values' of column 'smoker' must be different words",
        ),
        (
            "values",
            lambda v: (v[0], (*v[1], 3), *v[2:]),
            "'values' of column 'smoker' must be different words",
        ),
        (
            "values",
            lambda v: (v[0], "never", *v[2:]),
            "'values' of column 'smoker' must be different words",
        ),
        (
            "rare",
            lambda v: (v[0], ("never",), *v[2:]),
            "'rare' of column 'smoker' names a value that is frequent, too",
        ),
        (
            "rare",
            lambda v: (*v[:3], ("IV",), *v[4:]),
            "'rare' of column 'stage' must be empty: it is of kind ordinal",
        ),
        ("gaps", lambda v: (0, *v[1:]), "'gaps' of 'columns_' must be true or false"),
        ("gaps", lambda v: (True, *v[1:]), "must be a table of"),
        ("rules", lambda v: (((0, 60.0, None, ()),),), "must be a table of"),
        *(
            (
                "rules",
                lambda v, asked=asked: ((asked,),),
                "rule 1 of 'columns_' must hold conditions on features",
            )
            for asked in (
                (8, 1.0, None, ()),
                (0, None, None, ()),
                (0, "1", None, ()),
                (1, None, None, ()),
                (0, 1.0),
                3,
            )
        ),
        ("gap", lambda v: v, "'columns_' must hold names, kinds, values, rare, gaps"),
    ],
)
def test_columns_of_a_table_are_checked(table, name, change, says):
    model = MLTSKClassifier(n_rules=2).fit(*table[:2])
    check_model(model)
    model.columns_ = {**model.columns_, name: change(model.columns_.get(name))}
    with pytest.raises(ValueError, match=says):
        check_model(model)


def test_what_was_fitted_passes(fitted):
    check_model(fitted)
    check_model(
        MLTSKClassifier(n_rules=0, threshold=("recall", 0.9)).fit(DATA.X, DATA.Y)
    )
    check_model(MLTSKClassifier(n_rules=1, scale="standard").fit(DATA.X, DATA.Y))
    check_model(PaperMLTSK(n_rules=2, correlation_weight=0.01).fit(DATA.X, DATA.Y))


@pytest.mark.parametrize("name", ["br", "ml-knn", "mlsf", "hnoml", "bp-mll"])
def test_parts_of_the_compared_methods_are_checked(name):
    model = METHODS[name](**({"epochs": 2} if name == "bp-mll" else {})).fit(
        DATA.X, DATA.Y
    )
    check_model(model)
    arrays = [
        part
        for part, value in vars(model).items()
        if isinstance(value, np.ndarray) and value.dtype == float
    ]
    for part in arrays:
        for value in (getattr(model, part) * np.nan, getattr(model, part) * 1j):
            damaged = copy.copy(model)
            vars(damaged)[part] = value
            with pytest.raises(ValueError, match=f"'{part}' must hold finite numbers"):
                check_model(damaged)
    if hasattr(model, "coef_"):
        model.coef_ = model.coef_[..., :1]
        with pytest.raises(ValueError):
            check_model(model)


@pytest.mark.parametrize("damage", [lambda Y: Y[:-1], lambda Y: Y + 119])
def test_labels_of_neighbours_are_0_and_1_for_every_row(damage):
    model = METHODS["ml-knn"]().fit(DATA.X, DATA.Y)
    model.Y_ = damage(model.Y_)
    with pytest.raises(
        ValueError, match="'Y_' must hold 0 and 1 for every row of 'X_'"
    ):
        check_model(model)


def test_a_sparse_part_that_does_not_fit_together_is_refused_before_it_is_used():
    model = METHODS["ml-knn"]().fit(sparse.csr_array(DATA.X), DATA.Y)
    check_model(model)
    model.X_.indptr[-1] = 0  # which SciPy's own check lets pass
    with pytest.raises(ValueError, match="the parts of 'X_' do not fit each other"):
        check_model(model)
