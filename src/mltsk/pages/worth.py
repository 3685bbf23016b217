"""What a model is worth: each label on rows that were left out, next to other methods, and in sentences for everybody.

Our model, the same in a few statements, logistic regression and a forest are compared on the same folds; every row is
scored by models that have not seen it. Of large tables some rows and labels are compared, evenly spread. Cells are
prepared as is usual for these methods: medians and a mark in place of what is missing, a column per category.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from pandas import DataFrame
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder, StandardScaler

from ..columns import MISSING
from ..core.arrays import Array, spread_rows
from ..explain.views import left_out
from ..explain.wording import name, percent
from ..metrics.curves import ranking, resamples
from ..metrics.scorers import label_scores
from ..text import plural

FOLDS, MOST_ROWS, MOST_LABELS = 5, 3000, 30
FEW_ROWS = 1000  # up to here folds are drawn twice: on pbc one draw moves the AP of a rare label by a tenth
TERMS = 12  # per label of the model in words
METHODS = OURS, SHORT, LINEAR, FOREST = (
    "this model",
    f"its {TERMS} statements",
    "logistic regression",
    "forest",
)
FEW = 30  # cases, below which figures are told with care
GRADES = (
    (0.7, "can be found"),
    (0.45, "can be found in part"),
    (0.0, "is hard to find"),
)  # by F1


class Judged(NamedTuple):
    """One label on rows that were left out, each told what it would have been told without itself.

    ``AP`` and ``AUC`` are (value, low, high), a 95 % interval over resamples of the rows. ``found`` (cases) and
    ``alarms`` (others) are given the label at the threshold.
    """

    name: str
    observed: int
    cases: int
    AP: tuple[float, float, float]
    AUC: tuple[float, float, float]
    found: int
    alarms: int
    threshold: float
    y: Any
    chances: Array
    scores: Array

    @property
    def rate(self) -> float:
        """Share that has the label: the AP of guessing."""
        return self.cases / max(self.observed, 1)

    @property
    def is_known(self) -> bool:
        """Whether some have the label and some do not."""
        return 0 < self.cases < self.observed

    @property
    def is_guessed(self) -> bool:
        """Whether the model may be no better than guessing."""
        return self.is_known and not self.AUC[1] > 0.5


def judge(model: Any, seed: int = 0) -> list[Judged]:
    """Every label of a classifier that was fitted here."""
    Y, labels = model.fit_record_.labels, []
    weights = resamples(len(Y), len(model.label_names_), seed)
    for j, (label, (y, chances, scores)) in enumerate(left_out(model).items()):
        given, both = scores >= model.thresholds_[j], [(np.nan, np.nan, np.nan)] * 2
        if 0 < y.sum() < len(y):
            pairs = zip(
                ranking(y, scores),
                ranking(y, scores, weights[:, ~np.isnan(Y[:, j])]),
                strict=True,
            )
            both = [
                (float(value[0]), *np.nanpercentile(drawn, [2.5, 97.5]).tolist())
                for value, drawn in pairs
            ]
        counts = (
            int((y & given).sum()),
            int((~y & given).sum()),
            float(model.thresholds_[j]),
        )
        labels.append(
            Judged(
                name(label),
                len(y),
                int(y.sum()),
                both[0],
                both[1],
                *counts,
                y,
                chances,
                scores,
            )
        )
    return labels


class Comparison(NamedTuple):
    """AP and AUC of methods on the same rows, {method: (L,)}, of the ``labels`` (L,) that were compared.

    ``ahead`` are methods and how much higher their AP is than ours, (B, L): a row per resample of the rows.
    """

    rows: int
    labels: Array
    AP: dict[str, Array]
    AUC: dict[str, Array]
    ahead: dict[str, Array]


def compare(
    model: Any,
    X: Any,
    Y: Array,
    *,
    seed: int = 0,
    done: Callable[[], object] = lambda: None,
) -> Comparison:
    """An unfitted classifier next to the others, on labels Y (n, L), NaN where not observed; call ``done`` per fold."""
    rows = np.arange(len(Y))[spread_rows(len(Y), MOST_ROWS)]
    labels = (
        np.linspace(0, Y.shape[1] - 1, min(Y.shape[1], MOST_LABELS)).round().astype(int)
    )
    X, Y = X.iloc[rows] if hasattr(X, "iloc") else X[rows], Y[np.ix_(rows, labels)]
    cells, take = _cells(X), X.iloc if hasattr(X, "iloc") else X
    scores = np.zeros((len(METHODS), n_draws(len(Y)), *Y.shape))
    for r in range(n_draws(len(Y))):
        for train, test in KFold(FOLDS, shuffle=True, random_state=seed + r).split(Y):
            with warnings.catch_warnings(action="ignore"):
                fitted = (
                    clone(model)
                    .set_params(threshold=0.5, max_statements=None)
                    .fit(take[train], DataFrame(Y[train]))
                )
                scores[:2, r, test] = [
                    one.predict_proba(take[test])
                    for one in (fitted, fitted.shorten(TERMS))
                ]
            scores[2:, r, test] = _others(cells, Y, train, test, seed)
            done()
    weights = resamples(len(Y), len(labels), seed)
    both, drawn = (
        np.zeros((2, len(METHODS), len(labels))),
        np.zeros((len(METHODS), len(weights), len(labels))),
    )
    for m, j in np.ndindex(both.shape[1:]):  # means over draws
        seen = ~np.isnan(Y[:, j])
        y, each = Y[seen, j] > 0, scores[m][:, seen, j]
        both[:, m, j] = np.mean([np.concatenate(ranking(y, s)) for s in each], axis=0)
        drawn[m, :, j] = np.mean(
            [ranking(y, s, weights[:, seen])[0] for s in each], axis=0
        )
    AP, AUC = (dict(zip(METHODS, part, strict=True)) for part in both)
    return Comparison(
        len(rows),
        labels,
        AP,
        AUC,
        {LINEAR: drawn[2] - drawn[0], FOREST: drawn[3] - drawn[0]},
    )


def n_draws(n_rows: int) -> int:
    """How often folds are drawn."""
    return 2 if n_rows <= FEW_ROWS else 1


def _cells(X: Any) -> Any:
    """A table as scikit-learn's transformers take it: ordered categories as ranks, other words as text."""
    if sparse.issparse(X):
        return X
    X = X.copy()
    for title, column in X.items():
        if column.dtype == "category" and column.cat.ordered:
            X[title] = column.cat.codes.where(column.notna()).astype(float)
        elif column.dtype.kind not in "iuf":
            X[title] = (
                column.astype(object)
                .where(column.notna(), MISSING)
                .astype(str)
                .astype("category")
            )
    return X


def _others(X: Any, Y: Array, train: Array, test: Array, seed: int) -> Array:
    """Scores by logistic regression and by forests, of test rows as numbers by what the training rows say."""
    if sparse.issparse(X):
        A, B = (Normalizer().transform(X[rows]) for rows in (train, test))
    else:
        filled = SimpleImputer(
            strategy="median", add_indicator=True, keep_empty_features=True
        )
        words = OneHotEncoder(
            handle_unknown="ignore", min_frequency=5, sparse_output=False
        )
        numbers = (
            make_pipeline(filled, StandardScaler()),
            make_column_selector(dtype_include="number"),
        )
        chosen = make_column_transformer(
            numbers, (words, make_column_selector(dtype_include="category"))
        )
        with warnings.catch_warnings(
            action="ignore"
        ):  # a category that the training rows do not have
            A, B = chosen.fit_transform(X.iloc[train]), chosen.transform(X.iloc[test])
    Y, scores, together = (
        Y[train],
        np.zeros((2, len(test), Y.shape[1])),
        dict[bytes, list[int]](),
    )
    for j, y in enumerate(Y.T):
        seen = ~np.isnan(y)
        if len(np.unique(y[seen])) == 2:
            scores[0, :, j] = (
                LogisticRegression(max_iter=1000)
                .fit(A[seen], y[seen])
                .decision_function(B)
            )
            together.setdefault(seen.tobytes(), []).append(j)
    for (
        labels
    ) in together.values():  # a forest for those that were observed in the same rows
        seen = ~np.isnan(Y[:, labels[0]])
        y = Y[seen][:, labels].astype(int)
        forest = RandomForestClassifier(100, min_samples_leaf=3, random_state=seed)
        forest.fit(A[seen], y[:, 0] if len(labels) == 1 else y)
        scores[1][:, labels] = label_scores(forest, B, len(labels))
    return scores


def sentence(label: Judged) -> str:
    """Whether a label can be found, and at what price."""
    if not label.is_known:
        return f"{label.name}: {'all rows have' if label.cases else 'no row has'} it, so there is nothing to learn."
    care = (
        f" It is rare, {plural(label.cases, 'case')}: treat this with care."
        if label.cases < FEW
        else ""
    )
    if label.is_guessed:
        told = f"{label.name} cannot be told from these columns: the model may be no better than guessing."
        return told + (
            care
            and f" But there {'is' if label.cases == 1 else 'are'} only {plural(label.cases, 'case')}."
        )
    if not label.found + label.alarms:
        return f"{label.name} is never given: no row reaches the threshold of {label.threshold:.2g}.{care}"
    f1 = 2 * label.found / (label.found + label.alarms + label.cases)
    grade, found = (
        next(words for least, words in GRADES if f1 >= least),
        _of(label.found / label.cases, "cases"),
    )
    false = label.alarms / (label.found + label.alarms)
    price = (
        f"{_of(false, 'alarms')} false" if label.alarms else "there are no false alarms"
    )
    return f"{label.name} {grade}: {found} found, and {price}.{care}"


def _of(share: float, things: str) -> str:
    """A share of some things as a simple fraction, with its verb."""
    if share > 0.97:
        return f"{'all' if share == 1 else 'nearly all'} {things} are"
    if share < 0.03:
        return f"{'hardly any' if share else 'none of the'} {things} are"
    simple = [(n, d) for d in (2, 3, 4, 5, 10) for n in range(1, d)]
    n, d = min(
        simple, key=lambda part: abs(part[0] / part[1] - share) + 0.002 * part[1]
    )
    return (
        f"half of the {things} are"
        if d == 2
        else f"{n} of {d} {things} {'is' if n == 1 else 'are'}"
    )


def clearly_ahead(
    compared: Comparison, labels: Sequence[Judged]
) -> dict[str, list[str]]:
    """Methods whose AP is higher than ours, over the mean of all labels ("") or for some, beyond what chance does.

    The interval of the difference over resamples lies above 0: that of 95 % for the mean, of 99 % for a label.
    """
    found = dict[str, list[str]]()
    for method, ahead in compared.ahead.items():
        known = np.isfinite(ahead).any(axis=0)
        if known.any():
            mean = np.nanpercentile(np.nanmean(ahead, axis=1), 2.5)
            each = np.nanpercentile(ahead[:, known], 0.5, axis=0)
            told = ([""] if mean > 0 else []) + [
                labels[j].name for j in compared.labels[known][each > 0]
            ]
            found |= {method: told} if told else {}
    return found


def headline(labels: Sequence[Judged], compared: Comparison | None) -> list[str]:
    """The first lines of a review: what is wrong first, then how well labels can be told."""
    guessed = [label.name for label in labels if label.is_guessed]
    better = sorted(
        (label for label in labels if label.AUC[1] > 0.5),
        key=lambda label: -label.AUC[0],
    )
    told = []
    if guessed:
        which = f"{len(guessed)} of {len(labels)} labels cannot be told better than by guessing: {listed(guessed)}."
        told.append(which if len(labels) > 1 else sentence(labels[0]))
    if compared is not None:
        for method, where in clearly_ahead(compared, labels).items():
            theirs, ours = (
                float(np.nanmean(compared.AP[each])) for each in (method, OURS)
            )
            which = "A forest" if method == FOREST else method.capitalize()
            more = f"ranks rows better than this model: mean AP {theirs:.2f} against {ours:.2f}."
            told.append(
                f"{which} {more if where[0] == '' else f'is clearly better for {listed(where)}.'}"
            )
    if better and len(labels) > 1:
        ends = f"best {better[0].name}" + (
            f", least well {better[-1].name}" if len(better) > 1 else ""
        )
        count = (
            f"All {len(labels)}"
            if len(better) == len(labels)
            else f"{len(better)} of {len(labels)}"
        )
        told.append(f"{count} labels can be told better than by guessing, {ends}.")
    elif better:
        told.append(sentence(better[0]))
    return told or [
        "No label has both rows with it and rows without it: there is nothing to learn."
    ]


def listed(names: Sequence[str]) -> str:
    """Names with commas between, the first few."""
    return ", ".join(names[:5]) + (
        f" and {len(names) - 5} more" if len(names) > 5 else ""
    )


def chances_told(groups: Any) -> str:
    """Whether probabilities can be taken at their word."""
    off = [
        (g, o)
        for g, o, low, high in zip(*groups[:4], strict=True)
        if not low <= g <= high
    ]
    if len(off) < 2:  # of ten intervals of 95 %, one may be off
        return "Probabilities can be taken at their word: where 30 % were told, about 30 % have it."
    forecast, observed = max(off, key=lambda pair: abs(pair[0] - pair[1]))
    return f"Of rows told {percent(forecast)}, {percent(observed)} have it: take such probabilities with care."
