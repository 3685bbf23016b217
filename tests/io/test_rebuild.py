"""Plain attributes become a model that works, or a sentence."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mltsk import MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.io.rebuild import rebuilt, rebuilt_classifier, with_defaults
from mltsk.io.state import plain_attributes, with_plain_attributes

DATA = make_multilabel_rules(n_samples=60, random_state=0)


@pytest.fixture(scope="module")
def fitted():
    return MLTSKClassifier(n_rules=2).fit(DATA.X, DATA.Y)


def plain_pipeline(*steps):
    *transformers, classifier = steps
    return make_pipeline(*transformers, with_plain_attributes(classifier))


def test_with_defaults_adds_parameters_that_are_not_there():
    attributes = with_defaults(MLTSKClassifier, {"n_rules": 7, "coef_": 1})
    assert attributes["n_rules"] == 7
    assert attributes["threshold"] == 0.5
    assert attributes["coef_"] == 1


def test_rebuilt_classifier_has_defaults_and_changes_no_attributes(fitted):
    attributes = plain_attributes(fitted)
    del attributes["max_statements"]
    before = dict(attributes)
    model = rebuilt_classifier(MLTSKClassifier, attributes)
    assert attributes == before
    assert model.max_statements is None
    assert_array_equal(model.predict(DATA.X), fitted.predict(DATA.X))


def test_rebuilt_classifier_must_give_finite_scores(fitted):
    attributes = plain_attributes(fitted)
    attributes["coef_"] = np.full_like(attributes["coef_"], 1e90)
    attributes["general_coef_"] = np.full_like(attributes["general_coef_"], 1e90)
    attributes["scaling_"] = {
        **attributes["scaling_"],
        "spread": np.full(10, 1e-99),
        "offset": np.full(10, 1e305),
    }
    with pytest.raises(ValueError, match="'spread' must be above 0: between 1e-30"):
        rebuilt_classifier(MLTSKClassifier, attributes)


def test_rebuilt_pipelines_are_other_objects_than_those_that_were_read(fitted):
    read = plain_pipeline(StandardScaler().fit(DATA.X), "passthrough", fitted)
    del read[0].with_std  # from before it was a parameter
    model = rebuilt(read, {})
    assert "system_" not in vars(read[-1])
    assert not hasattr(read[0], "with_std")
    assert model[0].with_std is True
    scaled = StandardScaler().fit_transform(DATA.X)
    assert_array_equal(
        model.decision_function(DATA.X), fitted.decision_function(scaled)
    )


def test_rebuilt_models_take_categories_that_the_file_names(fitted):
    named = {"categories_": {"x3": [[0.0, "no"], [1.0, "yes"]]}}
    model = rebuilt(with_plain_attributes(fitted), named)
    assert model.system_.categories == {"x3": {0.0: "no", 1.0: "yes"}}
    own = rebuilt(with_plain_attributes(model), {"categories_": {"x1": [[2.0, "b"]]}})
    assert own.system_.categories == model.system_.categories


@pytest.mark.parametrize(
    ("transformer", "says"),
    [
        (StandardScaler(), "StandardScaler instance is not fitted"),
        (PCA(n_components=3).fit(DATA.X), "expecting 10 features|has 3 features"),
        (StandardScaler().fit(DATA.X[:, :4]), "expecting 10 features"),
    ],
)
def test_rebuilt_pipelines_must_fit_together(fitted, transformer, says):
    with pytest.raises(ValueError, match=says):
        rebuilt(plain_pipeline(transformer, fitted), {})


def test_rebuilt_refuses_a_pipeline_that_ends_in_something_else():
    read = make_pipeline(StandardScaler().fit(DATA.X), PCA().fit(DATA.X))
    with pytest.raises(ValueError, match="it ends in a PCA, which is no classifier"):
        rebuilt(read, {})
