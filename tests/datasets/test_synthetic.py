import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk.core.membership import firing_strengths
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError


@pytest.mark.parametrize("sparse", [False, True])
def test_make_multilabel_rules_has_the_sizes_asked_for(sparse):
    data, rules = make_multilabel_rules(60, 12, 4, 3, sparse=sparse, return_rules=True)
    assert data.shape == (60, 12, 4)
    assert rules.centers.shape == rules.widths.shape == (3, 12)
    assert rules.coef.shape == (3, 13, 4)
    assert data.is_sparse == sparse


def test_make_multilabel_rules_repeats_itself_for_a_seed():
    first, again, other = (
        make_multilabel_rules(random_state=seed) for seed in (1, 1, 2)
    )
    assert_array_equal(first.X, again.X)
    assert_array_equal(first.Y, again.Y)
    assert not np.array_equal(first.X, other.X)


@pytest.mark.parametrize("sparse", [False, True])
def test_make_multilabel_rules_without_noise_labels_by_its_rules(sparse):
    data, rules = make_multilabel_rules(noise=0, sparse=sparse, return_rules=True)
    assert_array_equal(rules.scores(data.X) > 0, data.Y)


def test_scores_of_synthetic_rules_are_the_papers_system():
    data, rules = make_multilabel_rules(20, 4, 3, 2, return_rules=True)
    for x, score in zip(data.X, rules.scores(data.X), strict=True):
        firing = np.exp(-((x - rules.centers) ** 2 / rules.widths).sum(axis=1))
        firing /= firing.sum()
        consequents = rules.coef[:, 0] + np.einsum("d,kdl->kl", x, rules.coef[:, 1:])
        assert_allclose(score, firing @ consequents)


def test_make_multilabel_rules_flips_more_labels_with_more_noise():
    flips = []
    for noise in (0, 0.1, 1.0):
        data, rules = make_multilabel_rules(2000, noise=noise, return_rules=True)
        flips.append(np.mean((rules.scores(data.X) > 0) != data.Y))
    assert flips[0] == 0
    assert 0 < flips[1] < 0.1 < flips[2] < 0.4


def test_make_multilabel_rules_correlates_labels():
    def mean_correlation(correlation):
        sets = [
            make_multilabel_rules(800, 20, 6, correlation=correlation, random_state=s)
            for s in range(6)
        ]
        return np.mean(
            [np.corrcoef(data.Y.T)[np.triu_indices(6, 1)].mean() for data in sets]
        )

    assert abs(mean_correlation(0.0)) < 0.1
    assert mean_correlation(0.9) > 0.4


def test_make_multilabel_rules_has_no_constant_label():
    data, rules = make_multilabel_rules(500, 20, 8, correlation=0, return_rules=True)
    assert ((data.Y.mean(axis=0) > 0.1) & (data.Y.mean(axis=0) < 0.6)).all()
    assert np.mean(rules.coef == 0) > 0.6


@pytest.mark.parametrize(
    ("n_features", "sparse"), [(5, False), (300, False), (300, True)]
)
def test_make_multilabel_rules_fire_softly_in_any_dimension(n_features, sparse):
    data, rules = make_multilabel_rules(
        400, n_features, 3, 4, sparse=sparse, return_rules=True
    )
    firing = firing_strengths(data.X, rules.centers, rules.widths)
    assert 0.6 < firing.max(axis=1).mean() < 0.999
    assert set(firing.argmax(axis=1)) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"n_samples": 0}, "n_samples is 0"),
        ({"n_rules": -1}, "n_rules is -1"),
        ({"noise": -0.1}, "noise is -0.1"),
        ({"noise": float("nan")}, "noise is nan"),
        ({"correlation": 1.5}, "correlation is 1.5"),
    ],
)
def test_make_multilabel_rules_names_bad_arguments(wrong, complaint):
    with pytest.raises(InputError, match=complaint):
        make_multilabel_rules(**wrong)
