"""How sure a long model is of its numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mltsk import MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.short.certainty import certainty_of


@pytest.fixture(scope="module")
def data():
    return make_multilabel_rules(
        n_samples=400, n_features=6, n_labels=4, random_state=0
    )


def test_certainty_of_terms_is_the_same_where_exceptions_have_none(data):
    """Exceptions take part in how sure terms are, but not in the memory."""
    weights = np.random.default_rng(0).integers(0, 3, size=400).astype(float)
    clf = MLTSKClassifier(n_rules=30, order=0, n_pairs=2)
    rows = clf.fit(data.X, data.Y, weights).fit_record_.training
    design = rows.design
    whole = certainty_of(rows)
    lean = certainty_of(rows, max_rule_numbers=20)
    n_first = design.first_rule
    assert whole.information.shape == (n_first + 30, n_first + 30)
    assert lean.information.shape == (n_first, n_first)
    everything = np.ones(n_first + 30, dtype=bool)
    first = np.arange(n_first)
    assert_allclose(
        lean.covariance(everything, 1, first),
        whole.covariance(everything, 1, first),
        rtol=1e-5,
        atol=1e-9,
    )
    assert lean.knows(everything, first)
    assert not lean.knows(everything, np.array([n_first]))
