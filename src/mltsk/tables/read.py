"""`read_table`: features, labels and identifiers, with a report on every column."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import pandas

from mltsk.datasets.dataset import split_names, unique_names
from mltsk.exceptions import InputError
from mltsk.text import plural, quoted_list

from .ages import Ages, with_ages
from .cells import CellRules, usual_decimal_of
from .columns import ReadColumn, read_column
from .files import FileRules, RawTable, read_raw
from .groups import (
    REPEATING_ID,
    group_codes,
    identifies_groups,
    note_on_copies,
    read_group,
    read_repeating_id,
    repeating_identifiers,
)
from .kinds import (
    DROPPED,
    GROUP,
    IDENTIFIER,
    LABEL,
    NOMINAL,
    NUMBER,
    ORDINAL,
    TEXT,
    USED,
    Said,
)
from .labels import ListRules, read_label, read_lists
from .layout import Layout
from .long_form import Long, key_and_code, note_on_long_form, row_per_key
from .report import ColumnReport, ColumnSummary, TableError
from .said import (
    Kinds,
    Labels,
    Names,
    Ordinal,
    check_kinds,
    checked_decimal,
    label_columns,
    levels_of,
    said_by_column,
)
from .table import DataTable


def read_table(
    source: Any,
    labels: Labels = None,
    *,
    drop: Names = (),
    id: Names = (),
    nominal: Names = (),
    ordinal: Ordinal = (),
    number: Names = (),
    missing: Names = (),
    label_column: str | None = None,
    separator: str | None = None,
    long: Long | None = None,
    prefix: int = 0,
    group: str | bool | None = None,
    age: Ages = "",
    decimal: str = "",
    blank_means_no: bool = False,
    sheet: str | int | None = None,
    encoding: str | None = None,
    skip_rows: int | None = None,
    header_rows: int | None = None,
    skip_end: int | None = None,
    kinds: Kinds | None = None,
) -> DataTable:
    """Read a table and decide what each column is; ``table.columns`` reports it.

    The other parameters overrule what was decided.

    Parameters
    ----------
    source : path, data frame or Dataset
        A CSV file (also with semicolons, tabs or bars, also ``.gz``), an Excel,
        Parquet, ARFF, NPZ or MATLAB file, a pandas or polars data frame, or what
        `load_dataset` returns; ``"pbc"`` is a table that comes with the package.
    labels : int, str, sequence of str, mapping, path, or None
        Names of label columns, as a list or separated by commas; a number of columns
        (the last ones; the first ones if negative); ``{"edema": "present"}`` if a
        column has other words than yes and no; a MULAN XML file. None uses what the
        file declares, and there may be no labels.
    drop, id, nominal, number : str or sequence of str
        Columns to leave out; to keep as identifiers; to read as categories; to read as
        numbers.
    ordinal : str, sequence of str, or mapping
        Ordered categories: ``"education: low < medium < high"`` or
        ``{"education": ["low", "medium", "high"]}``.
    missing : str or sequence of str
        Words that stand for a missing cell, such as ``"<4.0"`` or ``"-999"``, besides
        empty cells, NA, N/A, NaN, null and ?.
    label_column : str, optional
        A column that lists the labels of each sample, with ``separator`` between them.
    separator : str, optional
        What separates two labels in ``label_column``; found unless given.
    long : str or pair of str, optional
        ``"patient,diagnosis"`` for a table with a row per patient and diagnosis, which
        becomes a row per patient with a label per diagnosis.
    prefix : int
        How many characters of a listed label count, such as 3 for E11 of E11.9; 0 for
        all.
    group : str or False, optional
        A column whose value is the same for rows that belong together, such as visits
        of a patient; it is no feature. None takes an identifier that repeats, and the
        report says so; False, or "none", takes no column.
    age : str or mapping
        Dates to read as ages: ``"born:visit"`` makes the years between two columns of
        dates a feature in the place of ``born``; ``{"born": "2024-12-31"}`` counts up
        to that day.
    decimal : {"", ".", ","}
        The sign before decimals in text; found for each column unless given.
    blank_means_no : bool
        Whether a blank cell of a label, or of tick boxes, means no.
    sheet : str or int, optional
        Name or number, from 1 on, of the sheet of a workbook; the first one with a
        table unless given.
    encoding : str, optional
        Of a text file; found among UTF-8, UTF-16 and Windows-1252 unless given.
    skip_rows, header_rows, skip_end : int, optional
        Rows above the names of the columns, rows with names (1 to 3, with groups of
        columns above and units below), rows below the data; found unless given.
    kinds : mapping, optional
        The kind of each feature, or its levels in order, as a fitted model knows them.
        X then has exactly these columns, read by these kinds, whatever they look like
        in this file.

    Returns
    -------
    DataTable
        With ``X``, ``Y``, ``ids``, ``groups`` and ``columns``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mltsk import read_table
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "visits.csv"
    >>> rows = ["patient,age,smoker,asthma", "17,61,no,1", "12,NA,yes,", "31,48,no,0"]
    >>> _ = file.write_text("\\n".join(rows))
    >>> table = read_table(file, labels="asthma")
    >>> table
    Table(visits: 3 rows, 2 features, 1 label, 1 column left out)
    >>> table.X
        age  smoker
    0  61.0   False
    1   NaN    True
    2  48.0   False
    >>> table.Y["asthma"].tolist()
    [1.0, nan, 0.0]
    """
    _refuse_two_ways(labels, label_column, long)
    rules = CellRules(
        missing=frozenset(word.lower() for word in split_names(missing)),
        decimal=checked_decimal(decimal),
        blank_means_no=blank_means_no,
    )
    layout = Layout(skip_rows, header_rows, skip_end)
    raw = read_raw(source, labels, FileRules(sheet, encoding, layout))
    raw = _with_note_on_count(raw, labels)
    raw = with_ages(raw, age, rules.missing)
    if not rules.decimal:
        rules = replace(rules, usual_decimal=usual_decimal_of(raw.frame))
    if long is not None:
        key, label_column = key_and_code(raw, long)
        raw = row_per_key(raw, key, label_column, rules.missing, drop)
        drop = ()
        id = [*split_names(id), key]
    of_model = kinds is not None
    if label_column is None:
        read = _read_label_columns(raw, labels, rules, of_model=of_model)
    else:
        lists = ListRules(separator, prefix)
        read = _read_label_lists(raw, label_column, lists, rules)
    wishes = [(DROPPED, drop), (IDENTIFIER, id), (NOMINAL, nominal), (NUMBER, number)]
    said = said_by_column(raw, list(read), [*wishes, *levels_of(ordinal)])
    if kinds is not None:
        check_kinds(raw, kinds, {*read, *said})
        said = dict.fromkeys(raw.frame, DROPPED) | said | dict(kinds)
    if kinds is None or isinstance(group, str):
        decided = {*said, *read}
        undecided = [name for name in raw.frame if name not in decided]
        said |= _said_about_groups(raw, group, said, undecided, rules.missing)
    columns: dict[str, ReadColumn] = {}
    for name, column in raw.frame.items():
        if name in read:
            columns[name] = read[name]
            continue
        kind = said.get(name)
        is_asked = name == group
        columns[name] = _read_other(
            column, kind, rules, is_asked=is_asked, of_model=of_model
        )
    table = _put_together(raw, columns, list(read), list(kinds or ()))
    return _with_groups(table, raw, rules.missing)


def _with_note_on_count(raw: RawTable, labels: Labels) -> RawTable:
    """The table with a note, where a number of labels is the name of a column, too."""
    name = str(labels).strip()
    is_count = isinstance(labels, str | int) and name.lstrip("-").isdigit()
    if not is_count or name not in raw.frame or int(name) >= raw.frame.shape[1]:
        return raw
    n_labels = int(name)
    columns = f"{n_labels} columns read as labels"
    if n_labels == 1:
        columns = "column read as the label"
    note = (
        f"the last {columns}; --labels {name}, with the comma to overrule, for the "
        "column of that name"
    )
    return replace(raw, notes=(*raw.notes, note))


def _read_label_columns(
    raw: RawTable, labels: Labels, rules: CellRules, *, of_model: bool
) -> dict[str, ReadColumn]:
    """The columns that are labels, by name."""
    read = {}
    for name, words in label_columns(raw, labels).items():
        read[name] = read_label(raw.frame[name], words, rules, of_model=of_model)
    return read


def _read_label_lists(
    raw: RawTable, name: str, lists: ListRules, rules: CellRules
) -> dict[str, ReadColumn]:
    """The column that lists the labels of each row, by name."""
    unique_names([name], raw.frame, raw.where)
    return {name: read_lists(raw.frame[name], lists, rules)}


def _with_groups(table: DataTable, raw: RawTable, missing: Set[str]) -> DataTable:
    """The table with the numbers of its groups, if it has any.

    Where there are no labels yet, a note may say that the rows are in long form.
    """
    name = table.group_name
    if not name:
        return table
    groups = group_codes(raw.frame[name], missing)
    report = table.columns
    if not table.label_names:
        others = {c.name: c.kind for c in report if c.kind in (*USED, TEXT)}
        note = note_on_long_form(raw, name, others)
        if note:
            report = report.with_note(note)
    return replace(table, groups=groups, columns=report)


def _refuse_two_ways(*ways: object) -> None:
    """Refuse labels that are given in more than one way."""
    if sum(way is not None for way in ways) > 1:
        raise InputError(
            "Labels are given as columns (labels), as one column of lists "
            "(label_column) or in long form (long), not both."
        )


def _read_other(
    column: pandas.Series,
    said: Said | None,
    rules: CellRules,
    *,
    is_asked: bool,
    of_model: bool,
) -> ReadColumn:
    """A column that is no label; ``is_asked`` if the user asked for it as the group."""
    if said == GROUP:
        return read_group(column, rules.missing, is_asked=is_asked)
    if said == DROPPED:
        return ReadColumn(ColumnSummary(str(column.name), DROPPED, len(column)), None)
    if said == REPEATING_ID:
        return read_repeating_id(column, rules.missing)
    return read_column(column, said, rules, of_model=of_model)


def _said_about_groups(
    raw: RawTable,
    group: str | bool | None,
    said: Kinds,
    undecided: Sequence[str],
    missing: Set[str],
) -> dict[str, Said]:
    """The column that keeps rows together, as asked or found, and its like.

    Identifiers that the user names are looked at first, then ``undecided`` columns with
    names of identifiers.
    """
    repeating = repeating_identifiers(raw.frame, undecided, missing)
    is_refused = group is False or (group == "none" and "none" not in raw.frame)
    if not is_refused and isinstance(group, str):
        _check_group(raw, group, said, undecided)
        repeating = [group, *(name for name in repeating if name != group)]
    elif not is_refused:
        ids = [name for name, kind in said.items() if kind == IDENTIFIER]
        asked = [n for n in ids if identifies_groups(raw.frame[n], missing)]
        repeating = [*asked[:1], *repeating]
    kinds: dict[str, Said] = dict.fromkeys(repeating, REPEATING_ID)
    if repeating and not is_refused:
        kinds[repeating[0]] = GROUP
    return kinds


def _check_group(
    raw: RawTable, group: str, said: Kinds, undecided: Sequence[str]
) -> None:
    """Refuse a group that is no column, a label or a feature."""
    unique_names([group], raw.frame, raw.where)
    kind = said.get(group, IDENTIFIER)
    if group not in said and group not in undecided:
        kind = LABEL
    if kind not in (IDENTIFIER, DROPPED):
        name = kind if isinstance(kind, str) else ORDINAL
        raise InputError(f"Column {group!r} cannot be both {name} and the group.")


def _put_together(
    raw: RawTable,
    columns: Mapping[str, ReadColumn],
    labels: Sequence[str],
    features: Sequence[str],
) -> DataTable:
    """The table of columns that were read, or a `TableError` if something is wrong.

    Without ``features``, all columns that a model takes are features.
    """
    kinds = {name: column.summary.kind for name, column in columns.items()}
    if not features:
        features = [name for name, kind in kinds.items() if kind in USED]
    index = raw.frame.index
    frames = [pandas.DataFrame(index=index), *(columns[n].values for n in labels)]
    Y = pandas.concat(frames, axis=1)
    summaries = [column.summary for column in columns.values()]
    title = _title(raw, summaries, len(features), Y.shape[1])
    report = ColumnReport(summaries, title, raw.notes)
    _refuse_problems(raw.name, columns, report, has_features=bool(features))
    X = pandas.DataFrame({name: columns[name].values for name in features}, index=index)
    ids = [name for name, kind in kinds.items() if kind in (IDENTIFIER, GROUP)]
    copies = note_on_copies(X, Y, raw.frame[ids])
    if copies:
        report = report.with_note(copies)
    return DataTable(
        X=X,
        Y=Y,
        ids=raw.frame[ids].copy(),
        columns=report,
        name=raw.name,
        source=raw.source,
    )


def _title(
    raw: RawTable, summaries: Sequence[ColumnSummary], n_features: int, n_labels: int
) -> str:
    """The first line of the report."""
    counts = [
        plural(len(raw.frame), "row"),
        plural(n_features, "feature"),
        plural(n_labels, "label"),
    ]
    n_left_out = sum(_is_left_out(summary) for summary in summaries)
    if n_left_out:
        counts.append(f"{plural(n_left_out, 'column')} left out")
    return f"{raw.name}: {', '.join(counts)}"


def _is_left_out(summary: ColumnSummary) -> bool:
    return summary.model.startswith("left out") or summary.kind == GROUP


def _refuse_problems(
    name: str,
    columns: Mapping[str, ReadColumn],
    report: ColumnReport,
    *,
    has_features: bool,
) -> None:
    """Raise the first problem in full, with the names of other faulty columns."""
    faulty = [name for name, column in columns.items() if column.problem]
    if faulty:
        sentence = columns[faulty[0]].problem
        if len(faulty) > 1:
            others = quoted_list(faulty[1:])
            sentence += f" There is something to correct in {others}, too."
        raise TableError(sentence, report)
    if not has_features:
        raise TableError(
            f"{name} has no column that a model could use: add one beside the labels, "
            "or name one that was left out as number or nominal (--number, --nominal).",
            report,
        )
