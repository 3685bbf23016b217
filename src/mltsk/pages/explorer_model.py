"""A fuzzy system and its words as plain data for the explorer, ready for JSON.

Symbols: K exceptions, D columns of numbers, F features, L labels, P terms. Arrays are base64 of little-endian numbers:
exact, and a third of their size as decimal text. Of coefficients only those that are not zero are written, with a bit
for each that says where; widths that are all equal are written once.
"""

from base64 import b64encode
from typing import Any

import numpy as np

from ..core.arrays import dense
from ..explain.rules import GivenRules
from ..explain.tables import Tables
from ..explain.wording import name, times
from ..system import FuzzySystem

MANY = 500_000
PLAIN = ("intercept", "centers", "prototypes", "slopes", "offsets", "quantiles")
CONDITIONS, SHAPES = 5, 8  # in the words of an exception, and of the general rule of a label
FEW = 12  # shapes of a label that are all told, as those of a short model are


def system_data(model: Any) -> dict[str, Any]:
    """What a model computes and says: all that may differ between two models of the same features and labels."""
    base, system = model.rules_, model.system_
    return {
        "shape": [*system.shape, len(system.terms)],
        "noun": base.tables.noun,
        "thresholds": packed(system.thresholds),
        "middle": packed(base.tables.middle),
        **_arrays(system),
        **_words(base, system),
    }


def packed(array: Any, kind: str = "<f8") -> Any:
    """An array as base64 of its little-endian numbers; None stays None."""
    return None if array is None else b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()


def _sparse(array: Any, unit_length: bool) -> dict[str, Any]:
    """Numbers that are not zero and where they are; very many in single precision, if no score moves by 1e-6."""
    single = array.size > MANY and bool(np.linalg.norm(array, 2 if unit_length else 1, axis=-2).max() < 8)
    mask, values = packed(np.packbits(array.ravel() != 0, bitorder="little"), "u1"), array[array != 0]
    return {"mask": mask, "values": packed(values, "<f4" if single else "<f8"), "single": single}


def _arrays(system: FuzzySystem) -> dict[str, Any]:
    terms, widths = system.terms, np.asarray(system.widths)
    return {
        "underflow": system.underflow,
        "share": packed(np.ones(system.shape[1]) if system.scaling is None else system.scaling.share),
        "order": system.order,
        "scale": _scale(system),
        "terms": {key: packed(getattr(terms, key)) for key in ("low", "high", "mean")}
        | {"feature": packed(terms.feature, "<u4"), "coef": _sparse(system.term_coef, system.unit_length)},
        "coef": _sparse(system.coef, system.unit_length),
        "widths": packed(widths.ravel()[:1] if widths.size and (widths == widths[0, 0]).all() else widths),
        "weights": packed(system.rule_weights),
        **{key: packed(getattr(system, key)) for key in PLAIN},
    }


def _scale(system: FuzzySystem) -> dict[str, Any]:
    scaling = system.scaling
    if scaling is None:
        return {"kind": "unit" if system.unit_length else "none"}
    counts = scaling.bounded * (1 + (np.diff(scaling.values, axis=1) > 0).sum(axis=1))
    kept = np.arange(scaling.values.shape[1]) < counts[:, None]  # the rest is padding
    knots = {"kind": "knots", "values": scaling.values[kept], "levels": scaling.levels[kept]}
    if not scaling.bounded:
        knots = {"kind": "linear", "values": scaling.values[:, [0, -1]], "levels": None}
    knots |= {"offset": scaling.offset, "spread": scaling.spread, "ends": np.cumsum([0, *counts])}
    return {key: part if key == "kind" else packed(part) for key, part in knots.items()}


def ranges(system: FuzzySystem, rows: Any) -> dict[str, Any]:
    """Between which ends each feature can be set, and which are whole numbers."""
    if system.quantiles is None:  # nothing is known of sparse features but what rows and averages of the rules hold
        seen = np.vstack([np.zeros((1, system.shape[1])), system.prototypes])
        low, high = seen.min(axis=0), seen.max(axis=0)
        if rows is not None:
            low, high = np.minimum(low, dense(rows.min(axis=0))), np.maximum(high, dense(rows.max(axis=0)))
        ends = np.stack([low.ravel(), np.maximum(high.ravel() * 1.5, 1.0)], axis=1)
        return {"ranges": packed(ends), "whole": []}
    ends = system.quantiles[:, [0, -1]]
    values = system.quantiles if system.scaling is None or system.is_sheet else system.scaling.values
    whole = (values == np.round(values)).all(axis=1) & (ends[:, 1] - ends[:, 0] > 1)
    return {"ranges": packed(ends), "whole": np.flatnonzero(whole).tolist()}


def parts(tables: Tables, values: Any) -> dict[str, Any]:
    """How features became columns, the values that have names, and which features may be missing.

    A feature has its first column, the one after its last, and that of "not measured" or -1. Of values without an order
    the number is given: each has a column, unless there are two.
    """
    columns, subjects = tables.system.columns, tables.subjects[: len(tables.feature_names)]
    choices: dict[str, dict[str, Any]] = {}
    for f, subject in enumerate(subjects):
        if names := tables.named_values(f):
            choices[str(f)] = {"values": [*names], "names": [name(value) for value in names.values()]}
            choices[str(f)] |= {"nominal": len(names)} if subject.kind == "nominal" else {}
    if columns is None:
        return {"choices": choices, "optional": [], "given": []}
    lacks = np.zeros(len(columns.parts), dtype=bool) if values is None else np.isnan(values).any(axis=0)
    optional, where = [], []
    for f, (_, _, kind, own, _) in enumerate(subjects):
        gap = tables.gaps.get(f)
        where.append([own.start, own.stop, -1 if gap is None else tables.subjects[gap].columns.start])
        if kind != "number" or gap is not None or lacks[own].any():
            optional.append(f)
    told = [name(part) for part in columns.part_names]
    given = [_given(tables, r, tests) for r, tests in enumerate(columns.tests)]
    return {"choices": choices, "optional": optional, "columns": where, "parts": told, "given": given}


def _given(tables: Tables, r: int, tests: list[tuple[int, float, float]]) -> dict[str, Any]:
    """A given rule: what it asks of columns, None for no end, in words with their features, and what was observed."""
    rules, members = GivenRules(tables), tables.system.members
    words = zip((asked[0] for asked in tables.given[r]), map(str, rules.conditions(r)), strict=True)
    asks = [[d, *(end if np.isfinite(end) else None for end in ends)] for d, *ends in tests]
    size = rules.rule(r, np.arange(tables.system.shape[2])).size
    had = None if members is None else members.given[r].tolist()
    return {"asks": asks, "words": [[*pair] for pair in words], "size": size, "had": had}


def _words(base: Any, system: FuzzySystem) -> dict[str, Any]:
    """The general rule of each label and the IF-part of each exception, in words with their features."""
    where = {feature: f for f, feature in reversed(list(enumerate(base.tables.feature_names)))}

    def told(parts: Any, most: int, rest: str, **known: Any) -> dict[str, Any]:
        more = f"{'and ' * (most > 0)}{times(len(parts) - most, rest)}" if len(parts) > most else ""
        return {"words": [[where[part.feature], str(part)] for part in parts[:most]], "more": more, **known}

    general, members = base.general if len(system.terms) else (), system.members
    return {
        "general": [told(rule.shapes, SHAPES if len(rule.shapes) > FEW else FEW, "smaller one") for rule in general],
        "rules": [
            told(rule.conditions, min(CONDITIONS, rule.told), "smaller condition", size=rule.size, always=rule.always)
            for rule in base.exceptions
        ],
        "had": None if members is None else packed(np.stack([members.positives, members.observed]), "<u4"),
    }
