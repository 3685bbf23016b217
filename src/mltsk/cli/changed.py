"""Columns of new data that are not what they were when a model was fitted.

What cannot be meant is refused, as a model would answer with other predictions; what
may be meant is noted.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isnan

from pandas import DataFrame

from ..columns import Columns
from ..core.arrays import FloatArray
from ..datasets.dataset import as_number
from ..exceptions import InputError
from ..tables import DataTable
from ..tables.dates import DATE_UNITS
from ..tables.far import are_far
from ..tables.numerals import same_unit
from ..text import known_capitals, plural, quoted_list
from .output import note

MAX_COLUMNS_OF_NOTE = 3


# units


def check_units(
    data: str,
    fitted: Mapping[str, str],
    table: DataTable,
    *,
    when: str = "when the model was fitted",
) -> None:
    """Refuse numbers in another unit than known ones; note where one has none."""
    here = table.units
    for name in table.feature_names:
        _check_unit(data, name, here.get(name, ""), fitted.get(name, ""), when)


def _check_unit(data: str, name: str, unit: str, fitted: str, when: str) -> None:
    """Refuse or note another unit of one column."""
    if same_unit(unit, fitted):
        return
    if DATE_UNITS.keys() & {unit, fitted}:
        has = DATE_UNITS.get(unit, "numbers")
        had = DATE_UNITS.get(fitted, "numbers")
        raise InputError(
            f"Column {name!r} of {data} holds {has}; it held {had} {when}."
        )
    if unit and fitted:
        raise InputError(
            f"Column {name!r} of {data} is in {unit}, and it was in {fitted} {when}: "
            "convert it."
        )
    has = f"in {unit}" if unit else "without a unit"
    had = f"in {fitted}" if fitted else "without a unit"
    note(
        f"{data}: {name} is {has} here and was {had} {when}; the numbers are taken as "
        "they are."
    )


# words


def in_known_words(columns: Columns, X: DataFrame, data: str) -> DataFrame:
    """A frame whose words have the capitals, and the zeros, that a model knows.

    Numbers are refused where the model knows words alone, and words where it knows yes
    and no.
    """
    changed = {}
    for d, name in enumerate(X):
        model_words = [*columns.values[d], *columns.rare[d]]
        if not model_words or X[name].dtype != "category":
            continue
        words = [str(word) for word in X[name].dropna().unique()]
        _refuse_numbers(data, str(name), words, model_words)
        _refuse_no_answers(data, str(name), words, model_words)
        spelling = known_capitals(words, model_words)
        spelling = spelling or _short_words(words, model_words)
        for word, usual in spelling.items():
            note(f"{data}: {name}: {word!r} read as {usual!r}, which the model knows.")
        if not spelling:
            spelling = _padded_codes(words, model_words)
            for word, usual in list(spelling.items())[:1]:
                note(
                    f"{data}: {name} has lost zeros in front: read as the codes that "
                    f"the model knows ({word!r} is {usual!r})."
                )
        if spelling:
            texts = X[name].astype(object).replace(spelling)
            changed[name] = texts.astype("category")
    return X.assign(**changed)


def _refuse_numbers(
    data: str, name: str, words: Sequence[str], known: Sequence[str]
) -> None:
    """Refuse numbers alone where words were, and any number beside yes and no."""
    if any(map(_is_number, known)):
        return
    numbers = [word for word in words if _is_number(word)]
    if not numbers or (numbers != list(words) and not set(known) <= {"yes", "no"}):
        return
    raise InputError(
        f"Column {name!r} of {data} holds numbers ({quoted_list(numbers)}); it held "
        f"words ({quoted_list(known)}) when the model was fitted."
    )


def _refuse_no_answers(
    data: str, name: str, words: Sequence[str], known: Sequence[str]
) -> None:
    """Refuse words where yes and no were, if neither is among them."""
    is_answer = set(known) <= {"yes", "no"}
    if words and is_answer and not set(words) & {"yes", "no"}:
        raise InputError(
            f"Column {name!r} of {data} holds {quoted_list(words)}; it held yes and no "
            "when the model was fitted."
        )


def _padded_codes(words: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    """Codes such as 007 for the numbers that a spreadsheet made of them, if all are."""
    if not all(code.isdigit() for code in known):
        return {}
    by_number = {int(code): code for code in known}
    if len(by_number) < len(known) or set(words) <= set(known):
        return {}
    changed = {}
    for word in words:
        if not word.isdigit() or (word[0] == "0" and len(word) > 1):
            return {}
        if int(word) in by_number:
            changed[word] = by_number[int(word)]
    return changed


def _short_words(words: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    """Short words in other capitals, if all are known so and none as it is: f for F.

    A few of them would rather be others: AA, Aa and aa are genotypes.
    """
    by_lower = {word.casefold(): word for word in known}
    if len(by_lower) < len(known) or set(words) & set(known):
        return {}
    if not all(word.casefold() in by_lower for word in words):
        return {}
    return {word: by_lower[word.casefold()] for word in words}


def _is_number(word: str) -> bool:
    return not isnan(as_number(word))


# cells


def gaps_sentence(columns: Columns | None, X: DataFrame) -> str:
    """How many cells of a frame are missing or new to a model; "" if there are none."""
    missing = X.isna().sum().to_numpy()
    unseen = {} if columns is None else _unseen_words(columns, X)
    n_missing = int(missing.sum())
    n_unseen = sum(words.total() for words in unseen.values())
    counts = []
    if n_missing:
        verb = "is" if n_missing == 1 else "are"
        counts.append(f"{plural(n_missing, 'cell')} {verb} missing")
    if n_unseen and columns is not None:
        verb = "was" if n_unseen == 1 else "were"
        which = _listed_words(unseen, columns, X)
        counts.append(f"{plural(n_unseen, 'value')} {verb} never seen ({which})")
    if not counts:
        return ""
    effect = "they count as nothing"
    if n_missing + n_unseen == 1:
        effect = "it counts as nothing"
    if columns is not None and (missing > 0)[list(columns.gaps)].any():
        effect += ", except where the model has a number for 'not measured'"
    return f"{' and '.join(counts)}; {effect}."


def _unseen_words(columns: Columns, X: DataFrame) -> dict[str, Counter[str]]:
    """The words of each column that a model has not seen, and how often each stands."""
    unseen = {}
    for d, words in enumerate(columns.words(X).T):
        seen = {None, *columns.values[d], *columns.rare[d]}
        new_words = Counter(word for word in words if word not in seen)
        if new_words:
            unseen[X.columns[d]] = new_words
    return unseen


def _listed_words(
    words_of_columns: Mapping[str, Counter[str]], columns: Columns, X: DataFrame
) -> str:
    """Words by column, for the first columns.

    Where no word of a column is known, those that the model knows stand behind.
    """
    texts = []
    for name, words in words_of_columns.items():
        text = f"{name}: {quoted_list(sorted(words))}"
        if words.total() == X[name].count():
            d = list(X.columns).index(name)
            model_words = [*columns.values[d], *columns.rare[d]]
            text += f", where the model knows {quoted_list(model_words)}"
        texts.append(text)
    shown = "; ".join(texts[:MAX_COLUMNS_OF_NOTE])
    n_more = len(texts) - MAX_COLUMNS_OF_NOTE
    return f"{shown} and {plural(n_more, 'more column')}" if n_more > 0 else shown


# numbers


def note_far_numbers(
    columns: Columns | None,
    quantiles: FloatArray | None,
    X: DataFrame,
    data: str,
    *,
    source: str = "the fit",
) -> None:
    """Note numbers all of which are far from known ones: in another unit?

    ``quantiles`` (D, 21) are those of the columns of numbers in ``source``.
    """
    if columns is None or quantiles is None:
        return
    for part, knots in zip(columns.parts, quantiles, strict=False):
        is_number = part.feature >= 0 and part.value is None
        if not is_number or columns.kinds[part.feature] != "number":
            continue
        name = columns.names[part.feature]
        if name not in X or X[name].dtype.kind != "f":
            continue
        low, high = float(knots[0]), float(knots[-1])
        if are_far(X[name].dropna().to_numpy(), low, high):
            note(
                f"{data}: {name} is far from all numbers of {source}, which are from "
                f"{low:.6g} to {high:.6g}: is it in the same unit?"
            )
