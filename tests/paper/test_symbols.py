"""Symbols of the paper are answered with the names of parameters."""

import pytest

from mltsk import PaperMLTSK
from mltsk.exceptions import InputError
from mltsk.paper.symbols import PARAMETER_OF_SYMBOL


@pytest.mark.parametrize(("symbol", "parameter"), PARAMETER_OF_SYMBOL.items())
def test_a_symbol_is_answered_with_its_parameter(symbol, parameter):
    sentence = f"the paper's {symbol} is {parameter}."
    assert hasattr(PaperMLTSK(), parameter)
    with pytest.raises(TypeError, match=sentence):
        PaperMLTSK(**{symbol: 3})
    with pytest.raises(InputError, match=sentence):
        PaperMLTSK().set_params(**{symbol: 3})
