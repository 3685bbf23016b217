"""Symbols of the paper are answered with what they are called here."""

import operator

import pytest

from mltsk import PaperMLTSK
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.paper.symbols import FOUND_OF_SYMBOL, PARAMETER_OF_SYMBOL


def refusals(symbol, sentence):
    """Both ways of setting a parameter refuse a symbol with a sentence."""
    with pytest.raises(TypeError, match=sentence):
        PaperMLTSK(**{symbol: 3})
    with pytest.raises(InputError, match=sentence):
        PaperMLTSK().set_params(**{symbol: 3})


@pytest.mark.parametrize(("symbol", "parameter"), PARAMETER_OF_SYMBOL.items())
def test_a_symbol_is_answered_with_its_parameter(symbol, parameter):
    assert hasattr(PaperMLTSK(), parameter)
    refusals(symbol, f"the paper's {symbol} is {parameter}.")


@pytest.mark.parametrize(("symbol", "attribute"), FOUND_OF_SYMBOL.items())
def test_a_symbol_of_what_a_fit_finds_is_answered_with_where_it_is(symbol, attribute):
    data = make_multilabel_rules(n_samples=40, random_state=0)
    model = PaperMLTSK(2, correlation_weight=0.01).fit(data.X, data.Y)
    assert operator.attrgetter(attribute)(model).ndim >= 2
    refusals(symbol, f"paper's {symbol} is found by the fit: read {attribute} after")
