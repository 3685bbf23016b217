"""A damaged stream is refused with a sentence."""

import copy
import json
import zipfile

import numpy as np
import pytest
import skops.io
from numpy.testing import assert_array_equal

from mltsk import IncrementalMLTSK, load, save
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.io import FORMAT, MANIFEST
from mltsk.io.rebuild import check_attributes
from mltsk.io.state import from_attributes, plain_attributes, restored

from .lines import X, Y, assert_same_lines_and_pairs

DATA = make_multilabel_rules(n_samples=60, random_state=0)
SPARSE = make_multilabel_rules(n_samples=60, sparse=True, random_state=0)


def attributes_of(data):
    model = IncrementalMLTSK(n_rules=2).partial_fit(data.X, data.Y)
    return plain_attributes(model)


@pytest.fixture(scope="module")
def attributes():
    return attributes_of(DATA)


def written(attributes, path):
    """A file of any attributes of a stream, as `save` would write it unchecked."""
    skops.io.dump(from_attributes(IncrementalMLTSK, attributes), path)
    manifest = {"format": FORMAT, "mltsk": "0.1.0", "skops": "0", "info": {}}
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(MANIFEST, json.dumps(manifest))
    return path


def refused(attributes, says):
    with pytest.raises(ValueError, match=says):
        check_attributes(IncrementalMLTSK, attributes)


@pytest.mark.parametrize("data", [DATA, SPARSE], ids=["dense", "sparse"])
def test_check_stream_lets_a_stream_pass(data):
    check_attributes(IncrementalMLTSK, attributes_of(data))


def test_check_stream_lets_a_stream_of_a_table_with_gaps_pass(table, own_rules):
    rows, labels, _ = table
    model = IncrementalMLTSK(n_rules=2).partial_fit(rows, labels, rules=own_rules)
    check_attributes(IncrementalMLTSK, plain_attributes(model))


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("seen", 59, "'positions' of 'stream_' must be positions below 59"),
        ("seen", "60", "'seen' of 'stream_' must be a count"),
        ("seen", True, "'seen' of 'stream_' must be a count"),
        ("stride", 0, "'stride' of 'stream_' must be a count"),
        ("stride", 2, "'positions' of 'stream_' must be every 2th of 60"),
        ("positions", np.arange(59), "'positions' of 'stream_' must be every 1th of"),
        ("positions", None, "'positions' of 'stream_' must be 1 positions"),
        ("group_keys", np.zeros(59, int), "'group_keys' of 'stream_' must be 60 pos"),
        ("group_keys", np.full(60, -1), "'group_keys' of 'stream_' must be positions"),
        ("unit", 0.0, "'unit' of 'stream_' must be a number above 0"),
        ("variance", float("nan"), "'variance' of 'stream_' must be a number above 0"),
        ("variance", None, "'variance' of 'stream_' must be a number above 0"),
        (
            "term_weights",
            -1.0,
            "'term_weights' of 'stream_' must be a number",
        ),
        (
            "rule_weight",
            float("inf"),
            "'rule_weight' of 'stream_' must be a number of at",
        ),
        ("moments", None, "'moments' must hold H, B, phi, y, total"),
        ("kept", [1], "'kept' must hold X, Y, w"),
        ("more", 1, "'stream_' must hold seen, stride, unit, term_weights"),
    ],
)
def test_check_stream_refuses_each_damaged_field(attributes, name, value, says):
    stream = {**attributes["stream_"], name: value}
    refused({**attributes, "stream_": stream}, says)


def test_load_gives_back_a_stream_whose_samples_are_in_groups(tmp_path):
    groups = np.arange(60) % 20
    model = IncrementalMLTSK(n_rules=2)
    model.partial_fit(DATA.X[:40], DATA.Y[:40], groups=groups[:40])
    back = load(save(model, tmp_path / "m.skops"))
    for stream in (model, back):
        stream.partial_fit(DATA.X[40:], DATA.Y[40:], groups=groups[40:])
    assert_array_equal(back.fit_record_.groups, groups)
    assert_array_equal(back.loo_scores_, model.loo_scores_)


@pytest.fixture(scope="module")
def paired():
    """A stream with pairs of features, also of folds."""
    model = IncrementalMLTSK(n_rules=5, order=0, n_pairs=3).partial_fit(X, Y)
    assert len(model.stream_.folds) == 2
    return plain_attributes(model)


def test_check_stream_lets_a_stream_with_pairs_pass(paired):
    check_attributes(IncrementalMLTSK, paired)
    back = restored(IncrementalMLTSK, paired)
    fresh = IncrementalMLTSK(n_rules=5, order=0, n_pairs=3).partial_fit(X, Y)
    for model in (back, fresh):
        model.partial_fit(X[:20], Y[:20])
    assert_same_lines_and_pairs(back.system_, fresh.system_)
    assert_array_equal(back.loo_scores_, fresh.loo_scores_)


def test_load_gives_back_a_stream_with_pairs_and_a_prior(paired, tmp_path):
    stream = {**paired["stream_"], "has_kernel_prior": True}
    model = restored(IncrementalMLTSK, {**paired, "stream_": stream})
    model.partial_fit(X[:20], Y[:20])
    back = load(save(model, tmp_path / "m.skops"))
    for stream in (model, back):
        stream.partial_fit(X[20:40], Y[20:40])
    assert back.stream_.has_kernel_prior
    assert_same_lines_and_pairs(back.system_, model.system_)
    assert_array_equal(back.coef_, model.coef_)
    assert_array_equal(back.loo_scores_, model.loo_scores_)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("term_weights", np.zeros(2), "'term_weights' of 'stream_' must be a table of"),
        ("term_weights", "1", "'term_weights' of 'stream_' must be a number"),
        ("pair_weight", None, "'pair_weight' of 'stream_' must be a number of at"),
        ("pair_weight", -1.0, "'pair_weight' of 'stream_' must be a number of at"),
        ("has_kernel_prior", 1, "'has_kernel_prior' of 'stream_' must be true or"),
        ("folds", None, "'folds' of 'stream_' must be a list"),
        ("folds", [1], "'folds' must hold rows, pairs"),
        ("folds", [], "'H' of 'moments' must be a table of"),
    ],
)
def test_check_stream_refuses_damaged_weights_and_folds(paired, name, value, says):
    stream = {**paired["stream_"], name: value}
    refused({**paired, "stream_": stream}, says)


def test_check_stream_refuses_weights_of_terms_below_0(paired):
    weights = paired["stream_"]["term_weights"]
    stream = {**paired["stream_"], "term_weights": -np.ones_like(weights)}
    refused({**paired, "stream_": stream}, "'term_weights' of 'stream_' must be a num")


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("rows", lambda rows: rows + 60, "'rows' of 'folds' must be positions below"),
        ("rows", lambda rows: -1 - rows, "'rows' of 'folds' must be positions below"),
        ("rows", lambda rows: rows + 0.5, "'rows' of 'folds' must be .* positions"),
        ("rows", lambda rows: rows > 0, "'rows' of 'folds' must be .* positions"),
        ("pairs", lambda pairs: None, "'pairs_' must hold conditions, first"),
        ("pairs", lambda p: {**p, "first": p["first"] + 99}, "'first' of 'pairs_'"),
        ("pairs", lambda p: {**p, "share": p["share"] + 2}, "'share' of 'pairs_'"),
    ],
)
def test_check_stream_refuses_each_damaged_fold(paired, name, change, says):
    stream = copy.deepcopy(paired["stream_"])
    fold = stream["folds"][1]
    fold[name] = change(fold[name])
    refused({**paired, "stream_": stream}, says)


@pytest.mark.parametrize("options", [{"order": 1}, {"coupling": "laplacian"}])
def test_check_stream_refuses_a_prior_where_none_can_be(options):
    model = IncrementalMLTSK(n_rules=2, **options).partial_fit(X, Y)
    attributes = plain_attributes(model)
    attributes["stream_"]["has_kernel_prior"] = True
    refused(attributes, "'has_kernel_prior' needs rules without slopes")


@pytest.mark.parametrize(
    ("part", "name", "change", "says"),
    [
        ("moments", "H", lambda H: H[1:], "'H' of 'moments' must be a table of"),
        ("moments", "H", lambda H: H * np.nan, "'H' of 'moments' must be a table of"),
        ("moments", "B", lambda B: B[:, :1], "'B' of 'moments' must be a table of"),
        ("moments", "phi", lambda phi: phi.tolist(), "'phi' of 'moments' must be a"),
        ("moments", "y", lambda y: y[:-1], "'y' of 'moments' must be a table of 5 fin"),
        ("moments", "total", lambda _: 0.0, "'total' of 'moments' must be a number"),
        ("kept", "X", lambda X: X[:, 1:], "'X' of 'kept' must be a table of 60 x 10"),
        ("kept", "X", lambda X: X.tolist(), "'X' of 'kept' must be a table of 60 x 10"),
        ("kept", "X", lambda X: X * np.inf, "'X' of 'kept' must hold finite numbers"),
        ("kept", "Y", lambda Y: Y + 1, "'Y' of 'kept' must hold 0 and 1"),
        ("kept", "w", lambda w: -w, "'w' of 'kept' must be at least 0"),
        ("kept", "w", lambda w: w * 1e101, "'w' of 'kept' must be at most 1e100"),
        ("kept", "w", lambda w: w[:-1], "'w' of 'kept' must be a table of 60"),
    ],
)
def test_check_stream_refuses_each_damaged_table(attributes, part, name, change, says):
    stream = copy.deepcopy(attributes["stream_"])
    stream[part][name] = change(stream[part][name])
    refused({**attributes, "stream_": stream}, says)


def test_check_stream_refuses_sparse_samples_that_do_not_fit_together():
    attributes = attributes_of(SPARSE)
    attributes["stream_"]["kept"]["X"].indptr[-1] = 0
    refused(attributes, "the parts of 'X' of 'kept' do not fit each other")


@pytest.mark.parametrize("name", ["ridge_", "coupling_weight_", "coupling_"])
def test_check_stream_needs_the_weights_to_go_on_with(attributes, name):
    without = {key: value for key, value in attributes.items() if key != name}
    refused(without, f"'{name}'")


def test_load_refuses_a_damaged_stream_with_a_sentence(attributes, tmp_path):
    stream = copy.deepcopy(attributes["stream_"])
    stream["moments"]["B"] = stream["moments"]["B"][:-1]
    path = written({**attributes, "stream_": stream}, tmp_path / "m.skops")
    with pytest.raises(
        InputError, match=r"damaged .*: 'B' of 'moments' must be a table"
    ):
        load(path)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("phi", lambda phi: phi * 10, "'phi' of 'moments' is more than 'H' allows"),
        ("H", lambda H: H / 100, "'B' of 'moments' is more than 'H' and 'y' allow"),
        ("H", lambda H: -H, "'H' of 'moments' must be at least 0 on its diagonal"),
        ("H", lambda H: np.triu(H), "'H' of 'moments' must be the same above and"),
        ("B", lambda B: B * 100, "'B' of 'moments' is more than 'H' and 'y' allow"),
        ("y", lambda y: -y, "'y' of 'moments' must lie between 0 and 'total'"),
        ("y", lambda y: y + 100, "'y' of 'moments' must lie between 0 and 'total'"),
    ],
)
@pytest.mark.parametrize("coupling", [None, "laplacian"])
def test_load_refuses_a_stream_whose_sums_are_impossible(
    coupling, name, change, says, tmp_path
):
    model = IncrementalMLTSK(n_rules=2, coupling=coupling).partial_fit(DATA.X, DATA.Y)
    attributes = copy.deepcopy(plain_attributes(model))
    moments = attributes["stream_"]["moments"]
    moments[name] = change(moments[name])
    path = written(attributes, tmp_path / "m.skops")
    with pytest.raises(InputError, match=f"damaged .*: {says}"):
        load(path)
    with pytest.raises(InputError, match=f"cannot be saved, because {says}"):
        save(restored(IncrementalMLTSK, attributes), tmp_path / "other.skops")
    assert not (tmp_path / "other.skops").exists()


def test_load_refuses_a_stream_whose_ridge_shrinks_nothing(attributes, tmp_path):
    path = written({**attributes, "ridge_": -1.0}, tmp_path / "m.skops")
    with pytest.raises(InputError, match="'ridge_' and 'coupling_' must shrink all"):
        load(path)


def test_check_stream_computes_no_prior_that_memory_does_not_hold(paired, monkeypatch):
    stream = {**paired["stream_"], "has_kernel_prior": True}
    check_attributes(IncrementalMLTSK, {**paired, "stream_": stream})
    monkeypatch.setenv("MLTSK_MEMORY", "100K")
    refused({**paired, "stream_": stream}, "The prior of these sums would take more")
