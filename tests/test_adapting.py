"""A model for another site: `MLTSKClassifier.adapted`."""

import numpy as np
import pandas as pd
import pytest

from mltsk import MLTSKClassifier, from_dict, load, save, to_dict
from mltsk.exceptions import InputError
from mltsk.fit.adapt import correction, design_of, rarer_cases
from mltsk.fit.rows import Block

NAMES = ["gout", "flu"]


def site(n, slope=2.0, shift=0.0, seed=0):
    """Rows of a site: gout rises with age by a slope, flu is about smoking."""
    rng = np.random.default_rng(seed)
    age = rng.normal(size=n)
    smoker = rng.choice(["never", "daily", "seldom"], n)
    X = pd.DataFrame({"age": age, "smoker": smoker, "noise": rng.normal(size=n)})
    log_odds = np.column_stack([slope * age - 1, 2.0 * (smoker == "daily") - 1])
    p = 1 / (1 + np.exp(-log_odds - shift))
    Y = pd.DataFrame((rng.random(p.shape) < p).astype(float), columns=NAMES)
    return X, Y


@pytest.fixture(scope="module")
def old():
    X, Y = site(800)
    return MLTSKClassifier(n_rules=0).fit(X, Y)


def test_adapted_stays_where_the_sites_are_alike_and_rows_are_few(old):
    X, Y = site(40, seed=1)
    new = old.adapted(X, Y)
    assert new.strength_ == np.inf
    np.testing.assert_allclose(new.predict_proba(X), old.predict_proba(X), atol=1e-12)
    assert new.changes_[0].startswith("The new rows give no reason")


def test_adapted_follows_an_effect_that_is_turned_round_and_says_so(old):
    X, Y = site(400, slope=-2.0, seed=2)
    new = old.adapted(X, Y)
    test_X, test_Y = site(2000, slope=-2.0, seed=3)
    p = new.predict_proba(test_X)[:, 0]
    assert np.corrcoef(p, test_X["age"])[0, 1] < -0.7
    assert new.score(test_X, test_Y) > old.score(test_X, test_Y) + 0.1
    assert new.compared_["adapted"]["AP"] > new.compared_["as it is"]["AP"] + 0.1
    told = [text for text in new.changes_ if text.startswith("gout: age")]
    assert told or new.strength_ == 0
    assert not any(text.startswith("flu: noise") for text in new.changes_)


def test_adapted_is_never_far_below_the_best_of_the_other_ways(old):
    for n, slope, seed in ((30, 2.0, 4), (100, 1.0, 5), (300, 0.0, 6)):
        X, Y = site(n, slope=slope, seed=seed)
        new = old.adapted(X, Y)
        ways = {way: metrics["log loss"] for way, metrics in new.compared_.items()}
        assert ways["adapted"] <= min(ways.values()) + 0.03


def test_adapted_moves_probabilities_to_another_base_rate(old):
    X, Y = site(400, shift=-1.5, seed=7)
    new = old.adapted(X, Y)
    rates = Y.mean().to_numpy()
    np.testing.assert_allclose(new.predict_proba(X).mean(axis=0), rates, atol=0.04)
    assert any("is less frequent here" in text for text in new.changes_)


def test_a_rate_that_may_be_chance_is_not_told(old):
    """Two cases of five are no news where 27 in 100 are expected."""
    X, Y = site(5, seed=1)
    Y = Y.assign(gout=[1.0, 1.0, 0.0, 0.0, 0.0], flu=[0.0, 0.0, 0.0, 1.0, 0.0])
    new = old.adapted(X, Y)
    assert not any("frequent here" in text for text in new.changes_)
    # many visits of few people are few
    X, Y = site(300, shift=-0.5, seed=7)
    told = "\n".join(old.adapted(X, Y).changes_)
    assert "frequent here" in told
    person = np.where(Y["flu"] > 0, 0, np.arange(300) % 12)
    told = "\n".join(old.adapted(X, Y, groups=person).changes_)
    assert "flu is" not in told


def test_adapted_names_what_is_new_and_what_is_gone(old):
    X, Y = site(60, seed=8)
    X = X.drop(columns="noise").assign(weight=1.0)
    Y = Y.drop(columns="flu").assign(itch=(X["age"] > 0).astype(float))
    Y["silent"] = np.nan
    Y = Y.rename(columns={"silent": "flu"})
    new = old.adapted(X, Y.drop(columns="flu"))
    assert new.label_names_ == ("gout", "itch")
    text = "\n".join(new.changes_)
    for word in ("New, fitted from nothing by the same terms: itch", "flu", "weight"):
        assert word in text
    assert "noise" in text
    full = X.assign(noise=np.nan)[["age", "smoker", "noise"]]
    p = new.predict_proba(full)
    assert np.corrcoef(p[:, 1], X["age"])[0, 1] > 0.5
    kept = old.adapted(X, Y)  # flu was observed in no row: as in the old model
    order = [kept.label_names_.index("flu"), old.label_names_.index("flu")]
    np.testing.assert_allclose(
        kept.predict_proba(full)[:, order[0]], old.predict_proba(full)[:, order[1]]
    )


def test_an_adapted_model_is_the_same_from_a_file_and_in_any_order_of_rows(
    old, tmp_path
):
    X, Y = site(200, slope=0.5, seed=9)
    groups = np.arange(200) // 2
    read = load(save(old, tmp_path / "old.skops"))
    new = old.adapted(X, Y, groups=groups)
    from_file = read.adapted(X, Y, groups=groups)
    np.testing.assert_allclose(from_file.predict_proba(X), new.predict_proba(X))
    again = load(save(new, tmp_path / "new.skops"))
    np.testing.assert_array_equal(again.predict_proba(X), new.predict_proba(X))
    assert again.changes_ == new.changes_
    plain = from_dict(to_dict(new))
    np.testing.assert_array_equal(plain.predict_proba(X), new.predict_proba(X))
    turned = old.adapted(X[::-1], Y[::-1], groups=groups[::-1])
    np.testing.assert_allclose(turned.predict_proba(X), new.predict_proba(X), atol=1e-8)


def steps_of_age(model, label, X):
    """Changes of log-odds of a label along age, for several people."""
    j = list(model.label_names_).index(label)
    grid = np.linspace(-4, 4, 300)
    changes = []
    for person in range(5):
        rows = X.iloc[[person] * len(grid)].reset_index(drop=True).assign(age=grid)
        changes.append(np.diff(model.decision_function(rows)[:, j]))
    return np.concatenate(changes)


@pytest.mark.parametrize("has_own_words", [False, True])
def test_adapted_meets_the_wishes_that_were_met_before(old, has_own_words, tmp_path):
    """An effect that may not fall does not fall elsewhere, whatever the rows say."""
    wished = old.constrained({"age": {"gout": 1}}, without={"noise": ["flu"]})
    X, Y = site(600 if has_own_words else 150, slope=-2.0, seed=2)
    if has_own_words:
        X["smoker"] = X["smoker"].map({"daily": "ja", "never": "nie", "seldom": "oft"})
    Y = Y[["flu", "gout"]]  # another order of labels
    new = wished.adapted(X, Y)
    assert np.isfinite(new.strength_)
    assert (new.strength_ == 0) == has_own_words  # 0 is a fit from nothing
    assert steps_of_age(old.adapted(X, Y), "gout", X).min() < -0.01
    assert steps_of_age(new, "gout", X).min() > -1e-9
    rows = X.iloc[[0, 0]].assign(noise=[-1.0, 2.0])
    flu = new.decision_function(rows)[:, list(new.label_names_).index("flu")]
    assert flu[0] == pytest.approx(flu[1], abs=1e-9)
    again = load(save(new, tmp_path / "new.skops"))
    assert again.wishes_ == new.wishes_
    assert {wish["kind"] for wish in new.wishes_} == {"rises", "nothing"}
    np.testing.assert_array_equal(again.predict_proba(X), new.predict_proba(X))
    alone = wished.adapted(X, Y[["flu"]])
    assert [wish["labels"] for wish in alone.wishes_] == [("flu",)]


def test_pairs_of_labels_that_were_not_observed_stay():
    """A wish took the pair of gout, and the new rows say nothing about flu."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(700, 3)), columns=["age", "crp", "dose"])
    strength = (X["age"] * X["crp"]).to_numpy()[:, None] + [0.0, 0.0]
    p = strength + 0.5 * rng.normal(size=(700, 2)) > 0.3
    Y = pd.DataFrame(p.astype(float), columns=NAMES)
    clf = MLTSKClassifier(n_rules=0, n_pairs=1).fit(X[:400], Y[:400])
    wished = clf.constrained(monotonic_cst={"age": {"gout": 1}})
    turned = Y[400:].assign(flu=np.nan, gout=1 - Y["gout"][400:])
    new = wished.adapted(X[400:], turned)
    assert np.isfinite(new.strength_)
    before, after = (model.decision_function(X[:100])[:, 1] for model in (wished, new))
    np.testing.assert_allclose(after, before, atol=1e-9)
    grid = X.iloc[[3] * 50].assign(age=np.linspace(-3, 3, 50))
    assert np.diff(new.decision_function(grid)[:, 0]).min() > -1e-9


def test_adapted_under_wishes_that_nothing_is_against_is_adapted_without(old):
    X, Y = site(300, slope=1.0, seed=12)
    wished = old.constrained({"age": {"gout": 1}})
    new = wished.adapted(X, Y)
    assert np.isfinite(new.strength_)
    del wished.wishes_
    without = wished.adapted(X, Y)
    assert steps_of_age(without, "gout", X).min() >= 0
    np.testing.assert_allclose(new.predict_proba(X), without.predict_proba(X))
    np.testing.assert_allclose(new.loo_scores_, without.loo_scores_)


def test_adapted_names_the_wishes_that_are_about_log_odds_of_the_old_model(old):
    wished = old.constrained(curves={"age": {"points": [(0, 0)], "labels": "gout"}})
    new = wished.adapted(*site(100, seed=4))
    assert any("'age' passes through (0, 0) (gout)" in text for text in new.changes_)
    assert not hasattr(new, "wishes_")
    with pytest.raises(AttributeError, match="no price"):
        new.price_  # noqa: B018


def test_correction_leaves_a_row_out_exactly(old):
    X, Y = site(60, slope=-1.0, seed=10)
    numbers = old._samples(X)
    missed = Y.to_numpy() - old.system_.scores(numbers) / 5
    design = design_of(old.system_, numbers, np.ones(60))
    n_cases = rarer_cases(Y.to_numpy(), np.ones(Y.shape))
    whole = Block(numbers, missed, np.ones(60))
    found = correction(whole, design, np.full(2, 0.2), n_cases=n_cases, may_stay=False)
    # the same ridge problem without row 0, by the normal equations
    Phi = design.rows(design.scale.apply(numbers))
    kept = np.arange(1, 60)
    mean = Phi[kept].mean(axis=0)
    centred = Phi[kept] - mean
    A = centred.T @ centred + found.strength * np.eye(Phi.shape[1])
    rate = missed[kept].mean(axis=0)
    B = np.linalg.solve(A, centred.T @ (missed[kept] - rate))
    expected = (Phi[0] - mean) @ B
    np.testing.assert_allclose(found.loo_scores[0], expected, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda X, Y: (X.iloc[:1], Y.iloc[:1]), "two rows at least"),
        (lambda X, Y: (X.iloc[:9], Y), "rows"),
        (lambda X, Y: (X.rename(columns=str.upper), Y), "none of the features"),
        (lambda X, Y: (X, Y.to_numpy()[:, :1].repeat(3, axis=1)), "without names"),
        (lambda X, Y: (X, Y + 1), "Unknown label type"),
        (lambda X, Y: (X, ["a", "b"] * 10), "one class per row"),
    ],
)
def test_adapted_refuses_what_it_cannot_use(old, change, sentence):
    X, Y = change(*site(20, seed=11))
    with pytest.raises(ValueError, match=sentence):
        old.adapted(X, Y)


def test_a_short_model_is_not_adapted(old):
    X, Y = site(30, seed=12)
    with pytest.raises(InputError, match="adapt the long one"):
        old.shorten(3).adapted(X, Y)


def test_adapted_takes_classes_and_sparse_rows():
    from scipy import sparse

    X = sparse.random(200, 30, density=0.2, random_state=0, format="csr")
    y = np.where(X[:, [0]].toarray().ravel() > 0, "b", "a")
    clf = MLTSKClassifier().fit(X, y)
    new = clf.adapted(X[:80], y[:80])
    assert set(new.predict(X)) <= {"a", "b"}
    with pytest.raises(InputError, match="none of the classes"):
        clf.adapted(X[:3], ["a", "b", "c"])
