"""What `save` and `to_dict` accept, `load` and `from_dict` return to the last bit."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mltsk import (
    IncrementalMLTSK,
    MLTSKClassifier,
    PaperMLTSK,
    from_dict,
    load,
    save,
    to_dict,
)
from mltsk.datasets import make_multilabel_rules

DATA = make_multilabel_rules(n_samples=60, n_features=4, n_labels=3, random_state=0)
SPARSE = make_multilabel_rules(
    n_samples=60, n_features=8, n_labels=3, sparse=True, random_state=0
)
# rules that match no row, goals out of reach, the paper's loss below 0
pytestmark = pytest.mark.filterwarnings("ignore")
ODD_NAMES = (
    "",
    " ",
    "a\0b",
    "\0",
    "line\nbreak",
    "\r\t",
    "🩺",
    "שלום\u202e",
    "n" * 1000,
    "1",
    "1e3",
    "nan",
    "None",
    "__loader__",
    "label 0",
    "x0",
    "a = b",
    "a not measured",
    "your rule 1",
    "scores",
    "{}",
    "\ufeff",
    "e\u0301",
    "é",
)
names = st.one_of(st.sampled_from(ODD_NAMES), st.text(max_size=8))
few = settings(
    phases=[Phase.explicit, Phase.generate],
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def different(n):
    return st.lists(names, min_size=n, max_size=n, unique=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


def assert_same_answers(model, other, X):
    for ask in ("decision_function", "predict_proba", "predict"):
        if not hasattr(model, ask):
            continue
        expected = getattr(model, ask)(X)
        answer = getattr(other, ask)(X)
        assert answer.dtype == expected.dtype
        assert_array_equal(answer, expected)
    if hasattr(model, "rules_"):
        assert str(other.rules_) == str(model.rules_)


def assert_comes_back(model, X, folder, *, has_plain_form=True):
    assert_same_answers(model, load(save(model, folder / "model.skops")), X)
    if has_plain_form:
        text = json.dumps(to_dict(model), allow_nan=False)
        assert_same_answers(model, from_dict(json.loads(text)), X)


@given(features=different(4), labels=different(3))
@example(features=list(ODD_NAMES[:4]), labels=list(ODD_NAMES[4:7]))
@example(features=list(ODD_NAMES[7:11]), labels=list(ODD_NAMES[11:14]))
@few
def test_load_and_from_dict_give_back_odd_names(features, labels, folder):
    X = pd.DataFrame(DATA.X, columns=pd.Index(features, dtype=object))
    Y = pd.DataFrame(DATA.Y, columns=pd.Index(labels, dtype=object))
    assert_comes_back(MLTSKClassifier(2).fit(X, Y), X, folder)


costs = st.floats(1e-10, 1e10)
chances = st.floats(0, 1)
thresholds = st.one_of(
    chances,
    st.integers(0, 1),
    st.just("f1"),
    st.tuples(st.just("cost"), costs, costs),
    st.tuples(st.sampled_from(["precision", "recall"]), st.floats(0.01, 1)),
    st.lists(chances, min_size=3, max_size=3),
    st.lists(chances, min_size=3, max_size=3).map(np.array),
    st.lists(chances, min_size=3, max_size=3).map(pd.Series),
)


@given(
    threshold=thresholds,
    scale=st.sampled_from(
        ["auto", "quantile", "triangles", "trapezoids", "standard", "minmax", "unit"]
    ),
    rules=st.sampled_from(
        [("auto", "product"), (0, "product"), (1, "product"), (0, "minimum")]
    ),
    max_statements=st.sampled_from([None, 1, 4]),
    exponent=st.sampled_from([-90, -3, 0, 3, 90]),
)
@settings(few, max_examples=25)
def test_load_and_from_dict_give_back_every_choice(
    threshold, scale, rules, max_statements, exponent, folder
):
    order, tnorm = rules
    X = DATA.X * 10.0**exponent
    model = MLTSKClassifier(
        2,
        order=order,
        tnorm=tnorm,
        scale=scale,
        threshold=threshold,
        max_statements=max_statements,
    )
    model.fit(X, DATA.Y)
    assert_comes_back(model, X, folder)


@pytest.mark.parametrize("scale", ["auto", None])
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("kind", [MLTSKClassifier, IncrementalMLTSK])
def test_load_and_from_dict_give_back_sparse_models(kind, order, scale, folder):
    model = kind(2, order=order, scale=scale).fit(SPARSE.X, SPARSE.Y)
    assert_comes_back(model, SPARSE.X, folder)


@given(
    words=st.lists(names, min_size=3, max_size=3, unique=True),
    levels=st.lists(names, min_size=3, max_size=3, unique=True),
    seed=st.integers(0, 99),
    end=st.floats(-1e308, 1e308),
    kind=st.sampled_from([MLTSKClassifier, IncrementalMLTSK]),
    scale=st.sampled_from(["auto", "triangles", "standard", None]),
)
@settings(few, max_examples=20)
def test_load_and_from_dict_give_back_tables(
    words, levels, seed, end, kind, scale, folder
):
    rng = np.random.default_rng(seed)
    n_rows = len(DATA.X)
    X = pd.DataFrame(DATA.X[:, :2], columns=["a", "b"])
    X.loc[rng.random(n_rows) < 0.3, "a"] = np.nan
    X["w"] = pd.Series(rng.choice([*words, None], n_rows), dtype=object)
    places = rng.integers(-1, 3, n_rows)
    X["o"] = pd.Categorical.from_codes(
        places, pd.Index(levels, dtype=object), ordered=True
    )
    rules = None
    if scale in ("auto", "triangles"):
        rules = [{"a": (None, end)}, {"b": end, "o": (levels[0], levels[1])}]
        usual = [word for word in words if (X["w"] == word).sum() >= 5]
        if len(usual) == 3 and "not measured" not in words:
            rules.append({"w": [usual[0], usual[0]]})
    model = kind(2, scale=scale).fit(X, DATA.Y, rules=rules)
    assert_comes_back(model, X, folder)


@given(cut=st.integers(20, 59), forgetting=st.floats(0, 0.99), coupling=st.booleans())
@few
def test_load_gives_back_streams_that_go_on(cut, forgetting, coupling, folder):
    model = IncrementalMLTSK(
        2, forgetting=forgetting, coupling="laplacian" if coupling else None
    )
    model.partial_fit(DATA.X[:20], DATA.Y[:20])
    if cut > 20:
        model.partial_fit(DATA.X[20:cut], DATA.Y[20:cut])
    assert_comes_back(model, DATA.X, folder)
    loaded = load(save(model, folder / "model.skops"))
    for each in (model, loaded):
        each.partial_fit(DATA.X[cut:], DATA.Y[cut:])
    assert_same_answers(model, loaded, DATA.X)


CLASSES = np.arange(60) % 3


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "dtype",
    [
        *("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"),
        *(">i4", ">f8", "U", "object", "category", "string", "Int64"),
    ],
)
def test_load_and_from_dict_give_back_classes_of_every_type(dtype, n_classes, folder):
    classes = CLASSES % n_classes
    if dtype in ("U", "object", "category", "string"):
        classes = np.array(["", "a\0b", "é"])[classes]
    is_pandas = dtype in ("category", "string", "Int64")
    y = pd.Series(classes).astype(dtype) if is_pandas else classes.astype(dtype)
    assert_comes_back(MLTSKClassifier(2).fit(DATA.X, y), DATA.X, folder)


def test_load_gives_back_boolean_and_large_classes(folder):
    for y in (CLASSES > 0, CLASSES.astype(np.uint64) + 2**63):
        assert_comes_back(MLTSKClassifier(2).fit(DATA.X, y), DATA.X, folder)


@given(labels=different(3))
@settings(few, max_examples=4)
def test_load_gives_back_pipelines_and_the_papers_system(labels, folder):
    Y = pd.DataFrame(DATA.Y, columns=pd.Index(labels, dtype=object))
    pipeline = make_pipeline(StandardScaler(), MLTSKClassifier(2)).fit(DATA.X, Y)
    assert_comes_back(pipeline, DATA.X, folder, has_plain_form=False)
    assert_comes_back(PaperMLTSK().fit(DATA.X, Y), DATA.X, folder)
