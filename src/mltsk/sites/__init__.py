"""Many sites, no row shared: summaries, a plan from them, sums, and the joined model.

1. Every site sends a summary of its table (`summary_of`): kinds of columns, percentiles
   and counts.
2. Somebody makes a plan of all summaries (`Plan.of`): the terms that all sites use.
3. Every site sends sums over its rows for the columns of that plan (`SiteSums.of`).
4. Somebody joins the sums (`joined`): the model is the one that a fit to all rows
   together would give under that plan.

No count of fewer than ``least`` people is in a summary or in sums (`protect`).
"""

from .files import read_plan, read_summary, read_sums, write_json, write_sums
from .join import joined
from .plan import Plan
from .summary import LEAST_PEOPLE, summary_of
from .sums import SiteSums

__all__ = [
    "LEAST_PEOPLE",
    "Plan",
    "SiteSums",
    "joined",
    "read_plan",
    "read_summary",
    "read_sums",
    "summary_of",
    "write_json",
    "write_sums",
]
