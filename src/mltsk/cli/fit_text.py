"""What ``mltsk fit`` says when it is done: the model's size and how good it is."""

from collections.abc import Mapping, Sequence
from math import nan
from textwrap import wrap
from typing import TYPE_CHECKING

from ..exceptions import printable
from ..text import listing, plural
from .correct import price_text
from .output import MAX_LINE_WIDTH
from .papers_fit import (
    LABEL_COLUMNS_OF_PAPER,
    FoundSetting,
    papers_model,
    papers_results,
)

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..core.arrays import Matrix
    from ..pages.judged import JudgedLabel
    from ..tables import DataTable
    from .opened import Estimator

LABEL_COLUMNS = ("observed", *LABEL_COLUMNS_OF_PAPER, "flagged")
MEANING_OF_COLUMNS = (
    "AP: average precision of the ranking of rows; guessing gives the prevalence, or a "
    "little more if rows are few. AUC: guessing gives 0.5. Sensitivity: cases that are "
    "flagged. Precision: flagged rows that are cases. Flagged: how many of 100 rows, "
    "at thresholds chosen without these rows."
)
MAX_NAMES_OF_LINE = 8
SUSPECT_AUC = 0.99  # on left-out rows: more is rarely honest work


def summary(
    model: "Estimator",
    table: "DataTable",
    X: "DataFrame | Matrix",
    *,
    is_of_paper: bool,
    found: "FoundSetting | None",
    seconds: float,
    out: str,
) -> str:
    """The data, the model's size, what was chosen, and honest metrics."""
    lines = [("data", f"{table.name}: {shape(table)}, {_labels_of_samples(table)}")]
    if is_of_paper:
        lines += papers_model(model, found)
    else:
        lines += [*_groups(table), *_model(model), ("thresholds", _thresholds(model))]
    lines += [("time", f"{seconds:.2f} s"), ("file", out)]
    if is_of_paper:
        results = papers_results(model, table, X, found)
    else:
        results = _results(model, table)
    if getattr(model, "wishes_", ()):
        results = f"{results}\n\n{price_text(model)}"
    return f"{_wrapped(lines)}\n\n{results}"


def _wrapped(lines: Sequence[tuple[str, str]]) -> str:
    """Names and what is said about each, in lines of at most 80 characters."""
    width = max(len(name) for name, _ in lines)
    texts = []
    for name, text in lines:
        start = f"{name:{width}}  "
        indent = " " * len(start)
        texts += wrap(
            printable(text),
            MAX_LINE_WIDTH,
            initial_indent=start,
            subsequent_indent=indent,
            break_on_hyphens=False,
        )
    return "\n".join(texts)


def shape(table: "DataTable") -> str:
    """How many samples, features and labels a table has."""
    n_features = plural(len(table.feature_names), "feature")
    n_labels = plural(len(table.label_names), "label")
    return f"{len(table):,} samples, {n_features}, {n_labels}"


def _labels_of_samples(table: "DataTable") -> str:
    """How many labels a sample has, or how many of their cells were not observed."""
    observed = table.Y.notna().to_numpy()
    if observed.all():
        return f"{table.Y.to_numpy().sum(axis=1).mean():.2f} per sample"
    return f"{1 - observed.mean():.0%} of their cells not observed"


def _model(model: "Estimator") -> list[tuple[str, str]]:
    """Size of a model, and what leave-one-out chose."""
    n_terms = (model.general_coef_ != 0).any(axis=1).sum()
    size = [f"general rule of {plural(n_terms, 'term')}", _exceptions(model)]
    fewest = int(model.n_statements_.min())
    most = int(model.n_statements_.max())
    if fewest == most:
        size.append(f"{plural(most, 'statement')} per label")
    else:
        size.append(f"{fewest:,} to {most:,} statements per label")
    chosen = ", ".join(_chosen_values(model)) or "nothing"
    error = f"mean squared error {model.loo_error_:.4f}"
    return [
        ("model", "; ".join(size)),
        ("leave-one-out", f"chose {chosen}; {error}"),
    ]


def _exceptions(model: "Estimator") -> str:
    """How many exceptions a model has, and what they say."""
    if model.n_rules_:
        content = "slopes of their own" if model.order_ else "a shift each"
        exceptions = plural(model.n_rules_, "exception")
        return f"{exceptions} of order {model.order_} ({content})"
    if model.n_rules == 0:
        return "no exceptions, as asked"
    if getattr(model, "wishes_", ()):
        return "no exceptions, which could turn an effect"
    if model.max_statements is not None:
        return "no exceptions: the short model kept none"
    return "no exceptions: the table needs none"


def _chosen_values(model: "Estimator") -> list[str]:
    """The parameters that were left to leave-one-out, with what it chose."""
    words = {"ridge": "ridge"}
    if model.n_rules_:
        words |= {"n_rules": "rules", "order": "order", "width_scale": "width scale"}
    if model.coupling:
        words["coupling_weight"] = "coupling weight"
    texts = []
    for name, word in words.items():
        if isinstance(getattr(model, name), str):
            value = getattr(model, f"{name}_")
            written = f"{value:,}" if isinstance(value, int) else f"{value:.3g}"
            texts.append(f"{word} {written}")
    return texts


def _groups(table: "DataTable") -> list[tuple[str, str]]:
    """Which rows are left out together, if some are."""
    if table.groups is None:
        return []
    count = f"{len(set(table.groups.tolist())):,} groups"
    return [
        ("groups", f"{count}: rows of one {table.group_name} are left out together")
    ]


def _thresholds(model: "Estimator") -> str:
    """From which probabilities on labels are predicted, and why."""
    lowest = model.thresholds_.min()
    highest = model.thresholds_.max()
    numbers = f"from a probability of {lowest:.2g} on"
    if f"{lowest:.2g}" != f"{highest:.2g}":
        numbers = f"from probabilities of {lowest:.2g} to {highest:.2g} on, by label"
    wish = model.threshold
    if isinstance(wish, str):
        return f"{numbers}, for the best {wish.upper()}"
    if not isinstance(wish, tuple):
        return f"{numbers}, as asked"
    goal, *values = wish
    return f"{numbers}, for {goal} {', '.join(f'{value:g}' for value in values)}"


def _results(model: "Estimator", table: "DataTable") -> str:
    """How well each label is found, next to guessing, and what the columns mean."""
    from ..pages.judged import judge

    judged = dict(zip(table.label_names, judge(model), strict=True))
    lines = wrap(MEANING_OF_COLUMNS, MAX_LINE_WIDTH)
    for verdict in _verdicts(judged):
        lines += ["", *wrap(verdict, MAX_LINE_WIDTH)]
    title = "\n".join(wrap(_how_rows_were_scored(model, table), MAX_LINE_WIDTH))
    meanings = "\n".join(lines)
    return (
        f"{title}\n\n{_table_of_judged(judged, len(model.loo_scores_))}\n\n{meanings}"
    )


def _verdicts(judged: "Mapping[str, JudgedLabel]") -> list[str]:
    """Sentences about labels that nothing tells, and that something gives away."""
    constant = []
    guessed = []
    unjudged = []
    suspicious = []
    for name, label in judged.items():
        if not label.rarer:
            constant.append(name)
        elif label.is_too_rare:
            unjudged.append(f"{name} ({label.rarer})")
        elif label.is_guessed:
            guessed.append(name)
        elif label.AUC[0] >= SUSPECT_AUC:
            suspicious.append(name)
    verdicts = []
    if constant:
        names = listing(constant, at_most=MAX_NAMES_OF_LINE)
        verdicts.append(f"The same in all rows, so that nothing was learned: {names}.")
    if unjudged:
        names = listing(unjudged, at_most=MAX_NAMES_OF_LINE)
        verdicts.append(f"Too few rows of the rarer answer to be judged: {names}.")
    if guessed:
        names = listing(guessed, at_most=MAX_NAMES_OF_LINE)
        verdicts.append(f"Cannot be predicted better than by guessing: {names}.")
    if suspicious:
        names = listing(suspicious, at_most=MAX_NAMES_OF_LINE)
        verdicts.append(
            f"Predicted almost without error: {names}. A feature may be known only "
            "afterwards; `mltsk doctor` names features that tell a label almost alone."
        )
    return verdicts


def _how_rows_were_scored(model: "Estimator", table: "DataTable") -> str:
    """How each row was scored without itself."""
    without = "it" if table.groups is None else f"its {table.group_name}"
    text = f"leave-one-out: every row scored as if {without} had not been there"
    if model.max_statements:
        text = (
            f"five folds: every row scored by terms that were chosen without {without}"
        )
    n_scored = len(model.loo_scores_)
    if n_scored < len(table):
        text += f" (of {len(table):,} rows {n_scored:,}, evenly spread)"
    return text


def _table_of_judged(judged: "Mapping[str, JudgedLabel]", n_rows: int) -> str:
    """A line per label; how many rows were observed where it was not in all."""
    from pandas import DataFrame

    from ..metrics.label_text import label_text

    rows = {name: _figures(label) for name, label in judged.items()}
    figures = DataFrame.from_dict(rows, orient="index", columns=LABEL_COLUMNS)
    columns = list(LABEL_COLUMNS)
    if (figures["observed"] == n_rows).all():
        columns.remove("observed")
    return label_text(figures, columns)


def _figures(label: "JudgedLabel") -> list[float]:
    """Figures of one label in the order of LABEL_COLUMNS; NaN where there are none."""
    return [
        label.observed,
        label.rate,
        label.AP[0],
        label.AUC[0],
        label.found / label.cases if label.cases else nan,
        label.found / label.given if label.given else nan,
        round(100 * label.given / max(label.observed, 1)),
    ]
