"""The report of an experiment: one page, and every table and figure as files next to it.

`Results` → tables, comparisons, sentences, pictures → files. Nothing is computed again that a run has left
behind. Files appear whole or not at all, and the page last, so that it never names a file that is not there.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...io import writing
from ...pages.render import _template
from ..experiments.published import TABLES
from ..experiments.ranks import Comparison, comparisons, rank_table, table_six, widest_sources
from ..experiments.results import Results
from ..experiments.studies import STUDIES
from ..experiments.summary import headlines, paper_gaps, summarise, to_markdown
from ..experiments.table import Table
from ..experiments.tables import protocol_table, result_table, table_one, table_two, time_table, worth_table
from .captions import study_caption
from .figures import STUDY_FIGURES, closeness_picture, protocol_picture, rank_pictures
from .pictures import Picture, picture
from .table_files import to_csv, to_latex
from .table_files import to_markdown as table_markdown

_TITLE = "Experiments of ML-TSK FS, repeated"


def write_report(results: Results, out: str | Path) -> list[Path]:
    """Write ``out/index.html``, ``tables/``, ``figures/`` and ``summary.md``.

    Parameters
    ----------
    results : Results
        What a run has finished so far; it may be incomplete.
    out : Path
        A folder; made if it is not there.

    Returns
    -------
    list of Path
        The files, the page first.
    """
    found, gaps, run = comparisons(results), paper_gaps(results), results.run
    sections = summarise(results, gaps, found)
    tables, ranks = _tables(results, found), rank_pictures(found)
    pictures = {
        "closeness": closeness_picture(gaps),
        "protocols": protocol_picture(results),
        "studies": list(study_pictures(results)),
    }
    page = _template("experiment.html", __package__).render(
        title=_TITLE,
        run=run,
        headlines=headlines(results, gaps, found),
        sections=sections,
        tables=tables,
        pictures=pictures,
        ranks=ranks,
        errors=results.cells[results.cells["status"] == "failed"].to_dict("records"),
    )
    files = _table_files(tables) | _picture_files({**pictures, **ranks})
    files["summary.md"] = (f"# {_TITLE}\n\n`{run['command']}`\n\n" if run.get("command") else "") + to_markdown(
        sections
    )
    paths = [_write(Path(out) / name, content) for name, content in files.items()]
    return [_write(Path(out) / "index.html", page), *paths]


def _tables(results: Results, found: Sequence[Comparison]) -> dict[str, list[Table]]:
    tables = {
        "set-up": [table_one(results), table_two(results)],
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
            yield picture(STUDY_FIGURES[name](found), name, title, study_caption(name, found))


def _table_files(tables: Mapping[str, Sequence[Table]]) -> dict[str, str | bytes]:
    forms = {"csv": to_csv, "md": table_markdown, "tex": to_latex}
    every = [table for part in tables.values() for table in part]
    return {f"tables/{table.key}.{kind}": render(table) for table in every for kind, render in forms.items()}


def _picture_files(pictures: Mapping[str, Sequence[Picture]]) -> dict[str, str | bytes]:
    every = [drawn for part in pictures.values() for drawn in part]
    return {f"figures/{drawn.key}.{kind}": getattr(drawn, kind) for drawn in every for kind in ("svg", "png")}


def _write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return path
