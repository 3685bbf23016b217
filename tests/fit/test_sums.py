"""Sums over rows hold all that the numbers of a model depend on."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import IncrementalMLTSK, MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.fit.ridge import Penalty
from mltsk.fit.sums import FitSums, LabelSums, check_sum_cells

DATA = make_multilabel_rules(n_samples=200, random_state=0)
PARTLY = DATA.Y.astype(float)
PARTLY[::3, 1] = np.nan


def numbers_again(sums: FitSums):
    """Numbers of the general rule in log-odds, from nothing but sums."""
    numbers = np.zeros((sums.design.n_terms, sums.n_labels))
    for part in sums.parts:
        solution = part.moments.solve(Penalty(sums.ridge), sums.design.prior)
        mean = solution.mean[:, None] + 0 * solution.B
        found = sums.design.coefficients(solution.B, mean, solution.rates)
        numbers[:, part.labels] = found.terms * sums.curves.slopes[part.labels]
    return numbers


@pytest.mark.parametrize("n_rules", [0, 10, 150])
def test_sums_of_a_fit_give_its_numbers_again(n_rules):
    # 150 rules and 200 rows are solved in the dual form, which needs no sums
    clf = MLTSKClassifier(n_rules=n_rules, order=0).fit(DATA.X, PARTLY)
    assert len(clf.sums_.parts) == 2
    assert_allclose(numbers_again(clf.sums_), clf.general_coef_, atol=1e-8)


def test_sums_of_a_stream_are_those_of_all_samples_seen():
    clf = IncrementalMLTSK(n_rules=0).partial_fit(DATA.X[:120], DATA.Y[:120])
    clf.partial_fit(DATA.X[120:], DATA.Y[120:])
    assert clf.sums_.parts[0].moments.total == 200
    assert_allclose(numbers_again(clf.sums_), clf.general_coef_, atol=1e-8)


def test_sums_of_two_sites_add_up_to_those_of_all_rows():
    clf = MLTSKClassifier(n_rules=0).fit(DATA.X, DATA.Y)
    design = clf.sums_.design
    labels = np.arange(DATA.Y.shape[1])

    def sums_of(rows):
        block = clf.fit_record_.training.take(rows)
        Phi = design.rows(design.scale.apply(block.X))
        moments = type(clf.sums_.parts[0].moments).of(Phi, block.Y, block.w)
        return FitSums(design, clf.ridge_, (LabelSums(labels, moments),))

    joined = sums_of(slice(0, 80)) + sums_of(slice(80, None))
    assert_allclose(joined.parts[0].moments.H, clf.sums_.parts[0].moments.H)


def test_check_sum_cells_says_how_large_sums_would_be():
    with pytest.raises(InputError, match="would take 72 MB, more than 64 MB"):
        check_sum_cells(3_000, 1)


def test_a_model_of_coupled_labels_has_no_sums():
    clf = MLTSKClassifier(n_rules=0, coupling="laplacian").fit(DATA.X, DATA.Y)
    with pytest.raises(InputError, match="coupling=None"):
        _ = clf.sums_
