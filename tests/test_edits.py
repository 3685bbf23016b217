"""Files of edits are data: every part of them is checked, and none of them is code."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mltsk import MLTSKClassifier, edited, from_dict, load, read_table, save, to_dict
from mltsk.edits import Edit, Edits, fingerprint, read_edits
from mltsk.exceptions import InputError

WHO = {"author": "Dr. A. Person", "reason": "known", "time": "2026-01-31T12:00:00Z"}
FALLS = {"feature": "albumin", "labels": ["ascites"], "action": "falls", **WHO}
POINT = {
    "feature": "bilirubin",
    "labels": ["ascites", "edema"],
    "action": "point",
    "value": 3.0,
    "effect": 0.4,
    **WHO,
}


@pytest.fixture(scope="module")
def pbc():
    return read_table("pbc")


@pytest.fixture(scope="module")
def model(pbc):
    return MLTSKClassifier().fit(pbc.X, pbc.Y)


def file_of(model, *edits, **others):
    content = {
        "format": "mltsk-edits",
        "version": 1,
        "model": fingerprint(model.system_),
        "edits": list(edits),
    }
    return {**content, **others}


def of(*actions, feature="age", labels=("gout",)):
    """Edits of one curve; a number is the effect of a point at 1."""
    items = []
    for action in actions:
        if isinstance(action, str):
            items.append(Edit(feature, labels, action, **WHO))
        else:
            items.append(
                Edit(feature, labels, "point", **WHO, value=1.0, effect=action)
            )
    return Edits("it", "", tuple(items)).wishes()


def test_the_last_edit_of_a_curve_counts():
    assert of("rises", "falls")["monotonic_cst"] == {"age": {"gout": -1}}
    assert of(0.5, 0.7)["curves"] == {
        "age": [{"points": [(1.0, 0.7)], "labels": ["gout"]}]
    }
    assert of("rises", 0.5)["monotonic_cst"] == {"age": {"gout": 1}}
    off = of("rises", 0.5, "off")
    assert off == {"monotonic_cst": None, "without": {"age": ["gout"]}, "curves": None}
    assert of("off", "rises")["without"] is None
    assert set(of("rises", 0.5, "free").values()) == {None}


def test_edited_is_constrained_by_the_same_wishes_from_sums(model, pbc, tmp_path):
    path = save(model, tmp_path / "model.skops", keep_sums=True)
    changed = edited(path, file_of(model, FALLS, POINT))
    by_hand = load(path).constrained(
        monotonic_cst={"albumin": {"ascites": -1}},
        curves={"bilirubin": {"points": [(3, 0.4)], "labels": ["ascites", "edema"]}},
    )
    expected = by_hand.decision_function(pbc.X)
    assert_allclose(changed.decision_function(pbc.X), expected, atol=1e-12)
    assert changed.price_.equals(by_hand.price_)
    in_memory = edited(model, file_of(model, FALLS, POINT))
    assert_allclose(in_memory.decision_function(pbc.X), expected, atol=1e-9)
    assert in_memory.fit_record_ is None
    assert model.fit_record_ is not None


def test_the_log_travels_with_the_model(model, tmp_path):
    changed = edited(model, file_of(model, FALLS))
    path = save(changed, tmp_path / "edited.skops", keep_sums=True)
    for again in (load(path), from_dict(json.loads(json.dumps(to_dict(changed))))):
        assert again.edits_ == changed.edits_
    twice = edited(path, file_of(changed, POINT))
    assert [edit["feature"] for edit in twice.edits_] == ["albumin", "bilirubin"]
    assert {wish["kind"] for wish in twice.wishes_} == {"falls", "points"}
    wished = twice.constrained(without=["sex"])
    assert wished.edits_ == twice.edits_


def test_an_edited_model_does_not_say_how_well_the_one_before_did(model):
    assert "can be predicted" in str(model.rules_)
    assert "can be predicted" not in str(edited(model, file_of(model, FALLS)).rules_)


def test_a_log_that_was_tampered_with_is_refused(model):
    plain = to_dict(edited(model, file_of(model, FALLS)))
    text = json.dumps(plain).replace("Dr. A. Person", "")
    with pytest.raises(InputError, match="'author' of one of its edits"):
        from_dict(json.loads(text))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"format": "other"},
            "is no file of edits: its 'format' must be 'mltsk-edits'",
        ),
        ({"version": 2}, "has the version 2, and this mltsk reads version 1"),
        ({"version": True}, "has the version True"),
        ({"model": "sha256:0"}, "was made in the page of another model"),
        ({"model": 5}, "'model' of The file of edits must be the fingerprint"),
        (
            {"more": 1},
            "has 'more', but knows format, version, model, edits and numbers",
        ),
        ({"edits": []}, "must be a list of 1 to 10,000 edits"),
        ({"edits": "all"}, "must be a list of 1 to 10,000 edits"),
        ({"edits": [5]}, "Edit 1 of The file of edits must be an object with feature"),
        ({"edits": [FALLS] * 10_001}, "must be a list of 1 to 10,000 edits"),
        ({"numbers": [1]}, "must be an object with intercept, terms and pairs"),
        (
            {"numbers": {"intercept": [1], "terms": [2], "pairs": []}},
            "are not those that its edits give",
        ),
        (
            {"numbers": {"intercept": 1, "terms": [2], "pairs": []}},
            "'intercept' in 'numbers' of The file of edits must be a list of numbers",
        ),
    ],
)
def test_a_file_that_is_wrong_is_refused_in_one_sentence(model, change, sentence):
    with pytest.raises(InputError) as refusal:
        edited(model, file_of(model, FALLS) | change)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"feature": "albumen"}, "names 'albumen', which is no feature: did you mean"),
        ({"labels": ["ascites", "gout"]}, "names 'gout', which is no label"),
        ({"labels": []}, "must name its labels"),
        ({"labels": ["edema", "edema"]}, "names a label twice"),
        ({"labels": "edema"}, "must name its labels"),
        ({"action": "explode"}, "has the action 'explode', but knows rises, falls"),
        ({"reason": " "}, "'reason' of edit 1 of The file of edits must be a text"),
        ({"author": "x" * 2001}, "must be a text of 1 to 2,000 characters"),
        ({"time": "yesterday"}, "has the time 'yesterday'"),
        ({"value": 3}, "has 'value', but knows"),
        ({"feature": "sex"}, "'sex' is nominal"),
        ({"action": "point"}, "has no 'value'"),
        ({"action": "point", "value": 3, "effect": "1"}, "must be a finite number"),
        ({"action": "point", "value": True, "effect": 1}, "must be a finite number"),
        ({"action": "point", "value": 3, "effect": 10**400}, "must be a finite number"),
        ({"action": "point", "value": 3, "effect": 1e3}, "log-odds beyond 100"),
        ({"action": "free"}, "takes all of its edits back"),
    ],
)
def test_an_edit_that_is_wrong_is_refused_in_one_sentence(model, change, sentence):
    with pytest.raises(InputError) as refusal:
        edited(model, file_of(model, FALLS | change))
    assert sentence in str(refusal.value)


def test_edits_that_contradict_each_other_are_refused(model):
    points = [
        POINT | {"action": "rises"},
        POINT | {"value": 1.0, "effect": 1.0},
        POINT | {"value": 3.0, "effect": 0.0},
    ]
    del points[0]["value"], points[0]["effect"]
    with pytest.raises(InputError, match="take one of these wishes back"):
        edited(model, file_of(model, *points))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "No edits can be read from .*: it is no JSON"),
        (b"{", "it is no JSON"),
        (b"\xff\xfe", "it is no JSON"),
        (b"[" * 100_000, "it is no JSON"),
        (b"[]", "is no file of edits"),
        (b" " * (16 << 20) + b"{}", "more than 16 MiB"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path, content, sentence):
    path = tmp_path / "edits.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        read_edits(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_edits(tmp_path / "none.json")


def test_a_model_without_sums_or_of_another_kind_is_refused(model, pbc, tmp_path):
    path = save(model, tmp_path / "model.skops")
    with pytest.raises(InputError, match="save it with keep_sums=True"):
        edited(path, file_of(model, FALLS))
    X = np.random.default_rng(0).normal(size=(60, 3))
    pipeline = make_pipeline(StandardScaler(), MLTSKClassifier(n_rules=0))
    pipeline.fit(X, X > 0)
    with pytest.raises(InputError, match="is a Pipeline, which cannot be edited"):
        edited(pipeline, file_of(model, FALLS))
    short = model.shorten(5)
    with pytest.raises(InputError, match="A short model cannot be corrected"):
        edited(short, file_of(short, FALLS))


def test_a_fingerprint_is_of_names_and_numbers(model, tmp_path):
    own = fingerprint(model.system_)
    path = save(model, tmp_path / "model.skops")
    assert fingerprint(load(path).system_) == own
    assert fingerprint(model.constrained(without=["sex"]).system_) != own
