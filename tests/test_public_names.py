"""The package gives exactly the names that it documents, and importing it is light."""

import subprocess
import sys

import mltsk


def test_public_names():
    assert mltsk.__all__ == [
        "FuzzyRuleFeatures",
        "MLTSKClassifier",
        "MLTSKClassifierCV",
        "MultilabelThreshold",
        "evaluate",
        "explore",
        "from_dict",
        "load",
        "load_dataset",
        "save",
        "to_dict",
        "to_onnx",
    ]
    assert all(callable(getattr(mltsk, name)) for name in mltsk.__all__)


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(mltsk, "Classifier")


def test_importing_the_package_imports_nothing_heavy():
    code = "import sys, mltsk; print(sorted({'numpy', 'sklearn', 'pandas', 'torch', 'matplotlib'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
