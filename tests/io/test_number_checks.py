"""A model whose numbers were changed is refused, or gives finite answers."""

import copy
from itertools import product

import numpy as np
import pytest

from mltsk import IncrementalMLTSK, MLTSKClassifier, PaperMLTSK
from mltsk.io.rebuild import rebuilt_classifier
from mltsk.io.state import plain_attributes

from .lines import with_lines

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3))
Y = np.stack([X[:, 0] > 0, X[:, 1] + X[:, 2] > 0], axis=1) * 1.0
ROWS = np.array(
    [[0.0] * 3, [1.0] * 3, [1e300] * 3, [-1e300] * 3, [np.nan] * 3, [np.nan, 1, 1e300]]
)
EXTREMES = (0.0, 5e-324, 1e-99, 1e99, 1e308, -1.0, np.nan, np.inf)
MODELS = {
    "quantile": MLTSKClassifier(n_rules=2, order=1),
    "lines and pairs": MLTSKClassifier(n_rules=2, order=0, n_pairs=2),
    "standard": MLTSKClassifier(n_rules=2, order=1, scale="standard"),
    "minmax": MLTSKClassifier(n_rules=2, order=0, scale="minmax"),
    "unit": MLTSKClassifier(n_rules=2, order=1, scale="unit"),
    "no scale": MLTSKClassifier(n_rules=2, order=1, scale=None),
    "short": MLTSKClassifier(n_rules=2, order=0, max_statements=5),
    "paper": PaperMLTSK(),
    "stream": IncrementalMLTSK(),
}


@pytest.fixture(scope="module", params=MODELS.values(), ids=MODELS.keys())
def fitted(request):
    model = request.param
    if isinstance(model, IncrementalMLTSK):
        return model.partial_fit(X, Y)
    model.fit(X, Y)
    if len(model.system_.pairs):
        return with_lines(model)
    return model


def paths(plain, start=()):
    """Where there are numbers in dicts of dicts, as tuples of keys."""
    for key, value in plain.items():
        if isinstance(value, dict):
            yield from paths(value, (*start, key))
        elif isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
            yield (*start, key)


def tampered(plain, path, value, *, times, everywhere):
    """A copy of plain attributes with another number at a place."""
    plain = copy.deepcopy(plain)
    part = plain
    for key in path:
        part = part[key]
    cells = part.reshape(-1)
    place = slice(None) if everywhere else slice(len(cells) // 2, len(cells) // 2 + 1)
    cells[place] = cells[place] * value if times else value
    return plain


def changes(plain):
    """Copies of plain attributes, each with one number or one table changed."""
    ways = product(paths(plain), EXTREMES, (False, True), (False, True))
    for path, value, times, everywhere in ways:
        yield (
            path,
            tampered(plain, path, value, times=times, everywhere=everywhere),
        )


@pytest.mark.filterwarnings("ignore")
def test_check_numbers_refuses_what_would_give_no_finite_answer(fitted):
    rows = ROWS
    if fitted.scale_ == "unit" or isinstance(fitted, PaperMLTSK):
        rows = ROWS[:4]  # these take no missing cells
    refusals = []
    for path, changed in changes(plain_attributes(fitted)):
        try:
            model = rebuilt_classifier(type(fitted), changed)
        except ValueError as error:
            refusals.append(str(error))
            continue
        assert np.isfinite(model.decision_function(rows)).all(), path
        if len(model.system_.pairs):
            near = np.clip(rows, -10, 10).astype(np.float32)
            assert np.isfinite(model.decision_function(near)).all(), path
    assert len(refusals) > 10
    assert not any("bug" in refusal for refusal in refusals)


@pytest.fixture
def plain():
    return plain_attributes(MLTSKClassifier(n_rules=2, order=1).fit(X, Y))


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("widths_",), 5e-324, "'widths_' must be above 0: at least 1e-100"),
        (("scaling_", "spread"), 1e-40, "'spread' must be above 0: between 1e-30"),
        (("scaling_", "share"), 1e40, "'share' must be above 0: between 1e-30"),
        (("scaling_", "offset"), 1e200, "'offset' must be below 1e\\+100"),
        (("terms_", "high"), 1e99, "'high' of ramps must lie between 0 and 1"),
        (("terms_", "low"), -1.0, "'high' of ramps must lie between 0 and 1"),
        (("terms_", "low"), 1.0, "ramps must rise on a percentile scale"),
        (("terms_", "mean"), 2.0, "'mean' of memberships must lie between 0 and 1"),
    ],
)
def test_check_numbers_says_which_number_is_wrong(plain, path, value, says):
    changed = tampered(plain, path, value, times=False, everywhere=False)
    with pytest.raises(ValueError, match=says):
        rebuilt_classifier(MLTSKClassifier, changed)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["i8", "u1", "?", "f2", "f4"])
def test_check_numbers_refuses_types_that_would_give_no_finite_answer(fitted, dtype):
    plain = plain_attributes(fitted)
    for path in paths(plain):
        changed = copy.deepcopy(plain)
        part = changed
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = part[path[-1]].astype(dtype)
        try:
            model = rebuilt_classifier(type(fitted), changed)
        except ValueError:
            continue
        if isinstance(model, IncrementalMLTSK):
            model.partial_fit(X, Y)
        assert np.isfinite(model.decision_function(X)).all(), path


@pytest.mark.parametrize("name", ["centers_", "coef_", "thresholds_"])
def test_check_system_refuses_whole_numbers_where_floats_belong(plain, name):
    plain[name] = plain[name].astype(np.int64)
    with pytest.raises(ValueError, match=f"'{name}' must hold floats of 32 or 64 bits"):
        rebuilt_classifier(MLTSKClassifier, plain)


def test_check_numbers_refuses_widths_and_centers_of_two_precisions(plain):
    plain["centers_"] = plain["centers_"].astype(np.float32)
    with pytest.raises(ValueError, match="must have one precision"):
        rebuilt_classifier(MLTSKClassifier, plain)
