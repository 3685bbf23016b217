"""Sheets within the review: points that add up, and what a paper needs to say."""

from ..exceptions import InputError
from .methods_section import MethodsFacts, filled_items, model_card, paragraph
from .points import points_facts
from .render import source
from .review_subgroups import splits_of
from .sections import Review, Section

MAX_LABELS_FOR_POINTS = 50  # beyond, finding points takes too long for a page
MAX_POINTS_LABELS = 6  # a sheet each; `mltsk points` writes those of all labels


def points_section(review: Review) -> Section | None:
    """The model as points that add up, unless the review is quick."""
    is_quick = review.compared.size_path is None
    has_many = len(review.labels) > MAX_LABELS_FOR_POINTS
    if review.is_finished or is_quick or has_many:
        return None
    try:
        points = review.whole.points()
    except InputError:  # of text, of rules of the user's own
        return None
    shown = review.shown[:MAX_POINTS_LABELS]
    return Section(
        key="points",
        title="As points that add up",
        bar_title="Points",
        template="review/points.html",
        facts={
            "sheets": [points_facts(points, int(j)) for j in shown],
            "n_labels": len(review.labels),
            "n_statements": points.max_statements,
        },
        styles=(source("points_sheet.css"),),
    )


def methods_part(review: Review) -> Section | None:
    """What the run knows of the items of TRIPOD+AI, a model card and a paragraph."""
    if review.is_external:
        return None
    facts = MethodsFacts(
        table=review.table,
        model=review.taken,
        labels=review.labels,
        command=review.command,
        asked=None if review.takes_short else review.asked,
        subgroups=[split.column for split in splits_of(review.table, review.by)],
    )
    return Section(
        key="methods",
        title="For the methods section",
        bar_title="For a paper",
        template="review/methods.html",
        facts={
            "paragraph": paragraph(facts),
            "card": model_card(facts),
            "items": [item._asdict() for item in filled_items(facts)],
        },
    )
