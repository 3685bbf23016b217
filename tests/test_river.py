"""RiverMLTSK: river's own checks, and the same numbers as `IncrementalMLTSK`."""

import functools
import importlib
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

pytest.importorskip(
    "river", reason="river is not installed: its conventions cannot be tested"
)

from river import checks, datasets, evaluate, metrics

from mltsk import IncrementalMLTSK
from mltsk.exceptions import InputError
from mltsk.river import RiverMLTSK

CLF = IncrementalMLTSK(n_rules=0, ridge=1.0)


@pytest.fixture(scope="module")
def yeast():
    """The first samples of river's yeast, ten of its features."""
    return [
        ({name: x[name] for name in list(x)[:10]}, y)
        for x, y in datasets.Yeast().take(160)
    ]


MODEL = RiverMLTSK(CLF, grace_period=20, batch_size=15, memory=60)


@pytest.mark.parametrize(
    "check", list(checks.yield_checks(MODEL)), ids=lambda check: check.__name__
)
def test_river_mltsk_passes_rivers_checks(check, yeast):
    # the data set that river takes for multi-label classifiers would have to be
    # downloaded
    if hasattr(check, "func"):
        check = functools.partial(check.func, dataset=yeast[:80])
    check(MODEL.clone())


def test_river_mltsk_predicts_as_incremental_mltsk_on_the_same_rows(yeast):
    model = RiverMLTSK(CLF, grace_period=100, batch_size=20)
    clf = clone(CLF)
    X = pd.DataFrame([x for x, _ in yeast]).sort_index(axis=1)
    Y = pd.DataFrame([y for _, y in yeast]).astype(int).sort_index(axis=1)
    for start, stop in ((0, 100), (100, 120), (120, 140), (140, 160)):
        taught(model, yeast[start:stop])
        clf.partial_fit(X[start:stop], Y[start:stop])
        last = slice(stop - 20, stop)
        chances = []
        predictions = []
        for x, _ in yeast[last]:
            by_label = model.predict_proba_one(x)
            chances.append([by_label[label][True] for label in Y.columns])
            predicted = model.predict_one(x)
            predictions.append([predicted[label] for label in Y.columns])
        assert_allclose(chances, clf.predict_proba(X[last]), atol=1e-12)
        assert_array_equal(predictions, clf.predict(X[last]))
    metric = metrics.multioutput.MicroAverage(metrics.F1())
    evaluate.progressive_val_score(yeast, model.clone(), metric)
    assert 0 < metric.get() < 1


def stream(n, seed=0):
    """Samples with a number, a word and a yes or no, which say what the labels are."""
    rng = np.random.default_rng(seed)
    for age, word, flag in zip(
        rng.normal(size=n),
        rng.choice(["red", "blue"], n),
        rng.random(n) < 0.5,
        strict=True,
    ):
        yield (
            {"age": age, "colour": str(word), "flag": bool(flag)},
            {"old": age > 0, "red": word == "red"},
        )


def taught(model, samples):
    for x, y in samples:
        model.learn_one(x, y)
    return model


def test_river_mltsk_learns_words_and_copes_with_gaps():
    model = taught(RiverMLTSK(grace_period=100, batch_size=50), stream(200))
    assert model.predict_one({"age": 1.5, "colour": "blue", "flag": True}) == {
        "old": True,
        "red": False,
    }
    assert model.predict_one({"colour": "red"})["red"] is True
    assert (
        model.predict_one({"age": -1.5, "colour": "never seen", "new": 3})["old"]
        is False
    )
    assert set(model.predict_one({})) == {"old", "red"}
    assert "colour" in str(model.model_.rules_)


def test_learn_one_takes_features_and_labels_that_appear_late():
    model = taught(RiverMLTSK(grace_period=100, batch_size=50, memory=120), stream(200))
    later = [
        (x | {"dose": i % 2}, y | {"dosed": i % 2 == 1})
        for i, (x, y) in enumerate(stream(150, 1))
    ]
    model.learn_one(*later[0])
    # Known by name, and seen in no row so far.
    assert model.predict_one(later[1][0])["dosed"] is False
    taught(model, later[1:])
    assert [model.predict_one(x)["dosed"] for x, _ in later[:2]] == [False, True]
    assert model.predict_one({"age": 1.5, "colour": "blue"})["old"] is True
    # Started again on the last 120 samples, with the 50th of the new ones.
    assert model.model_.n_seen_ == 120 + 100


def test_predict_one_predicts_by_shares_until_there_is_a_model():
    model = RiverMLTSK()
    assert model.predict_one({"age": 1.0}) == {}
    taught(
        model,
        [
            ({"age": 1.0}, {"a": True, "b": False}),
            ({"age": 2.0}, {"a": True}),
            ({}, {"a": False}),
        ],
    )
    assert model.predict_one({"age": 1.0}) == {"a": True, "b": False}
    assert model.predict_proba_one({})["a"][True] == pytest.approx(2 / 3)


def test_learn_one_refuses_and_forgets_rows_that_cannot_be_read():
    model = taught(RiverMLTSK(grace_period=100, batch_size=1), stream(100))
    before = model.predict_proba_one({"age": 1.0})
    with pytest.raises(InputError, match="'age' holds 'old'; it held numbers"):
        model.learn_one({"age": "old"}, {"old": True})
    with pytest.raises(InputError, match="column 'old' of y holds 7"):
        model.learn_one({"age": 1.0}, {"old": 7})
    assert model.predict_proba_one({"age": 1.0}) == before
    taught(model, stream(3))
    assert model.model_.n_seen_ == 103


def test_learn_one_takes_an_absent_label_for_false_and_refuses_none():
    model = taught(RiverMLTSK(CLF, grace_period=100, batch_size=50), stream(100))
    same = taught(RiverMLTSK(CLF, grace_period=100, batch_size=50), stream(100))
    for x, y in stream(50, 1):
        model.learn_one(x, {label: True for label in y if y[label]})
        same.learn_one(x, y)
    x = {"age": 1.0}
    assert model.predict_proba_one(x) == same.predict_proba_one(x)
    with pytest.raises(InputError, match="'old' was not observed"):
        taught(model, [({"age": 1.0}, {"old": None, "red": True})] * 50)


def test_learn_one_forgets_refused_samples_in_its_shares_too():
    model = taught(RiverMLTSK(CLF, grace_period=4), [])
    with pytest.raises(InputError, match="column 'a' of y holds 7"):
        taught(model, [({"x": float(i)}, {"a": 7}) for i in range(4)])
    assert model.predict_proba_one({}) == {}
    taught(model, [({"x": 1.0}, {"b": True})] * 2)
    assert model.predict_proba_one({}) == {"b": {False: 0.0, True: 1.0}}


@pytest.mark.parametrize("where", ["features", "labels"])
def test_learn_one_refuses_two_names_of_one_text(where):
    twins = {1: True, "1": False}
    sample = (twins, {"a": True}) if where == "features" else ({"x": 1.0}, twins)
    model = RiverMLTSK(CLF, grace_period=2)
    with pytest.raises(InputError, match="Two names read '1'"):
        taught(model, [sample] * 2)


def test_learn_one_that_is_interrupted_learns_its_batch_later(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    model = taught(RiverMLTSK(CLF, grace_period=100, batch_size=2), stream(101))
    with monkeypatch.context() as patch:
        patch.setattr(IncrementalMLTSK, "partial_fit", interrupt)
        with pytest.raises(KeyboardInterrupt):
            taught(model, stream(1, 1))
    taught(model, stream(1, 2))
    assert model.model_.n_seen_ == 103


def test_river_mltsk_without_river_tells_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "river.base", None)
    monkeypatch.delitem(sys.modules, "mltsk.river")
    with pytest.raises(ImportError, match=r'^pip install "mltsk\[data\]"$'):
        importlib.import_module("mltsk.river")
