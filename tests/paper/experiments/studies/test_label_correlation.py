import numpy as np
from numpy.testing import assert_allclose

from mltsk.core.coupling import label_correlation
from mltsk.paper.experiments.studies.label_correlation import agreement


def test_agreement_is_a_correlation(found):
    for model in found["label-correlation"]["models"].values():
        assert -1 <= model["pearson"] <= 1
        assert -1 <= model["spearman"] <= 1


def test_the_label_map_is_the_correlation_of_the_labels(toy, found):
    assert_allclose(found["label-correlation"]["of_labels"], label_correlation(toy.Y.astype(float)))


def test_agreement_at_alpha_0_is_that_of_the_uncoupled_model(found):
    result = found["label-correlation"]
    assert result["by_alpha"][0] == [0.0, result["models"]["paper_uncoupled"]["pearson"]]


def test_maps_that_oppose_each_other_agree_minus_one():
    A = np.array([[1, 0.5, 0.1], [0.5, 1, -0.2], [0.1, -0.2, 1]])
    assert_allclose(agreement(A, -A), (-1, -1))
    assert agreement(A, np.ones((3, 3))) == (None, None)


def test_synthetic_labels_share_consequents_and_the_maps_agree(found):
    assert found["label-correlation"]["models"]["ours"]["pearson"] > 0.5
