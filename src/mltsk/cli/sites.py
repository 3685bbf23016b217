"""Many sites, no row shared: ``mltsk share``, ``plan`` and ``join``."""

from dataclasses import asdict
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

import mltsk

from ..exceptions import InputError, check_installed
from ..text import listing, plural
from . import replaced
from .options import (
    TableOptions,
    out_option,
    there_are_files,
    there_is_data,
    threshold_option,
    with_options,
)
from .output import (
    MAX_LINE_WIDTH,
    aligned,
    check_files,
    note,
    refuse_standard_output,
    say,
    working,
)

if TYPE_CHECKING:
    from ..classifier import MLTSKClassifier
    from ..sites import Plan, SiteSums
    from ..tables import DataTable

MAX_SITE_LINES = 40
SITE_HEADER = ("site", "label", "observed", "cases", "expected", "AUC")
MEANING = (
    "Each site is judged by a fit without it, from the sums alone. Expected: how many "
    "cases that fit expects there. AUC: as if scores were normal; - if no other site "
    "shares the label."
)
LEAST_HELP = "No count of fewer people than this is written."
SUMMARY_HELP = "Write the summary that a plan is made from."
PLAN_HELP = "The plan whose columns are summed up."
CURVES_HELP = (
    "Curves as well as straight lines.  [default: if every site has at least as many "
    "people as there are columns then]"
)
KEEP_SUMS_HELP = (
    "Keep the sums of all sites together in the file, so that `mltsk correct` can "
    "compute its numbers again under other wishes. Whoever has the sums of all sites "
    "but one can then work out those of that one."
)
PAGE_HELP = "Also write a page: how the model does at each site, and its rules."


@with_options
def share(
    data: Annotated[
        str,
        Argument(metavar="FILE", callback=there_is_data, help="The table of a site."),
    ],
    out: Annotated[str, out_option("Where to write the summary, or the sums.")],
    options: TableOptions,
    summary: Annotated[bool, Option("--summary", help=SUMMARY_HELP)] = False,
    plan: Annotated[str | None, Option(metavar="FILE", help=PLAN_HELP)] = None,
    least: Annotated[int, Option(min=1, metavar="N", help=LEAST_HELP)] = 10,
) -> None:
    """Write what a site shares: first a summary of its table, then sums over its rows
    for the columns of a plan. No row is in either.

    Counts of fewer than 10 people (--least) are hidden before anything is summed
    up; the command says what was hidden, and what that costs.

    \b
    Examples:
      mltsk share site.csv --labels asthma,gout --summary --out site.summary
      mltsk share site.csv --plan plan.json --out site.sums
    """
    from ..sites import SiteSums, read_plan, summary_of, write_json, write_sums
    from ..tables.files import source_files
    from .inputs import open_data

    if summary == (plan is not None):
        raise InputError("Say what to share: --summary, or --plan plan.json for sums.")
    refuse_standard_output(out, "--out", "What a site shares")
    kind = replaced.SUMMARY if plan is None else replaced.SUMS
    inputs = [*source_files(data, options.labels), plan]
    replaced.check_output(out, kind, inputs)
    if plan is None:
        table = open_data(data, options)
        write_json(summary_of(table, least), out)
        say(f"{table.columns.title}\nsummary: {out}, {_size(out)}")
        return
    planned = read_plan(plan)
    table = table_for(planned, data, options)
    with working(f"sums over {plural(len(table), 'row')}"):
        sums = SiteSums.of(table, planned, least)
    write_sums(sums, out)
    _say_sums(sums, out)


def table_for(plan: "Plan", data: str, options: TableOptions) -> "DataTable":
    """The table of a site, read by the kinds of columns of a plan."""
    from ..tables.files import read_raw
    from .changed import check_units, note_far_numbers

    values = asdict(options)
    if options.labels is None and options.label_column is None and not options.long:
        raw = read_raw(data, None, options.rules())
        present = [name for name in plan.label_names if name in raw.frame]
        if not present:
            raise InputError(
                f"{data} has none of the labels of the plan "
                f"({listing(plan.label_names, at_most=5)}): name its label columns "
                "with --labels."
            )
        values["labels"] = dict.fromkeys(present)
    for name in ("nominal", "ordinal", "number"):
        if values[name]:
            raise InputError(
                f"The plan knows what each column is: --{name} is for summaries."
            )
        values[name] = ()
    raw_names = read_raw(data, None, options.rules()).frame
    gone = [name for name in plan.kinds if name not in raw_names]
    if gone:
        raise InputError(
            f"{data} has no column {gone[0]!r:.80}, which the plan needs: make the "
            "plan with a summary of this file."
        )
    table = mltsk.read_table(data, **values, kinds=plan.kinds)
    check_units(data, plan.units, table, when="in the plan")
    note_far_numbers(plan.columns, plan.quantiles, table.X, data, source="the plan")
    return table


def _say_sums(sums: "SiteSums", out: str) -> None:
    """What was shared, and what was not."""
    n_columns = sums.plan.design.n_columns
    shared = [sums.plan.label_names[j] for own in sums.labels for j in own]
    say(f"sums of {n_columns:,} columns for {listing(shared, at_most=10)}")
    if sums.least > 1:
        say(f"no count of fewer than {sums.least} people:")
    sentences = sums.told or ("Nothing was hidden.",)
    for sentence in (*sentences, sums.cost) if sums.cost else sentences:
        say("\n".join(wrap(f"- {sentence}", MAX_LINE_WIDTH, subsequent_indent="  ")))
    say(f"sums: {out}, {_size(out)}")


def _size(path: str) -> str:
    return f"{Path(path).stat().st_size / 1000:,.0f} kB"


def plan(
    summaries: Annotated[
        list[str],
        Argument(
            metavar="SUMMARIES",
            callback=there_are_files,
            help="Files that `mltsk share --summary` wrote.",
        ),
    ],
    out: Annotated[str, out_option("Where to write the plan (….json).")],
    curves: Annotated[
        bool | None, Option("--curves/--lines", help=CURVES_HELP, show_default=False)
    ] = None,
) -> None:
    """Make a plan from the summaries of all sites: the terms that all of them use.

    The order of the summaries does not matter.

    \b
    Examples:
      mltsk plan *.summary --out plan.json
      mltsk plan north.summary south.summary --lines --out plan.json
    """
    from ..sites import Plan, read_summary, write_json
    from ..sites.plan_checks import plain_plan

    refuse_standard_output(out, "--out", "A plan")
    replaced.check_output(out, replaced.PLAN, summaries)
    made = Plan.of([read_summary(path) for path in summaries], curves=curves)
    write_json(plain_plan(made), out)
    for text in made.notes:
        note(text)
    features = plural(len(made.columns.names), "feature")
    terms = plural(len(made.terms), "column")
    say(f"{features}, {terms}, labels: {listing(made.label_names, at_most=10)}")
    say(f"plan: {out}")


def join(
    sums: Annotated[
        list[str],
        Argument(
            metavar="SUMS",
            callback=there_are_files,
            help="Files that `mltsk share --plan` wrote.",
        ),
    ],
    out: Annotated[str, out_option("Where to write the model (….skops).")],
    threshold: Annotated[str | None, threshold_option("0.5")] = None,
    page: Annotated[str | None, Option(metavar="FILE", help=PAGE_HELP)] = None,
    keep_sums: Annotated[bool, Option("--keep-sums", help=KEEP_SUMS_HELP)] = False,
) -> None:
    """Join the sums of all sites to one model: the one that a fit to all rows together
    would give under their plan.

    Also prints how well a fit without each site does at that site. The order of the
    files does not matter.

    \b
    Examples:
      mltsk join *.sums --out model.skops
      mltsk join *.sums --threshold cost=1,5 --page review.html --out model.skops
    """
    from ..io import ModelInfo
    from ..pages.render import write_page
    from ..sites import joined, read_sums

    refuse_standard_output(out, "--out", "A model")
    if page is not None:
        check_installed("jinja2", extra="report")
        refuse_standard_output(page, "--page", "A page")
    check_files([out, page], inputs=sums)
    replaced.check_output(out, replaced.MODEL)
    replaced.check_output(page, replaced.PAGE)
    sites = [read_sums(path) for path in sums]
    with working(f"joining {plural(len(sites), 'site')}"):
        wished = 0.5 if threshold is None else threshold
        model = joined(sites, wished, keep_sums=keep_sums)
    plan = sites[0].plan
    info = ModelInfo(
        data=plural(len(sites), "site"),
        feature_names=plan.columns.names,
        label_names=model.label_names_,
        kinds=plan.kinds,
        fitted={
            "sites": len(sites),
            "bytes": sorted(Path(path).stat().st_size for path in sums),
        },
    )
    mltsk.save(model, out, info=info, keep_sums=keep_sums)
    _say_sites(model)
    for site in sites:
        for sentence in site.told:
            note(f"{site.site}: {sentence}")
    if page is not None:
        write_page(_page(model, info.data), page)
        say(f"page   {page}")
    say(f"model  {out}")


def _site_lines(model: "MLTSKClassifier") -> list[list[str]]:
    """A line per site and label."""
    lines = []
    for row in model.sites_:
        auc = "-" if row["AUC"] is None else f"{row['AUC']:.3f}"
        lines.append(
            [
                row["site"],
                row["label"],
                str(row["observed"]),
                str(row["cases"]),
                f"{row['expected']:.0f}",
                auc,
            ]
        )
    return sorted(lines)


def _say_sites(model: "MLTSKClassifier") -> None:
    """How a fit without each site does there."""
    lines = _site_lines(model)
    say(f"{aligned([list(SITE_HEADER), *lines[:MAX_SITE_LINES]])}")
    if len(lines) > MAX_SITE_LINES:
        say(f"… and {plural(len(lines) - MAX_SITE_LINES, 'more line')}")
    say("\n".join(["", *wrap(MEANING, MAX_LINE_WIDTH), ""]))


def _page(model: "MLTSKClassifier", title: str) -> str:
    """A page with how the model does at each site, and its rules."""
    from ..pages.render import rules_page

    head = "".join(f"<th>{name}</th>" for name in SITE_HEADER)
    rows = []
    for line in _site_lines(model):
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in line)
        rows.append(f"<tr>{cells}</tr>")
    table = (
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )
    heading = "<h2>Each site by a fit without it</h2>"
    html = f"{heading}<p>{escape(MEANING)}</p>{table}{model.rules_.to_html()}"
    return rules_page(html, title=title)
