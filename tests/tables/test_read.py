"""Tables as a whole: parts, options that contradict each other, columns for a model."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mltsk import read_table
from mltsk.datasets import Dataset
from mltsk.tables import TableError

FRAME = pd.DataFrame(
    {
        "id": [3, 1, 2],
        "size": [1.5, 2, 0],
        "colour": ["red", "blue", "red"],
        "good": [1, 0, None],
    }
)


def test_read_table_returns_features_labels_and_identifiers():
    table = read_table(FRAME.set_index(pd.Index(list("uvw"))), "good")
    assert repr(table) == "Table(data: 3 rows, 2 features, 1 label, 1 column left out)"
    assert len(table) == 3
    assert table.feature_names == ("size", "colour")
    assert table.label_names == ("good",)
    assert table.ids["id"].tolist() == [3, 1, 2]
    for part in (table.X, table.Y, table.ids):
        assert list(part.index) == list("uvw")
    assert table.Y.dtypes.tolist() == [float]


def test_read_table_reads_rows_without_labels():
    assert read_table(FRAME).Y.shape == (3, 0)


def test_read_table_reads_a_table_by_the_kinds_of_another(write):
    fitted = read_table(FRAME, "good", nominal="id")
    new = read_table(write("colour,id,size,more\ngreen,7,4,x\n"), kinds=fitted.kinds)
    assert new.feature_names == fitted.feature_names
    assert new.X.iloc[0].tolist() == ["7", 4.0, "green"]


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (
            {"drop": "colr"},
            "data has no column 'colr' (it has 4 columns); did you mean 'colour'?",
        ),
        (
            {"nominal": "size", "number": ["size"]},
            "Column 'size' cannot be both nominal and number.",
        ),
        ({"drop": "good"}, "Column 'good' is a label: it cannot be dropped as well."),
        (
            {"ordinal": {"good": ["0", "1"]}},
            "Column 'good' is a label: it cannot be ordinal as well.",
        ),
        ({"drop": ["size", "colour"]}, "data has no column that a model could use"),
        (
            {"kinds": {"size": "number"}, "drop": "size"},
            "'size' is a feature of the model",
        ),
    ],
)
def test_read_table_refuses_options_that_do_not_fit(refusal, said, complaint):
    assert complaint in refusal(FRAME, "good", **said)


def test_read_table_reports_the_columns_of_a_refused_table():
    with pytest.raises(TableError) as refused:
        read_table(FRAME.assign(size=["1.5", "2", "0.1O5"]), "good")
    assert [column.kind for column in refused.value.columns] == [
        "identifier",
        "number",
        "nominal",
        "label",
    ]


def test_read_table_returns_what_a_classifier_takes():
    from mltsk import MLTSKClassifier

    frame = pd.DataFrame(
        {"a": [i % 7 + 0.5 for i in range(40)], "b": [i % 3 + 0.5 for i in range(40)]}
    )
    table = read_table(
        frame.assign(
            p=[i % 2 for i in range(40)], q=[int(i % 7 > 3) for i in range(40)]
        ),
        2,
    )
    assert MLTSKClassifier(n_rules=0).fit(table.X, table.Y).predict(table.X).shape == (
        40,
        2,
    )


def test_read_table_reads_the_table_of_the_package_by_its_name():
    table = read_table("pbc")
    assert (len(table), table.X.shape[1], table.Y.shape[1]) == (418, 13, 4)
    assert table.ids.columns.tolist() == ["patient"]
    assert table.Y.isna().sum().tolist() == [106, 106, 106, 0]


def test_dataset_of_numbers_and_yes_or_no():
    frame = pd.DataFrame(
        {"size": [1.5, 2, 0], "red": ["yes", "no", "no"], "good": ["no", "yes", "no"]}
    )
    data = read_table(frame, "good").dataset()
    assert data.X.tolist() == [[1.5, 1], [2, 0], [0, 0]]
    assert (data.Y.tolist(), data.feature_names, data.label_names) == (
        [[0], [1], [0]],
        ("size", "red"),
        ("good",),
    )


def test_dataset_of_a_sparse_table_is_sparse():
    data = Dataset(sparse.csr_array(np.eye(3)), [[1], [0], [1]])
    again = read_table(data).dataset()
    assert again.is_sparse
    assert (again.X != data.X).nnz == 0


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        (
            {"colour": ["red", "blue", "red"]},
            "Column 'colour' of data is nominal, and this method needs complete "
            'numbers: drop it \\(--drop "colour"\\), or use MLTSKClassifier',
        ),
        (
            {"colour": ["red", "blue", "red"], "shape": ["round", "flat", "flat"]},
            r"is nominal \(and 1 other column like it\), and this method needs "
            r'complete numbers: drop them \(--drop "colour,shape"\)',
        ),
        (
            {"size": [1.5, None, 2], "colour": ["red", None, "blue"]},
            r"Column 'colour' of data is nominal, and this method needs complete "
            r"numbers: drop it and 1 column with missing cells "
            r'\(--drop "colour,size"\), or use MLTSKClassifier, which takes them',
        ),
        (
            {"size": [1.5, None, 2]},
            "Column 'size' of data has no value in 1 row, and this method needs "
            "complete numbers",
        ),
        (
            {"size": [1.5, None, 2], "m": [None, 1, 2]},
            r"has no value in 1 row \(and 1 other column like it\), and this method "
            r'needs complete numbers: leave it or these rows out \(--drop "size,m"\)',
        ),
        ({"good": [1, None, 0]}, "Label 'good' of data has no value in 1 row"),
    ],
)
def test_dataset_refuses_what_is_no_complete_number(changes, complaint):
    frame = pd.DataFrame({"size": [1.5, 2, 0], "good": [1, 0, 1]}).assign(**changes)
    with pytest.raises(ValueError, match=complaint):
        read_table(frame, "good").dataset()


def test_read_table_says_that_rare_values_count_together():
    frame = pd.DataFrame(
        {"ward": ["a"] * 50 + ["b"] * 46 + ["c", "c", "d", "e"], "gout": [0, 1] * 50}
    )
    (note,) = read_table(frame, "gout").columns.notes
    assert note == (
        "ward: 'c', 'd', 'e': in fewer than 5 rows each, together 'other' in the model"
    )
