"""How a joined model does at each site, by a fit without that site."""

from typing import Any

from ..explain.wording import name
from .sections import Review, Section

MAX_SHOWN_SITES = 500  # rows of the table: sites times labels


def sites_section(review: Review) -> Section | None:
    """Each site by a fit without it, of a model that was joined from sums of sites."""
    rows: list[dict[str, Any]] = getattr(review.whole, "sites_", [])
    if not rows:
        return None
    shown = [_shown(row) for row in rows[:MAX_SHOWN_SITES]]
    shown.sort(key=lambda row: (row["label"], row["site"]))
    return Section(
        key="sites",
        title="Each site by a fit without it",
        bar_title="Sites",
        template="review/sites.html",
        facts={
            "rows": shown,
            "n_sites": len({row["site"] for row in rows}),
            "n_more": max(len(rows) - MAX_SHOWN_SITES, 0),
        },
    )


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """One label at one site."""
    return {**row, "site": name(row["site"]), "label": name(row["label"])}
