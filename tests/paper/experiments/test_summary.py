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
    summary = summarise(results, paper_gaps(results), comparisons(results))
    return {section.title: section.sentences for section in summary}


def test_summarise_says_that_a_run_at_the_paper_s_values_reproduces(make_results):
    summary = sections(make_results())
    assert summary["What reproduces"][0] == (
        "ML-TSK FS: AP within 0.01 of Table III on 3 of 3 data sets (Emotions, Flags "
        "and Yeast), within 0.03 on 3; mean difference 0.000."
    )
    assert "What does not, and by how much" not in summary
    assert summary["How far the run is"][0] == (
        "Protocol paper: 4 methods on 3 data sets, all finished."
    )


def test_summarise_names_a_difference_with_its_size_and_its_reason(make_results):
    methods = {"hnoml": {"title": "HNOML", "paper": "HNOML", "grid": {}, "settings": 1}}
    results = make_results(datasets=("yeast", "emotions"), methods=methods)
    results.scores.loc[results.scores["dataset"] == "yeast", "AP"] += 0.15
    assert sections(results)["What does not, and by how much"] == (
        "HNOML differs by more than 0.03 on 1 data set: Yeast +0.150 (0.760, 1 of 125 "
        "settings).",
        "HNOML on Yeast: without a constant column and with unscaled features our best "
        "is .623, close to the paper's .61 (docs/methods/hnoml.md).",
    )


def test_summarise_does_not_puzzle_over_a_lower_ap_of_fewer_settings(make_results):
    methods = {"hnoml": {"title": "HNOML", "paper": "HNOML", "grid": {}, "settings": 1}}
    results = make_results(datasets=("emotions", "flags"), methods=methods)
    results.scores.loc[results.scores["dataset"] == "emotions", "AP"] -= 0.15
    results.scores.loc[results.scores["dataset"] == "flags", "AP"] += 0.15
    assert sections(results)["What does not, and by how much"][1:] == (
        "HNOML on Emotions: the paper had more settings to choose from.",
        "HNOML on Flags: no reading that was run explains it.",
    )


def test_summarise_names_the_share_of_table_ii_that_was_run(make_results):
    methods = {"hnoml": {"title": "HNOML", "paper": "HNOML", "grid": {}, "settings": 1}}
    results = make_results(datasets=("emotions", "flags"), methods=methods)
    assert sections(results)["How far the run is"][-1] == (
        "Fewer settings than those of Table II: HNOML 1 of 125."
    )


def test_summarise_takes_exactly_a_hundredth_for_close(make_results):
    results = make_results(datasets=("yeast",))
    results.scores["AP"] += 0.01  # .77 − .76 is more than .01 in floating point
    assert "on 1 of 1 data set" in sections(results)["What reproduces"][0]


def test_summarise_tells_of_an_unfinished_run_what_is_there(
    make_results, make_row, failed_cell
):
    values = [0.8, 0.3, 0.2, 0.2, 0.5]
    rows = []
    for fold in range(2):
        rows.append(make_row("paper", "flags", "ml-tsk-fs", fold, "{}", values))
    summary = sections(make_results(rows, cells=[failed_cell("yeast", "br", 1)]))
    progress, failures, *_ = summary["How far the run is"]
    assert progress.startswith(
        "Protocol paper: 1 of 4 methods on 1 of 3 data sets so far, 1 of 12"
    )
    assert failures == (
        "Failed folds in 1 pair of method and data set: BR on Yeast (1 of 2 folds)."
    )
    assert "Whether the methods differ" not in summary


def test_summarise_says_of_an_empty_run_that_it_is_empty_and_no_more(make_results):
    summary = sections(make_results([]))
    assert list(summary) == ["How far the run is", "What is an artefact"]
    assert summary["How far the run is"][0].startswith(
        "Protocol paper: 0 of 4 methods on 0 of 3 data sets"
    )


def test_summarise_names_ties_that_won(make_results):
    results = make_results()
    scores = results.scores
    is_tied = scores["method"].eq("ml-tsk-fs") & scores["dataset"].eq("yeast")
    scores.loc[is_tied, ["OE", "tied"]] = [0.0, 0.95]
    assert (
        "Protocol paper: the best OE of ML-TSK FS comes from scores that are mostly "
        "tied on 1 data set (share of tied rows): Yeast 0.000 (95 %)."
    ) in sections(results)["What is an artefact"]


def test_summarise_compares_protocols_and_strangers(make_results):
    summary = sections(make_results(protocols=["paper", "strict", "nested"]))
    leak = summary["What the leak and the selection are worth"][0]
    assert "is worth +0.020 AP on average over 12 pairs" in leak
    assert summary["Methods that are not in the paper"][0] == (
        "our default, protocol paper: AP above that of ML-TSK FS in this run on 0 of 3 "
        "data sets (mean difference −0.300) and above the paper's Table III value of "
        "ML-TSK FS on 0 of 3 data sets (mean difference −0.300)."
    )


def test_summarise_explains_a_gap_by_the_reading_that_closes_it(with_variant):
    summary = sections(with_variant)
    assert (
        "C2AE on Emotions (0.580) and Yeast (0.580): within 0.03 of the paper in the "
        "reading “C2AE, 50 epochs”."
    ) in summary["What does not, and by how much"]
    assert summary["What other readings of a method give"] == (
        "C2AE, 50 epochs: mean distance from Table III 0.010 AP on 2 data sets, "
        "against 0.200 of C2AE as compared; closer on 2, within 0.03 on 2.",
    )
    assert "Methods that are not in the paper" not in summary


def test_summarise_names_a_printed_value_between_two_readings(with_variant):
    scores = with_variant.scores
    scores.loc[scores["method"] == "short", "AP"] -= 0.1
    sentences = sections(with_variant)["What does not, and by how much"]
    # of emotions the reason is known
    assert sentences[-1] == (
        "C2AE on Yeast: the paper's value lies between those of two readings."
    )
    assert not any("no reading" in sentence for sentence in sentences)


def test_paper_gaps_leaves_out_strangers_and_marks_artefacts(make_results):
    gaps = paper_gaps(make_results(datasets=("yeast", "mine")))
    assert set(gaps["method"]) == {"BR", "MLSF", "ML-TSK FS"}
    assert set(gaps["dataset"]) == {"yeast"}
    wrong = gaps[gaps["artefact"]][["method", "metric"]]
    assert wrong.to_numpy().tolist() == [["MLSF", "RL"]]


@pytest.mark.parametrize("protocols", [["paper"], ["strict", "nested"]])
def test_every_sentence_of_summarise_has_a_number(make_results, protocols):
    for sentences in sections(make_results(protocols=protocols)).values():
        for sentence in sentences:
            assert re.search(r"\d|\ball\b", sentence)


def test_to_markdown_has_a_heading_for_each_section(make_results):
    results = make_results()
    text = to_markdown(summarise(results, paper_gaps(results), comparisons(results)))
    assert text.startswith("## How far the run is\n- Protocol paper")
    assert "\n\n## What reproduces\n- " in text


def test_protocol_sentences_say_nothing_of_one_protocol(make_results):
    assert list(protocol_sentences(make_results())) == []


def test_protocol_sentences_name_range_and_extremes(make_results):
    results = make_results(protocols=["strict", "nested"])
    nested = results.scores["protocol"].eq("nested") & results.scores["method"].eq("br")
    results.scores.loc[nested, "AP"] -= 0.04
    assert list(protocol_sentences(results)) == [
        "Choosing settings on the reported folds (protocol strict against nested) is "
        "worth +0.030 AP on average over 12 pairs of method and data set (+0.020 to "
        "+0.060), +0.020 for ML-TSK FS on 3, most for BR (+0.060)."
    ]


def headline_values(results):
    lines = headlines(results, paper_gaps(results), comparisons(results))
    return {line.label: (line.value, line.detail) for line in lines}


def test_headlines_of_a_finished_run(make_results):
    values = headline_values(make_results(protocols=["paper", "strict", "nested"]))
    assert values["data sets with AP of ML-TSK FS within 0.01 of Table III"] == (
        "3 of 3",
        "mean difference 0.000",
    )
    assert values["comparable cells of Table III within 0.03"] == (
        "42 of 42",
        "3 more cannot be compared",
    )
    assert values["mean rank of ML-TSK FS by AP"][0] == "1.33"
    assert values["what the leak adds to AP"][0] == "+0.020"
    assert values["pairs of method and data set finished"] == (
        "12 of 12",
        "protocol paper",
    )


def test_headlines_of_an_empty_run_are_one_number(make_results, failed_cell):
    results = make_results([], cells=[failed_cell("yeast", "br", 0)])
    detail = "protocol paper, 1 with failed folds"
    assert headline_values(results) == {
        "pairs of method and data set finished": ("0 of 12", detail)
    }
