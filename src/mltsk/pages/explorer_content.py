"""What the page of the explorer holds, ready for JSON: a model, its words, and samples to start from.

Symbols: K exceptions, D columns of numbers, F features, L labels, P terms, n rows. Arrays are base64 of little-endian
numbers: exact, and a third of their size as decimal text. Of coefficients only those that are not zero are written,
with a bit for each that says where; widths that are all equal are written once. Dense rows are written column by
column, each in the shortest exact form: codes of its distinct values, decimals as whole numbers, or doubles.
"""

import warnings
from base64 import b64encode
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from ..columns import MISSING
from ..core.arrays import dense, spread_rows
from ..exceptions import InputError
from ..explain.effects import Effects
from ..explain.given import GivenRules
from ..explain.wording import name
from ..rows.read import read_samples
from ..system import FuzzySystem
from ..text import plural

MANY = 500_000
PLAIN = ("intercept", "centers", "prototypes", "slopes", "offsets", "quantiles")
CONDITIONS, SHAPES = (
    5,
    8,
)  # in the words of an exception, and of the general rule of a label
FEW = 12  # shapes of a label that are all told, as those of a short model are
MOST_ROWS, MOST_TYPICAL = 2_000, 12
ROOM = 3_000_000  # bytes for the cells of all rows: 1,250 rows of 300 numbers of eight bytes


def packed(array: Any, kind: str = "<f8") -> Any:
    """An array as base64 of its little-endian numbers; None stays None."""
    return (
        None
        if array is None
        else b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()
    )


def system_data(model: Any) -> dict[str, Any]:
    """What a model computes and says: all that may differ between two models of the same features and labels."""
    base, system, widths = model.rules_, model.system_, np.asarray(model.system_.widths)
    terms = {key: packed(getattr(system.terms, key)) for key in ("low", "high", "mean")}
    terms |= {
        "feature": packed(system.terms.feature, "<u4"),
        "coef": _sparse(system.term_coef, system.unit_length),
    }
    share = np.ones(system.shape[1]) if system.scaling is None else system.scaling.share
    found = {"shape": [*system.shape, len(system.terms)], "noun": base.effects.noun}
    found |= {
        "thresholds": packed(system.thresholds),
        "middle": packed(base.effects.middle),
    }
    found |= {
        "firing": system.firing,
        "share": packed(share),
        "order": system.order,
        "scale": _scale(system),
    }
    found |= {"terms": terms, "coef": _sparse(system.coef, system.unit_length)}
    found["widths"] = packed(
        widths.ravel()[:1] if widths.size and (widths == widths[0, 0]).all() else widths
    )
    found |= {
        "weights": packed(system.rule_weights),
        **{key: packed(getattr(system, key)) for key in PLAIN},
    }
    return found | _words(base, system)


def _sparse(array: Any, unit_length: bool) -> dict[str, Any]:
    """Numbers that are not zero and where they are; very many in single precision, if no score moves by 1e-6."""
    single = array.size > MANY and bool(
        np.linalg.norm(array, 2 if unit_length else 1, axis=-2).max() < 8
    )
    mask, values = (
        packed(np.packbits(array.ravel() != 0, bitorder="little"), "u1"),
        array[array != 0],
    )
    return {
        "mask": mask,
        "values": packed(values, "<f4" if single else "<f8"),
        "single": single,
    }


def _scale(system: FuzzySystem) -> dict[str, Any]:
    scaling = system.scaling
    if scaling is None:
        return {"kind": "unit" if system.unit_length else "none"}
    counts = scaling.bounded * (1 + (np.diff(scaling.values, axis=1) > 0).sum(axis=1))
    kept = np.arange(scaling.values.shape[1]) < counts[:, None]  # the rest is padding
    knots = {"values": scaling.values[kept], "levels": scaling.levels[kept]}
    knots = (
        knots
        if scaling.bounded
        else {"values": scaling.values[:, [0, -1]], "levels": None}
    )
    knots |= {
        "offset": scaling.offset,
        "spread": scaling.spread,
        "ends": np.cumsum([0, *counts]),
    }
    return {"kind": "knots" if scaling.bounded else "linear"} | {
        key: packed(part) for key, part in knots.items()
    }


def _words(base: Any, system: FuzzySystem) -> dict[str, Any]:
    """The general rule of each label and the IF-part of each exception, in words with their features."""
    where = {
        feature: f
        for f, feature in reversed(list(enumerate(base.effects.subjects.feature_names)))
    }

    def told(parts: Any, most: int, rest: str, **known: Any) -> dict[str, Any]:
        more = (
            f"{'and ' * (most > 0)}{plural(len(parts) - most, rest)}"
            if len(parts) > most
            else ""
        )
        return {
            "words": [[where[part.feature], str(part)] for part in parts[:most]],
            "more": more,
            **known,
        }

    general = [
        told(rule.shapes, SHAPES if len(rule.shapes) > FEW else FEW, "smaller one")
        for rule in base.general
    ]
    rules = [
        told(
            rule.conditions,
            min(CONDITIONS, rule.told),
            "smaller condition",
            size=rule.size,
            always=rule.always,
        )
        for rule in base.exceptions
    ]
    had = (
        None
        if system.members is None
        else np.stack([system.members.positives, system.members.observed])
    )
    return {
        "general": general if len(system.terms) else [],
        "rules": rules,
        "had": packed(had, "<u4"),
    }


def ranges(system: FuzzySystem, rows: Any) -> dict[str, Any]:
    """Between which ends each feature can be set, and which are whole numbers."""
    if (
        system.quantiles is None
    ):  # nothing is known of sparse features but what rows and averages of the rules hold
        known = (
            [] if rows is None else [dense(rows.min(axis=0)), dense(rows.max(axis=0))]
        )
        seen = np.vstack([np.zeros(system.shape[1]), system.prototypes, *known])
        ends = np.stack(
            [seen.min(axis=0), np.maximum(seen.max(axis=0) * 1.5, 1.0)], axis=1
        )
        return {"ranges": packed(ends), "whole": []}
    ends = system.quantiles[:, [0, -1]]
    values = (
        system.quantiles
        if system.scaling is None or system.is_sheet
        else system.scaling.values
    )
    whole = (values == np.round(values)).all(axis=1) & (ends[:, 1] - ends[:, 0] > 1)
    return {"ranges": packed(ends), "whole": np.flatnonzero(whole).tolist()}


def parts(tables: Effects, values: Any) -> dict[str, Any]:
    """How features became columns, the values that have names, and which features may be missing.

    A feature has its first column, the one after its last, and that of "not measured" or -1. Of values without an order
    the number is given: each has a column, unless there are two. A given rule has what it asks of columns, None for no
    end, the same in words with their features, and what was observed.
    """
    columns, choices, optional, where = (
        tables.system.columns,
        dict[str, dict[str, Any]](),
        [],
        [],
    )
    may_lack = columns is not None and values is not None
    lacks = (
        np.isnan(values).any(axis=0) if may_lack else np.zeros(tables.system.shape[1])
    )
    for f, (_, _, kind, own, _) in enumerate(
        tables.subjects[: len(tables.subjects.feature_names)]
    ):
        if names := tables.subjects.named_values(f):
            choices[str(f)] = {
                "values": [*names],
                "names": [name(value) for value in names.values()],
            }
            choices[str(f)] |= {"nominal": len(names)} if kind == "nominal" else {}
        gap = tables.subjects.gaps.get(f)
        where.append(
            [
                own.start,
                own.stop,
                -1 if gap is None else tables.subjects[gap].columns.start,
            ]
        )
        if kind != "number" or gap is not None or lacks[own].any():
            optional.append(f)
    if columns is None:
        return {"choices": choices, "optional": [], "given": []}
    rules, members, given = GivenRules(tables), tables.system.members, []
    for r, tests in enumerate(columns.tests):
        words = [
            [asked[0], str(told)]
            for asked, told in zip(
                tables.subjects.given[r], rules.conditions(r), strict=True
            )
        ]
        asks = [
            [d, *(end if np.isfinite(end) else None for end in ends)]
            for d, *ends in tests
        ]
        size = rules.rule(r, np.arange(tables.system.shape[2])).size
        had = None if members is None else members.given[r].tolist()
        given.append({"asks": asks, "words": words, "size": size, "had": had})
    told = [name(part) for part in columns.part_names]
    return {
        "choices": choices,
        "optional": optional,
        "columns": where,
        "parts": told,
        "given": given,
    }


def read_values(inner: Any, X: Any) -> Any:
    """Rows as the classifier reads them: named columns in its order, dense or CSR, tables in columns of numbers."""
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "X does not have valid feature names", UserWarning
        )
        try:
            if hasattr(inner, "categorical_features"):
                X = read_samples(inner, X, inner.columns_)
                return X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
            return validate_data(
                inner, X, accept_sparse="csr", dtype=np.float64, reset=False
            )
        except ValueError as error:
            raise InputError(
                f"These rows cannot be shown: {' '.join(str(error).split())[:300]}"
            ) from None


def read_labels(inner: Any, Y: Any, n_rows: int) -> np.ndarray:
    """Labels (n, L) of 0 and 1, NaN where not observed, also of classes in one dimension."""
    labels = np.asarray(dense(getattr(Y, "values", Y)))
    if labels.ndim == 1:
        labels = labels[:, None] == (
            inner.classes_[1:] if len(inner.classes_) == 2 else inner.classes_
        )
    if labels.shape != (n_rows, len(inner.label_names_)):
        raise InputError(
            f"Y has shape {labels.shape}, and rows and labels are {(n_rows, len(inner.label_names_))}."
        )
    return labels.astype(np.float64)


def identifiers(X: Any, ids: Any, n: int) -> list[str] | None:
    """What rows are called: ``ids`` (a list or a frame), else the index of a frame, unless it only counts."""
    if ids is None:
        ids = getattr(X, "index", None)
        if not hasattr(ids, "nlevels") or (
            ids.nlevels == 1 and list(ids) == list(range(n))
        ):
            return None
    cells = ids.to_numpy().tolist() if hasattr(ids, "to_numpy") else list(ids)
    if len(cells) != n:
        raise InputError(
            f"There are {len(cells)} identifiers for {n} rows: give one per row."
        )
    return [
        name(
            " · ".join(map(_word, cell))
            if isinstance(cell, list | tuple)
            else _word(cell)
        )
        for cell in cells
    ]


def _word(cell: Any) -> str:
    return (
        str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
    )


def rows_data(
    system: FuzzySystem, values: Any, labels: np.ndarray | None, names: list[str] | None
) -> dict[str, Any]:
    """Rows as the page holds them: ``count`` of all, the ``index`` of those that are here, ``ids``, cells and labels.

    ``typical`` are positions of rows to begin with: those that each exception (else each label) applies to most, then
    their seconds; exceptions with most data come first. Where not all rows are here, the others are evenly spread.
    """
    n, most, scores = (
        values.shape[0],
        min(values.shape[0], MOST_ROWS),
        np.asarray(system.scores(values)),
    )
    M, weights = (
        (system.firing_strengths(values), system.rule_weights)
        if system.shape[0]
        else (scores, scores.mean(axis=0))
    )
    ranked = np.argsort(-M, axis=0, kind="stable")[
        :, np.argsort(-weights, kind="stable")
    ]
    typical = np.array(
        [*dict.fromkeys(ranked[:MOST_TYPICAL].ravel().tolist())][:MOST_TYPICAL],
        dtype=np.intp,
    )
    silent = (scores[typical] < system.thresholds).all(axis=1)
    typical = typical[
        np.argsort(silent, kind="stable")
    ]  # the page opens on one that is given a label
    while True:
        index = np.union1d(np.arange(n)[spread_rows(n, most)], typical).astype(int)
        cells, size = _cells(values[index])
        if size <= ROOM or most <= 1:
            break
        most = max(1, int(0.95 * most * ROOM / size))
    found = {
        "count": n,
        "index": None if len(index) == n else packed(index, "<u4"),
        "cells": cells,
    }
    found |= {"ids": None if names is None else [names[i] for i in index]}
    found |= {
        "typical": np.searchsorted(index, typical).tolist(),
        "truth": None,
        "observed": None,
    }
    if (
        labels is not None
    ):  # a bit per row and label that is there, and one that was observed, if some were not
        observed = ~np.isnan(labels[index])
        found["truth"] = packed(np.packbits(labels[index] > 0, bitorder="little"), "u1")
        found["observed"] = (
            None
            if observed.all()
            else packed(np.packbits(observed, bitorder="little"), "u1")
        )
    return found


def _cells(values: Any) -> tuple[dict[str, Any], int]:
    """Columns as [kind, numbers, distinct values or None, decimals], or sparse rows as CSR, and their size in bytes."""
    if sparse.issparse(values):
        rows = sparse.csr_matrix(values)
        found = {
            "ends": packed(rows.indptr, "<u4"),
            "at": packed(rows.indices, "<u4"),
            "values": packed(rows.data),
        }
        return found, 12 * rows.nnz
    columns = [min(_forms(column), key=itemgetter(0)) for column in values.T]
    told = [
        [kind, packed(numbers, kind), packed(known), digits]
        for _, kind, numbers, known, digits in columns
    ]
    return {"columns": told}, sum(column[0] for column in columns)


def _forms(column: np.ndarray) -> Iterator[tuple[int, str, Any, Any, int]]:
    """Ways to write a column exactly, each with its size in bytes."""
    (known, codes), missing = np.unique(column, return_inverse=True), np.isnan(column)
    if len(known) <= 256:
        yield len(column) + known.nbytes, "u1", codes, known, 0
    for decimals in range(7):
        whole = np.round(column * 10.0**decimals)
        if (missing | (whole / 10.0**decimals == column)).all():
            largest = np.abs(whole[~missing]).max(initial=0)
            kind, size = ("<i2", 2) if largest < 2**15 else ("<i4", 4)
            if largest < 2**31:
                yield (
                    size * len(column),
                    kind,
                    np.where(missing, np.iinfo(kind).min, whole),
                    None,
                    decimals,
                )
            break
    yield 8 * len(column), "<f8", column, None, 0


def made_samples(tables: Effects) -> dict[str, Any]:
    """Samples that are no rows: a usual one and the centre of each exception, with what they are called.

    Features with named values have one of them, the nearest or most frequent: there is nothing between them.
    """
    system, called = tables.system, "an empty row"
    order = np.argsort(-system.rule_weights, kind="stable")[:MOST_TYPICAL]
    values = np.vstack([np.zeros(system.shape[1]), system.prototypes[order]])
    if system.quantiles is not None:
        values[0], called = system.quantiles[:, 10], "every feature at its median"
    for t, subject in enumerate(tables.subjects):
        known, own = (
            np.array(list(tables.subjects.named_values(t))),
            values[:, subject.columns],
        )
        if subject.kind == MISSING:
            own[:] = 0.0
        elif subject.kind == "nominal" and own.shape[1] == len(known):
            own[0] = tables.frequencies(t)
            own[:] = own.argmax(axis=1)[:, None] == np.arange(len(known))
        elif len(known):
            own[:] = known[np.abs(own - known).argmin(axis=1)][:, None]
    if system.columns is not None and tables.subjects.given:
        values[:, -len(tables.subjects.given) :] = system.columns.held(values)
    return {
        "names": [
            called,
            *(f"typical of {tables.noun.lower()} {k + 1}" for k in order),
        ],
        "values": packed(values),
    }
