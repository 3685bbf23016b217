"""The joined model is the one of all rows together."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mltsk import MLTSKClassifier, from_dict, load, save, to_dict
from mltsk.exceptions import InputError
from mltsk.metrics import evaluate
from mltsk.sites import SiteSums, joined
from mltsk.sites.sums import labels_of_table, numbers_of_table


def ridge(Phi, y, penalty):
    """Numbers and intercept of a ridge problem on rows, by least squares."""
    mean, rate = Phi.mean(axis=0), y.mean()
    left = np.vstack([Phi - mean, np.sqrt(penalty) * np.eye(Phi.shape[1])])
    right = np.concatenate([y - rate, np.zeros(Phi.shape[1])])
    B = np.linalg.lstsq(left, right, rcond=None)[0]
    return B, rate - mean @ B


def fitted_on_rows(tables, plan, curve_share, penalty):
    """Log-odds of all rows by a fit to all of them, without any sums."""
    parts = []
    for table in tables:
        Phi = plan.design.rows(plan.scale.apply(numbers_of_table(table, plan)))
        parts.append((Phi, *labels_of_table(table, plan)))
    everyone = np.vstack([Phi for Phi, _, _ in parts])
    weights = plan.scale.term_weights(everyone.var(axis=0), curve_share)
    weights[everyone.var(axis=0) < 1e-6] = 0
    log_odds = np.empty((len(everyone), len(plan.label_names)))
    for j in range(log_odds.shape[1]):
        own = []
        for Phi, Y, observed in parts:
            seen = observed[:, j]
            own.append((Phi[seen] * np.sqrt(weights), Y[seen, j]))
        scores = []
        for s, (Phi, _) in enumerate(own):
            others = own[:s] + own[s + 1 :]
            stacked = np.vstack([A for A, _ in others])
            B, b = ridge(stacked, np.concatenate([y for _, y in others]), penalty)
            scores.append(b + Phi @ B)
        left_out = np.concatenate(scores)
        y = np.concatenate([y for _, y in own])
        cases, rest = left_out[y > 0], left_out[y == 0]
        # cases and others of a site have one variance around their own means
        within = 0.0
        for (_, y_s), scores_s in zip(own, scores, strict=True):
            for kind in (0, 1):
                values = scores_s[y_s == kind]
                within += len(values) * values.var()
                grand = (rest, cases)[kind].mean()
                within += len(values) * (values.mean() - grand) ** 2
        slope = (cases.mean() - rest.mean()) / (within / len(y))
        offset = np.log(len(cases) / len(rest))
        offset -= slope * (cases.mean() + rest.mean()) / 2
        stacked = np.vstack([A for A, _ in own])
        B, b = ridge(stacked, y, penalty)
        log_odds[:, j] = slope * (b + (everyone * np.sqrt(weights)) @ B) + offset
    return log_odds


def test_the_joined_model_is_the_one_fitted_on_all_rows_to_nine_digits(
    frames, tables, plan, sums
):
    model = joined(sums)
    X = pd.concat(frames)[["age", "ward", "crp"]]
    own = model.decision_function(X)
    differences = []
    for share in (0.0, 0.3, 1.0):
        expected = fitted_on_rows(tables, plan, share, model.ridge_)
        differences.append(np.abs(own - expected).max())
    assert min(differences) < 1e-9


def test_the_order_of_sites_changes_nothing(frames, sums):
    X = frames[0][["age", "ward", "crp"]]
    assert_array_equal(
        joined(sums).predict_proba(X), joined(sums[::-1]).predict_proba(X)
    )


def test_the_joined_model_is_about_as_good_as_one_fit_and_travels(
    frames, sums, tmp_path
):
    frame = pd.concat(frames)
    X, Y = frame[["age", "ward", "crp"]], frame[["gout", "flu"]]
    model = joined(sums)
    one = MLTSKClassifier(n_rules=0, n_pairs=0).fit(X, Y)
    ap = evaluate(Y, model.predict_proba(X), per_label=True)["AP"].mean()
    assert ap > evaluate(Y, one.predict_proba(X), per_label=True)["AP"].mean() - 0.05
    rates = Y.mean().to_numpy()
    assert_allclose(model.predict_proba(X).mean(axis=0), rates, atol=0.05)
    again = load(save(model, tmp_path / "joined.skops"))
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.sites_ == model.sites_
    plain = from_dict(to_dict(model))
    assert_array_equal(plain.predict_proba(X), model.predict_proba(X))
    assert str(model.rules_)


def test_leave_one_site_out_tells_cases_and_how_well_they_are_found(sums, frames):
    rows = joined(sums).sites_
    assert len(rows) == 6
    for row in rows:
        if row["label"] == "gout":
            assert 0.7 < row["AUC"] < 0.95
    n_cases = sum(row["cases"] for row in rows if row["label"] == "gout")
    assert n_cases == pd.concat(frames)["gout"].sum()


def test_protected_sums_still_tell_what_is_strong(tables, plan):
    model = joined([SiteSums.of(table, plan, least=10) for table in tables])
    strong = [row["AUC"] for row in model.sites_ if row["label"] == "gout"]
    assert min(strong) > 0.7


def test_a_joined_model_can_be_corrected_where_its_sums_are_kept(
    frames, sums, tmp_path
):
    X = pd.concat(frames)[["age", "ward", "crp"]]
    model = joined(sums, keep_sums=True)
    assert_allclose(
        model.decision_function(X), joined(sums).decision_function(X), atol=1e-9
    )
    again = load(save(model, tmp_path / "joined.skops", keep_sums=True))
    for corrector in (model, again):
        falling = corrector.constrained({"age": {"gout": -1}}, without=["ward"])
        rows = X.iloc[[0] * 80].assign(age=np.linspace(20, 100, 80))
        assert np.diff(falling.decision_function(rows)[:, 0]).max() < 1e-9
        assert falling.price_["squared_loss_added"]["gout"] > 0.01
    free = model.constrained({"age": {"gout": 1}})  # which it does anyway
    assert_allclose(free.decision_function(X), model.decision_function(X), atol=1e-6)
    ranges = model.alternatives("gout").to_frame()
    assert (ranges["low"] <= ranges["effect"]).all()
    with pytest.raises(InputError, match="neither its rows nor their sums"):
        joined(sums).constrained({"age": {"gout": -1}})


def test_sums_that_do_not_belong_together_are_refused(sums):
    other = replace(sums[1].plan, label_names=("gout", "cold"))
    with pytest.raises(InputError, match="different plans"):
        joined([sums[0], replace(sums[1], plan=other)])
    terms = sums[1].plan.terms
    bent = replace(sums[1].plan, terms=replace(terms, low=terms.low * 0.9))
    with pytest.raises(InputError, match="different plans"):
        joined([sums[0], replace(sums[1], plan=bent)])
    with pytest.raises(InputError, match="there twice"):
        joined([sums[0], sums[1], sums[0]])
    with pytest.raises(InputError, match="no sums"):
        joined([])
    with pytest.raises(InputError, match="found on rows"):
        joined(sums, threshold="f1")
    alone = joined(sums[:1])
    assert [row["AUC"] for row in alone.sites_] == [None, None]


def test_sums_that_protect_nobody_say_so(sums, tables, plan):
    told = "Nothing was hidden: sums may tell of single people."
    assert all(told in own.told for own in sums)  # those of --least 1
    assert told not in SiteSums.of(tables[0], plan).told


def test_a_gain_is_not_called_a_cost(tables, plan):
    for least in (2, 5, 10, 15):
        for table in tables:
            cost = SiteSums.of(table, plan, least=least).cost
            found = re.search(r"AP (\d\.\d+) instead of (\d\.\d+)", cost)
            after, before = map(float, found.groups())
            is_cost = cost.startswith("That costs, by")
            assert is_cost == (after < before) or after == before
