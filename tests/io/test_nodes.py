"""Model files are read without skops, to the same values as with it."""

import subprocess
import sys
import zipfile

import numpy as np
import pytest
import skops.io
from scipy import sparse

from mltsk import IncrementalMLTSK, MLTSKClassifier, save
from mltsk.io.archive import SCHEMA, json_member
from mltsk.io.nodes import is_classifier, read_attributes
from mltsk.io.trust import names_for_skops


def streamed(X, Y):
    numbers = sparse.csr_array(X[["age", "scores"]].to_numpy())
    rng = np.random.RandomState(0)
    return IncrementalMLTSK(random_state=rng).partial_fit(numbers, Y.to_numpy())


def shortened(X, Y):
    threshold = ("cost", 1.0, 5.0)
    return MLTSKClassifier(max_statements=4, threshold=threshold).fit(X, Y)


@pytest.mark.parametrize("fitted", [streamed, shortened])
def test_read_attributes_reads_what_skops_reads(fitted, table, tmp_path):
    X, Y, _ = table
    path = save(fitted(X, Y), tmp_path / "model.skops")
    with zipfile.ZipFile(path) as archive:
        schema = json_member(archive, SCHEMA, path)
        assert is_classifier(schema)
        read = read_attributes(archive, schema)
    expected = vars(skops.io.load(path, trusted=names_for_skops(schema)))
    assert list(read) == list(expected)
    for name, value in expected.items():
        assert_same(read[name], value)


def assert_same(read, expected):
    assert type(read) is type(expected)
    if isinstance(expected, dict):
        assert list(read) == list(expected)
        for key in expected:
            assert_same(read[key], expected[key])
    elif isinstance(expected, list | tuple):
        assert len(read) == len(expected)
        for item, other in zip(read, expected, strict=True):
            assert_same(item, other)
    elif sparse.issparse(expected):
        assert_same(read.toarray(), expected.toarray())
    elif isinstance(expected, np.random.RandomState):
        assert_same(read.get_state(legacy=False), expected.get_state(legacy=False))
    elif isinstance(expected, np.ndarray):
        assert read.dtype == expected.dtype
        np.testing.assert_array_equal(read, expected)
    else:
        assert read == expected or (read != read and expected != expected)


def test_load_of_a_classifier_imports_neither_skops_nor_torch(table, tmp_path):
    X, Y, _ = table
    path = save(MLTSKClassifier(n_rules=0).fit(X, Y), tmp_path / "model.skops")
    program = (
        "import sys, mltsk; mltsk.load(sys.argv[1]); "
        "print([name for name in ('skops', 'torch') if name in sys.modules])"
    )
    command = [sys.executable, "-c", program, str(path)]
    assert subprocess.run(command, capture_output=True, text=True).stdout == "[]\n"
