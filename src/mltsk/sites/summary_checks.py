"""Whether what was read is the summary of a site; ValueError with a reason if not."""

from typing import Any

from ..exceptions import is_unicode
from ..io.requirements import (
    are_different_words,
    is_count,
    is_finite_number,
    require,
)
from ..tables.kinds import CONSTANT, NOMINAL, NUMBER, YES_NO
from .summary import N_PERCENTILES

MAX_FEATURES = 10_000
MAX_LABELS = 10_000
MAX_TEXT = 1_000
MAX_VALUE = 1e100
MAX_TOTAL = 1e12
PLAIN_KINDS = (NUMBER, NOMINAL, YES_NO)

Json = Any


def check_kind(content: Json, kind: str, version: int) -> None:
    """A file says what it is, and in which version."""
    require(isinstance(content, dict), "it is no JSON object")
    require(content.get("format") == kind, f"it does not say {kind!r}")
    require(
        content.get("version") == version,
        f"it has version {str(content.get('version'))[:20]}, and this mltsk reads "
        f"{version}",
    )


def check_text(text: Json, what: str) -> None:
    """A text is not too long, and can be written to a file."""
    is_text = isinstance(text, str) and len(text) <= MAX_TEXT and is_unicode(text)
    require(is_text, f"{what} must be a text of at most {MAX_TEXT} characters")


def _is_number_of_rows(value: Json, most: float = MAX_TOTAL) -> bool:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return is_whole and 0 <= value <= most


def check_summary(content: Json) -> None:
    """A summary has the parts that it should, which fit together."""
    check_text(content.get("site"), "'site'")
    for name in ("least", "people", "rows"):
        value = content.get(name)
        require(
            is_count(value) and value <= MAX_TOTAL, f"{name!r} must be a whole number"
        )
    require(content["people"] <= content["rows"], "'people' must be at most 'rows'")
    features = content.get("features")
    labels = content.get("labels")
    is_list = isinstance(features, list) and 0 < len(features) <= MAX_FEATURES
    require(is_list, "'features' must be a list")
    is_list = isinstance(labels, list) and 0 < len(labels) <= MAX_LABELS
    require(is_list, "'labels' must be a list")
    for feature in features:
        _check_feature(feature, content["rows"])
    for label in labels:
        require(isinstance(label, dict), "a label must be an object")
        check_text(label.get("name"), "the name of a label")
        for name in ("observed", "cases"):
            is_count_of = _is_number_of_rows(label.get(name), content["rows"])
            require(is_count_of, f"{name!r} of a label must be a number of rows")
        require(label["cases"] <= label["observed"], "cases must have been observed")
    for what, items in (("features", features), ("labels", labels)):
        names = [item["name"] for item in items]
        require(are_different_words(names), f"two {what} have the same name")


def _check_feature(feature: Json, n_rows: int) -> None:
    """A feature has a kind, and counts or percentiles."""
    require(isinstance(feature, dict), "a feature must be an object")
    check_text(feature.get("name"), "the name of a feature")
    check_text(feature.get("unit", ""), "a unit")
    kind = feature.get("kind")
    if kind != CONSTANT:
        check_feature_kind(kind)
    for name in ("rows", "missing"):
        is_count_of = _is_number_of_rows(feature.get(name), n_rows)
        require(is_count_of, f"{name!r} of a feature must be a number of rows")
    if kind != NUMBER:
        levels = kind if isinstance(kind, list) else None
        _check_values(feature.get("values"), levels, n_rows)
    elif "percentiles" in feature:
        numbers = feature["percentiles"]
        is_list = isinstance(numbers, list) and len(numbers) == N_PERCENTILES
        require(
            is_list
            and all(
                is_finite_number(x, above=-MAX_VALUE, at_most=MAX_VALUE)
                for x in numbers
            ),
            f"'percentiles' must be {N_PERCENTILES} finite numbers",
        )
        require(numbers == sorted(numbers), "'percentiles' must rise")
    else:
        _check_numbers(feature.get("numbers"), n_rows)


def check_feature_kind(kind: Json) -> None:
    """A kind is a word that `mltsk.read_table` knows, or a list of levels."""
    if isinstance(kind, list):
        is_ordered = 2 <= len(kind) <= MAX_TEXT and are_different_words(kind)
        require(is_ordered, "levels must be different texts")
        return
    require(kind in PLAIN_KINDS, f"{str(kind)[:40]!r} is no kind of a feature")


def _check_values(values: Json, levels: list[str] | None, n_rows: int) -> None:
    """Values of words are different texts with counts."""
    require(isinstance(values, list), "'values' must be a list")
    for pair in values:
        is_pair = isinstance(pair, list) and len(pair) == 2
        require(is_pair and _is_number_of_rows(pair[1], n_rows), "a value has a count")
        check_text(pair[0], "a value")
        require(levels is None or pair[0] in levels, "a value is none of the levels")
    words = [pair[0] for pair in values]
    require(are_different_words(words), "two values are the same")
    require(sum(pair[1] for pair in values) <= n_rows, "values have too many rows")


def _check_numbers(pairs: Json, n_rows: int) -> None:
    """Numbers of few values have counts."""
    require(isinstance(pairs, list), "a number has 'percentiles' or 'numbers'")
    for pair in pairs:
        is_pair = isinstance(pair, list) and len(pair) == 2
        require(is_pair and _is_number_of_rows(pair[1], n_rows), "a value has a count")
        require(
            is_finite_number(pair[0], above=-MAX_VALUE, at_most=MAX_VALUE),
            "a value must be a finite number",
        )
    values = [pair[0] for pair in pairs]
    require(values == sorted(set(values)), "values must rise")
    require(sum(pair[1] for pair in pairs) <= n_rows, "values have too many rows")
