"""Types in a file are trusted by name and by the way in which they are rebuilt."""

import subprocess
import sys

import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import RidgeClassifier
from sklearn.preprocessing import StandardScaler

from mltsk import IncrementalMLTSK, MLTSKClassifier
from mltsk.io import TRUSTED, untrusted
from mltsk.io.trust import names_for_skops, trusted_in_pipelines
from mltsk.paper.methods import METHODS, SUCCESSORS


def node(kind, loader="ObjectNode"):
    module = kind.__module__
    return {"__loader__": loader, "__module__": module, "__class__": kind.__qualname__}


PIPELINE = {
    "__loader__": "ObjectNode",
    "__module__": "sklearn.pipeline",
    "__class__": "Pipeline",
}


@pytest.mark.parametrize(
    "kind",
    [MLTSKClassifier, IncrementalMLTSK, *METHODS.values(), *SUCCESSORS.values()],
)
def test_untrusted_lets_every_public_classifier_pass(kind):
    assert untrusted(node(kind)) is None
    assert untrusted(PIPELINE | {"content": [node(kind)]}) is None


@pytest.mark.parametrize(
    "name",
    ["base.MultilabelMethod", "ml_knn.np", "ml_knn.MLkNN.fit", "no_such_module.MLkNN"],
)
def test_untrusted_refuses_what_is_no_method_in_the_room_of_methods(name):
    module, _, kind = f"mltsk.paper.methods.{name}".rpartition(".")
    schema = {"__loader__": "ObjectNode", "__module__": module, "__class__": kind}
    assert untrusted(schema) == f"a mltsk.paper.methods.{name}"


def test_untrusted_refuses_a_trusted_type_in_the_wrong_role():
    array = {"__loader__": "ObjectNode", "__module__": "numpy", "__class__": "ndarray"}
    assert untrusted({"a": [array]}) == "a numpy.ndarray"
    unhashable = {"__loader__": ["ObjectNode"], "__module__": "os", "__class__": "x"}
    assert untrusted(unhashable) == "a os.x"
    method = node(METHODS["ml-knn"], loader="TypeNode")
    assert untrusted(method) == "a mltsk.paper.methods.ml_knn.MLkNN"


def test_untrusted_takes_transformers_in_pipelines_alone():
    scaler = node(StandardScaler)
    assert untrusted(scaler) == "a sklearn.preprocessing._data.StandardScaler"
    assert untrusted(PIPELINE | {"steps": [scaler]}) is None
    ridge = PIPELINE | {"steps": [node(RidgeClassifier)]}
    assert untrusted(ridge) == "a sklearn.linear_model._ridge.RidgeClassifier"


def test_trusted_in_pipelines_adds_transformers_and_no_functions():
    objects = trusted_in_pipelines()["ObjectNode"]
    assert {*TRUSTED["ObjectNode"]} < {*objects}
    vectorizer = f"{CountVectorizer.__module__}.CountVectorizer"
    assert vectorizer in objects
    assert "FunctionNode" not in trusted_in_pipelines()


def test_names_for_skops_are_the_objects_of_the_file():
    names = names_for_skops({"a": [node(MLTSKClassifier)], "b": node(dict, "DictNode")})
    assert "mltsk.classifier.MLTSKClassifier" in names
    assert "builtins.dict" not in names


def test_untrusted_imports_the_methods_only_if_a_file_names_them(tmp_path):
    code = f"""
import sys
from mltsk import MLTSKClassifier, load, save
from mltsk.datasets import make_multilabel_rules
data = make_multilabel_rules(n_samples=40, random_state=0)
load(save(MLTSKClassifier(1).fit(data.X, data.Y), {str(tmp_path / "m.skops")!r}))
assert not {{"mltsk.paper", "mltsk.paper.methods"}} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", code], check=True)
