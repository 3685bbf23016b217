"""Options that commands share: thresholds, and what is said about columns."""

import pytest
import typer

from mltsk.cli.options import TableOptions, threshold_wish


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("f1", "f1"),
        ("cost=1,5", ("cost", 1.0, 5.0)),
        ("precision=0.8", ("precision", 0.8)),
        ("recall=1", ("recall", 1.0)),
    ],
)
def test_threshold_wish_is_what_the_classifier_takes(text, wish):
    assert threshold_wish(text) == wish


@pytest.mark.parametrize(
    "text", ["median", "precision=80", "recall=", "recall=0", "beauty=0.5", "nan", ""]
)
def test_threshold_wish_names_all_forms_if_it_cannot_read_one(text):
    with pytest.raises(typer.BadParameter) as refused:
        threshold_wish(text)
    assert refused.value.message == (
        f"{text!r} is neither a number nor f1, cost=1,5, precision=0.8 or recall=0.9"
    )


@pytest.mark.parametrize(
    "text",
    ["cost", "cost=", "cost=5", "cost=1,x", "cost=1,-5", "cost=0,1", "cost=1,2,3"],
)
def test_threshold_wish_asks_for_two_costs(text):
    with pytest.raises(typer.BadParameter) as refused:
        threshold_wish(text)
    assert refused.value.message == (
        f"{text!r} does not say what a false alarm and what a miss costs: write two "
        "numbers above 0, such as cost=1,5"
    )


def test_first_about_features_names_an_option_that_was_used():
    assert TableOptions(labels="3").first_about_features() is None
    assert TableOptions(label_column="sick").first_about_features() == "--label-column"
    assert TableOptions(ordinal=["a: b < c"]).first_about_features() == "--ordinal"


def test_for_other_files_keeps_what_labels_and_missing_cells_need():
    assert TableOptions(labels="3", drop="ward").for_other_files() == {}
    lists = TableOptions(label_column="sick", separator="|", missing="<4")
    assert lists.for_other_files() == {
        "label_column": "sick",
        "separator": "|",
        "missing": "<4",
    }
    words = TableOptions(labels="state=ill")
    assert words.for_other_files() == {"labels": "state=ill"}
