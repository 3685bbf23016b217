"""``mltsk demo``: the main job on built-in data, printed and as a page."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from ..exceptions import InputError
from .output import aligned, note
from .progress import counting


def demo(
    out: Annotated[Path, Option("--out", "-o", metavar="FOLDER", help="Folder for the report.")] = Path("out/demo"),
    seed: Annotated[int, Option(min=0, help="Seed of the folds.")] = 0,
    terms: Annotated[int, Option(min=1, help="Statements per label of the short model that is printed.")] = 5,
    jobs: Annotated[int, Option(min=1, help="Processes.")] = 1,
    rules: Annotated[int | None, Option(min=0, hidden=True)] = None,
    folds: Annotated[int, Option(min=2, hidden=True)] = 5,
) -> None:
    """Fit ML-TSK FS on yeast, print its metrics next to the paper's and its rules, and write a report and an explorer.

    Takes about half a minute.

    \b
    Examples:
      mltsk demo
      mltsk demo --out report --seed 1
    """
    from ..datasets import load_dataset
    from ..pages.demo import left_out, run_demo
    from ..pages.explorer import explore
    from ..pages.render import demo_page, verdict, write_page

    try:
        out.mkdir(parents=True, exist_ok=True)  # before the work, not after it
    except OSError as error:
        raise InputError(f"The folder {out} cannot be made ({error.strerror}): --out takes a folder.") from None
    data = load_dataset("yeast")
    typer.echo(f"yeast: {data.shape[0]:,} genes, {data.shape[1]} features, {data.shape[2]} functions\n")
    options = {} if rules is None else {"n_rules": rules}
    with counting("cross-validation", "fits") as report:
        result = run_demo(data, n_folds=folds, seed=seed, progress=report, n_jobs=jobs, **options)
    short = result.model.shorten(terms)
    said = f"The whole of a model with at most {terms} statements per label"
    said += f" (leaving one out, AP {left_out(short, data.Y)['AP']:.3f})"
    typer.echo(comparison(result.summary))
    typer.echo(f"\n{said}:\n\n{short.rules_.to_text()}\n")
    note(verdict(result.summary))
    page = write_page(demo_page(result.summary, short.rules_.to_html(), said), out / "index.html")
    typer.echo(f"report: {page}")
    touch = explore(result.model, out / "explorer.html", data.X, data.Y, title=data.name)
    typer.echo(f"explorer: {touch}")


def comparison(summary: dict[str, Any]) -> str:
    """Our means and standard deviations next to the paper's."""
    rows = [["", "our default", "left one out", "paper's setting", "paper, Table III", "better"]]
    for metric in summary["metrics"]:
        ours, paper = (f"{metric[key]['mean']:.3f} ± {metric[key]['sd']:.3f}" for key in ("default", "paper"))
        printed = f"{metric['published']['mean']:.2f} ± {metric['published']['sd']:.2f}"
        rows.append([metric["name"], ours, f"{metric['left_out']:.3f}", paper, printed, metric["better"]])
    folds, seed = summary["protocol"]["folds"], summary["protocol"]["seed"]
    left_out = "left one out: one fit on all rows, each scored as if it had not been there"
    title = f"{folds}-fold cross-validation, seed {seed}, the paper's metrics (mean ± SD); {left_out}"
    return f"{title}\n\n{aligned(rows, '  ')}"
