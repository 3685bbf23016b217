"""How the review was made, to repeat it."""

import platform
from datetime import date
from importlib.metadata import version

from .. import __version__
from ..classifier import MLTSKClassifier
from ..edits import edit_log
from ..explain.wording import name
from ..tables.table import DataTable
from ..text import plural
from .filed import MAX_FILED_EDITS
from .sections import Review, Section


def origin_section(review: Review) -> Section:
    """How the review was made: table, model, seeds, versions and the command."""
    return Section(
        key="made",
        title="How this was made",
        bar_title="Origin",
        template="review/made.html",
        facts={
            "made": _origin(review),
            "edits": _edits(review),
            "n_filed_edits": MAX_FILED_EDITS,
        },
        is_filed=True,
    )


def _origin(review: Review) -> dict[str, str]:
    """What somebody needs to make the same page again."""
    table = review.table
    model = review.whole
    exceptions = "no exceptions"
    if model.n_rules_:
        exceptions = plural(model.n_rules_, "exception")
    facts = {
        "Table": name(table.source or table.name),
        "Model": (
            f"MLTSKClassifier with {_options(review.asked)}; {exceptions}, ridge "
            f"{model.ridge_:.3g}"
        ),
        "Judged on": _judged_on(review),
    }
    if review.is_external:
        del facts["Model"]
        fitted_on = review.fitted_on or "another table"
        if review.training is not None:
            fitted_on = review.training.source or review.training.name
        facts["Fitted on"] = name(fitted_on)
    if review.comparison is not None:
        facts["Compared with"] = (
            "scikit-learn's LogisticRegression() and RandomForestClassifier(100, "
            "min_samples_leaf=3)"
        )
    if not review.is_finished:
        facts["Seed"] = (
            f"{review.seed}, for folds, the forest and intervals; the model itself has "
            "no chance in it"
        )
    facts["Versions"] = _versions()
    facts["Made on"] = date.today().isoformat()
    if review.command:
        facts["Repeat it"] = review.command
    return facts


def _edits(review: Review) -> list[str]:
    """Who changed what in the model by hand, and why."""
    return [name(edit.told_in_full()) for edit in edit_log(review.whole)]


def _versions() -> str:
    """Versions of this package and of those that compute."""
    packages = ("numpy", "scipy", "scikit-learn", "pandas")
    versions = [f"{package} {version(package)}" for package in packages]
    return (
        f"mltsk {__version__}, Python {platform.python_version()}, "
        f"{', '.join(versions)}"
    )


def _judged_on(review: Review) -> str:
    """By what the model was judged."""
    if review.is_external:
        return (
            "rows that the model was not fitted on, at its own thresholds; intervals "
            "are 95 %, on the scale of log-odds"
        )
    rows = _left_out(review.table)
    if review.takes_short:
        rows = f"{rows}, in five folds, by statements that were chosen without them"
    return (
        f"{rows}; AUC of the whole model on up to 2,000 rows without groups from pairs "
        "of rows left out; intervals are 95 %, on the scale of log-odds; counts at "
        "thresholds that were found in up to 20 folds, and probabilities by curves "
        "that were found in five, without the counted rows"
    )


def _left_out(table: DataTable) -> str:
    """Which rows are left out at a time."""
    if not table.group_name:
        return "scores of rows that were left out, one at a time"
    group = name(table.group_name)
    return f"scores of rows that were left out, all rows of one {group} at a time"


def _options(model: MLTSKClassifier) -> str:
    """The options of a model that are not the usual ones."""
    usual = type(model)().get_params()
    changed = []
    for option, value in model.get_params().items():
        if value != usual[option]:
            changed.append(f"{option}={value!r}")
    return ", ".join(changed) or "no options"
