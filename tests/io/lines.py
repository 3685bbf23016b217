"""What tests of lines and of pairs of features share: models that have both."""

from dataclasses import fields, replace

import numpy as np
from numpy.testing import assert_array_equal

from mltsk import MLTSKClassifier
from mltsk.core.pairs import Conditions
from mltsk.core.terms import Terms

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
X[:, 1] = np.exp(3 * X[:, 1])  # nearly all of its range is empty
X[:, 3] = X[:, 3] > 0
Y = np.stack([X[:, 0] > 0, X[:, 0] * X[:, 2] > 0, X[:, 3] > X[:, 0]], axis=1) * 1


def with_lines(model):
    """The fitted model with a line for each column of numbers, whatever pays."""
    system = model.system_
    knots = system.scaling.values.T
    terms = Terms.ramps(system.scaling).with_lines(system.scaling)
    terms = terms.averaged(
        system.scaling.apply(knots), system.scaling, np.ones(len(knots))
    )
    coef = np.random.default_rng(0).normal(size=(len(terms), len(system.label_names)))
    model.system_ = replace(system, terms=terms, term_coef=coef)
    assert terms.straight.any()
    assert len(system.pairs)
    return model


def fitted(X=X, Y=Y, **parameters):
    """A model with lines and pairs of features."""
    return with_lines(MLTSKClassifier(2, n_pairs=3, **parameters).fit(X, Y))


def assert_same_lines_and_pairs(system, expected):
    """Both systems have the same terms and pairs, of the same types."""
    assert_same_arrays(system.terms, expected.terms)
    assert_same_arrays(system.pairs.conditions, expected.pairs.conditions)
    pairs = replace(system.pairs, conditions=expected.pairs.conditions)
    assert_same_arrays(pairs, expected.pairs)
    assert_array_equal(system.term_coef, expected.term_coef)
    assert_array_equal(system.pair_coef, expected.pair_coef)


def assert_same_arrays(record, expected):
    for field in fields(expected):
        array = getattr(expected, field.name)
        if isinstance(array, Conditions):
            continue
        assert_array_equal(getattr(record, field.name), array)
        assert np.asarray(getattr(record, field.name)).dtype == np.asarray(array).dtype
