"""How many rows a prediction model of one label needs, by published rules of thumb."""

from math import ceil, exp, inf, log
from typing import NamedTuple

from mltsk.exceptions import InputError
from mltsk.metrics.proportions import normal_quantile

# What Riley and others (2019, 2020) ask for.
WANTED_SHRINKAGE = 0.9
WANTED_OPTIMISM = 0.05  # of Nagelkerke's R²
WANTED_MARGIN = 0.05  # of the estimated share of cases
USUAL_NAGELKERKE = 0.15  # if nothing is known of how well the label can be predicted


class SampleSize(NamedTuple):
    """Rows that a model of one label needs, by what they are needed for.

    Attributes
    ----------
    shrinkage : int
        So that coefficients are at most a tenth too large.
    optimism : int
        So that R² looks at most 0.05 better than it is.
    share : int
        So that the share of cases is known to 0.05.
    """

    shrinkage: int
    optimism: int
    share: int

    @property
    def rows(self) -> int:
        """Rows that meet all three."""
        return max(self)


def required_rows(
    prevalence: float, n_parameters: int, *, cox_snell_r2: float | None = None
) -> SampleSize:
    """Rows that a model of one label needs, by Riley and others' three criteria.

    Parameters
    ----------
    prevalence : float
        Share of rows that have the label, above 0 and below 1.
    n_parameters : int
        How many numbers the model may have.
    cox_snell_r2 : float, optional
        Cox and Snell's R² that is hoped for; by default the one whose share of the
        largest possible (Nagelkerke's R²) is 0.15.

    References
    ----------
    R. D. Riley and others, "Calculating the sample size required for developing a
    clinical prediction model", BMJ 368, 2020.

    Examples
    --------
    >>> from mltsk.metrics import required_rows
    >>> required_rows(0.174, 24, cox_snell_r2=0.288)
    SampleSize(shrinkage=623, optimism=662, share=221)
    """
    if not 0 < prevalence < 1 or n_parameters < 1:
        raise InputError(
            "prevalence must lie between 0 and 1, and n_parameters be 1 or more, got "
            f"{prevalence!r} and {n_parameters!r}."
        )
    # the R² of a model without a mistake
    by_chance = prevalence * log(prevalence) + (1 - prevalence) * log(1 - prevalence)
    largest_r2 = 1 - exp(2 * by_chance)
    r2 = USUAL_NAGELKERKE * largest_r2 if cox_snell_r2 is None else cox_snell_r2
    if not 0 < r2 < largest_r2:
        raise InputError(
            f"cox_snell_r2 must lie between 0 and {largest_r2:.3g}, the largest that a "
            f"prevalence of {prevalence:.3g} allows, got {r2!r}."
        )
    little_optimism = r2 / (r2 + WANTED_OPTIMISM * largest_r2)
    errors = normal_quantile(0.95) / WANTED_MARGIN
    return SampleSize(
        shrinkage=_rows_for_shrinkage(n_parameters, r2, WANTED_SHRINKAGE),
        optimism=_rows_for_shrinkage(n_parameters, r2, little_optimism),
        share=ceil(errors**2 * prevalence * (1 - prevalence)),
    )


def _rows_for_shrinkage(n_parameters: int, r2: float, shrinkage: float) -> int:
    """Rows with which coefficients need to be shrunk by this factor."""
    share = r2 / shrinkage
    per_row = (shrinkage - 1) * log(1 - share) if share < 1 else inf
    return ceil(n_parameters / per_row) if per_row < inf else 1
