import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from mltsk.datasets import Dataset, category_values, load_dataset
from mltsk.exceptions import InputError


def test_dataset_knows_its_size_and_says_so():
    data = Dataset(np.zeros((4, 3)), np.eye(4, 2), name="toy")
    assert (len(data), data.shape) == (4, (4, 3, 2))
    assert (data.cardinality, data.density) == (0.5, 0.25)
    assert repr(data) == (
        "Dataset('toy': 4 samples, 3 features, 2 labels, "
        "cardinality 0.500, density 0.250)"
    )


def test_dataset_makes_up_names_only_when_there_are_none():
    data = Dataset(np.zeros((1, 2)), np.zeros((1, 1)), label_names=["red"])
    assert data.feature_names == ("x1", "x2")
    assert data.label_names == ("red",)


def test_dataset_keeps_sparse_features_with_short_indices():
    wide = sparse.csc_array(np.eye(3))
    wide.indices = wide.indices.astype(np.int64)
    wide.indptr = wide.indptr.astype(np.int64)
    data = Dataset(wide, np.ones((3, 1)))
    assert data.is_sparse
    assert data.X.format == "csr"
    assert data.X.indices.dtype == np.int32
    assert "33.3% filled" in repr(data)


def test_dataset_does_not_copy_dense_features():
    X = np.zeros((2, 2))
    assert Dataset(X, np.zeros((2, 1))).X is X


def test_dataset_cannot_be_changed_by_accident():
    with pytest.raises(AttributeError):
        Dataset(np.zeros((1, 1)), np.zeros((1, 1))).name = "other"


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"X": np.zeros(3)}, "X has 1 axes"),
        ({"X": [["a"]]}, "not a number"),
        ({"Y": np.zeros(2)}, "Y has 1 axes"),
        ({"Y": [[0, 2], [0, 1]]}, "other than 0 and 1"),
        ({"Y": np.full((2, 1), np.nan)}, "other than 0 and 1"),
        ({"Y": np.zeros((3, 1))}, "X has 2 rows and Y has 3"),
        ({"feature_names": ["a"]}, "1 feature names for 2 features"),
        ({"feature_names": ["a", "a"]}, "'a' is used twice"),
        ({"categories": [["a"]]}, "1 lists of categories for 2 features"),
        ({"split": [0, 2]}, "0 (train) or 1 (test)"),
    ],
)
def test_dataset_refuses_fields_that_do_not_fit(given, complaint):
    parts = {"X": np.zeros((2, 2)), "Y": np.zeros((2, 1)), **given}
    with pytest.raises(InputError) as refused:
        Dataset(**parts)
    assert complaint in str(refused.value)


def test_frames_carry_names_and_values():
    pytest.importorskip("pandas")
    data = Dataset([[1.5, 2.0]], [[1]], feature_names=["a", "b"], label_names=["red"])
    X, Y = data.frames()
    assert list(X.columns) == ["a", "b"]
    assert Y["red"].tolist() == [1]
    assert data.to_frame().iloc[0].tolist() == [1.5, 2.0, 1.0]


def test_frames_have_nominal_features_as_categories():
    data = Dataset(
        [[1.0, 2.0], [0.0, np.nan]],
        np.ones((2, 1)),
        categories=[("red", "blue"), ("10", "2")],
    )
    X, _ = data.frames()
    assert X["x1"].tolist() == ["blue", "red"]
    assert X["x2"].tolist() == ["2", np.nan]
    assert X["x1"].cat.categories.tolist() == ["red", "blue"]
    assert not X["x1"].cat.ordered
    with pytest.raises(
        InputError, match="'x1' holds 7: that is none of its categories"
    ):
        Dataset([[7.0]], [[1]], categories=[("red", "blue")]).frames()


def test_frames_of_flags_have_categories_and_x_has_numbers(real_data, monkeypatch):
    monkeypatch.setenv("MLTSK_DATA", str(real_data))
    data = load_dataset("flags")
    X, _ = data.frames()
    nominal = X.select_dtypes("category")
    assert set(nominal) >= {"landmass", "zone", "language", "religion"}
    assert (
        nominal["religion"].astype(float).tolist()
        == data.X[:, data.feature_names.index("religion")].tolist()
    )
    assert data.X.dtype == np.float64


def test_frames_keep_sparse_features_sparse():
    pandas = pytest.importorskip("pandas")
    X, _ = Dataset(sparse.csr_array(np.eye(3)), np.ones((3, 1))).frames()
    assert all(isinstance(kind, pandas.SparseDtype) for kind in X.dtypes)


@pytest.mark.parametrize(
    ("categories", "numbers"),
    [
        (["2", "10", "1"], [2, 10, 1]),
        (["red", "green"], [0, 1]),
        (["1", "x"], [0, 1]),
        (["1", "1.0"], [0, 1]),  # two categories, one number
        (["1_0", "2"], [0, 1]),  # no number, whatever float() says
        (["nan", "inf"], [0, 1]),
        ([], []),
    ],
)
def test_category_values_are_numbers_only_if_all_are(categories, numbers):
    assert_array_equal(category_values(categories), numbers)


def test_dataset_finds_a_name_that_is_used_twice_among_many():
    names = [f"x{i}" for i in range(50_000)] + ["x49999"]
    with pytest.raises(InputError, match="'x49999' is used twice"):
        Dataset(np.zeros((1, len(names))), np.zeros((1, 1)), feature_names=names)


@pytest.mark.parametrize(
    "number", [0xDCF0, 0xFF000000], ids=["half a character", "beyond all characters"]
)
def test_dataset_refuses_names_that_cannot_be_written(number):
    # As a damaged file holds it.
    name = np.array([97, number], dtype=np.uint32).view("<U2")
    with pytest.raises(
        InputError, match="A label name holds something that is no character"
    ):
        Dataset(np.ones((2, 1)), np.ones((2, 1)), label_names=name.tolist())
