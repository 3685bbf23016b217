"""Shorter models in the explorer: what differs, how good they are, and when there are none."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import IncrementalMLTSK, MLTSKClassifier, PaperMLTSK, evaluate, load, save
from mltsk.datasets import make_multilabel_rules
from mltsk.pages.explorer import explorer_data
from mltsk.pages.explorer_model import system_data
from mltsk.pages.explorer_sizes import sizes_data

DATA = make_multilabel_rules(n_samples=120, random_state=0)


@pytest.fixture(scope="module")
def model():
    return MLTSKClassifier(n_rules=4).fit(DATA.X, DATA.Y)


def test_a_size_holds_what_differs_and_its_honest_ap(model):
    whole, sizes = system_data(model), sizes_data(model)
    assert [size["size"] for size in sizes] == [3, 5, 8, 12, 20, 30, model.n_terms_.max()]
    for size in sizes[:-1]:
        short = model.shorten(size["size"])
        assert {**whole, **size} == {**system_data(short), "size": size["size"], "AP": size["AP"]}
        assert_allclose(size["AP"], evaluate(DATA.Y, short.loo_scores_, per_label=True)["AP"].mean())
        assert not {"quantiles", "share"} & {*size}
    assert_allclose(sizes[-1]["AP"], evaluate(DATA.Y, model.loo_scores_, per_label=True)["AP"].mean())


def test_labels_that_were_not_observed_do_not_count():
    Y = DATA.Y.astype(float)
    Y[::3, 0] = np.nan
    clf = MLTSKClassifier(n_rules=0).fit(DATA.X, Y)
    assert_allclose(sizes_data(clf)[-1]["AP"], evaluate(Y, clf.loo_scores_, per_label=True)["AP"].mean())


def test_a_model_from_a_file_needs_the_rows_that_it_was_fitted_on(model, tmp_path):
    loaded = load(save(model, tmp_path / "m.skops"))
    assert sizes_data(loaded) == []
    assert sizes_data(loaded, DATA.X) == []
    assert sizes_data(loaded, DATA.X[::-1], DATA.Y) == []  # other rows
    assert sizes_data(loaded, DATA.X[:50], DATA.Y[:50]) == []
    again = sizes_data(loaded, DATA.X, DATA.Y)
    assert [size["AP"] for size in again] == pytest.approx([size["AP"] for size in sizes_data(model)])


def test_a_model_from_a_file_keeps_its_names(tmp_path):
    X, Y = DATA.frames()
    clf = MLTSKClassifier(n_rules=0).fit(X.add_prefix("dose of "), Y)
    (short, *_) = sizes_data(load(save(clf, tmp_path / "m.skops")), DATA.X, DATA.Y)
    assert short["general"] == sizes_data(clf)[0]["general"]
    assert "dose of" in short["general"][0]["words"][0][1]


@pytest.mark.filterwarnings("ignore::mltsk.exceptions.RuleCollapseWarning")
def test_models_that_have_one_size_only(model):
    for clf in (model.shorten(5), PaperMLTSK(n_rules=2, correlation_weight=0.01).fit(DATA.X, DATA.Y)):
        assert explorer_data(clf, DATA.X, DATA.Y)["sizes"] == []


def test_a_stream_can_be_shortened():
    clf = IncrementalMLTSK(n_rules=2).partial_fit(DATA.X[:60], DATA.Y[:60]).partial_fit(DATA.X[60:], DATA.Y[60:])
    assert [size["size"] for size in sizes_data(clf)][:3] == [3, 5, 8]


def test_sizes_that_do_not_fit_are_left_out_the_longest_first(model):
    every = sizes_data(model)
    lengths = [len(json.dumps(size, ensure_ascii=False, separators=(",", ":"))) for size in every]
    assert sizes_data(model, room=sum(lengths[:3])) == [*every[:3], every[-1]]
    assert sizes_data(model, room=lengths[0] / 2) == sizes_data(model, room=0) == []
