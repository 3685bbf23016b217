"""The report of an experiment: one page, and every table and figure as files.

`Results` become tables, comparisons, sentences and pictures, and these become files.
Nothing is computed again that a run has left behind. Files appear whole or not at all,
and the page last, so that it never names a file that is not there.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from ...exceptions import InputError, optional
from ...explain.latex import escape_latex
from ...files import check_folder_of_ours, csv_text, writing
from ...pages.render import template
from ...text import escape_markdown, plural
from ..experiments.published import RESULT_TABLES, PlainData
from ..experiments.ranks import (
    MethodComparison,
    comparisons,
    rank_table,
    table_six,
    widest_sources,
)
from ..experiments.results import Results
from ..experiments.studies import STUDIES
from ..experiments.summary import headlines, paper_gaps, summarise, to_markdown
from ..experiments.tables import (
    ReportTable,
    TableCell,
    ap_table,
    protocol_table,
    readings_table,
    result_table,
    table_one,
    table_two,
    time_table,
    worth_table,
)
from .figures import (
    Picture,
    closeness_picture,
    picture,
    protocol_picture,
    rank_pictures,
)
from .study_captions import study_caption
from .study_figures import study_figure

REPORT_TITLE = "Experiments of ML-TSK FS, repeated"
# What files are called below the folder of a report.
FILE_NAME = re.compile(r"(\w+/)?[\w-]+\.\w+", re.ASCII)
TABLE_KINDS = ("csv", "md", "tex")
# Columns of every CSV file, behind those of the table's headings.
CSV_COLUMNS = (
    "column",
    "text",
    "value",
    "sd",
    "bold",
    "paper",
    "paper_sd",
    "difference",
    "notes",
    "paper_notes",
)


def write_report(results: Results, out: str | Path) -> list[Path]:
    """Write ``index.html``, ``tables/``, ``figures/`` and ``summary.md`` into a folder.

    The folder is made if it is not there. ``results`` are what a run has finished so
    far; they may be incomplete. Returns the files, the page first.
    """
    if not results.run:
        way = "take the report of another folder"
        raise InputError(f"These results do not say of which run they are: {way}.")
    compared = comparisons(results)
    gaps = paper_gaps(results)
    sections = summarise(results, gaps, compared)
    tables = _tables(results, compared)
    ranks = rank_pictures(compared)
    pictures = {
        "closeness": closeness_picture(gaps),
        "protocols": protocol_picture(results),
        "studies": list(study_pictures(results)),
    }
    failed = results.cells[results.cells["status"] == "failed"]
    files: dict[str, bytes] = {}
    for table in chain(*tables.values()):
        for kind in TABLE_KINDS:
            files[f"tables/{table.key}.{kind}"] = table_text(table, kind).encode()
    for drawn in chain(*pictures.values(), *ranks.values()):
        files[f"figures/{drawn.key}.svg"] = drawn.svg
        files[f"figures/{drawn.key}.png"] = drawn.png
    head = ""
    if results.run.get("command"):
        head = f"# {REPORT_TITLE}\n\n`{results.run['command']}`\n\n"
    files["summary.md"] = (head + to_markdown(sections)).encode()
    page = template("experiment.html", __package__).render(
        title=REPORT_TITLE,
        run=results.run,
        headlines=headlines(results, gaps, compared),
        sections=sections,
        tables=tables,
        pictures=pictures,
        ranks=ranks,
        errors=failed.to_dict("records"),
        plural=plural,
    )
    files["index.html"] = page.encode()
    *paths, page_path = _write_files(Path(out), files)
    return [page_path, *paths]


def _write_files(folder: Path, files: dict[str, bytes]) -> Iterator[Path]:
    """Write files by their names in a folder, one after the other."""
    for name in files:
        if not FILE_NAME.fullmatch(name):
            raise InputError(f"{name!r} is no name for a file of a report.")
        if (folder / name).parent != folder:
            check_folder_of_ours((folder / name).parent)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path, follow_link=False) as file:
            file.write(content)
        yield path


def _tables(
    results: Results, compared: Sequence[MethodComparison]
) -> dict[str, list[ReportTable]]:
    """All tables that a run has something for, by section of the page."""
    by_protocol = [ap_table(results, protocol) for protocol in results.protocols]
    by_source = [rank_table(compared, source) for source in widest_sources(compared)]
    sections: dict[str, list[ReportTable | None]] = {
        "set-up": [table_one(results), table_two(results)],
        "glance": [*by_protocol, readings_table(results)],
    }
    for protocol in results.run["protocols"]:
        printed = [result_table(results, number, protocol) for number in RESULT_TABLES]
        sections[f"results-{protocol}"] = [*printed]
    sections["protocols"] = [worth_table(results), protocol_table(results)]
    sections["ranks"] = [table_six(compared), *by_source]
    sections["time"] = [time_table(results)]
    tables: dict[str, list[ReportTable]] = {}
    for section, candidates in sections.items():
        tables[section] = [table for table in candidates if table is not None]
    return tables


def study_pictures(results: Results) -> Iterator[Picture]:
    """A picture of each study that the run has finished.

    Studies are in the order of the paper, data sets in the order of the run.
    """
    studied = [dataset for _, dataset in results.studies]
    in_order = dict.fromkeys([*results.run.get("datasets", {}), *studied])
    for name, study in STUDIES.items():
        by_dataset = {}
        for dataset in in_order:
            if (name, dataset) in results.studies:
                by_dataset[dataset] = results.studies[name, dataset]
        if by_dataset:
            title = f"{study.paper}: {study.title}"
            yield _study_picture(name, title, by_dataset)


def _study_picture(
    name: str, title: str, by_dataset: Mapping[str, PlainData]
) -> Picture:
    """The picture of one study, or an error about what the store holds of it."""
    try:
        return picture(
            study_figure(name, by_dataset),
            key=name,
            title=title,
            caption=study_caption(name, by_dataset),
        )
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        # A stranger may have written it: its form is not known before it is drawn.
        problem = f"cannot be drawn ({type(error).__name__}: {error})"
        way = "take the report of another folder"
        raise InputError(f"The stored study {name!r} {problem}: {way}.") from error


def table_text(table: ReportTable, kind: str) -> str:
    """A table as the text of a file.

    "csv" is for programs: it has one line per cell, numbers with full precision and
    notes written out. "md" (GitHub's, under a heading) and "tex" are for people: LaTeX
    is a `longtable` with rules of `booktabs`, and its first comment names the packages
    that it needs.

    Examples
    --------
    >>> from mltsk.paper.experiments.tables import TableCell, TableRow
    >>> row = TableRow(("yeast",), (TableCell("0.76", 0.7612),))
    >>> table = ReportTable(
    ...     key="t",
    ...     title="T",
    ...     caption="",
    ...     heads=("data set",),
    ...     columns=("AP",),
    ...     rows=(row,),
    ... )
    >>> table_text(table, "csv").splitlines()[1]
    'yeast,AP,0.76,0.7612,,False,,,,,'
    """
    if kind == "csv":
        return _csv_text(table)
    text = _environment().get_template(f"table.{kind}").render(table=table)
    return f"{text.rstrip()}\n"


def _csv_text(table: ReportTable) -> str:
    """One line per cell; facts that cells hold beside their value come last."""
    fact_names = _fact_names(table)
    lines = []
    for row in table.rows:
        for column, cell in zip(table.columns, row.cells, strict=True):
            facts = [cell.facts.get(name) for name in fact_names]
            lines.append([*row.heads, column, *_csv_values(table, cell), *facts])
    return csv_text([*table.heads, *CSV_COLUMNS, *fact_names], lines)


def _fact_names(table: ReportTable) -> list[str]:
    """Names of all facts of a table's cells that are no headings, in their order."""
    names: dict[str, None] = {}
    for row in table.rows:
        for cell in row.cells:
            names.update(dict.fromkeys(cell.facts))
    return [name for name in names if name not in table.heads]


def _csv_values(table: ReportTable, cell: TableCell) -> list[object]:
    """The values of a cell, in the order of `CSV_COLUMNS`."""
    return [
        cell.text,
        cell.value,
        cell.sd,
        cell.bold,
        cell.paper_value,
        cell.paper_sd,
        cell.difference,
        " ".join(table.notes[mark] for mark in cell.notes),
        " ".join(table.notes[mark] for mark in cell.paper_notes),
    ]


@cache
def _environment() -> Any:
    """Templates of tables; braces belong to LaTeX, so jinja's signs are others."""
    jinja2 = optional("jinja2", "report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__),
        trim_blocks=True,
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<#",
        comment_end_string="#>",
    )
    environment.filters["markdown"] = escape_markdown
    environment.filters["latex"] = escape_latex
    return environment
