import pytest

from mltsk import MLTSKClassifier
from mltsk.explain.tables import Tables


def test_values_of_a_table_are_told_by_their_positions(table):
    tables = Tables(MLTSKClassifier(0).fit(*table).system_, None)
    assert [(s.name, s.kind) for s in tables.subjects[-2:]] == [("smoker", "not measured"), ("albumin", "not measured")]
    assert tables.named_values(1) == {0.0: "never", 1.0: "former", 2.0: "daily", 3.0: "other"}
    assert tables.named_values(2) == {0.0: "f", 1.0: "m"}
    often = table[0]["smoker"].value_counts(normalize=True)
    assert tables.frequencies(1)[:3] == pytest.approx(often[["never", "former", "daily"]].to_numpy())
    row = tables.system.columns.expand(table[0].iloc[[0]])[0]
    assert tables.codes(row)[1] == 3.0
