"""Model files: round trips, and every kind of file that must not be loaded."""

import io
import json
import os
import pickle
import sys
import warnings
import zipfile

import numpy as np
import pytest
import skops.io
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

from mltsk import IncrementalMLTSK, MLTSKClassifier
from mltsk.datasets import make_multilabel_rules
from mltsk.exceptions import InputError
from mltsk.io import (
    FORMAT,
    MANIFEST,
    ModelInfo,
    from_dict,
    load,
    read_info,
    save,
    to_dict,
)
from mltsk.io.state import plain_attributes, restored, with_plain_attributes
from mltsk.paper.methods import METHODS

from .lines import assert_same_lines_and_pairs, with_lines
from .lines import fitted as fitted_with_lines

DATA = make_multilabel_rules(n_samples=60, random_state=0)
SPARSE = make_multilabel_rules(n_samples=60, sparse=True, random_state=0)


def plain(model):
    """A fitted model as it is written."""
    return with_plain_attributes(model.fit(DATA.X, DATA.Y))


@pytest.fixture(scope="module")
def fitted():
    return MLTSKClassifier(n_rules=2).fit(DATA.X, DATA.Y)


@pytest.fixture
def saved(fitted, tmp_path):
    return save(fitted, tmp_path / "model.skops")


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path, parts):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def refused(path, match):
    with pytest.raises(InputError, match=match) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(str(path)) or str(path) in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    "model",
    [
        MLTSKClassifier(n_rules=3),
        MLTSKClassifier(n_rules=3, max_statements=5),
        MLTSKClassifier(
            n_rules=2, threshold=np.full(5, 0.4), random_state=np.random.RandomState(0)
        ),
        MLTSKClassifier(n_rules=np.int64(2), width_scale=np.float64(0.7), order=1),
        MLTSKClassifier(n_rules=0),
        IncrementalMLTSK(n_rules=2),
        MLTSKClassifier(n_rules=2, threshold=("recall", 0.9)),
    ],
    ids=[
        "plain",
        "short",
        "random state",
        "numpy scalars",
        "no exceptions",
        "stream",
        "thresholds",
    ],
)
def test_save_and_load_give_back_scores_probabilities_labels_and_rules(model, tmp_path):
    model.fit(DATA.X, DATA.Y)
    loaded = load(save(model, tmp_path / "model.skops"))
    assert type(loaded) is type(model)
    assert vars(loaded).keys() == vars(model).keys()
    for ask in ("decision_function", "predict_proba", "predict"):
        assert_array_equal(getattr(loaded, ask)(DATA.X), getattr(model, ask)(DATA.X))
    assert str(loaded.rules_) == str(model.rules_)


@pytest.mark.parametrize(
    "model", [MLTSKClassifier(n_rules=3, order=1), IncrementalMLTSK(n_rules=3)]
)
def test_load_gives_back_a_model_of_a_table_with_its_words_and_gaps(
    model, table, own_rules, tmp_path
):
    X, Y, new = table
    loaded = load(save(model.fit(X, Y, rules=own_rules), tmp_path / "model.skops"))
    assert loaded.columns_ == model.columns_
    assert_array_equal(loaded.decision_function(new), model.decision_function(new))
    assert str(loaded.rules_) == str(model.rules_)


def test_load_gives_back_lines_and_pairs_exactly(table, tmp_path):
    X, Y, new = table
    model = with_lines(MLTSKClassifier(3, n_pairs=12).fit(X, Y))
    loaded = load(save(model, tmp_path / "model.skops"))
    assert_same_lines_and_pairs(loaded.system_, model.system_)
    assert_array_equal(loaded.decision_function(new), model.decision_function(new))


def test_load_gives_back_a_model_of_sparse_rows(tmp_path):
    model = MLTSKClassifier(n_rules=2).fit(SPARSE.X, SPARSE.Y)
    loaded = load(save(model, tmp_path / "model.skops"))
    assert_array_equal(
        loaded.decision_function(SPARSE.X), model.decision_function(SPARSE.X)
    )


@pytest.mark.parametrize("max_statements", [None, 3])
def test_load_gives_back_a_model_of_few_used_features(max_statements, tmp_path):
    n_rows, n_features = SPARSE.X.shape
    unused = sparse.csr_array((n_rows, 2 * n_features))
    X = sparse.hstack([unused, SPARSE.X], format="csr")
    new = sparse.csr_array(np.random.default_rng(0).random(X.shape))
    model = MLTSKClassifier(n_rules=2, max_statements=max_statements).fit(X, SPARSE.Y)
    loaded = load(save(model, tmp_path / "model.skops"))
    assert_array_equal(loaded.decision_function(new), model.decision_function(new))
    assert str(loaded.rules_) == str(model.rules_)
    assert_array_equal(from_dict(to_dict(model)).predict(new), model.predict(new))


@pytest.mark.parametrize("data", [DATA, SPARSE], ids=["dense", "sparse"])
def test_load_gives_back_a_stream_that_goes_on_learning(data, tmp_path):
    model = IncrementalMLTSK(n_rules=2).partial_fit(data.X[:40], data.Y[:40])
    loaded = load(save(model, tmp_path / "model.skops"))
    for each in (model, loaded):
        each.partial_fit(data.X[40:], data.Y[40:])
    assert loaded.n_seen_ == 60
    assert_array_equal(
        loaded.decision_function(data.X), model.decision_function(data.X)
    )


def test_load_gives_back_names_whatever_they_hold(tmp_path):
    X, Y = DATA.frames()
    X.columns = [
        "a b",
        'quo"te',
        "<script>alert(1)</script>",
        "naïve 漢字",
        "comma, dot.",
        *X.columns[5:],
    ]
    Y.columns = ["$x$", "&amp;", "l3", "l4", "__loader__"]
    path = save(MLTSKClassifier(n_rules=2).fit(X, Y), tmp_path / "model.skops")
    assert load(path).feature_names_in_.tolist() == list(X.columns)
    assert read_info(path).label_names == tuple(Y.columns)


def test_read_info_gives_back_what_save_was_told(fitted, tmp_path):
    kinds = {"zone": "nominal", "stage": ("low", "high")}
    info = ModelInfo(
        data="flags",
        feature_names=("zone",),
        label_names=("red",),
        categories={"zone": ("NE", "SE")},
        fitted={"rows": np.int64(194), "seconds": 0.5},
        kinds=kinds,
        ids=("nr",),
        reading={"missing": "-9"},
    )
    assert read_info(save(fitted, tmp_path / "m.skops", info=info)) == info


def test_read_info_defaults_to_the_names_that_the_model_knows(saved):
    info = read_info(saved)
    assert info.feature_names == tuple(f"x{d}" for d in range(10))
    assert info.label_names == tuple(f"label {j}" for j in range(5))
    assert info.kinds == dict.fromkeys(info.feature_names, "number")


def test_save_writes_a_skops_file_of_one_type_of_ours(saved):
    assert skops.io.get_untrusted_types(file=saved) == [
        "mltsk.classifier.MLTSKClassifier"
    ]


def test_save_replaces_in_one_step_and_leaves_nothing_else(fitted, saved):
    save(fitted, saved)
    assert [file.name for file in saved.parent.iterdir()] == ["model.skops"]


def test_save_needs_a_folder_and_a_file_name(fitted, tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        save(fitted, tmp_path / "no" / "model.skops")
    with pytest.raises(InputError, match="is a folder"):
        save(fitted, tmp_path)


def test_save_refuses_an_unfitted_model(tmp_path):
    with pytest.raises(InputError, match="call fit before saving"):
        save(MLTSKClassifier(), tmp_path / "m.skops")
    with pytest.raises(InputError, match="not a fitted model"):
        save({"a": 1}, tmp_path / "m.skops")


def test_save_refuses_what_load_would_refuse(tmp_path):
    model = RidgeClassifier().fit(DATA.X, DATA.Y)
    with pytest.raises(
        InputError, match=r"holds a sklearn.linear_model._ridge.RidgeClassifier"
    ):
        save(model, tmp_path / "m.skops")
    assert not list(tmp_path.iterdir())


def test_load_gives_back_a_pipeline_with_all_its_steps(table, tmp_path):
    X, Y, new = table
    columns = make_column_transformer(
        (
            make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()),
            ["age", "albumin"],
        ),
        (OneHotEncoder(handle_unknown="ignore", min_frequency=5), ["smoker", "sex"]),
        (
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
            ["stage"],
        ),
        ("passthrough", ["scores"]),
        sparse_threshold=0.0,
    )
    for last in (
        MLTSKClassifier(n_rules=2),
        MLTSKClassifier(n_rules=2, threshold=("recall", 0.9)),
    ):
        pipe = make_pipeline(columns, last).fit(X, Y)
        path = save(pipe, tmp_path / "model.skops")
        assert_array_equal(
            load(path).decision_function(new), pipe.decision_function(new)
        )
        assert read_info(path).feature_names == tuple(X.columns)
        assert read_info(path).label_names == ("ill", "old", "low")


@pytest.mark.parametrize(
    ("step", "last", "match"),
    [
        (
            FunctionTransformer(np.abs),
            MLTSKClassifier(n_rules=0),
            "a numpy.absolute, and a file may hold only",
        ),
        (
            StandardScaler(),
            RidgeClassifier(),
            "ends in a RidgeClassifier, which is no classifier of mltsk",
        ),
        (StandardScaler(), PCA(), "ends in a PCA, which is no classifier of mltsk"),
    ],
)
def test_save_refuses_a_pipeline_of_anything_else(step, last, match, tmp_path):
    with pytest.raises(InputError, match=match):
        save(
            make_pipeline(step, last).fit(DATA.X, DATA.Y.astype(int)),
            tmp_path / "m.skops",
        )
    with pytest.raises(InputError, match="call fit before saving"):
        save(make_pipeline(step, MLTSKClassifier()), tmp_path / "m.skops")
    assert not list(tmp_path.iterdir())


def test_load_refuses_a_missing_file_and_a_folder(tmp_path):
    refused(tmp_path / "none.skops", "no model file")
    refused(tmp_path, "is a folder, not a model")


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "is empty"),
        (b"a,b\n1,2\n", "is not a model file"),
        (b"PK\x03\x04 and nothing more", "damaged"),
        (b"P", "is not a model file"),
    ],
)
def test_load_refuses_other_files(content, match, tmp_path):
    (tmp_path / "m.skops").write_bytes(content)
    refused(tmp_path / "m.skops", match)


def test_load_refuses_a_pickle_unread(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "ran"),))

    (tmp_path / "m.skops").write_bytes(pickle.dumps(Bomb()))
    refused(tmp_path / "m.skops", "is a pickle")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_load_refuses_a_truncated_file(saved, share):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(len(content) * share)])
    refused(saved, "damaged")


def test_load_never_takes_flipped_bytes_for_another_model(saved, fitted):
    content = bytearray(saved.read_bytes())
    for at in np.random.default_rng(0).integers(0, len(content), 40):
        changed = bytearray(content)
        changed[at] ^= 0xFF
        saved.write_bytes(changed)
        try:
            loaded = load(saved)
        except InputError:
            continue
        # a byte that nobody reads, such as a date
        assert_array_equal(loaded.coef_, fitted.coef_)


def test_load_refuses_an_archive_of_something_else(tmp_path):
    rewrite(tmp_path / "m.skops", {"hello.txt": "hello"})
    refused(tmp_path / "m.skops", f"has no {MANIFEST}")
    skops.io.dump(
        RidgeClassifier().fit(DATA.X, DATA.Y.astype(int)), tmp_path / "m.skops"
    )
    refused(tmp_path / "m.skops", "not a model of mltsk")


def with_manifest(path, model):
    """A hostile file: any object as skops writes it, under a manifest of ours."""
    skops.io.dump(model, path)
    manifest = {"format": FORMAT, "mltsk": "0.1.0", "skops": "0", "info": {}}
    rewrite(path, members(path) | {MANIFEST: json.dumps(manifest)})


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (
            RidgeClassifier(),
            "sklearn.linear_model._ridge.RidgeClassifier",
        ),  # skops itself trusts this one
        (np.log, "numpy.log"),
        ({1, 2}, "builtins.set"),
        (os.system, "posix.system|nt.system"),
        (MLTSKClassifier(n_rules=np.random.default_rng(0)), "numpy.random"),
        (MLTSKClassifier(scale=print), "builtins.print"),
    ],
    ids=["estimator", "ufunc", "set", "function", "generator", "inside a model"],
)
def test_load_refuses_types_that_are_not_trusted(thing, name, tmp_path):
    with_manifest(tmp_path / "m.skops", thing)
    assert "it was not loaded" in refused(tmp_path / "m.skops", name)


@pytest.mark.parametrize(
    ("steps", "match"),
    [
        (
            (FunctionTransformer(os.system), MLTSKClassifier()),
            "(posix|nt).system, which no model",
        ),
        (
            (FunctionTransformer(np.log1p), MLTSKClassifier()),
            "numpy.log1p, which no model",
        ),
        ((RidgeClassifier(), MLTSKClassifier()), "RidgeClassifier, which no model"),
        ((StandardScaler(), MLTSKClassifier(n_rules=StandardScaler())), "damaged"),
        (
            (StandardScaler().fit(DATA.X), PCA().fit(DATA.X)),
            "ends in a PCA, which is no classifier of mltsk",
        ),
        (
            (StandardScaler(), plain(MLTSKClassifier(n_rules=0))),
            "StandardScaler instance is not fitted",
        ),
    ],
)
def test_load_refuses_a_pipeline_of_anything_else(steps, match, tmp_path):
    with_manifest(tmp_path / "m.skops", make_pipeline(*steps))
    refused(tmp_path / "m.skops", match)


@pytest.mark.parametrize(
    "thing", [StandardScaler().fit(DATA.X), MLTSKClassifier(n_rules=StandardScaler())]
)
def test_load_takes_transformers_in_pipelines_alone(thing, tmp_path):
    with_manifest(tmp_path / "m.skops", thing)
    refused(tmp_path / "m.skops", "holds a sklearn.preprocessing._data.StandardScaler")


def test_load_imports_nothing_of_an_untrusted_file(saved, tmp_path, monkeypatch):
    (tmp_path / "hostile.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Model: pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    schema = members(saved)["schema.json"].replace(b"mltsk.classifier", b"hostile")
    rewrite(saved, members(saved) | {"schema.json": schema})
    refused(saved, "holds a hostile.MLTSKClassifier")
    assert "hostile" not in sys.modules
    assert not (tmp_path / "ran").exists()


def test_load_refuses_plain_data(tmp_path):
    with_manifest(tmp_path / "m.skops", {"a": 1})
    refused(tmp_path / "m.skops", "holds no model")


def test_load_refuses_arrays_with_pickled_objects(saved):
    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    parts = members(saved)
    array = next(name for name in parts if name.endswith(".npy"))
    rewrite(saved, parts | {array: buffer.getvalue()})
    refused(saved, "damaged")


def test_load_refuses_arrays_that_do_not_fit_together(fitted, tmp_path):
    attributes = plain_attributes(fitted)
    attributes["coef_"] = attributes["coef_"][:, :-1]
    path = tmp_path / "m.skops"
    damaged = restored(MLTSKClassifier, attributes)
    with_manifest(path, with_plain_attributes(damaged))
    refused(path, "'coef_' must be a table|'coef_' has")
    with pytest.raises(InputError, match=r"cannot be saved, because 'coef_'"):
        save(damaged, tmp_path / "other.skops")
    assert not (tmp_path / "other.skops").exists()


def test_load_refuses_tampered_pairs_with_a_sentence(tmp_path):
    attributes = plain_attributes(fitted_with_lines())
    attributes["pairs_"]["first"] = attributes["pairs_"]["first"] + 99
    path = tmp_path / "m.skops"
    damaged = restored(MLTSKClassifier, attributes)
    with_manifest(path, with_plain_attributes(damaged))
    refused(path, "'first' of 'pairs_' must be positions below")
    with pytest.raises(InputError, match=r"cannot be saved, because 'first' of"):
        save(damaged, tmp_path / "other.skops")


@pytest.mark.parametrize(
    ("number", "advice"),
    [(FORMAT - 1, r"fit the model again\.$"), (FORMAT + 1, "upgrade")],
)
def test_load_says_what_to_do_about_another_format(saved, number, advice):
    manifest = json.loads(members(saved)[MANIFEST]) | {"format": number, "mltsk": "9.0"}
    rewrite(saved, members(saved) | {MANIFEST: json.dumps(manifest)})
    written = f"written by mltsk 9.0 in format {number}"
    refused(saved, f"{written}, and mltsk .* reads {FORMAT}: {advice}")
    with pytest.raises(InputError, match=advice):
        read_info(saved)


def test_load_gives_newer_parameters_their_defaults(tmp_path, fitted):
    older = MLTSKClassifier(n_rules=2).fit(DATA.X, DATA.Y)
    del older.max_statements, older.threshold
    loaded = load(save(older, tmp_path / "m.skops"))
    assert (loaded.max_statements, loaded.threshold) == (None, 0.5)
    assert_array_equal(
        loaded.decision_function(DATA.X), fitted.decision_function(DATA.X)
    )


def test_load_gives_a_model_the_categories_that_the_file_names(tmp_path, fitted):
    info = ModelInfo(categories={"x3": ("no", "yes"), "x4": ("7", "3")})
    loaded = load(save(fitted, tmp_path / "m.skops", info=info))
    expected = {"x3": {0.0: "no", 1.0: "yes"}, "x4": {7.0: "7", 3.0: "3"}}
    assert loaded.system_.categories == expected
    again = load(save(loaded, tmp_path / "m.skops"))  # the model knows them now
    assert again.system_.categories == expected
    assert load(save(fitted, tmp_path / "m.skops")).system_.categories == {}


@pytest.mark.parametrize("name", sorted(METHODS))
def test_load_gives_back_the_compared_methods(name, tmp_path):
    model = METHODS[name]()
    short = (
        {"max_epochs": 2, "n_epochs": 2} if name in ("c2ae", "bp-mll", "jbnn") else {}
    )
    model.set_params(
        **{key: value for key, value in short.items() if key in model.get_params()}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it stops early is the point here
        model.fit(DATA.X, DATA.Y)
    loaded = load(save(model, tmp_path / "m.skops"))
    assert_array_equal(
        loaded.decision_function(DATA.X), model.decision_function(DATA.X)
    )


@pytest.mark.parametrize("manifest", ["{", "[]", "{}", '{"format": "1", "mltsk": "1"}'])
def test_load_refuses_a_broken_manifest(saved, manifest):
    rewrite(saved, members(saved) | {MANIFEST: manifest})
    refused(saved, "damaged")


def test_read_info_refuses_incomplete_info(saved):
    rewrite(
        saved,
        members(saved)
        | {MANIFEST: f'{{"format": {FORMAT}, "mltsk": "0.1.0", "info": {{}}}}'},
    )
    with pytest.raises(InputError, match="damaged"):
        read_info(saved)


def test_load_refuses_a_file_that_would_unpack_to_too_much(saved, monkeypatch):
    monkeypatch.setenv("MLTSK_MEMORY", "1000")
    refused(saved, "would take more than 1 MiB of memory")
    monkeypatch.undo()
    rewrite(saved, members(saved) | {"mltsk.json": " " * ((64 << 20) + 1)})
    refused(saved, "too much for a model")


def test_load_refuses_a_deeply_nested_file(saved):
    rewrite(saved, members(saved) | {"schema.json": "[" * 100_000 + "]" * 100_000})
    refused(saved, "damaged")
