"""What no file could hold is refused at the fit, or before a file exists."""

import numpy as np
import pandas as pd
import pytest

from mltsk import IncrementalMLTSK, MLTSKClassifier, PaperMLTSK, load, save, to_dict
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.io import ModelInfo
from mltsk.io.state import plain_attributes, restored

DATA = make_multilabel_rules(n_samples=60, random_state=0)
HALF = "a\ud800"  # half of a pair of UTF-16, which no file holds


def labels(*names):
    return pd.DataFrame(DATA.Y[:, : len(names)], columns=pd.Index(names, dtype=object))


def features(*names):
    return pd.DataFrame(DATA.X[:, : len(names)], columns=pd.Index(names, dtype=object))


@pytest.mark.parametrize("kind", [MLTSKClassifier, IncrementalMLTSK, PaperMLTSK])
@pytest.mark.parametrize("names", [("a", "b", "a"), ("a", 1, "1")])
def test_fit_refuses_two_labels_of_one_name(kind, names):
    name = "a" if names[2] == "a" else "1"
    says = f"Two labels are called '{name}': rename one of them"
    with pytest.raises(InputError, match=says):
        kind().fit(DATA.X, labels(*names))


@pytest.mark.parametrize("kind", [MLTSKClassifier, IncrementalMLTSK, PaperMLTSK])
def test_fit_refuses_two_features_of_one_name(kind):
    with pytest.raises(InputError, match="Two columns of X are called 'a': rename one"):
        kind().fit(features("a", "b", "a"), DATA.Y)


def test_fit_refuses_lists_of_labels_that_are_the_same_as_text():
    y = [[1, "1"] if i % 3 else [1] for i in range(60)]
    with pytest.raises(InputError, match="Two labels are called '1'"):
        MLTSKClassifier().fit(DATA.X, y)


@pytest.mark.parametrize("name", ["a", "b"])
def test_fit_refuses_classes_that_end_in_a_nul(name):
    y = np.array(["a\0", name, "c"] * 20, dtype=object)
    with pytest.raises(InputError, match=r"A class is called 'a\\x00'"):
        MLTSKClassifier().fit(DATA.X, y)


def test_fit_refuses_levels_that_are_the_same_as_text():
    X = features("a")
    levels = pd.Index([1, "1"], dtype=object)
    X["o"] = pd.Categorical.from_codes(np.arange(60) % 2, levels, ordered=True)
    with pytest.raises(InputError, match="Two levels are called '1' in column 'o'"):
        MLTSKClassifier().fit(X, DATA.Y)


def test_fit_refuses_half_characters_in_names_and_words():
    words = features("a").assign(w=pd.Series([HALF, "v", "w"] * 20, dtype=object))
    classes = np.array([HALF, "b"] * 30)
    for X, y, what in (
        (DATA.X, labels(HALF, "b"), "A label"),
        (DATA.X, classes, "A class"),
        (features(HALF, "b"), DATA.Y, "A column of X"),
        (words, DATA.Y, "A value of column 'w'"),
    ):
        with pytest.raises(InputError, match=rf"{what} is called 'a\\ud800', which is"):
            MLTSKClassifier().fit(X, y)


@pytest.mark.parametrize("threshold", [1e200, -1e200, [0.5, 0.5, 0.5, 0.5, 1e101]])
def test_fit_refuses_a_threshold_that_no_probability_comes_near(threshold):
    with pytest.raises(InputError, match="is no probability: choose one between 0 and"):
        MLTSKClassifier(threshold=threshold).fit(DATA.X, DATA.Y)


def test_fit_refuses_costs_that_cannot_be_compared():
    with pytest.raises(InputError, match="nothing next to the other"):
        MLTSKClassifier(threshold=("cost", 1e-300, 1e300)).fit(DATA.X, DATA.Y)


@pytest.mark.parametrize("unit", [1e200, 1e-200])
@pytest.mark.parametrize("scale", ["standard", "minmax", "quantile"])
def test_load_gives_back_models_of_numbers_of_any_size(scale, unit, tmp_path):
    X = DATA.X * unit
    model = MLTSKClassifier(2, scale=scale).fit(X, DATA.Y)
    loaded = load(save(model, tmp_path / "m.skops"))
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))


def test_fit_refuses_an_end_of_a_rule_beyond_all_numbers():
    with pytest.raises(InputError, match="write None for no end"):
        MLTSKClassifier().fit(DATA.X, DATA.Y, rules=[{"x0": (0, 10**400)}])


def test_load_gives_back_a_rule_that_names_a_word_twice(tmp_path):
    X = features("a").assign(w=["u", "v", "w"] * 20)
    model = MLTSKClassifier(2).fit(X, DATA.Y, rules=[{"w": ["u", "u"]}])
    loaded = load(save(model, tmp_path / "m.skops"))
    assert loaded.columns_ == model.columns_


def test_load_gives_back_a_model_without_a_scale_of_rows_with_gaps(tmp_path):
    gaps = np.random.default_rng(0).random(DATA.X.shape) < 0.2
    X = np.where(gaps, np.nan, DATA.X)
    model = MLTSKClassifier(3, scale=None).fit(X, DATA.Y)
    assert np.isfinite(model.prototypes_).all()
    loaded = load(save(model, tmp_path / "m.skops"))
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.fixture
def unusable():
    attributes = plain_attributes(MLTSKClassifier(2).fit(DATA.X, DATA.Y))
    attributes["thresholds_"] = np.full(5, 1e200)
    return restored(MLTSKClassifier, attributes)


def test_save_writes_nothing_that_load_would_refuse(unusable, tmp_path):
    path = tmp_path / "m.skops"
    path.write_bytes(b"as it was")
    says = "cannot be saved, because 'thresholds_' must be .*: fit it with X in other"
    with pytest.raises(InputError, match=says):
        save(unusable, path)
    assert path.read_bytes() == b"as it was"


def test_to_dict_refuses_what_from_dict_would_refuse(unusable):
    with pytest.raises(InputError, match="has no plain form, because 'thresholds_' mu"):
        to_dict(unusable)


def test_to_onnx_refuses_what_load_would_refuse(unusable):
    pytest.importorskip("onnx")
    from mltsk import to_onnx

    with pytest.raises(InputError, match="written as ONNX, because 'thresholds_' must"):
        to_onnx(unusable)


def test_save_names_texts_that_no_file_could_hold(tmp_path):
    model = MLTSKClassifier(2).fit(DATA.X, DATA.Y)
    model.label_names_ = (HALF, *model.label_names_[1:])
    says = "'label_names_' holds text that is no valid Unicode: rename it"
    with pytest.raises(InputError, match=says):
        save(model, tmp_path / "m.skops")


def test_save_refuses_information_that_load_could_not_read(tmp_path):
    model = MLTSKClassifier(2).fit(DATA.X, DATA.Y)
    info = ModelInfo(categories={"x0": 3})
    with pytest.raises(InputError, match="cannot be saved"):
        save(model, tmp_path / "m.skops", info=info)
    assert list(tmp_path.iterdir()) == []


def test_save_and_to_dict_take_parameters_of_pandas(tmp_path):
    X = features("a").assign(b=np.arange(60) % 4)
    model = MLTSKClassifier(
        2, categorical_features=pd.Index(["b"]), threshold=pd.Series([0.4] * 5)
    ).fit(X, DATA.Y)
    loaded = load(save(model, tmp_path / "m.skops"))
    assert loaded.categorical_features.tolist() == ["b"]
    assert to_dict(model)["parameters"]["threshold"]["array"] == [0.4] * 5


def test_to_onnx_keeps_inputs_apart_from_outputs_and_each_other():
    pytest.importorskip("onnx")
    from mltsk import to_onnx

    X = features("scores", "scores_", "a").assign(w=["u", "v", "w"] * 20)
    graph = to_onnx(MLTSKClassifier(2).fit(X, DATA.Y)).graph
    names = [value.name for value in graph.input]
    assert names == ["scores__", "scores_", "a", "w"]


def test_to_onnx_refuses_columns_that_are_called_as_its_own_nodes():
    pytest.importorskip("onnx")
    from mltsk import to_onnx

    X = features("mltsk/c0").assign(w=["u", "v", "w"] * 20)
    with pytest.raises(InputError, match="rename it before the fit"):
        to_onnx(MLTSKClassifier(2).fit(X, DATA.Y))
