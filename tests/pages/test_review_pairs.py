"""Pairs of features in the review: those that matter, each with a plain sentence."""

import numpy as np
import pytest

from mltsk import MLTSKClassifier, read_table
from mltsk.pages.review import review_page
from mltsk.pages.review_pairs import MIN_PAIR_HEIGHT, pair_facts, pair_sentence


@pytest.fixture(scope="module")
def pairs():
    """Pairs of a table in which two of two values, and two numbers, act together."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4))
    X[:, :2] = X[:, :2] > 0
    both = (X[:, 0] * X[:, 1]) > 0
    same_side = X[:, 2] * X[:, 3] > 0
    Y = np.stack([both, same_side], axis=1).astype(int)
    return MLTSKClassifier(n_pairs=2).fit(X, Y).pairs_


def test_pair_sentence_of_two_values_each_names_values_that_agree_and_that_do_not(
    pairs,
):
    (pair,) = (pair for pair in pairs if set(pair.features) == {"x0", "x1"})
    sentence = pair_sentence(pair, 0)
    assert sentence.startswith("Raised most by x0 is 1 and x1 is 1: +")
    assert "Lowered most by x0 is 0 and x1 is 1: −" in sentence


def test_pair_sentence_of_numbers_names_the_highest_and_the_lowest_cell(pairs):
    (pair,) = (pair for pair in pairs if set(pair.features) == {"x2", "x3"})
    rules = sorted(pair.rules(pair.labels[1]), key=lambda rule: rule.change)
    sentence = pair_sentence(pair, 1)
    assert f"Raised most by {rules[-1].words}: +" in sentence
    assert f"Lowered most by {rules[0].words}: −" in sentence


def test_pair_facts_leave_out_pairs_that_hardly_move_a_label(pairs):
    for j, features in enumerate([{"x0", "x1"}, {"x2", "x3"}]):
        facts = pair_facts(pairs, j)
        moving = [
            p for p in pairs if np.abs(p.surface[:, :, j]).max() > MIN_PAIR_HEIGHT
        ]
        assert len(facts) <= len(moving)
        assert set(facts[0]["title"].split(" and ")) == features
        assert facts[0]["picture"].startswith("<svg")


def test_pair_facts_of_a_model_without_pairs_are_none():
    assert pair_facts([], 0) == []


def test_review_page_shows_pairs_of_the_model_as_maps():
    table = read_table("pbc")
    model = MLTSKClassifier(n_pairs=5, threshold="f1")
    page = review_page(table, model=model, quick=True).page
    assert page.count('class="pic heat"') > 3
    assert "Features that act together on hepatomegaly" in page
    assert "Raised most by" in page


def test_review_page_of_a_model_without_pairs_says_nothing_of_them():
    page = review_page(read_table("pbc"), quick=True).page
    assert 'class="pic heat"' not in page
    assert "what two features add together" not in page
