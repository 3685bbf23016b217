"""For the methods section: items of TRIPOD+AI, a model card, a paragraph to paste.

What a run knows is filled in; what only people know is named as open. Nothing is
guessed: a number is there because the fit or its judging gave it.
"""

import platform
from collections.abc import Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .. import __version__
from ..classifier import MLTSKClassifier
from ..exceptions import InputError, check_installed
from ..explain.wording import name
from ..files import check_outputs, writing
from ..tables.table import DataTable
from ..text import listing, plural
from .documents import (
    DocumentBlock,
    Heading,
    Paragraph,
    Table,
    docx_bytes,
    markdown_text,
)
from .judged import JudgedLabel, judge
from .render import template
from .tripod import TRIPOD_CITATION, TRIPOD_ITEMS, TripodItem

TITLE = "For the methods section"
METHODS_SUFFIXES = (".html", ".md", ".docx")
MODEL_CITATION = (
    "Lou Q, Deng Z, Xiao Z, Choi K-S, Wang S. Multi-Label Takagi-Sugeno-Kang Fuzzy "
    "System. IEEE Transactions on Fuzzy Systems 2022;30(9)."
)
SKLEARN_CITATION = (
    "Pedregosa F, Varoquaux G, Gramfort A, et al. Scikit-learn: Machine Learning in "
    "Python. Journal of Machine Learning Research 2011;12:2825-2830."
)
MAX_NAMED_FEATURES = 30
OPEN = "open"
FILLED = "filled in"
PARTLY = "in part"


class FilledItem(NamedTuple):
    """An item of the checklist, how far it is filled in, and with what."""

    item: TripodItem
    status: str
    text: str


class MethodsFacts(NamedTuple):
    """What a methods section is made of.

    ``asked`` has the options that were asked for, where those of the model are not
    these: a review gives its model the thresholds that were found. ``subgroups`` are
    columns that a review has results by.
    """

    table: DataTable
    model: MLTSKClassifier
    labels: Sequence[JudgedLabel]
    command: str = ""
    asked: MLTSKClassifier | None = None
    subgroups: Sequence[str] = ()

    @property
    def options(self) -> MLTSKClassifier:
        """The classifier whose options are named."""
        return self.model if self.asked is None else self.asked


def methods_section(
    model: MLTSKClassifier, table: DataTable, path: str | Path, *, command: str = ""
) -> Path:
    """Write what a paper's methods section needs: TRIPOD+AI, a model card, a paragraph.

    Parameters
    ----------
    model : MLTSKClassifier
        Fitted on the table in this process.
    table : table of `mltsk.read_table`
    path : str or Path
        ``….html``, ``….md`` or ``….docx``.
    command : str, optional
        What was typed to fit the model, to be cited.

    Examples
    --------
    >>> import tempfile
    >>> from mltsk import MLTSKClassifier, methods_section, read_table
    >>> table = read_table("pbc")
    >>> clf = MLTSKClassifier(n_rules=0).fit(table.X, table.Y)
    >>> page = methods_section(clf, table, tempfile.mkdtemp() + "/methods.md")
    >>> "TRIPOD+AI" in page.read_text(encoding="utf-8")
    True
    """
    check_methods_path(path)
    check_outputs([path])
    content = methods_bytes(methods_facts(model, table, command), path)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path) as file:
        file.write(content)
    return path


def methods_facts(
    model: MLTSKClassifier, table: DataTable, command: str = ""
) -> MethodsFacts:
    """What a methods section is made of, from a model that was fitted here."""
    if model.fit_record_ is None:
        raise InputError(
            "A model from a file holds no rows to be judged on: fit it again on its "
            "table."
        )
    return MethodsFacts(table, model, judge(model), command)


def check_methods_path(path: str | Path) -> None:
    """Refuse a file whose name does not say how to write it."""
    suffix = Path(path).suffix.lower()
    if suffix not in METHODS_SUFFIXES:
        raise InputError(
            f"{path} does not say how to write it: end its name with "
            f"{listing(METHODS_SUFFIXES, last='or')}."
        )
    if suffix == ".html":
        check_installed("jinja2", extra="report")


def methods_bytes(facts: MethodsFacts, path: str | Path) -> bytes:
    """The document as bytes, by the end of the file's name."""
    blocks = methods_blocks(facts)
    suffix = Path(path).suffix.lower()
    if suffix == ".docx":
        return docx_bytes(blocks)
    if suffix == ".md":
        return markdown_text(blocks).encode()
    kinds = [(type(block).__name__, block) for block in blocks]
    page = template("methods.html").render(
        title="For the methods section", blocks=kinds
    )
    return str(page).encode()


def methods_blocks(facts: MethodsFacts) -> list[DocumentBlock]:
    """The whole document."""
    items = filled_items(facts)
    n_open = sum(item.status != FILLED for item in items)
    rows = []
    for item, status, text in items:
        rows.append([item.number, item.part, item.asks, status, text])
    return [
        Heading(TITLE, level=1),
        Paragraph(
            f"{name(facts.table.name)}, {date.today():%d %B %Y}. What this run knows "
            f"is filled in; {n_open} of {len(items)} parts of the checklist are for "
            "you to complete."
        ),
        Heading("A paragraph to paste"),
        Paragraph(paragraph(facts)),
        Heading("Model card"),
        Table(("what", "said"), model_card(facts)),
        Heading("Performance on rows that were left out"),
        Table(
            ("label", "rows", "cases", "AUC (95 %)", "AP (95 %)", "threshold"),
            [_performance(label) for label in facts.labels],
        ),
        Heading("TRIPOD+AI"),
        Table(("item", "part", "asks for", "status", "text"), rows),
        Heading("References"),
        *[
            Paragraph(text)
            for text in (TRIPOD_CITATION, MODEL_CITATION, SKLEARN_CITATION)
        ],
    ]


def _performance(label: JudgedLabel) -> list[str]:
    """The figures of one label."""
    return [
        name(label.name),
        f"{label.observed:,}",
        f"{label.cases:,}",
        _estimate(label.AUC),
        _estimate(label.AP),
        f"{100 * label.threshold:.3g} %",
    ]


def _estimate(estimate: Sequence[float]) -> str:
    """A value with its interval, or a dash."""
    value, low, high = estimate
    if np.isnan(value):
        return "–"
    return f"{value:.2f} ({low:.2f} to {high:.2f})"


# the paragraph and the card -----------------------------------------------------------


def paragraph(facts: MethodsFacts) -> str:
    """What was done and what came out, in a paragraph with versions and citations."""
    table = facts.table
    model = facts.model
    results = []
    for label in facts.labels:
        results.append(
            f"{name(label.name)} ({label.cases:,} of {label.observed:,}): AUC "
            f"{_estimate(label.AUC)}, average precision {_estimate(label.AP)}"
        )
    return (
        f"We fitted a multi-label Takagi-Sugeno-Kang fuzzy system (Lou et al., 2022; "
        f"mltsk {__version__}, class MLTSKClassifier) to {plural(len(table), 'row')} "
        f"with {plural(len(table.feature_names), 'feature')} and "
        f"{plural(len(facts.labels), 'label')}. {_model_sentence(model)} "
        f"{_judged_sentence(facts)} Results with 95 % intervals: {'; '.join(results)}. "
        f"The fit has no random part and needs no seed; {_versions()}. Reporting "
        "follows TRIPOD+AI (Collins et al., 2024)."
    )


def _model_sentence(model: MLTSKClassifier) -> str:
    """What was fitted and how it was chosen."""
    exceptions = "no exceptions"
    if model.n_rules_:
        exceptions = plural(model.n_rules_, "exception")
    pairs = plural(model.n_pairs_, "pair") if model.n_pairs_ else "no pairs"
    most = int(model.n_statements_.max(initial=0))
    return (
        f"All numbers come from one ridge problem in closed form (ridge "
        f"{model.ridge_:.3g}); leave-one-out chose its structure ({exceptions}, "
        f"{pairs} of features). It has up to "
        f"{plural(most, 'statement')} per label. Probabilities were calibrated by a "
        "logistic curve per label on scores of rows that were left out."
    )


def _judged_sentence(facts: MethodsFacts) -> str:
    """By which rows the model was judged."""
    who = "each row"
    together = ""
    if facts.table.group_name:
        group = name(facts.table.group_name)
        who = f"all rows of each {group} together"
        together = f" that keep rows of one {group} together"
    if facts.model.max_statements is not None:
        return (
            f"It was judged in five folds{together}, by statements, numbers and curves "
            "that were found without the judged rows, at thresholds that were found "
            "without them in up to 20 folds."
        )
    return (
        f"It was judged by leaving out {who}, in closed form, with the terms and the "
        "ridge of all rows; curves were found in five folds without the judged rows, "
        "thresholds in up to 20."
    )


def _versions() -> str:
    """Versions of what computes."""
    packages = ("numpy", "scipy", "scikit-learn", "pandas")
    versions = [f"{package} {version(package)}" for package in packages]
    return f"Python {platform.python_version()}, {', '.join(versions)}"


def model_card(facts: MethodsFacts) -> list[list[str]]:
    """The model card: what the run knows, and what its owner must say."""
    model = facts.model
    table = facts.table
    card = {
        "Model": f"MLTSKClassifier of mltsk {__version__}. {_model_sentence(model)}",
        "Options": _options(facts.options),
        "Fitted on": (
            f"{name(table.source or table.name)}: {plural(len(table), 'row')}, "
            f"{plural(len(table.feature_names), 'feature')}; {_groups(table)}"
        ),
        "Labels": listing(_label_counts(facts)),
        "Gives": f"a probability per label, and yes from {_thresholds(facts)} on",
        "Judged": _judged_sentence(facts),
        "Missing cells": _missing(table),
        "Repeat it": facts.command
        or f"MLTSKClassifier({_options(facts.options)}).fit(X, Y)",
        "Versions": _versions(),
        "Intended use": f"{OPEN}: for whom, by whom, where in care",
        "Not for": f"{OPEN}: people and settings that the table does not have",
        "Known limits": f"{OPEN}; judged on left-out rows of one table alone",
        "Contact": OPEN,
    }
    return [[what, text] for what, text in card.items()]


def _options(model: MLTSKClassifier) -> str:
    """The options of a model that are not the usual ones."""
    usual = type(model)().get_params()
    changed = []
    for option, value in model.get_params().items():
        if repr(value) != repr(usual[option]):
            changed.append(f"{option}={value!r}")
    return ", ".join(changed) or "no options"


def _groups(table: DataTable) -> str:
    """Whether rows belong together."""
    if table.groups is None:
        return "every row on its own"
    n_groups = len(np.unique(table.groups))
    return f"{n_groups:,} groups by {name(table.group_name)}, never cut in two"


def _label_counts(facts: MethodsFacts) -> list[str]:
    return [
        f"{name(label.name)} ({label.cases:,} of {label.observed:,} observed)"
        for label in facts.labels
    ]


def _thresholds(facts: MethodsFacts) -> str:
    return listing(
        f"{100 * label.threshold:.3g} % ({name(label.name)})" for label in facts.labels
    )


def _missing(table: DataTable) -> str:
    """How many cells are missing, and what happens to them."""
    counts = table.X.isna().sum()
    n_missing = int(counts.sum())
    if not n_missing:
        return "no cell is missing"
    n_features = int((counts > 0).sum())
    return (
        f"{plural(n_missing, 'cell')} of {plural(n_features, 'feature')} missing; "
        "nothing was imputed and no row was left out: a missing cell adds nothing to a "
        "score, or a number of its own where that happens often"
    )


# the checklist ------------------------------------------------------------------------


def filled_items(facts: MethodsFacts) -> list[FilledItem]:
    """All items, with what this run knows of them."""
    filled = _filled(facts)
    partly = _partly(facts)
    items = []
    for item in TRIPOD_ITEMS:
        if item.number in filled:
            items.append(FilledItem(item, FILLED, filled[item.number]))
        elif item.number in partly:
            items.append(FilledItem(item, PARTLY, partly[item.number]))
        else:
            items.append(FilledItem(item, OPEN, ""))
    return items


def _filled(facts: MethodsFacts) -> dict[str, str]:
    """Items that the run fills in."""
    model = facts.model
    table = facts.table
    return {
        "11": f"{_missing(table)[:1].upper()}{_missing(table)[1:]}.",
        "12a": f"All rows were used to fit. {_judged_sentence(facts)}",
        "12b": (
            "Numbers as ramps on their percentile scale and straight lines, ordered "
            "categories by their order, other categories by value; values in less than "
            "1 % of rows, or in under 5 rows, share one number."
        ),
        "12c": _model_sentence(model),
        "12e": (
            "AUC and average precision with 95 % intervals, next to base rates; the "
            "review also has calibration, net benefit, sensitivity, specificity and "
            "predictive values."
        ),
        "12f": "The model was not changed after it was judged.",
        "12g": (
            "By the fitted model file, or by hand from the printed statements: they "
            "add up to log-odds."
        ),
        "13": (
            "No rows were resampled or weighted by class; the mean probability of each "
            "label is its rate."
        ),
        "15": (
            f"A probability per label; yes from {_thresholds(facts)} on "
            f"(threshold={facts.options.threshold!r})."
        ),
        "16": (
            "Both are the same table: each row is judged by a model without it or its "
            "group."
        ),
        "18f": f"The program is mltsk {__version__}, open source; {_versions()}.",
        "20c": "There is no evaluation in another table here.",
        "21": f"Cases of observed rows: {listing(_label_counts(facts))}.",
        "24": "The model was not updated.",
        "27a": (
            "Cells may be missing, and values may be new: they add nothing, and are "
            "counted in a note. Numbers outside of what was seen count as the last "
            "value that was seen."
        ),
    }


def _partly(facts: MethodsFacts) -> dict[str, str]:
    """Items of which the run knows a part; what people must add is said."""
    table = facts.table
    n_rows = plural(len(table), "row")
    fewest = min(facts.labels, key=lambda label: label.cases)
    return {
        "4": "A model is developed and judged on left-out rows. To add: the aims.",
        "5a": f"The table {name(table.name)}. To add: its source, and who is in it.",
        "7": (f"{_notes(table)} To add: what was done before the table was made."),
        "8a": (
            f"Labels: {listing(name(label.name) for label in facts.labels)}. To add: "
            "how and when they were assessed."
        ),
        "9a": (
            f"All of {plural(len(table.feature_names), 'feature')} were used: "
            f"{_feature_list(table)}. To add: why these."
        ),
        "10": (
            f"{n_rows[:1].upper()}{n_rows[1:]}; the rarest label, {name(fewest.name)}, "
            f"has {plural(fewest.cases, 'case')} for "
            f"{plural(len(table.feature_names), 'feature')}. To add: how the size was "
            "arrived at."
        ),
        "12d": f"Rows: {_groups(table)}. To add: differences between clusters, if any.",
        "20a": (
            f"{n_rows}; observed: {listing(_label_counts(facts))}. To add: those who "
            "were left out before."
        ),
        "20b": (
            "The review has a table of all columns with their missing cells. To add: "
            "what matters to readers."
        ),
        "22": (
            "mltsk rules prints all statements and their numbers; mltsk points "
            "a sheet of points. To add: where the model file can be had."
        ),
        "23a": f"{listing(_figures(facts))}. {_on_subgroups(facts)}",
    }


def _on_subgroups(facts: MethodsFacts) -> str:
    """Where the figures of subgroups are."""
    if not facts.subgroups:
        return "To add: key groups (mltsk review --by)."
    columns = listing([name(column) for column in facts.subgroups])
    return f"The review has them by {columns}. To add: which groups are key, and why."


def _notes(table: DataTable) -> str:
    """What was decided about columns."""
    notes = " ".join(f"{name(note).rstrip('.')}." for note in table.columns.notes[:5])
    return notes or "Columns were read as they are."


def _feature_list(table: DataTable) -> str:
    names = [name(feature) for feature in table.feature_names]
    return listing(names, at_most=MAX_NAMED_FEATURES)


def _figures(facts: MethodsFacts) -> list[str]:
    return [
        f"{name(label.name)} AUC {_estimate(label.AUC)}, AP {_estimate(label.AP)}"
        for label in facts.labels
    ]
