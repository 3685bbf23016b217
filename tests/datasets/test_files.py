from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.io import savemat

from mltsk.datasets import Dataset, make_multilabel_rules, read_file, read_table, write_npz
from mltsk.exceptions import InputError

XML = '<labels><label name="{}"/><label name="{}"/></labels>'


@pytest.fixture
def data():
    return make_multilabel_rules(20, 3, 2)


@pytest.fixture
def arff(tmp_path, data, as_arff):
    path = tmp_path / "toy.arff"
    path.write_text(as_arff(data))
    return path


def test_every_format_gives_the_same_data(tmp_path, data, arff):
    pytest.importorskip("pyarrow")
    frame = data.to_frame()
    frame.to_csv(tmp_path / "toy.csv", index=False)
    frame.to_csv(tmp_path / "toy.tsv", index=False, sep="\t")
    frame.to_parquet(tmp_path / "toy.pq")
    savemat(tmp_path / "toy.mat", {"data": data.X, "target": data.Y.T})
    write_npz(tmp_path / "toy.npz", data)
    for name, labels in {"csv": 2, "tsv": 2, "pq": 2, "arff": 2, "mat": None, "npz": None}.items():
        read = read_file(tmp_path / f"toy.{name}", labels)
        assert_array_equal(read.X, data.X, err_msg=name)
        assert_array_equal(read.Y, data.Y, err_msg=name)
        assert read.name == "toy"


def test_the_xml_file_beside_an_arff_file_says_which_columns_are_labels(arff, data):
    arff.with_suffix(".xml").write_text(XML.format("label2", "x2"))
    with pytest.raises(InputError, match="Label 'x2' of toy holds"):
        read_file(arff)
    arff.with_suffix(".xml").write_text(XML.format("label2", "label1"))
    assert read_file(arff).label_names == ("label1", "label2")  # in the order of the ARFF file


def test_train_and_test_files_share_an_xml_file(arff):
    part = arff.rename(arff.with_name("toy-train.arff"))
    arff.with_name("toy.xml").write_text(XML.format("label1", "label2"))
    assert read_file(part).label_names == ("label1", "label2")


def test_labels_that_are_given_win_over_the_xml_file(arff):
    arff.with_suffix(".xml").write_text("this is no XML")
    assert read_file(arff, "label2").label_names == ("label2",)


def test_an_xml_file_can_be_given_by_path_or_beside_the_data(arff, tmp_path):
    (tmp_path / "which.xml").write_text(XML.format("label1", "label2"))
    for xml in ("which.xml", tmp_path / "which.xml", Path("which.xml")):
        assert read_file(arff, xml).shape == (20, 3, 2)
    with pytest.raises(InputError, match=r"nowhere\.xml cannot be read"):
        read_file(arff, "nowhere.xml")


def test_a_table_needs_to_know_its_labels_but_none_is_an_answer(arff):
    with pytest.raises(InputError, match="does not say which"):
        read_file(arff)
    assert read_file(arff, 0).shape == (20, 5, 0)


def test_an_npz_file_without_labels_is_refused_unless_that_is_meant(tmp_path):
    write_npz(tmp_path / "new.npz", Dataset(np.zeros((2, 2)), np.empty((2, 0))))
    with pytest.raises(InputError, match="holds no labels Y"):
        read_file(tmp_path / "new.npz")
    assert read_file(tmp_path / "new.npz", 0).shape == (2, 2, 0)


def test_rows_to_predict_are_read_by_feature_name(tmp_path, data):
    frame = data.to_frame()[["x3", "label1", "x1", "x2"]]
    frame.to_csv(tmp_path / "new.csv", index=False)
    assert_array_equal(read_table(tmp_path / "new.csv").select(data.feature_names), data.X)


def test_every_format_can_be_read_as_a_table(tmp_path, data, arff):
    savemat(tmp_path / "toy.mat", {"data": data.X, "target": data.Y.T})
    write_npz(tmp_path / "toy.npz", data)
    for name in ("arff", "mat", "npz"):
        assert_array_equal(read_table(tmp_path / f"toy.{name}").select(data.feature_names), data.X)


def test_labels_of_a_matlab_file_are_a_variable(tmp_path, data):
    savemat(tmp_path / "toy.mat", {"data": data.X, "mine": data.Y})
    assert_array_equal(read_file(tmp_path / "toy.mat", "mine").Y, data.Y)
    with pytest.raises(InputError, match="name of a variable"):
        read_file(tmp_path / "toy.mat", 2)


def test_an_unknown_ending_lists_the_known_ones(tmp_path):
    with pytest.raises(InputError, match=r"toy\.xls: the ending says no format.*\.csv.*\.npz"):
        read_file(tmp_path / "toy.xls")
