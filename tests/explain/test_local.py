import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mltsk.exceptions import InputError
from mltsk.explain import explain

from .conftest import CATEGORIES, LABELS

SCALES = ["quantile", "standard", "minmax", None, "unit"]


@pytest.mark.parametrize("scale", SCALES)
def test_contributions_add_up_to_the_score(make_system, X, scale):
    system = make_system(scale)
    why = explain(system, X)
    assert_allclose(why.scores, system.scores(X), rtol=1e-13)
    assert_allclose(why.rule_contributions.sum(axis=1), why.scores, atol=1e-12)
    assert_allclose(why.feature_contributions().sum(axis=1), why.scores, atol=1e-12)


def test_sparse_contributions_add_up_and_absent_features_add_nothing(make_system, texts):
    system = make_system("unit", X=texts)
    why = explain(system, texts)
    parts = why.feature_contributions()
    assert sparse.issparse(why.map.X)
    assert_allclose(parts.sum(axis=1), system.scores(texts), atol=1e-12)
    assert_allclose(why.rule_contributions.sum(axis=1), system.scores(texts), atol=1e-12)
    assert np.all(parts[:, 1:][texts.toarray() == 0] == 0)


def test_the_average_sample_is_explained_by_its_base(make_system):
    system = make_system("quantile")
    average = system.scaling.invert(np.zeros((1, 4)))
    parts = explain(system, average).feature_contributions()
    assert_allclose(parts[:, 0], system.scores(average), atol=1e-12)
    assert_allclose(parts[:, 1:], 0.0, atol=1e-12)


def test_single_precision_adds_up_to_its_own_rounding(make_system, X):
    system = make_system("standard", dtype=np.float32)
    why = explain(system, X.astype(np.float32))
    assert why.scores.dtype == np.float32
    assert_allclose(why.feature_contributions().sum(axis=1), why.scores, atol=2e-5)


def test_one_score_in_full(make_system, X):
    why = explain(make_system("quantile"), X, categories=CATEGORIES)
    one = why[7].why("asthma")
    assert (one.sample, one.label) == (7, "asthma")
    assert one.score == pytest.approx(why.scores[7, 1], abs=1e-13)
    assert sum(part.contribution for part in one.rules) == pytest.approx(one.score, abs=1e-12)
    assert one.base + sum(part.contribution for part in one.features) == pytest.approx(one.score, abs=1e-12)
    assert sum(part.firing for part in one.rules) == pytest.approx(1.0)
    assert {part.feature: part.value for part in one.features}["age"] == X[7, 0]
    assert {part.feature: part.category for part in one.features}["smoker"] in ("no", "yes")


def test_parts_come_largest_first_without_zeros(make_system, X):
    one = explain(make_system("standard"), X)[0].why("gout")
    for parts in (one.rules, one.features):
        sizes = [abs(part.contribution) for part in parts]
        assert sizes == sorted(sizes, reverse=True)
    assert all(part.contribution != 0 for part in one.features)


def test_narrowing_keeps_the_numbers_of_samples_and_labels(make_system, X):
    why = explain(make_system("standard"), X)
    narrow = why[10:14][::2].for_label("asthma")
    assert narrow.samples.tolist() == [10, 12]
    assert [one.samples.tolist() for one in narrow] == [[10], [12]]
    assert_allclose(narrow.scores[:, 0], why.scores[[10, 12], 1])
    assert narrow.rule_contributions.shape == (2, 3, 1)
    assert narrow.feature_contributions().shape == (2, 5, 1)


def test_an_unknown_label_is_refused(make_system, X):
    with pytest.raises(InputError, match="no label called 'flu'"):
        explain(make_system(None), X)[0].why("flu")


def test_the_story_tells_the_highest_labels_of_the_first_samples(make_system, X):
    why = explain(make_system("quantile"), X)
    text = why.to_text(labels=1, samples=2)
    above = [LABELS[j] for j in why.scores[:2].argmax(axis=1)]
    assert [line.split(":")[0] for line in text.splitlines() if "threshold" in line] == above
    assert text.endswith("and 58 more samples")
    assert str(why[3]).startswith("Sample 3\n")


def test_plain_data_round_trip(make_system, X):
    why = explain(make_system("quantile"), X[:2])
    plain = json.loads(json.dumps(why.to_dict(), allow_nan=False))
    labels = plain["samples"][1]["labels"]
    assert [entry["label"] for entry in labels] == list(LABELS)
    assert labels[0]["base"] + sum(p["contribution"] for p in labels[0]["features"]) == pytest.approx(why.scores[1, 0])


def test_html_is_escaped(make_system, X):
    page = explain(make_system("quantile", features=("<i>", "b", "c", "d")), X[:1])._repr_html_()
    assert "<i>" not in page
    assert "&lt;i&gt;" in page


def test_a_sample_that_fires_no_rule_scores_nothing(make_system):
    system = make_system(None)
    system = type(system)(**{**vars(system), "underflow": "authors", "widths": np.full((3, 4), 1e-3)})
    why = explain(system, np.full((1, 4), 1e6))
    assert_allclose(why.feature_contributions(), 0.0)
    assert "Rule 1, with a share of 0 %" in str(why)


def test_one_rule_one_label_one_feature(make_system, X):
    system = make_system("standard", K=1, X=X[:, :1], features=("age",), labels=("gout",))
    why = explain(system, X[:4, :1])
    assert_allclose(why.firing, 1.0)
    assert_allclose(why.feature_contributions().sum(axis=1), system.scores(X[:4, :1]), atol=1e-12)
