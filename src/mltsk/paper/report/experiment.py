"""The report of an experiment: one page, and every table and figure as files next to it.

`Results` → tables, comparisons, sentences, pictures → files. Nothing is computed again that a run has left
behind. Files appear whole or not at all, and the page last, so that it never names a file that is not there.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from ...io import writing
from ...pages.render import _template
from ..experiments.published import TABLES
from ..experiments.ranks import Comparison, comparisons, rank_table, table_six, widest_sources
from ..experiments.results import Results
from ..experiments.studies import STUDIES
from ..experiments.summary import headlines, paper_gaps, summarise, to_markdown
from ..experiments.tables import (
    Table,
    ap_table,
    protocol_table,
    readings_table,
    result_table,
    table_one,
    table_two,
    time_table,
    worth_table,
)
from .figures import Picture, closeness_picture, picture, protocol_picture, rank_pictures
from .study_figures import study_caption, study_figure
from .table_files import to_csv, to_latex
from .table_files import to_markdown as table_markdown

_TITLE = "Experiments of ML-TSK FS, repeated"
_FORMS = {"csv": to_csv, "md": table_markdown, "tex": to_latex}


def write_report(results: Results, out: str | Path) -> list[Path]:
    """Write ``index.html``, ``tables/``, ``figures/`` and ``summary.md`` into a folder, made if it is not there.

    ``results`` are what a run has finished so far; they may be incomplete. Returns the files, the page first.
    """
    found, gaps, run = comparisons(results), paper_gaps(results), results.run
    sections, tables, ranks = summarise(results, gaps, found), _tables(results, found), rank_pictures(found)
    pictures = {"closeness": closeness_picture(gaps), "protocols": protocol_picture(results)}
    pictures["studies"] = list(study_pictures(results))
    shown = {"run": run, "headlines": headlines(results, gaps, found), "sections": sections, "tables": tables}
    errors = results.cells[results.cells["status"] == "failed"].to_dict("records")
    page = _template("experiment.html", __package__).render(
        title=_TITLE, pictures=pictures, ranks=ranks, errors=errors, **shown
    )
    files: dict[str, str | bytes] = {}
    for table in chain(*tables.values()):
        files |= {f"tables/{table.key}.{kind}": render(table) for kind, render in _FORMS.items()}
    for drawn in chain(*pictures.values(), *ranks.values()):
        files |= {f"figures/{drawn.key}.{kind}": getattr(drawn, kind) for kind in ("svg", "png")}
    head = f"# {_TITLE}\n\n`{run['command']}`\n\n" if run.get("command") else ""
    files["summary.md"] = head + to_markdown(sections)
    paths = [_write(Path(out) / name, content) for name, content in files.items()]
    return [_write(Path(out) / "index.html", page), *paths]


def _tables(results: Results, found: Sequence[Comparison]) -> dict[str, list[Table]]:
    tables: dict[str, list[Table | None]] = {
        "set-up": [table_one(results), table_two(results)],
        "glance": [*(ap_table(results, p) for p in results.protocols), readings_table(results)],
        **{f"results-{p}": [result_table(results, n, p) for n in TABLES] for p in results.run["protocols"]},
        "protocols": [worth_table(results), protocol_table(results)],
        "ranks": [table_six(found), *(rank_table(found, source) for source in widest_sources(found))],
        "time": [time_table(results)],
    }
    return {part: [table for table in made if table is not None] for part, made in tables.items()}


def study_pictures(results: Results) -> Iterator[Picture]:
    """One per study that the run has finished, in the order of the paper, data sets in the order of the run."""
    order = dict.fromkeys([*results.run.get("datasets", {}), *(dataset for _, dataset in results.studies)])
    for name, study in STUDIES.items():
        found = {d: results.studies[name, d] for d in order if (name, d) in results.studies}
        if found:
            title = f"{study.paper}: {study.title}"
            yield picture(study_figure(name, found), name, title, study_caption(name, found))


def _write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return path
