"""Sentences that follow from the numbers."""

import re

import pytest

from mltsk.paper.experiments.ranks import comparisons
from mltsk.paper.experiments.summary import (
    headlines,
    paper_gaps,
    protocol_sentences,
    summarise,
    to_markdown,
)


def sections(results):
    return {
        s.title: s.sentences
        for s in summarise(results, paper_gaps(results), comparisons(results))
    }


def test_a_run_at_the_paper_s_values_reproduces(make_results):
    told = sections(make_results())
    assert told["What reproduces"][0] == (
        "ML-TSK FS: AP within 0.01 of Table III on 3 of 3 data sets (Emotions, Flags and Yeast), within 0.03 on 3; "
        "mean difference 0.000."
    )
    assert "What does not, and by how much" not in told
    assert (
        told["How far the run is"][0]
        == "Protocol paper: 4 methods on 3 data sets, all finished."
    )


def test_a_difference_is_named_with_its_size_and_its_reason(make_results):
    methods = {"hnoml": {"title": "HNOML", "paper": "HNOML", "grid": {}, "settings": 1}}
    results = make_results(datasets=("yeast", "emotions"), methods=methods)
    results.scores.loc[results.scores["dataset"] == "yeast", "AP"] += 0.15
    assert sections(results)["What does not, and by how much"] == (
        "HNOML differs by more than 0.03 on 1 data set: Yeast +0.150 (0.760).",
        "HNOML on Yeast: without a constant column and with unscaled features our best is .622, close to the paper's "
        ".61 (docs/methods/hnoml.md).",
    )


def test_exactly_a_hundredth_still_reproduces(make_results):
    results = make_results(datasets=("yeast",))
    results.scores["AP"] += 0.01  # .77 − .76 is more than .01 in floating point
    assert "on 1 of 1 data set" in sections(results)["What reproduces"][0]


def test_an_unfinished_run_has_a_summary_of_what_is_there(
    make_results, make_row, failed_cell
):
    rows = [
        make_row("paper", "flags", "ml-tsk-fs", f, "{}", [0.8, 0.3, 0.2, 0.2, 0.5])
        for f in range(2)
    ]
    told = sections(make_results(rows, cells=[failed_cell("yeast", "br", 1)]))
    assert told["How far the run is"][0].startswith(
        "Protocol paper: 1 of 4 methods on 1 of 3 data sets so far, 1 of 12"
    )
    assert (
        told["How far the run is"][1]
        == "Failed folds in 1 pair of method and data set: BR on Yeast (1 of 2 folds)."
    )
    assert "Whether the methods differ" not in told


def test_an_empty_run_says_so_and_no_more(make_results):
    told = sections(make_results([]))
    assert list(told) == ["How far the run is", "What is an artefact"]
    assert told["How far the run is"][0].startswith(
        "Protocol paper: 0 of 4 methods on 0 of 3 data sets"
    )


def test_ties_that_won_are_named(make_results):
    results = make_results()
    mine = results.scores["method"].eq("ml-tsk-fs") & results.scores["dataset"].eq(
        "yeast"
    )
    results.scores.loc[mine, ["OE", "tied"]] = [0.0, 0.95]
    assert any(
        s
        == "Protocol paper: the best OE of ML-TSK FS comes from scores that are mostly tied on 1 data set (share of "
        "tied rows): Yeast 0.000 (95 %)."
        for s in sections(results)["What is an artefact"]
    )


def test_protocols_and_strangers_are_compared(make_results):
    told = sections(make_results(protocols=["paper", "strict", "nested"]))
    assert (
        "is worth +0.020 AP on average over 12 pairs"
        in told["What the leak and the selection are worth"][0]
    )
    assert told["Methods that are not in the paper"][0] == (
        "our default, protocol paper: AP above that of ML-TSK FS in this run on 0 of 3 data sets (mean difference "
        "−0.300) and above the paper's Table III value of ML-TSK FS on 0 of 3 data sets (mean difference −0.300)."
    )


def test_gaps_leave_out_strangers_and_mark_artefacts(make_results):
    results = make_results(datasets=("yeast", "mine"))
    gaps = paper_gaps(results)
    assert set(gaps["method"]) == {"BR", "MLSF", "ML-TSK FS"}
    assert set(gaps["dataset"]) == {"yeast"}
    assert gaps[gaps["artefact"]][["method", "metric"]].to_numpy().tolist() == [
        ["MLSF", "RL"]
    ]


@pytest.mark.parametrize("protocols", [["paper"], ["strict", "nested"]])
def test_every_sentence_has_a_number(make_results, protocols):
    told = sections(make_results(protocols=protocols))
    assert all(
        re.search(r"\d|\ball\b", sentence)
        for sentences in told.values()
        for sentence in sentences
    )


def test_markdown_has_a_heading_for_each_section(make_results):
    results = make_results()
    text = to_markdown(summarise(results, paper_gaps(results), comparisons(results)))
    assert text.startswith("## How far the run is\n- Protocol paper")
    assert "\n\n## What reproduces\n- " in text


def test_one_protocol_says_nothing(make_results):
    results = make_results()
    assert list(protocol_sentences(results)) == []


def test_range_and_extremes_are_named(make_results):
    results = make_results(protocols=["strict", "nested"])
    nested = results.scores["protocol"].eq("nested") & results.scores["method"].eq("br")
    results.scores.loc[nested, "AP"] -= 0.04
    assert list(protocol_sentences(results)) == [
        "Choosing settings on the reported folds (protocol strict against nested) is worth +0.030 AP on average over "
        "12 pairs of method and data set (+0.020 to +0.060), +0.020 for ML-TSK FS on 3, most for BR (+0.060)."
    ]


def values(results):
    found = headlines(results, paper_gaps(results), comparisons(results))
    return {line.label: (line.value, line.detail) for line in found}


def test_a_finished_run(make_results):
    told = values(make_results(protocols=["paper", "strict", "nested"]))
    assert told["data sets with AP of ML-TSK FS within 0.01 of Table III"] == (
        "3 of 3",
        "mean difference 0.000",
    )
    assert told["comparable cells of Table III within 0.03"] == (
        "42 of 42",
        "3 more cannot be compared",
    )
    assert told["mean rank of ML-TSK FS by AP"][0] == "1.33"
    assert told["what the leak adds to AP"][0] == "+0.020"
    assert told["pairs of method and data set finished"] == (
        "12 of 12",
        "protocol paper",
    )


def test_an_empty_run_has_one_number(make_results, failed_cell):
    results = make_results([], cells=[failed_cell("yeast", "br", 0)])
    assert values(results) == {
        "pairs of method and data set finished": (
            "0 of 12",
            "protocol paper, 1 with failed folds",
        ),
    }
