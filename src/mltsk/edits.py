"""Edits that somebody made in the page of a model: what, by whom and why.

A file of edits is data from elsewhere. It names the model that it was made for by a
fingerprint, and every part of it is checked before any of it counts.

An edit is about the curves of one feature for some labels:

- ``rises``, ``falls``: the effect may only rise, or fall,
- ``point``: the curve passes through a value and an effect in log-odds; a later point
  at the same value takes the place of an earlier one,
- ``off``: there is no effect, and earlier edits of these curves no longer count,
- ``free``: earlier edits of these curves no longer count.

What is left after the last edit are wishes that `MLTSKClassifier.constrained` knows.
"""

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from .core.arrays import FloatArray
from .exceptions import InputError, is_unicode
from .fit.wishes import MAX_EFFECT
from .limits import read_json
from .system import FuzzySystem
from .text import did_you_mean, listing

EDITS_FORMAT = "mltsk-edits"
EDITS_VERSION = 1
EDIT_DIRECTIONS = {"rises": 1, "falls": -1}
ACTIONS = (*EDIT_DIRECTIONS, "off", "point", "free")
MAX_EDITS = 10_000
MAX_EDITS_BYTES = 16 << 20  # of a file of edits
MAX_EDIT_TEXT = 2_000  # characters of a name or a reason
# By how much numbers of a page may differ from those that its edits give, next to 1 and
# the largest. Two solvers agree to 1e-12; a number that was changed by hand does not.
PAGE_TOLERANCE = 1e-8

FILE_KEYS = ("format", "version", "model", "edits", "numbers")
EDIT_KEYS = ("feature", "labels", "action", "author", "reason", "time")
POINT_KEYS = ("value", "effect")
NUMBER_KEYS = ("intercept", "terms", "pairs")


@dataclass(frozen=True)
class Edit:
    """One edit of the curves of a feature for some labels.

    ``value`` and ``effect`` (log-odds) are those of a point. ``time`` is in the form of
    ISO 8601.
    """

    feature: str
    labels: tuple[str, ...]
    action: str
    author: str
    reason: str
    time: str
    value: float | None = None
    effect: float | None = None

    def told(self) -> str:
        """What was edited, in words.

        >>> Edit("age", ("gout",), "rises", "Dr. Who", "known", "2026-01-31").told()
        'age may only rise for gout'
        """
        texts = {
            "rises": "may only rise",
            "falls": "may only fall",
            "off": "has no effect",
            "free": "is free again",
        }
        words = texts.get(self.action)
        if words is None:
            words = f"passes through {self.value:g} with {self.effect:+.3g} log-odds"
        return f"{self.feature} {words} for {listing(self.labels, at_most=5)}"

    def told_in_full(self) -> str:
        """What was edited, by whom, when and why."""
        day = self.time[: len("2026-01-31")]
        return f"{self.told()} ({self.author}, {day}: {self.reason})"

    def plain(self) -> dict[str, Any]:
        """The edit as names and numbers, without what it does not have."""
        return {key: value for key, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Edits:
    """What a file of edits holds.

    Parameters
    ----------
    source : str
        Where they come from, for sentences.
    model : str
        The fingerprint of the model that they were made for.
    items : tuple of Edit
    numbers : mapping of names to arrays
        Those of the edited model in the page, if the file has them.
    """

    source: str
    model: str
    items: tuple[Edit, ...]
    numbers: Mapping[str, FloatArray] = field(default_factory=dict)

    def check_model(self, system: FuzzySystem) -> None:
        """Refuse edits of another model."""
        if self.model != fingerprint(system):
            raise InputError(
                f"{self.source} was made in the page of another model: take the model "
                "file that this page was made from."
            )

    def check_names(self, features: Sequence[str], labels: Sequence[str]) -> None:
        """Refuse edits of a feature or a label that the model does not have."""
        for place, edit in enumerate(self.items, start=1):
            self._check_name(place, edit.feature, features, "feature")
            for label in edit.labels:
                self._check_name(place, label, labels, "label")

    def _check_name(
        self, place: int, name: str, names: Sequence[str], noun: str
    ) -> None:
        if name in names:
            return
        hint = did_you_mean(name, names)
        if not hint:
            hint = f"the model has {listing(names, at_most=5)}."
        raise InputError(
            f"Edit {place} of {self.source} names {reprlib.repr(name)}, which is no "
            f"{noun}: {hint}"
        )

    def wishes(self) -> dict[str, Any]:
        """What is left after the last edit, as arguments of `constrained`.

        >>> said = ("age", ("gout",), "falls", "Dr. Who", "known", "2026-01-31")
        >>> Edits("it", "", (Edit(*said),)).wishes()
        {'monotonic_cst': {'age': {'gout': -1}}, 'without': None, 'curves': None}
        """
        directions: dict[str, dict[str, int]] = {}
        without: dict[str, list[str]] = {}
        curves: dict[str, list[dict[str, Any]]] = {}
        for (feature, label), curve in self._curves().items():
            if curve.is_off:
                without.setdefault(feature, []).append(label)
            if curve.direction:
                directions.setdefault(feature, {})[label] = curve.direction
            if curve.points:
                wish = {"points": list(curve.points.items()), "labels": [label]}
                curves.setdefault(feature, []).append(wish)
        return {
            "monotonic_cst": directions or None,
            "without": without or None,
            "curves": curves or None,
        }

    def _curves(self) -> "dict[tuple[str, str], EditedCurve]":
        """What is asked of each curve that an edit is about, after the last edit."""
        curves: dict[tuple[str, str], EditedCurve] = {}
        for edit in self.items:
            for label in edit.labels:
                key = (edit.feature, label)
                curves[key] = curves.get(key, EditedCurve()).after(edit)
        return curves

    def check_numbers(self, system: FuzzySystem) -> None:
        """Refuse edits whose page showed other numbers than those of a system."""
        expected = {
            "intercept": system.intercept,
            "terms": system.term_coef,
            "pairs": system.pair_coef,
        }
        for name, numbers in self.numbers.items():
            own = np.asarray(expected[name], dtype=np.float64).ravel()
            is_same = numbers.shape == own.shape
            if is_same:
                largest = 1 + np.abs(own).max(initial=0.0)
                differences = np.abs(numbers - own)
                is_same = bool((differences <= PAGE_TOLERANCE * largest).all())
            if not is_same:
                raise InputError(
                    f"The numbers in {self.source} are not those that its edits give: "
                    "the file was changed, so export it again from the page."
                )


@dataclass(frozen=True)
class EditedCurve:
    """What edits ask of the curve of one feature for one label."""

    direction: int = 0
    is_off: bool = False
    points: Mapping[float, float] = field(default_factory=dict)

    def after(self, edit: Edit) -> "EditedCurve":
        """What is asked after one more edit."""
        if edit.action == "off":
            return EditedCurve(is_off=True)
        if edit.value is not None and edit.effect is not None:
            points = dict(self.points)
            points[edit.value] = edit.effect
            return EditedCurve(self.direction, points=points)
        if edit.action == "free":
            return EditedCurve()
        return EditedCurve(EDIT_DIRECTIONS[edit.action], points=self.points)


def edit_log(model: object) -> tuple[Edit, ...]:
    """Edits that a model has, in the order in which they were made."""
    items = getattr(model, "edits_", ())
    return tuple(checked_edit(item, "An edit of this model") for item in items)


def fingerprint(system: FuzzySystem) -> str:
    """What tells a model from others: a digest of its names and numbers."""
    digest = sha256()
    for names in (system.feature_names, system.label_names):
        digest.update("\0".join(map(str, names)).encode("utf-8", "surrogatepass"))
        digest.update(b"\1")
    arrays = {
        "intercept": system.intercept,
        "terms": system.term_coef,
        "pairs": system.pair_coef,
        "exceptions": system.coef,
        "centres": system.centers,
        "thresholds": system.thresholds,
    }
    for name, array in arrays.items():
        numbers = np.zeros(0) if array is None else np.asarray(array)
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(numbers, dtype="<f8").tobytes())
    return f"sha256:{digest.hexdigest()}"


# reading ------------------------------------------------------------------------------


def read_edits(source: str | Path | Mapping[str, Any]) -> Edits:
    """Edits from a file, or from what such a file holds, checked part by part."""
    if isinstance(source, Mapping):
        return _checked(source, "The file of edits")
    path = Path(source)
    try:
        if path.stat().st_size > MAX_EDITS_BYTES:
            raise InputError(
                f"{path} has more than {MAX_EDITS_BYTES >> 20} MiB, too much for a "
                "file of edits."
            )
        content = read_json(path)
    except InputError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no JSON"
        raise InputError(
            f"No edits can be read from {path}: {reason}; take a file that the page of "
            "a model exported."
        ) from None
    return _checked(content, str(path))


def _checked(content: Any, source: str) -> Edits:
    """The edits of what a file holds."""
    is_ours = isinstance(content, Mapping) and content.get("format") == EDITS_FORMAT
    if not is_ours:
        raise InputError(
            f"{source} is no file of edits: its 'format' must be {EDITS_FORMAT!r}."
        )
    version = content.get("version")
    if version != EDITS_VERSION or isinstance(version, bool):
        raise InputError(
            f"{source} has the version {reprlib.repr(version)}, and this mltsk reads "
            f"version {EDITS_VERSION}: export it from a page of the same mltsk."
        )
    _check_keys(content, FILE_KEYS, source, optional=("numbers",))
    model = content["model"]
    if not isinstance(model, str):
        raise InputError(f"'model' of {source} must be the fingerprint of a model.")
    items = content["edits"]
    if not isinstance(items, list) or not 0 < len(items) <= MAX_EDITS:
        raise InputError(
            f"'edits' of {source} must be a list of 1 to {MAX_EDITS:,} edits."
        )
    edits = []
    for place, item in enumerate(items, start=1):
        edits.append(checked_edit(item, f"Edit {place} of {source}"))
    numbers = _checked_numbers(content.get("numbers"), source)
    return Edits(source=source, model=model, items=tuple(edits), numbers=numbers)


def checked_edit(item: Any, where: str) -> Edit:
    """One edit; ``where`` it stands begins the sentence about what is wrong."""
    is_point = isinstance(item, Mapping) and item.get("action") == "point"
    _check_keys(item, (*EDIT_KEYS, *POINT_KEYS) if is_point else EDIT_KEYS, where)
    if item["action"] not in ACTIONS:
        raise InputError(
            f"{where} has the action {reprlib.repr(item['action'])}, but knows "
            f"{listing(ACTIONS)} alone."
        )
    for key in ("feature", "author", "reason", "time"):
        _check_text(item[key], key, where)
    labels = item["labels"]
    are_names = isinstance(labels, list | tuple) and len(labels) > 0
    if not are_names or not all(isinstance(label, str) for label in labels):
        raise InputError(f"{where} must name its labels, as a list of texts.")
    if len(set(labels)) < len(labels):
        raise InputError(f"{where} names a label twice.")
    _check_time(item["time"], where)
    point = {}
    if is_point:
        point["value"] = _finite(item["value"], "value", where)
        point["effect"] = _finite(item["effect"], "effect", where)
        if abs(point["effect"]) > MAX_EFFECT:
            raise InputError(
                f"{where} asks for an effect of {point['effect']:g}: log-odds beyond "
                f"{MAX_EFFECT:g} are certainty."
            )
    return Edit(
        feature=item["feature"],
        labels=tuple(labels),
        action=item["action"],
        author=item["author"],
        reason=item["reason"],
        time=item["time"],
        **point,
    )


def _check_keys(
    item: Any, keys: Sequence[str], where: str, optional: Sequence[str] = ()
) -> None:
    """Refuse what is no object with exactly these keys."""
    if not isinstance(item, Mapping):
        raise InputError(f"{where} must be an object with {listing(keys)}.")
    for key in keys:
        if key not in item and key not in optional:
            raise InputError(f"{where} has no {key!r}.")
    for key in item:
        if key not in keys:
            raise InputError(
                f"{where} has {reprlib.repr(key)}, but knows {listing(keys)} alone."
            )


def _check_text(text: Any, key: str, where: str) -> None:
    is_text = isinstance(text, str) and 0 < len(text.strip()) and is_unicode(text)
    if not is_text or len(text) > MAX_EDIT_TEXT:
        raise InputError(
            f"{key!r} of {where[0].lower() + where[1:]} must be a text of 1 to "
            f"{MAX_EDIT_TEXT:,} characters."
        )


def _check_time(time: str, where: str) -> None:
    try:
        datetime.fromisoformat(time)
    except ValueError:
        raise InputError(
            f"{where} has the time {reprlib.repr(time)}: it must be like "
            "2026-01-31T12:00:00Z."
        ) from None


def _finite(value: Any, key: str, where: str) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else np.nan
    except OverflowError:  # a whole number of hundreds of digits
        number = np.nan
    if not isfinite(number):
        raise InputError(
            f"{key!r} of {where[0].lower() + where[1:]} must be a finite number, not "
            f"{reprlib.repr(value)}."
        )
    return number


def _checked_numbers(numbers: Any, source: str) -> dict[str, FloatArray]:
    """The numbers of a page, as arrays by name."""
    if numbers is None:
        return {}
    where = f"'numbers' of {source}"
    _check_keys(numbers, NUMBER_KEYS, where)
    arrays = {}
    for key, values in numbers.items():
        if not isinstance(values, list):
            raise InputError(f"{key!r} in {where} must be a list of numbers.")
        arrays[key] = np.array([_finite(value, key, where) for value in values])
    return arrays
