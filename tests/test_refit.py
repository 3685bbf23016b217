"""A refit is a first fit, and a fit that fails leaves the model whole."""

import pickle
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from mltsk import IncrementalMLTSK, MLTSKClassifier, classifier, incremental
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.paper import METHODS
from mltsk.refit import take_over, unfitted_copy
from mltsk.short.selection import Products

DATA = make_multilabel_rules(n_samples=80, n_features=4, n_labels=3, random_state=0)
X = DATA.X
Y = DATA.Y
FRAME, LABELS = DATA.frames()
WORDS = FRAME.assign(colour=np.where(X[:, 0] > np.median(X), "red", "blue"))
GAPS = np.where(X > np.quantile(X, 0.9), np.nan, X)
UNOBSERVED = np.where(np.arange(Y.size).reshape(Y.shape) % 5 == 0, np.nan, Y)
CLASSES = np.where(Y[:, 0] > 0, "yes", "no")
RULES = [{"x0": (0.5, None)}]
WEIGHTS = np.linspace(0.5, 2, len(X))


def same(a, b):
    """Whether two fitted values are equal, whatever they are made of."""
    if type(a) is not type(b):
        return False
    if isinstance(a, BaseEstimator):
        return same(vars(a), vars(b))
    if is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(
            a, b, equal_nan=a.dtype.kind == "f"
        )
    if sparse.issparse(a):
        return same(a.toarray(), b.toarray())
    if isinstance(a, Products):  # a plain object is equal to itself alone
        return same(vars(a), vars(b))
    return a == b or (a != a and b != b)


def snapshot(model):
    """Everything a model has, and copies of its arrays."""
    record = vars(model).get("fit_record_")
    return dict(vars(model)), pickle.dumps(model), record


def assert_whole(model, before):
    """Check that a model has the same objects as before, with the same values."""
    attributes, values, record = before
    assert vars(model).keys() == attributes.keys()
    assert all(vars(model)[name] is attributes[name] for name in attributes)
    assert pickle.dumps(model) == values
    assert vars(model).get("fit_record_") is record


FITS = {
    "short": ({"max_statements": 3}, {"X": X, "y": Y}),
    "array": ({}, {"X": X, "y": Y}),
    "frame": ({}, {"X": FRAME, "y": LABELS}),
    "words": ({}, {"X": WORDS, "y": LABELS}),
    "gaps": ({}, {"X": GAPS, "y": Y}),
    "fewer features": ({}, {"X": X[:, :2], "y": Y}),
    "unobserved": ({}, {"X": X, "y": UNOBSERVED}),
    "weights": ({}, {"X": X, "y": Y, "sample_weight": WEIGHTS}),
    "classes": ({}, {"X": X, "y": CLASSES}),
    "lists": ({}, {"X": X, "y": [["a"] if row[0] else ["b"] for row in Y]}),
    "rules": ({}, {"X": X, "y": Y, "rules": RULES}),
    "sparse": ({}, {"X": sparse.csr_array(np.maximum(X, 0)), "y": Y}),
    "coupled": ({"coupling": "signed"}, {"X": X, "y": Y}),
    "tuned": ({"threshold": "f1"}, {"X": X, "y": Y}),
}


def fitted(model, name):
    """A model with the parameters of a fit, fitted."""
    defaults = MLTSKClassifier(n_rules=2, ridge=1.0).get_params()
    parameters, data = FITS[name]
    return model.set_params(**{**defaults, **parameters}).fit(**data)


@pytest.mark.parametrize("second", FITS)
def test_fit_after_any_other_fit_is_a_first_fit(second):
    first_fit = fitted(MLTSKClassifier(), second)
    model = MLTSKClassifier()
    for first in FITS:
        fitted(model, first)
        fitted(model, second)
        assert vars(model).keys() == vars(first_fit).keys(), first
        for name, value in vars(first_fit).items():
            assert same(vars(model)[name], value), (first, name)


@pytest.mark.parametrize("between", ["fit", "partial_fit"])
def test_partial_fit_after_fit_begins_a_first_stream(between):
    alone = IncrementalMLTSK(2, ridge=1.0).partial_fit(X, Y)
    model = IncrementalMLTSK(2, ridge=1.0).partial_fit(WORDS, LABELS)
    if between == "partial_fit":
        model.partial_fit(WORDS, LABELS)
    model.fit(FRAME, CLASSES)
    assert same(vars(model), vars(IncrementalMLTSK(2, ridge=1.0).fit(FRAME, CLASSES)))
    model.partial_fit(X, Y)
    assert same(vars(model), vars(alone))


BAD_FITS = {
    "y of another length": {"X": X, "y": Y[:5]},
    "y of other values": {"X": X, "y": Y * 7},
    "infinite X": {"X": np.where(X > np.median(X), np.inf, X), "y": Y},
    "X of one row": {"X": X[:1], "y": Y[:1]},
    "words in an array": {"X": np.array([["a", "b"]] * 80), "y": Y},
    "negative weights": {"X": X, "y": Y, "sample_weight": -WEIGHTS},
    "weights of NaN": {"X": X, "y": Y, "sample_weight": WEIGHTS * np.nan},
    "a rule of no feature": {"X": X, "y": Y, "rules": [{"nothing": 1}]},
}


@pytest.mark.parametrize("call", BAD_FITS)
@pytest.mark.parametrize("first", ["frame", "words", "gaps", "short"])
def test_fit_that_is_refused_leaves_the_model_whole(first, call):
    model = fitted(MLTSKClassifier(), first)
    before = snapshot(model)
    with pytest.raises(ValueError, match=r"."):
        model.fit(**BAD_FITS[call])
    assert_whole(model, before)


def test_fit_with_a_threshold_that_is_refused_late_leaves_the_model_whole():
    model = (
        MLTSKClassifier(n_rules=2).fit(FRAME, LABELS).set_params(threshold=[0.5] * 9)
    )
    before = snapshot(model)
    with pytest.raises(ValueError, match="threshold"):
        model.fit(X, Y)
    assert_whole(model, before)


def interrupt(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize("step", ["read_rows", "fit_system"])
def test_fit_that_is_interrupted_leaves_the_model_whole(monkeypatch, step):
    model = MLTSKClassifier(n_rules=2).fit(WORDS, LABELS)
    before = snapshot(model)
    monkeypatch.setattr(classifier, step, interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert_whole(model, before)


@pytest.mark.parametrize("step", ["of", "with_thresholds", "shortened"])
def test_fit_that_is_interrupted_in_its_record_leaves_the_model_whole(
    monkeypatch, step
):
    model = MLTSKClassifier(n_rules=2, max_statements=3).fit(WORDS, LABELS)
    before = snapshot(model)
    monkeypatch.setattr(classifier.FitRecord, step, interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert_whole(model, before)


BAD_BATCHES = {
    "y of another length": ({"X": FRAME, "y": LABELS[:5]}, "rows but y has"),
    "an unknown label": ({"X": FRAME, "y": [["flu"]] * 80}, "the label 'flu'"),
    "other columns": ({"X": FRAME.add_prefix("a"), "y": LABELS}, "feature names"),
    "unobserved": ({"X": FRAME, "y": LABELS.where(Y > 0)}, "was not observed"),
    "infinite X": (
        {"X": FRAME.mask(X > np.median(X), np.inf), "y": LABELS},
        "infinity",
    ),
    "words": ({"X": FRAME.astype(str) + "a", "y": LABELS}, "it held numbers"),
    "weights": (
        {"X": FRAME, "y": LABELS, "sample_weight": -WEIGHTS},
        "sample_weight holds -0.5 in row 0",
    ),
    "large weights": (
        {"X": FRAME, "y": LABELS, "sample_weight": WEIGHTS * 1e300},
        "times the mean of the first batch",
    ),
}


@pytest.mark.parametrize("batch", BAD_BATCHES)
def test_partial_fit_that_is_refused_leaves_the_stream_whole(batch):
    model = IncrementalMLTSK(n_rules=2).partial_fit(FRAME, LABELS)
    before = snapshot(model)
    data, sentence = BAD_BATCHES[batch]
    with pytest.raises(ValueError, match=sentence):
        model.partial_fit(**data)
    assert_whole(model, before)
    alone = IncrementalMLTSK(n_rules=2).partial_fit(FRAME, LABELS)
    assert same(
        vars(model.partial_fit(FRAME, LABELS)), vars(alone.partial_fit(FRAME, LABELS))
    )


@pytest.mark.parametrize("step", ["of_training", "with_thresholds"])
def test_partial_fit_that_is_interrupted_leaves_the_stream_whole(monkeypatch, step):
    model = IncrementalMLTSK(n_rules=2).partial_fit(X, Y)
    before = snapshot(model)
    monkeypatch.setattr(incremental.FitRecord, step, interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, Y)
    assert_whole(model, before)


@pytest.mark.parametrize("how", ["fit", "partial_fit"])
def test_a_first_fit_that_fails_leaves_nothing(how):
    model = IncrementalMLTSK(threshold=[0.5] * 9)
    with pytest.raises(ValueError, match="threshold"):
        getattr(model, how)(X, Y)
    assert vars(model) == vars(clone(model))


def quick(method):
    """A method that is fitted soon."""
    model = METHODS[method]()
    few = {"epochs": 2, "max_iter": 20, "batch_size": 16, "n_components": 2}
    return model.set_params(**{k: v for k, v in few.items() if k in model.get_params()})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", METHODS)
def test_fit_of_every_method_is_a_first_fit_or_leaves_the_model_whole(
    monkeypatch, method
):
    model = quick(method).fit(FRAME, LABELS)
    before = snapshot(model)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, Y[:5])
    with pytest.raises(ValueError, match="NaN"):
        model.fit(GAPS, Y)
    with pytest.raises(ValueError, match="sample_weight"):
        model.fit(X, Y, sample_weight=-WEIGHTS)
    monkeypatch.setattr(METHODS[method], "_fit", interrupt_half_way)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert_whole(model, before)
    monkeypatch.undo()
    if "n_components" in model.get_params():
        model.set_params(n_components=None)
    model.fit(X, Y[:, 0])
    assert same(vars(model), vars(clone(model).fit(X, Y[:, 0])))


def interrupt_half_way(self, *_):
    self.n_iter_ = None
    raise KeyboardInterrupt


def test_unfitted_copy_keeps_parameters_and_take_over_takes_all():
    model = MLTSKClassifier(n_rules=2, threshold=[0.5, 0.5, 0.4]).fit(X, Y)
    unfitted = unfitted_copy(model)
    assert vars(unfitted).keys() == model.get_params().keys()
    assert unfitted.threshold is model.threshold
    assert take_over(unfitted, model) is unfitted
    assert_array_equal(unfitted.predict_proba(X), model.predict_proba(X))


def test_shorten_of_an_unpickled_model_uses_the_weights_it_is_given():
    model = MLTSKClassifier(n_rules=2, ridge=1.0).fit(X, Y, sample_weight=WEIGHTS**3)
    unpickled = pickle.loads(pickle.dumps(model))
    with pytest.raises(InputError, match="pass its training data"):
        unpickled.shorten(3)
    weighted = unpickled.shorten(3, X=X, y=Y, sample_weight=WEIGHTS**3)
    assert_array_equal(weighted.predict_proba(X), model.shorten(3).predict_proba(X))
    plain = unpickled.shorten(3, X=X, y=Y)
    assert np.abs(plain.predict_proba(X) - weighted.predict_proba(X)).max() > 1e-3


def test_same_finds_what_differs():
    model = MLTSKClassifier(n_rules=2).fit(X, Y)
    assert same(vars(model), vars(MLTSKClassifier(n_rules=2).fit(X, Y)))
    assert not same(vars(model), vars(MLTSKClassifier(n_rules=2).fit(X[:-1], Y[:-1])))
    assert not same(0, None)
