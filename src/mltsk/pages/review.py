"""The review: a user's table on one offline page.

It says what is in the table, what can be predicted from it, and how. Everything is
judged on rows that the judged model has not seen (`judged`, `baselines`). It needs no
network; its content security policy lets nothing run but its own script and style
sheet. Pictures are inline SVG (`svg`). The template is ``templates/review.html``; what
it is filled with are the facts below.
"""

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pandas import DataFrame, concat
from sklearn.base import clone

from .. import __version__
from ..classifier import MLTSKClassifier
from ..datasets.load import is_path
from ..exceptions import InputError, check_installed
from ..explain.wording import name
from ..files import check_outputs
from ..pipelines import with_feature_names, with_thresholds
from ..rows.read import TableLike
from ..tables.files import read_raw
from ..tables.read import read_table
from ..tables.table import DataTable
from . import svg, worth
from .baselines import (
    COMPARISON_FOLDS,
    MAX_COMPARED_ROWS,
    READABLE_SIZES,
    REVIEW_STATEMENTS,
    compare,
    draws_of_rows,
    readable_size,
)
from .explorer import policy
from .judged import JudgedLabel, judge, miscalibrated
from .render import check_page_path, source, template, write_page
from .review_elsewhere import (
    check_finished,
    check_general,
    elsewhere_section,
    judged_on,
    labels_elsewhere,
    matching_table,
    refuse_together,
    without_record,
)
from .review_enough import enough_section
from .review_first import first_screen
from .review_model import model_section
from .review_origin import origin_section
from .review_overlap import refuse_own_rows, refuse_rows_of_fit
from .review_results import results_section
from .review_second_look import second_look_section
from .review_sheets import methods_part, points_section
from .review_sites import sites_section
from .review_subgroups import check_by, subgroup_section
from .review_table import table_section
from .review_try import try_section
from .sections import Compared, Review, SectionMaker, samples_of
from .shown_labels import (
    MAX_REVIEWED_LABELS,
    check_max_labels,
    note_on_shown_labels,
    shown_labels,
)

# The parts below the first screen, in the order in which people ask.
SECTIONS: tuple[SectionMaker, ...] = (
    model_section,
    points_section,
    try_section,
    results_section,
    elsewhere_section,
    sites_section,
    subgroup_section,
    enough_section,
    table_section,
    second_look_section,
    methods_part,
    origin_section,
)

Progress = Callable[[int, int], object] | None


class ReviewPage(NamedTuple):
    """A review: its HTML, its first lines, a sentence per label, the fitted model.

    ``shown`` says how many of very many labels the page has.
    """

    page: str
    summary: list[str]
    labels: list[str]
    model: MLTSKClassifier
    shown: str


def review(
    table: DataTable | TableLike,
    path: str | Path,
    Y: TableLike = None,
    *,
    model: MLTSKClassifier | None = None,
    quick: bool = False,
    seed: int = 0,
    progress: Progress = None,
    max_labels: int = MAX_REVIEWED_LABELS,
    by: Sequence[str] = (),
    test: DataTable | None = None,
    fitted: MLTSKClassifier | None = None,
) -> Path:
    """Write a page about a table and a model of it.

    It says how well the labels of a table can be predicted, what a model says about
    them, and what is in the table. With ``test`` or ``fitted`` the model is judged on
    rows from elsewhere: an external validation.

    Parameters
    ----------
    table : table of `mltsk.read_table`, or features as a data frame or array
        With features, ``Y`` has the labels.
    path : str or Path
        Where to write the page (``….html``); it opens in any browser, without a
        network.
    Y : data frame or array of shape (n, n_labels), optional
        Labels of 0 and 1, NaN where not observed, where ``table`` holds features alone.
    model : MLTSKClassifier, optional
        The unfitted model to fit; by default one with thresholds for the best F1.
    quick : bool, default=False
        Leave out the comparison with other methods and with shorter models.
    seed : int, default=0
        Of folds, of the forest and of intervals.
    progress : callable, optional
        Called with (steps done, steps in all).
    max_labels : int, default=120
        How many labels the page shows one by one: those that most rows have. Its first
        lines are about all labels.
    by : list of str, optional
        Features that results are shown by, in subgroups: values of a nominal feature,
        quarters of a number; by default all nominal ones and "age".
    test : table of `mltsk.read_table`, optional
        Another table with the same features and labels: the model is fitted on
        ``table`` and judged on this one.
    fitted : MLTSKClassifier, optional
        A fitted model, perhaps from a file, that is judged on ``table`` as it is;
        nothing is fitted then.

    Examples
    --------
    >>> import tempfile
    >>> from mltsk import read_table, review
    >>> page = review(read_table("pbc"), tempfile.mkdtemp() + "/pbc.html", quick=True)
    >>> "hepatomegaly can be predicted" in page.read_text(encoding="utf-8")
    True
    """
    is_file = isinstance(table, DataTable) and is_path(table.source)
    check_outputs([path], inputs=[table.source] if is_file else [])
    check_page_path(path)
    if not isinstance(table, DataTable):
        if Y is None:
            raise InputError(
                "review takes a table of read_table, or features and their labels: "
                "review(X, path, Y)."
            )
        table = _joined_table(table, Y)
    if fitted is not None:
        refuse_together(model=model, test=test)
        page = validation_page(fitted, table, max_labels=max_labels, by=by).page
        return write_page(page, path)
    made = review_page(
        table,
        model=model,
        quick=quick,
        seed=seed,
        progress=progress,
        max_labels=max_labels,
        by=by,
        test=test,
    )
    return write_page(made.page, path)


def _joined_table(X: TableLike, Y: TableLike) -> DataTable:
    """Features and labels as one table."""
    features = _as_frame(X, "x")
    labels = _as_frame(Y, "label ").set_axis(features.index, axis=0)
    return read_table(
        concat([features, labels], axis=1), labels=list(map(str, labels.columns))
    )


def _as_frame(data: TableLike, prefix: str) -> DataFrame:
    """A data frame of pandas or polars, or an array whose columns are numbered."""
    if hasattr(data, "columns"):
        return read_raw(data).frame
    return DataFrame(np.asarray(data)).add_prefix(prefix)


def review_page(
    table: DataTable,
    *,
    model: MLTSKClassifier | None = None,
    quick: bool = False,
    seed: int = 0,
    command: str = "",
    progress: Progress = None,
    max_labels: int = MAX_REVIEWED_LABELS,
    by: Sequence[str] = (),
    test: DataTable | None = None,
) -> ReviewPage:
    """Return what `review` writes, with what it says first.

    ``command`` is shown in the page, to repeat the review.
    """
    _check_review(table, max_labels)
    check_by(table, by)
    if model is None:
        model = MLTSKClassifier(threshold="f1")
    check_general(model)
    if test is not None:
        test = matching_table(test, table.feature_names, table.label_names)
        refuse_rows_of_fit(test, table)
    is_quick = quick or _n_units(table) < 4 * COMPARISON_FOLDS
    step = _step_counter(progress, len(table), is_quick=is_quick)
    step()  # none yet
    fitted = clone(model).fit(samples_of(table), table.Y, groups=table.groups)
    fitted = with_feature_names(fitted, table.feature_names)
    step()
    compared = Compared(REVIEW_STATEMENTS)
    if not is_quick:
        compared = _compared(table, model, fitted, seed, step)
    models = _models_in_page(fitted, compared)
    review = Review(
        table=table,
        asked=model,
        whole=models.whole,
        short=models.short,
        compared=compared,
        labels=models.labels,
        is_off=miscalibrated(models.labels),
        shown=shown_labels(fitted.system_, max_labels),
        seed=seed,
        command=command,
        max_labels=max_labels,
        by=tuple(by),
    )
    if test is not None:
        review = judged_on(review, test)
    step()
    page = _page_of(review, fitted)
    step()
    return page


def validation_page(
    fitted: MLTSKClassifier,
    table: DataTable,
    *,
    command: str = "",
    fitted_on: str = "",
    max_labels: int = MAX_REVIEWED_LABELS,
    by: Sequence[str] = (),
) -> ReviewPage:
    """Return the review of a finished model on a table that it was not fitted on.

    ``fitted_on`` is what the file of the model calls the data of its fit.
    """
    _check_review(table, max_labels)
    check_by(table, by)
    check_finished(fitted)
    table = matching_table(
        table, list(fitted.feature_names_in_), list(fitted.label_names_)
    )
    refuse_own_rows(fitted, table)
    forgetful = without_record(fitted)
    labels = labels_elsewhere(fitted, table)
    review = Review(
        table=table,
        asked=fitted,
        whole=forgetful,
        short=forgetful,
        compared=Compared(REVIEW_STATEMENTS),
        labels=labels,
        is_off=miscalibrated(labels),
        shown=shown_labels(fitted.system_, max_labels),
        seed=0,
        command=command,
        max_labels=max_labels,
        by=tuple(by),
        fitted_on=fitted_on,
    )
    return _page_of(review, fitted)


def _page_of(review: Review, fitted: MLTSKClassifier) -> ReviewPage:
    """The page of a review, and what is printed of it."""
    return ReviewPage(
        page=_rendered(review),
        summary=worth.headline(review.labels, review.comparison),
        labels=[worth.sentence(label) for label in review.labels],
        model=fitted,
        shown=note_on_shown_labels(fitted.system_, len(review.shown)),
    )


def _check_review(table: DataTable, max_labels: int) -> None:
    """Refuse what cannot be reviewed, before a fit begins."""
    check_installed("jinja2", extra="report")
    if not table.label_names:
        raise InputError(
            f"{table.name} has no labels to review: say which columns are labels."
        )
    check_max_labels(max_labels)


def _n_units(table: DataTable) -> int:
    """How many rows, or groups of rows, can be left out by themselves."""
    return len(table) if table.groups is None else len(np.unique(table.groups))


def _compared(
    table: DataTable,
    model: MLTSKClassifier,
    fitted: MLTSKClassifier,
    seed: int,
    step: Callable[[], None],
) -> Compared:
    """Compare models of all sizes, and then the model with other methods."""
    size_path = fitted.size_path_
    n_statements = readable_size(size_path)
    step()
    comparison = compare(
        model,
        samples_of(table),
        table.Y.to_numpy(dtype=float),
        groups=table.groups,
        statements=n_statements,
        seed=seed,
        done=step,
    )
    return Compared(n_statements, size_path, comparison)


def _step_counter(
    progress: Progress, n_rows: int, *, is_quick: bool
) -> Callable[[], None]:
    """A function that reports one step more with each call, from 0 on."""
    n_steps = 3
    if not is_quick:
        n_compared = min(n_rows, MAX_COMPARED_ROWS)
        n_steps = 4 + COMPARISON_FOLDS * draws_of_rows(n_compared)
    steps = count()

    def step() -> None:
        if progress is not None:
            progress(next(steps), n_steps)

    return step


class _Models(NamedTuple):
    """Both models of a page, and how well that which was taken finds each label."""

    whole: MLTSKClassifier
    short: MLTSKClassifier
    labels: list[JudgedLabel]


def _models_in_page(fitted: MLTSKClassifier, compared: Compared) -> _Models:
    """The whole model and the short one, with one threshold per label in the page.

    Thresholds are those of the model that was taken.
    """
    n_statements = compared.n_statements
    if compared.takes_short:
        short = fitted.shorten(n_statements)
        whole = with_thresholds(fitted, short.thresholds_)
        # rows that chose the length are no judges of it
        record = short.fit_record_.with_size_chosen_in_folds(
            readable_size, READABLE_SIZES, fitted.max_conditions
        )
        return _Models(whole, short, judge(short, record))
    whole = with_thresholds(fitted, fitted.thresholds_)
    return _Models(whole, whole.shorten(n_statements), judge(fitted))


def _rendered(review: Review) -> str:
    """The page with its sections, its style sheets and its scripts."""
    made = [section(review) for section in SECTIONS]
    sections = [section for section in made if section is not None]
    styles = [source("base.css") + source("review.css")]
    scripts = [source("review.js")]
    for section in sections:
        styles += section.styles
        scripts += section.scripts
    return template("review.html").render(
        title=name(review.table.name),
        first=first_screen(review),
        shown=note_on_shown_labels(review.whole.system_, len(review.shown)),
        sections=sections,
        styles=styles,
        scripts=scripts,
        policy=policy(styles, scripts),
        version=__version__,
        effect=svg.effect,
    )
