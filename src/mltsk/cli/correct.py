"""``mltsk correct``: a model file under wishes of the user, without its rows."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

import mltsk

from ..exceptions import InputError
from ..text import did_you_mean, listing
from . import replaced
from .options import json_content, out_option, there_is_model
from .output import aligned, refuse_standard_output, say

if TYPE_CHECKING:
    from pandas import DataFrame

    from .opened import Estimator


CURVES_EXAMPLE = '{"age": {"flat_above": 80}}'
CURVES_HELP = f"Wishes about curves, a JSON file such as {CURVES_EXAMPLE}."
INCREASING_HELP = (
    "A feature whose effect may only rise, or 'FEATURE: LABEL, LABEL' for some labels; "
    "may be repeated."
)
DECREASING_HELP = "The same for effects that may only fall."
CHANGES = ("_lost", "_added")  # ends of the names of columns of a price
EDITS_HELP = "Edits that were made in the page of the model, and exported there."
WITHOUT_HELP = (
    "A feature that shall have no effect, or 'FEATURE: LABEL, LABEL'; may be repeated."
)
IncreasingOption = Annotated[
    list[str] | None, Option(metavar="FEATURE", help=INCREASING_HELP)
]
DecreasingOption = Annotated[
    list[str] | None, Option(metavar="FEATURE", help=DECREASING_HELP)
]


def correct(
    model: Annotated[
        str,
        Argument(
            metavar="MODEL",
            callback=there_is_model,
            help="A file that `mltsk fit --keep-sums` wrote.",
        ),
    ],
    out: Annotated[str, out_option("Where to write the corrected model (….skops).")],
    increasing: IncreasingOption = None,
    decreasing: DecreasingOption = None,
    without: Annotated[
        list[str] | None, Option(metavar="FEATURE", help=WITHOUT_HELP)
    ] = None,
    curves: Annotated[str | None, Option(metavar="FILE", help=CURVES_HELP)] = None,
    edits: Annotated[str | None, Option(metavar="FILE", help=EDITS_HELP)] = None,
) -> None:
    """Correct a model by what you know, and say what that costs.

    All numbers are computed again, exactly, from the sums in the file: no rows are
    needed. The price is squared loss per row by generalised cross-validation. The new
    file keeps the sums, so that it can be corrected again.

    \b
    Examples:
      mltsk fit pbc.csv --labels 4 --keep-sums --out pbc.skops
      mltsk correct pbc.skops --decreasing albumin --out corrected.skops
      mltsk correct pbc.skops --increasing "age: edema" --without sex --out c.skops
      mltsk correct pbc.skops --edits edits.json --out edited.skops
    """
    refuse_standard_output(out, "--out", "A model")
    replaced.check_output(out, replaced.MODEL, [model, curves, edits])
    fitted = mltsk.load(model)
    if not isinstance(fitted, mltsk.MLTSKClassifier):
        raise InputError(
            f"{model} holds a {type(fitted).__name__}, which cannot be corrected: "
            "`mltsk fit` without --preset paper writes models that can."
        )
    wishes = wishes_of(
        fitted,
        increasing=increasing or (),
        decreasing=decreasing or (),
        without=without or (),
        curves=curves,
    )
    if edits is None and not any(wishes.values()):
        raise InputError(
            "No correction is asked for: give --increasing, --decreasing, --without, "
            "--curves or --edits, such as --increasing age."
        )
    corrected = fitted
    if edits is not None:
        corrected = mltsk.edited(fitted, edits)
    if any(wishes.values()):
        corrected = corrected.constrained(**wishes)
    info = mltsk.io.read_info(model)
    mltsk.save(corrected, out, info=info, keep_sums=True)
    say(f"{price_text(corrected)}\n\nfile  {out}")


def wishes_of(
    model: "Estimator",
    *,
    increasing: Sequence[str],
    decreasing: Sequence[str],
    without: Sequence[str],
    curves: str | None,
) -> dict[str, Any]:
    """Wishes as `MLTSKClassifier.constrained` takes them."""
    features = feature_names(model)
    removed = labels_without(without, features)
    check_features(removed, features)
    return {
        "monotonic_cst": named(directions_of(increasing, decreasing, features)),
        "without": named(removed),
        "curves": None if curves is None else read_curves(curves),
    }


def feature_names(model: "Estimator") -> list[str]:
    """Names of the features of a model."""
    columns = model.system_.columns
    names = model.system_.feature_names if columns is None else columns.names
    return [str(name) for name in names]


def named(wishes: dict[str, Any]) -> dict[str, Any] | None:
    """Wishes by name, None where there are none."""
    return wishes or None


def _name_and_labels(text: str, features: Sequence[str]) -> tuple[str, list[str]]:
    """A feature, and labels after a colon; a name may hold colons itself."""
    from ..datasets.dataset import split_names

    if text in features or ":" not in text:
        return text, []
    name, _, labels = text.rpartition(":")
    names = split_names(labels)
    if not names:
        raise InputError(
            f"{text!r:.80} names no label after its colon: leave the colon out for all "
            "labels."
        )
    return name.strip(), names


def directions_of(
    increasing: Sequence[str], decreasing: Sequence[str], features: Sequence[str]
) -> dict[str, Any]:
    """Directions as `MLTSKClassifier` takes them, from what a user types.

    >>> directions_of(["age"], ["albumin: gout"], ["age", "albumin"])
    {'age': 1, 'albumin': {'gout': -1}}
    """
    directions: dict[str, Any] = {}
    for direction, texts in ((1, increasing), (-1, decreasing)):
        for text in texts:
            name, labels = _name_and_labels(text, features)
            before = directions.get(name)
            if before not in (None, direction) and not labels:
                raise InputError(
                    f"{name!r:.80} cannot both rise and fall: leave one of the two out."
                )
            if not labels:
                directions[name] = direction
                continue
            by_label = before if isinstance(before, dict) else {}
            if not isinstance(before, dict) and before is not None:
                raise InputError(
                    f"{name!r:.80} is asked for all labels and for some: leave one of "
                    "the two out."
                )
            for label in labels:
                if by_label.get(label, direction) != direction:
                    raise InputError(
                        f"{name!r:.80} cannot both rise and fall for {label!r:.80}: "
                        "leave one of the two out."
                    )
                by_label[label] = direction
            directions[name] = by_label
    check_features(directions, features)
    return directions


def check_features(names: Iterable[str], features: Sequence[str]) -> None:
    """Refuse a wish about what is no feature."""
    for name in names:
        if name not in features:
            hint = did_you_mean(name, features)
            hint = hint or f"they are {listing(features, at_most=5)}."
            raise InputError(f"{name!r:.80} is no feature: {hint}")


def labels_without(texts: Sequence[str], features: Sequence[str]) -> dict[str, Any]:
    """Features without effect, and on which labels; on all where none is named."""
    without: dict[str, Any] = {}
    for text in texts:
        name, labels = _name_and_labels(text, features)
        without[name] = labels or None
    return without


def read_curves(path: str) -> Any:
    """Wishes about curves, from a JSON file."""
    return json_content(path, "curves", example=CURVES_EXAMPLE)


def price_text(model: "Estimator") -> str:
    """What wishes cost each label, as a table with a sentence before it."""
    from ..fit.wishes import restored_wishes

    price = model.price_
    features = tuple(feature_names(model))
    labels = tuple(model.system_.label_names)
    sentences = []
    for wish in restored_wishes(model.wishes_, features, labels):
        names = [labels[label] for label in wish.labels]
        whom = "" if len(names) == len(labels) else f" for {listing(names)}"
        sentences.append(wish.told(features[wish.feature]) + whom)
    lines = [f"wishes: {listing(sentences)}"]
    if price.attrs["left_out"]:
        lines.append(f"left out: {price.attrs['left_out']}")
    judged = "leave-one-out scores"
    if price.attrs["judged_by"] == "sums":
        judged = "sums over rows (generalised cross-validation)"
    lines += [f"price, by {judged}:", price_table(price)]
    return "\n".join(lines)


def price_table(price: "DataFrame") -> str:
    """A line per label: each loss before and now, and with a sign what that changed."""
    header = ["label"]
    for name in price:
        is_change = name.endswith(CHANGES)
        words = name.split("_")
        header.append(words[-1] if is_change else " ".join(words))
    rows = [header]
    for label, *values in price.itertuples():
        cells = [str(label)]
        for name, value in zip(price, values, strict=True):
            sign = "+" if name.endswith(CHANGES) else ""
            cells.append(f"{round(value, 4) + 0.0:{sign}.4f}")  # + 0.0: no -0.0000
        rows.append(cells)
    return aligned(rows)
