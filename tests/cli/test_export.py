"""``mltsk export``: files for other programs."""

import json
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import from_dict, load


def test_json_gives_the_model_back(mltsk, model, tmp_path):
    result = mltsk("export", model, "--json", tmp_path / "m.json")
    assert result.status == 0
    back = from_dict(json.loads((tmp_path / "m.json").read_text(encoding="utf-8")))
    X = np.random.default_rng(0).normal(size=(20, 10))
    assert_array_equal(back.system_.scores(X), load(model).system_.scores(X))
    assert json.loads(mltsk("export", model, "--json", "-").out)["format"] == "mltsk model"


@pytest.mark.parametrize("options", [[], ["--float32"]])
def test_onnx_gives_the_same_scores(mltsk, model, tmp_path, options):
    onnxruntime = pytest.importorskip("onnxruntime")
    assert mltsk("export", model, "--onnx", tmp_path / "m.onnx", *options).status == 0
    X = np.random.default_rng(0).normal(size=(20, 10)).astype(np.float32)
    session = onnxruntime.InferenceSession((tmp_path / "m.onnx").read_bytes())
    (scores,) = session.run(["scores"], {"X": X if options else X.astype(np.float64)})
    assert_allclose(scores, load(model).system_.scores(X.astype(np.float64)), atol=1e-9)


def test_something_must_be_asked_for_and_have_a_place(refused, model, tmp_path):
    assert "--onnx FILE, --json FILE, or both" in refused("export", model)
    assert "does not exist" in refused("export", model, "--json", tmp_path / "no" / "m.json")
    assert "is no text" in refused("export", model, "--onnx", "-")


def test_without_the_extra_the_command_says_what_to_install(refused, model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert 'pip install "mltsk[onnx]"' in refused("export", model, "--onnx", tmp_path / "m.onnx", status=1)
