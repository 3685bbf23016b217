"""What a run cost."""

from mltsk.paper.experiments.time_table import time_table


def test_parts_and_folds_are_added_up(make_results, failed_cell):
    cells = [failed_cell("yeast", "br", 0), failed_cell("yeast", "br", 1)]  # a second each
    table = time_table(make_results(cells=cells))
    row = next(row for row in table.rows if row.heads == ("protocol paper", "Yeast"))
    assert [cell.text for cell in row.cells] == ["—", "2.0", "—", "—"]
    assert table.caption.endswith("2.0 s in all.")


def test_nothing_was_spent_on_nothing(make_results):
    assert time_table(make_results()) is None
