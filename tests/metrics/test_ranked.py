import numpy as np
from numpy.testing import assert_array_equal

from mltsk.metrics.ranked import RankedRows, rank_rows


def ranked(scores, labels) -> RankedRows:
    return rank_rows(np.atleast_2d(labels).astype(bool), np.atleast_2d(np.asarray(scores, dtype=float)))


def test_positions_count_from_the_lowest_score():
    result = ranked([0.3, 0.9, 0.1, 0.5], [1, 1, 0, 1])
    assert_array_equal(result.position, [1, 2, 3])
    assert_array_equal(result.order, [0, 1, 2])


def test_ties_keep_the_order_of_labels_and_know_their_group():
    result = ranked([0.5, 0.1, 0.5, 0.5], [1, 0, 0, 1])
    assert_array_equal(result.position, [1, 3])
    assert_array_equal(result.tie_start, [1, 1])
    assert_array_equal(result.tie_end, [4, 4])
    assert_array_equal(result.tie_order, [0, 0])


def test_scores_that_differ_in_the_last_bit_are_told_apart():
    above = np.nextafter(1.0, 2.0)
    for low, high in ((1.0, above), (above, np.nextafter(above, 2.0)), (-above, -1.0)):
        assert_array_equal(ranked([high, low], [1, 0]).position, [1])
        assert_array_equal(ranked([high, low], [0, 1]).position, [0])
        assert_array_equal(ranked([high, low], [1, 1]).tie_start, [0, 1])


def test_signed_zeros_are_equal():
    result = ranked([0.0, -0.0], [1, 0])
    assert_array_equal([result.tie_start, result.tie_end], [[0], [2]])


def test_infinite_scores_are_ordered():
    result = ranked([np.inf, 0.0, -np.inf, np.inf], [1, 1, 1, 0])
    assert_array_equal(result.position, [0, 1, 2])
    assert_array_equal(result.tie_end, [1, 2, 4])


def test_nan_sorts_above_every_number():
    result = ranked([np.nan, 0.5, np.inf], [1, 1, 0])
    assert_array_equal(result.position, [0, 2])
    assert_array_equal(result.is_number(), [True, False])
    assert_array_equal([result.top_start, result.top_end], [[1], [2]])


def test_rows_do_not_mix_and_may_be_empty():
    labels = np.array([[0, 0], [1, 0], [0, 0], [1, 1]])
    result = ranked(np.array([[1, 2], [2, 1], [0, 0], [3, 3]]), labels)
    assert_array_equal(result.n_relevant, [0, 1, 0, 2])
    assert_array_equal(result.row, [1, 3, 3])
    assert_array_equal(result.row_sums(np.array([10.0, 1.0, 2.0])), [0, 10, 0, 3])


def test_memory_order_does_not_matter_and_scores_are_not_written_to():
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=(7, 5)), rng.random((7, 5)) < 0.4
    before = scores.copy()
    one, other = rank_rows(labels, scores), rank_rows(labels, np.asfortranarray(scores))
    assert_array_equal(one.position, other.position)
    assert_array_equal(scores, before)


def test_blocks_of_rows_do_not_show(monkeypatch):
    rng = np.random.default_rng(0)
    tables, labels = rng.integers(0, 4, size=(2, 7, 5)).astype(float), rng.random((7, 5)) < 0.4
    whole = rank_rows(labels, tables)
    monkeypatch.setattr("mltsk.metrics.ranked._BLOCK_SIZE", 15)  # three rows at a time
    assert_array_equal(rank_rows(labels, tables).tie_start, whole.tie_start)


def test_many_tables_are_ranked_as_one():
    rng = np.random.default_rng(0)
    tables, labels = rng.integers(0, 4, size=(3, 6, 5)).astype(float), rng.random((6, 5)) < 0.4
    together = rank_rows(labels, tables)
    apart = [rank_rows(labels, table) for table in tables]
    for name in ("position", "tie_start", "tie_end", "tie_order", "top_start"):
        assert_array_equal(getattr(together, name), np.concatenate([getattr(one, name) for one in apart]))
