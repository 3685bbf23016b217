"""Sentences on what the leak and the selection are worth."""

from mltsk.paper.experiments.selection import chosen_all
from mltsk.paper.experiments.summary_protocols import protocol_sentences


def test_one_protocol_says_nothing(make_results):
    results = make_results()
    assert protocol_sentences(results, chosen_all(results)) == []


def test_range_and_extremes_are_named(make_results):
    results = make_results(protocols=["strict", "nested"])
    nested = results.scores["protocol"].eq("nested") & results.scores["method"].eq("br")
    results.scores.loc[nested, "AP"] -= 0.04
    assert protocol_sentences(results, chosen_all(results)) == [
        "Choosing settings on the reported folds (protocol strict against nested) is worth +0.030 AP on average over "
        "12 pairs of method and data set (+0.020 to +0.060), +0.020 for ML-TSK FS on 3, most for BR (+0.060)."
    ]
