"""How well labels can be predicted, as sentences in front of the rules, and as data.

Symbols: L labels.
"""

from collections.abc import Iterator

from ..core.worth import Worth
from ..system import FuzzySystem
from ..text import plural
from .page import Node, left_out
from .subjects import Index
from .wording import name, percent

MAX_SHOWN_WORTHS = 20
HOW_WELL_PREDICTED = (
    "How well each label can be predicted, by models that had not seen the row "
    "(guessing has an AUC of 0.5):"
)


def worth_nodes(system: FuzzySystem, labels: Index) -> Iterator[Node]:
    """The sentences about some labels under one heading, if it is known."""
    if system.worth is None or not len(labels):
        return
    sentences = []
    for j in labels[:MAX_SHOWN_WORTHS]:
        label = str(system.label_names[j])
        sentences.append(Node(worth_sentence(system.worth, int(j), label)))
    more = left_out(len(labels), MAX_SHOWN_WORTHS, "more label")
    yield Node(HOW_WELL_PREDICTED, (*sentences, *more))


def worth_sentence(worth: Worth, label: int, label_name: str) -> str:
    """Say whether a label can be predicted, by figures next to those of guessing."""
    n_observed = int(worth.n_observed[label])
    n_cases = int(worth.n_cases[label])
    if not worth.is_known[label]:
        rows = "all rows have" if n_cases else "no row has"
        return f"{name(label_name)}: {rows} it, so there is nothing to learn."
    auc, low, high = worth.AUC[label]
    ap = float(worth.AP[label, 0])
    lift = ap / float(worth.guessed_AP[label])
    verdict = worth.words(label)
    return (
        f"{name(label_name)} {verdict}: AUC {auc:.2f} ({low:.2f} to {high:.2f}), "
        f"average precision {ap:.2f}, {lift:.1f} times that of guessing; "
        f"{plural(n_cases, 'case')}, {percent(n_cases / n_observed)} of rows."
    )


def worth_figures(system: FuzzySystem, labels: Index) -> list[dict[str, object]] | None:
    """The figures behind the sentences, ready for JSON; None if they are not known."""
    worth = system.worth
    if worth is None:
        return None
    figures = []
    for j in labels.tolist():
        label = str(system.label_names[j])
        figures.append(
            {
                "label": label,
                "observed": int(worth.n_observed[j]),
                "cases": int(worth.n_cases[j]),
                "AUC": worth.AUC[j].tolist(),
                "AP": worth.AP[j].tolist(),
                "guessed_AP": float(worth.guessed_AP[j]),
                "is_better_than_guessing": bool(worth.is_better_than_guessing[j]),
                "words": worth_sentence(worth, j, label),
            }
        )
    return figures
