"""What a user wishes of the curves of a model, checked against its names.

A wish is about one feature and some labels: its effect rises, falls, is nothing, is
flat beyond a value, bends to one side only, passes through points, or is the same for
all of these labels. Wishes are data, never code.
"""

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..columns import Columns
from ..exceptions import InputError
from ..text import did_you_mean, listing

WishKind: TypeAlias = Literal[
    "rises", "falls", "nothing", "above", "below", "convex", "concave", "points", "same"
]
# Directions by feature, for all labels or by label, or an array of 1, 0 and -1; also a
# series of pandas, or a frame with a row per feature and a column per label.
DirectionsLike: TypeAlias = Mapping[str, int | Mapping[str, int]] | ArrayLike | None
# Features, or the labels on which each has no effect.
WithoutLike: TypeAlias = str | Sequence[str] | Mapping[str, Sequence[str] | str] | None
CurvesLike: TypeAlias = Mapping[str, Any] | None

DIRECTIONS: Mapping[int, WishKind] = {1: "rises", -1: "falls"}
FLAT_KINDS: Mapping[str, WishKind] = {"flat_above": "above", "flat_below": "below"}
# Kinds that ask for an order of values.
ORDERED = ("rises", "falls", "above", "below", "convex", "concave", "points")
# Wishes about effects in log-odds: the curves of their labels keep their slopes.
ABOUT_LOG_ODDS = ("points", "same")
MAX_EFFECT = 100.0  # log-odds that a curve can be asked to pass through
CURVE_KEYS = ("points", "flat_above", "flat_below", "shape", "same", "labels")
CURVE_EXAMPLE = '{"age": [(40, 0), (60, 0.5)]} or {"age": {"flat_above": 80}}'
MAX_LISTED_POINTS = 6


@dataclass(frozen=True)
class Wish:
    """One wish.

    Parameters
    ----------
    feature : int
    labels : tuple of int
    kind : WishKind
    values : tuple of (value, effect)
        The points of "points"; of "above" and "below" the value, with an effect of 0.
    """

    feature: int
    labels: tuple[int, ...]
    kind: WishKind
    values: tuple[tuple[float, float], ...] = ()

    def told(self, name: str) -> str:
        """The wish in words, for a feature of this name."""
        texts = {
            "rises": "rises",
            "falls": "falls",
            "nothing": "has no effect",
            "convex": "is convex",
            "concave": "is concave",
            "same": "has the same effect on all of these labels",
        }
        if self.kind in texts:
            return f"{name} {texts[self.kind]}"
        if self.kind == "points":
            points = [f"({x:g}, {effect:g})" for x, effect in self.values]
            return f"{name} passes through {listing(points, at_most=MAX_LISTED_POINTS)}"
        return f"{name} is flat {self.kind} {self.values[0][0]:g}"


def restored_wishes(
    plain: Sequence[Mapping[str, Any]],
    features: tuple[str, ...],
    labels: tuple[str, ...],
) -> tuple[Wish, ...]:
    """The wishes of such names and numbers."""
    wishes = []
    for item in plain:
        wishes.append(
            Wish(
                feature=features.index(item["feature"]),
                labels=tuple(labels.index(label) for label in item["labels"]),
                kind=item["kind"],
                values=tuple((x, effect) for x, effect in item["values"]),
            )
        )
    return tuple(wishes)


@dataclass(frozen=True)
class WishReader:
    """Reads wishes about features and labels by name.

    ``columns`` say what the features are; None where all are numbers.
    """

    features: tuple[str, ...]
    labels: tuple[str, ...]
    columns: Columns | None = None

    def read(
        self, directions: DirectionsLike, without: WithoutLike, curves: CurvesLike
    ) -> tuple[Wish, ...]:
        """All wishes; InputError with a sentence about the first that is wrong."""
        wishes = self._directions(directions)
        wishes += self._without(without)
        wishes += self._curves(curves)
        for wish in wishes:
            self._check_order(wish)
        return tuple(wishes)

    def _directions(self, directions: DirectionsLike) -> list[Wish]:
        if directions is None:
            return []
        directions = _by_name(directions)
        if isinstance(directions, Mapping):
            return self._named_directions(directions)
        table = np.asarray(directions)
        if table.dtype.kind not in "biuf":
            raise InputError(
                "monotonic_cst must be numbers, 1, 0 or -1 for each feature, or a dict "
                f"such as {{'age': 1}}, not {reprlib.repr(directions)}."
            )
        shapes = ((len(self.features),), (len(self.features), len(self.labels)))
        if table.shape not in shapes:
            raise InputError(
                f"monotonic_cst has the shape {table.shape}: give 1, 0 or -1 for each "
                f"of {len(self.features)} features, in an array or by name."
            )
        if table.ndim == 1:
            table = np.repeat(table[:, None], len(self.labels), axis=1)
        return self._of_table(table)

    def _named_directions(self, directions: Mapping[Any, Any]) -> list[Wish]:
        table = np.zeros((len(self.features), len(self.labels)))
        for name, asked in directions.items():
            feature = self._feature(name, "monotonic_cst")
            if not isinstance(asked, Mapping):
                table[feature] = _direction(asked, name)
                continue
            for label, direction in asked.items():
                table[feature, self._label(label)] = _direction(direction, name)
        return self._of_table(table)

    def _of_table(self, table: np.ndarray) -> list[Wish]:
        """Wishes for a table (features, labels) of 1, 0 and -1."""
        wishes = []
        for feature, row in enumerate(table.tolist()):
            for value in row:
                _direction(value, self.features[feature])
            for direction, kind in DIRECTIONS.items():
                labels = tuple(j for j, value in enumerate(row) if value == direction)
                if labels:
                    wishes.append(Wish(feature, labels, kind))
        return wishes

    def _without(self, without: WithoutLike) -> list[Wish]:
        if without is None:
            return []
        if isinstance(without, str):
            without = [without]
        if not isinstance(without, Mapping):
            without = dict.fromkeys(_sequence(without, "without"), self.labels)
        wishes = []
        for name, labels in without.items():
            feature = self._feature(name, "without")
            of_labels = self._labels(self.labels if labels is None else labels)
            wishes.append(Wish(feature, of_labels, "nothing"))
        return wishes

    def _curves(self, curves: CurvesLike) -> list[Wish]:
        if curves is None:
            return []
        if not isinstance(curves, Mapping):
            raise InputError(
                f"curves must map features to what is wished, as {CURVE_EXAMPLE} does; "
                f"got {reprlib.repr(curves)}."
            )
        wishes = []
        for name, asked in curves.items():
            feature = self._feature(name, "curves")
            for one in _each(asked, str(name)):
                wishes += self._curve(feature, one)
        return wishes

    def _curve(self, feature: int, asked: Mapping[str, Any]) -> list[Wish]:
        """The wishes about one curve."""
        name = self.features[feature]
        _check_keys(asked, name)
        labels = self._labels(asked.get("labels", self.labels))
        wishes = []
        if "points" in asked:
            points = _points(asked["points"], name)
            wishes.append(Wish(feature, labels, "points", points))
        for key, kind in FLAT_KINDS.items():
            if key in asked:
                value = _number(asked[key], f"{key} of {name!r}")
                wishes.append(Wish(feature, labels, kind, ((value, 0.0),)))
        shape = _shape(asked, name)
        if shape is not None:
            wishes.append(Wish(feature, labels, shape))
        if _wants_same(asked, name):
            if len(labels) < 2:
                raise InputError(
                    f"The same effect of {name!r} needs two labels at least: name them "
                    "under 'labels'."
                )
            wishes.append(Wish(feature, labels, "same"))
        return wishes

    def _check_order(self, wish: Wish) -> None:
        """Refuse a direction of what has no order, and more of yes and no."""
        if self.columns is None or wish.kind not in ORDERED:
            return
        if self.columns.kinds[wish.feature] != "nominal":
            return
        name = self.features[wish.feature]
        direction = self.columns.direction_of(wish.feature)
        if not direction:
            raise InputError(
                f"{name!r} is nominal, so its values have no order in which an effect "
                "could rise, fall or bend: leave it out (without), ask for the same "
                "effect on some labels, or make it ordered."
            )
        if wish.kind not in DIRECTIONS.values():
            raise InputError(
                f"{name!r} is yes or no, so it has no curve: its effect can rise or "
                "fall from no to yes, be the same for some labels, or be nothing."
            )

    def _feature(self, name: object, where: str) -> int:
        if isinstance(name, str) and name in self.features:
            return self.features.index(name)
        hint = did_you_mean(name, self.features)
        if not hint:
            hint = f"the model has {listing(self.features, at_most=5)}."
        raise InputError(
            f"{where} names {reprlib.repr(name)}, which is no feature: {hint}"
        )

    def _label(self, name: object) -> int:
        names = [str(label) for label in self.labels]
        if str(name) in names:
            return names.index(str(name))
        hint = did_you_mean(name, names) or f"they are {listing(names, at_most=5)}."
        raise InputError(
            f"A wish names {reprlib.repr(name)}, which is no label: {hint}"
        )

    def _labels(self, names: Any) -> tuple[int, ...]:
        if isinstance(names, str):
            names = [names]
        labels = {self._label(name) for name in _sequence(names, "labels")}
        if not labels:
            raise InputError("A wish names no label: leave 'labels' out for all.")
        return tuple(sorted(labels))


def _by_name(directions: Any) -> Any:
    """A series or a frame of pandas whose rows are names, as a dict by these names.

    Its rows may be in another order than the features, so their places say nothing.
    """
    if not hasattr(directions, "to_dict") or not hasattr(directions, "index"):
        return directions
    if not all(isinstance(name, str) for name in directions.index):
        return directions
    by_feature = directions if directions.ndim == 1 else directions.T
    return by_feature.to_dict()


def _sequence(names: Any, where: str) -> Sequence[Any]:
    if isinstance(names, Iterable) and not isinstance(names, str | bytes):
        return list(names)
    raise InputError(f"{where} must be a list of names, not {reprlib.repr(names)}.")


def _direction(value: Any, name: object) -> int:
    """1, 0 or -1."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or value not in (-1, 0, 1):
        raise InputError(
            f"monotonic_cst of {reprlib.repr(name)} is {reprlib.repr(value)}: give 1 "
            "for an effect that rises, -1 for one that falls, 0 for any."
        )
    return int(value)


def _each(asked: Any, name: str) -> list[Mapping[str, Any]]:
    """What is wished of one curve: a dict, several, or points alone."""
    if isinstance(asked, Mapping):
        return [asked]
    if not isinstance(asked, list | tuple | np.ndarray):
        raise InputError(
            f"curves asks for {reprlib.repr(asked)} of {name!r}: give points or a "
            f"dict, as {CURVE_EXAMPLE} does."
        )
    if len(asked) and all(isinstance(item, Mapping) for item in asked):
        return list(asked)
    return [{"points": asked}]


def _check_keys(asked: Mapping[str, Any], name: str) -> None:
    """Refuse a wish about a curve under a name that means nothing."""
    for key in asked:
        if key not in CURVE_KEYS:
            hint = did_you_mean(key, CURVE_KEYS)
            raise InputError(
                f"curves asks for {reprlib.repr(key)} of {name!r}, but knows "
                f"{listing(CURVE_KEYS)} alone{'; ' if hint else ''}{hint or '.'}"
            )


def _shape(asked: Mapping[str, Any], name: str) -> WishKind | None:
    """The bend that is wished of a curve, if any."""
    shape: WishKind | None = asked.get("shape")
    if shape not in (None, "convex", "concave"):
        raise InputError(
            f"The shape of {name!r} is 'convex' or 'concave', not "
            f"{reprlib.repr(shape)}."
        )
    return shape


def _wants_same(asked: Mapping[str, Any], name: str) -> bool:
    """Whether a feature shall have the same effect on several labels."""
    same = asked.get("same", False)
    if not isinstance(same, bool):
        raise InputError(
            f"'same' of {name!r} is True or False, not {reprlib.repr(same)}."
        )
    return same


def _points(points: Any, name: str) -> tuple[tuple[float, float], ...]:
    pairs = []
    if isinstance(points, np.ndarray):
        points = points.tolist()
    for point in _sequence(points, f"points of {name!r}"):
        if not isinstance(point, list | tuple) or len(point) != 2:
            raise InputError(
                f"Points of {name!r} are pairs of a value and an effect in log-odds, "
                f"not {reprlib.repr(point)}."
            )
        value, effect = (_number(part, f"A point of {name!r}") for part in point)
        if abs(effect) > MAX_EFFECT:
            raise InputError(
                f"A point of {name!r} asks for an effect of {effect:g}: log-odds "
                f"beyond {MAX_EFFECT:g} are certainty."
            )
        pairs.append((value, effect))
    if not pairs:
        raise InputError(f"curves has no points for {name!r}: give one at least.")
    return tuple(pairs)


def _number(value: Any, where: str) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not isfinite(value):
        raise InputError(f"{where} must be a finite number, not {reprlib.repr(value)}.")
    return float(value)
