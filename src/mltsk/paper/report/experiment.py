"""The report of an experiment: one page, and every table and figure as files next to it.

`Results` → tables, comparisons, sentences, pictures → files. Nothing is computed again that a run has left
behind. Files appear whole or not at all, and the page last, so that it never names a file that is not there.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from ...io import writing
from ...pages.render import template
from ..experiments.published import RESULT_TABLES
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
from .study_figures import study_caption, study_figure

_TITLE = "Experiments of ML-TSK FS, repeated"
_LONG = (
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
# Letters and how LaTeX prints them; [ and * would be an option of a line break before them.
_LETTERS = r"""
\=\textbackslash{} {=\{ }=\} $=\$ &=\& #=\# %=\% _=\_ ^=\textasciicircum{} ~=\textasciitilde{} <=\textless{}
>=\textgreater{} |=\textbar{} "=\textquotedbl{} [={[} *={*} α=$\alpha$ β=$\beta$ γ=$\gamma$ ε=$\varepsilon$ ρ=$\rho$
χ=$\chi$ ²=$^2$ ∈=$\in$ ∞=$\infty$ −=$-$ ≤=$\leq$ ≥=$\geq$ ·=$\cdot$ ×=$\times$ –=-- —=--- …=\ldots{} “=`` ”='' ’='
Ȳ=$\bar{Y}$
"""
_LATEX = dict(pair.split("=", 1) for pair in _LETTERS.split())


def write_report(results: Results, out: str | Path) -> list[Path]:
    """Write ``index.html``, ``tables/``, ``figures/`` and ``summary.md`` into a folder, made if it is not there.

    ``results`` are what a run has finished so far; they may be incomplete. Returns the files, the page first.
    """
    found, gaps, run = comparisons(results), paper_gaps(results), results.run
    sections, tables, ranks = (
        summarise(results, gaps, found),
        _tables(results, found),
        rank_pictures(found),
    )
    pictures = {
        "closeness": closeness_picture(gaps),
        "protocols": protocol_picture(results),
    }
    pictures["studies"] = list(study_pictures(results))
    shown = {
        "run": run,
        "headlines": headlines(results, gaps, found),
        "sections": sections,
        "tables": tables,
    }
    shown |= {
        "title": _TITLE,
        "errors": results.cells[results.cells["status"] == "failed"].to_dict("records"),
    }
    files: dict[str, str | bytes] = {}
    for table in chain(*tables.values()):
        files |= {
            f"tables/{table.key}.{kind}": table_text(table, kind)
            for kind in ("csv", "md", "tex")
        }
    for drawn in chain(*pictures.values(), *ranks.values()):
        files |= {
            f"figures/{drawn.key}.{kind}": getattr(drawn, kind)
            for kind in ("svg", "png")
        }
    head = f"# {_TITLE}\n\n`{run['command']}`\n\n" if run.get("command") else ""
    files["summary.md"] = head + to_markdown(sections)
    files["index.html"] = template("experiment.html", __package__).render(
        pictures=pictures, ranks=ranks, **shown
    )
    *paths, page = (Path(out) / name for name in files)
    for path, content in zip((*paths, page), files.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path) as file:
            file.write(content.encode() if isinstance(content, str) else content)
    return [page, *paths]


def _tables(
    results: Results, found: Sequence[MethodComparison]
) -> dict[str, list[ReportTable]]:
    tables: dict[str, list[ReportTable | None]] = {
        "set-up": [table_one(results), table_two(results)],
        "glance": [
            *(ap_table(results, p) for p in results.protocols),
            readings_table(results),
        ],
        **{
            f"results-{p}": [result_table(results, n, p) for n in RESULT_TABLES]
            for p in results.run["protocols"]
        },
        "protocols": [worth_table(results), protocol_table(results)],
        "ranks": [
            table_six(found),
            *(rank_table(found, source) for source in widest_sources(found)),
        ],
        "time": [time_table(results)],
    }
    return {
        part: [table for table in made if table is not None]
        for part, made in tables.items()
    }


def study_pictures(results: Results) -> Iterator[Picture]:
    """One per study that the run has finished, in the order of the paper, data sets in the order of the run."""
    order = dict.fromkeys(
        [*results.run.get("datasets", {}), *(dataset for _, dataset in results.studies)]
    )
    for name, study in STUDIES.items():
        found = {
            d: results.studies[name, d] for d in order if (name, d) in results.studies
        }
        if found:
            yield picture(
                study_figure(name, found),
                name,
                f"{study.paper}: {study.title}",
                study_caption(name, found),
            )


def table_text(table: ReportTable, kind: str) -> str:
    """A table as the text of a file: "csv" for programs, "md" (GitHub's, under a heading) and "tex" for people.

    CSV has one line per cell, numbers with full precision and notes written out; LaTeX is a `longtable` with rules of
    `booktabs`, and its first comment names the packages that it needs.

    Examples
    --------
    >>> from mltsk.paper.experiments.tables import TableCell, TableRow
    >>> table = ReportTable("t", "T", "", ("data set",), ("AP",), (TableRow(("yeast",), (TableCell("0.76", 0.7612),)),))
    >>> table_text(table, "csv").splitlines()[1]
    'yeast,AP,0.76,0.7612,,False,,,,,'
    """
    if kind != "csv":
        return (
            _environment().get_template(f"table.{kind}").render(table=table).rstrip()
            + "\n"
        )
    facts = dict.fromkeys(
        key for row in table.rows for cell in row.cells for key in cell.facts
    )
    names = [key for key in facts if key not in table.heads]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*table.heads, *_LONG, *names])
    for row in table.rows:
        for column, c in zip(table.columns, row.cells, strict=True):
            notes = [
                " ".join(table.notes[mark] for mark in marks)
                for marks in (c.notes, c.paper_notes)
            ]
            numbers = (c.value, c.sd, c.bold, c.paper_value, c.paper_sd, c.difference)
            writer.writerow(
                [
                    *row.heads,
                    column,
                    c.text,
                    *numbers,
                    *notes,
                    *(c.facts.get(key) for key in names),
                ]
            )
    return buffer.getvalue()


@cache
def _environment() -> Any:
    import jinja2

    signs: dict[str, Any] = {
        "variable_start_string": "<<",
        "variable_end_string": ">>",
    }  # braces belong to LaTeX
    signs |= {
        "block_start_string": "<%",
        "block_end_string": "%>",
        "comment_start_string": "<#",
    }
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__), trim_blocks=True, **signs
    )
    # text that stays text in a cell: no markup, no line breaks
    environment.filters["markdown"] = lambda text: re.sub(
        r"([\\`*_|<>\[\]])", r"\\\1", " ".join(text.split())
    )
    environment.filters["latex"] = escape_latex
    return environment


def escape_latex(text: str) -> str:
    r"""Text as LaTeX prints it; what no usual font has becomes its code point.

    Examples
    --------
    >>> print(escape_latex("50 % of a_b — χ²"))
    50 \% of a\_b --- $\chi$$^2$
    >>> print(escape_latex("語"))
    \texttt{U+8A9E}
    """

    def printed(letter: str) -> str:
        if letter.isascii():
            return letter if letter.isprintable() else " "
        return (
            letter
            if "\xa0" <= letter <= "\u017f"
            else rf"\texttt{{U+{ord(letter):04X}}}"
        )

    return "".join(_LATEX.get(letter) or printed(letter) for letter in text)
