"""Corrected models meet their wishes everywhere, and say what that costs."""

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from mltsk import (
    IncrementalMLTSK,
    MLTSKClassifier,
    from_dict,
    load,
    read_table,
    save,
    to_dict,
)
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError

DATA = make_multilabel_rules(n_samples=200, random_state=0)


def patients(n=300, seed=0):
    """A table with gaps and words, whose labels rise and fall with noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n).astype(float),
            "albumin": np.where(rng.random(n) < 0.2, np.nan, rng.normal(3.5, 0.5, n)),
            "sex": rng.choice(["f", "m"], n),
            "bilirubin": rng.exponential(2.0, n),
        }
    )
    noise = rng.normal(size=(n, 2))
    strength = np.sin(X.age / 8) - np.nan_to_num(X.albumin, nan=3.5) + 0.1 * X.bilirubin
    Y = (strength.to_numpy()[:, None] + 0.7 * noise > -3.2).astype(float)
    Y[::5, 1] = np.nan
    return X, pd.DataFrame(Y, columns=["fever", "gout"])


X, Y = patients()
WISHES = {"age": 1, "albumin": {"gout": -1}, "bilirubin": 1}


@pytest.fixture(scope="module")
def free():
    return MLTSKClassifier().fit(X, Y)


def steps(model, name, labels=slice(None)):
    """Changes of log-odds along a fine grid of a feature, for several people."""
    grid = np.linspace(X[name].min() - 1, X[name].max() + 1, 500)
    changes = []
    for person in (0, 7, 30, 101):
        rows = pd.concat([X.iloc[[person]]] * len(grid), ignore_index=True)
        rows[name] = grid
        changes.append(np.diff(model.decision_function(rows), axis=0)[:, labels])
    return np.concatenate(changes)


def assert_meets_wishes(model):
    assert steps(model, "age").min() > -1e-9
    assert steps(model, "bilirubin").min() > -1e-9
    assert steps(model, "albumin", [1]).max() < 1e-9


def test_constrained_meets_directions_everywhere(free):
    assert steps(free, "age").min() < -1e-6  # there is something to correct
    assert_meets_wishes(free.constrained(monotonic_cst=WISHES))


def test_fit_meets_the_directions_that_constrained_meets(free):
    clf = MLTSKClassifier(monotonic_cst=WISHES).fit(X, Y)
    assert_meets_wishes(clf)
    if free.n_rules_ == 0:
        same = free.constrained(monotonic_cst=WISHES)
        assert_allclose(clf.decision_function(X), same.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("size", [2, 6, 20])
def test_shortened_models_meet_the_directions_too(free, size):
    assert_meets_wishes(free.constrained(monotonic_cst=WISHES).shorten(size))


def test_models_from_files_meet_the_directions(free, tmp_path):
    clf = free.constrained(monotonic_cst=WISHES)
    loaded = load(save(clf, tmp_path / "model.skops"))
    again = from_dict(json.loads(json.dumps(to_dict(clf))))
    assert_meets_wishes(loaded)
    assert_meets_wishes(again)
    assert loaded.wishes_ == again.wishes_ == clf.wishes_
    assert_allclose(loaded.price_, clf.price_)


def test_constrained_without_rows_finds_the_same_numbers(free, tmp_path):
    loaded = load(save(free, tmp_path / "model.skops", keep_sums=True))
    by_sums = loaded.constrained(monotonic_cst=WISHES)
    by_rows = free.constrained(monotonic_cst=WISHES)
    shares = by_rows.sums_.curves.slopes / by_sums.sums_.curves.slopes
    assert_allclose(by_sums.general_coef_ * shares, by_rows.general_coef_, atol=1e-9)
    assert_meets_wishes(by_sums)
    assert not hasattr(by_sums, "loo_scores_")
    assert list(by_sums.price_) == [
        "squared_loss_before",
        "squared_loss",
        "squared_loss_added",
    ]


def test_wishes_of_several_calls_add_up_and_travel(free, tmp_path):
    first = free.constrained(monotonic_cst={"age": 1})
    path = save(first, tmp_path / "model.skops", keep_sums=True)
    for model in (first, load(path)):
        both = model.constrained(without={"bilirubin": "fever"})
        assert [wish["kind"] for wish in both.wishes_] == ["rises", "nothing"]
        assert steps(both, "age").min() > -1e-9
        assert_allclose(steps(both, "bilirubin", [0]), 0.0, atol=1e-12)
        assert np.abs(steps(both, "bilirubin", [1])).max() > 1e-6


def test_without_leaves_no_trace_of_a_feature_nor_of_its_gaps(free):
    clf = free.constrained(without=["albumin", "sex"])
    other = X.assign(albumin=np.nan, sex="m")
    assert_allclose(clf.decision_function(other), clf.decision_function(X), atol=1e-12)


def test_without_makes_numbers_zero_and_not_almost_zero(free):
    clf = free.constrained(without={"albumin": "gout", "sex": None})
    rules = str(clf.rules_).partition("In general")[2]
    fever, _, gout = rules.partition("\n  gout")
    assert "sex" not in rules
    assert "albumin" in fever
    assert gout
    assert "albumin" not in gout


def test_fitted_again_meets_all_wishes_on_other_rows_and_keeps_the_edits(free):
    wished = free.constrained(monotonic_cst={"age": 1}, without="sex")
    wished.edits_ = ({"feature": "sex"},)
    again = wished.fitted_again(X[:200], Y[:200])
    assert again.wishes_ == wished.wishes_
    assert again.edits_ == wished.edits_
    assert steps(again, "age").min() > -1e-9
    other = X.assign(sex="m")
    assert_allclose(again.decision_function(other), again.decision_function(X))
    assert len(again.fit_record_.training.Y) == 200


def test_fitted_again_is_a_fit_where_there_are_no_wishes(free):
    assert_allclose(
        free.fitted_again(X[:200], Y[:200]).decision_function(X),
        clone(free).fit(X[:200], Y[:200]).decision_function(X),
    )


def test_curves_pass_through_points_in_log_odds(free):
    clf = free.constrained(curves={"age": [(30, -0.2), (50, 0.1), (70, 0.4)]})
    rows = pd.concat([X.iloc[[3]]] * 3, ignore_index=True)
    rows["age"] = [30.0, 50.0, 70.0]
    added = np.diff(clf.decision_function(rows), axis=0)
    assert_allclose(added, 0.3, atol=1e-9)


def test_curves_are_flat_beyond_a_value(free):
    clf = free.constrained(
        curves={"age": [{"flat_above": 70}, {"flat_below": 30, "labels": ["gout"]}]}
    )
    rows = pd.concat([X.iloc[[3]]] * 2, ignore_index=True)
    rows["age"] = [70.0, 89.0]
    assert_allclose(np.diff(clf.decision_function(rows), axis=0), 0.0, atol=1e-9)
    rows["age"] = [20.0, 30.0]
    assert_allclose(np.diff(clf.decision_function(rows), axis=0)[0, 1], 0.0, atol=1e-9)


def test_short_models_are_flat_where_the_long_one_is(free):
    short = free.constrained(curves={"bilirubin": {"flat_above": 4}}).shorten(20)
    rows = pd.concat([X.iloc[[3]]] * 2, ignore_index=True)
    rows["bilirubin"] = [4.0, 15.0]
    assert_allclose(np.diff(short.decision_function(rows), axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize(("shape", "sign"), [("convex", 1), ("concave", -1)])
def test_curves_bend_to_one_side_from_end_to_end_of_ramps(free, shape, sign):
    clf = free.constrained(curves={"bilirubin": {"shape": shape}})
    terms = clf.terms_
    own = terms.feature == 3
    ends = np.unique([terms.low[own], terms.high[own]])
    scaling = clf.scaling_
    values = np.unique(np.interp(ends, scaling.levels[3], scaling.values[3]))
    rows = pd.concat([X.iloc[[3]]] * len(values), ignore_index=True)
    rows["bilirubin"] = values
    heights = clf.decision_function(rows)
    slopes = np.diff(heights, axis=0) / np.diff(values)[:, None]
    for before, after in pairwise(slopes):
        assert (sign * (after - before) > -1e-8).all()


def test_the_same_effect_is_the_same_in_log_odds(free):
    clf = free.constrained(curves={"age": {"same": True}})
    changes = steps(clf, "age")
    assert_allclose(changes[:, 0], changes[:, 1], atol=1e-9)
    assert np.abs(changes).max() > 1e-6


def test_own_rules_obey_the_directions_of_their_features():
    rules = [{"age": (60, None)}, {"age": (None, 30)}, {"age": (40, 50)}]
    clf = MLTSKClassifier().fit(X, Y, rules=rules)
    falling = clf.constrained(monotonic_cst={"age": -1})
    assert steps(clf, "age").max() > 1e-6
    assert steps(falling, "age").max() < 1e-9
    assert steps(falling.shorten(8), "age").max() < 1e-9


def test_price_is_what_honest_scores_lose(free):
    clf = free.constrained(monotonic_cst={"age": -1})  # the wrong way
    price = clf.price_
    assert list(price.index) == ["fever", "gout"]
    assert (price["log_loss_added"] > 0).all()
    assert_allclose(price["AP_lost"], price["AP_before"] - price["AP"])
    assert price.attrs["judged_by"] == "rows"


def test_constrained_drops_exceptions_and_says_so():
    clf = MLTSKClassifier(n_rules=8, order=0).fit(X, Y)
    corrected = clf.constrained(monotonic_cst={"age": 1})
    assert corrected.n_rules_ == 0
    assert corrected.price_.attrs["left_out"] == "8 exceptions"
    assert str(corrected.rules_)
    assert str(corrected.explain(X[:2]))


def test_a_corrected_stream_is_a_classifier_without_a_stream():
    stream = IncrementalMLTSK(n_rules=0).partial_fit(DATA.X[:120], DATA.Y[:120])
    stream.partial_fit(DATA.X[120:], DATA.Y[120:])
    clf = stream.constrained(monotonic_cst=[1] + [0] * (DATA.X.shape[1] - 1))
    assert type(clf) is MLTSKClassifier
    assert not hasattr(clf, "stream_")


def test_monotonic_cst_is_a_parameter_as_others_are():
    clf = MLTSKClassifier(monotonic_cst={"age": 1})
    assert clone(clf).get_params()["monotonic_cst"] == {"age": 1}
    clf.set_params(monotonic_cst=None)
    assert not hasattr(clf.fit(X, Y), "wishes_")
    free = MLTSKClassifier(monotonic_cst=[0, 0, 0, 0]).fit(X, Y)
    assert not hasattr(free, "price_")


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"monotonic_cst": {"agee": 1}}, "did you mean 'age'"),
        ({"monotonic_cst": {"sex": 1}}, "nominal"),
        ({"monotonic_cst": [1]}, "4 features"),
        ({"monotonic_cst": list("abcd")}, "must be numbers"),
        ({"monotonic_cst": "age"}, "must be numbers"),
        ({"monotonic_cst": {"age": 1}, "n_rules": 3}, "n_rules=0"),
        ({"monotonic_cst": {"age": 1}, "coupling": "ridge"}, "coupling=None"),
    ],
)
def test_fit_refuses_wrong_directions_with_a_sentence(parameters, says):
    with pytest.raises(InputError, match=says):
        MLTSKClassifier(**parameters).fit(X, Y)


def test_constrained_refuses_short_models_and_no_wish(free):
    with pytest.raises(InputError, match="No correction is asked for"):
        free.constrained()
    with pytest.raises(InputError, match="correct the long one"):
        free.shorten(4).constrained(monotonic_cst={"age": 1})


def test_constrained_refuses_rows_of_unit_length():
    sparse = make_multilabel_rules(n_samples=60, sparse=True, random_state=0)
    clf = MLTSKClassifier().fit(sparse.X, sparse.Y)
    with pytest.raises(InputError, match="dense X"):
        clf.constrained(without=["x0"])


def test_shorten_refuses_wishes_that_few_digits_cannot_meet(free):
    clf = free.constrained(curves={"age": [(50, 0)]})
    with pytest.raises(InputError, match="'age' passes through"):
        clf.shorten(4)


def test_a_large_fit_meets_wishes_though_its_sums_are_not_kept(monkeypatch):
    data = make_multilabel_rules(n_samples=20_600, n_features=4, random_state=0)
    wished = MLTSKClassifier(monotonic_cst=[1, 0, 0, 0], n_pairs=0)
    expected = wished.fit(data.X, data.Y).decision_function(data.X[:99])
    monkeypatch.setattr("mltsk.fit.solve.MAX_SUM_CELLS", 0)
    again = wished.fit(data.X, data.Y)
    assert again.fit_record_.n_rows > len(again.fit_record_.training)
    assert_allclose(again.decision_function(data.X[:99]), expected, atol=1e-9)


BEYOND = "'age' was measured from 20 to 89: {} is beyond that"


@pytest.mark.parametrize(
    ("wishes", "sentence"),
    [
        ({"curves": {"age": [(500, 1)]}}, BEYOND.format(500)),
        ({"curves": {"age": {"flat_above": 1000}}}, BEYOND.format(1000)),
        ({"curves": {"age": {"flat_below": -5}}}, BEYOND.format(-5)),
        ({"curves": {"age": [(40, 1e9)]}}, "beyond 100 are certainty"),
    ],
)
def test_wishes_about_values_that_nobody_had_are_refused(free, wishes, sentence):
    with pytest.raises(InputError, match=sentence):
        free.constrained(**wishes)


def test_a_direction_against_an_earlier_one_is_refused(free):
    rising = free.constrained(monotonic_cst={"age": {"gout": 1}})
    with pytest.raises(InputError, match="By an earlier wish 'age' rises"):
        rising.constrained(monotonic_cst={"age": -1})
    rising.constrained(monotonic_cst={"age": {"fever": -1}})


def test_a_label_that_no_wish_is_about_costs_nothing():
    """Its scores are as honest as before: what chose the terms is in both."""
    table = read_table("pbc")
    clf = MLTSKClassifier().fit(table.X, table.Y)
    assert clf.fit_record_.choice_shifts is not None
    price = clf.constrained(without={"sex": ["spiders"]}).price_
    assert_allclose(price["AP_lost"].drop("spiders"), 0, atol=1e-9)
    assert price["AP_lost"]["spiders"] > 0.005


@pytest.fixture(scope="module")
def crossed():
    """Rows, and a model with two pairs of features, each for another label."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(900, 4)), columns=list("abcd"))
    noise = rng.normal(size=(900, 2))
    strength = np.column_stack([rows.a * rows.b, rows.a * rows.b + rows.c * rows.d])
    labels = pd.DataFrame(strength + 0.5 * noise > 0.3, columns=["gout", "fever"])
    return rows, MLTSKClassifier(n_rules=0, n_pairs=2).fit(rows, labels)


def test_a_wish_about_one_label_leaves_other_labels_their_pairs(crossed):
    rows, clf = crossed
    wished = clf.constrained(without={"a": ["gout"]})
    price = wished.price_
    assert price["AP_lost"]["gout"] > 0.1
    assert_allclose(price["AP_lost"]["fever"], 0, atol=1e-9)
    assert price.attrs["left_out"] == "1 pair of features for gout"
    before, after = clf.decision_function(rows), wished.decision_function(rows)
    # what turns scores into log-odds has a part that labels share
    assert_allclose(after[:, 1], before[:, 1], atol=0.05)
    grid = pd.concat([rows.iloc[[3]]] * 60).assign(a=np.linspace(-3, 3, 60))
    assert np.ptp(wished.decision_function(grid)[:, 0]) < 1e-9
    lost = next(pair for pair in wished.pairs_ if pair.title == "a and b")
    assert "gout" not in str(lost)
    assert "fever" in str(lost)
    # a pair that both have lost is named once, without labels
    whole = clf.constrained(without=["a"])
    assert whole.price_.attrs["left_out"] == "1 pair of features"


def test_pairs_of_other_labels_are_there_without_rows_too(crossed, tmp_path):
    rows, clf = crossed
    path = save(clf, tmp_path / "crossed.skops", keep_sums=True)
    wishes = {"without": {"d": ["fever"]}}
    loaded = load(path).constrained(**wishes)
    price = loaded.price_["squared_loss_added"]
    assert_allclose(price["gout"], 0, atol=1e-9)
    assert price["fever"] > 0.01
    again = load(save(loaded, tmp_path / "again.skops", keep_sums=True))
    both = again.constrained(monotonic_cst={"a": {"gout": 1}})
    at_once = load(path).constrained(monotonic_cst={"a": {"gout": 1}}, **wishes)
    assert_allclose(
        both.decision_function(rows), at_once.decision_function(rows), atol=1e-9
    )


ANSWERS = {
    "yes": lambda smokes: smokes,
    "no": lambda smokes: ~smokes,
    "words": lambda smokes: np.where(smokes, "yes", "no"),
    "rare": lambda smokes: smokes & (np.cumsum(smokes) < 4),
}


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("answer", ANSWERS)
def test_a_direction_of_yes_or_no_is_from_no_to_yes(answer, direction):
    """As HistGradientBoosting has it for columns of True and False."""
    rng = np.random.default_rng(0)
    smokes = rng.random(300) < 0.7
    table = X.assign(smokes=ANSWERS[answer](smokes))
    gout = (rng.random(300) < np.where(smokes, 0.6, 0.3)).astype(int)
    clf = MLTSKClassifier(monotonic_cst={"smokes": direction}).fit(table, gout)
    rows = table.iloc[[0, 0]].copy()
    answers = [False, True]
    rows["smokes"] = ["no", "yes"] if answer == "words" else answers
    for model in (clf, clf.shorten(5)):
        assert direction * np.diff(model.decision_function(rows)) >= 0
    is_free = direction == (-1 if answer == "no" else 1)
    if answer != "rare":
        step = np.abs(np.diff(clf.decision_function(rows)))
        assert (step > 0.1) == is_free


def test_yes_or_no_has_no_curve():
    table = X.assign(smokes=X.age > 50)
    clf = MLTSKClassifier(n_rules=0).fit(table, Y)
    with pytest.raises(InputError, match="'smokes' is yes or no, so it has no curve"):
        clf.constrained(curves={"smokes": [(1, 0.5)]})


def test_effects_that_a_wish_holds_at_nothing_are_not_told():
    table = read_table("pbc")
    clf = MLTSKClassifier().fit(table.X, table.Y)
    told = clf.constrained(monotonic_cst={"age": 1}).rules_.to_dict()
    shapes = [shape for label in told["general"] for shape in label["shapes"]]
    assert min(shape["size"] for shape in shapes) > 1e-12


def test_points_of_a_feature_that_never_changes_are_met_at_0_or_refused():
    clf = MLTSKClassifier().fit(X.assign(ward=3.0), Y)
    clf.constrained(curves={"ward": [(3, 0)]})
    with pytest.raises(InputError, match=r"'ward' passes through \(3, 1\)"):
        clf.constrained(curves={"ward": [(3, 1)]})
