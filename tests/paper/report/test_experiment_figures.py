"""Pictures of a report that come from its tables."""

from mltsk.paper.experiments.rank_tables import comparisons
from mltsk.paper.experiments.selection import chosen_all
from mltsk.paper.experiments.summary import paper_gaps
from mltsk.paper.report.experiment_figures import closeness_picture, protocol_picture, rank_pictures


def test_closeness_names_the_paper_s_methods_only(make_results):
    results = make_results()
    drawn = closeness_picture(paper_gaps(results, chosen_all(results)))
    assert "ML-TSK FS" in drawn.inline
    assert "our default" not in drawn.inline


def test_nothing_is_drawn_of_nothing(make_results):
    results = make_results([])
    assert closeness_picture(paper_gaps(results, chosen_all(results))) is None
    assert protocol_picture(results, chosen_all(results)) is None


def test_protocols_are_drawn_when_there_are_two(make_results):
    results = make_results(protocols=["paper", "nested"])
    drawn = protocol_picture(results, chosen_all(results))
    assert "our default" in drawn.inline
    assert ">nested<" in drawn.inline


def test_fig_9_has_the_paper_s_diagrams_and_ours_with_every_method(make_results):
    results = make_results(datasets=("emotions", "yeast"))
    drawn = rank_pictures(comparisons(results, chosen_all(results)))
    assert {source: len(pictures) for source, pictures in drawn.items()} == {
        "paper, recomputed": 5,
        "ours, paper, all methods": 5,
    }
    assert "our default" in drawn["ours, paper, all methods"][0].inline
