"""Whether wishes that a model meets, and its log of edits, are about the model."""

from typing import get_args

from ..edits import MAX_EDITS, checked_edit
from .requirements import check_fields, require
from .system_state import Attributes, names_of_columns

WISH_FIELDS = ("feature", "labels", "kind", "values")


def check_wishes(attributes: Attributes) -> None:
    """Wishes that a model meets name its features and labels."""
    wishes = attributes.get("wishes_", ())
    require(isinstance(wishes, tuple), "'wishes_' must be a tuple")
    if not wishes:
        return
    from ..fit.wishes import WishKind  # imports linear algebra

    columns = attributes["columns_"]
    features = names_of_columns(attributes) if columns is None else columns["names"]
    labels = [str(name) for name in attributes["label_names_"]]
    for wish in wishes:
        check_fields(wish, "wishes_", WISH_FIELDS)
        is_known = wish["feature"] in features and set(wish["labels"]) <= set(labels)
        is_kind = wish["kind"] in get_args(WishKind)
        is_pair = all(len(pair) == 2 for pair in wish["values"])
        require(is_known and is_kind and is_pair, "'wishes_' must be about its names")


def check_edits(attributes: Attributes) -> None:
    """The log of edits has edits in it, by the names of the model."""
    edits = attributes.get("edits_", ())
    require(isinstance(edits, tuple), "'edits_' must be a tuple")
    require(len(edits) <= MAX_EDITS, f"'edits_' has more than {MAX_EDITS:,} edits")
    for edit in edits:
        checked_edit(edit, "One of its edits")
