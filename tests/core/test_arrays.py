"""Numbers that would lose something on their way in are refused; those far away stay finite."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mltsk import MLTSKClassifier, PaperMLTSK
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError

DATA = make_multilabel_rules(n_samples=40, n_features=3, n_labels=2, random_state=0)
MASKED = np.ma.masked_array(DATA.X, DATA.X > 0.5)
DATES = (DATA.X * 1e9).astype("M8[s]")
LOSSY = {
    "is a masked array": MASKED,
    "dates or times": DATES,
    "dates or times:": DATES - DATES[0],
    "Complex data not supported": DATA.X + 1j,
    "Complex data": sparse.csr_array(DATA.X + 1j),
    "(dates or times|complex numbers)": pd.DataFrame(DATES),
}


@pytest.mark.parametrize("kind", [MLTSKClassifier, PaperMLTSK])
@pytest.mark.parametrize("says", LOSSY)
def test_masks_dates_and_imaginary_parts_are_refused_in_a_fit_and_in_a_prediction(kind, says):
    with pytest.raises(InputError, match=says):
        kind().fit(LOSSY[says], DATA.Y)
    with pytest.raises(InputError, match=says):
        MLTSKClassifier(0).fit(DATA.X, DATA.Y).predict(LOSSY[says])


@pytest.mark.parametrize("kind", [MLTSKClassifier, PaperMLTSK])
def test_labels_and_weights_are_refused_alike(kind):
    for y in (np.ma.masked_array(DATA.Y, DATA.Y > 0), DATA.Y + 0j, DATA.Y.astype("M8[s]")):
        with pytest.raises(InputError, match="y"):
            kind().fit(DATA.X, y)
    with pytest.raises(InputError, match="sample_weight is a masked array"):
        kind().fit(DATA.X, DATA.Y, np.ma.masked_array(np.ones(40), np.arange(40) < 5))


@pytest.mark.parametrize("threshold", [np.nan, np.inf, [0.5, np.nan]])
@pytest.mark.parametrize("kind", [MLTSKClassifier, PaperMLTSK])
def test_thresholds_are_finite(kind, threshold):
    with pytest.raises(ValueError, match="finite number"):
        kind(threshold=threshold).fit(DATA.X, DATA.Y)


def test_numbers_too_large_to_square_are_refused_where_they_are_used_as_they_are():
    with pytest.raises(InputError, match="too large for scale=None: take 'quantile'"):
        MLTSKClassifier(2, scale=None).fit(DATA.X * 1e200, DATA.Y)
    assert np.isfinite(MLTSKClassifier(2).fit(DATA.X * 1e200, DATA.Y).loo_scores_).all()
