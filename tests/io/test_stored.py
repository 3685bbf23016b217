"""What a model file holds, read without scikit-learn."""

import json

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mltsk import IncrementalMLTSK, MLTSKClassifier, load, save, to_dict
from mltsk.datasets import make_multilabel_rules
from mltsk.edits import edit_log, fingerprint
from mltsk.exceptions import InputError
from mltsk.io import ModelInfo, edited
from mltsk.io.stored import stored_model
from mltsk.paper.methods import MLkNN

DATA = make_multilabel_rules(n_samples=60, random_state=0)


def short(X, Y):
    return MLTSKClassifier(max_statements=4).fit(X, Y)


def streamed(X, Y):
    numbers = X.select_dtypes("number").fillna(0).to_numpy()
    return IncrementalMLTSK(n_rules=2).partial_fit(numbers, Y.to_numpy())


@pytest.mark.parametrize("fitted", [short, streamed])
def test_stored_model_has_the_rules_and_plain_data_of_the_loaded_one(
    fitted, table, tmp_path
):
    X, Y, _ = table
    path = save(fitted(X, Y), tmp_path / "model.skops")
    stored = stored_model(path)
    loaded = load(path)
    assert str(stored.rules_) == str(loaded.rules_)
    np.testing.assert_array_equal(stored.n_statements_, loaded.n_statements_)
    assert json.dumps(stored.to_dict()) == json.dumps(to_dict(loaded))


def test_stored_model_has_the_names_of_categories_and_the_log_of_edits(tmp_path):
    clf = MLTSKClassifier(n_rules=0).fit(DATA.X, DATA.Y)
    edit = {
        "feature": clf.system_.feature_names[0],
        "labels": [clf.label_names_[0]],
        "action": "off",
        "author": "A. Person",
        "reason": "not at hand",
        "time": "2026-01-31T12:00:00Z",
    }
    file = {"format": "mltsk-edits", "version": 1, "edits": [edit]}
    changed = edited(clf, {**file, "model": fingerprint(clf.system_)})
    info = ModelInfo(categories={"x1": ("low", "high")})
    path = save(changed, tmp_path / "model.skops", info=info)
    stored = stored_model(path)
    loaded = load(path)
    assert [entry.reason for entry in edit_log(stored)] == ["not at hand"]
    assert stored.system_.categories == loaded.system_.categories != {}


def test_stored_model_is_none_of_what_skops_must_read(tmp_path):
    pipe = make_pipeline(StandardScaler(), MLTSKClassifier(n_rules=0))
    for model in (pipe, MLkNN()):
        path = save(model.fit(DATA.X, DATA.Y), tmp_path / "model.skops")
        assert stored_model(path) is None


def test_stored_model_refuses_what_load_refuses(tmp_path):
    clf = MLTSKClassifier(n_rules=0).fit(DATA.X, DATA.Y)
    path = save(clf, tmp_path / "model.skops")
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(InputError) as by_load:
        load(path)
    with pytest.raises(InputError) as by_stored:
        stored_model(path)
    assert str(by_stored.value) == str(by_load.value)
