"""Sums in a file come back as they were, and damaged ones are refused."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mltsk import MLTSKClassifier, load, save
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.io.rebuild import check_attributes
from mltsk.io.state import plain_attributes

DATA = make_multilabel_rules(n_samples=80, random_state=0)


@pytest.fixture(scope="module")
def clf():
    return MLTSKClassifier(n_rules=5, order=0).fit(DATA.X, DATA.Y)


@pytest.fixture(scope="module")
def attributes(clf, tmp_path_factory):
    path = tmp_path_factory.mktemp("sums") / "model.skops"
    save(clf, path, keep_sums=True)
    return plain_attributes(load(path))


def test_load_gives_back_the_sums_that_save_kept(clf, tmp_path):
    loaded = load(save(clf, tmp_path / "model.skops", keep_sums=True))
    own = loaded.sums_.parts[0].moments
    kept = clf.sums_.parts[0].moments
    for name in ("H", "B", "phi", "y", "total"):
        assert_array_equal(getattr(own, name), getattr(kept, name))
    assert_array_equal(loaded.sums_.curves.slopes, clf.sums_.curves.slopes)
    assert loaded.sums_.ridge == clf.ridge_


def test_save_keeps_no_sums_unless_asked(clf, tmp_path):
    loaded = load(save(clf, tmp_path / "model.skops"))
    with pytest.raises(InputError, match="keep_sums=True"):
        _ = loaded.sums_


def test_save_refuses_the_sums_of_a_short_model(clf, tmp_path):
    with pytest.raises(InputError, match="A short model keeps no sums"):
        save(clf.shorten(4), tmp_path / "model.skops", keep_sums=True)
    assert not (tmp_path / "model.skops").exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda sums: sums.pop("ridge"), "must hold format, ridge"),
        (lambda sums: sums.update(format=2), "format 1"),
        (lambda sums: sums.update(ridge=-1.0), "above 0"),
        (lambda sums: sums.update(slopes=-sums["slopes"]), "below 0"),
        (lambda sums: sums.update(parts=[]), "every label once"),
        (lambda sums: sums["parts"][0].update(total=0.0), "'total'"),
        (lambda sums: sums["parts"][0].update(H=np.zeros(3)), "'H'"),
        (lambda sums: sums["parts"][0].update(H=-sums["parts"][0]["H"]), "diagonal"),
        (lambda sums: sums["parts"][0].update(y=sums["parts"][0]["y"] * 9), "'y'"),
    ],
)
def test_check_kept_sums_refuses_each_damaged_field(attributes, change, says):
    damaged = copy.deepcopy(attributes)
    change(damaged["kept_sums_"])
    with pytest.raises(ValueError, match=says):
        check_attributes(MLTSKClassifier, damaged)
