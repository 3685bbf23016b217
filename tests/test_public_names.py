"""The package gives exactly the names that it documents, and importing it is light."""

import subprocess
import sys

import mltsk
import mltsk.paper


def test_public_names():
    assert mltsk.__all__ == [
        "IncrementalMLTSK",
        "MLTSKClassifier",
        "PaperMLTSK",
        "PointsClassifier",
        "edited",
        "evaluate",
        "explore",
        "from_dict",
        "load",
        "load_dataset",
        "methods_section",
        "person_sheet",
        "pipeline_classifier",
        "pipeline_features",
        "points_sheet",
        "read_table",
        "review",
        "save",
        "second_look",
        "to_dict",
        "to_onnx",
    ]
    assert all(callable(getattr(mltsk, name)) for name in mltsk.__all__)


def test_public_names_of_the_paper():
    names = [
        "METHODS",
        "PaperMLTSK",
        "algorithm1",
        "fuzzy_c_means",
        "fuzzy_features",
        "significance",
    ]
    assert mltsk.paper.__all__ == names
    assert all(hasattr(mltsk.paper, name) for name in names)
    assert mltsk.paper.significance.friedman(
        [[1, 2], [1, 2]], greater_is_better=False
    ).mean_ranks.tolist() == [1, 2]


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(mltsk, "Classifier")
    assert not hasattr(mltsk.paper, "Classifier")


def test_importing_the_package_imports_nothing_heavy():
    heavy = {"numpy", "sklearn", "pandas", "torch", "matplotlib"}
    code = f"import sys, mltsk.paper; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
