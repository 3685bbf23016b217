"""The model that a review is about, on one page: words, curves, pairs, exceptions."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame

from ..explain import views
from ..explain.page import Node, largest_amount
from ..explain.rules import RuleBase
from ..explain.wording import name, number
from . import svg, worth
from .filed import (
    MAX_FILED_EXCEPTIONS,
    best_predicted,
    n_filed_rules,
    n_filed_statements,
    note_on_left_out,
)
from .judged import JudgedLabel
from .packing import PageData
from .review_pairs import pair_facts
from .sections import Review, Section

MAX_SHAPES_PER_LABEL = 6
MAX_SHOWN_EXCEPTIONS = 12
CONSEQUENTS_PER_EXCEPTION = 5
LONGEST_SHOWN = 30  # statements per label of a finished model that are all shown


def model_section(review: Review) -> Section:
    """What a model says: its short form in words, its curves and its exceptions."""
    return Section(
        key="model",
        title="The model on one page",
        bar_title="The model",
        template="review/model.html",
        facts=_model_facts(review),
        is_open=True,
        is_filed=True,
    )


def _model_facts(review: Review) -> PageData:
    """Statements per label, and the curves, pairs and exceptions behind them."""
    model = review.whole
    base = review.short.rules_
    n_statements = review.compared.n_statements
    # a finished model cannot be shortened: of a long one, what says most
    is_cut = bool(review.short.n_statements_.max() > LONGEST_SHOWN)
    top = n_statements if is_cut else None
    nodes = _general_nodes(base, review, top)
    n_filed = n_filed_rules(review.shown_labels)
    labels = _facts_of_labels(
        review, nodes, best_predicted(review.shown_labels, n_filed)
    )
    contents, *how_to_read = base.legend()
    return {
        "contents": contents.replace(" %", "\N{NO-BREAK SPACE}%"),
        "how_to_read": how_to_read,
        "labels": labels,
        "left_out": note_on_left_out(len(labels), n_filed),
        "n_filed_exceptions": MAX_FILED_EXCEPTIONS,
        "most": largest_amount(nodes),
        "terms": n_statements,
        "is_whole": review.takes_short or (review.is_finished and not is_cut),
        "is_cut": is_cut,
        "own": [] if is_cut else _exceptions(base),
        "exceptions": _exceptions(model.rules_, at_most=MAX_SHOWN_EXCEPTIONS),
        "n_pairs": len(model.pairs_),
        "n_exceptions": model.n_rules_,
        "n_numbers": int(model.n_statements_.max()),
        "mean": _precisions_of_both(review),
        "sizes": _size_picture(review.compared.size_path, n_statements),
    }


def _facts_of_labels(
    review: Review, nodes: Sequence[Node], is_filed: NDArray[np.bool_]
) -> list[PageData]:
    """The statements and curves of each shown label.

    ``nodes`` are what holds in general of each, or nothing; ``is_filed`` says which are
    printed for the file.
    """
    model = review.whole
    curves = views.FeatureCurves(views.effects_of(model))
    short_curves = views.FeatureCurves(review.short.rules_.effects)
    pairs = model.pairs_
    labels = []
    for place, j in enumerate(review.shown.tolist()):
        judged = review.labels[j]
        node = nodes[place] if nodes else None
        shapes = _shape_pictures(curves, short_curves, j, review.compared.n_statements)
        warning = _warning(judged, is_external=review.is_external)
        statements = [] if node is None else [child.text for child in node.children]
        facts = {
            "name": judged.name,
            "start": _start(judged.name, node),
            "warning": warning,
            "node": node,
            "shapes": shapes.pictures,
            "reach": number(shapes.reach),
            "pairs": pair_facts(pairs, j),
            "is_filed": is_filed[place],
            "n_filed": n_filed_statements(statements, len(is_filed), warning),
        }
        labels.append(facts)
    return labels


def _general_nodes(base: RuleBase, review: Review, top: int | None) -> list[Node]:
    """What holds in general of each shown label, ``top`` statements at most."""
    if not len(base.general):
        return []
    start = base.effects.start
    return [base.general[j].nodes(top, general=start)[0] for j in review.shown.tolist()]


def _warning(label: JudgedLabel, *, is_external: bool) -> str:
    """Say above the statements of a label if they may be chance."""
    if not label.is_guessed:
        return ""
    if is_external:
        return f"{worth.sentence(label)} What follows was found on another table."
    return f"{worth.sentence(label)} What follows may be chance."


def _start(label: str, node: Node | None) -> str:
    """Where the log-odds of a label start, without its name."""
    text = "" if node is None else node.text.removeprefix(f"{label}: ")
    start, comma, probability = text.partition(", ")
    if comma:
        text = f"{start}, a probability of {probability}"
    text = text.replace(" %", "\N{NO-BREAK SPACE}%")
    return text[:1].upper() + text[1:]


class _ShapePictures(NamedTuple):
    """Features with pictures of what they add, and how far each picture reaches."""

    pictures: list[tuple[str, str]]
    reach: float


def _shape_pictures(
    curves: views.FeatureCurves,
    short_curves: views.FeatureCurves,
    j: int,
    n_statements: int,
) -> _ShapePictures:
    """The features that matter most for label j."""
    features = curves.largest([j], MAX_SHAPES_PER_LABEL)
    of_short = short_curves.largest([j], n_statements)
    wholes = [curves.drawn(f, j) for f in features]
    reach = max((float(np.abs(curve.y).max()) for curve in wholes), default=0.0) or 1.0
    pictures = []
    for f, whole in zip(features, wholes, strict=True):
        simple = short_curves.drawn(f, j) if f in of_short else None
        pictures.append((name(whole.feature), svg.shape(whole, simple, reach)))
    return _ShapePictures(pictures, reach)


def _exceptions(base: RuleBase, at_most: int | None = None) -> list[Node]:
    """What exceptions cover and say, those that move most labels first."""
    sizes = np.abs(base.effects.shift_sizes).sum(axis=1)
    nodes = []
    for k in np.argsort(-sizes, kind="stable")[:at_most]:
        nodes += base.exceptions[int(k)].nodes(CONSEQUENTS_PER_EXCEPTION)
    return nodes


def _precisions_of_both(review: Review) -> list[float] | None:
    """Mean AP of the whole model and of the short one, on the same folds."""
    comparison = review.comparison
    means = {} if comparison is None else comparison.mean_AP()
    if comparison is None or not means:
        return None
    return [means[method] for method in comparison.ours]


def _size_picture(size_path: DataFrame | None, n_statements: int) -> str | None:
    """What brevity costs, if it is known."""
    if size_path is None:
        return None
    means = {
        "mean over rows": size_path["AP"].to_numpy(),
        "mean over labels": size_path["macro_AP"].to_numpy(),
    }
    known = {words: line for words, line in means.items() if np.isfinite(line).all()}
    if not known:
        return None
    return svg.sizes(
        "What brevity costs",
        counts=size_path["statements"].to_numpy(),
        values=known,
        marked=n_statements,
    )
