"""Model files are written without skops, as skops would write them."""

import io
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import skops.io
from scipy import sparse

from mltsk import MLTSKClassifier, load, save
from mltsk.exceptions import InputError
from mltsk.io.nodes import NodeReader
from mltsk.io.written_nodes import NodeWriter, written_classifier

from .test_nodes import assert_same

VALUES = {
    "text": "käse\n'\"",
    "number": 0.1,
    "none": None,
    "not a number": float("nan"),
    "whole": 3,
    "yes": True,
    "numpy": np.float64(0.25),
    "flag": np.bool_(True),
    "list": [1, [2.5, "a"], (None, False)],
    "empty": [{}, (), []],
    "keys": {1: "a", 2: "b"},
    "array": np.arange(6.0).reshape(2, 3),
    "names": np.array(["a", "β"], dtype=object),
    "fixed": np.array(["a", "β"]),
    "sparse": sparse.csr_array(np.eye(3)),
    "random": np.random.RandomState(0),
}


@pytest.mark.parametrize("name", VALUES)
def test_node_writer_writes_what_skops_and_our_reader_read_back(name):
    value = VALUES[name]
    model = MLTSKClassifier()
    model.value_ = value
    content = written_classifier(model)
    trusted = ["mltsk.classifier.MLTSKClassifier", "scipy.sparse._csr.csr_array"]
    assert_same(skops.io.loads(content, trusted=trusted).value_, value)
    with zipfile.ZipFile(io.BytesIO(), "w") as archive:
        node = NodeWriter(archive).node(value)
        assert_same(NodeReader(archive).read(node), value)


def test_node_writer_writes_an_array_once_and_gives_it_back_as_one():
    array = np.arange(3.0)
    with zipfile.ZipFile(io.BytesIO(), "w") as archive:
        node = NodeWriter(archive).node([array, {"same": array}, array.copy()])
        first, inner, other = NodeReader(archive).read(node)
    assert archive.namelist() == ["1.npy", "2.npy"]
    assert inner["same"] is first
    assert other is not first


def test_save_of_the_same_model_gives_the_same_bytes(table, tmp_path):
    X, Y, _ = table
    files = []
    for number in range(2):
        model = MLTSKClassifier(max_statements=3).fit(X, Y)
        files.append(save(model, tmp_path / f"{number}.skops").read_bytes())
    assert files[0] == files[1]


def test_texts_of_numpy_are_texts_in_a_file(table, tmp_path):
    X, Y, _ = table
    model = MLTSKClassifier(n_rules=0).fit(X, Y)
    name, other = (np.str_(name) for name in model.system_.feature_names[:2])
    model = MLTSKClassifier(n_rules=0, monotonic_cst={name: 1}).fit(X, Y)
    model.note_ = [other, {other: np.array([other], dtype=object)}]
    loaded = load(save(model, tmp_path / "model.skops"))
    assert loaded.monotonic_cst == {str(name): 1}
    assert [type(key) for key in loaded.monotonic_cst] == [str]
    assert type(loaded.note_[0]) is str


@pytest.mark.parametrize("thing", [{1, 2}, print, 1j, np.datetime64("2020-01-01")])
def test_save_names_the_type_that_no_file_may_hold(thing, table, tmp_path):
    X, Y, _ = table
    model = MLTSKClassifier(n_rules=0).fit(X, Y)
    model.note_ = [thing]
    name = f"{type(thing).__module__}.{type(thing).__name__}"
    with pytest.raises(InputError, match=f"it holds a {name}, and a file may hold"):
        save(model, tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())


def test_save_of_a_classifier_imports_neither_skops_nor_torch(tmp_path):
    program = (
        "import sys, mltsk; "
        "clf = mltsk.MLTSKClassifier(n_rules=0).fit([[1.], [2.], [3.]], [0, 1, 1]); "
        "mltsk.save(clf, sys.argv[1]); "
        "print([name for name in ('skops', 'torch') if name in sys.modules])"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "model.skops")]
    assert subprocess.run(command, capture_output=True, text=True).stdout == "[]\n"
