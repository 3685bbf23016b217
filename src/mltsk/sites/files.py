"""Summaries, plans and sums as files: data, never code, and checked part by part.

Summaries and plans are JSON. Sums are a zip file: ``sums.json``, which also holds the
plan, and arrays in NumPy's format. Whatever is wrong with a file is one sentence.
"""

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from ..core.arrays import FloatArray
from ..exceptions import InputError
from ..files import writing
from ..fit.factor import Factor, SingularError
from ..fit.ridge import Moments
from ..io.requirements import is_count, is_finite, is_finite_number, require
from ..limits import JSON_EXPANSION, array_bytes, check_size, read_json, read_npy
from .plan import Plan
from .plan_checks import plain_plan, plan_from
from .summary import SUMMARY_FORMAT, SUMMARY_VERSION
from .summary_checks import MAX_TOTAL, check_kind, check_summary, check_text
from .sums import BYTES_PER_CELL, SiteSums

SUMS_FORMAT = "mltsk sums"
SUMS_VERSION = 1
SUMS_JSON = "sums.json"
MAX_PARTS = 10_000
MAX_JSON_BYTES = 64 << 20
MAX_REASON = 200
ROUNDING = 1e-9

Json = Any


@contextmanager
def _one_sentence(path: str | Path, what: str) -> Iterator[None]:
    """Whatever goes wrong with a file becomes one sentence."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, not {what}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is damaged or not {what}: it is no text.") from None
    except json.JSONDecodeError:
        raise InputError(f"{path} is damaged or not {what}: it is no JSON.") from None
    except Exception as error:  # damaged files meet readers with errors of every kind
        lines = str(error).strip().splitlines() or [type(error).__name__]
        reason = lines[0].rstrip(".")[:MAX_REASON]
        raise InputError(f"{path} is damaged or not {what}: {reason}.") from None


def write_json(content: Mapping[str, Json], path: str | Path) -> Path:
    """Write a summary or the plain form of a plan in one step.

    Examples
    --------
    >>> import tempfile
    >>> from mltsk import read_table
    >>> from mltsk.sites import summary_of
    >>> summary = summary_of(read_table("pbc"))
    >>> path = write_json(summary, tempfile.mkdtemp() + "/site.summary")
    >>> read_summary(path) == summary
    True
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)
    with writing(path) as file:
        file.write(text.encode())
    return Path(path)


# summaries ----------------------------------------------------------------------------


def read_summary(path: str | Path) -> dict[str, Json]:
    """Read and check the summary of a site."""
    with _one_sentence(path, "a summary of a site"):
        content = read_json(path)
        check_kind(content, SUMMARY_FORMAT, SUMMARY_VERSION)
        check_summary(content)
        return dict(content)


def read_plan(path: str | Path) -> Plan:
    """Read and check a plan."""
    with _one_sentence(path, "a plan"):
        return plan_from(read_json(path))


# sums ---------------------------------------------------------------------------------


def write_sums(sums: SiteSums, path: str | Path) -> Path:
    """Write the sums of a site in one step."""
    about = {
        "format": SUMS_FORMAT,
        "version": SUMS_VERSION,
        "site": sums.site,
        "least": sums.least,
        "told": list(sums.told),
        "labels": [labels.tolist() for labels in sums.labels],
        "totals": [moments.total for moments in sums.moments],
        "plan": plain_plan(sums.plan),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, SUMS_JSON, json.dumps(about, allow_nan=False).encode())
        for number, moments in enumerate(sums.moments):
            upper = moments.H[np.triu_indices(len(moments.H))]
            for name, array in (
                ("H", upper),
                ("B", moments.B),
                ("phi", moments.phi),
                ("y", moments.y),
            ):
                content = io.BytesIO()
                npy.write_array(content, np.asarray(array, dtype=np.float64))
                _add(archive, f"{name}{number}.npy", content.getvalue())
    with writing(path) as file:
        file.write(buffer.getvalue())
    return Path(path)


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Add a part whose bytes depend on its content alone."""
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, content)


def read_sums(path: str | Path) -> SiteSums:
    """Read and check the sums of a site.

    Examples
    --------
    >>> import tempfile
    >>> from mltsk import read_table
    >>> from mltsk.sites import Plan, SiteSums, summary_of
    >>> table = read_table("pbc")
    >>> plan = Plan.of([summary_of(table)], curves=False)
    >>> sums = SiteSums.of(table, plan)
    >>> path = write_sums(sums, tempfile.mkdtemp() + "/site.sums")
    >>> read_sums(path).site
    'pbc'
    """
    with _one_sentence(path, "a file of sums"), Path(path).open("rb") as file:
        require(file.read(2) == b"PK", "`mltsk share --plan` writes such files")
        with zipfile.ZipFile(file) as archive:
            return _sums_in(archive, path)


def _sums_in(archive: zipfile.ZipFile, path: str | Path) -> SiteSums:
    """The sums in an open file."""
    members = archive.infolist()
    require(len(members) <= MAX_PARTS, "it has too many parts")
    check_size(sum(member.file_size for member in members), path)
    require(SUMS_JSON in archive.namelist(), f"it has no {SUMS_JSON}")
    n_bytes = archive.getinfo(SUMS_JSON).file_size
    require(n_bytes <= MAX_JSON_BYTES, f"its {SUMS_JSON} is too long")
    check_size(JSON_EXPANSION * n_bytes, path)
    about = json.loads(archive.read(SUMS_JSON))
    check_kind(about, SUMS_FORMAT, SUMS_VERSION)
    plan = plan_from(about.get("plan"))
    check_text(about.get("site"), "'site'")
    require(is_count(about.get("least")), "'least' must be a whole number")
    sentences = about.get("told")
    require(isinstance(sentences, list), "'told' must be a list")
    for text in sentences:
        check_text(text, "what was told")
    labels = _label_groups(about.get("labels"), len(plan.label_names))
    totals = about.get("totals")
    is_list = isinstance(totals, list) and len(totals) == len(labels)
    require(is_list, "'totals' must have a number per group of labels")
    names = {SUMS_JSON}
    moments = []
    for number, (own, total) in enumerate(zip(labels, totals, strict=True)):
        names |= {f"{name}{number}.npy" for name in ("H", "B", "phi", "y")}
        check_size(BYTES_PER_CELL * plan.design.n_columns**2, path)
        arrays = _arrays(archive, number, _shapes(plan, len(own)), path)
        moments.append(_moments(arrays, total))
    require(set(archive.namelist()) == names, "it has parts that are not sums")
    return SiteSums(
        plan=plan,
        site=about["site"],
        least=about["least"],
        told=tuple(sentences),
        labels=tuple(labels),
        moments=tuple(moments),
    )


def _label_groups(groups: Json, n_labels: int) -> list[Any]:
    """Groups of labels: each label is in one at most."""
    require(isinstance(groups, list) and groups, "'labels' must be a list")
    seen: list[int] = []
    for group in groups:
        is_list = isinstance(group, list) and group
        require(
            is_list
            and all(isinstance(j, int) and not isinstance(j, bool) for j in group),
            "'labels' must be lists of whole numbers",
        )
        seen += group
    is_once = len(set(seen)) == len(seen)
    require(
        is_once and min(seen) >= 0 and max(seen) < n_labels,
        "'labels' must name labels of the plan, each once",
    )
    return [np.array(group, dtype=np.intp) for group in groups]


Shapes = dict[str, tuple[int, ...]]


def _shapes(plan: Plan, n_labels: int) -> Shapes:
    """Shapes of the sums of a group of labels."""
    Q = plan.design.n_columns
    n_cells = Q * (Q + 1) // 2
    return {"H": (n_cells,), "B": (Q, n_labels), "phi": (Q,), "y": (n_labels,)}


def _arrays(
    archive: zipfile.ZipFile, number: int, shapes: Shapes, path: str | Path
) -> dict[str, FloatArray]:
    """The arrays of a group of labels, whose headers are read first."""
    arrays = {}
    for name, shape in shapes.items():
        member = f"{name}{number}.npy"
        require(member in archive.namelist(), f"it has no part {member}")
        check_size(2 * array_bytes(archive, member), path)
        with archive.open(member) as stream:
            array = read_npy(stream)
        is_double = array.dtype == np.float64 and array.shape == shape
        require(is_double and is_finite(array), f"{member} does not fit the plan")
        arrays[name] = array
    return arrays


def _moments(arrays: dict[str, FloatArray], total: Json) -> Moments:
    """The sums of a group of labels, such as rows may have."""
    Q = len(arrays["phi"])
    upper = np.zeros((Q, Q))
    upper[np.triu_indices(Q)] = arrays["H"]
    is_total = is_finite_number(total, above=0.0, at_most=MAX_TOTAL)
    require(is_total, "'totals' must be numbers above 0")
    moments = Moments(
        H=upper + np.triu(upper, 1).T,
        B=arrays["B"],
        phi=arrays["phi"],
        y=arrays["y"],
        total=float(total),
    )
    _check_moments(moments)
    return moments


def _check_moments(moments: Moments) -> None:
    """Sums of memberships between 0 and 1 are bounded by the number of rows."""
    total = moments.total
    margin = ROUNDING * max(1.0, total)
    for name in ("H", "B", "phi", "y"):
        sums = getattr(moments, name)
        is_possible = sums.min() >= -margin and sums.max() <= total + margin
        require(is_possible, f"{name} is more than its rows allow")
    require((moments.y <= total).all(), "there are more cases than rows")
    require(
        (np.diag(moments.H) <= moments.phi + margin).all(),
        "squares of memberships are more than their sums",
    )
    is_bounded = moments.B <= np.minimum(moments.phi[:, None], moments.y) + margin
    require(is_bounded.all(), "cases have more of a column than all rows")
    centred = moments.H - np.outer(moments.phi, moments.phi / total)
    try:
        Factor.of(centred * 1, np.array([max(1e-6 * total, 1e-6)]))
    except SingularError:
        require(False, "no rows have such sums")
