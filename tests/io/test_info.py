"""What a model file says next to the model."""

import numpy as np
import pandas as pd

from mltsk import MLTSKClassifier
from mltsk.io import ModelInfo


def test_model_info_of_a_table_has_the_kinds_that_the_model_saw():
    n = np.arange(40)
    levels = ["low", "high"]
    X = pd.DataFrame(
        {
            "age": n % 7 + 0.5,
            "ward": np.array(list("abc"))[n % 3],
            "male": n % 5 > 2,
            "rank": pd.Categorical(np.array(levels)[n % 2], levels, ordered=True),
        }
    )
    Y = pd.DataFrame({"p": n % 2, "q": n % 3 == 0})
    info = ModelInfo.of(MLTSKClassifier(n_rules=0).fit(X, Y))
    assert info.kinds == {
        "age": "number",
        "ward": "nominal",
        "male": "yes/no",
        "rank": ("low", "high"),
    }


def test_model_info_read_makes_texts_of_what_a_file_says():
    plain = {
        "data": 3,
        "feature_names": ["a", 1],
        "label_names": ["b"],
        "categories": {"a": ["x", 2]},
        "fitted": {"rows": 4},
        "kinds": {"a": "nominal", "1": ["low", "high"]},
        "ids": [],
        "reading": {"missing": -9},
    }
    assert ModelInfo.read(plain, "0.1") == ModelInfo(
        data="3",
        feature_names=("a", "1"),
        label_names=("b",),
        categories={"a": ("x", "2")},
        fitted={"rows": 4},
        kinds={"a": "nominal", "1": ("low", "high")},
        reading={"missing": "-9"},
        version="0.1",
    )
